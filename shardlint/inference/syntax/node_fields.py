"""The fields of libcst nodes, without blanks, commas and parentheses.

The trees that are evaluated may lack the rest (see `front_end`). No code may read it, so libcst must not
visit, write or copy a node.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import libcst as cst

#: The position or the keyword of an argument; None where a star hides it.
Slot = int | str | None

_NAMES: dict[type[cst.CSTNode], str] = {
    # Statements
    cst.Module: "body",
    cst.IndentedBlock: "body",
    cst.SimpleStatementLine: "body",
    cst.SimpleStatementSuite: "body",
    cst.Expr: "value",
    cst.Assign: "targets value",
    cst.AssignTarget: "target",
    cst.AnnAssign: "target annotation value",
    cst.Annotation: "annotation",
    cst.AugAssign: "target operator value",
    cst.Del: "target",
    cst.Return: "value",
    cst.Raise: "exc cause",
    cst.From: "item",
    cst.Break: "",
    cst.Continue: "",
    cst.Pass: "",
    cst.Global: "names",
    cst.Nonlocal: "names",
    cst.NameItem: "name",
    cst.Assert: "test msg",
    cst.Import: "names",
    cst.ImportFrom: "relative module names",
    cst.ImportAlias: "name asname",
    cst.ImportStar: "",
    cst.Dot: "",
    cst.AsName: "name",
    cst.If: "test body orelse",
    cst.Else: "body",
    cst.For: "asynchronous target iter body orelse",
    cst.While: "test body orelse",
    cst.Try: "body handlers orelse finalbody",
    cst.ExceptHandler: "type name body",
    cst.TryStar: "body handlers orelse finalbody",
    cst.ExceptStarHandler: "type name body",
    cst.Finally: "body",
    cst.With: "asynchronous items body",
    cst.WithItem: "item asname",
    cst.FunctionDef: "decorators asynchronous name params returns body",
    cst.ClassDef: "decorators name bases keywords body",
    cst.Decorator: "decorator",
    cst.Parameters: "posonly_params params star_arg kwonly_params star_kwarg",
    cst.Param: "star name annotation default",
    cst.ParamStar: "",
    cst.Asynchronous: "",
    cst.TypeAlias: "name value",
    # Expressions
    cst.Name: "value",
    cst.Attribute: "value attr",
    cst.Integer: "value",
    cst.Float: "value",
    cst.Imaginary: "value",
    cst.Ellipsis: "",
    cst.SimpleString: "value",
    cst.ConcatenatedString: "left right",
    cst.FormattedString: "parts",
    cst.FormattedStringText: "value",
    cst.FormattedStringExpression: "expression equal conversion format_spec",
    cst.AssignEqual: "",
    cst.Tuple: "elements",
    cst.List: "elements",
    cst.Set: "elements",
    cst.Element: "value",
    cst.StarredElement: "value",
    cst.Dict: "elements",
    cst.DictElement: "key value",
    cst.StarredDictElement: "value",
    cst.Call: "func args",
    cst.Arg: "star keyword value",
    cst.Subscript: "value slice",
    # The comma distinguishes ``x[1,]`` from ``x[1]``.
    cst.SubscriptElement: "slice comma",
    cst.Index: "star value",
    cst.Slice: "lower upper step",
    cst.BinaryOperation: "left operator right",
    cst.BooleanOperation: "left operator right",
    cst.UnaryOperation: "operator expression",
    cst.Comparison: "left comparisons",
    cst.ComparisonTarget: "operator comparator",
    cst.IfExp: "body test orelse",
    cst.Lambda: "params body",
    cst.NamedExpr: "target value",
    cst.Await: "expression",
    cst.Yield: "value",
    cst.ListComp: "elt for_in",
    cst.SetComp: "elt for_in",
    cst.GeneratorExp: "elt for_in",
    cst.DictComp: "key value for_in",
    cst.CompFor: "asynchronous target iter ifs inner_for_in",
    cst.CompIf: "test",
}
#: The fields of each class that determine its meaning: nodes, sequences of nodes, or texts, in the order of
#: the text.
FIELDS = {kind: tuple(names.split()) for kind, names in _NAMES.items()}

#: Prefixes of the names of fields that only hold layout.
WRITING = (
    *("whitespace", "leading_", "trailing_", "lines_after", "header", "footer", "indent"),
    *("lpar", "rpar", "lbr", "rbr", "comma", "semicolon", "separator", "equal"),
)


def fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    """Return the fields of a class of nodes that determine its meaning."""
    found = FIELDS.get(kind)
    if found is None:
        names = (field.name for field in dataclasses.fields(kind))
        found = FIELDS[kind] = tuple(name for name in names if not name.startswith(WRITING))
    return found


def parts(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the child nodes of a node, in the order of `FIELDS`."""
    for name in fields(type(node)):
        part = getattr(node, name)
        # libcst's classes are abstract base classes, for which isinstance is slow.
        if type(part) in FIELDS:
            yield part
        elif part is not None and type(part) is not str:
            for one in part if isinstance(part, list | tuple) else (part,):
                if isinstance(one, cst.CSTNode):
                    yield one


def structure(part: Any) -> str:
    """Return a text that is equal for nodes with equal texts, up to blanks and parentheses."""
    if isinstance(part, cst.CSTNode):
        kind = type(part)
        return f"{kind.__name__}({', '.join(structure(getattr(part, name)) for name in fields(kind))})"
    return f"[{', '.join(map(structure, part))}]" if isinstance(part, list | tuple) else repr(part)


def is_next(lower: cst.BaseExpression | None, upper: cst.BaseExpression | None) -> bool:
    """Return whether one expression surely is the other plus 1: ``i - 1`` and ``i``, ``i`` and ``i + 1``."""
    for binary, other, operator in ((lower, upper, cst.Subtract), (upper, lower, cst.Add)):
        if type(binary) is cst.BinaryOperation and type(binary.operator) is operator:
            name, one = binary.left, binary.right
            alike = type(name) in (cst.Name, cst.Attribute) and other is not None
            if alike and type(one) is cst.Integer and one.value == "1":
                return structure(name) == structure(other)
    return False


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield a node and all its descendants, parents first."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        yield part
        waiting.extend(parts(part))


def exception_names(node: cst.BaseExpression | None) -> list[str]:
    """Return the names of the classes that an ``except`` clause catches; a bare one catches everything."""
    if node is None:
        return ["BaseException"]
    if isinstance(node, cst.Tuple):
        return [name for element in node.elements for name in exception_names(element.value)]
    if isinstance(node, cst.Attribute):
        return [node.attr.value]
    # An expression may catch anything.
    return [node.value] if isinstance(node, cst.Name) else ["BaseException"]


def leaves(block: cst.BaseSuite) -> bool:
    """Return whether a block may leave what is around it, by a ``return``, ``break`` or ``continue``."""
    waiting: list[tuple[cst.CSTNode, bool]] = [(block, False)]
    while waiting:
        node, in_loop = waiting.pop()
        kind = type(node)
        if kind is cst.Return or (not in_loop and kind in (cst.Break, cst.Continue)):
            return True
        if kind not in (cst.FunctionDef, cst.ClassDef, cst.Lambda):
            own = node.body if isinstance(node, cst.For | cst.While) else None
            waiting += [(part, in_loop or part is own) for part in parts(node)]
    return False


_INERT = (cst.Pass, cst.Break, cst.Continue, cst.Return, cst.Assign, cst.Expr)
_CONSTANTS = (cst.Name, cst.Integer, cst.Float, cst.SimpleString)


def may_raise(block: cst.BaseSuite) -> bool:
    """Return whether a block does more than to assign, or return, constants and names."""
    for line in block.body:
        if not isinstance(line, cst.SimpleStatementLine | cst.BaseSmallStatement):
            return True
        for one in line.body if isinstance(line, cst.SimpleStatementLine) else (line,):
            value = one.value if isinstance(one, cst.Return | cst.Assign | cst.Expr) else None
            targets = one.targets if isinstance(one, cst.Assign) else ()
            if not isinstance(one, _INERT) or not (value is None or isinstance(value, _CONSTANTS)):
                return True
            if not all(isinstance(target.target, cst.Name) for target in targets):
                return True
    return False


def is_dotted(node: cst.BaseExpression) -> bool:
    """Return whether an expression is a name with attributes, which may be evaluated again."""
    while type(node) is cst.Attribute:
        node = node.value
    return type(node) is cst.Name


def argument_slots(node: cst.Call) -> Iterator[tuple[Slot, cst.BaseExpression]]:
    """Yield the arguments of a call, each with its position or keyword."""
    starred = False
    for position, one in enumerate(node.args):
        starred = starred or bool(one.star)
        yield one.keyword.value if one.keyword else None if starred else position, one.value


def parameters(node: cst.Parameters) -> list[cst.Param]:
    """Return all parameters in order."""
    every = (*node.posonly_params, *node.params, node.star_arg, *node.kwonly_params, node.star_kwarg)
    return [one for one in every if isinstance(one, cst.Param)]

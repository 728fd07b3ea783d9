"""Translation of `ast` expressions and signatures to libcst nodes."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from typing import Any, cast

import libcst as cst

from shardlint.inference.syntax.front_end.node_factory import MAKE, OPERATORS
from shardlint.inference.syntax.front_end.source_text import Untranslated, Written, extent
from shardlint.source.lexing import STRING_OR_COMMENT

_DEFAULT = cst.MaybeSentinel.DEFAULT
ASYNC = cst.Asynchronous()
_COMMA, _STAR = cst.Comma(), cst.ParamStar()
#: A field of an f-string that also shows its own text, such as ``{x=}``.
_SHOWS_ITSELF = re.compile(r"=\s*[}!:]")
#: Prefixes of strings, in lower case.
_PREFIXES = frozenset({"", "r", "u", "b", "br", "rb", "f", "fr", "rf"})
#: Nodes that are translated without reading the text.
_PLAIN = frozenset(
    {ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.BinOp, ast.Load, *ast.operator.__subclasses__()}
)


class Expressions(Written):
    """Translates the expressions of one text."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        #: The nodes of all expressions, parameters and keywords, in a reproducible order.
        self.made: list[cst.CSTNode] = []

    def expression(self, node: ast.expr) -> Any:
        """Return the node of an expression. Raises Untranslated."""
        translate = _EXPRESSIONS.get(type(node))
        if translate is None:
            raise Untranslated
        translated = translate(self, node)
        self.made.append(translated)
        return translated

    def label(self, name: str, _: ast.arg | ast.keyword) -> Any:
        """Return the node of the name with which a parameter or argument begins."""
        translated = MAKE[cst.Name](name)
        self.made.append(translated)
        return translated

    def optional(self, node: ast.expr | None) -> Any:
        return None if node is None else self.expression(node)

    def name(self, node: ast.Name) -> Any:
        return MAKE[cst.Name](node.id)

    def attribute(self, node: ast.Attribute) -> Any:
        return MAKE[cst.Attribute](self.expression(node.value), MAKE[cst.Name](node.attr))

    def constant(self, node: ast.Constant) -> Any:
        kind = type(node.value)
        if kind is str or kind is bytes:
            written = self.written(node)
            return MAKE[cst.SimpleString](written) if _is_one(written) else self.strings(node, written)
        if node.value is ...:
            return MAKE[cst.Ellipsis]()
        if node.value is None or kind is bool:
            return MAKE[cst.Name](str(node.value))
        return MAKE[_NUMBERS[kind]](self.written(node))

    def formatted(self, node: ast.JoinedStr) -> Any:
        return self.strings(node, self.written(node))

    def strings(self, node: ast.Constant | ast.JoinedStr, written: str) -> Any:
        """Return the node of one literal, or of several in a row, each of which contains the next ones."""
        literals = _literals(written)
        parts = [self.literal(one, node if len(literals) == 1 else None) for one in literals]
        if not parts or None in parts:
            return self.parsed(node)
        whole = parts.pop()
        while parts:
            whole = MAKE[cst.ConcatenatedString](parts.pop(), whole)
        return whole

    def literal(self, written: str, node: ast.expr | None) -> Any:
        """Return the node of a literal, parsed if it has no tree; None if the tree does not tell enough."""
        if "f" not in written[: written.index(written[-1])].lower():
            return MAKE[cst.SimpleString](written)
        if "\\" in written or _SHOWS_ITSELF.search(written):
            return None
        try:
            node = node or ast.parse(written, mode="eval").body
        except SyntaxError:
            return None
        parts = [self.field(part) for part in cast(ast.JoinedStr, node).values]
        return None if None in parts else MAKE[cst.FormattedString](parts)

    def field(self, node: ast.expr) -> Any:
        """Return a part of an f-string; None if it needs text for which `ast` has no places."""
        if type(node) is ast.Constant:
            return MAKE[cst.FormattedStringText](str(node.value).replace("{", "{{").replace("}", "}}"))
        assert type(node) is ast.FormattedValue
        spec = None if node.format_spec is None else cast(ast.JoinedStr, node.format_spec).values
        plain = all(type(part) in _PLAIN for part in ast.walk(node.value))
        if not plain or any(type(part) is not ast.Constant for part in spec or ()):
            return None
        texts = None if spec is None else [self.field(part) for part in spec]
        conversion = None if node.conversion < 0 else chr(node.conversion)
        return MAKE[cst.FormattedStringExpression](self.expression(node.value), None, conversion, texts)

    def elements(self, nodes: Sequence[ast.expr]) -> list[Any]:
        return [
            MAKE[cst.StarredElement](self.expression(node.value))
            if type(node) is ast.Starred
            else MAKE[cst.Element](self.expression(node))
            for node in nodes
        ]

    def tuple_(self, node: ast.Tuple) -> Any:
        return MAKE[cst.Tuple](self.elements(node.elts))

    def list_(self, node: ast.List) -> Any:
        return MAKE[cst.List](self.elements(node.elts))

    def set_(self, node: ast.Set) -> Any:
        return MAKE[cst.Set](self.elements(node.elts))

    def dict_(self, node: ast.Dict) -> Any:
        elements = [
            MAKE[cst.StarredDictElement](self.expression(value))
            if key is None
            else MAKE[cst.DictElement](self.expression(key), self.expression(value))
            for key, value in zip(node.keys, node.values, strict=True)
        ]
        return MAKE[cst.Dict](elements)

    def call(self, node: ast.Call) -> Any:
        args = [self.argument(argument) for argument in node.args]
        if node.keywords:
            args += [self.keyword(keyword) for keyword in node.keywords]
            written: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
            if node.args and extent(node.args[-1]) > extent(node.keywords[0]):
                order = sorted(range(len(args)), key=lambda i: extent(written[i]))
                args = [args[i] for i in order]
        return MAKE[cst.Call](self.expression(node.func), args)

    def argument(self, node: ast.expr) -> Any:
        if type(node) is ast.Starred:
            return MAKE[cst.Arg]("*", None, self.expression(node.value))
        return MAKE[cst.Arg]("", None, self.expression(node))

    def keyword(self, node: ast.keyword) -> Any:
        if node.arg is None:
            return MAKE[cst.Arg]("**", None, self.expression(node.value))
        return MAKE[cst.Arg]("", self.label(node.arg, node), self.expression(node.value))

    def subscript(self, node: ast.Subscript) -> Any:
        index, written = node.slice, [node.slice]
        commas: list[Any] = [_DEFAULT]
        if type(index) is ast.Tuple and not self.in_parentheses(index):
            written = index.elts
            trailing = _COMMA if self.written(index).endswith(",") else _DEFAULT
            commas = [*[_COMMA] * (len(written) - 1), trailing]
        make = MAKE[cst.SubscriptElement]
        elements = [make(self.index(one), comma) for one, comma in zip(written, commas, strict=True)]
        return MAKE[cst.Subscript](self.expression(node.value), elements)

    def in_parentheses(self, node: ast.Tuple) -> bool:
        """Return whether a tuple has its own parentheses."""
        if not node.elts:
            return True
        (start, end), (first, behind_first) = extent(node), extent(node.elts[0])
        if len(node.elts) > 1:
            end, _ = extent(node.elts[1])
        # A parenthesis opened before the first item may close before the comma after it: ``(a), b``.
        before = self.between(start, first)
        behind, _, _ = self.between(behind_first, end).partition(",")
        if "#" in before or "#" in behind:
            raise Untranslated
        return before.count("(") > behind.count(")")

    def index(self, node: ast.expr) -> Any:
        if type(node) is ast.Slice:
            return MAKE[cst.Slice](*map(self.optional, (node.lower, node.upper, node.step)))
        if type(node) is ast.Starred:
            return MAKE[cst.Index]("*", self.expression(node.value))
        return MAKE[cst.Index](None, self.expression(node))

    def binary(self, node: ast.BinOp) -> Any:
        # A long chain of operators leans left: a loop walks it without recursion.
        chain = [node]
        while type(left := chain[-1].left) is ast.BinOp:
            chain.append(left)
        made = self.expression(chain[-1].left)
        for link in reversed(chain):
            operator = OPERATORS[type(link.op)][0]
            made = MAKE[cst.BinaryOperation](made, operator, self.expression(link.right))
        return made

    def boolean(self, node: ast.BoolOp) -> Any:
        operator = OPERATORS[type(node.op)][0]
        left = self.expression(node.values[0])
        for value in node.values[1:]:
            left = MAKE[cst.BooleanOperation](left, operator, self.expression(value))
        return left

    def unary(self, node: ast.UnaryOp) -> Any:
        return MAKE[cst.UnaryOperation](OPERATORS[type(node.op)][0], self.expression(node.operand))

    def comparison(self, node: ast.Compare) -> Any:
        targets = [
            MAKE[cst.ComparisonTarget](OPERATORS[type(operator)][0], self.expression(comparator))
            for operator, comparator in zip(node.ops, node.comparators, strict=True)
        ]
        return MAKE[cst.Comparison](self.expression(node.left), targets)

    def conditional(self, node: ast.IfExp) -> Any:
        return MAKE[cst.IfExp](*map(self.expression, (node.body, node.test, node.orelse)))

    def lambda_(self, node: ast.Lambda) -> Any:
        return MAKE[cst.Lambda](self.parameters(node.args), self.expression(node.body))

    def walrus(self, node: ast.NamedExpr) -> Any:
        return MAKE[cst.NamedExpr](self.expression(node.target), self.expression(node.value))

    def await_(self, node: ast.Await) -> Any:
        return MAKE[cst.Await](self.expression(node.value))

    def yield_(self, node: ast.Yield) -> Any:
        return MAKE[cst.Yield](self.optional(node.value))

    def yield_from(self, node: ast.YieldFrom) -> Any:
        return MAKE[cst.Yield](MAKE[cst.From](self.expression(node.value)))

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Any:
        kind = _COMPREHENSIONS[type(node)]
        return MAKE[kind](self.expression(node.elt), self.clauses(node.generators))

    def dict_comprehension(self, node: ast.DictComp) -> Any:
        key, value = self.expression(node.key), self.expression(node.value)
        return MAKE[cst.DictComp](key, value, self.clauses(node.generators))

    def clauses(self, generators: Sequence[ast.comprehension]) -> Any:
        """Return the clauses of a comprehension, each containing the next one."""
        inner = None
        for one in reversed(generators):
            tests = [MAKE[cst.CompIf](self.expression(test)) for test in one.ifs]
            running = ASYNC if one.is_async else None
            target, iterable = self.expression(one.target), self.expression(one.iter)
            inner = MAKE[cst.CompFor](running, target, iterable, tests, inner)
        return inner

    # -- signatures -----------------------------------------------------------------------------------

    def annotation(self, node: ast.expr) -> Any:
        return MAKE[cst.Annotation](self.expression(node))

    def parameters(self, node: ast.arguments) -> Any:
        optional = len(node.posonlyargs) + len(node.args) - len(node.defaults)
        defaults = [*[None] * optional, *node.defaults]
        positional = [
            self.parameter("", one, default)
            for one, default in zip((*node.posonlyargs, *node.args), defaults, strict=True)
        ]
        only = [
            self.parameter("", one, default)
            for one, default in zip(node.kwonlyargs, node.kw_defaults, strict=True)
        ]
        star: Any = _STAR if only else _DEFAULT
        if node.vararg is not None:
            star = self.parameter("*", node.vararg, None)
        rest = None if node.kwarg is None else self.parameter("**", node.kwarg, None)
        count = len(node.posonlyargs)
        return MAKE[cst.Parameters](positional[:count], positional[count:], star, only, rest)

    def parameter(self, star: str, node: ast.arg, default: ast.expr | None) -> Any:
        annotation = None if node.annotation is None else self.annotation(node.annotation)
        return MAKE[cst.Param](star, self.label(node.arg, node), annotation, self.optional(default))


def _is_one(written: str) -> bool:
    """Return whether the text of a string is one literal, not several in a row."""
    start = written.lstrip("rRbBuU")
    quotes = start[:3] if start.startswith(("'''", '"""')) else start[0]
    # The first quotes end it, unless a backslash precedes them.
    end = len(start) - len(quotes)
    return start.find(quotes, len(quotes)) == end or STRING_OR_COMMENT.fullmatch(start) is not None


def _literals(written: str) -> list[str]:
    """Return the literals that a string consists of; none if they cannot be separated."""
    found, end = [], 0
    for match in STRING_OR_COMMENT.finditer(written):
        before, end = written[end : match.start()].lstrip(" \t\r\n\\"), match.end()
        if match["comment"] is None:
            if before.lower() not in _PREFIXES:
                return []
            found.append(before + match[0])
    return found if end == len(written) else []


_NUMBERS: dict[type, type[cst.BaseNumber]] = {int: cst.Integer, float: cst.Float, complex: cst.Imaginary}
_COMPREHENSIONS: dict[type[ast.expr], type[cst.CSTNode]] = {
    ast.ListComp: cst.ListComp,
    ast.SetComp: cst.SetComp,
    ast.GeneratorExp: cst.GeneratorExp,
}

_EXPRESSIONS: dict[type[ast.expr], Callable[[Expressions, Any], Any]] = {
    ast.Name: Expressions.name,
    ast.Attribute: Expressions.attribute,
    ast.Constant: Expressions.constant,
    ast.JoinedStr: Expressions.formatted,
    ast.Tuple: Expressions.tuple_,
    ast.List: Expressions.list_,
    ast.Set: Expressions.set_,
    ast.Dict: Expressions.dict_,
    ast.Call: Expressions.call,
    ast.Subscript: Expressions.subscript,
    ast.BinOp: Expressions.binary,
    ast.BoolOp: Expressions.boolean,
    ast.UnaryOp: Expressions.unary,
    ast.Compare: Expressions.comparison,
    ast.IfExp: Expressions.conditional,
    ast.Lambda: Expressions.lambda_,
    ast.NamedExpr: Expressions.walrus,
    ast.Await: Expressions.await_,
    ast.Yield: Expressions.yield_,
    ast.YieldFrom: Expressions.yield_from,
    ast.ListComp: Expressions.comprehension,
    ast.SetComp: Expressions.comprehension,
    ast.GeneratorExp: Expressions.comprehension,
    ast.DictComp: Expressions.dict_comprehension,
}

"""Translation of `ast` statements to libcst nodes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, cast

import libcst as cst

from shardlint.inference.syntax.front_end.expressions import ASYNC, Expressions
from shardlint.inference.syntax.front_end.node_factory import MAKE, OPERATORS
from shardlint.inference.syntax.front_end.source_text import Untranslated, extent

_DOT = cst.Dot()


class Translator(Expressions):
    """Translates the tree of one text."""

    def beginning(self) -> Translator:
        """Return a new translator of the same text."""
        other = copy(self)
        other.made = []
        return other

    def block(self, body: Sequence[ast.stmt]) -> list[Any]:
        """Return the statements of a module or an indented block."""
        found: list[Any] = []
        line: list[Any] = []
        end = 0
        for statement in body:
            small = _SMALL.get(type(statement))
            if small is None:
                compound = _COMPOUND.get(type(statement))
                if compound is None:
                    raise Untranslated
                found.append(self.statement(compound, statement))
                end = 0
                continue
            if statement.lineno != end:
                line = []
                found.append(MAKE[cst.SimpleStatementLine](line))
            line.append(self.statement(small, statement))
            end = cast(int, statement.end_lineno)
            if self.continues(end):
                raise Untranslated
        return found

    def statement(self, make: Callable[[Translator, Any], Any], node: ast.stmt) -> Any:
        """Return one statement of a block."""
        return make(self, node)

    def suite(self, body: Sequence[ast.stmt]) -> Any:
        """Return the body of a compound statement."""
        if type(body[0]) not in _SMALL or self.begins_line(body[0]):
            return MAKE[cst.IndentedBlock](self.block(body))
        return MAKE[cst.SimpleStatementSuite]([self.statement(_SMALL[type(one)], one) for one in body])

    def else_(self, body: Sequence[ast.stmt]) -> Any:
        """Return the ``else`` of a loop or a ``try``."""
        return MAKE[cst.Else](self.suite(body)) if body else None

    def expr(self, node: ast.Expr) -> Any:
        return MAKE[cst.Expr](self.expression(node.value))

    def assign(self, node: ast.Assign) -> Any:
        targets = [MAKE[cst.AssignTarget](self.expression(target)) for target in node.targets]
        return MAKE[cst.Assign](targets, self.expression(node.value))

    def annotated(self, node: ast.AnnAssign) -> Any:
        target, value = self.expression(node.target), self.optional(node.value)
        return MAKE[cst.AnnAssign](target, self.annotation(node.annotation), value)

    def augmented(self, node: ast.AugAssign) -> Any:
        operator = OPERATORS[type(node.op)][1]
        return MAKE[cst.AugAssign](self.expression(node.target), operator, self.expression(node.value))

    def delete(self, node: ast.Delete) -> Any:
        if len(node.targets) == 1:
            return MAKE[cst.Del](self.expression(node.targets[0]))
        return MAKE[cst.Del](MAKE[cst.Tuple](self.elements(node.targets)))

    def return_(self, node: ast.Return) -> Any:
        return MAKE[cst.Return](self.optional(node.value))

    def raise_(self, node: ast.Raise) -> Any:
        cause = None if node.cause is None else MAKE[cst.From](self.expression(node.cause))
        return MAKE[cst.Raise](self.optional(node.exc), cause)

    def assert_(self, node: ast.Assert) -> Any:
        return MAKE[cst.Assert](self.expression(node.test), self.optional(node.msg))

    def import_(self, node: ast.Import) -> Any:
        return MAKE[cst.Import]([self.alias(alias) for alias in node.names])

    def import_from(self, node: ast.ImportFrom) -> Any:
        module = None if node.module is None else _dotted(node.module)
        star = node.names[0].name == "*"
        names = MAKE[cst.ImportStar]() if star else [self.alias(alias) for alias in node.names]
        return MAKE[cst.ImportFrom]([_DOT] * node.level, module, names)

    def alias(self, node: ast.alias) -> Any:
        return MAKE[cst.ImportAlias](_dotted(node.name), _as(node.asname))

    def names(self, node: ast.Global | ast.Nonlocal) -> Any:
        kind = cst.Global if type(node) is ast.Global else cst.Nonlocal
        return MAKE[kind]([MAKE[cst.NameItem](MAKE[cst.Name](name)) for name in node.names])

    def if_(self, node: ast.If) -> Any:
        # A long chain of ``elif`` is walked by a loop, without recursion.
        chain = [node]
        while len(orelse := chain[-1].orelse) == 1 and self._is_elif(orelse[0]):
            chain.append(cast(ast.If, orelse[0]))
        made = self.else_(chain[-1].orelse)
        for link in reversed(chain):
            made = MAKE[cst.If](self.expression(link.test), self.suite(link.body), made)
        return made

    def _is_elif(self, node: ast.stmt) -> bool:
        start = node.col_offset
        line = self._lines[node.lineno - 1]
        return type(node) is ast.If and line.encode()[start : start + 4] == b"elif"

    def for_(self, node: ast.For | ast.AsyncFor) -> Any:
        running = ASYNC if type(node) is ast.AsyncFor else None
        target, iterable = self.expression(node.target), self.expression(node.iter)
        return MAKE[cst.For](running, target, iterable, self.suite(node.body), self.else_(node.orelse))

    def while_(self, node: ast.While) -> Any:
        return MAKE[cst.While](self.expression(node.test), self.suite(node.body), self.else_(node.orelse))

    def try_(self, node: ast.Try | ast.TryStar) -> Any:
        starred = type(node) is ast.TryStar
        handler = MAKE[cst.ExceptStarHandler if starred else cst.ExceptHandler]
        handlers = [
            handler(self.optional(one.type), _as(one.name), self.suite(one.body)) for one in node.handlers
        ]
        final = MAKE[cst.Finally](self.suite(node.finalbody)) if node.finalbody else None
        make = MAKE[cst.TryStar if starred else cst.Try]
        return make(self.suite(node.body), handlers, self.else_(node.orelse), final)

    def with_(self, node: ast.With | ast.AsyncWith) -> Any:
        items = []
        for item in node.items:
            name = None if item.optional_vars is None else self.expression(item.optional_vars)
            bound = None if name is None else MAKE[cst.AsName](name)
            items.append(MAKE[cst.WithItem](self.expression(item.context_expr), bound))
        running = ASYNC if type(node) is ast.AsyncWith else None
        return MAKE[cst.With](running, items, self.suite(node.body))

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Any:
        _refuse_type_parameters(node)
        return MAKE[cst.FunctionDef](*self.header(node), self.suite(node.body))

    def header(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Sequence[Any]:
        """Return the parts of a function before its body."""
        return (
            self.decorators(node),
            ASYNC if type(node) is ast.AsyncFunctionDef else None,
            MAKE[cst.Name](node.name),
            self.parameters(node.args),
            None if node.returns is None else self.annotation(node.returns),
        )

    def class_(self, node: ast.ClassDef) -> Any:
        _refuse_type_parameters(node)
        bases = [self.argument(base) for base in node.bases]
        keywords = [self.keyword(keyword) for keyword in node.keywords]
        if bases and keywords and extent(node.bases[-1]) > extent(node.keywords[0]):
            raise Untranslated
        name, decorators = MAKE[cst.Name](node.name), self.decorators(node)
        return MAKE[cst.ClassDef](decorators, name, bases, keywords, self.suite(node.body))

    def decorators(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Any:
        return [MAKE[cst.Decorator](self.expression(one)) for one in node.decorator_list]


def _dotted(name: str) -> Any:
    first, *rest = name.split(".")
    dotted = MAKE[cst.Name](first)
    for part in rest:
        dotted = MAKE[cst.Attribute](dotted, MAKE[cst.Name](part))
    return dotted


def _as(name: str | None) -> Any:
    return None if name is None else MAKE[cst.AsName](MAKE[cst.Name](name))


def _refuse_type_parameters(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
    """Raise Untranslated for type parameters (Python 3.12), which are left to libcst."""
    if getattr(node, "type_params", ()):
        raise Untranslated


#: Statements of which several may be on one line.
_SMALL: dict[type[ast.stmt], Callable[[Translator, Any], Any]] = {
    ast.Expr: Translator.expr,
    ast.Assign: Translator.assign,
    ast.AnnAssign: Translator.annotated,
    ast.AugAssign: Translator.augmented,
    ast.Delete: Translator.delete,
    ast.Return: Translator.return_,
    ast.Raise: Translator.raise_,
    ast.Assert: Translator.assert_,
    ast.Import: Translator.import_,
    ast.ImportFrom: Translator.import_from,
    ast.Global: Translator.names,
    ast.Nonlocal: Translator.names,
    ast.Break: lambda *_: MAKE[cst.Break](),
    ast.Continue: lambda *_: MAKE[cst.Continue](),
    ast.Pass: lambda *_: MAKE[cst.Pass](),
}
_COMPOUND: dict[type[ast.stmt], Callable[[Translator, Any], Any]] = {
    ast.If: Translator.if_,
    ast.For: Translator.for_,
    ast.AsyncFor: Translator.for_,
    ast.While: Translator.while_,
    ast.Try: Translator.try_,
    ast.TryStar: Translator.try_,
    ast.With: Translator.with_,
    ast.AsyncWith: Translator.with_,
    ast.FunctionDef: Translator.function,
    ast.AsyncFunctionDef: Translator.function,
    ast.ClassDef: Translator.class_,
}

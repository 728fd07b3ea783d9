"""The code of a function of the program: its text and nodes, its signature, and whether it yields."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple, cast

import libcst as cst

from shardlint.inference.evaluation.name_mangling import mangled
from shardlint.inference.syntax.file_parts import FunctionPart
from shardlint.inference.syntax.node_fields import parts, walk
from shardlint.inference.syntax.units import BrokenText, Unit


class Code:
    """The code of a function, read when needed: from a `FunctionPart`, or a node already parsed."""

    __slots__ = ("_generator", "_named", "_node", "_part", "key", "name", "unit", "within")

    def __init__(self, name: str, unit: Unit, node: cst.CSTNode | None, part: FunctionPart | None) -> None:
        self.name, self.unit = name, unit
        self._node, self._part = node and unit.first(node), part
        #: What identifies the code, however often its definition is executed. Units may share their nodes.
        self.key: Hashable = unit.key_of(node) if node is not None else id(unit)
        self._generator: bool | None = None
        #: The name of the innermost class around it.
        self.within = ""
        #: The names of its parameters, with what tells them.
        self._named: tuple[cst.Parameters, list[str], list[str]] | None = None

    @staticmethod
    def of_part(part: FunctionPart) -> Code:
        """The code of a function that is parsed by itself."""
        return Code(part.name, part.whole, None, part)

    @property
    def node(self) -> cst.FunctionDef | cst.Lambda:
        """The definition. Raises BrokenText when libcst cannot read what `ast` could."""
        if self._node is not None:
            return cast("cst.FunctionDef | cst.Lambda", self.unit.latest(self._node))
        found = self.unit.body[0]
        assert isinstance(found, cst.FunctionDef)
        return found

    @property
    def header(self) -> cst.FunctionDef | cst.Lambda:
        """The definition, at least its signature and decorators."""
        if self._part is None:
            return self.node
        found = self._part.header.body[0]
        assert isinstance(found, cst.FunctionDef)
        return found

    @property
    def header_unit(self) -> Unit:
        """The unit that the header's nodes belong to."""
        return self.unit if self._part is None else self._part.header

    @property
    def parameters(self) -> tuple[cst.Parameters, list[str], list[str]]:
        """The signature, and the names that can be given by position, and those that are only keywords."""
        params = self.header.params
        if self._named is None or self._named[0] is not params:
            positional = [self.parameter_name(one) for one in (*params.posonly_params, *params.params)]
            self._named = params, positional, [self.parameter_name(one) for one in params.kwonly_params]
        return self._named

    def parameter_name(self, parameter: cst.Param) -> str:
        """The name of a parameter, as its body reads it."""
        return mangled(parameter.name.value, self.within)

    @property
    def is_lambda(self) -> bool:
        """Whether it is one expression."""
        return isinstance(self._node, cst.Lambda)

    @property
    def is_generator(self) -> bool:
        """Whether calling it runs nothing yet: it yields, or is async, as far as it can be read."""
        if self._generator is None:
            # Reading a body costs more than evaluating it: look only where a word says so.
            if "yield" not in self.unit.text and "async" not in self.unit.text:
                self._generator = False
                return False
            try:
                node = self.node
            except BrokenText:
                return False
            found = bool(getattr(node, "asynchronous", None))
            if not found and "yield" in self.unit.text:
                found = _has_yield(node.body)
            self._generator = found
        return self._generator

    @property
    def yields(self) -> bool:
        """Whether calling it gives a generator."""
        return self.is_generator and getattr(self.node, "asynchronous", None) is None


class LookedAt(NamedTuple):
    """In place of a code's key: the function did not run, but what it says matters, or just what it names."""

    key: Hashable
    names: bool = False


def texts_of(unit: Hashable) -> frozenset[Hashable]:
    """All that tells, of what ran, that the text of a unit matters, whether or not it ran."""
    return frozenset((LookedAt(unit), LookedAt(unit, names=True)))


def _has_yield(body: cst.CSTNode) -> bool:
    """Whether a body yields, other than in functions defined there."""
    waiting = [body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, cst.Yield):
            return True
        if not isinstance(node, cst.FunctionDef | cst.Lambda):
            waiting.extend(parts(node))
    return False


def generators_in(unit: Unit) -> dict[cst.CSTNode, bool]:
    """Whether the functions in a unit yield, by the nodes that they had first. Nothing if it is broken."""
    try:
        nodes = [node for statement in unit.body for node in walk(statement)]
    except BrokenText:
        return {}
    return {unit.first(one): _has_yield(one.body) for one in nodes if isinstance(one, cst.FunctionDef)}


def parameters(code: Code) -> cst.Parameters:
    """The signature of a function."""
    return code.header.params

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
        #: Identifies the code, however often its definition is executed. Units may share their nodes.
        self.key: Hashable = unit.key_of(node) if node is not None else id(unit)
        self._generator: bool | None = None
        #: The name of the innermost enclosing class.
        self.within = ""
        #: The names of its parameters, with the signature they were read from.
        self._named: tuple[cst.Parameters, list[str], list[str]] | None = None

    @staticmethod
    def of_part(part: FunctionPart) -> Code:
        """Return the code of a function that is parsed by itself."""
        return Code(part.name, part.whole, None, part)

    @property
    def node(self) -> cst.FunctionDef | cst.Lambda:
        """Return the definition. Raises BrokenText if libcst cannot read it although `ast` could."""
        if self._node is not None:
            return cast("cst.FunctionDef | cst.Lambda", self.unit.latest(self._node))
        found = self.unit.body[0]
        assert isinstance(found, cst.FunctionDef)
        return found

    @property
    def header(self) -> cst.FunctionDef | cst.Lambda:
        """Return the definition, or at least its signature and decorators."""
        if self._part is None:
            return self.node
        found = self._part.header.body[0]
        assert isinstance(found, cst.FunctionDef)
        return found

    @property
    def header_unit(self) -> Unit:
        """Return the unit that contains the header's nodes."""
        return self.unit if self._part is None else self._part.header

    @property
    def parameters(self) -> tuple[cst.Parameters, list[str], list[str]]:
        """Return the signature, the names of positional parameters, and those of keyword-only ones."""
        params = self.header.params
        if self._named is None or self._named[0] is not params:
            positional = [self.parameter_name(one) for one in (*params.posonly_params, *params.params)]
            self._named = params, positional, [self.parameter_name(one) for one in params.kwonly_params]
        return self._named

    def parameter_name(self, parameter: cst.Param) -> str:
        """Return the name of a parameter as the body reads it, mangled if private."""
        return mangled(parameter.name.value, self.within)

    @property
    def is_lambda(self) -> bool:
        """Return whether it is a lambda."""
        return isinstance(self._node, cst.Lambda)

    @property
    def is_generator(self) -> bool:
        """Return whether calling it runs nothing yet: it yields, or is async, as far as it can be read."""
        # Also where the answer is known: then another program has read it.
        text = self.unit.text
        if self._generator is None:
            # Reading a body costs more than evaluating it, so it is read only if one of these words occurs.
            if "yield" not in text and "async" not in text:
                self._generator = False
                return False
            try:
                node = self.node
            except BrokenText:
                return False
            found = bool(getattr(node, "asynchronous", None))
            if not found and "yield" in text:
                found = has_yield(node.body)
            self._generator = found
        return self._generator

    @property
    def yields(self) -> bool:
        """Return whether calling it returns a generator."""
        return self.is_generator and getattr(self.node, "asynchronous", None) is None


class LookedAt(NamedTuple):
    """Stands for a code key: a dependency on a function's text, or only its names, without running it."""

    key: Hashable
    names: bool = False


def texts_of(unit: Hashable) -> frozenset[Hashable]:
    """Return all dependencies on the text of a unit other than running it."""
    return frozenset((LookedAt(unit), LookedAt(unit, names=True)))


def has_yield(body: cst.CSTNode) -> bool:
    """Return whether a body yields, other than in functions defined in it."""
    waiting = [body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, cst.Yield):
            return True
        if not isinstance(node, cst.FunctionDef | cst.Lambda):
            waiting.extend(parts(node))
    return False


def generators_in(unit: Unit) -> dict[cst.CSTNode, bool]:
    """Return whether each function in a unit yields, by its first node; empty if the unit is broken."""
    try:
        nodes = [node for statement in unit.body for node in walk(statement)]
    except BrokenText:
        return {}
    return {unit.first(one): has_yield(one.body) for one in nodes if isinstance(one, cst.FunctionDef)}


def parameters(code: Code) -> cst.Parameters:
    """Return the signature of a function."""
    return code.header.params

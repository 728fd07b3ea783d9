"""Functions and classes of the program: code, signatures, and running them."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, NamedTuple, cast

import libcst as cst

from shardlint.inference.annotations import annotated, describe_parameters
from shardlint.inference.context import Frame, Scope
from shardlint.inference.effects import changed
from shardlint.inference.facts import about_function
from shardlint.inference.joins import join, join_variables
from shardlint.inference.nodes import parts, walk
from shardlint.inference.private_names import mangled
from shardlint.inference.releases import of_version
from shardlint.inference.syntax import FunctionPart
from shardlint.inference.units import BrokenText, Unit
from shardlint.inference.values import (
    NONE,
    Bound,
    DictValue,
    Function,
    Generated,
    Native,
    Partial,
    Tuple,
    Value,
)
from shardlint.laws.values import Unknown
from shardlint.spans import Place

if TYPE_CHECKING:
    from shardlint.inference.interpreter import Interpreter


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


def look_at(interpreter: Interpreter, code: Code, names_only: bool = False) -> str:
    """The text of a function that need not run."""
    unit = id(code.unit)
    # In functions around it there may be other variables.
    looked = LookedAt(unit, names=names_only and code.key == unit)
    interpreter.ran.add(looked)
    interpreter.own.add(looked)
    return code.unit.text


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


def names_by_position(function: Value) -> list[str]:
    """The parameters that a function of the program takes by position; none of other values."""
    if isinstance(function, Function):
        return list(function.code.parameters[1])
    if isinstance(function, Bound):
        return names_by_position(function.function)[1:]
    if isinstance(function, Partial):
        given = {name for name, _ in function.kwargs}
        rest = names_by_position(function.function)[len(function.args) :]
        # From the first one given by keyword on, the others take no position.
        return list(itertools.takewhile(lambda name: name not in given, rest))
    if isinstance(function, Native) and function.wraps is not None:
        return names_by_position(function.wraps)
    return []


def bind_parameters(
    function: Function, args: Sequence[Value], kwargs: dict[str, Value], opaque: bool
) -> dict[str, Value] | None:
    """Match arguments with a signature; None when they cannot fit (the call raises TypeError).

    With ``opaque`` (a starred argument of unknown length) what is not given is unknown.
    """
    params, positional, keyword_only = function.code.parameters
    bound: dict[str, Value] = dict(zip(positional, args, strict=False))
    surplus = tuple(args[len(positional) :])
    if isinstance(params.star_arg, cst.Param):
        star = function.code.parameter_name(params.star_arg)
        bound[star] = Unknown("starred arguments") if opaque else Tuple(surplus)
    elif surplus:
        return None
    extra: dict[str, Value] = {}
    for key, value in kwargs.items():
        if key in bound and key in positional:
            return None
        if key in positional or key in keyword_only:
            bound[key] = value
        else:
            extra[key] = value
    if params.star_kwarg is not None:
        bound[function.code.parameter_name(params.star_kwarg)] = (
            Unknown("starred arguments") if opaque else DictValue(dict(extra.items()))
        )
    elif extra:
        return None
    for name in (*positional, *keyword_only):
        if name in bound:
            continue
        if opaque:
            bound[name] = Unknown("starred arguments")
        elif name in function.defaults:
            bound[name] = function.defaults[name]
        else:
            return None
    return bound


def run_function(
    interpreter: Interpreter, function: Function, bound: dict[str, Value], called_at: Place | None = None
) -> Value:
    """Evaluate a function's body with bound parameters and return what it returns."""
    from shardlint.inference.expressions import evaluate
    from shardlint.inference.statements import execute_block

    code: Code = function.code
    node = code.node
    interpreter.ran.add(code.key)
    interpreter.own.add(code.key)
    scope = Scope(function.scope.module, function.scope, path=interpreter.path)
    scope.variables.update(bound)
    if function.owner is not None:
        scope.variables["__class__"] = function.owner
    path, read = interpreter.path, interpreter.versions_read
    frame = Frame(
        scope, code.unit, path=path, function=code, generator=code.is_generator, called_at=called_at
    )
    interpreter.frames.append(frame)
    try:
        if interpreter.context.body == code.key:
            from shardlint.inference.editing import note_parameters

            note_parameters(interpreter, code, bound)
        if isinstance(node, cst.Lambda):
            return evaluate(interpreter, node.body)
        # A generator's body runs later, in part or never.
        describe_parameters(interpreter, code)
        if code.unit.notes:
            # What comments tell and ask is met by each run.
            changed(0)
        told = about_function(interpreter, code) if code.unit.notes else nullcontext()
        with told, interpreter.forked(repeats=True) if code.is_generator else nullcontext():
            frame.inside = interpreter.path, interpreter.muted
            interpreter.bodies |= set(interpreter.path[len(path) :])
            falls_through = execute_block(interpreter, node.body.body)
        if falls_through:
            frame.returns.append(NONE)
        result = join(frame.returns) if frame.returns else Unknown("never returns")
        result = annotated(interpreter, node.returns, result)
    finally:
        interpreter.frames.pop()
        interpreter.path = path
    if frame.exits:
        # Functions defined inside go on to see the variables of whichever exit was taken.
        scope.variables = join_variables([*frame.exits, scope.variables] if falls_through else frame.exits)
    if code.is_generator:
        endless = not falls_through and not frame.exits
        met = tuple(count for _, _, count in frame.yields)
        given = tuple((value, context) for value, context, _ in frame.yields)
        return Generated("a generator or coroutine", given, not (frame.unsure or endless), endless, met)
    return of_version(interpreter, result, read)

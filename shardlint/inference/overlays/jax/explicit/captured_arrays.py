"""Arrays that a jitted function takes from outside instead of as arguments.

JAX makes each a constant of the program that it compiles, and drops its sharding: every device that runs the
program has all of it, beside the array itself (measured on JAX 0.6.2, 0.10.2 and 0.12.0.1). With
``JAX_USE_SIMPLIFIED_JAXPR_CONSTANTS`` in the environment they are arguments, with their shardings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from shardlint.inference.domain.values import (
    Alternatives,
    Array,
    Bound,
    DictValue,
    Instance,
    LibraryObject,
    ListValue,
    Partial,
    Tuple,
    Value,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.jax.configuration import CONSTANTS_AS_ARGUMENTS, is_set
from shardlint.inference.overlays.jax.explicit.device_lists import is_put
from shardlint.inference.overlays.jax.operations import SYNTAX, operation_of
from shardlint.inference.overlays.jax.transforms.taint import Captured, captured, following, holds_marked
from shardlint.inference.overlays.operations import Dependence
from shardlint.inference.overlays.pytrees.prefixes import arrays_at
from shardlint.laws.core.verdicts import Accepted
from shardlint.model.memory_uses import CapturedUse
from shardlint.model.spans import Place
from shardlint.model.uses import Fact, Use

#: So many arrays from outside are followed to a function's results.
_FOLLOWED = 8


def reading(
    interpreter: Evaluator, name: str, operands: Sequence[Value], result: Value, place: Place | None
) -> Value:
    """Return the result of an operation inside jit, after recording its operands from outside, where it has
    others: an array that the program put somewhere is no tracer.

    What is computed from one such array element by element is a constant as large; of other constants the
    compiler may keep less.
    """
    if interpreter.context.in_jit is not True or place is None or not any(map(is_put, operands)):
        return result
    if not _reads_all(name):
        return result
    arrays = [array for array in _arrays(operands) if not array.numpy]
    if any(array.committed is None for array in arrays):
        for array in arrays:
            _note_read(interpreter, array, place)
    elif (
        len(arrays) == 1
        and isinstance(result, Array)
        and result.shape == arrays[0].shape
        and not result.numpy
    ):
        return replace(result, committed=arrays[0].committed, name=arrays[0].name)
    return result


def note_layer(interpreter: Evaluator, operands: Sequence[Value], place: Place) -> None:
    """Record the parameters of a layer inside jit that come from outside."""
    if interpreter.context.in_jit is True and any(map(is_put, operands)):
        for array in _arrays(operands):
            _note_read(interpreter, array, place)


def note_captured(
    call: Call,
    function: str,
    arguments: Iterable[Value],
    recorded: Iterable[Use],
    evaluate: Callable[[], Value],
) -> None:
    """Record the arrays from outside on which results of a jitted function depend, at its call. ``recorded``
    are the uses of its body, which ``evaluate`` evaluates; objects among its ``arguments``, which are not
    static, may be trees of whose arrays it gets tracers."""
    interpreter = call.interpreter
    found: dict[tuple[Captured, str | None], CapturedUse] = {}
    for use in recorded:
        if isinstance(use, CapturedUse) and use.function is None:
            found.setdefault(((use.shape, use.dtype, use.mesh, use.spec), use.subject), use)
    if not found or interpreter.context.test or is_set(interpreter, CONSTANTS_AS_ARGUMENTS):
        return
    traced = set(map(captured, _reachable(arguments)))
    kinds = [kind for kind in dict.fromkeys(kind for kind, _ in found) if kind not in traced][:_FOLLOWED]
    used = [kind for kind in kinds if _is_used(interpreter, kind, evaluate)]
    for (kind, _), use in found.items():
        if kind in used:
            facts = (Fact("it is read here", use.place), *use.facts)
            _record(interpreter, kind, use.subject, call.place, facts, function)


def note_returned(call: Call, function: str, made: Value, placed: Value) -> None:
    """Record the numpy arrays that a jitted function returns as they are, where out_shardings split them."""
    interpreter = call.interpreter
    if interpreter.context.test or is_set(interpreter, CONSTANTS_AS_ARGUMENTS):
        return
    results = {path: array for array, path in arrays_at(placed)}
    for array, path in arrays_at(made):
        result = results.get(path)
        kind = captured(replace(result, committed=result.sharding)) if array.numpy and result else None
        if kind is not None and result is not None:
            subject, facts = array.name or f"result{path}", _made(result.sharding)
            _record(interpreter, kind, subject, call.place, facts, function, returned=True)


def _note_read(interpreter: Evaluator, array: Array, place: Place) -> None:
    kind = captured(array)
    if kind is not None and not interpreter.muted:
        _record(interpreter, kind, array.name, place, _made(array.committed))


def _made(home: object) -> tuple[Fact, ...]:
    """Return where a sharding is made, if that is known."""
    made = getattr(home, "origin", None)
    return () if made is None else (Fact("its sharding is made here", made),)


def _record(
    interpreter: Evaluator,
    kind: Captured,
    subject: str | None,
    place: Place,
    facts: tuple[Fact, ...],
    function: str | None = None,
    *,
    returned: bool = False,
) -> None:
    shape, dtype, mesh, spec = kind
    interpreter.record(
        CapturedUse(
            place=place,
            environment=interpreter.environment(),
            verdict=Accepted(),
            facts=facts,
            function=function,
            subject=subject,
            shape=shape,
            dtype=dtype,
            mesh=mesh,
            spec=spec,
            returned=returned,
        )
    )


def _is_used(interpreter: Evaluator, kind: Captured, evaluate: Callable[[], Value]) -> bool:
    """Return whether a result of a function depends on arrays from outside of one kind."""
    with following(interpreter, captured=kind):
        return holds_marked(evaluate())


def _reads_all(name: str) -> bool:
    """Return whether an operation surely reads the values of all its operands."""
    operation = operation_of(name)
    if name in SYNTAX or operation is None:
        return name in SYNTAX
    return operation.reads_values is True and operation.depends_on is Dependence.ALL


def _arrays(operands: Iterable[Value]) -> Iterator[Array]:
    """Yield the arrays among operands, and in sequences of them; numbers are none."""
    for operand in operands:
        if isinstance(operand, Array):
            yield operand
        elif isinstance(operand, Tuple | ListValue):
            yield from _arrays(operand.items or ())


def _reachable(values: Iterable[Value]) -> Iterator[Array]:
    """Yield the arrays that are reachable from values through containers and attributes of objects."""
    waiting, seen = list(values), set[int]()
    while waiting:
        one = waiting.pop()
        if isinstance(one, Array):
            yield one
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, Tuple | ListValue):
            waiting.extend(one.items or ())
        elif isinstance(one, DictValue):
            waiting.extend((one.items or {}).values())
        elif isinstance(one, Instance):
            waiting.extend(one.attributes.values())
        elif isinstance(one, LibraryObject):
            waiting.extend(one.fields.values())
        elif isinstance(one, Alternatives):
            waiting.extend(one.options)
        elif isinstance(one, Bound):
            waiting.append(one.receiver)
        elif isinstance(one, Partial):
            waiting.extend((*one.args, *(value for _, value in one.kwargs)))

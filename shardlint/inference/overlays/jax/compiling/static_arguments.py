"""Static arguments of compiled functions that are another number in each pass of a loop.

JAX compiles a function for each value of a static argument (`jax.jit` and `jax.pmap`, 0.10.2 and 0.12.0.1).
That is a mistake where the function only computes with the number: passed as an array it would compile once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from shardlint.inference.domain.values import Array, Const, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.path_queries import loop_around
from shardlint.inference.overlays.jax.transforms.donation import is_known
from shardlint.inference.overlays.jax.transforms.taint import following, holds_marked, marked
from shardlint.inference.overlays.recording import record_of_value
from shardlint.inference.overlays.tracers import Questions
from shardlint.laws.core.verdicts import Accepted
from shardlint.model.uses import Fact

#: The event that a function is compiled for each of many numbers.
COMPILED_FOR_EACH = "jax.jit(compiled for each number)"
#: The number of passes, each with a number of its own, after which the next is taken to have another one.
_PASSES = 3
#: Evaluates the function with another value in the place of an argument.
With = Callable[[int | str, Value], Value]


def note_static(
    call: Call, name: str, option: Value | None, given: Mapping[int | str, Value], evaluate: With
) -> None:
    """Record a call in a loop whose static arguments ``given`` hold another number in each pass, which the
    function ``name`` only computes with. ``option`` is what declares them static."""
    loop = loop_around(call.interpreter)
    if loop is None or call.place is None:
        return
    for key, value in given.items():
        place = call.place_of(key if isinstance(key, int) else None, str(key))
        written = call.interpreter.written(place)
        if isinstance(value, Const) and type(value.value) in (int, float):
            numbers = loop.static.setdefault((call.place, key), [])
            numbers.append(value.value)
            kind = type(value.value) if len(numbers) == len({*numbers}) == _PASSES else None
            listed = f": {', '.join(map(str, numbers))}"
        else:
            here = any(one is loop for one in call.interpreter.frame.loops)
            kind, listed = int if here and written in loop.counters() else None, ""
        if kind is None or not _computes_with(call, key, kind, evaluate):
            continue
        silent = f"`{written or key}`, which is static in `{name}`, is another number in each pass{listed}"
        facts = [Fact("it is called here", call.place)]
        at = getattr(option, "origin", None) or call.place
        record_of_value(call.interpreter, COMPILED_FOR_EACH, Accepted(), at, facts=facts, silent=silent)


def _computes_with(call: Call, key: int | str, kind: type, evaluate: With) -> bool:
    """Return whether a function certainly makes no other use of a number than to compute its results."""
    number = Array((), "float32" if kind is float else "int32", weak=True)
    questions = Questions()
    with following(call.interpreter, watched=questions):
        result = evaluate(key, marked(number))
    return not questions and is_known(result) and holds_marked(result)

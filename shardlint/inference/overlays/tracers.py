"""Records of what Python asks of arrays that differ from device to device, in `shard_map` or `pmap`."""

from __future__ import annotations

from shardlint.inference.domain.values import Array, ListValue, Slice, Tuple, Value, as_items
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.jax.transforms.taint import is_marked
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.transforms.tracers import ASKED, Asked, asked_of_tracer
from shardlint.model.spans import Place

#: Functions of Python and numpy, and what they ask of their first argument.
_FUNCTIONS = {
    "builtins.bool": Asked.TRUTH,
    "builtins.float": Asked.NUMBER,
    "builtins.int": Asked.NUMBER,
    "builtins.range": Asked.INDEX,
    "numpy.array": Asked.ITEMS,
    "numpy.asarray": Asked.ITEMS,
}
#: Functions that take a tracer for any number.
_TAKING = frozenset(
    {"builtins.abs", "builtins.isinstance", "builtins.print", "builtins.type", "jax.random.fold_in"}
    | {f"jax.numpy.{name}" for name in "array asarray clip cos exp float32 maximum minimum where".split()}
)


class Questions(list[Asked]):
    """Questions asked of an array while it is followed (`Context.watched`)."""


def refuses(interpreter: Evaluator, value: Value, asked: Asked, place: Place) -> bool:
    """Return whether JAX refuses to answer what is asked of a value, and record it if so."""
    if type(value) is not Array or not value.varying or value.numpy or value.struct:
        return False
    if isinstance(interpreter.context.watched, Questions) and is_marked(value):
        interpreter.context.watched.append(asked)
    record_of_value(interpreter, ASKED, asked_of_tracer(asked, value.varying), place)
    return True


def refuses_function(call: Call) -> bool:
    """Return whether a function of Python or numpy asks of its arguments what JAX refuses to answer."""
    asked, watched = _FUNCTIONS.get(call.name), call.interpreter.context.watched
    if isinstance(watched, Questions) and not _takes_tracers(call):
        watched.append(Asked.NUMBER)
    if asked is None or call.place is None or not call.interpreter.context.bound_axes:
        return False
    given = call.args if asked is Asked.INDEX else call.args[:1]
    return any(refuses(call.interpreter, one, asked, call.place) for one in given)


def _takes_tracers(call: Call) -> bool:
    """Return whether a call may take a tracer for each number that it is given: an integer may be a size."""
    given = [one for arg in (*call.args, *call.kwargs.values()) for one in as_items(arg) or (arg,)]
    numbers = [one for one in given if type(one) is Array and is_marked(one) and one.shape == ()]
    of_host = call.name.startswith(("numpy.", "math.", "builtins."))
    integral = any(one.dtype is None or "int" in one.dtype for one in numbers)
    return not numbers or not (of_host or integral) or call.name in _TAKING


def refuses_index(interpreter: Evaluator, receiver: Value, key: Value, place: Place) -> bool:
    """Return whether a subscript asks for a number that differs from device to device.

    JAX's arrays take arrays as indices, but not as bounds of slices.
    """
    if not isinstance(receiver, Array | Tuple | ListValue):
        return False
    of_array = isinstance(receiver, Array)
    of_jax = isinstance(receiver, Array) and not receiver.numpy
    for one in key.items if of_array and isinstance(key, Tuple) else (key,):
        if isinstance(one, Slice):
            asked = Asked.BOUND if of_jax else Asked.INDEX
            if any(refuses(interpreter, bound, asked, place) for bound in (one.start, one.stop, one.step)):
                return True
        elif not of_jax and refuses(interpreter, one, Asked.ITEMS if of_array else Asked.INDEX, place):
            return True
    return False

"""Records of what Python asks of arrays that differ from device to device, in `shard_map` or `pmap`."""

from __future__ import annotations

from shardlint.inference.domain.values import Array, ListValue, Slice, Tuple, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
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


def refuses(interpreter: Evaluator, value: Value, asked: Asked, place: Place) -> bool:
    """Return whether JAX refuses to answer what is asked of a value, and record it if so."""
    if type(value) is not Array or not value.varying or value.numpy or value.struct:
        return False
    record_of_value(interpreter, ASKED, asked_of_tracer(asked, value.varying), place)
    return True


def refuses_function(call: Call) -> bool:
    """Return whether a function of Python or numpy asks of its arguments what JAX refuses to answer."""
    asked = _FUNCTIONS.get(call.name)
    if asked is None or call.place is None or not call.interpreter.context.bound_axes:
        return False
    given = call.args if asked is Asked.INDEX else call.args[:1]
    return any(refuses(call.interpreter, one, asked, call.place) for one in given)


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

"""Host views: numpy arrays that share the buffer of a JAX array on CPU.

While one is held, a donation leaves the array as it is (measured on JAX 0.10.2 and 0.12.0.1); on other
platforms the numpy array is a copy. Which arrays may be viewed is noted by shape and dtype.
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.inference.domain.values import Array, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.evaluation.path_queries import ask
from shardlint.inference.overlays.arrays.shards import note_copied_part
from shardlint.inference.overlays.jax.explicit.device_lists import runs_eagerly
from shardlint.inference.overlays.pytrees.prefixes import arrays_in
from shardlint.laws.core.values import Unknown

_ANY = "a host view of some array"
#: Functions whose results may share the buffers of their arguments, besides numpy's.
_VIEWING = frozenset({"jax.device_get", "builtins.memoryview"})
_COPYING = frozenset({"numpy.array", "numpy.copy"})
#: Libraries that are not followed and may keep what they are given, unlike others that only read it.
_KEEPING = ("jax.dlpack.", "jax.numpy.from_dlpack", "numpy.", "orbax.", "wandb.")


def note_result(call: Call, result: Value) -> None:
    """Note the operands of a call whose result may be a view of them."""
    note_copied_part(call)
    name = call.name
    shares = name.startswith("numpy.") and (name not in _COPYING or "copy" in call.kwargs)
    if not shares and name not in _VIEWING:
        return
    if isinstance(result, Unknown) or name in _VIEWING or any(one.numpy for one in arrays_in(result)):
        note_views(call.interpreter, (*call.args, *call.kwargs.values()))


def note_unfollowed(interpreter: Evaluator, name: str, values: Iterable[Value]) -> None:
    """Note what a library's function, which no overlay knows and which changes nothing, may view."""
    if name.startswith(_KEEPING) and not name.startswith("numpy.testing."):
        note_views(interpreter, values)


def note_views(interpreter: Evaluator, values: Iterable[Value]) -> None:
    """Note that unseen code, or a numpy array, may view the arrays in these values from now on."""
    if not runs_eagerly(interpreter):
        return
    for value in values:
        for array in arrays_in(value):
            if not array.numpy and not array.struct and not (array.weak and array.shape == ()):
                interpreter.views.add(_text(array))
                interpreter.viewed.add(_text(array))


def may_be_viewed(interpreter: Evaluator, array: Array) -> bool:
    """Return whether a view of an array may be held."""
    return ask(interpreter, _ANY) or ask(interpreter, _text(array))


def _text(array: Array) -> str:
    if array.shape is None or array.dtype is None:
        return _ANY
    return f"a host view of {array.dtype}{list(map(str, array.shape))}"

"""optax's factored second moments, which have the shape of no parameter: `scale_by_factored_rms` and
`adafactor` (optax 0.2.8, `_src.factorized`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shardlint.inference.domain.values import Array, Const, External, Tuple, Value, as_bool, as_int, is_none
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import unresolved
from shardlint.inference.overlays.jax.explicit.device_lists import runs_eagerly
from shardlint.inference.overlays.optax.states import (
    COUNT,
    Arguments,
    Init,
    Rule,
    arguments_of,
    chained,
    decay_of,
    empty,
    like,
    part_of,
    rate_of,
    transformation,
)
from shardlint.inference.overlays.pytrees.prefixes import map_arrays
from shardlint.laws.core.values import Unknown

_FIELDS = ("count", "v_row", "v_col", "v")
_SMALLEST, _FLOAT = Const(128), External("jax.numpy.float32")


def _init(args: Arguments) -> Init:
    """Return the ``init`` of moments that are factored along the two largest dimensions of a parameter."""
    chosen, least = args["factored"], args["min_dim_size_to_factor"]
    wanted, size = True if chosen is None else as_bool(chosen), as_int(_SMALLEST if least is None else least)

    def made(call: Call, params: Value) -> Value:
        if wanted is None or size is None:
            unresolved("what is factored is not known")
        whole = like(params, None, runs_eagerly(call.interpreter), call.place)

        def field(name: str) -> Callable[[Array, str], Value]:
            def part(array: Array, _: str) -> Value:
                return _moment(call, array, name, size if wanted else None)

            return part

        return Tuple((COUNT, *(map_arrays(whole, field(name)) for name in _FIELDS[1:])), call.place, _FIELDS)

    return made


def _moment(call: Call, like_param: Array, field: str, smallest: int | None) -> Value:
    """Return a field of the state for one parameter: the mean along one of its dimensions, the whole, or a
    placeholder of one element."""
    shape = like_param.shape
    plain = Array(None, like_param.dtype, origin=call.place)
    if shape is None:
        return plain
    sizes = [size for size in shape if isinstance(size, int)]
    gone: tuple[int, int] | None = None
    if smallest is not None and len(shape) > 1:
        if len(sizes) < len(shape):
            return plain
        order = sorted(range(len(sizes)), key=sizes.__getitem__)
        if sizes[order[-2]] >= smallest:
            gone = order[-1], order[-2]
    if field == "v" and gone is None:
        return like_param
    if field == "v" or gone is None:
        return replace(plain, shape=(1,))
    at = gone[field == "v_col"]
    return replace(plain, shape=(*shape[:at], *shape[at + 1 :]))


def _factored_rms(call: Call) -> Value:
    """`scale_by_factored_rms(factored, ...)`."""
    names = "factored decay_rate step_offset min_dim_size_to_factor epsilon decay_rate_fn"
    return transformation(call, _init(arguments_of(call, names)), follows=True)


def _adafactor(call: Call) -> Value:
    """`adafactor(learning_rate, ...)`: what its options ask for, in a chain."""
    args = arguments_of(call, _ADAFACTOR)
    optional = ("clipping_threshold", "learning_rate", "momentum", "weight_decay_rate")
    scales = args["multiply_by_parameter_scale"]
    multiplies = True if scales is None else as_bool(scales)
    if multiplies is None or any(isinstance(args[name], Unknown) for name in optional):
        return transformation(call, lambda inner, _: inner.unknown("which parts it has is not known"))
    clips = args["clipping_threshold"]
    parts = [_init(args)]
    if clips is None or not is_none(clips):
        parts.append(empty)
    if args.has("learning_rate"):
        parts.append(rate_of(args["learning_rate"]))
    if multiplies:
        parts.append(empty)
    if args.has("momentum"):
        parts.append(part_of("ema", Arguments({"accumulator_dtype": args["dtype_momentum"] or _FLOAT})))
    if args.has("weight_decay_rate"):
        parts.append(decay_of(args["weight_decay_rate"], args["weight_decay_mask"]))
    return transformation(call, chained(*parts, empty), follows=True)


_ADAFACTOR = (
    "learning_rate min_dim_size_to_factor decay_rate decay_offset multiply_by_parameter_scale "
    "clipping_threshold momentum dtype_momentum weight_decay_rate eps factored weight_decay_mask"
)
TABLE: dict[str, Rule] = {"optax.adafactor": _adafactor, "optax.scale_by_factored_rms": _factored_rms}

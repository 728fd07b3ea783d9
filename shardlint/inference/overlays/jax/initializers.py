"""`jax.nn.initializers`: functions of a key, a shape and a dtype, and functions that return them.

Each is evaluated as the draw that it makes (`jax._src.nn.initializers`, JAX 0.10.2), which decides about
``out_sharding=`` and the sharding in the result's type; a factor of shape () changes neither.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from shardlint.inference.domain.values import Array, Const, External, Native, Value, as_str
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import Transfer, dtype_argument, given, table, unresolved
from shardlint.inference.store.effect_log import STEADY
from shardlint.laws.core.values import Unknown
from shardlint.laws.transforms.traits import Trait
from shardlint.model.spans import Place

#: Evaluates the call of an initializer; the dtype is used if the call passes none.
_Initialize = Callable[[Call, str | None], Value]


def _drawn(call: Call, default: str | None) -> Value:
    """Return a draw of `jax.random`; those of initializers take the same ``out_sharding=``."""
    key, shape, dtype, out = call.bind("key", "shape", dtype=None, out_sharding=None)
    return _made(call, External("jax.random.normal"), [key, shape], dtype, default, out)


def _fanned(*fans: Trait) -> _Initialize:
    """Return an initializer whose deviation is that for the sizes of these dimensions."""

    def draw(call: Call, default: str | None) -> Value:
        found = _drawn(call, default)
        if not isinstance(found, Array) or not found.varying:
            return found
        traits = found.traits | {(fan, axis) for fan in fans for axis in found.varying}
        return replace(found, traits=traits, drawn_at=call.place)

    return draw


def _by_mode(call: Call) -> Value:
    """`variance_scaling(scale, mode, distribution)`."""
    names = ("scale", "mode", "distribution", *_FAN)
    mode = as_str(call.argument(1, "mode")) or ""
    return _maker(_MODES.get(mode, _drawn), *names)(call)


def _filled(name: str) -> _Initialize:
    def fill(call: Call, default: str | None) -> Value:
        _, shape, dtype, out = call.bind("key", "shape", dtype=None, out_sharding=None)
        return _made(call, External(f"jax.numpy.{name}"), [shape], dtype, default, out)

    return fill


def _unsharded(initialize: _Initialize) -> _Initialize:
    """Return an initializer whose treatment of an ``out_sharding=`` is unknown."""

    def plain(call: Call, default: str | None) -> Value:
        if given(call.argument(3, "out_sharding")):
            unresolved("an initializer with an out_sharding")
        return initialize(call, default)

    return plain


def _made(
    call: Call,
    function: Value,
    args: list[Value | None],
    dtype: Value | None,
    default: str | None,
    out_sharding: Value | None,
) -> Value:
    name = dtype_argument(dtype, default)
    kwargs: dict[str, Value] = {"dtype": Unknown("the dtype") if name is None else Const(name)}
    if given(out_sharding) and out_sharding is not None:
        kwargs["out_sharding"] = out_sharding
    known = [Unknown("not given") if arg is None else arg for arg in args]
    return call.interpreter.call(function, known, kwargs, call.place)


def _maker(initialize: _Initialize, *names: str) -> Transfer:
    """Return a function with these parameters, ``dtype`` among them, that returns an initializer."""

    def transfer(call: Call) -> Value:
        options = dict(zip(names, call.bind(**dict.fromkeys(names)), strict=True))
        default = dtype_argument(options.get("dtype"), "float32")
        elsewhere = any(given(options.get(name)) for name in _FAN[:3])
        drawn = _drawn if elsewhere else initialize
        return _initializer(drawn, call.name, default, call.place)  # type: ignore[arg-type]

    return transfer


@lru_cache(maxsize=500)
def _initializer(initialize: _Initialize, name: str, default: str | None, place: Place) -> Native:
    """Return the initializer that a call makes: one object for equal calls, so that whatever holds it has one
    canonical key."""
    ready = table("", {"f": lambda inner: initialize(inner, default)})["f"]
    made = Native(f"{name}(...)", ready, origin=place)
    made.born = STEADY
    return made


_FAN = ("in_axis", "out_axis", "batch_axis", "dtype")
_FANNED = {
    **dict.fromkeys(("lecun", "he", "kaiming"), _fanned(Trait.FAN_IN)),
    **dict.fromkeys(("glorot", "xavier"), _fanned(Trait.FAN_IN, Trait.FAN_OUT)),
}
_MODES = {
    "fan_in": _fanned(Trait.FAN_IN),
    "fan_out": _fanned(Trait.FAN_OUT),
    "fan_avg": _fanned(Trait.FAN_IN, Trait.FAN_OUT),
}

_FUNCTIONS: dict[str, Transfer] = {
    "zeros": lambda call: _filled("zeros")(call, "float32"),
    "ones": lambda call: _filled("ones")(call, "float32"),
    **{f"{kind}_{law}": _maker(_FANNED[kind], *_FAN) for kind in _FANNED for law in ("normal", "uniform")},
    "normal": _maker(_drawn, "stddev", "dtype"),
    "uniform": _maker(_drawn, "scale", "dtype"),
    "constant": _maker(_unsharded(_filled("zeros")), "value", "dtype"),
    "truncated_normal": _maker(_drawn, "stddev", "dtype", "lower", "upper"),
    "orthogonal": _maker(_unsharded(_drawn), "scale", "column_axis", "dtype"),
    "delta_orthogonal": _maker(_unsharded(_drawn), "scale", "column_axis", "dtype"),
    "variance_scaling": _by_mode,
}

TABLE: dict[str, Transfer] = table("jax.nn.initializers.", _FUNCTIONS)

"""`jax.nn.initializers`: functions of a key, a shape and a dtype, and what makes them."""

from __future__ import annotations

from shardlint.inference.calls import Call
from shardlint.inference.overlays.arrays import Transfer, dtype_argument, result, shape_of, table
from shardlint.inference.values import Native, Value


def initialize(call: Call) -> Value:
    """An initializer's own call, ``init(key, shape, dtype)``."""
    _, shape, dtype, _ = call.bind("key", "shape", dtype=None, out_sharding=None)
    return result(call, shape_of(shape), dtype_argument(dtype, "float32"))


def maker(*names: str) -> Transfer:
    """A function of these parameters, ``dtype`` among them, that returns an initializer."""

    def transfer(call: Call) -> Value:
        options = dict(zip(names, call.bind(**dict.fromkeys(names)), strict=True))
        default = dtype_argument(options.get("dtype"), "float32")

        def initializer(inner: Call) -> Value:
            _, shape, dtype, _ = inner.bind("key", "shape", dtype=None, out_sharding=None)
            return result(inner, shape_of(shape), dtype_argument(dtype, default))

        ready = table("", {"f": initializer})["f"]
        return Native(f"{call.name}(...)", ready, origin=call.place)

    return transfer


_FAN = ("in_axis", "out_axis", "batch_axis", "dtype")
_KINDS = ("lecun", "glorot", "xavier", "he", "kaiming")

_FUNCTIONS: dict[str, Transfer] = {
    "zeros": initialize,
    "ones": initialize,
    **{f"{kind}_{law}": maker(*_FAN) for kind in _KINDS for law in ("normal", "uniform")},
    "normal": maker("stddev", "dtype"),
    "uniform": maker("scale", "dtype"),
    "constant": maker("value", "dtype"),
    "truncated_normal": maker("stddev", "dtype", "lower", "upper"),
    "orthogonal": maker("scale", "column_axis", "dtype"),
    "delta_orthogonal": maker("scale", "column_axis", "dtype"),
    "variance_scaling": maker("scale", "mode", "distribution", *_FAN),
}

TABLE: dict[str, Transfer] = table("jax.nn.initializers.", _FUNCTIONS)

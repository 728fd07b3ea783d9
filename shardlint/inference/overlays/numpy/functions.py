"""`numpy` and `numpy.random`: arrays with 64-bit defaults, and integers that stay integers."""

from __future__ import annotations

from shardlint.inference.domain.values import Const, LibraryObject, Native, Value, as_dim
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.dtypes import as_dtype
from shardlint.inference.overlays.arrays.elementwise import scalar_constructor
from shardlint.inference.overlays.arrays.layout import resize_in_place, set_in_place
from shardlint.inference.overlays.arrays.operands import (
    Transfer,
    broadcast,
    dtype_argument,
    given,
    operand,
    operands,
    result,
    shape_of,
    table,
)  # fmt: skip
from shardlint.inference.overlays.jax.numpy import DTYPES, SHARED
from shardlint.inference.overlays.jax.sharding import device_arrays
from shardlint.inference.overlays.numpy import known_numbers
from shardlint.inference.overlays.operations import parameters, transfers
from shardlint.laws.core.dims import Shape, fresh

_SHARED: dict[str, Transfer] = transfers(SHARED, numpy=True)

_DEVICES: dict[str, Transfer] = {
    name: device_arrays.keeps_devices(shape, order, _SHARED[name])
    for name, shape, order in (
        ("reshape", device_arrays.reshape_of, device_arrays.reshape_order),
        ("transpose", device_arrays.transpose_of, device_arrays.transpose_order),
        ("expand_dims", device_arrays.expand_of, device_arrays.expand_order),
    )
} | {
    name: device_arrays.on_devices(arrange, _SHARED[name])
    for name, arrange in device_arrays.FUNCTIONS.items()
    if name in _SHARED
}


def _or_number(call: Call, shape: Shape | None, dtype: str | None) -> Value:
    """Return a draw without a size: some are Python numbers, so the dtype is unknown."""
    return result(call, shape, None if shape in ((), None) else dtype)


def _drawn(call: Call, size: Value | None, parameters: list[Value | None], dtype: str) -> Value:
    """Return the draw of a distribution, of the given size or else the broadcast shape of its parameters."""
    if given(size):
        return result(call, shape_of(size), dtype)
    return _or_number(
        call, broadcast(x.shape for x in operands([p for p in parameters if given(p)], numpy=True)), dtype
    )


def _distribution(dtype: str, *names: str) -> Transfer:
    """Return a distribution with these parameters, followed by ``size``."""

    def transfer(call: Call) -> Value:
        *parameters, size, kind, _ = call.bind(**dict.fromkeys(names), size=None, dtype=None, endpoint=None)
        return _drawn(call, size, parameters, dtype_argument(kind, dtype) or dtype)

    return transfer


def _dimensions(call: Call) -> Value:
    """`numpy.random.randn(2, 3)`, `rand`."""
    return _or_number(call, tuple(dim for arg in call.args for dim in shape_of(arg)), "float64")


def _sized(call: Call) -> Value:
    """`standard_normal(size, dtype)`, `random(size, dtype)`."""
    size, dtype, _ = call.bind(size=None, dtype=None, out=None)
    if not given(size):
        return _or_number(call, (), None)
    return result(call, shape_of(size), dtype_argument(dtype, "float64"))


def _permutation(call: Call) -> Value:
    """`permutation(x)`: of range(x), or of an array."""
    x, _ = call.bind("x", axis=None)
    if (count := as_dim(x)) is not None:
        return result(call, (count,), "int64")
    source = operand(x, numpy=True)
    return result(call, source.shape, source.dtype)


def _choice(call: Call) -> Value:
    """`choice(a, size)` of a vector or a range."""
    a, size, *_ = call.bind("a", size=None, replace=None, p=None, axis=None, shuffle=None)
    source = operand(a, numpy=True)
    if source.shape is None or len(source.shape) > 1:
        return call.unknown("a choice among slices")
    return result(call, shape_of(size) if given(size) else (), source.dtype)


_DISTRIBUTIONS: dict[str, Transfer] = {
    "normal": _distribution("float64", "loc", "scale"),
    "uniform": _distribution("float64", "low", "high"),
    "lognormal": _distribution("float64", "mean", "sigma"),
    "gamma": _distribution("float64", "shape", "scale"),
    "beta": _distribution("float64", "a", "b"),
    "exponential": _distribution("float64", "scale"),
    "poisson": _distribution("int64", "lam"),
    "binomial": _distribution("int64", "n", "p"),
    "negative_binomial": _distribution("int64", "n", "p"),
    "geometric": _distribution("int64", "p"),
    "logseries": _distribution("int64", "p"),
    "laplace": _distribution("float64", "loc", "scale"),
    "logistic": _distribution("float64", "loc", "scale"),
    "gumbel": _distribution("float64", "loc", "scale"),
    "vonmises": _distribution("float64", "mu", "kappa"),
    "wald": _distribution("float64", "mean", "scale"),
    "f": _distribution("float64", "dfnum", "dfden"),
    "noncentral_chisquare": _distribution("float64", "df", "nonc"),
    "chisquare": _distribution("float64", "df"),
    "standard_t": _distribution("float64", "df"),
    "weibull": _distribution("float64", "a"),
    "pareto": _distribution("float64", "a"),
    "power": _distribution("float64", "a"),
    "rayleigh": _distribution("float64", "scale"),
    "standard_gamma": _distribution("float64", "shape"),
    "standard_cauchy": _distribution("float64"),
    "standard_exponential": _sized,
    "standard_normal": _sized,
    "random": _sized,
    "permutation": _permutation,
    "choice": _choice,
}

#: Methods of `numpy.random.Generator` and `RandomState`; the receiver is not among the arguments.
GENERATOR: dict[str, Transfer] = {
    **_DISTRIBUTIONS,
    "integers": _distribution("int64", "low", "high"),
}
_LEGACY: dict[str, Transfer] = {
    **_DISTRIBUTIONS,
    "randn": _dimensions,
    "rand": _dimensions,
    "randint": _distribution("int64", "low", "high"),
    "random_sample": _sized,
}


def _generator(methods: dict[str, Transfer], kind: str) -> Transfer:
    """`default_rng(seed)`, `RandomState(seed)`: an object with the methods as fields."""

    def transfer(call: Call) -> Value:
        ready = table(f"{kind}.", methods)
        fields: dict[str, Value] = {
            name.rpartition(".")[2]: Native(name, _renamed(name, method)) for name, method in ready.items()
        }
        return LibraryObject(kind, fields, origin=call.place)

    return transfer


def _renamed(name: str, method: Transfer) -> Transfer:
    def transfer(call: Call) -> Value:
        return method(
            Call(call.interpreter, name, call.args, call.kwargs, call.place, call.opaque, call.arg_places)
        )

    return transfer


def _window(call: Call) -> Value:
    """`hanning(M)` and its relatives, `kaiser(M, beta)`."""
    size, *_ = call.bind("M", beta=None)
    count = as_dim(size)
    return call.unknown("the size is not known") if count is None else result(call, (count,), "float64")


def _mapped(call: Call) -> Value:
    """`memmap(filename, dtype=uint8, mode="r+", offset=0, shape=None)`: without a shape, one dimension."""
    *_, dtype, _, _, shape, _ = call.bind(
        "filename", dtype=None, mode=None, offset=None, shape=None, order=None
    )
    sizes = shape_of(shape) if given(shape) else (fresh(),)
    return result(call, sizes, dtype_argument(dtype, "uint8"))


def _read(call: Call) -> Value:
    """`fromfile(file, dtype=float, count=-1)`, `frombuffer(buffer, dtype=float, count=-1)`: one dimension."""
    _, dtype, count, *_ = call.bind("source", dtype=None, count=None, sep=None, offset=None, like=None)
    # A file may hold fewer than asked for.
    size = as_dim(count) if call.name.endswith("frombuffer") else None
    known = size if isinstance(size, int) and size >= 0 else fresh()
    return result(call, (known,), dtype_argument(dtype, "float64"))


def _seed(call: Call) -> Value:
    return Const(None)


def _with_numbers(transfer: Transfer) -> Transfer:
    return lambda call: known_numbers.of_function(call, transfer(call))


TABLE: dict[str, Transfer] = {
    **table("numpy.", {
        **{name: _with_numbers(function) for name, function in _SHARED.items()},
        **_DEVICES,
        **{name: scalar_constructor(as_dtype(Const(name)) or name) for name in DTYPES if name != "bfloat16"},
        "random.default_rng": _generator(GENERATOR, "numpy.random.Generator"),
        "random.RandomState": _generator(_LEGACY, "numpy.random.RandomState"),
        "random.seed": _seed,
        **dict.fromkeys(("bartlett", "blackman", "hamming", "hanning", "kaiser"), _window),
        "memmap": _mapped,
        **dict.fromkeys(("frombuffer", "fromfile"), _read),
        "ndarray.resize": resize_in_place,
        "ndarray.shape.__set__": set_in_place,
        "ndarray.dtype.__set__": set_in_place,
    }, parameters(SHARED, numpy=True)),
    **table("numpy.random.", _LEGACY),
}  # fmt: skip

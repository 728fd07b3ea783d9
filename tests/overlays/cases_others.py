"""Random calls of rarer functions of `jax.lax`, `jax.nn`, `jax.random` and `jax.scipy`."""

from __future__ import annotations

import cases_numpy as shared
from cases_jax import key, nn_axis
from cases_lax import alike, dims, dtype_value, floats, one
from cases_lax import conv as plain_conv
from cases_products import pair, trapezoid
from overlay_harness import Case, Draw, Generator

from shardlint.inference.domain.values import Array, Const, ListValue, Tuple, Value
from shardlint.inference.overlays.jax.numerics import distributions


def three(d: Draw) -> Case:
    x = Array(d.shape(), "float32")
    return [x, x, x], {}


def precision(d: Draw) -> Case:
    (x,), _ = floats(d)
    return [x, Const(5), Const(7)], {}


def uniform(d: Draw) -> Case:
    dtype = d.pick("float32", "bfloat16")
    return [Array((), dtype), Array((), dtype), dims(d.shape())], {}


def empty(d: Draw) -> Case:
    return [dims(d.shape()), dtype_value(d)], {}


def stacked(d: Draw) -> Case:
    x = d.array()
    others = [x if d.chance(0.9) else d.array() for _ in range(d.between(0, 2))]
    axis: dict[str, Value] = {"axis": Const(d.between(0, len(x.shape or ())))} if d.chance(0.5) else {}
    return [shared.group(d, [x, *others])], axis


def unstacked(d: Draw) -> Case:
    x = d.array((d.between(1, 4), *d.shape(0, 2)))
    return [x], {}


def tiled(d: Draw) -> Case:
    x = d.array(d.shape(1, 3))
    return [x, dims([d.dim() for _ in x.shape or ()])], {}


def taken(d: Draw) -> Case:
    x = d.array(d.shape(1, 3))
    rank = len(x.shape or ())
    axes = d.rng.sample(range(rank), d.between(1, rank))
    n = d.dim()
    return [x, Tuple(tuple(Array((n,), "int32") for _ in axes)), Tuple(tuple(map(Const, axes)))], {}


def transposed(d: Draw) -> Case:
    count, features = d.between(1, 2), d.dim()
    letters = "HW"[:count]
    shape = (d.dim(), *(d.dim(3, 9) for _ in range(count)), features)
    kernel = (*(d.dim(1, 3) for _ in range(count)), features, d.dim())
    padding: Value = Const(d.pick("SAME", "VALID"))
    if d.chance(0.3):
        padding = ListValue([dims((d.between(0, 2), d.between(0, 2))) for _ in range(count)])
    kwargs: dict[str, Value] = d.maybe(
        0.3, rhs_dilation=lambda: dims([d.between(1, 2) for _ in range(count)])
    )
    if d.chance(0.3):
        numbers = (f"N{letters}C", f"{letters}IO", f"N{letters}C")
        kwargs["dimension_numbers"] = Tuple(tuple(map(Const, numbers)))
    elif d.chance(0.3):
        kernel = (*kernel[:-2], kernel[-1], kernel[-2])
        kwargs["transpose_kernel"] = Const(True)
    strides = dims([d.between(1, 3) for _ in range(count)])
    return [Array(shape, "float32"), Array(kernel, "float32"), strides, padding], kwargs


def patches(d: Draw) -> Case:
    (x, _, strides, padding), _ = plain_conv(d)
    assert isinstance(x, Array) and x.shape is not None
    count = len(x.shape) - 2
    return [x, dims([d.between(1, 3) for _ in range(count)]), strides, padding], {}


LAX: dict[str, Generator] = {
    **dict.fromkeys("igammac igamma_grad_a random_gamma_grad polygamma zeta".split(), alike(("float32",))),
    "betainc": three,
    "reduce_precision": precision,
    "rng_uniform": uniform,
    "empty": empty,
    "stack": stacked,
    "unstack": unstacked,
    "tile": tiled,
    "index_take": taken,
    "conv_transpose": transposed,
    "conv_general_dilated_patches": patches,
}


def mean_of_exponentials(d: Draw) -> Case:
    x = d.array(d.shape(1, 3))
    return [x], d.maybe(axis=lambda: d.axes(len(x.shape or ())), keepdims=lambda: Const(True))


NN: dict[str, Generator] = {"log1mexp": one, "logmeanexp": mean_of_exponentials}


def lognormal(d: Draw) -> Case:
    shape = d.shape()
    sigma = Const(0.5) if d.chance(0.4) else Array(d.meeting(shape), "float32")
    return [key(d), sigma], d.maybe(0.5, shape=lambda: dims(shape))


def multinomial(d: Draw) -> Case:
    p = Array(d.shape(1, 3), "float32")
    return [key(d), Const(5.0), p], d.maybe(0.3, shape=lambda: dims(p.shape or ()))


RANDOM: dict[str, Generator] = {"lognormal": lognormal, "multinomial": multinomial}


def elements(count: int) -> Generator:
    """An array, and parameters that broadcast with it."""

    def generate(d: Draw) -> Case:
        shape = d.shape()
        first = d.array(shape, d.pick("float32", "float32", "bfloat16"))
        arrays = [
            first,
            *(Array(d.meeting(shape), d.pick("float32", str(first.dtype))) for _ in range(count)),
        ]
        names: dict[str, Value] = {name: Const(d.pick(1, 0.5)) for name in ("loc", "scale") if d.chance(0.3)}
        return list(arrays), names

    return generate


STATS: dict[str, Generator] = {}
for _distribution, _text in distributions.CONTINUOUS.items():
    for _part in _text.split("; "):
        _names, _functions = _part.split(": ")
        for _function in _functions.split():
            STATS[f"{_distribution}.{_function}"] = elements(len(_names.split()) - 1)


def slid() -> Generator:
    def generate(d: Draw) -> Case:
        count = d.between(1, 3)
        x = d.array(tuple(d.dim(3, 6) for _ in range(count)), d.pick("float32", "int32"))
        y = d.array(tuple(d.dim(1, 3) for _ in range(count)), d.pick("float32", "int32"))
        return [x, y], d.maybe(0.7, mode=lambda: Const(d.pick("full", "same", "valid")))

    return generate


def cosines(d: Draw) -> Case:
    x = d.array(d.shape(1, 3), "float32")
    return [x], d.maybe(n=lambda: Const(d.between(1, 6)), axis=lambda: Const(d.axis(len(x.shape or ()))))


def detrended(d: Draw) -> Case:
    return [d.array((d.dim(2), *d.shape(0, 1)), "float32")], {"axis": Const(0)}


def mapped(d: Draw) -> Case:
    x, points = d.array(d.shape(1, 3)), d.shape(0, 2)
    return [
        x,
        ListValue([Array(points, "float32") for _ in x.shape or ()]),
        Const(d.pick(0, 1)),
    ], {}


SIGNAL: dict[str, Generator] = {
    **dict.fromkeys(("convolve", "correlate", "fftconvolve"), slid()),
    "detrend": detrended,
}
FFT: dict[str, Generator] = dict.fromkeys(("dct", "idct"), cosines)
IMAGES: dict[str, Generator] = {"map_coordinates": mapped}
INTEGRALS: dict[str, Generator] = {"trapezoid": trapezoid}
SPECIAL: dict[str, Generator] = {
    **dict.fromkeys("gamma gammasgn loggamma logit exp1 expi dawsn erfcx ndtri".split(), one),
    **dict.fromkeys("boxcox boxcox1p beta gammainc gammaincc kl_div rel_entr poch zeta".split(), pair()),
    "spence": lambda d: ([d.array(dtype="float32")], {}),
    **dict.fromkeys(("softmax", "log_softmax"), lambda d: nn_axis(d)),
}

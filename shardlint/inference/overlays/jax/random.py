"""`jax.random`: keys, and draws of a given shape."""

from __future__ import annotations

from shardlint.inference.domain.values import Array, Const, Value, as_dim
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import (
    Transfer,
    axis_of,
    broadcast,
    dtype_argument,
    given,
    known_rank,
    like,
    operand,
    operands,
    result,
    shape_of,
    size_of,
    unresolved,
)  # fmt: skip
from shardlint.inference.overlays.jax.explicit.primitives import unclaimed
from shardlint.inference.overlays.jax.explicit.rules import joining as joining_rules
from shardlint.inference.overlays.jax.explicit.rules import random as random_rules
from shardlint.inference.overlays.operations import MISSING, Dependence, Operation, library_table
from shardlint.laws.core.dims import Shape, lower_bound

#: The dtype of a typed key with the default generator.
KEY = "key<fry>"


def _keys(source: Array, shape: Shape) -> Array:
    """Return keys of this batch shape, typed or raw like the source."""
    if source.dtype is None:
        return Array(None, None)
    return Array((*shape, 2), "uint32") if source.dtype == "uint32" else Array(shape, source.dtype)


def key(call: Call) -> Value:
    """`key(seed)`: a typed key."""
    _, impl, _ = call.bind("seed", impl=None, dtype=None)
    return Array((), None if given(impl) else KEY)


def raw_key(call: Call) -> Value:
    """`PRNGKey(seed)`: a raw key."""
    _, impl = call.bind("seed", impl=None)
    if given(impl):
        unresolved("a generator other than the default")
    return Array((2,), "uint32")


def split(call: Call) -> Value:
    """`split(key, num)`: keys with a leading ``num``."""
    source, num = call.bind("key", num=Const(2))
    return _keys(operand(source), shape_of(num))


def fold_in(call: Call) -> Value:
    """`fold_in(key, data)`, `clone(key)`: a key like the first argument."""
    source, _ = call.bind("key", data=None)
    return like(call, operand(source), operand(source).shape)


def key_data(call: Call) -> Value:
    """`key_data(keys)`: the raw words."""
    (keys,) = call.bind("keys")
    source = operand(keys)
    if source.dtype == "uint32":
        return source
    if source.dtype is None:
        unresolved("raw words or typed keys")
    return result(call, (*known_rank(source), 2), "uint32")


def wrap_key_data(call: Call) -> Value:
    """`wrap_key_data(words)`: typed keys."""
    words, impl, _ = call.bind("key_bits_array", impl=None, dtype=None)
    if given(impl):
        unresolved("a generator other than the default")
    return Array(known_rank(operand(words))[:-1], KEY)


def drawn(default: str, *before: str) -> Transfer:
    """Return a draw ``key, *before, shape=(), dtype`` with this default dtype."""

    def transfer(call: Call) -> Value:
        _, *rest = call.bind("key", *before, shape=None, dtype=None, mode=None, out_sharding=None)
        shape, dtype = rest[len(before)], rest[len(before) + 1]
        return result(call, shape_of(shape) if given(shape) else (), dtype_argument(dtype, default))

    return transfer


def parametrised(default: str, *names: str) -> Transfer:
    """Return a draw ``key, *parameters, shape=None, dtype``; by default the parameters determine the
    shape."""

    def transfer(call: Call) -> Value:
        _, *rest = call.bind("key", *names, shape=None, dtype=None, out_sharding=None)
        parameters, (shape, dtype, _) = rest[: len(names)], rest[len(names) :]
        if given(shape):
            return result(call, shape_of(shape), dtype_argument(dtype, default))
        meant = broadcast(x.shape for x in operands(parameters))
        return result(call, meant, dtype_argument(dtype, default))

    return transfer


def uniform(call: Call) -> Value:
    """`uniform(key, shape, dtype, minval, maxval)`."""
    _, shape, dtype, *_ = call.bind(
        "key", shape=None, dtype=None, minval=None, maxval=None, out_sharding=None
    )
    return result(call, shape_of(shape) if given(shape) else (), dtype_argument(dtype, "float32"))


def randint(call: Call) -> Value:
    """`randint(key, shape, minval, maxval, dtype)`."""
    _, shape, _, _, dtype, _ = call.bind("key", "shape", "minval", "maxval", dtype=None, out_sharding=None)
    return result(call, shape_of(shape), dtype_argument(dtype, "int32"))


def bernoulli(call: Call) -> Value:
    """`bernoulli(key, p, shape)`: bool."""
    _, p, shape, *_ = call.bind("key", p=Const(0.5), shape=None, mode=None, out_sharding=None)
    return result(call, shape_of(shape) if given(shape) else operand(p).shape, "bool")


def truncated_normal(call: Call) -> Value:
    """`truncated_normal(key, lower, upper, shape, dtype)`."""
    _, low, high, shape, dtype, _ = call.bind(
        "key", "lower", "upper", shape=None, dtype=None, out_sharding=None
    )
    meant = shape_of(shape) if given(shape) else broadcast(x.shape for x in operands([low, high]))
    return result(call, meant, dtype_argument(dtype, "float32"))


def categorical(call: Call) -> Value:
    """`categorical(key, logits, axis, shape)`: removes the axis."""
    _, logits, axis, shape, _, *_ = call.bind(
        "key", "logits", axis=Const(-1), shape=None, replace=None, mode=None, out_sharding=None
    )
    dims = known_rank(operand(logits))
    at = axis_of(axis, len(dims))
    return result(call, shape_of(shape) if given(shape) else dims[:at] + dims[at + 1 :], "int32")


def permutation(call: Call) -> Value:
    """`permutation(key, x, axis)`: of range(x), or of an array."""
    _, x, *_ = call.bind("key", "x", axis=None, independent=None, out_sharding=None)
    if (count := as_dim(x)) is not None:
        return result(call, (count,), "int32")
    source = operand(x)
    return like(call, source, source.shape)


def choice(call: Call) -> Value:
    """`choice(key, a, shape, replace, p, axis)`: the shape replaces the axis."""
    _, a, shape, _, _, axis, _ = call.bind(
        "key", "a", shape=None, replace=None, p=None, axis=Const(0), mode=None
    )
    picked = shape_of(shape) if given(shape) else ()
    if as_dim(a) is not None:
        return result(call, picked, "int32")
    source = operand(a)
    dims = known_rank(source)
    at = axis_of(axis, len(dims))
    least = [lower_bound(size) for size in picked]
    if not all(least) and len(dims) > 1:
        # A draw of no elements has the requested shape, and no other axis.
        return like(call, source, picked) if 0 in picked else unresolved("how many are drawn")
    return like(call, source, (*dims[:at], *picked, *dims[at + 1 :]))


def dirichlet(call: Call) -> Value:
    """`dirichlet(key, alpha, shape)`: the last axis has the categories."""
    _, alpha, shape, dtype, _ = call.bind("key", "alpha", shape=None, dtype=None, out_sharding=None)
    dims = known_rank(operand(alpha))
    lead = shape_of(shape) if given(shape) else dims[:-1]
    return result(call, (*lead, *dims[-1:]), dtype_argument(dtype, "float32"))


def multivariate_normal(call: Call) -> Value:
    """`multivariate_normal(key, mean, cov, shape)`: the last axis is that of the mean."""
    _, mean, cov, shape, dtype, *_ = call.bind(
        "key", "mean", "cov", shape=None, dtype=None, method=None, out_sharding=None
    )
    dims, spread = known_rank(operand(mean)), known_rank(operand(cov))
    lead = shape_of(shape) if given(shape) else broadcast([dims[:-1], spread[:-2]]) or ()
    return result(call, (*lead, *dims[-1:]), dtype_argument(dtype, "float32"))


def orthogonal(call: Call) -> Value:
    """`orthogonal(key, n, shape)`: square matrices."""
    _, n, shape, dtype, m, _ = call.bind("key", "n", shape=None, dtype=None, m=None, out_sharding=None)
    rows = size_of(n)
    columns = size_of(m) if given(m) else rows
    lead = shape_of(shape) if given(shape) else ()
    return result(call, (*lead, rows, columns), dtype_argument(dtype, "float32"))


def ball(call: Call) -> Value:
    """`ball(key, d, p, shape)`: points of d coordinates."""
    _, d, _, shape, dtype, _ = call.bind("key", "d", p=None, shape=None, dtype=None, out_sharding=None)
    return result(
        call, (*(shape_of(shape) if given(shape) else ()), *shape_of(d)), dtype_argument(dtype, "float32")
    )


def lognormal(call: Call) -> Value:
    """`lognormal(key, sigma, shape, dtype)`."""
    _, sigma, shape, dtype, _ = call.bind("key", sigma=Const(1.0), shape=None, dtype=None, out_sharding=None)
    meant = shape_of(shape) if given(shape) else operand(sigma).shape
    return result(call, meant, dtype_argument(dtype, "float32"))


def multinomial(call: Call) -> Value:
    """`multinomial(key, n, p, shape=)`: counts of each outcome, which lie along the last axis."""
    _, _, p, shape, dtype, _ = call.bind("key", "n", "p", shape=None, dtype=None, unroll=None)
    if given(shape):
        # Before 0.12.0 it has the last axis.
        unresolved("a shape")
    return result(call, operand(p).shape, dtype_argument(dtype, "float32"))


OPERATIONS: tuple[Operation, ...] = (
    Operation("key", key, sharding=joining_rules.made, reads_values=True),
    Operation("PRNGKey", raw_key, sharding=joining_rules.made, reads_values=True),
    Operation("split", split, sharding=random_rules.keyed, reads_values=True),
    Operation("fold_in", fold_in, sharding=random_rules.fold_in, reads_values=True),
    Operation("clone", fold_in, sharding=random_rules.keyed, reads_values=True),
    Operation("key_data", key_data, sharding=MISSING, reads_values=True),
    Operation("wrap_key_data", wrap_key_data, sharding=MISSING, reads_values=True),
    Operation(
        "normal cauchy laplace logistic exponential gumbel",
        drawn("float32"),
        sharding=random_rules.keyed,
        reads_values=True,
    ),
    Operation("maxwell", drawn("float32"), sharding=joining_rules.made, reads_values=True),
    Operation("rademacher", drawn("int32"), sharding=random_rules.keyed, reads_values=True),
    Operation("bits", drawn("uint32"), sharding=random_rules.keyed, reads_values=True),
    Operation("generalized_normal", drawn("float32", "p"), sharding=random_rules.keyed, reads_values=True),
    Operation(
        "weibull_min",
        drawn("float32", "scale", "concentration"),
        sharding=random_rules.keyed,
        reads_values=True,
    ),
    Operation(
        "double_sided_maxwell",
        drawn("float32", "loc", "scale"),
        sharding=random_rules.keyed,
        reads_values=True,
    ),
    Operation("gamma loggamma", parametrised("float32", "a"), sharding=random_rules.keyed, reads_values=True),
    Operation("t chisquare", parametrised("float32", "df"), sharding=random_rules.keyed, reads_values=True),
    Operation("pareto", parametrised("float32", "b"), sharding=random_rules.keyed, reads_values=True),
    Operation("rayleigh", parametrised("float32", "scale"), sharding=random_rules.keyed, reads_values=True),
    Operation("beta", parametrised("float32", "a", "b"), sharding=random_rules.keyed, reads_values=True),
    Operation("f", parametrised("float32", "dfnum", "dfden"), sharding=random_rules.keyed, reads_values=True),
    Operation("wald", parametrised("float32", "mean"), sharding=random_rules.keyed, reads_values=True),
    Operation("poisson", parametrised("int32", "lam"), sharding=random_rules.keyed, reads_values=True),
    Operation("geometric", parametrised("int32", "p"), sharding=random_rules.keyed, reads_values=True),
    Operation("binomial", parametrised("float32", "n", "p"), sharding=random_rules.keyed, reads_values=True),
    Operation(
        "triangular",
        parametrised("float32", "left", "mode", "right"),
        sharding=random_rules.keyed,
        reads_values=True,
    ),
    Operation("lognormal", lognormal, sharding=unclaimed, reads_values=True),
    Operation("multinomial", multinomial, sharding=unclaimed, reads_values=True),
    Operation("uniform", uniform, sharding=random_rules.keyed, reads_values=True),
    Operation("randint", randint, sharding=random_rules.keyed, reads_values=True),
    Operation("bernoulli", bernoulli, sharding=random_rules.keyed, reads_values=True),
    Operation("truncated_normal", truncated_normal, sharding=random_rules.keyed, reads_values=True),
    Operation("categorical", categorical, sharding=random_rules.keyed, reads_values=True),
    Operation(
        "permutation",
        permutation,
        sharding=random_rules.keyed,
        reads_values=False,
        depends_on=Dependence.PERHAPS_NONE,
    ),
    Operation("choice", choice, sharding=MISSING, reads_values=False, depends_on=Dependence.PERHAPS_NONE),
    Operation("dirichlet", dirichlet, sharding=random_rules.keyed, reads_values=True),
    Operation("multivariate_normal", multivariate_normal, sharding=random_rules.keyed, reads_values=True),
    Operation("orthogonal", orthogonal, sharding=random_rules.keyed, reads_values=True),
    Operation("ball", ball, sharding=joining_rules.made, reads_values=True),
)

TABLE: dict[str, Transfer] = library_table("jax.random.", OPERATIONS)

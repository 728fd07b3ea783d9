"""Random calls of `jax.random`, `jax.nn`, trees and control flow."""

from __future__ import annotations

import cases_numpy as shared
import jax
from cases_lax import ADD, one
from overlay_harness import Case, Draw, Generator, dims, function

from shardlint.inference.domain.values import Array, Const, DictValue, ListValue, Tuple, Value, integer
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.methods import binary


def key(d: Draw) -> Array:
    return d.pick(Array((), "key<fry>"), Array((2,), "uint32"))


def seed(d: Draw) -> Case:
    return [Const(d.between(0, 9))], {}


def key_split(d: Draw) -> Case:
    return [key(d)], d.maybe(num=lambda: integer(d.dim()) if d.chance(0.6) else dims(d.shape(1, 2)))


def fold_in(d: Draw) -> Case:
    return [key(d), Const(3)], {}


def key_alone(d: Draw) -> Case:
    return [key(d)], {}


def raw_words(d: Draw) -> Case:
    return [Array((*d.shape(0, 2), 2), "uint32")], {}


def drawn(*before: float, dtype: str | None = "bfloat16") -> Generator:
    def generate(d: Draw) -> Case:
        kwargs = d.maybe(0.8, shape=lambda: shared.dims(d.shape()))
        if dtype:
            kwargs |= d.maybe(0.3, dtype=lambda: Const(dtype))
        return [key(d), *map(Const, before)], kwargs

    return generate


def parametrised(count: int, dtype: str | None = None) -> Generator:
    """Parameters that broadcast, and a shape that they broadcast to."""

    def generate(d: Draw) -> Case:
        shape = d.shape()
        values = [Const(0.5) if d.chance(0.4) else Array(d.meeting(shape), "float32") for _ in range(count)]
        kwargs = d.maybe(0.5, shape=lambda: dims(shape))
        return [key(d), *values], kwargs | (d.maybe(0.2, dtype=lambda: Const(dtype)) if dtype else {})

    return generate


def randint(d: Draw) -> Case:
    return [key(d), dims(d.shape()), Const(0), Const(9)], d.maybe(dtype=lambda: Const("int8"))


def categorical(d: Draw) -> Case:
    x = Array(d.shape(1, 3), "float32")
    return [key(d), x], d.maybe(axis=lambda: Const(d.axis(len(x.shape or ()))))


def permutation(d: Draw) -> Case:
    return [key(d), integer(d.dim()) if d.chance(0.4) else d.array(d.shape(1, 2))], {}


def choice(d: Draw) -> Case:
    a: Value = integer(d.dim()) if d.chance(0.4) else d.array(d.shape(1, 2))
    return [key(d), a], d.maybe(0.7, shape=lambda: dims(d.shape(0, 2)))


def dirichlet(d: Draw) -> Case:
    return [key(d), Array(d.shape(1, 1), "float32")], d.maybe(shape=lambda: dims(d.shape(0, 2)))


def multivariate_normal(d: Draw) -> Case:
    n = d.dim()
    return [key(d), Array((n,), "float32"), Array((n, n), "float32")], d.maybe(
        shape=lambda: dims(d.shape(0, 2))
    )


def orthogonal(d: Draw) -> Case:
    return [key(d), integer(d.dim())], d.maybe(shape=lambda: dims(d.shape(0, 2)))


def ball(d: Draw) -> Case:
    return [key(d), integer(d.dim())], d.maybe(shape=lambda: dims(d.shape(0, 2)))


RANDOM: dict[str, Generator] = {
    **dict.fromkeys(("key", "PRNGKey"), seed),
    "split": key_split,
    "fold_in": fold_in,
    **dict.fromkeys(("clone", "key_data"), key_alone),
    "wrap_key_data": raw_words,
    **dict.fromkeys(("normal", "cauchy", "laplace", "logistic", "exponential", "maxwell", "gumbel"), drawn()),
    "uniform": drawn(),
    "rademacher": drawn(dtype="int8"),
    "bits": drawn(dtype="uint8"),
    "generalized_normal": drawn(2.0),
    **dict.fromkeys(("weibull_min", "double_sided_maxwell"), drawn(1.0, 2.0)),
    **dict.fromkeys(
        ("gamma", "loggamma", "t", "pareto", "chisquare", "rayleigh", "wald"), parametrised(1, "bfloat16")
    ),
    **dict.fromkeys(("beta", "f", "binomial"), parametrised(2, "float32")),
    "triangular": parametrised(3),
    **dict.fromkeys(("poisson", "geometric"), parametrised(1, "int32")),
    "truncated_normal": parametrised(2, "bfloat16"),
    "bernoulli": parametrised(1),
    "randint": randint,
    "categorical": categorical,
    "permutation": permutation,
    "choice": choice,
    "dirichlet": dirichlet,
    "multivariate_normal": multivariate_normal,
    "orthogonal": orthogonal,
    "ball": ball,
}


def nn_axis(d: Draw) -> Case:
    x = d.array(d.shape(1, 3))
    return [x], d.maybe(axis=lambda: Const(d.axis(len(x.shape or ()))))


def glu(d: Draw) -> Case:
    return [d.array((*d.shape(0, 2), d.dim() * 2 if d.chance(0.8) else d.dim()), "float32")], {}


def one_hot(d: Draw) -> Case:
    x = d.array(dtype="int32")
    kwargs = d.maybe(axis=lambda: Const(d.axis(len(x.shape or ()) + 1)), dtype=lambda: Const("bfloat16"))
    return [x, integer(d.dim())], kwargs


def attention(d: Draw) -> Case:
    b, t, s, h, e = (d.dim() for _ in range(5))
    dtype = d.pick("float32", "bfloat16")
    lead = () if d.chance(0.3) else (b,)
    return [Array((*lead, n, h, e), dtype) for n in (t, s, s)], d.maybe(is_causal=lambda: Const(True))


def logsumexp(d: Draw) -> Case:
    return shared.reduction()(d)


_ACTIVATIONS = (
    "sigmoid silu swish softplus log_sigmoid soft_sign "
    "tanh mish hard_sigmoid hard_silu hard_swish relu6 selu "
    "sparse_plus sparse_sigmoid relu hard_tanh identity gelu elu celu leaky_relu squareplus"
)
NN: dict[str, Generator] = {
    **dict.fromkeys(_ACTIVATIONS.split(), one),
    **dict.fromkeys(("softmax", "log_softmax", "standardize"), nn_axis),
    "glu": glu,
    "one_hot": one_hot,
    "logsumexp": logsumexp,
    "dot_product_attention": attention,
}

DOUBLE = function("double", lambda call: binary("*", call.args[0], Const(2)), lambda x: x * 2)


def tree(d: Draw, depth: int = 2) -> Value:
    """A small pytree of arrays."""
    kind = d.between(0, 4) if depth else 0
    if kind <= 1:
        return d.array(dtype="float32")
    if kind == 2:
        return Tuple(tuple(tree(d, depth - 1) for _ in range(d.between(1, 3))))
    if kind == 3:
        return ListValue([tree(d, depth - 1) for _ in range(d.between(1, 2))])
    return DictValue({name: tree(d, depth - 1) for name in d.rng.sample(["w", "b", "a"], 2)})


def tree_map(d: Draw) -> Case:
    if d.chance(0.5):
        return [DOUBLE, tree(d)], {}
    x = tree(d)
    return [ADD, x, x], {}


def tree_alone(d: Draw) -> Case:
    return [tree(d)], {}


def tree_reduce(d: Draw) -> Case:
    shape = d.shape()
    return [ADD, Tuple((Array(shape, "float32"), ListValue([Array(shape, "float32")])))], d.maybe(
        initializer=lambda: Const(0)
    )


def empty_tree(d: Draw) -> Case:
    return [d.pick(Tuple(()), ListValue([]), Const(None))], {}


TREES: dict[str, Generator] = {
    "map": tree_map,
    "leaves": tree_alone,
    "reduce": tree_reduce,
    "all": empty_tree,
}


def _scan_body(call: Call) -> Value:
    carry, x = call.args
    return Tuple((binary("+", carry, Const(1)), Tuple((x, binary("*", carry, Const(2))))))


SCAN_BODY = function("scan_body", _scan_body, lambda carry, x: (carry + 1, (x, carry * 2)))


def scan(d: Draw) -> Case:
    n = d.dim()
    init = d.pick(Array(d.shape(), "float32"), Const(1.0), Array(d.shape(), "bfloat16"))
    if d.chance(0.2):
        return [SCAN_BODY, init, Const(None), integer(n)], {}
    xs: Value = Array((n, *d.shape(0, 2)), "float32")
    return [SCAN_BODY, init, Tuple((xs, xs)) if d.chance(0.3) else xs], {}


BODY = function("body", lambda call: binary("*", call.args[1], Const(2)), lambda i, x: x * 2)
STEP = function("step", lambda call: binary("*", call.args[0], Const(2)), lambda x: x * 2)
ANY = function("any", lambda call: Array((), "bool"), lambda x: jax.numpy.any(x > 0))
KEEP = function("keep", lambda call: call.args[0], lambda x: x)


def value(d: Draw) -> Value:
    return Const(1.0) if d.chance(0.2) else Array(d.shape(), d.pick("float32", "bfloat16", "int32"))


def fori_loop(d: Draw) -> Case:
    return [Const(0), integer(d.dim()), BODY, value(d)], {}


def while_loop(d: Draw) -> Case:
    return [ANY, STEP, value(d)], {}


def cond(d: Draw) -> Case:
    return [Const(True), STEP, KEEP, value(d)], {}


def switch(d: Draw) -> Case:
    return [Const(1), ListValue([STEP, KEEP, STEP]), value(d)], {}


def lax_map(d: Draw) -> Case:
    return [STEP, Array(d.shape(1, 3), "float32")], {}


def associative_scan(d: Draw) -> Case:
    return [ADD, Array(d.shape(1, 3), "float32")], {}


CONTROL: dict[str, Generator] = {
    "scan": scan,
    "fori_loop": fori_loop,
    "while_loop": while_loop,
    "cond": cond,
    "switch": switch,
    "map": lax_map,
    "associative_scan": associative_scan,
}

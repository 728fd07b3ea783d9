"""Random calls of functions that make arrays."""

from __future__ import annotations

from overlay_harness import Case, Draw, Generator, dims

from shardlint.inference.domain.values import Array, Const, ListValue, Value, integer


def shape_argument(d: Draw) -> Value:
    shape = d.shape(0, 3, least=0)
    if len(shape) == 1 and d.chance(0.5):
        return integer(shape[0])
    return ListValue(list(dims(shape).items)) if d.chance(0.2) else dims(shape)


def filled(d: Draw) -> Case:
    return [shape_argument(d)], d.maybe(dtype=d.dtype_value)


def full(d: Draw) -> Case:
    return [shape_argument(d), Const(d.pick(1, 1.5, True))], d.maybe(dtype=d.dtype_value)


def filled_like(d: Draw) -> Case:
    return [d.operand()], d.maybe(0.3, dtype=d.dtype_value, shape=lambda: dims(d.shape()))


def full_like(d: Draw) -> Case:
    args, kwargs = filled_like(d)
    return [*args, Const(d.pick(1, 2.5))], kwargs


def array_like(d: Draw) -> Value:
    """A scalar, an array, or nested lists of numbers or of arrays alike."""
    kind = d.between(0, 4)
    if kind == 0:
        return d.operand()
    if kind == 1:
        return ListValue([Const(d.pick(1, 2.5, True)) for _ in range(d.between(0, 3))])
    if kind == 2:
        return ListValue([ListValue([Const(1), Const(2)]) for _ in range(d.between(1, 3))])
    if kind == 3:
        x = d.array()
        return ListValue([x, Array(x.shape, d.dtype(), numpy=d.numpy)])
    return d.array()


def array(d: Draw) -> Case:
    return [array_like(d)], d.maybe(0.3, dtype=d.dtype_value)


def array_ndmin(d: Draw) -> Case:
    args, kwargs = array(d)
    return args, kwargs | d.maybe(0.2, ndmin=lambda: Const(d.between(0, 3)))


def astype(d: Draw) -> Case:
    return [d.array(), d.dtype_value()], {}


def arange(d: Draw) -> Case:
    kind = d.between(0, 3)
    if kind == 0:
        return [integer(d.dim())], d.maybe(0.3, dtype=d.dtype_value)
    if kind == 1:
        low = d.dim()
        return [integer(low), integer(low + d.dim())], {}
    if kind == 2:
        return [Const(d.between(-3, 3)), integer(d.dim()), Const(d.pick(1, 2, 3, -1))], {}
    return [Const(0.5), Const(d.pick(3, 4.25)), Const(d.pick(1, 0.5))], {}


def linspace(d: Draw) -> Case:
    ends: list[Value] = [Const(0), Const(d.pick(1, 1.5))]
    if d.chance(0.3):
        ends[0] = d.array(d.shape(0, 2))
    return [*ends, integer(d.dim())], d.maybe(
        0.25, dtype=lambda: Const("float32"), retstep=lambda: Const(True)
    )


def logspace(d: Draw) -> Case:
    return [Const(0), Const(d.pick(1, 1.5)), integer(d.dim())], d.maybe(0.25, dtype=lambda: Const("float32"))


def geomspace(d: Draw) -> Case:
    return [Const(1), Const(d.pick(8, 2.5)), integer(d.dim())], d.maybe(0.25, dtype=lambda: Const("float32"))


def eye(d: Draw) -> Case:
    return [integer(d.dim())], d.maybe(M=lambda: integer(d.dim()), dtype=d.dtype_value)


def identity(d: Draw) -> Case:
    return [integer(d.dim())], d.maybe(dtype=d.dtype_value)


def meshgrid(d: Draw) -> Case:
    vectors = [d.array(d.shape(0, 1)) for _ in range(d.between(0, 3))]
    return vectors, d.maybe(indexing=lambda: Const(d.pick("xy", "ij")), sparse=lambda: Const(d.chance(0.5)))


def indices(d: Draw) -> Case:
    return [dims(d.shape(1, 3))], {}


def diag(d: Draw) -> Case:
    return [d.array(d.shape(1, 2))], d.maybe(k=lambda: Const(d.between(-2, 2)))


def diagonal(d: Draw) -> Case:
    shape = d.shape(2, 4)
    if d.chance(0.6):
        shape = (shape[0],) * len(shape)
    return [d.array(shape)], d.maybe(offset=lambda: Const(d.between(-2, 2)), axis1=lambda: Const(-1))


def tri_indices(d: Draw) -> Case:
    return [integer(d.dim())], {}


def size(d: Draw) -> Case:
    x = d.array()
    return [x], d.maybe(axis=lambda: Const(d.axis(len(x.shape or ()))))


def drawn(count: int) -> Generator:
    """A distribution with so many parameters."""

    def generate(d: Draw) -> Case:
        values = [Const(0.5) for _ in range(count)]
        return values, {"size": shape_argument(d)} if d.chance(0.9) else {}

    return generate


def sizes(d: Draw) -> Case:
    return list(dims(d.shape()).items), {}


def sized_draw(d: Draw) -> Case:
    return [shape_argument(d)], {}


def randint(d: Draw) -> Case:
    return [Const(0), Const(9)], {"size": shape_argument(d)}


def binomial(d: Draw) -> Case:
    return [Const(3), Const(0.5)], {"size": shape_argument(d)}


def permutation(d: Draw) -> Case:
    return [integer(d.dim()) if d.chance(0.5) else d.array(d.shape(1, 2))], {}


def choice(d: Draw) -> Case:
    return [integer(d.dim()) if d.chance(0.5) else d.array(d.shape(1, 1))], {"size": shape_argument(d)}


RANDOM: dict[str, Generator] = {
    **dict.fromkeys(("normal", "uniform", "lognormal", "gamma", "beta"), drawn(2)),
    **dict.fromkeys(
        ("exponential", "poisson", "geometric", "logseries", "chisquare", "standard_t"), drawn(1)
    ),
    **dict.fromkeys(("weibull", "pareto", "power", "rayleigh", "standard_gamma"), drawn(1)),
    **dict.fromkeys(
        ("laplace", "logistic", "gumbel", "vonmises", "wald", "f", "negative_binomial"), drawn(2)
    ),
    "noncentral_chisquare": drawn(2),
    "binomial": binomial,
    **dict.fromkeys(("standard_normal", "random", "random_sample", "standard_cauchy"), sized_draw),
    "standard_exponential": sized_draw,
    **dict.fromkeys(("randn", "rand"), sizes),
    "randint": randint,
    "permutation": permutation,
    "choice": choice,
}

"""`jax.numpy`."""

from __future__ import annotations

from shardlint.inference.domain.values import Array, Const, Native, Tuple, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays import (  # fmt: skip
    contractions,
    creation,
    elementwise,
    joining,
    layout,
    reductions,
    selection,
)
from shardlint.inference.overlays.arrays.dtypes import as_dtype, floating
from shardlint.inference.overlays.arrays.elementwise import (
    binary_function,
    inexact,
    no_bool,
    scalar_constructor,
    strong_inexact,
    unary_function,
)
from shardlint.inference.overlays.arrays.operands import (
    Transfer,
    broadcast,
    known_rank,
    mixed,
    operands,
    unresolved,
)
from shardlint.inference.overlays.arrays.reductions import allclose, quantile
from shardlint.inference.overlays.jax.explicit.primitives import unclaimed
from shardlint.inference.overlays.jax.explicit.rules import elementwise as elementwise_rules
from shardlint.inference.overlays.jax.numerics import (
    fourier,
    indices,
    matrices,
    polynomials,
    signals,
    statistics,
)
from shardlint.inference.overlays.operations import Dependence, Operation, library_table
from shardlint.inference.overlays.pytrees.trees import tree_map
from shardlint.laws.core.dims import Shape


def vectorize(call: Call) -> Value:
    """`vectorize(f)`: f receives scalars; its results get the broadcast shape as leading dimensions."""
    function, _, signature = call.bind("pyfunc", excluded=None, signature=None)
    if function is None or signature is not None:
        unresolved("a signature")

    def mapped(inner: Call) -> Value:
        if inner.opaque or inner.kwargs:
            return inner.unknown("the arguments are not known")
        arrays = operands(inner.args)
        lead = broadcast(x.shape for x in arrays)
        scalars = [Array((), x.dtype, x.weak) for x in arrays]
        answer = inner.interpreter.call(function, scalars, {}, inner.place)
        return _under(lead, answer)

    return Native("jnp.vectorize(...)", mapped, wraps=function, origin=call.place)


def sinc(call: Call) -> Value:
    """`sinc(x)`: since 0.12.0 its result is never weak."""
    (x,) = operands(call.bind("x"))
    return Array(x.shape, None if x.weak else floating(x.dtype, False))


def heaviside(call: Call) -> Value:
    """`heaviside(x1, x2)`: whether it is weak depends on more than the dtypes."""
    x, y = operands(call.bind("x", "y"))
    dtype, _ = mixed(call, [x, y])
    weak = x.weak or y.weak
    return Array(broadcast([x.shape, y.shape]), None if weak else floating(dtype, False))


def each(*functions: Transfer) -> Transfer:
    """Return a function of several results, such as `divmod(x, y)`."""
    return lambda call: Tuple(tuple(function(call) for function in functions))


def integers(call: Call) -> Value:
    """Return the exponents of `frexp(x)`."""
    (x,) = operands(call.bind("x"))
    return Array(x.shape, "int32")


def ldexp(call: Call) -> Value:
    """`ldexp(x1, x2)`: floats of the first operand's dtype."""
    x, y = operands(call.bind("x1", "x2"))
    dtype = floating(x.dtype, False)
    return Array(broadcast([x.shape, y.shape]), dtype, x.weak and dtype == x.dtype)


def _under(lead: Shape | None, answer: Value) -> Value:
    def put(leaf: Value) -> Value:
        (x,) = operands([leaf])
        return Array(None if lead is None else (*lead, *known_rank(x)), x.dtype, x.weak)

    return tree_map(put, answer)


#: Names of dtypes whose calls cast: ``jnp.float32(x)``.
DTYPES = (
    "bool_ bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 bfloat16 float16 float32 float64 complex64 "
    "complex128 int_ uint single double csingle cdouble"
).split()
#: Those that numpy has not.
MORE_DTYPES = (
    "float_ complex_ int2 int4 uint2 uint4 float4_e2m1fn float8_e3m4 float8_e4m3 float8_e4m3b11fnuz "
    "float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu"
).split()

#: Functions that numpy has, too.
SHARED: tuple[Operation, ...] = (
    *elementwise.OPERATIONS,
    *reductions.OPERATIONS,
    *selection.OPERATIONS,
    *contractions.OPERATIONS,
    *creation.OPERATIONS,
    *joining.OPERATIONS,
    *layout.OPERATIONS,
    *fourier.OPERATIONS,
)

OPERATIONS: tuple[Operation, ...] = (
    *SHARED,
    *indices.OPERATIONS,
    *matrices.OPERATIONS,
    *polynomials.OPERATIONS,
    *signals.OPERATIONS,
    *statistics.OPERATIONS,
    Operation("sinc", sinc, sharding=elementwise_rules.activated, reads_values=True),
    Operation(
        "spacing", unary_function(strong_inexact), sharding=elementwise_rules.composed, reads_values=False
    ),
    Operation("heaviside", heaviside, sharding=elementwise_rules.composed, reads_values=True),
    Operation(
        "ldexp", ldexp, sharding=elementwise_rules.composed, reads_values=False, parameters=("x1", "x2")
    ),
    Operation(
        "frexp",
        each(unary_function(inexact), integers),
        sharding=elementwise_rules.several,
        reads_values=False,
    ),
    Operation(
        "modf",
        each(unary_function(inexact), unary_function(inexact)),
        sharding=elementwise_rules.several,
        reads_values=True,
    ),
    Operation(
        "divmod",
        each(binary_function(no_bool), binary_function(no_bool)),
        sharding=elementwise_rules.several,
        reads_values=True,
    ),
    Operation(
        "array_equiv",
        allclose,
        sharding=unclaimed,
        reads_values=False,
        parameters=("a1", "a2"),
        depends_on=Dependence.PERHAPS_NONE,
    ),
    Operation("nanquantile nanpercentile", quantile, sharding=unclaimed, reads_values=True),
    Operation("vectorize", vectorize, sharding=None, reads_values=False),
    *(
        Operation(
            name,
            scalar_constructor(as_dtype(Const(name)) or name),
            sharding=elementwise_rules.cast,
            reads_values=True,
            parameters=("x",),
        )
        for name in (*DTYPES, *MORE_DTYPES)
    ),
)

TABLE: dict[str, Transfer] = library_table("jax.numpy.", OPERATIONS)

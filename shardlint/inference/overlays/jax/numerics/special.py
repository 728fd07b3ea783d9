"""`jax.scipy.special`: functions of each element, which return floats."""

from __future__ import annotations

from shardlint.inference.domain.values import Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.dtypes import floating
from shardlint.inference.overlays.arrays.elementwise import (
    binary_function,
    inexact,
    unary_function,
    unless_weak,
)
from shardlint.inference.overlays.arrays.operands import operand, result
from shardlint.inference.overlays.jax.explicit.primitives import unclaimed
from shardlint.inference.overlays.jax.explicit.rules import elementwise as rules
from shardlint.inference.overlays.operations import Operation, library_table


def _along(call: Call) -> Value:
    """`softmax(x, axis=)`, `log_softmax`: numbers for all elements."""
    x, _ = call.bind("_x", axis=None)
    array = operand(x)
    return result(call, array.shape, floating(array.dtype, False))


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "erf erfc erfinv expit gammaln digamma ndtr log_ndtr i0 i0e i1 i1e entr",
        unary_function(inexact),
        sharding=rules.activated,
        reads_values=True,
    ),
    *(
        Operation(
            names,
            binary_function(unless_weak),
            sharding=rules.composed,
            reads_values=reads,
            parameters=parameters,
        )
        for names, parameters, reads in (
            ("boxcox boxcox1p", ("x", "lmbda"), False),
            ("beta", ("a", "b"), True),
            ("gammainc gammaincc", ("a", "x"), True),
            ("kl_div rel_entr", ("p", "q"), True),
            ("poch", ("z", "m"), False),
            ("zeta", ("x", "q"), True),
        )
    ),
    Operation(
        "gamma gammasgn loggamma logit spence exp1 expi dawsn erfcx",
        unary_function(unless_weak),
        sharding=rules.composed,
        reads_values=False,
    ),
    Operation(
        "ndtri", unary_function(unless_weak), sharding=rules.composed, reads_values=True, parameters=("p",)
    ),
    Operation("softmax log_softmax", _along, sharding=unclaimed, reads_values=True),
    Operation("xlogy xlog1py", binary_function(inexact), sharding=rules.nary, reads_values=True),
    Operation(
        "betaln", binary_function(inexact), sharding=rules.nary, reads_values=True, parameters=("a", "b")
    ),
)

TABLE = library_table("jax.scipy.special.", OPERATIONS)

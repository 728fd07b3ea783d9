"""`jax.scipy.special`: functions of each element, which return floats."""

from __future__ import annotations

from shardlint.inference.overlays.arrays.elementwise import binary_function, inexact, unary_function
from shardlint.inference.overlays.jax.explicit.rules import elementwise as rules
from shardlint.inference.overlays.operations import Operation, library_table

OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "erf erfc erfinv expit gammaln digamma ndtr log_ndtr i0 i0e i1 i1e entr",
        unary_function(inexact),
        sharding=rules.activated,
        reads_values=True,
    ),
    Operation("xlogy xlog1py", binary_function(inexact), sharding=rules.nary, reads_values=True),
    Operation(
        "betaln", binary_function(inexact), sharding=rules.nary, reads_values=True, parameters=("a", "b")
    ),
)

TABLE = library_table("jax.scipy.special.", OPERATIONS)

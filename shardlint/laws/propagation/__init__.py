"""Rules of lax primitives on Explicit axes: how shardings travel through operations.

Each function takes the context's mesh (`jax.set_mesh`, None when there is none), the types of the operands
and the primitive's parameters, and returns the sharding in the result's type, `Rejected` (at the stage
"trace") or `Undecided`. Axes are not negative and shapes are the primitive's own: jax.numpy broadcasts,
promotes and reorders first. ``out_sharding`` is a bare `Spec`, a NamedSharding as `TypeSharding`, `Unknown`
or None. The varying axes of results are not a matter of these rules.
"""

from shardlint.laws.propagation.contractions import DimensionNumbers, dot_general, ragged_dot_general
from shardlint.laws.propagation.convolution import conv_general_dilated, reduce_window
from shardlint.laws.propagation.elementwise import clamp, convert, elementwise, select_n
from shardlint.laws.propagation.indexing import (
    Window,
    dynamic_slice,
    dynamic_update_slice,
    gather,
    scatter,
    slice,
)
from shardlint.laws.propagation.joining import concatenate, iota, one_hot, pad, split, stack, unstack
from shardlint.laws.propagation.linalg import fft, linalg, triangular_solve
from shardlint.laws.propagation.operands import Outcome, OutSharding
from shardlint.laws.propagation.ordering import cumulative, sort, top_k
from shardlint.laws.propagation.reductions import argminmax, reduce, reduce_sum
from shardlint.laws.propagation.reshape import (
    bitcast_convert_type,
    broadcast_in_dim,
    expand_dims,
    reshape,
    rev,
    squeeze,
    tile,
    transpose,
)

__all__ = [
    "DimensionNumbers", "OutSharding", "Outcome", "Window", "argminmax", "bitcast_convert_type",
    "broadcast_in_dim", "clamp", "concatenate", "conv_general_dilated", "convert", "cumulative",
    "dot_general", "dynamic_slice", "dynamic_update_slice", "elementwise", "expand_dims", "fft", "gather",
    "iota", "linalg", "one_hot", "pad", "ragged_dot_general", "reduce", "reduce_sum", "reduce_window",
    "reshape", "rev", "scatter", "select_n", "slice", "sort", "split", "squeeze", "stack", "tile", "top_k",
    "transpose", "triangular_solve", "unstack",
]  # fmt: skip

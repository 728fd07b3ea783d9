"""The records of all functions of JAX that compute arrays, and the rules of what is written as syntax."""

from __future__ import annotations

from shardlint.inference.overlays.jax import nn, numpy, random
from shardlint.inference.overlays.jax.explicit.primitives import Rule
from shardlint.inference.overlays.jax.explicit.rules import (
    contractions,
    elementwise,
    indexing,
    layout,
    updates,
)
from shardlint.inference.overlays.jax.lax import convolution, functions, gathers, linalg, shapes
from shardlint.inference.overlays.jax.numerics import (
    distributions,
    images,
    scipy_linalg,
    scipy_signal,
    segments,
    special,
)
from shardlint.inference.overlays.operations import Missing, Operation

#: The records by the canonical names of their functions.
OPERATIONS: dict[str, Operation] = {
    f"{module}.{name}": operation
    for module, operations in (
        ("jax.numpy", numpy.OPERATIONS),
        ("jax.lax", functions.OPERATIONS),
        ("jax.lax", shapes.OPERATIONS),
        ("jax.lax", convolution.OPERATIONS),
        ("jax.lax", gathers.OPERATIONS),
        ("jax.lax.linalg", linalg.OPERATIONS),
        ("jax.nn", nn.OPERATIONS),
        ("jax.scipy.special", nn.SCIPY),
        ("jax.scipy.special", special.OPERATIONS),
        ("jax.scipy.linalg", scipy_linalg.OPERATIONS),
        ("jax.ops", segments.OPERATIONS),
        ("jax.image", images.OPERATIONS),
        ("jax.random", random.OPERATIONS),
        ("jax.scipy.stats", distributions.OPERATIONS),
        *scipy_signal.MODULES.items(),
    )
    for operation in operations
    for name in operation.names.split()
}

_OPERATORS = "+ - * / // % & | ^ << >> == != < <= > >="
_UPDATES = "set add subtract multiply mul divide power min max"
#: The rules of operators by their number of operands, of indexing, and of attributes and methods of arrays
#: that no function of JAX has the name of.
SYNTAX: dict[str, Rule] = {
    **{f"2 {symbol}": elementwise.nary for symbol in _OPERATORS.split()},
    **{f"1 {symbol}": elementwise.nary for symbol in "-+~"},
    "2 **": elementwise.raised,
    "2 @": contractions.at_operator,
    "[]": indexing.indexed,
    **{f"at[].{name}": updates.updated for name in _UPDATES.split()},
    "at[].get": indexing.gotten,
    "jax.Array.flatten": layout.ravel,
    "jax.Array.T": layout.reversed_axes,
    "jax.Array.mT": layout.matrix_transpose,
}


def operation_of(name: str) -> Operation | None:
    """Return the record of a function, or of a method: ``jax.Array.<name>``, or its name alone."""
    method = name.removeprefix("jax.Array.")
    return OPERATIONS.get(name if "." in method else f"jax.numpy.{method}")


def rule_of(name: str) -> Rule | None:
    """Return the rule for the sharding of a function, a method, or an operator."""
    if name in SYNTAX:
        return SYNTAX[name]
    operation = operation_of(name)
    return None if operation is None or isinstance(operation.sharding, Missing) else operation.sharding


def reads_values(name: str) -> bool:
    """Return whether the result of a function or method certainly depends on the values of all operands."""
    operation = operation_of(name)
    return operation is not None and operation.reads_values is True

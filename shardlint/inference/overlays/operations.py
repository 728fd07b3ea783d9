"""One record a library function: what is known of it in all its parts.

A record lists the functions that are alike in everything. A part that is not known yet is `MISSING`, which
`tests/overlays/test_operations.py` counts: nothing is said where it would be needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum

from shardlint.inference.domain.values import Array
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import Transfer, table
from shardlint.inference.overlays.jax.explicit.primitives import Rule
from shardlint.support.lazy_dataclass import dataclass


class Missing(Enum):
    """The part of a record that nobody has filled in."""

    MISSING = "missing"


MISSING = Missing.MISSING


class Dependence(Enum):
    """The operands that each result of a function depends on, and so varies with inside `shard_map`."""

    ALL = "all"
    #: One operand each: the results of `meshgrid`.
    ONE = "one"
    #: Perhaps none: indices that are sorted along with the operand, results that sizes alone decide.
    PERHAPS_NONE = "perhaps none"


#: Returns the dimensions of a call's first operand, of those that Auto axes split, along which XLA gathers it
#: on each device, and does not work on its parts.
Gathered = Callable[[Call, Array, frozenset[int]], frozenset[int]]


@dataclass(frozen=True, slots=True)
class Operation:
    """Functions of a library that are alike in all parts."""

    #: Their names below the library's, separated by spaces.
    names: str
    #: The result's shape and dtype.
    transfer: Transfer
    #: The sharding of JAX's result on Explicit axes; None if no result is an array.
    sharding: Rule | Missing | None
    #: Whether the result certainly depends on the values of every operand, whatever the dtypes and options.
    reads_values: bool | Missing
    #: The operands that a result varies with, whether or not it reads their values.
    depends_on: Dependence = Dependence.ALL
    #: Those that arrays have as methods, too.
    methods: str = ""
    #: The first parameters in JAX, if callers may use other names than the overlay does.
    parameters: tuple[str, ...] = ()
    #: The same in numpy.
    numpy_parameters: tuple[str, ...] = ()
    #: The result in numpy, if not only its dtype differs.
    in_numpy: Transfer | None = None
    #: The dimensions along which XLA gathers the first operand; None if none is known.
    gathered: Gathered | None = None


def transfers(operations: Iterable[Operation], *, numpy: bool = False) -> dict[str, Transfer]:
    """Return the functions of shapes and dtypes by name."""
    return {
        name: (operation.in_numpy if numpy else None) or operation.transfer
        for operation in operations
        for name in operation.names.split()
    }


def parameters(operations: Iterable[Operation], *, numpy: bool = False) -> dict[str, tuple[str, ...]]:
    """Return the first parameters of the functions whose overlays have other names for them."""
    return {
        name: found
        for operation in operations
        if (found := operation.numpy_parameters if numpy else operation.parameters)
        for name in operation.names.split()
    }


def library_table(prefix: str, operations: Iterable[Operation]) -> dict[str, Transfer]:
    """Return the table of one of JAX's modules."""
    operations = tuple(operations)
    return table(prefix, transfers(operations), parameters(operations))

"""Donated arguments of `jax.jit`, and the results that can take their buffers.

The compiler gives the buffer of a donated argument to a result whose parts on each device have as many bytes,
whatever its shape and dtype (measured on JAX 0.10.2: the aliases of the compiled code). A result takes one.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from shardlint.laws.core.dims import Shape
from shardlint.laws.core.values import Mesh, Spec
from shardlint.laws.placement.array_bytes import array_bytes, device_bytes
from shardlint.support.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Buffer:
    """An array as a buffer; ``layout`` is None where the compiler chooses it."""

    shape: Shape
    dtype: str | None
    layout: tuple[Mesh, Spec] | None = None

    @property
    def count(self) -> int | None:
        """Return its bytes on all devices together, counted once."""
        return array_bytes(self.shape, self.dtype)


def unusable(donated: Sequence[Buffer], results: Sequence[Buffer]) -> list[int] | None:
    """Return the indices of the donated buffers that no result can take; None if that is not known."""
    if any(buffer.count is None for buffer in (*donated, *results)):
        return None
    left, idle = list(results), []
    for index, buffer in enumerate(donated):
        # A result that must be as it is goes before one that may be anything.
        fitting = (one for one in left if _fits(buffer, one))
        taker = min(fitting, key=lambda one: one.layout is None, default=None)
        if taker is None:
            idle.append(index)
        else:
            left.remove(taker)
    return idle


def _fits(donated: Buffer, result: Buffer) -> bool:
    """Return whether a result may have the size of a donated buffer on each device."""
    if donated.layout is None or result.layout is None:
        return donated.count == result.count
    sizes = [_on_device(buffer) for buffer in (donated, result)]
    return None in sizes or sizes[0] == sizes[1]


def _on_device(buffer: Buffer) -> int | None:
    assert buffer.layout is not None
    try:
        return device_bytes(*buffer.layout, buffer.shape, buffer.dtype)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Kept:
    """An array of known shape and dtype; ``home`` is where it certainly lies, as something that compares."""

    shape: Shape
    dtype: str
    home: Hashable | None = None


def deleted(donated: Sequence[Kept], results: Sequence[Kept]) -> list[bool | None]:
    """Return for each donated array whether the call deletes it; None if that is not certain.

    A donated array is deleted if a result takes its buffer, which one of its shape, dtype and layout does
    (measured on JAX 0.10.2 and 0.12.0.1), if there are as many of these as arrays that are donated.
    """
    answers: list[bool | None] = []
    for array in donated:
        takers = [one for one in results if _may_take(array, one)]
        rivals = [one for one in donated if _may_take(array, one)]
        sure = array.home is not None and all(one.home == array.home for one in (*takers, *rivals))
        if len(takers) >= len(rivals) and takers:
            answers.append(True if sure else None)
        else:
            answers.append(None if takers else False)
    return answers


def _may_take(array: Kept, other: Kept) -> bool:
    """Return whether another array is, or may be, of the same shape, dtype and layout."""
    alike = (array.shape, array.dtype) == (other.shape, other.dtype)
    return alike and (array.home is None or other.home is None or array.home == other.home)

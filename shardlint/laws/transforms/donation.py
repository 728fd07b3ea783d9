"""Donated arguments of `jax.jit`, and the results that can take their buffers.

The compiler gives the buffer of a donated argument to a result whose parts on each device have as many bytes,
whatever its shape and dtype (measured on JAX 0.10.2: the aliases of the compiled code). A result takes one.
"""

from __future__ import annotations

from collections.abc import Sequence

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

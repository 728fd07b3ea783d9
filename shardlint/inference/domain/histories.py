"""The history of an array: its donation, the joining of others to it, a constraint that gathered its rows,
the product that it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from shardlint.laws.core.dims import Shape
from shardlint.laws.core.values import Mesh, Spec
from shardlint.laws.placement.movement import Operand
from shardlint.model.spans import Place
from shardlint.support.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Gone:
    """The donation that deleted an array, or only may have deleted it (``certain`` is false).

    ``is_used`` returns whether the jitted function certainly computes with the array: JAX drops what it does
    not, with the donation.
    """

    function: str
    is_used: Callable[[], bool] = field(compare=False)
    place: Place | None = field(default=None, compare=False)
    certain: bool = True


@dataclass(frozen=True, slots=True)
class Joints:
    """The dimension along which an array was joined of several, where each but the first begins, its shape
    with them, and the call that joined them."""

    dimension: int
    at: tuple[int, ...]
    shape: Shape
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Gathered:
    """The constraint that gathered the rows of an array inside jit: all devices along ``axes`` hold the same.

    It asked for ``after`` where the first dimension was laid out as in ``before``, for an array of this shape
    and dtype.
    """

    mesh: Mesh
    axes: tuple[str, ...]
    before: Spec
    after: Spec
    subject: str
    shape: Shape
    dtype: str | None
    place: Place = field(compare=False)


@dataclass(frozen=True, slots=True)
class Factor:
    """An operand as it is laid out, and what laid it out; ``subject`` is what a message calls it."""

    operand: Operand
    subject: str
    dtype: str | None
    origin: Place | None


@dataclass(frozen=True, slots=True)
class Product:
    """Two arrays that were multiplied, the layout of the first, and the second, a ``weight``; ``letters`` are
    those of the product's dimensions."""

    mesh: Mesh
    beside: Operand
    weight: Factor
    letters: str

"""What building a mesh, or an array of devices for one, checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from shardlint.laws.dims import Dim, Shape, divisible, equal, lower_bound, product
from shardlint.laws.values import Unknown
from shardlint.laws.verdicts import Accepted, Cause, Rejected, Undecided, Verdict

Outcome = Rejected | Undecided | None


def duplicate_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """The axis names that occur more than once. JAX builds such a mesh; what uses it fails later."""
    return tuple(name for name, count in Counter(names).items() if count > 1)


def judge_mesh(
    function: str,
    shape: Shape | Unknown,
    names: tuple[str, ...] | Unknown | None,
    devices: Dim | None,
    *,
    types: int | None = None,
) -> Verdict:
    """Judge the construction of a mesh of this shape; ``types`` is the number of axis types given.

    ``function`` is "Mesh" (``shape`` is the device array's, ``devices`` is ignored), "make_mesh",
    "AbstractMesh" (no devices), "create_device_mesh", or "reshape" for numpy's reshape of ``devices``
    devices, where one size may be -1. ``devices`` is None where it is not known. A name that is one
    string is for the caller to split as the function does: `Mesh` and `make_mesh` take ``"xy"`` for
    one axis, `AbstractMesh` for two.
    """
    law = LAWS.get(function)
    if law is None:
        return Undecided(f"{function} has no law")
    if isinstance(shape, Unknown):
        return Undecided(f"the shape is not known: {shape.reason}")
    return law(shape, names, devices, types) or Accepted()


Names = tuple[str, ...] | Unknown | None
Law = Callable[[Shape, Names, Dim | None, int | None], Outcome]


def _mesh(shape: Shape, names: Names, devices: Dim | None, types: int | None) -> Outcome:
    """`mesh.Mesh.__new__`: the rank of the device array against the names, then the types."""
    return _named(shape, names, "Mesh()") or _typed(len(shape), types, "Mesh()")


def _make_mesh(shape: Shape, names: Names, devices: Dim | None, types: int | None) -> Outcome:
    """`sharding_impls.make_mesh`: enough devices (it takes the first ones), then as Mesh."""
    stage = "make_mesh()"
    for size in shape:
        if isinstance(size, int) and size <= 0:
            return Undecided("a size that is not positive")
    unsure: Undecided | None = Undecided("the number of devices is not known")
    if devices is not None:
        spare = devices - product(shape)
        if (high := lower_bound(spare * -1)) is not None and high > 0:
            return Rejected(Cause.DEVICE_COUNT, "ValueError", stage, size=devices, ways=product(shape))
        if (low := lower_bound(spare)) is not None and low >= 0:
            unsure = None
    return _named(shape, names, stage) or _typed(len(shape), types, stage) or unsure


def _abstract_mesh(shape: Shape, names: Names, devices: Dim | None, types: int | None) -> Outcome:
    """`mesh.AbstractMesh`: types against names at construction; sizes against names when first used."""
    if types is not None and isinstance(names, tuple) and types != len(names):
        return Rejected(Cause.MESH_NAMES, "ValueError", "AbstractMesh()", size=len(names), ways=types)
    return _named(shape, names, "use")


def _create_device_mesh(shape: Shape, names: Names, devices: Dim | None, types: int | None) -> Outcome:
    """`mesh_utils.create_device_mesh`: exactly as many devices as the shape holds."""
    stage = "create_device_mesh()"
    if devices is None:
        return Undecided("the number of devices is not known")
    if any(isinstance(size, int) and size <= 0 for size in shape):
        return Undecided("a size that is not positive")
    same = equal(product(shape), devices)
    if same is None:
        return Undecided("whether the shape holds all devices is not known")
    wrong = Rejected(Cause.DEVICE_COUNT, "ValueError", stage, size=devices, ways=product(shape))
    return None if same else wrong


def _reshape(shape: Shape, names: Names, devices: Dim | None, types: int | None) -> Outcome:
    """numpy's reshape: at most one negative size, which takes what the others leave."""
    open_sizes = [i for i, size in enumerate(shape) if isinstance(size, int) and size < 0]
    if len(open_sizes) > 1:
        return Rejected(Cause.MESH_SHAPE, "ValueError", "reshape", dimension=open_sizes[1])
    if devices is None:
        return Undecided("the number of devices is not known")
    held = product(size for i, size in enumerate(shape) if i not in open_sizes)
    if held == 0:
        fits = equal(devices, 0) if not open_sizes else False
    else:
        fits = divisible(devices, held) if open_sizes else equal(held, devices)
    if fits is None:
        return Undecided("whether the shape holds all devices is not known")
    wrong = Rejected(Cause.DEVICE_COUNT, "ValueError", "reshape", size=devices, ways=held)
    return None if fits else wrong


def _named(shape: Shape, names: Names, stage: str) -> Outcome:
    if not isinstance(names, tuple):
        return Undecided("the axis names are not known")
    if len(names) == len(shape):
        return None
    return Rejected(Cause.MESH_NAMES, "ValueError", stage, size=len(shape), ways=len(names))


def _typed(rank: int, types: int | None, stage: str) -> Outcome:
    if types is None or types == rank:
        return None
    return Rejected(Cause.MESH_NAMES, "ValueError", stage, size=rank, ways=types, detail="axis_types")


LAWS: dict[str, Law] = {
    "Mesh": _mesh,
    "make_mesh": _make_mesh,
    "AbstractMesh": _abstract_mesh,
    "create_device_mesh": _create_device_mesh,
    "reshape": _reshape,
}

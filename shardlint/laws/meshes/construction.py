"""Laws of constructing a mesh, or an array of devices for one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Union

from shardlint.laws.core.dims import Dim, divisible, equal, lower_bound, product
from shardlint.laws.core.values import AxisType, Junk, Mesh, Unknown
from shardlint.laws.core.verdicts import Accepted, Cause, Rejected, Undecided, Verdict
from shardlint.support.lazy_dataclass import dataclass

#: The sizes of a mesh, one for each dimension; junk among them is not an integer, junk alone not a sequence.
Sizes = Union[tuple[Union[Dim, Junk, Unknown], ...], Junk, Unknown]
#: Its axis names. JAX accepts any hashable object as a name.
Names = Union[tuple[Union[str, Junk, Unknown, None], ...], Junk, Unknown, None]
#: The types of its axes; None where none are passed. A single type stands for a tuple of it.
Types = Union[tuple[Union[AxisType, Junk, Unknown], ...], AxisType, Junk, Unknown, None]

Outcome = Rejected | Undecided | None

_TUPLES = "AbstractMesh wants tuples"


@dataclass(frozen=True, slots=True)
class _Arguments:
    """The arguments of a construction; ``shape`` are sizes that are all known to be valid."""

    shape: tuple[Dim, ...]
    names: Names
    devices: Dim | None
    types: Types


def duplicate_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the duplicate axis names. JAX builds such a mesh; its uses fail later."""
    return tuple(name for name, count in Counter(names).items() if count > 1)


def equal_meshes(left: Mesh, right: Mesh) -> bool | None:
    """Return whether two meshes are equal, in which case `weak_value_interner` makes them one object.

    Meshes that look alike may still differ in their devices, or an abstract one in its kind of device: then
    the answer is None.
    """
    if left.abstract != right.abstract or left.names != right.names or left.types != right.types:
        return False
    same = [equal(a, b) for a, b in zip(left.sizes, right.sizes, strict=True)]
    return False if False in same else None


def judge_mesh(
    function: str, shape: Sizes, names: Names, devices: Dim | None, *, types: Types = None
) -> Verdict:
    """Judge the construction of a mesh of this shape.

    ``function`` is "Mesh" (``shape`` is the device array's, ``devices`` is ignored), "make_mesh",
    "AbstractMesh" (no devices), "create_device_mesh", or "reshape" for numpy's reshape of ``devices``
    devices, where one size may be -1. ``devices`` is None where it is not known. A name that is one
    string is for the caller to split as the function does: `Mesh` and `make_mesh` take ``"xy"`` for
    one axis, `AbstractMesh` for two; its names and sizes are junk that cannot be hashed where they are lists.
    """
    law = LAWS.get(function)
    if law is None:
        return Undecided(f"{function} has no law")
    if function == "AbstractMesh":
        return _abstract_mesh(shape, names, types) or Accepted()
    if isinstance(shape, Unknown):
        return Undecided(f"the shape is not known: {shape.reason}")
    stage = f"{function}()"
    if isinstance(shape, Junk):
        return _bad(Cause.MESH_SHAPE, "TypeError", stage, f"{shape.text} is no sequence of sizes")
    for size in shape:
        if isinstance(size, Junk):
            # `mesh_utils._canonicalize_axis_sizes`: int() of each.
            return _bad(Cause.MESH_SHAPE, "ValueError", stage, f"{size.text} is no size")
    known = tuple(size for size in shape if not isinstance(size, Junk | Unknown))
    if len(known) < len(shape):
        return Undecided("a size is not known")
    return law(_Arguments(known, names, devices, types)) or Accepted()


def _mesh(given: _Arguments) -> Outcome:
    """`mesh.Mesh.__new__`: the names, the rank of the device array against them, then the types."""
    return _labelled(given, "Mesh()")


def _make_mesh(given: _Arguments) -> Outcome:
    """`sharding_impls.make_mesh`: enough devices, of which it takes the first ones, then as Mesh."""
    stage, shape, devices = "make_mesh()", given.shape, given.devices
    wanted = product(shape)
    unsure: Undecided | None = Undecided("the number of devices is not known")
    if devices is not None:
        spare = devices - wanted
        if (high := lower_bound(spare * -1)) is not None and high > 0:
            return Rejected(Cause.DEVICE_COUNT, "ValueError", stage, size=devices, ways=wanted)
        if (low := lower_bound(spare)) is not None and low >= 0:
            unsure = None
    if any(isinstance(size, int) and size <= 0 for size in shape):
        return _not_positive(shape, devices, stage)
    outcome = _labelled(given, stage)
    if isinstance(outcome, Rejected) and unsure is not None and outcome.exception != "ValueError":
        return replace(outcome, exception="Exception")
    return outcome or unsure


def _not_positive(shape: tuple[Dim, ...], devices: Dim | None, stage: str) -> Outcome:
    """Judge a size of 0 or less, where the product does not exceed the devices: ``devices[:product]`` are
    taken.

    If that is empty, the first device's kind is read (IndexError); otherwise there are too many devices, or
    numpy cannot infer two negative sizes (ValueError).
    """
    culprit = next(size for size in shape if isinstance(size, int) and size <= 0)
    detail = f"the size {culprit} is not positive; there is no -1 for what is left"
    wanted = product(shape)
    if 0 in shape:
        return _bad(Cause.MESH_SHAPE, "IndexError", stage, f"{detail}; a mesh of size 0 holds no device")
    if not isinstance(wanted, int):
        return Undecided("a size that is not positive beside one that is not known")
    if wanted > 0:
        return _bad(Cause.MESH_SHAPE, "ValueError", stage, detail)
    if not isinstance(devices, int):
        return Undecided("how many devices a negative size leaves is not known")
    exception = "IndexError" if devices + wanted <= 0 else "ValueError"
    return _bad(Cause.MESH_SHAPE, exception, stage, detail)


def _abstract_mesh(shape: Sizes, names: Names, types: Types) -> Outcome:
    """`mesh.AbstractMesh`: types against names, then all is hashed; sizes against names when first used."""
    stage = "AbstractMesh()"
    if isinstance(names, Junk) and names.hashable:
        # Only arguments with a length are counted; the types' own TypeError precedes that.
        return _bad(Cause.BAD_ARGUMENT, "TypeError", stage, f"{names.text} are no axis names")
    wrong = _typed(len(names) if isinstance(names, tuple) else None, types, stage)
    if isinstance(names, Junk) and not isinstance(wrong, Rejected):
        # Only the number of its names decides whether the count of types is checked before hashing.
        exception = "TypeError" if wrong is None else "Exception"
        return _bad(Cause.BAD_ARGUMENT, exception, stage, f"{names.text} cannot be hashed; {_TUPLES}")
    if wrong is not None:
        return wrong
    for part in (shape, *(names if isinstance(names, tuple) else ())):
        if isinstance(part, Junk) and not part.hashable:
            return _bad(Cause.BAD_ARGUMENT, "TypeError", stage, f"{part.text} cannot be hashed; {_TUPLES}")
    if isinstance(shape, Junk) and not shape.falsy:
        # `math.prod`; a falsy value counts as size 0 until the sizes are read.
        return _bad(Cause.MESH_SHAPE, "TypeError", stage, f"{shape.text} is no sequence of sizes")
    if isinstance(shape, tuple) and any(isinstance(size, Junk) and size.text == "None" for size in shape):
        return _bad(Cause.MESH_SHAPE, "TypeError", stage, "None is no size")
    if isinstance(shape, Junk | Unknown) or any(isinstance(size, Junk | Unknown) for size in shape):
        return Undecided("the sizes are not known")
    return _named(len(shape), names, "use") or _odd(names, stage)


def _create_device_mesh(given: _Arguments) -> Outcome:
    """`mesh_utils.create_device_mesh`: exactly as many devices as the shape holds."""
    stage, shape, devices = "create_device_mesh()", given.shape, given.devices
    if devices == 0:
        return Undecided("there are no devices")
    if any(isinstance(size, int) and size <= 0 for size in shape):
        # Too many or too few devices, or two sizes for numpy to infer: a ValueError in each case.
        return _bad(
            Cause.MESH_SHAPE, "ValueError", stage, "each size must be positive, and none is worked out"
        )
    if devices is None:
        return Undecided("the number of devices is not known")
    same = equal(product(shape), devices)
    if same is None:
        return Undecided("whether the shape holds all devices is not known")
    wrong = Rejected(Cause.DEVICE_COUNT, "ValueError", stage, size=devices, ways=product(shape))
    return None if same else wrong


def _reshape(given: _Arguments) -> Outcome:
    """numpy's reshape: at most one negative size, which takes what the others leave."""
    shape, devices = given.shape, given.devices
    open_sizes = [i for i, size in enumerate(shape) if isinstance(size, int) and size < 0]
    if len(open_sizes) > 1:
        return Rejected(Cause.MESH_SHAPE, "ValueError", "reshape", dimension=open_sizes[1])
    if devices is None:
        return Undecided("the number of devices is not known")
    known_size = product(size for i, size in enumerate(shape) if i not in open_sizes)
    if known_size == 0:
        fits = equal(devices, 0) if not open_sizes else False
    else:
        fits = divisible(devices, known_size) if open_sizes else equal(known_size, devices)
    if fits is None:
        return Undecided("whether the shape holds all devices is not known")
    wrong = Rejected(Cause.DEVICE_COUNT, "ValueError", "reshape", size=devices, ways=known_size)
    return None if fits else wrong


def judge_device_grid(function: str, shape: Sizes, rows: Dim) -> Rejected:
    """Return the rejection of a multidimensional array for ``devices=``: JAX takes its rows for devices.

    `make_mesh` and `create_device_mesh` count them (ValueError), and read the kind of the first
    (AttributeError).
    """
    detail = "devices= takes a flat list of devices; flatten the array"
    known = (
        [size for size in shape if not isinstance(size, Junk | Unknown)] if isinstance(shape, tuple) else []
    )
    exception = "Exception"
    if (
        isinstance(shape, tuple)
        and len(known) == len(shape)
        and all(isinstance(n, int) for n in (*known, rows))
    ):
        wanted = product(known)
        fits = wanted == rows if function == "create_device_mesh" else 0 < wanted <= rows  # type: ignore[operator]
        exception = "AttributeError" if fits else "ValueError" if wanted else "IndexError"
    return _bad(Cause.BAD_ARGUMENT, exception, f"{function}()", detail)


def judge_hybrid(inner: Sizes, outer: Sizes, devices: Dim | None, *, by_process: bool, cpu: bool) -> Verdict:
    """Judge ``create_hybrid_device_mesh(inner, outer, devices, process_is_granule=by_process)``.

    There must be as many slices (processes, ``by_process``) as ``outer`` holds, and in each as many devices
    as ``inner`` holds; so all of them together, on any platform. ``cpu``: the devices are one process's CPU
    devices, which belong to no slice; with one slice the mesh is that of `create_device_mesh`.
    """
    stage = "create_hybrid_device_mesh()"
    if devices is None or devices == 0:
        return Undecided("the number of devices is not known")
    if cpu and not by_process:
        detail = "CPU devices are in no slice; pass process_is_granule=True, or use create_device_mesh"
        return _bad(Cause.BAD_ARGUMENT, "ValueError", stage, detail)
    within, across = _positive(inner), _positive(outer)
    if (
        within is not None
        and across is not None
        and equal(wanted := product(within) * product(across), devices) is False
    ):
        return Rejected(Cause.DEVICE_COUNT, "ValueError", stage, size=devices, ways=wanted)
    if not cpu or across is None:
        return Undecided("how many slices there are is not known")
    if equal(product(across), 1) is False:
        detail = f"{product(across)} processes are wanted, and there is one"
        return _bad(Cause.BAD_ARGUMENT, "ValueError", stage, detail)
    return judge_mesh("create_device_mesh", inner, None, devices)


def _positive(shape: Sizes) -> tuple[Dim, ...] | None:
    """Return the sizes, if all are known to be positive."""
    if not isinstance(shape, tuple):
        return None
    sizes = tuple(size for size in shape if not isinstance(size, Junk | Unknown))
    certain = len(sizes) == len(shape) and all((lower_bound(size) or 0) > 0 for size in sizes)
    return sizes if certain else None


def hybrid_shape(inner: tuple[Dim, ...], outer: tuple[Dim, ...]) -> tuple[Dim, ...]:
    """Return the shape of a hybrid mesh: `numpy.block` aligns the blocks from the last dimension."""
    rank = max(len(inner), len(outer))
    padded = ((1,) * (rank - len(shape)) + shape for shape in (inner, outer))
    return tuple(a * b for a, b in zip(*padded, strict=True))


# -- names and types --------------------------------------------------------------------------------


def _labelled(given: _Arguments, stage: str) -> Outcome:
    """Judge the names and the types for a device array, in the order in which `Mesh` checks them.

    Where an earlier check is undecided, a rejection is only known to be an Exception.
    """
    names, rank = given.names, len(given.shape)
    if isinstance(names, Junk):
        return _bad(Cause.BAD_ARGUMENT, "TypeError", stage, f"{names.text} are no axis names")
    if isinstance(names, tuple) and None in names:
        return _bad(Cause.BAD_ARGUMENT, "ValueError", stage, "an axis name is None")
    if isinstance(wrong := _named(rank, names, stage), Rejected):
        return wrong
    mistyped = _typed(rank, given.types, stage)
    if isinstance(mistyped, Rejected):
        return mistyped if wrong is None else replace(mistyped, exception="Exception")
    wrong = wrong or mistyped
    return wrong or _odd(names, stage)


def _named(rank: int, names: Names, stage: str) -> Outcome:
    if not isinstance(names, tuple):
        return Undecided("the axis names are not known")
    if len(names) == rank:
        return None
    return Rejected(Cause.MESH_NAMES, "ValueError", stage, size=rank, ways=len(names))


def _odd(names: Names, stage: str) -> Outcome:
    """Judge names that are not strings: `weak_value_interner` hashes them."""
    for name in names if isinstance(names, tuple) else ():
        if isinstance(name, Junk) and not name.hashable:
            detail = f"the axis name {name.text} cannot be hashed"
            return _bad(Cause.BAD_ARGUMENT, "TypeError", stage, detail)
        if isinstance(name, Unknown):
            return Undecided("an axis name is not known")
    return None


def _typed(rank: int | None, types: Types, stage: str) -> Outcome:
    """`mesh._normalize_axis_types`: a tuple of AxisType, as many as axes (``rank``, None if not known)."""
    if types is None:
        return None
    if isinstance(types, Unknown):
        return Undecided("the axis types are not known")
    row = types if isinstance(types, tuple) else (types,)
    for kind in row:
        if isinstance(kind, Junk):
            detail = f"axis_types takes a tuple of AxisType, one an axis; {kind.text} is none"
            return _bad(Cause.BAD_ARGUMENT, "TypeError", stage, detail)
    if any(isinstance(kind, Unknown) for kind in row):
        return Undecided("an axis type is not known")
    if rank is None:
        return Undecided("the axis names are not known")
    if len(row) == rank:
        return None
    return Rejected(Cause.MESH_NAMES, "ValueError", stage, size=rank, ways=len(row), detail="axis_types")


def _bad(cause: Cause, exception: str, stage: str, detail: str) -> Rejected:
    return Rejected(cause, exception, stage, detail=detail)


LAWS: dict[str, Callable[[_Arguments], Outcome]] = {
    "Mesh": _mesh,
    "make_mesh": _make_mesh,
    "AbstractMesh": lambda given: _abstract_mesh(given.shape, given.names, given.types),
    "create_device_mesh": _create_device_mesh,
    "reshape": _reshape,
}

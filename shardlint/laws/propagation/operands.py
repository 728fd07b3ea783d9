"""Operands of known type, and the exceptions by which a propagation rule stops early.

A rule is written as in JAX: straight down, stopping where JAX raises (`refuse`) and where something it needs
is not known (`unsure`). `law` turns that into a result.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn, ParamSpec, TypeVar, Union

from shardlint.laws.core.array_types import ArrayType, TypeSharding
from shardlint.laws.core.dims import Dim, Shape, divisible, equal, floordiv, lower_bound, mod, product
from shardlint.laws.core.values import AxisType, Entry, Mesh, Spec, Unknown, entry_axes
from shardlint.laws.core.verdicts import Cause, Rejected, Undecided
from shardlint.support.lazy_dataclass import dataclass

#: The sharding in the result's type, JAX's rejection, or the reason why the answer is not known.
Outcome = Union[TypeSharding, Rejected, Undecided]
#: An ``out_sharding=``: a bare spec, a NamedSharding as mesh and spec, none, or unknown.
OutSharding = Union[Spec, TypeSharding, Unknown, None]
#: One entry for each dimension, as `jax.typeof(x).sharding.spec.partitions`.
Partitions = tuple[Entry, ...]

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


class _Refused(Exception):
    def __init__(self, verdict: Rejected) -> None:
        self.verdict = verdict


class _Unsure(Exception):
    pass


def refuse(
    cause: Cause,
    detail: str,
    exception: str = "ShardingTypeError",
    *,
    dimension: int | None = None,
    entry: Entry = None,
    size: Dim | None = None,
    ways: Dim | None = None,
) -> NoReturn:
    """Stop where JAX raises. ``entry`` is the sharding of the offending dimension."""
    axes = entry_axes(entry)
    raise _Refused(
        Rejected(
            cause, exception, "trace", dimension, axis=axes[0] if axes else None, size=size, ways=ways,
            detail=detail,
        )
    )  # fmt: skip


def stop(verdict: Rejected) -> NoReturn:
    """Stop where JAX raises, with a verdict found before."""
    raise _Refused(verdict)


def unsure(reason: str) -> NoReturn:
    """Stop where a rule depends on something unknown."""
    raise _Unsure(reason)


def law(
    rule: Callable[_Arguments, _Result],
) -> Callable[_Arguments, Union[_Result, Rejected, Undecided]]:
    """Return the law of a rule: it returns the rule's result, or the verdict with which the rule stops."""

    @functools.wraps(rule)
    def answer(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> Union[_Result, Rejected, Undecided]:
        try:
            return rule(*args, **kwargs)
        except _Refused as refused:
            return refused.verdict
        except _Unsure as unknown:
            return Undecided(str(unknown))

    return answer


@dataclass(frozen=True, slots=True)
class Operand:
    """An array of known type (`core.ShapedArray`). ``mesh`` is None for one created without a mesh."""

    shape: Shape
    mesh: Mesh | None
    partitions: Partitions
    unreduced: frozenset[str] = frozenset()
    reduced: frozenset[str] = frozenset()

    @property
    def rank(self) -> int:
        """Return the number of dimensions."""
        return len(self.shape)

    @property
    def listed(self) -> Partitions:
        """Return the entries, where JAX iterates over the spec: it raises if there are unreduced or reduced
        axes.

        `PartitionSpec.__iter__` and ``__getitem__``: ValueError.
        """
        if self.unreduced or self.reduced:
            refuse(Cause.UNSUPPORTED, "an operand without unreduced or reduced axes", "ValueError")
        return self.partitions

    @property
    def untouched(self) -> TypeSharding:
        """Return its own type, where JAX returns the array unchanged: no primitive is bound, nothing is
        checked.
        """
        return TypeSharding(self.mesh, Spec(self.partitions, self.unreduced, self.reduced))

    def typed(self, partitions: Sequence[Entry]) -> TypeSharding:
        """Return this operand's mesh with another spec."""
        return TypeSharding(self.mesh, Spec(tuple(partitions)))


def operands_of(context: Mesh | None, *arrays: ArrayType) -> list[Operand]:
    """Return arrays as a primitive's rule reads them."""
    return [bound(context, operand_of(array)) for array in arrays]


def operand_of(array: ArrayType) -> Operand:
    """Return an array before a primitive is bound; unsure where its shape or an entry of its spec is
    unknown.
    """
    if array.shape is None:
        unsure("the shape of an operand is not known")
    if array.sharding is None:
        unsure("the sharding in an operand's type is not known")
    mesh, spec = array.sharding.mesh, array.sharding.spec
    partitions = canonical(spec.entries)
    if len(partitions) > len(array.shape):
        unsure("the spec of an operand is longer than its rank")
    padded = (*partitions, *(None,) * (len(array.shape) - len(partitions)))
    named = {axis for entry in padded for axis in entry_axes(entry)} | spec.unreduced | spec.reduced
    if named - set(mesh.names if mesh is not None else ()):
        unsure("the spec of an operand names axes that its mesh lacks")
    return Operand(array.shape, mesh, padded, spec.unreduced, spec.reduced)


def canonical(entries: Sequence[Entry]) -> Partitions:
    """Return entries as `PartitionSpec` stores them: ``("x",)`` is ``"x"``, and ``()`` is None."""
    return tuple(_canonical_entry(entry) for entry in entries)


def _canonical_entry(entry: Entry) -> Entry:
    names = entry_axes(entry)
    if entry and len(names) != (len(entry) if isinstance(entry, tuple) else 1):
        unsure("an entry of a spec is not known")
    return None if not names else names[0] if len(names) == 1 else names


def same_mesh(one: Mesh, other: Mesh) -> bool:
    """Return whether two abstract meshes are equal: names, sizes and types, but not devices."""
    if (one.names, one.types) != (other.names, other.types):
        return False
    answers = [same(a, b) for a, b in zip(one.sizes, other.sizes, strict=True)]
    return all(answers)


def same(one: Dim, other: Dim) -> bool:
    """Return whether two sizes are equal; unsure where it depends on unknown sizes."""
    answer = alike(one, other)
    if answer is None:
        unsure(f"whether {one} equals {other} is not known")
    return answer


def alike(one: Dim, other: Dim) -> bool | None:
    """Return whether two sizes are equal, where provable; a multiple of a positive size differs from it."""
    answer = equal(one, other)
    if answer is None and (_multiple(one, other, 2) or _multiple(other, one, 2)):
        return False
    return answer


def greater(one: Dim, other: Dim) -> bool:
    """Return whether a size is greater than another; unsure where it depends on unknown sizes."""
    above, below = lower_bound(one - other), lower_bound(other - one)
    if (above is not None and above > 0) or _multiple(one, other, 2):
        return True
    if (below is not None and below >= 0) or _multiple(other, one, 1):
        return False
    unsure(f"whether {one} is greater than {other} is not known")


def _multiple(one: Dim, other: Dim, least: int) -> bool:
    """Return whether a size is certainly a multiple, by ``least`` or more, of a positive size."""
    if (lower_bound(other) or 0) < 1 or mod(one, other) != 0:
        return False
    return (lower_bound(floordiv(one, other)) or 0) >= least


def divides(operands: Iterable[Operand], mesh: Mesh | None, entry: Entry, size: Dim) -> bool:
    """Return whether the axes of an entry divide a size; unsure where it is not known.

    The dimensions of a typed operand are divisible by their axes, and so are their multiples.
    """
    parts = ways(mesh, entry)
    answer = divisible(size, parts)
    if answer is None and any(
        divisible(size, held) and divisible(ways(operand.mesh, along), parts)
        for operand in operands
        for held, along in zip(operand.shape, operand.partitions, strict=True)
        if along is not None
    ):
        return True
    if answer is None:
        unsure(f"whether {parts} divides {size} is not known")
    return answer


def all_of(mesh: Mesh | None, kind: AxisType) -> bool:
    """Return whether there is a mesh and all its axes are of one type (`AbstractMesh.are_all_axes_auto`
    …).
    """
    return mesh is not None and bool(mesh.types) and all(t is kind for t in mesh.types)


def explicit(mesh: Mesh | None) -> bool:
    """Return whether the mesh has Explicit axes, without which no rule applies."""
    return mesh is not None and AxisType.EXPLICIT in mesh.types


def ways(mesh: Mesh | None, entry: Entry) -> Dim:
    """Return the number of parts into which an entry splits its dimension (`slicing._get_sub_spec_size`)."""
    return product(mesh.size_of(axis) for axis in entry_axes(entry)) if mesh is not None else 1


def bound(context: Mesh | None, operand: Operand) -> Operand:
    """Return an operand as a primitive is bound to it (`core.Primitive.bind`).

    Inside shard_map, where no axis is Explicit, an array from outside is cast to the mesh there if its own
    axes are all Auto, and rejected if one is Explicit.
    """
    if context is None or operand.mesh is None or same_mesh(context, operand.mesh):
        return operand
    if AxisType.MANUAL not in context.types or explicit(context):
        return operand
    if explicit(operand.mesh):
        refuse(Cause.OTHER_MESH, "arrays on the mesh inside shard_map", "NotImplementedError")
    if all_of(operand.mesh, AxisType.AUTO):
        return Operand(operand.shape, context, (None,) * operand.rank)
    return operand

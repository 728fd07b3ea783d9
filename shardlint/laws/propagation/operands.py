"""What every rule of propagation works with: operands whose types are known, and the ways to stop early.

A rule is written as JAX writes it: straight down, stopping where JAX raises (`refuse`) and where what it
asks is not known (`unsure`). `law` turns that into an answer.
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

#: The sharding in the result's type, or why JAX refuses, or what would have to be known.
Outcome = Union[TypeSharding, Rejected, Undecided]
#: An ``out_sharding=``: a bare spec, a NamedSharding as mesh and spec, none, or one that is not known.
OutSharding = Union[Spec, TypeSharding, Unknown, None]
#: One entry a dimension, as `jax.typeof(x).sharding.spec.partitions`.
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
    """Stop where JAX raises. ``entry`` is what the offending dimension lies along."""
    axes = entry_axes(entry)
    raise _Refused(
        Rejected(
            cause, exception, "trace", dimension, axis=axes[0] if axes else None, size=size, ways=ways,
            detail=detail,
        )
    )  # fmt: skip


def stop(verdict: Rejected) -> NoReturn:
    """Stop where JAX raises, for what is found already."""
    raise _Refused(verdict)


def unsure(reason: str) -> NoReturn:
    """Stop where a rule asks what is not known."""
    raise _Unsure(reason)


def law(
    rule: Callable[_Arguments, _Result],
) -> Callable[_Arguments, Union[_Result, Rejected, Undecided]]:
    """The law that a rule states: its result, or where it stops."""

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
    """An array whose type is known (`core.ShapedArray`). ``mesh`` is None for one made without a mesh."""

    shape: Shape
    mesh: Mesh | None
    partitions: Partitions
    unreduced: frozenset[str] = frozenset()
    reduced: frozenset[str] = frozenset()

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def listed(self) -> Partitions:
        """The entries, where JAX iterates over the spec: it refuses to with unreduced or reduced axes.

        `PartitionSpec.__iter__` and ``__getitem__``: ValueError.
        """
        if self.unreduced or self.reduced:
            refuse(Cause.UNSUPPORTED, "an operand without unreduced or reduced axes", "ValueError")
        return self.partitions

    @property
    def untouched(self) -> TypeSharding:
        """Its own type, where JAX returns it as it is: no primitive is bound, and nothing is checked."""
        return TypeSharding(self.mesh, Spec(self.partitions, self.unreduced, self.reduced))

    def typed(self, partitions: Sequence[Entry]) -> TypeSharding:
        """This operand's mesh with another spec."""
        return TypeSharding(self.mesh, Spec(tuple(partitions)))


def operands_of(context: Mesh | None, *arrays: ArrayType) -> list[Operand]:
    """Arrays as a primitive's rule reads them."""
    return [bound(context, operand_of(array)) for array in arrays]


def operand_of(array: ArrayType) -> Operand:
    """An array before a primitive is bound; unsure where its shape or an entry of its spec is not known."""
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
    """Entries as `PartitionSpec` keeps them: ``("x",)`` is ``"x"``, and nothing is None."""
    return tuple(_canonical_entry(entry) for entry in entries)


def _canonical_entry(entry: Entry) -> Entry:
    names = entry_axes(entry)
    if entry and len(names) != (len(entry) if isinstance(entry, tuple) else 1):
        unsure("an entry of a spec is not known")
    return None if not names else names[0] if len(names) == 1 else names


def same_mesh(one: Mesh, other: Mesh) -> bool:
    """Whether two abstract meshes are one: names, sizes and types; devices aside."""
    if (one.names, one.types) != (other.names, other.types):
        return False
    answers = [same(a, b) for a, b in zip(one.sizes, other.sizes, strict=True)]
    return all(answers)


def same(one: Dim, other: Dim) -> bool:
    """Whether two sizes are equal; unsure where it depends on sizes that are not known."""
    answer = alike(one, other)
    if answer is None:
        unsure(f"whether {one} equals {other} is not known")
    return answer


def alike(one: Dim, other: Dim) -> bool | None:
    """Whether two sizes are equal, where it is provable; a multiple of a positive size differs from it."""
    answer = equal(one, other)
    if answer is None and (_multiple(one, other, 2) or _multiple(other, one, 2)):
        return False
    return answer


def greater(one: Dim, other: Dim) -> bool:
    """Whether a size is greater than another; unsure where it depends on sizes that are not known."""
    above, below = lower_bound(one - other), lower_bound(other - one)
    if (above is not None and above > 0) or _multiple(one, other, 2):
        return True
    if (below is not None and below >= 0) or _multiple(other, one, 1):
        return False
    unsure(f"whether {one} is greater than {other} is not known")


def _multiple(one: Dim, other: Dim, least: int) -> bool:
    """Whether a size is surely a positive size taken ``least`` times or more."""
    if (lower_bound(other) or 0) < 1 or mod(one, other) != 0:
        return False
    return (lower_bound(floordiv(one, other)) or 0) >= least


def divides(operands: Iterable[Operand], mesh: Mesh | None, entry: Entry, size: Dim) -> bool:
    """Whether the axes of an entry divide a size; unsure where it is not known.

    An operand that has its type has dimensions that their axes divide: so have their multiples.
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
    """Whether there is a mesh and all its axes are of one type (`AbstractMesh.are_all_axes_auto` …)."""
    return mesh is not None and bool(mesh.types) and all(t is kind for t in mesh.types)


def explicit(mesh: Mesh | None) -> bool:
    """Whether the mesh has Explicit axes, without which no rule is asked."""
    return mesh is not None and AxisType.EXPLICIT in mesh.types


def ways(mesh: Mesh | None, entry: Entry) -> Dim:
    """Into how many parts an entry splits its dimension (`slicing._get_sub_spec_size`)."""
    return product(mesh.size_of(axis) for axis in entry_axes(entry)) if mesh is not None else 1


def bound(context: Mesh | None, operand: Operand) -> Operand:
    """An operand as a primitive is bound to it (`core.Primitive.bind`).

    Inside shard_map, where no axis is Explicit, an array from outside is cast to the mesh there if its own
    axes are all Auto, and refused if one is Explicit.
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

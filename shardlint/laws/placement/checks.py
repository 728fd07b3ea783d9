"""The single checks JAX makes of a mesh, a spec and a shape, from which the laws are composed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from shardlint.laws.core.check_chain import Case, Check, Outcome
from shardlint.laws.core.dims import Dim, Shape, divisible, equal, product
from shardlint.laws.core.values import AxisType, Entry, Junk, Marker, Mesh, Name, Spec, Unknown
from shardlint.laws.core.verdicts import Accepted, Cause, Rejected, Undecided
from shardlint.laws.versions.era import since


def parts(entry: Entry) -> tuple[Name, ...]:
    """Return the mesh axes in an entry as JAX's loops see them: none for None and UNCONSTRAINED."""
    if isinstance(entry, tuple):
        return entry
    return () if entry is None or isinstance(entry, Marker) else (entry,)


def is_axis(name: Name) -> bool:
    """Return whether a part of an entry can name a mesh axis."""
    return isinstance(name, str) and not isinstance(name, Marker)


def located(spec: Spec) -> Iterator[tuple[int, int | None, Name]]:
    """Yield each part of a spec with its dimension, and its index when the entry is a tuple."""
    for dimension, entry in enumerate(spec.entries):
        for index, part in enumerate(parts(entry)):
            yield dimension, index if isinstance(entry, tuple) else None, part


def unknown_part(spec: Spec) -> Undecided | None:
    """Return Undecided where an entry of the spec is not known."""
    for _, _, part in located(spec):
        if isinstance(part, Unknown):
            return Undecided(f"an entry of the spec is not known: {part.reason}")
    return None


def ways(mesh: Mesh, entry: Entry) -> Dim | None:
    """Return the number of parts into which an entry splits its dimension; None where that is not known."""
    sizes: list[Dim] = []
    for part in parts(entry):
        if not is_axis(part) or part not in mesh.names:
            return None
        sizes.append(mesh.size_of(str(part)))
    return product(sizes)


def known(case: Case) -> tuple[Spec, Shape] | Undecided:
    """Return the spec and the shape, where both are known."""
    if not isinstance(case.spec, Spec):
        return Undecided("the spec is not known")
    if isinstance(case.shape, Unknown):
        return Undecided(f"the shape is not known: {case.shape.reason}")
    return case.spec, case.shape


def rank(case: Case) -> Outcome:
    """`NamedSharding.check_compatible_aval`: a spec may not be longer than the rank; Nones count."""
    both = known(case)
    if isinstance(both, Undecided):
        return both
    spec, shape = both
    if len(spec) <= len(shape):
        return None
    return Rejected(Cause.TOO_LONG, "ValueError", "", dimension=len(shape), size=len(shape), ways=len(spec))


def rank_of_names(case: Case) -> Outcome:
    """`shard_map._check_names`: as `rank`, but before 0.6.1 only entries with axes count."""
    outcome = rank(case)
    if outcome is None or not isinstance(case.spec, Spec) or since("0.6.1"):
        return outcome
    return rank(replace(case, spec=Spec(_without_last_nones(case.spec.entries))))


def _without_last_nones(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    last = max((index for index, entry in enumerate(entries) if entry is not None), default=-1)
    return entries[: last + 1]


def surplus_axes(case: Case) -> Outcome:
    """`named_sharding_to_xla_hlo_sharding` indexes past the rank, for axes of more than one device only."""
    both = known(case)
    if isinstance(both, Undecided):
        return both
    spec, shape = both
    surplus = spec.entries[len(shape) :]
    if not any(parts(entry) for entry in surplus):
        return None
    if not isinstance(case.mesh, Mesh):
        return Undecided("the mesh is not known")
    unsure = None
    for dimension, entry in enumerate(surplus, len(shape)):
        split = ways(case.mesh, entry)
        single = None if split is None else equal(split, 1)
        if single is False:
            return Rejected(
                Cause.TOO_LONG, "IndexError", "", dimension=dimension, size=len(shape), ways=len(spec)
            )
        if single is None:
            unsure = Undecided(f"the number of parts of dimension {dimension} is not known")
    return unsure


def even(case: Case) -> Outcome:
    """`_common_shard_shape`: the axes of an entry must divide its dimension; zero is divisible."""
    both = known(case)
    if isinstance(both, Undecided):
        return both
    spec, shape = both
    if not any(parts(entry) for entry in spec.entries):
        return None
    if not isinstance(case.mesh, Mesh):
        return Undecided("the mesh is not known")
    unsure = None
    for dimension, (entry, size) in enumerate(zip(spec.entries, shape, strict=False)):
        split = ways(case.mesh, entry)
        fits = None if split is None else divisible(size, split)
        if fits is False:
            return Rejected(
                Cause.INDIVISIBLE, "IndivisibleError", "", dimension=dimension, size=size, ways=split,
                axis=_only_axis(entry),
            )  # fmt: skip
        if fits is None:
            unsure = Undecided(f"whether dimension {dimension} divides is not known")
    return unsure


def even_unless_unconstrained(case: Case) -> Outcome:
    """As `even`, but a spec with P.UNCONSTRAINED leaves the whole layout of the result to XLA."""
    outcome = even(case)
    if isinstance(case.spec, Spec) and isinstance(outcome, Rejected):
        if Marker.UNCONSTRAINED in case.spec.entries:
            return None
        return unknown_part(case.spec) or outcome
    return outcome


def _only_axis(entry: Entry) -> str | None:
    names = [str(part) for part in parts(entry)]
    return names[0] if len(names) == 1 else None


def unconstrained(case: Case) -> Outcome:
    """`P.UNCONSTRAINED` as an entry of its own, where only with_sharding_constraint takes it."""
    if not isinstance(case.spec, Spec):
        return Undecided("the spec is not known")
    for dimension, entry in enumerate(case.spec.entries):
        if entry is Marker.UNCONSTRAINED:
            return Rejected(Cause.UNCONSTRAINED, "ValueError", "", dimension=dimension)
    if any(isinstance(entry, Unknown) for entry in case.spec.entries):
        return unknown_part(case.spec)
    return None


def unique(case: Case) -> Outcome:
    """`named_sharding._check_unique_resources`: no axis (or other part) twice in a spec."""
    if not isinstance(case.spec, Spec):
        return Undecided("the spec is not known")
    seen = []
    for dimension, index, part in located(case.spec):
        if isinstance(part, Unknown):
            continue
        if part in seen:
            return Rejected(
                Cause.DUPLICATE_AXIS,
                "DuplicateSpecError",
                "",
                dimension=dimension,
                part=index,
                axis=_text(part),
            )
        seen.append(part)
    return unknown_part(case.spec)


def unique_on_many(case: Case) -> Outcome:
    """As `unique`, but over a context mesh of one device shard_map lowers to nothing inside jit."""
    outcome = unique(case)
    if isinstance(outcome, Rejected) and isinstance(case.mesh, Mesh):
        alone = equal(case.mesh.device_count, 1)
        return outcome if alone is False else Undecided("on one device only calls outside jit are refused")
    return outcome


def found(case: Case) -> Outcome:
    """`named_sharding._check_mesh_resource_axis`: every part must name an axis of the mesh."""
    return _names(case, none_passes=False)


def found_or_none(case: Case) -> Outcome:
    """`shard_map._check_specs`: every part must name an axis that is manual there, or be None."""
    if isinstance(case.spec, Spec) and isinstance(outcome := unconstrained(case), Rejected):
        return outcome
    return _names(case, none_passes=True)


def _names(case: Case, *, none_passes: bool) -> Outcome:
    if not isinstance(case.spec, Spec):
        return Undecided("the spec is not known")
    unsure: Undecided | None = None
    for dimension, index, part in located(case.spec):
        if isinstance(part, Unknown):
            unsure = unsure or unknown_part(case.spec)
        elif part is None and none_passes:
            continue
        elif isinstance(case.mesh, Unknown) and isinstance(part, str | Junk):
            # Any hashable object may be an axis's name, a number too.
            unsure = unsure or Undecided("the mesh is not known")
        elif not is_axis(part):
            return Rejected(
                Cause.BAD_ENTRY, "ValueError", "", dimension=dimension, part=index, axis=_text(part)
            )
        elif not isinstance(case.mesh, Mesh):
            unsure = unsure or Undecided("the mesh is not known")
        elif part not in case.mesh.names:
            return Rejected(
                Cause.UNKNOWN_AXIS, "ValueError", "", dimension=dimension, part=index, axis=str(part)
            )
    return unsure or _of_one_type(case)


def _of_one_type(case: Case) -> Outcome:
    """Before 0.7 one entry may not name axes of several types."""
    if not isinstance(case.spec, Spec) or not isinstance(case.mesh, Mesh):
        return None
    for dimension, entry in enumerate(case.spec.entries):
        axes = [str(part) for part in parts(entry) if is_axis(part)]
        if len({case.mesh.type_of(axis) for axis in axes}) > 1 and not since("0.7.0"):
            return Rejected(Cause.AXIS_TYPE, "ValueError", "", dimension=dimension, part=1, axis=axes[1])
    return None


def none_in_tuple(case: Case) -> Outcome:
    """None as one of several axes: shard_map's name check passes it, and a look-up fails later."""
    if not isinstance(case.spec, Spec):
        return Undecided("the spec is not known")
    for dimension, index, part in located(case.spec):
        if part is None:
            return Rejected(Cause.BAD_ENTRY, "KeyError", "", dimension=dimension, part=index)
    return unknown_part(case.spec)


def no_unconstrained_without_auto(case: Case) -> Outcome:
    """`_check_mesh_resource_axis`: P.UNCONSTRAINED needs an Auto axis in the mesh."""
    if not isinstance(case.mesh, Mesh):
        return unconstrained(case) and Undecided("the mesh's axis types are not known")
    return None if AxisType.AUTO in case.mesh.types else unconstrained(case)


def reductions_explicit(case: Case) -> Outcome:
    """`_check_mesh_unreduced`: unreduced and reduced axes must be Explicit axes of the mesh."""
    if not isinstance(case.spec, Spec):
        return Undecided("the spec is not known")
    for axis in sorted(case.spec.unreduced) + sorted(case.spec.reduced):
        if not isinstance(case.mesh, Mesh):
            return Undecided("the mesh is not known")
        if axis not in case.mesh.names:
            return Rejected(Cause.UNKNOWN_AXIS, "ValueError", "", axis=axis)
        if case.mesh.type_of(axis) is not AxisType.EXPLICIT:
            return Rejected(Cause.AXIS_TYPE, "ValueError", "", axis=axis)
    return None


#: The checks of `NamedSharding(mesh, spec)`, in order (`named_sharding.check_pspec`).
SHARDING: tuple[Check, ...] = (unique, found, no_unconstrained_without_auto, reductions_explicit)


def a_spec(case: Case) -> Outcome:
    """The argument must be a `PartitionSpec`."""
    if not isinstance(case.spec, Junk):
        return None
    return Rejected(Cause.NOT_A_SPEC, "TypeError", "", detail=case.spec.text)


def a_hashable(case: Case) -> Outcome:
    """The argument is a key of a cache: TypeError for one that cannot be hashed."""
    if not isinstance(case.spec, Junk) or case.spec.hashable:
        return None
    return Rejected(Cause.NOT_A_SPEC, "TypeError", "", detail=case.spec.text)


def a_leaf(case: Case) -> Outcome:
    """As `a_spec`, where a container must first fit the arguments (ValueError)."""
    if isinstance(case.spec, Junk) and case.spec.type in ("tuple", "list", "dict"):
        return Rejected(Cause.NOT_A_SPEC, "Exception", "", detail=case.spec.text)
    return a_spec(case)


def context_mesh(case: Case) -> Outcome:
    """A bare spec takes its mesh from `jax.set_mesh`."""
    if case.mesh is None:
        return Rejected(Cause.NO_MESH, "ValueError", "")
    return Undecided("the context mesh is not known") if isinstance(case.mesh, Unknown) else None


def sharded_already(case: Case) -> Outcome:
    """An array that is already sharded so is returned unchanged; a spec longer than the rank never is."""
    if case.held is None or not isinstance(case.spec, Spec):
        return None
    if rank(case) is not None and len(case.spec) > len(case.held):
        # It is too long, or may be.
        return None
    width = max(len(case.held), len(case.spec))
    held, spec = (
        replace(one, entries=(*one.entries, *(None,) * (width - len(one)))) for one in (case.held, case.spec)
    )
    return Accepted() if held == spec else None


def none_passes(case: Case) -> Outcome:
    """None requests nothing."""
    return Accepted() if case.spec is None else None


def starting(release: str, *checks: Check) -> tuple[Check, ...]:
    """Return checks that JAX makes since a release."""

    return tuple(_if_it_matters(check, lambda: since(release)) for check in checks)


def until(release: str, *checks: Check) -> tuple[Check, ...]:
    """Return checks that JAX made before a release."""

    return tuple(_if_it_matters(check, lambda: not since(release)) for check in checks)


def _if_it_matters(check: Check, holds: Callable[[], bool]) -> Check:
    """Return a check that is made where ``holds``, which is asked only of what the check does not pass."""

    def made(case: Case) -> Outcome:
        outcome = check(case)
        return outcome if outcome is not None and holds() else None

    return made


def empty_output(case: Case) -> Outcome:
    """`pxla._maybe_get_and_check_out_shardings`: XLA replicates an output of size 0, and from 0.7.2 to 0.8.3
    JAX asserts that it is split as asked. Says nothing where sizes are not known.
    """
    spec, mesh, shape = case.spec, case.mesh, case.shape
    if not (isinstance(mesh, Mesh) and isinstance(spec, Spec) and isinstance(shape, tuple) and 0 in shape):
        return None
    split = [ways(mesh, entry) for entry in spec.entries]
    if Marker.UNCONSTRAINED in spec.entries or not any(isinstance(n, int) and n > 1 for n in split):
        return None
    if since("0.9.0") or not since("0.7.2"):
        return None
    return Rejected(Cause.EMPTY, "AssertionError", "", dimension=shape.index(0), size=0)


def _text(part: Name) -> str:
    return part.text if isinstance(part, Junk) else str(part)


def not_none(case: Case) -> Outcome:
    """None is rejected where a spec is required."""
    return Rejected(Cause.NOT_A_SPEC, "ValueError", "", detail="None") if case.spec is None else None


def none_needs_a_mesh(case: Case) -> Outcome:
    """with_sharding_constraint takes None for replication, if there is a mesh to replicate over."""
    return context_mesh(case) if case.spec is None else None


def a_sharding(case: Case) -> Outcome:
    """An API that takes a Sharding and no bare spec."""
    text = case.spec.text if isinstance(case.spec, Junk) else str(case.spec)
    return Rejected(Cause.BAD_ARGUMENT, "TypeError", "", detail=text)


def has_devices(case: Case) -> Outcome:
    """An AbstractMesh has no devices to put anything on."""
    if isinstance(case.mesh, Unknown):
        return Undecided("whether the mesh has devices is not known")
    return Rejected(Cause.DEVICES, "ValueError", "") if case.mesh and case.mesh.abstract else None


def meshless_passes(case: Case) -> Outcome:
    """Without a mesh nothing is requested."""
    return Accepted() if case.mesh is None else None


def nameless_passes(case: Case) -> Outcome:
    """Partitioning names of length 0 request nothing."""
    return Accepted() if isinstance(case.spec, Spec) and not case.spec.entries else None

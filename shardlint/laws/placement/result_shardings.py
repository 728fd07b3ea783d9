"""The sharding of the result of an accepted call."""

from __future__ import annotations

from shardlint.laws.core.check_chain import Case
from shardlint.laws.core.dims import Dim, Shape, divisible, equal, product
from shardlint.laws.core.values import AxisType, Entry, Junk, Marker, Mesh, Name, Spec, Unknown
from shardlint.laws.core.verdicts import Accepted, Api, Returned
from shardlint.laws.placement.axis_types import all_of, in_type
from shardlint.laws.placement.checks import empty_output, parts, ways
from shardlint.laws.placement.partition_spec import canonical
from shardlint.laws.placement.uneven_outputs import cut_axis, fate_of

#: APIs whose result XLA lays out, following the spec only where it divides.
COMPILED = frozenset(
    {Api.CONSTRAINT, Api.LINEN_UNBOX, Api.NNX_PARAM_IN_JIT, Api.CONVERT_IN_JIT, Api.LINSPACE}
)
#: APIs that determine the Explicit axes of the result; XLA may drop Auto ones.
SETTLING = frozenset(
    {
        Api.DEVICE_PUT_IN_JIT, Api.RESHARD, Api.RESHARD_IN_JIT, Api.CREATE_OUT, Api.CREATE_OUT_IN_JIT,
        Api.RANDOM_OUT, Api.RANDOM_OUT_IN_JIT, Api.ARANGE_IN_JIT, Api.EMPTY_OUT, Api.EMPTY_OUT_IN_JIT,
    }
)  # fmt: skip
#: APIs that only give a value a type inside jit; its outputs are what JAX compares with what XLA chose.
TYPING = frozenset(
    {
        Api.RESHARD_IN_JIT, Api.CREATE_OUT_IN_JIT, Api.RANDOM_OUT_IN_JIT, Api.EMPTY_OUT_IN_JIT,
        Api.NNX_PARAM_IN_JIT, Api.DEVICE_PUT_IN_JIT, Api.JIT_ARGUMENT, Api.SHARD_MAP_OUT,
    }
)  # fmt: skip
#: Flax parameters, which are unchanged without names, and resharded on Explicit axes.
PARAMETERS = frozenset({Api.NNX_PARAM, Api.NNX_PARAM_IN_JIT})
#: APIs that accept P.UNCONSTRAINED and leave the choice to XLA.
CONSTRAINING = COMPILED | {
    Api.CONSTRAINT_EAGER, Api.LINEN_UNBOX_EAGER, Api.NNX_PARAM, Api.CONVERT, Api.JIT_IN, Api.JIT_OUT,
}  # fmt: skip


def result(
    api: Api,
    mesh: Mesh | Unknown | None,
    spec: Spec | Junk | Unknown | None,
    shape: Shape | Unknown,
    held: Spec | None = None,
) -> Accepted:
    """Return the acceptance with the result's spec where it is known.

    For JIT_IN, JIT_ARGUMENT and SHARD_MAP_IN it is the argument's; but in_shardings do not change an
    argument's type, which determines the sharding along Explicit axes. A constraint preserves sharding along
    these; reshard leaves sharding along Auto axes to the compiler.
    """
    if not isinstance(spec, Spec) or not isinstance(mesh, Mesh) or api is Api.CREATE_IN_JIT:
        return Accepted()
    if api in PARAMETERS and not spec.entries:
        return Accepted()
    explicit = all_of(AxisType.EXPLICIT, mesh)
    refused = explicit and api in TYPING and empty_output(Case(mesh, spec, shape)) is not None
    returned = Returned.REFUSED if refused else None
    if api in SETTLING or (api in PARAMETERS and explicit):
        if not explicit:
            return Accepted()
        settled = spec if isinstance(shape, Unknown) else _cut(spec, shape)
        return Accepted(settled, returned=returned)
    if api is Api.JIT_IN and not all_of(AxisType.AUTO, mesh):
        return Accepted()
    left_open = api in CONSTRAINING and Marker.UNCONSTRAINED in spec.entries
    if (api in COMPILED or left_open) and not _in_type(mesh, spec):
        if not all_of(AxisType.AUTO, mesh) and (held is None or _in_type(mesh, held)):
            return Accepted()
        return _compiled(mesh, Spec(tuple(_left_open(entry) for entry in spec.entries)), shape)
    return Accepted(spec, returned=returned)


def _cut(spec: Spec, shape: Shape) -> Spec:
    return Spec(spec.entries[: len(shape)])


def _in_type(mesh: Mesh, spec: Spec) -> bool:
    """Return whether a spec names Explicit axes, or may."""
    return any(in_type(mesh, entry) is not None for entry in spec.entries)


def _left_open(entry: Entry) -> Entry:
    return Unknown("left to the compiler") if entry is Marker.UNCONSTRAINED else entry


def _compiled(mesh: Mesh, spec: Spec, shape: Shape | Unknown) -> Accepted:
    """A constraint inside jit, as seen in an output of the jit (measured; JAX documents the uneven case).

    Inside, XLA pads an uneven dimension. At an output it keeps of each entry the leading axes
    whose product divides the dimension and drops the rest. Axes of one device make no difference, and
    are left out; an array of size 0 comes out replicated. Some releases keep a part of an axis
    too (`uneven_outputs`).
    """
    if isinstance(shape, Unknown):
        return Accepted()
    empty = equal(product(shape), 0)
    if empty is not False:
        return Accepted(Spec()) if empty else Accepted()
    entries: list[Entry] = []
    replicated: list[int] = []
    kept_axes: list[tuple[Name, ...]] = []
    cut: dict[int, Name] = {}
    for dimension, (entry, size) in enumerate(zip(spec.entries, shape, strict=False)):
        if isinstance(entry, Unknown):
            entries.append(entry)
            kept_axes.append(())
            continue
        wanted = tuple(part for part in parts(entry) if ways(mesh, (part,)) != 1)
        kept = _leading_axes(mesh, wanted, size)
        if kept is None:
            return Accepted()
        if kept < len(wanted):
            replicated.append(dimension)
            if (axis := cut_axis(mesh, wanted, kept, size)) is not None:
                cut[dimension] = axis
        kept_axes.append(wanted[:kept])
        entries.append(canonical(wanted[:kept]))
    if not cut:
        return Accepted(Spec(tuple(entries)), tuple(replicated))
    fate = fate_of(mesh, kept_axes, cut)
    for dimension in cut:
        entries[dimension] = Unknown("split over a part of an axis")
    return Accepted(Spec(tuple(entries)), tuple(replicated), returned=fate)


def _leading_axes(mesh: Mesh, axes: tuple[Name, ...], size: Dim) -> int | None:
    """Return the number of leading axes that together divide the dimension; None where that is not known."""
    for count in range(len(axes), 0, -1):
        split = ways(mesh, axes[:count])
        fits = None if split is None else divisible(size, split)
        if fits is not False:
            return count if fits else None
    return 0

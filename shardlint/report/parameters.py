"""The parameters that a project's modules declare, as inference found them, on each mesh."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from shardlint.laws.core.dims import Shape
from shardlint.laws.core.values import AxisType, Mesh, Spec, Unknown, entry_axes, entry_text
from shardlint.model.spans import Span
from shardlint.model.uses import ParameterUse, Placement, ShardingUse, Use
from shardlint.report.declarations import Declarations
from shardlint.report.per_device import LogicalRules, holding, spec_on, whole_bytes
from shardlint.report.values import Holding, NamedMesh, Parameter, ParameterReport, Total
from shardlint.rules.messages.common import shape_text
from shardlint.source import Source
from shardlint.support.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class _Key:
    """The identity of a parameter: uses with equal keys are one row of a report."""

    span: Span
    owner: str
    name: str
    path: tuple[str, ...]
    shape: str | None
    dtype: str | None
    names: str | None
    axes: Spec | None


def parameter_report(
    runs: Sequence[tuple[NamedMesh | None, Sequence[Use]]],
    sources: Iterable[Source],
    limit: int,
    rules: LogicalRules | None = None,
) -> ParameterReport:
    """Combine the uses of all runs of inference: one run for each deployment mesh, or one without any.

    Without one, the meshes are those that the program itself creates; a parameter is then shown on those that
    it or its file uses. ``limit`` is in bytes: larger parameters should not be replicated everywhere.
    """
    declared = {source.path: Declarations(source) for source in sources}
    deployed = [named for named, _ in runs if named is not None]
    bound = _bound_meshes([use for _, uses in runs for use in uses]) if not deployed else {}
    meshes = tuple(deployed or [NamedMesh("the program's mesh", mesh) for mesh in bound])
    rows: dict[_Key, Parameter] = {}
    for number, (named, uses) in enumerate(runs):
        for key, group in _groups(uses).items():
            use, (count, certain) = group[0], _count(group)
            holdings: list[Holding | None] = list(rows[key].holdings) if key in rows else [None] * len(meshes)
            for place, one in enumerate(meshes):
                applies = one is named or (named is None and _meets(use, key.span, one.mesh, bound))
                if applies:
                    holdings[place] = _holding(use, one.mesh, limit, rules)
            row = rows.get(key) or _parameter(key, use, declared)
            if number and row.count != count:
                certain = False
            rows[key] = replace(
                row,
                holdings=tuple(holdings),
                count=max(row.count, count),
                alternative=row.alternative or not certain,
            )
    full = [key for key in rows if key.path]
    return report_of(meshes, [row for key, row in rows.items() if not _is_seen_in(key, rows, full)], limit)


def _is_seen_in(key: _Key, rows: Mapping[_Key, Parameter], full: Iterable[_Key]) -> bool:
    """Return whether a linen parameter with an unknown caller is one that a known caller creates."""
    return any(
        key.path == other.path[len(other.path) - len(key.path) :]
        and (key.span, key.owner, key.dtype) == (other.span, other.owner, other.dtype)
        and _says_more(other, key, rows[other].shape, rows[key].shape)
        for other in full
        if key.path
    )


def _says_more(one: _Key, other: _Key, shape: Shape | None, less: Shape | None) -> bool:
    """Return whether one parameter has the longer path, or the known shape, of two that are compatible."""
    if shape is None or (less is not None and len(less) != len(shape)):
        return False
    pairs = list(zip(shape, less or shape, strict=True))
    if any(isinstance(a, int) and isinstance(b, int) and a != b for a, b in pairs):
        return False
    known = all(isinstance(size, int) for size in shape)
    open_before = less is None or not all(isinstance(size, int) for size in less)
    return len(one.path) > len(other.path) or (known and open_before)


def report_of(
    meshes: tuple[NamedMesh, ...], parameters: Iterable[Parameter], limit: int, notes: tuple[str, ...] = ()
) -> ParameterReport:
    """Sort parameters by their size on a device, and sum them up for each mesh."""

    def heaviest(parameter: Parameter) -> tuple[float, float, str]:
        sizes = [(one.bytes or 0) * parameter.count for one in parameter.holdings if one is not None]
        return (-max(sizes, default=0), -(parameter.bytes or 0) * parameter.count, parameter.name)

    ordered = tuple(sorted(parameters, key=heaviest))
    return ParameterReport(
        meshes, ordered, tuple(total(ordered, i) for i in range(len(meshes))), limit, notes
    )


def total(parameters: Iterable[Parameter], mesh: int) -> Total:
    """Return sums for each device of a mesh. Unknown and possibly absent parameters are counted
    separately.
    """
    device = whole = counted = unsummed = 0
    for parameter in parameters:
        size = parameter.holdings[mesh]
        if size is None:
            continue
        if size.bytes is None or parameter.bytes is None or parameter.alternative:
            unsummed += parameter.count
            continue
        device += size.bytes * parameter.count
        whole += parameter.bytes * parameter.count
        counted += parameter.count
    return Total(device, whole, counted, unsummed)


def _groups(uses: Iterable[Use]) -> dict[_Key, list[ParameterUse]]:
    groups: dict[_Key, list[ParameterUse]] = {}
    for use in uses:
        if not isinstance(use, ParameterUse):
            continue
        key = _Key(
            use.place.resolve(),
            use.owner,
            use.name,
            use.path,
            None if isinstance(use.shape, Unknown) else shape_text(use.shape),
            use.dtype,
            names_text(use.names),
            use.axes,
        )
        groups.setdefault(key, []).append(use)
    return groups


def _count(alike: Sequence[ParameterUse]) -> tuple[int, bool]:
    """Return the number of parameters in these uses, and whether all are certainly created.

    A path is one parameter however often a program initializes its module. Of alternatives only one is
    created.
    """
    chances = max(use.variants for use in alike)
    sure = chances == len({use.variant for use in alike if use.variants == chances})
    return 1 if alike[0].path else max(1, len(alike) // chances), sure


def _bound_meshes(uses: Iterable[Use]) -> dict[Mesh, set[str]]:
    """Return the meshes of known sizes that a program creates, each with its files."""
    found: dict[Mesh, set[str]] = {}
    for use in uses:
        for mesh in _meshes_of(use):
            found.setdefault(mesh, set()).add(use.place.path)
    return found


def _meshes_of(use: Use) -> list[Mesh]:
    own = use.mesh if isinstance(use, (ParameterUse, Placement, ShardingUse)) else None
    meshes = [mesh for mesh in (own, use.environment.context_mesh) if isinstance(mesh, Mesh)]
    return [
        _plain(mesh) for mesh in meshes if mesh.names and all(isinstance(size, int) for size in mesh.sizes)
    ]


def _plain(mesh: Mesh) -> Mesh:
    """Return a mesh with Auto axes only: axis types do not affect sizes on a device."""
    return Mesh(mesh.names, mesh.sizes, (AxisType.AUTO,) * len(mesh.names))


def _meets(use: ParameterUse, span: Span, mesh: Mesh, bound: Mapping[Mesh, set[str]]) -> bool:
    own = _meshes_of(use)
    here = [one for one, paths in bound.items() if span.path in paths]
    return mesh in (own or here or bound)


def _holding(use: ParameterUse, mesh: Mesh, limit: int, rules: LogicalRules | None) -> Holding:
    spec, problem = spec_on(mesh, use.names, use.axes, use.library, rules)
    shape = None if isinstance(use.shape, Unknown) else use.shape
    if spec is None:
        return Holding(problem=problem)
    return holding(mesh, spec, shape, use.dtype, limit)[0]


def _parameter(key: _Key, use: ParameterUse, declared: Mapping[str, Declarations]) -> Parameter:
    shape: Shape | None = None if isinstance(use.shape, Unknown) else use.shape
    here = declared[key.span.path].at(key.span) if key.span.path in declared else None
    module = (here.module if here else "") or ("" if "." in use.owner else use.owner)
    attribute = [] if use.path or here is None or not here.attribute else [here.attribute]
    # A bare `nnx.Param` is named after its attribute.
    last = [] if attribute and use.owner.startswith("nnx.") and use.name == "value" else [use.name]
    return Parameter(
        path=".".join(use.path or [*attribute, *last]),
        shape=shape,
        dtype=use.dtype,
        bytes=whole_bytes(shape, use.dtype),
        holdings=(),
        module=module,
        owner=use.owner,
        names=names_text(use.names),
        labels=labels_of(use.names),
        span=key.span,
    )


def labels_of(names: Spec | str | Unknown | None) -> tuple[str, ...]:
    """Return the name of each dimension in partitioning names, empty where it has none or several."""
    if not isinstance(names, Spec):
        return ()
    return tuple(axes[0] if len(axes := entry_axes(entry)) == 1 else "" for entry in names.entries)


def names_text(names: Spec | str | Unknown | None) -> str | None:
    """Return partitioning names as written: a tuple, or a string in quotes; None where there are none."""
    if names is None:
        return None
    if isinstance(names, Unknown):
        return "?"
    return entry_text(names) if isinstance(names, str) else entry_text(names.entries)

"""The parameters that a project's modules declare, as inference found them, on each mesh."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from shardlint.laws.core.dims import Shape
from shardlint.laws.core.values import AxisType, Mesh, Spec, Unknown, entry_axes, entry_text
from shardlint.laws.core.verdicts import Accepted
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
    runs: Sequence[tuple[NamedMesh | None, Sequence[Sequence[Use]]]],
    sources: Iterable[Source],
    limit: int,
    rules: LogicalRules | None = None,
) -> ParameterReport:
    """Combine the uses of all runs of inference: one run for each deployment mesh, or one without any.

    A run has the uses of each program. Without a deployment mesh, the meshes are those that the programs
    create; a parameter is then shown on those that it or its file uses, and meshes without parameters are
    left out. A parameter that several programs make is one: the number is that of the program with most.
    ``limit`` is in bytes: larger parameters should not be replicated everywhere.
    """
    declared = {source.path: Declarations(source) for source in sources}
    deployed = [named for named, _ in runs if named is not None]
    everything = [use for _, programs in runs for uses in programs for use in uses]
    bound = _bound_meshes(everything) if not deployed else {}
    meshes = tuple(deployed or [NamedMesh("the program's mesh", mesh) for mesh in bound])
    rows: dict[_Key, Parameter] = {}
    for number, (named, programs) in enumerate(runs):
        for key, groups in _groups(programs).items():
            placed = (use for group in groups for use in group if isinstance(use.mesh, Mesh))
            use = next(placed, groups[0][0])
            counts = [_count(group) for group in groups]
            count, certain = max(counts)[0], any(certain for _, certain in counts)
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
    kept = [row for key, row in rows.items() if not _is_seen_in(key, rows)]
    if not deployed and any(one is not None for row in kept for one in row.holdings):
        used = [at for at in range(len(meshes)) if any(row.holdings[at] is not None for row in kept)]
        kept = [replace(row, holdings=tuple(row.holdings[at] for at in used)) for row in kept]
        meshes = tuple(meshes[at] for at in used)
    return report_of(meshes, kept, limit)


def _is_seen_in(key: _Key, rows: Mapping[_Key, Parameter]) -> bool:
    """Return whether a parameter with an unknown caller is one that a known caller creates."""
    return any(
        bool(key.path) == bool(other.path)
        and key.path == other.path[len(other.path) - len(key.path) :]
        and (key.span, key.owner, key.dtype) == (other.span, other.owner, other.dtype)
        and (key.path or key.name == other.name)
        and _says_more(other, key, rows[other].shape, rows[key].shape)
        for other in rows
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
    """Sort parameters by their size on a device, an optimizer's state last, and sum them up for each mesh."""

    def heaviest(parameter: Parameter) -> tuple[bool, float, float, str]:
        sizes = [(one.bytes or 0) * parameter.count for one in parameter.holdings if one is not None]
        whole = (parameter.bytes or 0) * parameter.count
        return (parameter.state, -max(sizes, default=0), -whole, parameter.name)

    ordered = tuple(sorted(parameters, key=heaviest))
    return ParameterReport(
        meshes, ordered, tuple(total(ordered, i) for i in range(len(meshes))), limit, notes
    )


def total(parameters: Iterable[Parameter], mesh: int) -> Total:
    """Return sums for each device of a mesh. Unknown and possibly absent parameters are counted
    separately.
    """
    device = whole = counted = unsummed = state = 0
    for parameter in parameters:
        size = parameter.holdings[mesh]
        if size is None:
            continue
        if parameter.state:
            state += (size.bytes or 0) * parameter.count
            continue
        if size.bytes is None or parameter.bytes is None or parameter.alternative:
            unsummed += parameter.count
            continue
        device += size.bytes * parameter.count
        whole += parameter.bytes * parameter.count
        counted += parameter.count
    return Total(device, whole, counted, unsummed, state)


def _groups(programs: Iterable[Iterable[Use]]) -> dict[_Key, list[list[ParameterUse]]]:
    """Return the uses of each parameter, program by program."""
    groups: dict[_Key, dict[int, list[ParameterUse]]] = {}
    for number, uses in enumerate(programs):
        for use in uses:
            if isinstance(use, ParameterUse):
                groups.setdefault(_key(use), {}).setdefault(number, []).append(use)
    return {key: list(found.values()) for key, found in groups.items()}


def _key(use: ParameterUse) -> _Key:
    return _Key(
        use.place.resolve(),
        use.owner,
        use.name,
        use.path,
        None if isinstance(use.shape, Unknown) else shape_text(use.shape),
        use.dtype,
        names_text(use.names),
        use.axes,
    )


def _count(alike: Sequence[ParameterUse]) -> tuple[int, bool]:
    """Return the number of parameters in these uses, and whether all are certainly created.

    A path is one parameter however often a program initializes its module. Of alternatives only one is
    created.
    """
    chances = max(use.variants for use in alike)
    sure = chances == len({use.variant for use in alike if use.variants == chances})
    copies = max(use.copies for use in alike)
    return 1 if alike[0].path else max(1, sum(use.copies for use in alike) // chances, copies), sure


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
    # What JAX replicates in silence, it holds whole.
    dropped = use.verdict.replicated if isinstance(use.verdict, Accepted) else ()
    spec = Spec(tuple(None if at in dropped else entry for at, entry in enumerate(spec.entries)))
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
        state=use.state,
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

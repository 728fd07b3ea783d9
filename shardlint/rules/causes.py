"""One cause for the findings that one edit repairs: at the mesh, call, spec or array to change."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from shardlint.laws.core.values import AxisType, Mesh
from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.laws.versions import Release
from shardlint.model.findings import Finding, Fix, RootCause
from shardlint.model.spans import Place, Span
from shardlint.model.uses import MeshUse, OperationUse, ParameterUse, Placement, ShardingUse, Use
from shardlint.rules.messages.common import entry_place, is_nnx, spec_text
from shardlint.source.sources import Source
from shardlint.support.lazy_dataclass import dataclass

#: Rejections that are about Explicit axes only: on Auto axes there is nothing to reject.
_EXPLICIT_ONLY = frozenset({"SHL701", "SHL702", "SHL703", "SHL704", "SHL705", "SHL706"})
#: Mistakes in an entry of a spec; one entry may have several of them.
_OF_ENTRIES = frozenset({"SHL103", "SHL201", "SHL202", "SHL203", "SHL205"})
#: Mistakes that another size of the array repairs.
_OF_SIZES = frozenset({"SHL202", "SHL205"})


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A possible cause. Findings with an equal ``key`` have it together; ``rank`` is preferred when low."""

    key: Hashable
    rank: int
    place: Place
    message: str
    fix: Fix | None = None


def with_causes(
    findings: Sequence[Finding], uses: Iterable[Use], sources: Mapping[str, Source], release: Release
) -> list[Finding]:
    """Return the findings in their order; two or more that one edit repairs share their `RootCause`.

    Of several possible causes of a finding, the one with most findings counts.
    """
    judged = [(number, finding.use) for number, finding in enumerate(findings) if _is_caused(finding)]
    if len(judged) < 2:
        return list(findings)
    meshes = _Meshes(uses, sources, release)
    groups: dict[Hashable, tuple[_Candidate, list[int]]] = {}
    for number, use in judged:
        assert use is not None
        for candidate in _candidates(findings[number], use, meshes):
            groups.setdefault(candidate.key, (candidate, []))[1].append(number)
    caused: dict[int, RootCause] = {}
    while groups:
        key = min(groups, key=lambda key: (-len(groups[key][1]), groups[key][0].rank))
        candidate, numbers = groups.pop(key)
        if len(numbers) < 2:
            break
        cause = RootCause(candidate.place.resolve(), candidate.message, len(numbers), candidate.fix)
        caused |= dict.fromkeys(numbers, cause)
        taken = set(numbers)
        groups = {
            key: (other, left)
            for key, (other, ours) in groups.items()
            if (left := [n for n in ours if n not in taken])
        }
    return [
        replace(finding, cause=caused[number]) if number in caused else finding
        for number, finding in enumerate(findings)
    ]


def _is_caused(finding: Finding) -> bool:
    return finding.use is not None and not finding.expected and finding.severity.value != "info"


def _candidates(finding: Finding, use: Use, meshes: _Meshes) -> Iterator[_Candidate]:
    if finding.fix is not None:
        first = finding.fix.edits[0].span
        yield _Candidate(("fix", finding.fix.edits), 0, first, finding.fix.message, finding.fix)
    if finding.code in _EXPLICIT_ONLY and isinstance(use.verdict, Rejected):
        for mesh in dict.fromkeys(_meshes_of(use)):
            if (made := meshes.explicit_by_default(mesh)) is not None:
                yield _Candidate(("types", made[0]), 1, made[0], _EXPLICIT, made[1])
    if isinstance(use.verdict, Rejected) and use.verdict.cause is Cause.NO_MESH:
        for fact in use.facts:
            if fact.kind == "call":
                yield _Candidate(("mesh", fact.place.resolve()), 2, fact.place, _no_mesh(use))
    if finding.code in _OF_ENTRIES and isinstance(use, Placement | ParameterUse | ShardingUse):
        dimension = getattr(use.verdict, "dimension", None)
        place = entry_place(use, dimension)
        if place.resolve() != finding.span:
            text = f"{spec_text(use)}, which is written here, does not fit"
            yield _Candidate(("entry", finding.code, place.resolve()), 3, place, text)
    if finding.code in _OF_SIZES and isinstance(use, Placement):
        for fact in use.facts:
            if fact.kind == "shape":
                dimension = getattr(use.verdict, "dimension", None)
                key = ("size", finding.code, fact.place.resolve(), dimension)
                yield _Candidate(key, 4, fact.place, f"{fact.message}, which does not fit")


_EXPLICIT = (
    "since JAX 0.9 `make_mesh` makes Explicit axes, on which shardings are part of types: "
    "pass axis_types=(AxisType.Auto, ...) if JAX is to choose them"
)


def _no_mesh(use: Use) -> str:
    more = " (`with mesh:` sets none for nnx)" if is_nnx(use) else ""
    return f"no mesh is set at this call: make it under `with jax.set_mesh(mesh):`{more}"


def _meshes_of(use: Use) -> Iterator[Mesh]:
    """Yield the meshes that a use is about."""
    if isinstance(use, OperationUse):
        for kind in use.operands:
            if kind.sharding is not None and kind.sharding.mesh is not None:
                yield kind.sharding.mesh
    mesh = getattr(use, "mesh", None)
    if isinstance(mesh, Mesh):
        yield mesh


class _Meshes:
    """The meshes that a program makes, and the fixes that make their axes Auto."""

    def __init__(self, uses: Iterable[Use], sources: Mapping[str, Source], release: Release) -> None:
        self._made = [use for use in uses if isinstance(use, MeshUse) and isinstance(use.names, tuple)]
        self._sources, self._release = sources, release
        self._fixes: dict[Span, Fix | None] = {}

    def explicit_by_default(self, mesh: Mesh) -> tuple[Span, Fix] | None:
        """Return the call that makes a mesh Explicit without saying so, and its fix; None if it is not known
        which call that is.
        """
        if AxisType.EXPLICIT not in mesh.types:
            return None
        spans = {
            use.place.resolve(): use
            for use in self._made
            if use.function == "make_mesh" and (use.names, use.shape) == (mesh.names, mesh.sizes)
        }
        if len(spans) != 1:
            return None
        ((span, use),) = spans.items()
        if span not in self._fixes:
            self._fixes[span] = self._fix(use, span)
        fix = self._fixes[span]
        return None if fix is None else (span, fix)

    def _fix(self, use: MeshUse, span: Span) -> Fix | None:
        from shardlint.fixes.rewrites.axis_types import with_axis_types

        source = self._sources.get(span.path)
        return None if source is None else with_axis_types(use, source, AxisType.AUTO, self._release)

"""Coverage of a tree: the sites in its text, compared with the uses that inference recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from shardlint.laws.core.values import Mesh, Spec, Unknown
from shardlint.laws.core.verdicts import Accepted, Rejected, Undecided
from shardlint.model.spans import Place, Span
from shardlint.model.uses import (
    CallUse,
    CollectiveUse,
    FileProblem,
    OperationUse,
    ParameterUse,
    Placement,
    ShardingUse,
    Use,
)
from shardlint.source.api_sites import Site, SiteKind, find_sites
from shardlint.source.own_calls import own_calls
from shardlint.source.sources import Source
from shardlint.support.lazy_dataclass import dataclass

#: The site kinds that a use of each kind may belong to.
_KINDS: dict[type[Use], frozenset[SiteKind]] = {
    Placement: frozenset({SiteKind.PLACEMENT, SiteKind.CONSTRAINT, SiteKind.PARAMETER}),
    OperationUse: frozenset({SiteKind.PLACEMENT}),
    ParameterUse: frozenset({SiteKind.PARAMETER}),
    CollectiveUse: frozenset({SiteKind.COLLECTIVE}),
    ShardingUse: frozenset({SiteKind.SHARDING}),
    CallUse: frozenset({SiteKind.PLACEMENT, SiteKind.CONSTRAINT, SiteKind.COLLECTIVE, SiteKind.SHARDING}),
}
NEVER = "no call that reaches it was followed"


@dataclass(frozen=True, slots=True)
class Judged:
    """The coverage of one site: whether a use was recorded there, and which parts of it were judged.

    ``axes``: its axis names against a mesh; ``rank``: its spec against an array's rank; ``sizes``: all of
    JAX's checks. ``reason`` names the missing fact, None where nothing is missing.
    """

    site: Site
    reached: bool = False
    axes: bool = False
    rank: bool = False
    sizes: bool = False
    reason: str | None = NEVER


def coverage(sites: Sequence[Site], uses: Iterable[Use]) -> list[Judged]:
    """Match the sites of a tree with its uses; of several uses at one site the best-known counts."""
    by_file: dict[tuple[str, int | None], list[int]] = {}
    for number, site in enumerate(sites):
        by_file.setdefault((site.span.path, site.span.cell), []).append(number)
    judged = [Judged(site) for site in sites]
    for use in uses:
        for number in _sites_of(use, sites, by_file):
            judged[number] = _better(judged[number], use)
    return judged


def _sites_of(use: Use, sites: Sequence[Site], by_file: dict[tuple[str, int | None], list[int]]) -> set[int]:
    """Return the sites of a use: the innermost around its place, and around those of its parts."""
    kinds = _KINDS.get(type(use), frozenset())
    visited: set[int] = set()
    name = use.function.rpartition(".")[2] if isinstance(use, CallUse) else None
    if isinstance(use, CallUse) and use.silent is not None:
        return visited
    for place in _places(use) if kinds else ():
        span = place.resolve()
        holding = [
            n
            for n in by_file.get((span.path, span.cell), ())
            if sites[n].kind in kinds and name in (None, sites[n].name) and _holds(sites[n].span, span)
        ]
        if holding:
            visited.add(max(holding, key=lambda n: (sites[n].span.line, sites[n].span.column)))
    return visited


def _places(use: Use) -> Iterator[Place]:
    """Yield the place of a use, and those of its spec, its names and other parts."""
    yield use.place
    yield from (fact.place for fact in use.facts)
    if isinstance(use, Placement | ShardingUse | ParameterUse):
        yield from (place for place in use.entry_places if place is not None)
    if isinstance(use, ParameterUse):
        yield from (place for place in (use.names_place, use.initializer_place) if place is not None)


def _holds(outer: Span, inner: Span) -> bool:
    starts = (outer.line, outer.column) <= (inner.line, inner.column)
    return starts and (inner.line, inner.column) < (outer.end_line, outer.end_column)


def _better(known: Judged, use: Use) -> Judged:
    """Return the coverage of a site updated with one more use of it."""
    axes, rank, reason = _parts(use)
    decided = not isinstance(use.verdict, Undecided)
    if isinstance(use.verdict, Rejected):
        axes = rank = True
    if isinstance(use.verdict, Undecided) and reason is None:
        reason = use.verdict.reason
    sizes = known.sizes or (axes and rank and decided)
    first = not known.reached or (axes, rank) > (known.axes, known.rank)
    return Judged(
        known.site,
        reached=True,
        axes=known.axes or axes,
        rank=known.rank or rank,
        sizes=sizes,
        reason=None if sizes else reason if first else known.reason,
    )


def _parts(use: Use) -> tuple[bool, bool, str | None]:
    """Return whether the mesh and the rank are known, and the reason for the first that is not."""
    match use:
        case CollectiveUse():
            bound = use.environment.bound_axes
            return not isinstance(bound, Unknown), True, _reason(bound)
        case OperationUse():
            mesh, kind = use.environment.context_mesh, next(iter(use.operands), None)
            return isinstance(mesh, Mesh), kind is not None and kind.shape is not None, _reason(mesh)
        case CallUse():
            # It is judged as a whole.
            judged = isinstance(use.verdict, Accepted)
            return judged, judged, None
        case ShardingUse():
            return isinstance(use.mesh, Mesh), True, _reason(use.mesh)
        case Placement() | ParameterUse():
            spec = use.spec if isinstance(use, Placement) else use.names
            # Names that stand for no dimension are too many for none.
            fits = not isinstance(spec, Unknown) and not isinstance(use.shape, Unknown)
            empty = isinstance(spec, Spec) and not spec.entries
            return isinstance(use.mesh, Mesh), fits or empty, _reason(use.mesh, spec, use.shape)
    return False, False, None


def _reason(*parts: object) -> str | None:
    return next((part.reason for part in parts if isinstance(part, Unknown)), None)


def problem_of(one: Judged) -> FileProblem:
    """Return a note about the unjudged parts of a site."""
    open_parts = [
        words
        for known, words in ((one.axes, "its axis names"), (one.rank, "its rank"), (one.sizes, "its sizes"))
        if not known
    ]
    unjudged = "it" if not one.reached else " and ".join(open_parts)
    text = f"`{one.site.name}`: {unjudged} could not be judged: {one.reason}"
    return FileProblem("unresolved", text, one.site.span)


def reasons(judged: Iterable[Judged]) -> list[tuple[str, int]]:
    """Return the reasons for unjudged parts, the most frequent first."""
    return Counter(one.reason for one in judged if one.reason is not None).most_common()


def worst_files(judged: Iterable[Judged]) -> list[tuple[str, int, int]]:
    """Return path, open sites and sites of each file that has open ones, the most open first."""
    sites: Counter[str] = Counter()
    unresolved: Counter[str] = Counter()
    for one in judged:
        sites[one.site.span.path] += 1
        unresolved[one.site.span.path] += not one.sizes
    return [(path, count, sites[path]) for path, count in unresolved.most_common() if count]


def coverage_of(sources: Iterable[Source], programs: Iterable[Iterable[Use | FileProblem]]) -> list[Judged]:
    """Return what was judged at the calls of sharding APIs in the text of sources, by programs' uses."""
    held = list(sources)
    own = own_calls(held)
    sites = [
        site
        for source in held
        for site in find_sites(source)
        if (site.span.path, site.span.cell, site.span.line, site.span.end_line, site.name) not in own
    ]
    return coverage(sites, (use for uses in programs for use in uses if isinstance(use, Use)))

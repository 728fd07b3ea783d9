"""``shardlint coverage``: the share of a tree that was understood, and the reasons for the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

from shardlint.output.tables.writer import drawing
from shardlint.report.api_coverage import Judged, reasons, worst_files
from shardlint.source.api_sites import SiteKind
from shardlint.support.media import json_document, terminal

if TYPE_CHECKING:
    from rich.console import Console

_WIDTH = 120
_COLUMNS = ("sites", "reached", "axes", "rank", "sizes")
_WORDS = ("kind", "reason", "file", "function")
_OF = ("judged", "sites")
#: The kinds of site at which a spec is applied to an array or a parameter.
PLACING = frozenset({SiteKind.PLACEMENT, SiteKind.CONSTRAINT, SiteKind.PARAMETER})
_SHOWN = 12
_MOST_ASKED = 30


#: A function about which JAX was asked, the number of different calls, and how many of them it accepted.
Asked = tuple[str, int, int]


def write(judged: Sequence[Judged], stream: TextIO, asked: Sequence[Asked] | None = None) -> None:
    """Write the counts by kind, the reasons for unjudged parts, and the files with the most of them.

    ``asked`` are the functions about which JAX was asked; None if none was.
    """
    with drawing(stream, _WIDTH) as console:
        _draw(judged, asked, console)


_LEGEND = """\
sites: calls of sharding APIs in the text; reached: a path to the call was followed; judged: compared with
the mesh (axis names), the array's rank, and all that JAX checks (all judged); open: not all of it is known.
"""


def _draw(judged: Sequence[Judged], asked: Sequence[Asked] | None, console: Console) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    def table(*columns: str) -> Table:
        drawn = Table(box=SIMPLE_HEAD)
        for column in columns:
            drawn.add_column(column, justify="left" if column in _WORDS else "right")
        return drawn

    if asked is not None:
        known = table("function", "calls asked about", "answered")
        for function, calls, answered in asked[:_MOST_ASKED]:
            known.add_row(terminal(function), str(calls), str(answered))
        console.print(
            known
            if asked
            else "No call was asked about: none of a function that is not known, on arrays of known sizes."
        )
    if not judged:
        console.print("No call of a sharding API was found.")
        return
    counts = table("kind", "sites", "reached", "axis names judged", "rank judged", "all judged")
    for kind, row in by_kind(judged).items():
        counts.add_row(kind, *(_share(row[column], row["sites"]) for column in _COLUMNS))
    console.print(counts)
    for text in (_LEGEND, *_in_words(judged)):
        console.print(text)
    why = table("reason", "sites")
    for reason, count in reasons(judged)[:_SHOWN]:
        why.add_row(terminal(reason), str(count))
    worst = table("file", "open", "sites")
    for path, unresolved, sites in worst_files(judged)[:_SHOWN]:
        worst.add_row(terminal(path), str(unresolved), str(sites))
    for drawn in (why, worst):
        if drawn.row_count:
            console.print(drawn)


def _in_words(judged: Sequence[Judged]) -> Iterator[str]:
    """Yield the two most informative shares in words."""
    naming, placing = shares(judged)
    for (count, of), what in (
        (naming, "name an axis were judged against a mesh"),
        (placing, "place or constrain an array or a parameter were judged for rank"),
    ):
        if of:
            yield f"{count / of:.0%} of the {of} calls that {what}."


def shares(judged: Sequence[Judged]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return two pairs of the number judged and the number of calls.

    The first: calls that name an axis, judged against a mesh; the second: calls that place or constrain an
    array or a parameter, judged for rank.
    """
    naming = [one for one in judged if one.site.named]
    placing = [one for one in judged if one.site.kind in PLACING]
    return (sum(one.axes for one in naming), len(naming)), (sum(one.rank for one in placing), len(placing))


def _share(count: int, sites: int) -> str:
    return str(count) if count == sites else f"{count} ({count / sites:.0%})"


def by_kind(judged: Sequence[Judged]) -> dict[str, dict[str, int]]:
    """Return the number of sites of each kind, and of those judged; the last row is the total."""
    rows = {}
    for kind in (*SiteKind, "all"):
        ours = [one for one in judged if kind in (one.site.kind, "all")]
        if ours:
            rows[str(kind)] = {
                "sites": len(ours),
                "named": sum(one.site.named for one in ours),
                "reached": sum(one.reached for one in ours),
                "axes": sum(one.axes for one in ours),
                "rank": sum(one.rank for one in ours),
                "sizes": sum(one.sizes for one in ours),
            }
    return rows


def as_json(judged: Sequence[Judged], asked: Sequence[Asked] | None = None) -> str:
    """Return the same as one JSON object, with every site that is not completely judged."""
    unresolved = [
        {
            "path": one.site.span.path,
            "line": one.site.span.line,
            "column": one.site.span.column,
            **({} if one.site.span.cell is None else {"cell": one.site.span.cell}),
            "kind": one.site.kind,
            "name": one.site.name,
            "reached": one.reached,
            "axes": one.axes,
            "rank": one.rank,
            "reason": one.reason,
        }
        for one in judged
        if not one.sizes
    ]
    naming, placing = shares(judged)
    shared = {"naming": dict(zip(_OF, naming, strict=True)), "placing": dict(zip(_OF, placing, strict=True))}
    counted = {
        "shares": shared,
        "kinds": by_kind(judged),
        "reasons": dict(reasons(judged)),
        "unresolved": unresolved,
    }
    if asked is not None:
        counted["asked"] = [dict(zip(("function", "calls", "answered"), row, strict=True)) for row in asked]
    return json_document(counted)

"""Axis names to complete in a string under the cursor, from the text before it and the file's analysis.

The text may be broken, as it is while being typed: it is only read up to the string, token by token.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from shardlint.ide.axis_index import needs_no_escapes
from shardlint.laws.core.dims import Dim
from shardlint.laws.core.values import Mesh
from shardlint.model.uses import ShardingUse, SpecUse, Use, ValueUse
from shardlint.source.sources import Source
from shardlint.support.lazy_dataclass import dataclass

#: Functions with arguments that name axes, by the last part of their name.
_SPECS = frozenset({"P", "PartitionSpec", "with_partitioning"})
_COLLECTIVES = frozenset(
    "psum pmean pmax pmin ppermute pshuffle pswapaxes all_gather all_to_all psum_scatter ragged_all_to_all "
    "axis_index axis_size pvary pcast pbroadcast".split()
)
_CALLED = re.compile(r"(?:[\w.]*\.)?(\w+)\(")
_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)
    |(?P<string>[rRuUbBfF]{0,2}(?:\"\"\"(?:\\.|[^\\])*?(?:\"\"\"|\Z)|'''(?:\\.|[^\\])*?(?:'''|\Z)
        |"(?:\\.|[^"\\\n])*(?:"|(?=\n)|\Z)|'(?:\\.|[^'\\\n])*(?:'|(?=\n)|\Z)))
    |(?P<open>[(\[{])|(?P<close>[)\]}])
    |(?P<name>[^\W\d][\w.]*)
    |(?P<other>\S)""",
    re.VERBOSE | re.DOTALL,
)
#: Lines before the cursor that are examined: a call is not longer.
_MOST_LINES = 200


@dataclass(frozen=True, slots=True)
class Writing:
    """A string under the cursor: the column after its quote (from 1), its text so far, and the enclosing
    calls.

    The innermost call is first, each with the first name in it.
    """

    column: int
    text: str
    calls: tuple[tuple[str, str | None], ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate axis: its name, its size, and its mesh.

    ``mesh`` is None for one that `vmap` binds; ``rank`` is 0 for the likeliest.
    """

    name: str
    size: Dim | None
    mesh: Mesh | None
    rank: int


def writing_at(lines: Sequence[str], line: int, column: int) -> Writing | None:
    """Return the string under the cursor, None where there is none. Lines and columns count from 1."""
    first = max(0, line - _MOST_LINES)
    before = "\n".join([*lines[first : line - 1], lines[line - 1][: column - 1]])
    calls: list[tuple[str, str | None]] = []
    last: str | None = None
    for token in _TOKEN.finditer(before):
        kind = token.lastgroup
        if kind == "open":
            calls.append((last or "", None))
        elif kind == "close":
            calls = calls[:-1]
        elif kind == "name" and calls and calls[-1][1] is None:
            calls[-1] = (calls[-1][0], token[0])
        elif kind == "string" and token.end() == len(before) and not _is_closed(token[0]):
            quote = re.match(r"[rRuUbBfF]{0,2}('''|\"\"\"|'|\")", token[0])
            text = token[0][quote.end() if quote else 0 :]
            return None if "\n" in text else Writing(column - len(text), text, tuple(reversed(calls)))
        last = token[0] if kind == "name" else None
    return None


def _is_closed(literal: str) -> bool:
    found = re.match(r"[rRuUbBfF]{0,2}('''|\"\"\"|'|\")", literal)
    assert found is not None
    rest = literal[found.end() :]
    return rest.endswith(found[1]) and not re.search(r"(?<!\\)(\\\\)*\\$", rest[: -len(found[1])])


class Scopes:
    """The meshes of a file, from the uses of its analysis."""

    def __init__(self, source: Source, uses: Sequence[Use]) -> None:
        self._taking = {*_SPECS, *_COLLECTIVES, *_written_specs(source, uses)}
        #: Meshes by the names bound to them and by the lines where they are in context; the axes that `vmap`
        #: binds.
        self._held: dict[tuple[str | None, Mesh], None] = {}
        self._around: dict[int, Mesh] = {}
        self._bound: dict[str, Dim] = {}
        for use in uses:
            mesh, place, bound = use.environment.context_mesh, use.place.resolve(), use.environment.bound_axes
            if isinstance(mesh, Mesh) and mesh.names and place.path == source.path:
                self._around[place.line] = mesh
            if isinstance(use, ValueUse | ShardingUse) and isinstance(use.mesh, Mesh):
                self._held[use.name if isinstance(use, ValueUse) else None, use.mesh] = None
            self._bound.update(bound if isinstance(bound, tuple) else ())

    def candidates(self, writing: Writing, line: int, others: Iterable[Mesh] = ()) -> list[Candidate]:
        """Return the axes that a string may name, the likeliest first; none where no enclosing call takes
        any.

        ``others`` are meshes of the project's other files.
        """
        names = [name.rpartition(".")[2] for name, _ in writing.calls]
        if self._taking.isdisjoint(names) and not self._sizes_of(writing):
            return []
        ranked = [*self._ranked(writing, line), *((3, mesh) for mesh in others)]
        found: dict[str, Candidate] = {}
        for rank, mesh in sorted(ranked, key=lambda pair: pair[0]):
            for name, size in zip(mesh.names, mesh.sizes, strict=True):
                found.setdefault(str(name), Candidate(str(name), size, mesh, rank))
        if not _COLLECTIVES.isdisjoint(names):
            for name, size in self._bound.items():
                found.setdefault(str(name), Candidate(str(name), size, None, 2))
        fit = (candidate for candidate in found.values() if needs_no_escapes(candidate.name))
        return sorted(fit, key=lambda candidate: candidate.rank)

    def _ranked(self, writing: Writing, line: int) -> Iterator[tuple[int, Mesh]]:
        """Yield the meshes of the file: that of an enclosing call, that of the context, and the others."""
        given = {first for _, first in writing.calls if first is not None} | {self._sizes_of(writing)}
        for name, mesh in self._held:
            yield 0 if name in given else 2, mesh
        if self._around:
            yield 1, self._around[min(self._around, key=lambda at: abs(at - line))]

    def _sizes_of(self, writing: Writing) -> str | None:
        """Return the name of the mesh whose sizes are indexed, as in ``mesh.shape["``."""
        name, _, last = writing.calls[0][0].rpartition(".") if writing.calls else ("", "", "")
        return name if last == "shape" and any(name == held for held, _ in self._held) else None


def _written_specs(source: Source, uses: Iterable[Use]) -> Iterator[str]:
    """Yield the names by which a file calls specs: the callees where one is created."""
    lines = {cell.index: cell.text.split("\n") for cell in source.cells}
    for use in uses:
        if isinstance(use, SpecUse):
            place = use.place.resolve()
            text = lines.get(place.cell, []) if place.path == source.path else []
            if place.line <= len(text) and (found := _CALLED.match(text[place.line - 1], place.column - 1)):
                yield found[1]

"""Facts of one analysis about places of a text: placed arrays, meshes, specs, and shards in bodies.

Every fact holds in all runs that were followed. Where a place was reached with several values all are listed,
and a hint is shown only where they agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property

from shardlint.laws.core.array_types import ArrayType
from shardlint.laws.core.dims import Dim, Shape, equal
from shardlint.laws.core.values import Mesh, Spec, Unknown
from shardlint.laws.core.verdicts import Accepted, Rejected
from shardlint.laws.placement.array_bytes import array_bytes, text_of_bytes
from shardlint.laws.placement.shard_shapes import global_shape, replication, shard_shape
from shardlint.model.spans import Place, Span
from shardlint.model.uses import (
    Api,
    ArrayUse,
    Fact,
    LocalUse,
    MeshUse,
    ParameterUse,
    Placement,
    ShardingUse,
    SpecUse,
    Use,
    ValueUse,
)
from shardlint.output.layout import layout_of, picture
from shardlint.support.lazy_dataclass import dataclass

#: The largest mesh whose grid is drawn, in devices.
_MOST_DRAWN = 1_024


@dataclass(frozen=True, slots=True)
class Known:
    """The facts at a place about an array, a mesh, a spec, or a name bound to one; None is unknown.

    ``shape`` and ``dtype`` are those of the whole array; for a shard in a body (``local``), its own.
    ``replicated`` are dimensions whose axes JAX drops. ``refused`` is true if JAX rejects the placement.
    ``in_jit`` is true for an array that the program places nowhere, inside `jit`. ``origins`` are the sources
    of these facts.
    """

    span: Span
    subject: str
    shape: Shape | None = None
    dtype: str | None = None
    spec: Spec | None = None
    mesh: Mesh | None = None
    local: bool = False
    replicated: tuple[int, ...] = ()
    refused: bool = False
    in_jit: bool = False
    origins: tuple[Fact, ...] = ()

    @property
    def placed(self) -> tuple[Mesh, Spec, Shape] | None:
        """Return the mesh, the spec in effect and the shape of an array; None where one is not known."""
        if self.mesh is None or self.spec is None or self.shape is None or self.refused:
            return None
        if self.spec.unreduced or self.spec.reduced:
            return None  # each device holds a part of a sum
        entries = tuple(None if i in self.replicated else e for i, e in enumerate(self.spec.entries))
        return self.mesh, Spec(entries), self.shape

    @property
    def array(self) -> str | None:
        """Return the array's dtype and shape (``f32[8, 16]``)."""
        return None if self.shape is None else type_text(self.shape, self.dtype)

    @property
    def bytes_text(self) -> str | None:
        """Return the size of the whole array in bytes, as text."""
        return None if self.shape is None else _bytes_text(self.shape, self.dtype)

    @property
    def shard(self) -> Shape | None:
        """Return the shape of each device's shard."""
        if self.placed is None:
            return None
        mesh, spec, shape = self.placed
        try:
            each = shard_shape(mesh, spec, shape)
            whole = global_shape(mesh, spec, each)
        except (ValueError, ZeroDivisionError):
            return None
        # An uneven sharding is laid out differently from its spec.
        return None if any(equal(a, b) is False for a, b in zip(whole, shape, strict=True)) else each

    @property
    def shard_text(self) -> str | None:
        """Return the dtype and shape of each device's shard."""
        return None if self.shard is None else type_text(self.shard, self.dtype)

    @property
    def shard_bytes_text(self) -> str | None:
        """Return the size of each device's shard in bytes, as text."""
        return None if self.shard is None else _bytes_text(self.shard, self.dtype)

    @property
    def copies(self) -> Dim | None:
        """Return the number of devices that hold each value."""
        return None if self.placed is None or self.shard is None else replication(*self.placed[:2])

    @property
    def picture(self) -> list[str]:
        """Return a drawing of the devices and the blocks they hold; empty where unknown or too large."""
        if self.placed is None or self.shard is None or not self.shape or not self.is_drawn:
            return []
        mesh, spec, shape = self.placed
        return picture(mesh, spec, len(shape))

    @property
    def is_drawn(self) -> bool:
        """Return whether the devices are few enough for a drawing."""
        count = None if self.mesh is None else self.mesh.device_count
        return isinstance(count, int) and count <= _MOST_DRAWN


def _bytes_text(shape: Shape, dtype: str | None) -> str | None:
    count = array_bytes(shape, dtype)
    return None if count is None else text_of_bytes(count)


def type_text(shape: Shape, dtype: str | None) -> str:
    """Return a dtype and a shape, without unknown parts: ``f32[8, 16]``."""
    return str(ArrayType(shape, dtype)).removeprefix("?")


@dataclass(frozen=True, slots=True)
class Hint:
    """A text to show after a span; ``short`` leaves out the number of devices. ``local`` for a shard in a
    body.
    """

    span: Span
    text: str
    short: str
    local: bool = False


class Knowledge:
    """The facts about places of one file, from the uses of its analysis."""

    def __init__(self, path: str, uses: Iterable[Use]) -> None:
        self._path = path
        self._uses = [use for use in uses if not use.supposed]
        self._supposed = {use.place.resolve() for use in uses if use.supposed}

    def prepare(self) -> None:
        """Compute everything, so that later queries are lookups."""
        _ = self._lines, self.hints

    def at(self, line: int, column: int, cell: int | None = None) -> list[Known]:
        """Return the facts about the innermost expression at a place: one for each possible value."""
        near = self._lines.get((cell, line), ())
        around = [span for span in near if _holds(span, line, column, cell)]
        innermost = min(around, key=_length, default=None)
        return [] if innermost is None else self._spans[innermost]

    def on_line(self, line: int, cell: int | None = None) -> list[Known]:
        """Return all facts about a line, in reading order."""
        spans = sorted(self._lines.get((cell, line), ()), key=lambda span: span.order())
        return [known for span in spans for known in self._spans[span]]

    def of(self, span: Span) -> list[Known]:
        """Return the facts about the expression with a span."""
        return self._spans.get(span, [])

    def meshes_at(self, line: int, column: int, cell: int | None = None) -> list[Span]:
        """Return the calls that build the meshes of what is at a place, in reading order."""
        return self.meshes_of(self.at(line, column, cell))

    @staticmethod
    def meshes_of(values: Iterable[Known]) -> list[Span]:
        """Return the calls that build the meshes in some facts, in reading order."""
        facts = [
            fact
            for known in values
            for fact in known.origins
            if known.mesh is not None and fact.mesh == known.mesh
        ]
        return sorted({fact.place.resolve() for fact in facts}, key=lambda span: span.order())

    @cached_property
    def mesh_names(self) -> list[Span]:
        """Return the places of names that hold meshes, and nothing else."""
        meshes: dict[Span, bool] = {}
        for use in self._uses:
            if isinstance(use, ValueUse):
                place = use.place.resolve()
                is_mesh = use.mesh is not None and use.spec is None and use.shape is None
                meshes[place] = meshes.get(place, True) and is_mesh
        return [span for span, is_mesh in meshes.items() if is_mesh and span.path == self._path]

    @cached_property
    def _lines(self) -> dict[tuple[int | None, int], list[Span]]:
        """Return the spans on each line of each cell."""
        found: dict[tuple[int | None, int], list[Span]] = {}
        for span in self._spans:
            for line in range(span.line, span.end_line + 1):
                found.setdefault((span.cell, line), []).append(span)
        return found

    @cached_property
    def _spans(self) -> dict[Span, list[Known]]:
        found: dict[Span, list[Known]] = {}
        for known in self._all():
            if known.span.path == self._path and known not in found.setdefault(known.span, []):
                found[known.span].append(known)
        return found

    def _all(self) -> Iterator[Known]:
        for use in self._uses:
            place = use.place.resolve()
            if place in self._supposed:
                continue
            if isinstance(use, Placement):
                if (known := _placement(use, place)) is not None:
                    yield known
                    yield from (replace(known, span=span) for span in self._spec_spans(use))
            elif isinstance(use, ParameterUse):
                yield _parameter(use, use.names_place.resolve() if use.names_place else place)
            elif isinstance(use, ValueUse) and not (use.environment.mapped and use.shape is not None):
                subject = f"`{use.name}`"
                yield Known(place, subject, use.shape, use.dtype, use.spec, use.mesh, origins=use.facts)
            elif isinstance(use, ArrayUse) and not use.environment.mapped:
                yield Known(place, f"`{use.name}`", use.shape, use.dtype, in_jit=use.environment.in_jit)
            elif (
                isinstance(use, LocalUse)
                and not isinstance(use.shape, Unknown)
                and not use.environment.mapped
            ):
                yield Known(place, f"`{use.name}`", use.shape, use.dtype, local=True, origins=use.facts)
            elif isinstance(use, MeshUse) and (mesh := self._mesh_at(place)) is not None:
                yield Known(place, "the mesh", mesh=mesh, origins=use.facts)

    def _mesh_at(self, place: Span) -> Mesh | None:
        """Return the mesh created at a place, if its uses identify a single one."""
        meshes = self._made.get(place, set())
        return next(iter(meshes)) if len(meshes) == 1 else None

    @cached_property
    def _made(self) -> dict[Span, set[Mesh]]:
        """Return the meshes in use, by the place of their creation."""
        found: dict[Span, set[Mesh]] = {}
        for use in self._uses:
            if isinstance(use, ValueUse | ShardingUse) and isinstance(use.mesh, Mesh):
                for fact in use.facts:
                    if fact.mesh == use.mesh:
                        found.setdefault(fact.place.resolve(), set()).add(use.mesh)
        return found

    # -- specs ----------------------------------------------------------------------------------------

    @cached_property
    def _specs(self) -> dict[tuple[Place | None, ...], set[Span]]:
        """Return the places where specs are written, by the places of their entries."""
        found: dict[tuple[Place | None, ...], set[Span]] = {}
        for use in self._uses:
            if isinstance(use, SpecUse) and any(use.entry_places):
                found.setdefault(use.entry_places, set()).add(use.place.resolve())
        return found

    def _spec_spans(self, use: Placement) -> Iterable[Span]:
        """Return the place of a placement's spec, if its entries identify it."""
        spans = self._specs.get(use.entry_places, set()) if any(use.entry_places) else set()
        return spans if len(spans) == 1 else ()

    # -- hints ----------------------------------------------------------------------------------------

    @cached_property
    def hints(self) -> list[Hint]:
        """Return the hints after specs, and after names in bodies of shard_map, in reading order."""
        found = [*self._hints_of_specs(), *self._hints_of_bodies()]
        return sorted(found, key=lambda hint: hint.span.order())

    def _hints_of_specs(self) -> Iterator[Hint]:
        """Yield the shards of a spec, where all arrays that it places have the same."""
        texts: dict[Span, set[tuple[str, str] | None]] = {}
        for use in self._uses:
            if isinstance(use, Placement):
                known = _placement(use, use.place.resolve())
                for span in self._spec_spans(use):
                    texts.setdefault(span, set()).add(None if known is None else _shard_text(known))
        for span, labels in texts.items():
            if span.path == self._path and len(labels) == 1 and (text := labels.pop()) is not None:
                yield Hint(span, f"→ {text[0]}{text[1]}", f"→ {text[0]}")

    def _hints_of_bodies(self) -> Iterator[Hint]:
        """Yield the shapes on each device of a body's parameters and variables, where all calls agree."""
        texts: dict[Span, set[str | None]] = {}
        for use in self._uses:
            if isinstance(use, LocalUse):
                unknown = isinstance(use.shape, Unknown) or use.environment.mapped
                shape = None if unknown or isinstance(use.shape, Unknown) else use.shape
                text = None if shape is None or not shape else type_text(shape, use.dtype)
                texts.setdefault(use.place.resolve(), set()).add(text)
        for span, labels in texts.items():
            text = labels.pop() if len(labels) == 1 else None
            if span.path == self._path and text is not None and "?" not in text:
                yield Hint(span, f": {text}", f": {text}", local=True)


def _placement(use: Placement, span: Span) -> Known | None:
    """Return the facts about a placement; None where some are missing."""
    layout = layout_of(use)
    if layout is None:
        return _refused(use, span)
    return Known(
        span, use.subject, layout.shape, use.dtype, layout.spec, layout.mesh,
        replicated=layout.replicated, origins=use.facts,
    )  # fmt: skip


def _refused(use: Placement, span: Span) -> Known | None:
    """Return the facts about a placement that JAX rejects; None for a body's results, shards of no array."""
    mesh, spec, shape = use.mesh, use.spec, use.shape
    if not isinstance(use.verdict, Rejected) or use.environment.mapped or use.api is Api.SHARD_MAP_OUT:
        return None
    if not isinstance(mesh, Mesh) or not isinstance(spec, Spec) or isinstance(shape, Unknown):
        return None
    return Known(span, use.subject, shape, use.dtype, spec, mesh, refused=True, origins=use.facts)


def _parameter(use: ParameterUse, span: Span) -> Known:
    subject, origins = f"parameter `{use.name}` of {use.owner}", use.facts
    layout = layout_of(use)
    if layout is not None:
        return Known(
            span,
            subject,
            layout.shape,
            use.dtype,
            layout.spec,
            layout.mesh,
            False,
            layout.replicated,
            origins=origins,
        )
    mapped = use.environment.mapped
    shape = None if isinstance(use.shape, Unknown) or mapped else use.shape
    names = use.names if isinstance(use.names, Spec) and isinstance(use.verdict, Accepted) else None
    return Known(span, subject, shape, use.dtype, use.axes or names, None, origins=origins)


def _shard_text(known: Known) -> tuple[str, str] | None:
    """Return ``f32[1024, 512]`` and `` × 8 devices``; None where a size is unnamed."""
    shard = known.shard
    if shard is None or not shard or known.mesh is None:
        return None
    text, devices = type_text(shard, known.dtype), known.mesh.device_count
    if "?" in text:
        return None
    if not isinstance(devices, int):
        return text, " on each device"
    return text, f" × {devices} device{'s' * (devices != 1)}"


def _holds(span: Span, line: int, column: int, cell: int | None) -> bool:
    return span.cell == cell and (span.line, span.column) <= (line, column) <= (
        span.end_line,
        span.end_column,
    )


def _length(span: Span) -> tuple[int, int]:
    return (span.end_line - span.line, span.end_column - span.column)

"""Facts as Markdown. Pure functions: how a place is linked is an argument."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from shardlint.api import media
from shardlint.model.spans import Span

if TYPE_CHECKING:
    from shardlint.api import Axis, Known, compiling

Links = Callable[[Sequence[Span]], str]
"""Links to places."""


def known_text(known: Known, links: Links) -> str:
    """Return the facts about an array, a mesh or a spec."""
    rows = list(_rows(known))
    text = f"**{media.markdown(known.subject)}**"
    text += "" if known.array is None else f" {media.code(known.array)}"
    text += f" ({known.bytes_text})" if known.bytes_text else ""
    parts = [text, "\n".join(f"- {name}: {value}" for name, value in rows)]
    if known.picture:
        parts.append(media.block(known.picture))
    parts.append(
        "\n".join(
            f"- {media.markdown(fact.message)} ({links([fact.place.resolve()])})" for fact in known.origins
        )
    )
    return "\n\n".join(part for part in parts if part)


def compiled_text(line: compiling.CompiledLine, stale: bool) -> str:
    """Return what devices send for a line of a compiled program, with the layouts before and after."""
    rows = []
    for one in line.sent:
        row = f"- {one.kind} over {media.code(one.axes)}: {media.markdown(one.size)}"
        row += f" ({media.markdown(one.operation)})" if one.operation else ""
        rows.append(row + (f"  \n  {media.code(one.layouts)}" if one.layouts else ""))
    since = " (before an edit)" if stale else ""
    return f"**Each device sends for this line**{since}\n\n" + "\n".join(rows)


def _rows(known: Known) -> Iterator[tuple[str, str]]:
    if known.local:
        yield "on each device", f"{media.code(str(known.array))}, inside `shard_map`"
    if known.spec is not None:
        yield "spec", media.code(str(known.spec))
    elif known.in_jit:
        yield "spec", "none is written: the compiler decides"
    if known.mesh is not None:
        kinds = list(dict.fromkeys(known.mesh.types))
        types = f"{kinds[0]} axes" if len(kinds) == 1 else f"axes {', '.join(known.mesh.types)}"
        # A number that is not known is the product of what the mesh tells already.
        devices = f"{_devices(count)}, " if isinstance(count := known.mesh.device_count, int) else ""
        yield "mesh", f"{media.code(str(known.mesh))}, {devices}{types}"
    if known.refused:
        yield "each device holds", "nothing: JAX refuses it"
    if known.shard_text is not None:
        each = f" ({known.shard_bytes_text})" if known.shard_bytes_text else ""
        yield "each device holds", f"{media.code(known.shard_text)}{each}"
    if known.copies is not None and known.mesh is not None:
        yield "every value is on", _copies(known)
    for dimension in known.replicated:
        yield "dropped", f"JAX silently replicates dimension {dimension}, which its axes do not divide"


def _copies(known: Known) -> str:
    copies, devices = known.copies, known.mesh.device_count if known.mesh is not None else None
    if copies == 1:
        return "one device"
    if not isinstance(copies, int):
        return "all devices: fully replicated" if copies == devices else f"{media.code(str(copies))} devices"
    return f"{copies} devices" + (" (all of them: fully replicated)" if copies == devices else "")


def _devices(count: int) -> str:
    return f"{count} device{'s' * (count != 1)}"


def axis_text(axis: Axis, meant: Axis | None, links: Links, where: str) -> str:
    """Return the description of an axis, with its uses, and where these were counted.

    ``meant`` is the axis whose name a misspelt one resembles.
    """
    size = f", size {axis.size}" if isinstance(axis.size, int) else ""
    name = media.markdown(f'"{axis.name}"')
    lines = [f"**{name}**: {axis.kind}{size}"]
    meshes = list(dict.fromkeys(str(mesh) for mesh in axis.meshes))
    rows = [f"- {'mesh' if len(meshes) == 1 else 'meshes'}: {', '.join(map(media.code, meshes))}"]
    rows = rows if meshes else []
    if meant is not None:
        of = f" of {media.code(str(meant.meshes[0]))}" if meant.meshes else ""
        rows.append("- did you mean " + media.code(f'"{meant.name}"') + of + "?")
    if definitions := axis.definitions:
        rows.append(f"- defined at {links(definitions)}")
    used = [one.span for one in axis.occurrences if one.span not in definitions]
    if used:
        rows.append(f"- used {len(used)} time{'s' * (len(used) != 1)} in {where}: {links(used)}")
    return "\n\n".join([*lines, "\n".join(rows)] if rows else lines)

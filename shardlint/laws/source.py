"""Constants, specs and meshes as Python source.

The names are those of a witness program: ``jax np P Mesh AbstractMesh AxisType``.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterable

from shardlint.laws.dims import Shape
from shardlint.laws.values import AxisType, Entry, Junk, Marker, Mesh, Name, Spec, Unknown


def tuple_source(parts: Iterable[str]) -> str:
    """Write a tuple of expressions: ``(a, b)``, ``(a,)``."""
    written = list(parts)
    return f"({written[0]},)" if len(written) == 1 else f"({', '.join(written)})"


def constant_source(value: object) -> str:
    """Write a constant. Members of a set stand in the order of their texts, whatever the hash seed."""
    if type(value) is tuple:
        return tuple_source(map(constant_source, value))
    if type(value) is frozenset:
        return f"frozenset({set_source(value) if value else ''})"
    return set_source(value) if type(value) is set else repr(value)


def set_source(members: Iterable[object]) -> str:
    """Write a set with these members: ``{'data', 'model'}``, ``set()``."""
    written = sorted(map(constant_source, members))
    return "{" + ", ".join(written) + "}" if written else "set()"


def keyword_source(name: str, value: str) -> str | None:
    """Write ``name=value``, or return None where a name that came through ``**`` is none of Python's."""
    return f"{name}={value}" if name.isidentifier() and not keyword.iskeyword(name) else None


def shape_source(shape: Shape) -> str | None:
    """Write a shape, or return None where a size is symbolic."""
    return repr(tuple(shape)) if all(isinstance(size, int) for size in shape) else None


def spec_source(spec: Spec) -> str | None:
    """Write ``P(...)``, or return None where an entry is not known."""
    entries = [_entry(entry) for entry in spec.entries]
    parts = [entry for entry in entries if entry is not None]
    if len(parts) < len(entries):
        return None
    marked = (("unreduced", spec.unreduced), ("reduced", spec.reduced))
    parts += [f"{keyword}={set_source(axes)}" for keyword, axes in marked if axes]
    return f"P({', '.join(parts)})"


def _entry(entry: Entry | Name) -> str | None:
    match entry:
        case Unknown():
            return None
        case Marker():
            return f"P.{entry.value}"
        case Junk():
            return entry.text
        case tuple():
            parts = [_entry(part) for part in entry]
            known = [part for part in parts if part is not None]
            return tuple_source(known) if len(known) == len(parts) else None
    return repr(entry)


def mesh_source(mesh: Mesh) -> str | None:
    """Write a call that makes the mesh, on the first devices there are; None where a size is symbolic."""
    sizes, names = shape_source(mesh.sizes), repr(mesh.names)
    if sizes is None:
        return None
    auto = set(mesh.types) <= {AxisType.AUTO}
    types = "" if auto else f", axis_types={tuple_source(f'AxisType.{kind.value}' for kind in mesh.types)}"
    if mesh.abstract:
        return f"AbstractMesh({sizes}, {names}{types})"
    return f"Mesh(np.array(jax.devices()[:{mesh.device_count}]).reshape({sizes}), {names}{types})"

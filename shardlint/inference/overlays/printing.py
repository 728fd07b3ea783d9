"""Values as Python source: what a witness needs to make the same call again.

The names are those of a witness program: ``jax jnp np lax P Mesh NamedSharding AbstractMesh AxisType``.
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.inference.values import (
    Array,
    Const,
    Devices,
    DictValue,
    External,
    ListValue,
    MeshValue,
    SetValue,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
)
from shardlint.laws.dims import Shape
from shardlint.laws.values import AxisType, Junk, Marker, Mesh, Spec, Unknown


def source_of(value: Value) -> str | None:
    """Return an expression that makes an equal value, or None where the value is not wholly known."""
    match value:
        case Const():
            return repr(value.value)
        case Tuple():
            return _sequence(value.items, "(", ",)" if len(value.items) == 1 else ")")
        case ListValue():
            return None if value.items is None else _sequence(value.items, "[", "]")
        case SetValue():
            return None if value.items is None else repr(set(value.items))
        case DictValue():
            return _dict(value)
        case SpecValue():
            return spec_source(value.spec)
        case MeshValue():
            return mesh_source(value.mesh)
        case ShardingValue():
            mesh, spec = source_of(value.mesh), source_of(value.spec)
            return None if mesh is None or spec is None else f"NamedSharding({mesh}, {spec})"
        case Array():
            return _array(value)
        case Devices():
            return _devices(value)
        case External():
            return value.name
    return None


def call_source(function: str, args: Iterable[Value], kwargs: dict[str, Value]) -> str | None:
    """Return ``function(args, key=value)``, or None where some argument is not wholly known."""
    written = [source_of(arg) for arg in args]
    named = [(key, source_of(value)) for key, value in kwargs.items()]
    if None in written or any(text is None for _, text in named):
        return None
    parts = [*(text for text in written if text is not None), *(f"{key}={text}" for key, text in named)]
    return f"{function}({', '.join(parts)})"


def spec_source(spec: Spec) -> str | None:
    """Return ``P(...)``, or None where an entry is not known."""
    entries = [_entry(entry) for entry in spec.entries]
    if None in entries:
        return None
    parts = [entry for entry in entries if entry is not None]
    marked = (("unreduced", spec.unreduced), ("reduced", spec.reduced))
    parts += [f"{keyword}={{{', '.join(map(repr, sorted(axes)))}}}" for keyword, axes in marked if axes]
    return f"P({', '.join(parts)})"


def mesh_source(mesh: Mesh) -> str | None:
    """Return a call that makes the mesh, on the first devices there are; None where sizes are symbolic."""
    sizes = _shape(mesh.sizes)
    if sizes is None:
        return None
    names = repr(mesh.names)
    types = "" if set(mesh.types) <= {AxisType.AUTO} else f", axis_types={_types(mesh)}"
    if mesh.abstract:
        return f"AbstractMesh({sizes}, {names}{types})"
    return f"Mesh(np.array(jax.devices()[:{mesh.device_count}]).reshape({sizes}), {names}{types})"


def _types(mesh: Mesh) -> str:
    inner = ", ".join(f"AxisType.{kind.value}" for kind in mesh.types)
    return f"({inner},)" if len(mesh.types) == 1 else f"({inner})"


def _sequence(items: Iterable[Value], opening: str, closing: str) -> str | None:
    written = [source_of(item) for item in items]
    if None in written:
        return None
    return opening + ", ".join(text for text in written if text is not None) + closing


def _dict(value: DictValue) -> str | None:
    if value.items is None:
        return None
    pairs = [(repr(key), source_of(item)) for key, item in value.items.items()]
    if any(text is None for _, text in pairs):
        return None
    return "{" + ", ".join(f"{key}: {text}" for key, text in pairs) + "}"


def _entry(entry: object) -> str | None:
    if isinstance(entry, Unknown):
        return None
    if isinstance(entry, Marker):
        return f"P.{entry.value}"
    if isinstance(entry, Junk):
        return entry.text
    if isinstance(entry, tuple):
        parts = [_entry(part) for part in entry]
        if None in parts:
            return None
        inner = ", ".join(part for part in parts if part is not None)
        return f"({inner},)" if len(parts) == 1 else f"({inner})"
    return repr(entry)


def _shape(shape: Shape) -> str | None:
    return repr(tuple(shape)) if all(isinstance(size, int) for size in shape) else None


def _array(value: Array) -> str | None:
    shape = None if value.shape is None else _shape(value.shape)
    if shape is None or value.dtype is None:
        return None
    library = "np" if value.numpy else "jnp"
    sharding = "" if value.sharding is None else source_of(value.sharding)
    if sharding is None:
        return None
    if value.struct:
        given = f", sharding={sharding}" if sharding else ""
        return f"jax.ShapeDtypeStruct({shape}, jnp.{value.dtype}{given})"
    made = f'{library}.ones({shape}, "{value.dtype}")'
    return f"jax.device_put({made}, {sharding})" if sharding else made


def _devices(value: Devices) -> str | None:
    shape = _shape(value.shape)
    if shape is None:
        return None
    count = 1
    for size in value.shape:
        count *= size if isinstance(size, int) else 1
    flat = f"jax.devices()[:{count}]"
    return f"np.array({flat}).reshape({shape})" if value.numpy else flat

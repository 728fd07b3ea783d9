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
from shardlint.laws.dims import product
from shardlint.laws.source import (
    constant_source,
    keyword_source,
    mesh_source,
    shape_source,
    spec_source,
    tuple_source,
)


def source_of(value: Value) -> str | None:
    """Return an expression that makes an equal value, or None where the value is not wholly known."""
    match value:
        case Const():
            return constant_source(value.value)
        case Tuple():
            items = _sources(value.items)
            return None if items is None else tuple_source(items)
        case ListValue():
            items = None if value.items is None else _sources(value.items)
            return None if items is None else f"[{', '.join(items)}]"
        case SetValue():
            return _set(value)
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
    written, named = _sources(args), _sources(kwargs.values())
    if written is None or named is None:
        return None
    keywords = [keyword_source(key, text) for key, text in zip(kwargs, named, strict=True)]
    valid = [text for text in keywords if text is not None]
    return f"{function}({', '.join([*written, *valid])})" if len(valid) == len(keywords) else None


def _sources(values: Iterable[Value]) -> list[str] | None:
    """The expressions of several values, or None where one is not wholly known."""
    written = [source_of(value) for value in values]
    known = [text for text in written if text is not None]
    return known if len(known) == len(written) else None


def _dict(value: DictValue) -> str | None:
    values = None if value.items is None else _sources(value.items.values())
    if value.items is None or values is None:
        return None
    return "{" + ", ".join(f"{key!r}: {text}" for key, text in zip(value.items, values, strict=True)) + "}"


def _set(value: SetValue) -> str | None:
    if value.items is None:
        return None
    return constant_source(value.items if value.frozen else set(value.items))


def _array(value: Array) -> str | None:
    shape = None if value.shape is None else shape_source(value.shape)
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
    shape = shape_source(value.shape)
    if shape is None:
        return None
    first = f"jax.devices()[:{product(value.shape)}]"
    return f"np.array({first}).reshape({shape})" if value.numpy else first

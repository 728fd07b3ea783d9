"""Values and calls as tagged data, from which witnesses are built: none of it is ever code.

A number, a text and a boolean represent themselves. Everything else is a tuple that begins with its tag:
``("tuple", 2, 4)``, ``("spec", ...)``, ``("call", function, args, kwargs)``. The worker knows the tags, and
the functions by their names; its module `values` describes the contents of each tag.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Union

from shardlint.laws.core.array_types import ArrayType
from shardlint.laws.core.dims import Shape
from shardlint.laws.core.values import AxisType, Data, Entry, Junk, Marker, Mesh, Name, Spec, Unknown

#: Data, or None for a value that is not completely known.
Known = Union[Data, None]
NONE: Data = ("constant", "None")
#: A function that accepts any arguments.
ANY_FUNCTION: Data = ("function", 0)
#: A function that returns its argument.
IDENTITY: Data = ("function", ("operand", 0))
NO_SPEC: Data = ("spec", (), (), ())
#: Longer numbers are not written out.
_BITS = 4096


def tagged(tag: str, parts: Iterable[Known]) -> Known:
    """Return parts under a tag, or None where one of them is not known."""
    known = tuple(parts)
    return None if None in known else (tag, *known)


def tuple_data(parts: Iterable[Known]) -> Known:
    """Return a tuple of data."""
    return tagged("tuple", parts)


def constant_data(value: object) -> Known:
    """Return a constant. Members of a set are sorted by their texts, independently of the hash seed."""
    match value:
        case bool() | float():
            return value
        case str():
            return str(value)
        case int():
            return int(value) if value.bit_length() <= _BITS else None
        case complex():
            return "complex", value.real, value.imag
        case bytes():
            return "bytes", value.decode("latin-1")
        case tuple():
            return tuple_data(map(constant_data, value))
        case frozenset() | set():
            return tagged(type(value).__name__, map(constant_data, sorted(value, key=repr)))
    named = {None: "None", Ellipsis: "Ellipsis", NotImplemented: "NotImplemented"}
    return next((("constant", name) for one, name in named.items() if one is value), None)


def shape_data(shape: Shape) -> Known:
    """Return a shape, or None where a size is symbolic."""
    return tuple_data(size if isinstance(size, int) else None for size in shape)


def spec_data(spec: Spec) -> Known:
    """Return a spec, or None where an entry is not known."""
    entries = tuple(map(entry_data, spec.entries))
    return (
        None
        if None in entries
        else ("spec", entries, tuple(sorted(spec.unreduced)), tuple(sorted(spec.reduced)))
    )


def entry_data(entry: Entry | Name) -> Known:
    """Return an entry of a spec, or None where it is not known."""
    match entry:
        case None:
            return NONE
        case Unknown():
            return None
        case Marker():
            return "constant", f"PartitionSpec.{entry.value}"
        case Junk():
            return entry.data
        case tuple():
            return tuple_data(map(entry_data, entry))
    return str(entry)


def mesh_data(mesh: Mesh) -> Known:
    """Return a mesh on the first available devices, or None where a size is symbolic."""
    sizes = _sizes(mesh.sizes)
    if sizes is None:
        return None
    return (
        "mesh",
        mesh.names,
        sizes,
        tuple(kind.value for kind in mesh.types),
        mesh.abstract,
    )


def sharding_data(mesh: Known, spec: Known) -> Known:
    """Return ``NamedSharding(mesh, spec)``."""
    return tagged("sharding", (mesh, spec))


def _sizes(shape: Shape) -> tuple[int, ...] | None:
    """Return the integers of a shape, or None where a size is symbolic."""
    sizes = tuple(size for size in shape if isinstance(size, int))
    return sizes if len(sizes) == len(shape) else None


def array_data(shape: Shape, dtype: str = "float32", numpy: bool = True) -> Known:
    """Return an array of ones, of NumPy or of JAX, or None where a size is symbolic."""
    sizes = _sizes(shape)
    return None if sizes is None else ("array", sizes, dtype, numpy)


def struct_data(shape: Shape, dtype: str, sharding: Known = NONE) -> Known:
    """Return a `jax.ShapeDtypeStruct`; no devices are needed for it."""
    sizes = _sizes(shape)
    return tagged("struct", (sizes, dtype, sharding))


def type_data(kind: ArrayType) -> Known:
    """Return a `jax.ShapeDtypeStruct` of a type, on a mesh without devices."""
    sharding: Known = NONE
    if kind.sharding is not None and kind.sharding.mesh is not None:
        mesh = kind.sharding.mesh
        abstract = Mesh(mesh.names, mesh.sizes, mesh.types, abstract=True)
        sharding = sharding_data(mesh_data(abstract), spec_data(kind.sharding.spec))
    return None if kind.shape is None else struct_data(kind.shape, kind.dtype or "float32", sharding)


def devices_data(ids: Iterable[int], shape: Shape | None = None) -> Known:
    """Return devices by their places in `jax.devices()`: a list, or an array of a shape."""
    return tagged("devices", (tuple(ids), NONE if shape is None else shape_data(shape)))


def function_data(body: Known) -> Known:
    """Return a function with this body, in which ``("operand", i)`` are its arguments."""
    return tagged("function", (body,))


def call_data(function: str, args: Iterable[Known] = (), kwargs: Mapping[str, Known] | None = None) -> Known:
    """Return ``function(*args, **kwargs)``, or None where some argument is not known."""
    given = _arguments(args, kwargs or {})
    return None if given is None else ("call", function, *given)


def apply_data(made: Known, args: Iterable[Known] = (), kwargs: Mapping[str, Known] | None = None) -> Known:
    """Return the call of a transformed function, such as ``jax.jit(f)(*args)``."""
    given = _arguments(args, kwargs or {})
    return None if given is None or made is None else ("apply", made, *given)


def without(call: Known, keyword: str) -> Known:
    """Return a call without one of its keywords."""
    if not isinstance(call, tuple):
        return call
    *head, kwargs = call
    return (*head, tuple(pair for pair in kwargs if pair[0] != keyword))


def _arguments(args: Iterable[Known], kwargs: Mapping[str, Known]) -> tuple[Data, Data] | None:
    given, named = tuple(args), tuple(kwargs.items())
    if None in given or any(value is None for _, value in named):
        return None
    return given, named


#: The smallest mesh.
ONE_DEVICE = Mesh(("x",), (1,), (AxisType.AUTO,))

"""The recipe for questions about shapes: what a function of a library makes of arrays of given types.

It is traced by `jax.eval_shape`, so nothing is computed and no array is made. The functions are those of
``askable.json``: pure ones of JAX and the libraries around it, that call no function which is given to them
except others of the list. A question selects one by key; arguments are data, with the arrays among them as
operands, of which only shape, dtype, weak type and the sharding on Explicit axes are given.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from witness_names import selected
from witness_steps import Request, Unsupported, at, within
from witness_values import DTYPES, mesh_of

_MOST_DIMENSIONS = 32
#: Constants that may be arguments, besides the functions and the dtypes.
_CONSTANTS = {
    "None": None,
    "Ellipsis": ...,
    "builtins.bool": bool,
    "builtins.int": int,
    "builtins.float": float,
    "builtins.complex": complex,
}
_NAMED = {
    f"{home}.{name}": f"{home}.{name}"
    for home, names in {
        "jax.lax.Precision": ("DEFAULT", "HIGH", "HIGHEST"),
        "jax.lax.GatherScatterMode": ("CLIP", "FILL_OR_DROP", "ONE_HOT", "PROMISE_IN_BOUNDS"),
        "jax.image.ResizeMethod": ("NEAREST", "LINEAR", "LANCZOS3", "LANCZOS5", "CUBIC"),
        "jax.numpy": (
            "floating", "integer", "inexact", "number", "signedinteger", "unsignedinteger", "complexfloating",
            "generic",
        ),
    }.items()
    for name in names
}  # fmt: skip


def _listed() -> dict[str, str]:
    """Return the functions that can be asked about, as the file beside this one lists them."""
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "askable.json")
    with open(beside, encoding="utf-8") as file:
        table: dict[str, str] = json.load(file)
    return {path: path for home, names in table.items() for path in (f"{home}.{n}" for n in names.split())}


ASKABLE = _listed()


def shapes(request: Request) -> dict[str, Any]:
    """Return the types of a call's results, as `_described` does."""
    called: Callable[..., Any] = selected(ASKABLE, request.get("name"))
    mesh = _mesh(request.get("mesh"))
    operands = [_operand(operand, mesh) for operand in _list(request.get("operands"))]
    args, pairs = _list(request.get("args")), _list(request.get("kwargs"))
    if not all(isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) for pair in pairs):
        raise Unsupported("keywords are due")
    found: list[Any] = []

    def body(*arrays: Any) -> tuple[()]:
        given = [_built(arg, arrays) for arg in args]
        named = {key: _built(value, arrays) for key, value in pairs}
        at("trace")
        found.append(_described(called(*given, **named), mesh is not None))
        return ()

    at("program")
    with within(mesh):
        jax.eval_shape(body, *operands)
    return {"result": found[-1]}


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise Unsupported("a list is due")
    return value


def _mesh(parts: Any) -> Any:
    if parts is None:
        return None
    if not isinstance(parts, list) or len(parts) != 3:
        raise Unsupported("this is no mesh")
    try:
        names, sizes, types = parts
        return mesh_of(names, sizes, types, True)
    except (TypeError, ValueError, AssertionError, OverflowError) as error:
        raise Unsupported(f"this is no mesh: {type(error).__name__}") from None


def _operand(parts: Any, mesh: Any) -> Any:
    if not isinstance(parts, list) or len(parts) != 4:
        raise Unsupported("this is no operand")
    shape, dtype, weak, spec = parts
    sizes = isinstance(shape, list) and all(type(size) is int and 0 <= size < 1 << 62 for size in shape)
    if not sizes or len(shape) > _MOST_DIMENSIONS:
        raise Unsupported("this is no shape")
    given: dict[str, Any] = {"weak_type": True} if weak is True else {}
    if mesh is not None and spec is not None:
        given["sharding"] = NamedSharding(mesh, PartitionSpec(*map(_entry, _list(spec))))
    return jax.ShapeDtypeStruct(tuple(shape), _dtype(dtype), **given)


def _entry(entry: Any) -> Any:
    parts = entry if isinstance(entry, list) else [entry]
    if not all(part is None or isinstance(part, str) for part in parts):
        raise Unsupported("this is no entry of a spec")
    return tuple(parts) if isinstance(entry, list) else entry


def _dtype(name: Any) -> Any:
    if name == "key<fry>":
        return jax.eval_shape(jax.random.key, 0).dtype
    if not isinstance(name, str) or name not in DTYPES:
        raise Unsupported("this is no dtype")
    return jax.numpy.dtype(name)


def _built(data: Any, operands: Sequence[Any]) -> Any:
    """Build an argument: plain data stand for themselves, a list for what its tag says of the rest."""
    if isinstance(data, (bool, int, float, str)):
        return data
    match data:
        case ["operand", int(number)] if 0 <= number < len(operands):
            return operands[number]
        case ["tuple", *items]:
            return tuple(_built(item, operands) for item in items)
        case ["list", *items]:
            return [_built(item, operands) for item in items]
        case ["dict", *pairs] if all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            return {_key(key): _built(value, operands) for key, value in pairs}
        case ["slice", start, stop, step]:
            return slice(*(_built(part, operands) for part in (start, stop, step)))
        case ["complex", float(real), float(imag)]:
            return complex(real, imag)
        case ["dtype", name]:
            return _dtype(name)
        case ["constant", str(name)]:
            return _constant(name)
    raise Unsupported("this is no argument")


def _key(key: Any) -> Any:
    if not isinstance(key, (bool, int, float, str)):
        raise Unsupported("this is no key")
    return key


def _constant(name: str) -> Any:
    """Return a constant, a scalar type (``jax.numpy.float32``) or a function of the list."""
    if name in _CONSTANTS:
        return _CONSTANTS[name]
    home, _, last = name.rpartition(".")
    if home in ("jax.numpy", "numpy") and last.rstrip("_") in DTYPES:
        return getattr(jax.numpy if home == "jax.numpy" else np, last)
    return selected(_NAMED if name in _NAMED else ASKABLE, name)


def _described(value: Any, typed: bool) -> list[Any]:
    """Describe a result: arrays by their types, containers by their parts; of others nothing is told.

    ``typed`` adds the sharding in the type, if this JAX has one.
    """
    if isinstance(value, jax.Array):
        kind = value.aval
        spec = getattr(getattr(kind, "sharding", None), "spec", None) if typed else None
        shape = [int(size) for size in kind.shape]
        return ["array", shape, str(kind.dtype), bool(kind.weak_type), _entries(spec, len(shape))]
    if isinstance(value, tuple):
        names = getattr(type(value), "_fields", None)
        if names is None and type(value) is not tuple:
            return ["other"]
        fields = None if names is None else list(names)
        return ["tuple", fields, *(_described(item, typed) for item in value)]
    if type(value) is list:
        return ["list", *(_described(item, typed) for item in value)]
    if type(value) is dict and all(type(key) is str for key in value):
        return ["dict", list(value), *(_described(item, typed) for item in value.values())]
    if value is None or type(value) in (bool, int, float, str):
        return ["plain", value]
    return ["other"]


def _entries(spec: Any, rank: int) -> list[Any] | None:
    """Return a spec's entries, one for each dimension; None where there is none, or it says more."""
    if spec is None or getattr(spec, "unreduced", None) or getattr(spec, "reduced", None):
        return None
    entries: list[Any] = [list(entry) if isinstance(entry, tuple) else entry for entry in spec]
    plain = all(
        entry is None or isinstance(entry, str) or (isinstance(entry, list) and all(map(_is_name, entry)))
        for entry in entries
    )
    return [*entries, *[None] * (rank - len(entries))] if plain and len(entries) <= rank else None


def _is_name(name: Any) -> bool:
    return isinstance(name, str)

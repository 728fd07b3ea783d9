"""Leaves of a tree that are neither arrays nor numbers, which JAX rejects (`core.shaped_abstractify`)."""

from __future__ import annotations

from collections.abc import Iterator

from shardlint.inference.domain.classes import has_unknown_base, library_bases, lineage
from shardlint.inference.domain.values import (
    Array,
    ClassValue,
    Const,
    DictValue,
    External,
    Function,
    Instance,
    LibraryObject,
    ListValue,
    MeshValue,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.pytrees.nodes import Trees, is_whole, parts
from shardlint.inference.overlays.recording import record_of_value
from shardlint.inference.overlays.registry import transfer
from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.spans import Place

#: Attributes by which JAX takes an object for an array, or which make its class a node.
_OF_ARRAYS = frozenset({"dtype", "shape", "__jax_array__", "tree_flatten", "__getattr__"})
_NNX = "flax.nnx."
#: Classes of `collections` that are nodes.
_DICTS = ("dict", "OrderedDict", "defaultdict")


def strange(leaf: Value) -> str | None:
    """Return in words what a leaf is, if it certainly is neither an array nor a number."""
    match leaf:
        case Const(value=str()):
            return "a string"
        case Const(value=bytes()):
            return "bytes"
        case Function():
            return f"the function `{leaf.name}`" if leaf.name.isidentifier() else "a function"
        case External():
            known = leaf.name.startswith(("jax.", "numpy.")) and transfer(leaf.name) is not None
            return f"the function `{leaf.name}`" if known else None
        case MeshValue():
            return "a mesh"
        case SpecValue():
            return "a spec"
        case ShardingValue():
            return "a sharding"
        case Instance():
            return (
                f"an object of the class `{leaf.cls.name}`, which is no pytree" if _is_plain(leaf) else None
            )
    return None


def _is_plain(value: Instance) -> bool:
    """Return whether an object is certainly of a class that is no pytree, and is no array either."""
    cls = value.cls
    if cls.nodes is not None or cls.members is not None or cls.metaclass is not None or cls.opaque:
        return False
    if value.opaque or value.forgotten or has_unknown_base(cls) or library_bases(cls):
        return False
    held = {name for one in lineage(cls) if isinstance(one, ClassValue) for name in one.attributes}
    return not _OF_ARRAYS & {*held, *value.attributes}


def _is_of_nnx(tree: Value) -> bool:
    """Return whether a node is a module or a state of nnx, of which only variables and arrays are leaves."""
    if isinstance(tree, Instance):
        return any(base.startswith(_NNX) for base in library_bases(tree.cls))
    return isinstance(tree, LibraryObject) and tree.kind.startswith(_NNX)


def strange_leaves(
    tree: Value, trees: Trees, path: str = "", structs: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield the leaves of a tree that certainly are no arrays, each by its path and in words; with
    ``structs``, those without values too."""
    if isinstance(tree, Tuple) or (isinstance(tree, ListValue) and tree.kind == "list"):
        for index, item in enumerate(tree.items or ()):
            yield from strange_leaves(item, trees, f"{path}[{index}]", structs)
    elif isinstance(tree, DictValue):
        for key, item in (tree.items or {}).items() if tree.kind in _DICTS else ():
            yield from strange_leaves(item, trees, f"{path}[{key!r}]", structs)
    elif (held := parts(tree, trees)) is not None:
        for name, part in held.items() if is_whole(tree) and not _is_of_nnx(tree) else ():
            yield from strange_leaves(part, trees, f"{path}.{name}", structs)
    elif structs and isinstance(tree, Array) and tree.struct:
        yield path, "a `jax.ShapeDtypeStruct`"
    elif (what := strange(tree)) is not None:
        yield path, what


def refuse_leaves(
    call: Call,
    function: str,
    tree: Value,
    place: Place,
    subject: str = "",
    structs: bool = False,
    trees: Trees | None = None,
) -> bool:
    """Record an argument of a function, written at a place, with a leaf that is no array; return whether
    there is one. ``structs`` as for `strange_leaves`,
    ``trees`` as for `nodes.parts`."""
    found = next(strange_leaves(tree, trees or Trees(), structs=structs), None)
    if found is None:
        return False
    path, what = found
    name = call.interpreter.written(place) or subject
    where = "the argument" if not path else f"`{name}{path}`" if name else f"`{path}` of the argument"
    verdict = Rejected(Cause.MISUSE, "TypeError", "call", detail=f"{where} is {what}")
    record_of_value(call.interpreter, f"{function}(leaf)", verdict, place)
    return True

"""`nnx.iter_modules` and `nnx.iter_children`: the modules in a module, in the order of flax 0.12.8."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from shardlint.inference.domain.classes import library_bases
from shardlint.inference.domain.iteration import constant
from shardlint.inference.domain.values import Instance, LibraryObject, ListValue, Tuple, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.flax.nnx.flat_state import in_order
from shardlint.inference.overlays.flax.nnx.layers import LAYERS
from shardlint.inference.overlays.flax.nnx.state import DICT, children

MODULE = "flax.nnx.Module"
_KINDS = frozenset((*(f"flax.nnx.{name}" for name in LAYERS), DICT))


def is_module(value: Value) -> bool:
    """Return whether a value is certainly a module of nnx."""
    if isinstance(value, LibraryObject):
        return value.kind in _KINDS
    return isinstance(value, Instance) and not library_bases(value.cls).isdisjoint((MODULE, *_KINDS))


def _modules(node: Value, path: tuple[Hashable, ...], seen: set[int]) -> Iterator[Value]:
    """Yield pairs of path and module, the modules inside another before it, each once."""
    if isinstance(node, Instance | LibraryObject):
        if id(node) in seen:
            return
        seen.add(id(node))
    held = dict(children(node))
    for name in in_order(held):
        yield from _modules(held[name], (*path, name), seen)
    if is_module(node):
        yield Tuple((constant(path), node))


def _iter_modules(call: Call) -> Value:
    """``nnx.iter_modules(module)``: pairs of path and module; attributes that are not known hold none."""
    if not call.args or not is_module(call.args[0]):
        return call.unknown("the module is not known")
    return ListValue(list(_modules(call.args[0], (), set())), path=call.interpreter.path)


def _iter_children(call: Call) -> Value:
    """``nnx.iter_children(node)``: pairs of name and module, of those directly in a module."""
    if not call.args or not is_module(call.args[0]):
        return call.unknown("the module is not known")
    held = dict(children(call.args[0]))
    found = [Tuple((constant(name), held[name])) for name in in_order(held) if is_module(held[name])]
    return ListValue(list(found), path=call.interpreter.path)


TABLE = {"flax.nnx.iter_modules": _iter_modules, "flax.nnx.iter_children": _iter_children}
METHODS = {
    (kind, name): function
    for kind in (MODULE, *sorted(_KINDS))
    for name, function in (("iter_modules", _iter_modules), ("iter_children", _iter_children))
}

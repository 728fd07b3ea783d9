"""Trees of nnx state: splitting objects by filters, and merging them again.

From `flax.nnx.{graph,statelib,filterlib}` 0.12.8. A state is a `LibraryObject` whose field ``tree`` is a dict
of variables by attribute; they are the object's own variables.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator

from shardlint.inference.domain.values import (
    NONE,
    Array,
    Const,
    DictValue,
    External,
    Instance,
    LibraryObject,
    Tuple,
    Value,
    as_bool,
    as_items,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.evaluation.mutation import set_item
from shardlint.inference.overlays.flax.common.metadata import map_tree
from shardlint.inference.overlays.flax.nnx.assignment import assign
from shardlint.inference.overlays.flax.nnx.filters import Filter, Path, filter_of
from shardlint.inference.overlays.flax.nnx.flat_state import STATE, in_order
from shardlint.inference.overlays.flax.nnx.flat_state import TABLE as FLAT
from shardlint.inference.overlays.flax.nnx.lifted import map_variables
from shardlint.inference.overlays.flax.nnx.rngs import RNGS, STREAM
from shardlint.inference.overlays.flax.nnx.variables import is_variable
from shardlint.inference.store.effect_log import changing
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Place
from shardlint.support.lazy_dataclass import replace

GRAPH = "flax.nnx.GraphDef"
DICT = "flax.nnx.Dict"
#: Objects that hold others in a field.
_INSIDE = {STATE: "tree", DICT: "items", RNGS: "streams"}

# -- taking apart -----------------------------------------------------------------------------------------


def state(call: Call) -> Value:
    """``nnx.state(node, *filters)``: a tree of variables for each filter; one of all variables without
    filters."""
    if not call.args or call.opaque:
        return call.unknown("the object is not known")
    taken: set[int] = set()
    states = [_taken(call, filter_of(call, value), taken) for value in call.args[1:] or [Const(...)]]
    return states[0] if len(states) == 1 else Tuple(tuple(states))


def _taken(call: Call, accepts: Filter | None, taken: set[int]) -> Value:
    """Return the variables that a filter accepts, and none before it did."""
    if accepts is None:
        return call.unknown("a filter")
    tree = _variables(call.args[0], accepts, taken, (), set())
    return LibraryObject(STATE, {"tree": tree}, call.place) if isinstance(tree, DictValue) else tree


def split(call: Call) -> Value:
    """``nnx.split(node, *filters)``: the graph definition, then the state."""
    states = state(call)
    found = states.items if isinstance(states, Tuple) else (states,)
    node = call.args[0] if call.args else call.unknown("no object")
    # The graph definition holds the current structure of the object, also if that changes later.
    node = map_variables(node, lambda value: value)
    return Tuple((LibraryObject(GRAPH, {"node": node}, call.place), *found))


def _variables(node: Value, accepts: Filter, taken: set[int], path: Path, seen: set[int]) -> Value:
    """Return the variables in an object, by attribute; unknown if an attribute is.

    An object that was ``seen`` before, which may hold this one, has none that were not taken there.
    """
    tree: dict[Hashable, Value] = {}
    if _is_seen(node, seen):
        return DictValue({})
    if isinstance(node, Instance) and node.opaque:
        return Unknown("the object is not known")
    if isinstance(node, LibraryObject) and node.kind in (RNGS, STREAM) and not any(children(node)):
        # It only holds keys and counts.
        nothing = accepts(path, LibraryObject("flax.nnx.RngKey", {})) is False
        return DictValue({}) if nothing else Unknown("the streams are not known")
    held = dict(children(node))
    for name in in_order(held):
        value = held[name]
        if isinstance(value, LibraryObject) and is_variable(value):
            answer = False if id(value) in taken else accepts((*path, name), value)
            if answer is None:
                tree[name] = Unknown("whether a filter takes it is not known")
            elif answer:
                taken.add(id(value))
                tree[name] = value
        elif isinstance(value, Unknown):
            tree[name] = value
        else:
            below = _variables(value, accepts, taken, (*path, name), seen)
            if not (isinstance(below, DictValue) and not below.items):
                tree[name] = below
    return DictValue({name: tree[name] for name in in_order(tree)})


def variables_of(node: Value) -> Value:
    """Return all variables in an object, by attribute."""
    return _variables(node, lambda _path, _value: True, set(), (), set())


def _is_seen(node: Value, seen: set[int]) -> bool:
    """Return whether an object is among those seen, and add it."""
    if isinstance(node, Tuple):
        return False
    known = id(node) in seen
    seen.add(id(node))
    return known


def children(node: Value) -> Iterator[tuple[Hashable, Value]]:
    """Yield the contents of an object or container, by name or position."""
    if isinstance(node, Instance):
        yield from ((name, value) for name, value in node.attributes.items() if not name.startswith("("))
    elif isinstance(node, LibraryObject) and node.kind in _INSIDE:
        yield from children(node.fields.get(_INSIDE[node.kind], NONE))
    elif isinstance(node, LibraryObject) and node.kind.startswith("flax.nnx."):
        yield from ((name, value) for name, value in node.fields.items() if not isinstance(value, Unknown))
    elif isinstance(node, Tuple) and node.fields is not None:
        yield from zip(node.fields, node.items, strict=True)
    elif isinstance(node, DictValue) and node.items is not None:
        yield from node.items.items()
    elif (items := as_items(node)) is not None:
        yield from enumerate(items)


def _pop(call: Call) -> Value:
    """``nnx.pop(node, filter)``: the accepted variables, which are removed from the object."""
    found = state(call)
    removed = {id(leaf) for leaf in _leaves(found)}
    seen: set[int] = set()

    def drop(node: Value) -> None:
        if _is_seen(node, seen):
            return
        for name, value in list(children(node)):
            if id(value) in removed:
                if isinstance(node, Instance):
                    changing(node)
                    del node.attributes[str(name)]
                elif isinstance(node, DictValue) and node.items is not None:
                    changing(node)
                    del node.items[name]
            elif not isinstance(value, LibraryObject) or not is_variable(value):
                drop(value)

    if call.args:
        drop(call.args[0])
    return found


def _leaves(tree: Value) -> Iterator[LibraryObject]:
    if isinstance(tree, LibraryObject) and is_variable(tree):
        yield tree
        return
    inside = tree.fields["tree"] if isinstance(tree, LibraryObject) and tree.kind == STATE else tree
    for _, value in children(inside):
        yield from _leaves(value)


# -- putting together -------------------------------------------------------------------------------------


def _merge(call: Call) -> Value:
    """``nnx.merge(graphdef, state, ...)``: an object like the one that was split, with the state's
    variables."""
    graph = call.argument(0, "graphdef")
    if not isinstance(graph, LibraryObject) or graph.kind != GRAPH:
        return call.unknown("the graph definition is not known")
    found: dict[int, Value] = {}
    for given in call.args[1:]:
        _match(graph.fields["node"], given, found)

    def variable(value: Value) -> Value:
        if not isinstance(value, LibraryObject):
            return value
        if id(value) in found:
            return found[id(value)]
        copy = LibraryObject(value.kind, dict(value.fields), value.origin)
        _forget_placement(copy)
        return copy

    node = map_variables(graph.fields["node"], variable)
    return node if as_bool(call.kwargs.get("copy", Const(False))) is False else copied(node)


def _match(node: Value, given: Value, found: dict[int, Value]) -> None:
    """Find the entry in a state for each variable of an object: a variable, or the value of one."""
    if isinstance(node, LibraryObject) and is_variable(node):
        if isinstance(given, LibraryObject) and is_variable(given):
            found[id(node)] = given
        elif isinstance(given, Array):
            found[id(node)] = LibraryObject(node.kind, {**node.fields, "value": given}, node.origin)
        return
    for value, new in _pairs(node, given):
        _match(value, new, found)


def _pairs(node: Value, given: Value) -> Iterator[tuple[Value, Value]]:
    """Yield the contents of an object, each with its entry in a state."""
    tree = given.fields["tree"] if isinstance(given, LibraryObject) and given.kind == STATE else given
    items = tree.items if isinstance(tree, DictValue) and tree.items is not None else {}
    yield from ((value, items[name]) for name, value in children(node) if name in items)


def _update(call: Call) -> Value:
    """``nnx.update(node, state, ...)``: assigns the state's values to the variables."""
    for given in call.args[1:]:
        _put(call.interpreter, call.args[0], given, call.place)
    return NONE


def _put(interpreter: Evaluator, node: Value, given: Value, place: Place) -> None:
    if isinstance(node, LibraryObject) and is_variable(node):
        if isinstance(array := _held(given), Array):
            assign(interpreter, node, array, place)
        else:
            _forget_placement(node)
        return
    tree = given.fields["tree"] if isinstance(given, LibraryObject) and given.kind == STATE else given
    if not isinstance(tree, DictValue) or tree.items is None:
        _forget_placement(node)
    for value, new in _pairs(node, given):
        _put(interpreter, value, new, place)


def _forget_placement(node: Value, seen: set[int] | None = None) -> None:
    """Havoc the placement of an object after an unknown state: values of the same shapes, placed anywhere."""
    seen = set() if seen is None else seen
    if _is_seen(node, seen):
        return
    if isinstance(node, LibraryObject) and is_variable(node):
        value = node.fields["value"]
        if isinstance(value, Array):
            changing(node)
            node.fields["value"] = replace(value, sharding=None, typed=None, committed=None)
        return
    for _, value in children(node):
        _forget_placement(value, seen)


def copied(node: Value) -> Value:
    """Return a copy of an object, with copies of its variables."""

    def copy(value: Value) -> Value:
        if isinstance(value, LibraryObject):
            return LibraryObject(value.kind, dict(value.fields), value.origin)
        return value

    return map_variables(node, copy)


def _clone(call: Call) -> Value:
    node = call.argument(0, "node")
    return call.unknown("no object") if node is None else copied(node)


def _pure(call: Call) -> Value:
    """``nnx.to_pure_dict(state)``, ``nnx.pure(tree)``: the arrays alone."""
    given = call.argument(0, "state" if call.name.endswith("dict") else "tree") or call.unknown("no state")
    tree = given.fields["tree"] if isinstance(given, LibraryObject) and given.kind == STATE else given

    return map_tree(_held, tree)


def _held(value: Value) -> Value:
    """Return the value in a variable; other values are returned as they are."""
    return value.fields["value"] if isinstance(value, LibraryObject) and is_variable(value) else value


def entry(receiver: LibraryObject, name: str) -> Value | None:
    """``state.name``: a variable, or a nested state."""
    tree = receiver.fields["tree"]
    found = tree.items.get(name) if isinstance(tree, DictValue) and tree.items is not None else None
    return None if found is None else _below(receiver, found)


def _item(call: Call) -> Value:
    """``state[key]``: a variable, or a nested state."""
    receiver, key = call.bind("self", "key")
    if not isinstance(receiver, LibraryObject) or key is None:
        return call.unknown("the state is not known")
    return _below(receiver, call.interpreter.item(receiver.fields["tree"], key, call.place))


def _below(receiver: LibraryObject, found: Value) -> Value:
    return LibraryObject(STATE, {"tree": found}, receiver.origin) if isinstance(found, DictValue) else found


# -- containers -------------------------------------------------------------------------------------------


def _dict(call: Call) -> Value:
    """``nnx.Dict(mapping, **items)``: an object whose attributes are its items."""
    items = call.interpreter.call(External("builtins.dict"), list(call.args), dict(call.kwargs), call.place)
    known = isinstance(items, DictValue) and not call.opaque
    return LibraryObject(DICT, {"items": items if known else DictValue(None)}, call.place)


def dict_entry(receiver: LibraryObject, name: str) -> Value | None:
    """``d.name``: an item."""
    items = receiver.fields["items"]
    return items.items.get(name) if isinstance(items, DictValue) and items.items is not None else None


def _set_entry(call: Call) -> Value:
    """``d[key] = value``, ``d.name = value``."""
    receiver, key, value = call.args
    assert isinstance(receiver, LibraryObject)
    set_item(call.interpreter, receiver.fields["items"], key, value, call.place)
    return NONE


def _list(call: Call) -> Value:
    """``nnx.List(items)``."""
    result = External("builtins.list")
    return call.interpreter.call(result, list(call.args), dict(call.kwargs), call.place, call.opaque)


TABLE: dict[str, Callable[[Call], Value]] = {
    "flax.nnx.state": state,
    "flax.nnx.variables": state,
    "flax.nnx.split": split,
    "flax.nnx.merge": _merge,
    "flax.nnx.update": _update,
    "flax.nnx.clone": _clone,
    "flax.nnx.pop": _pop,
    **FLAT,
    **dict.fromkeys(("flax.nnx.filter_state", "flax.nnx.split_state"), state),
    "flax.nnx.replace_by_pure_dict": _update,
    "flax.nnx.to_pure_dict": _pure,
    "flax.nnx.pure": _pure,
    "flax.nnx.Dict": _dict,
    "flax.nnx.List": _list,
}
METHODS: dict[tuple[str, str], Callable[[Call], Value]] = {
    (STATE, "__getitem__"): _item,
    **dict.fromkeys(((STATE, "filter"), (STATE, "split")), state),
    (STATE, "to_pure_dict"): _pure,
    (STATE, "replace_by_pure_dict"): _update,
    **{(DICT, name): _set_entry for name in ("__setattr__", "__setitem__")},
}

"""Boxes of linen: axes added to and removed from their names, and replacement of their values.

From `flax.core.meta` 0.12.8. A transform that stacks variables adds an entry to each box's names, which
``params`` names; one that slices them removes it.
"""

from __future__ import annotations

from collections.abc import Callable

from shardlint.inference.domain.values import (
    DictValue,
    LibraryObject,
    SpecValue,
    Value,
    as_int,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import table
from shardlint.inference.overlays.flax.common.metadata import (
    LOGICALLY_PARTITIONED,
    PARTITIONED,
    entry_of,
    is_box,
    map_tree,
    names_of,
    with_value,
)
from shardlint.inference.overlays.flax.common.variable_axes import names_with
from shardlint.inference.overlays.flax.linen.lifted import PARTITION_NAME
from shardlint.inference.overlays.pytrees.trees import tree_map
from shardlint.laws.core.values import Spec, Unknown

Rule = Callable[[Call], Value]


def _with_names(box: Value, names: Value) -> Value:
    assert isinstance(box, LibraryObject)
    return LibraryObject(box.kind, {**box.fields, "names": names}, box.origin)


def _partition_name(params: Value | None) -> Value | None:
    """Return the name of the axis in ``params``, or None if there is none or it is unknown."""
    known = params.items if isinstance(params, DictValue) else None
    return None if known is None else known.get(PARTITION_NAME)


def _added(box: Value, index: Value | None, params: Value | None) -> Value:
    if not isinstance(box, LibraryObject) or not is_box(box):
        return box
    name, number = _partition_name(params), as_int(index)
    if name is None or number is None or number < 0:
        return _with_names(box, Unknown("the names are not known"))
    place = getattr(name, "origin", None)
    return _with_names(box, names_with(box.fields.get("names"), number, entry_of(name), place))


def _removed(box: Value, index: Value | None, params: Value | None) -> Value:
    if not isinstance(box, LibraryObject) or not is_box(box):
        return box
    name, number, names = _partition_name(params), as_int(index), names_of(box.fields.get("names"))
    entries = names.spec.entries if isinstance(names.spec, Spec) else ()
    fits = name is not None and number is not None and 0 <= number < len(entries)
    if not fits or name is None or number is None or entries[number] != entry_of(name):
        return _with_names(box, Unknown("the names are not known"))
    places = names.entry_places
    return _with_names(
        box,
        SpecValue(
            Spec((*entries[:number], *entries[number + 1 :])),
            names.place,
            (*places[:number], *places[number + 1 :]),
        ),
    )


def _over_tree(change: Callable[[Value, Value | None, Value | None], Value]) -> Rule:
    """Return ``add_axis(tree, index, params)`` for a tree of boxes, or for one box as a method."""

    def run(call: Call) -> Value:
        tree = call.argument(0, "tree")
        if tree is None or call.opaque:
            return call.unknown("no tree")
        index, params = call.argument(1, "index"), call.argument(2, "params")
        return map_tree(lambda leaf: change(leaf, index, params), tree)

    return run


def _replaced(call: Call) -> Value:
    """``box.replace_boxed(value)``: the same box around another value."""
    box, value = call.args[0], call.argument(1, "val")
    if not isinstance(box, LibraryObject) or value is None:
        return call.unknown("no value")
    return with_value(box, value)


def _tree_replaced(call: Call) -> Value:
    """``replace_boxed(tree, updates)``: the boxes of a tree around the leaves of another."""
    tree, updates = call.bind("tree", "updates")
    if tree is None or updates is None:
        return call.unknown("no tree")

    def update(leaf: Value, value: Value) -> Value:
        return with_value(leaf, value) if isinstance(leaf, LibraryObject) and is_box(leaf) else value

    return tree_map(update, tree, updates, is_leaf=is_box)


_FUNCTIONS = {
    "add_axis": _over_tree(_added),
    "remove_axis": _over_tree(_removed),
    "replace_boxed": _tree_replaced,
}

TABLE: dict[str, Rule] = {
    **table("flax.core.meta.", _FUNCTIONS),
    **table("flax.linen.meta.", _FUNCTIONS),
}
METHODS: dict[tuple[str, str], Rule] = {
    (kind, name): rule
    for kind in (PARTITIONED, LOGICALLY_PARTITIONED)
    for name, rule in {**_FUNCTIONS, "replace_boxed": _replaced}.items()
}
_META = ("flax.core.meta", "flax.linen.meta")
_PARTITIONED = (PARTITIONED, *(f"{at}.{name}" for at in _META for name in ("Partitioned", "AxisMetadata")))
#: The classes of which boxes are instances, by all their names.
LINEAGES: dict[str, tuple[str, ...]] = {
    PARTITIONED: _PARTITIONED,
    LOGICALLY_PARTITIONED: (
        LOGICALLY_PARTITIONED, "flax.linen.spmd.LogicallyPartitioned", *_PARTITIONED
    ),
}  # fmt: skip

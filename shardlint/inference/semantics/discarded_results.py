"""Calls as statements whose only effect is their result: arrays are immutable, so nothing has happened."""

from __future__ import annotations

import libcst as cst

from shardlint.inference.domain.values import (
    Array,
    DictValue,
    External,
    ListValue,
    Tuple,
    Value,
)
from shardlint.inference.machine.machine import Machine
from shardlint.inference.overlays.pytrees.prefixes import arrays_in
from shardlint.inference.overlays.recording import record_of_value
from shardlint.inference.syntax.names_in_text import names_in
from shardlint.laws.core.verdicts import Accepted

_PLACING = frozenset({
    "jax.device_put", "jax.lax.with_sharding_constraint", "jax.reshard", "jax.sharding.reshard",
    "flax.linen.with_logical_constraint", "equinox.filter_shard",
})  # fmt: skip
_COLLECTIVE = frozenset(f"jax.lax.{name}" for name in ("psum", "pmean", "pmax", "pmin", "all_gather"))
#: They return what a function returns for each leaf.
_MAPPING = frozenset({
    "jax.tree.map", "jax.tree_util.tree_map", "jax.tree_map",
    "jax.tree.map_with_path", "jax.tree_util.tree_map_with_path",
})  # fmt: skip


def may_be_placed(value: Value) -> bool:
    """Return whether a call's result may be arrays that it placed or reduced."""
    return isinstance(value, Array | Tuple | ListValue | DictValue)


def note_discarded(interpreter: Machine, function: Value, result: Value, node: cst.Call) -> None:
    """Record a call whose result is arrays that it placed or reduced, where those it was given are used
    afterwards."""
    context = interpreter.context
    if not isinstance(function, External) or context.test or context.caught:
        return
    name = function.name
    placed = name in _PLACING
    if name in _MAPPING:
        arrays = list(arrays_in(result))
        placed = bool(arrays) and all(array.sharding is not None for array in arrays)
    if not (placed or name in _COLLECTIVE) or not _used_below(interpreter, node):
        return
    short = name.rpartition(".")[2]
    silent = f"`{short}` returns a new array, which nothing uses: the one it is given stays as it is"
    place = interpreter.place(node)
    record_of_value(interpreter, "jax.Array(discarded)", Accepted(), place, silent=silent)


def _used_below(interpreter: Machine, node: cst.Call) -> bool:
    """Return whether the text of the function below a call names what the call is given."""
    roots = {root.value for arg in node.args[:2] if (root := _root(arg.value)) is not None}
    unit, end = interpreter.frames[-1].unit, interpreter.place(node).resolve().end_line
    lines = unit.text.splitlines(keepends=True)
    if lines and lines[0].startswith("def case_"):
        return False  # a fixture tries things out
    below = "".join(lines[end - unit.first_line + 1 :])
    _, names = names_in(below)
    return not names.isdisjoint(roots)


def _root(node: cst.BaseExpression) -> cst.Name | None:
    """Return the variable that an expression refers to: ``batch`` of ``batch["x"]``."""
    while isinstance(node, cst.Attribute | cst.Subscript):
        node = node.value
    return node if isinstance(node, cst.Name) else None

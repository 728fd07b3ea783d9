"""Calls as statements whose only effect is their result: arrays are immutable, so nothing has happened."""

from __future__ import annotations

import re

import libcst as cst

from shardlint.inference.domain.values import (
    Array,
    DictValue,
    External,
    ListValue,
    Tuple,
    Value,
)
from shardlint.inference.evaluation.context import meant
from shardlint.inference.machine.machine import Machine
from shardlint.inference.overlays.pytrees.prefixes import arrays_in
from shardlint.inference.overlays.recording import record_of_value
from shardlint.inference.syntax.names_in_text import names_in
from shardlint.laws.core.values import Unknown
from shardlint.laws.core.verdicts import Accepted, Rejected

_PLACING = frozenset({
    "jax.device_put", "jax.lax.with_sharding_constraint", "jax.reshard", "jax.sharding.reshard",
    "flax.linen.with_logical_constraint", "equinox.filter_shard",
})  # fmt: skip
_COLLECTIVE = frozenset(f"jax.lax.{name}" for name in ("psum", "pmean", "pmax", "pmin", "all_gather"))
#: A step from a variable to a part of it.
_STEP = re.compile(r"""\.\w+|\[(?:"\w*"|'\w*'|\d+)\]""")
#: They return what a function returns for each leaf.
_MAPPING = frozenset({
    "jax.tree.map", "jax.tree_util.tree_map", "jax.tree_map",
    "jax.tree.map_with_path", "jax.tree_util.tree_map_with_path",
})  # fmt: skip


def may_be_placed(interpreter: Machine, value: Value, function: cst.BaseExpression, recorded: int) -> bool:
    """Return whether a call's result may be arrays that it placed or reduced, and JAX rejects nothing of what
    was recorded since ``recorded``. An unknown result has to be a library's."""
    if any(isinstance(use.verdict, Rejected) for use in interpreter.uses[recorded:]):
        return False
    if isinstance(value, Array | Tuple | ListValue | DictValue):
        return True
    while isinstance(function, cst.Attribute):
        function = function.value
    if not isinstance(value, Unknown) or not isinstance(function, cst.Name):
        return False
    holder = interpreter.scope.find(meant(interpreter.scope, function.value))
    return holder is not None and isinstance(holder.variables.get(function.value), External)


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
    unit, end = interpreter.frames[-1].unit, interpreter.place(node).resolve().end_line
    below = "".join(unit.text.splitlines(keepends=True)[end - unit.first_line + 1 :])
    _, names = names_in(below)
    given = [_root(arg.value) for arg in node.args[:2]]
    return any(root in names and _names_part(below, root, step) for root, step in filter(None, given))


def _names_part(text: str, root: str, step: str | None) -> bool:
    """Return whether a text names a variable, or the part of it at a step, rather than other parts only."""
    if step is None:
        return True
    steps = (_STEP.match(text, found.end()) for found in re.finditer(rf"\b{re.escape(root)}\b", text))
    return any(found is None or found[0].replace("'", '"') == step for found in steps)


def _root(node: cst.BaseExpression) -> tuple[str, str | None] | None:
    """Return the variable that an expression refers to, and the first step from there: ``batch`` and
    ``["x"]`` of ``batch["x"].T``; None for a step that is computed."""
    step = None
    while isinstance(node, cst.Attribute | cst.Subscript):
        step, node = _text_of(node), node.value
    return (node.value, step) if isinstance(node, cst.Name) else None


def _text_of(node: cst.Attribute | cst.Subscript) -> str | None:
    """Return the text of a step to an attribute, or to an item with a constant key."""
    if isinstance(node, cst.Attribute):
        return f".{node.attr.value}"
    index = node.slice[0].slice if len(node.slice) == 1 else None
    key = index.value if isinstance(index, cst.Index) else None
    if not isinstance(key, cst.SimpleString | cst.Integer):
        return None
    return "[" + key.value.replace("'", '"') + "]"

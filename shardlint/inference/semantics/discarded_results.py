"""Calls as statements whose only effect is their result: arrays are immutable, so nothing has happened."""

from __future__ import annotations

import re
from collections.abc import Callable

import libcst as cst

from shardlint.inference.domain.values import (
    NONE,
    Array,
    Bound,
    DictValue,
    External,
    Function,
    ListValue,
    Tuple,
    Value,
)
from shardlint.inference.evaluation.context import meant
from shardlint.inference.machine.machine import Machine
from shardlint.inference.overlays.pytrees.prefixes import arrays_in
from shardlint.inference.overlays.recording import record_of_value
from shardlint.inference.syntax.names_in_text import names_in, single_names
from shardlint.inference.syntax.node_fields import is_dotted
from shardlint.laws.core.values import Unknown
from shardlint.laws.core.verdicts import Accepted, Rejected
from shardlint.model.memory_uses import GatherUse, MoveUse

_PLACING = frozenset({
    "jax.device_put", "jax.lax.with_sharding_constraint", "jax.reshard", "jax.sharding.reshard",
    "flax.linen.with_logical_constraint", "equinox.filter_shard",
})  # fmt: skip
_COLLECTIVE = frozenset(f"jax.lax.{name}" for name in ("psum", "pmean", "pmax", "pmin", "all_gather"))
#: A step from a variable to a part of it.
_STEP = re.compile(r"""\.\w+|\[(?:"\w*"|'\w*'|\d+)\]""")
_RETURN = re.compile(r"^\s*return\s+(?!None\b)[^\W\d]", re.MULTILINE)
#: They return what a function returns for each leaf.
_MAPPING = frozenset({
    "jax.tree.map", "jax.tree_util.tree_map", "jax.tree_map",
    "jax.tree.map_with_path", "jax.tree_util.tree_map_with_path",
})  # fmt: skip


def _may_be_placed(interpreter: Machine, value: Value, function: cst.BaseExpression, recorded: int) -> bool:
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


def note_discarded(
    interpreter: Machine,
    call: cst.Call,
    result: Value,
    recorded: int,
    evaluate: Callable[[Machine, cst.BaseExpression], Value],
) -> None:
    """Record a call as a statement whose result is arrays that it placed or reduced, where those it was given
    are used afterwards."""
    if not is_dotted(call.func) or not _may_be_placed(interpreter, result, call.func, recorded):
        return
    function = evaluate(interpreter, call.func)
    function = function.function if isinstance(function, Bound) else function
    _drop_moves(interpreter, function, result, recorded)
    context = interpreter.context
    if not isinstance(function, External | Function) or context.test or context.caught:
        return
    name = function.name
    given = _given(interpreter, name, call, evaluate)
    if isinstance(function, Function):
        _note_helper(interpreter, function, given, result, call)
        return
    if not (_places(name, result) or name in _COLLECTIVE) or not _used_below(interpreter, call):
        return
    if name in _MAPPING and not _all_moved(given, result):
        return
    short = name.rpartition(".")[2]
    silent = f"`{short}` returns a new array, which nothing uses: the one it is given stays as it is"
    place = interpreter.place(call)
    record_of_value(interpreter, "jax.Array(discarded)", Accepted(), place, silent=silent)


def note_unread(
    interpreter: Machine,
    node: cst.Assign,
    value: Value,
    recorded: int,
    evaluate: Callable[[Machine, cst.BaseExpression], Value],
) -> None:
    """Record a call whose result is arrays that it placed, under a name that nothing reads, where the
    function goes on to use what the call was given, or returns something."""
    target, call, context = node.targets[0].target, node.value, interpreter.context
    if type(target) is not cst.Name or len(node.targets) > 1 or type(call) is not cst.Call:
        return
    # Such a name may be read in texts, by nested functions, and in a loop above.
    if not _is_local(interpreter) or target.value not in single_names(interpreter.frames[-1].unit.text):
        return
    if not is_dotted(call.func) or not _may_be_placed(interpreter, value, call.func, recorded):
        return
    function = evaluate(interpreter, call.func)
    _drop_moves(interpreter, function, value, recorded)
    if context.test or context.caught or target.value.startswith("_"):
        return
    if not isinstance(function, External) or not _places(function.name, value):
        return
    if function.name in _MAPPING and not _all_moved(
        _given(interpreter, function.name, call, evaluate), value
    ):
        return
    if _RETURN.search(_below(interpreter, call)) or _used_below(interpreter, call):
        short = function.name.rpartition(".")[2]
        unread = f"`{short}` returns a new array, and nothing reads `{target.value}`"
        place, silent = interpreter.place(call), f"{unread}: what it is given stays as it is"
        record_of_value(interpreter, "jax.Array(discarded)", Accepted(), place, silent=silent)


def _drop_moves(interpreter: Machine, function: Value, result: Value, recorded: int) -> None:
    """Forget the moves of arrays that were recorded for a result inside jit, which nothing uses: the compiler
    drops what makes it (JAX 0.10.2 and 0.12.0.1)."""
    if isinstance(function, External):
        drops = _places(function.name, result)
    else:
        drops = isinstance(function, Function) and _only_returns(function.code.node.body)
    if drops and interpreter.context.in_jit is True:
        for number in reversed(range(recorded, len(interpreter.uses))):
            if isinstance(interpreter.uses[number], MoveUse | GatherUse):
                del interpreter.uses[number]


def _is_local(interpreter: Machine) -> bool:
    """Return whether the code that runs is a function's, whose variables no other module reads."""
    scope = interpreter.scope
    return scope.parent is not None and not scope.is_class and not scope.is_comprehension


def _places(name: str, result: Value) -> bool:
    """Return whether a function of a library places the arrays that it returns."""
    if name not in _MAPPING:
        return name in _PLACING
    arrays = list(arrays_in(result))
    return bool(arrays) and all(array.sharding is not None for array in arrays)


def _given(
    interpreter: Machine,
    name: str,
    call: cst.Call,
    evaluate: Callable[[Machine, cst.BaseExpression], Value],
) -> Value:
    """Return the array or the tree that a call of the function ``name`` is given; None for an expression,
    which is not evaluated twice."""
    placed = call.args[1:2] if name in _MAPPING else call.args[:1]
    return evaluate(interpreter, placed[0].value) if placed and is_dotted(placed[0].value) else NONE


def _all_moved(given: Value, result: Value) -> bool:
    """Return whether each array of a tree lies elsewhere than the one it was made of, so that a function was
    mapped over the tree to place arrays, not to wait for them or to look at them."""
    before, after = list(arrays_in(given)), list(arrays_in(result))
    return len(before) == len(after) and all(
        old.sharding != new.sharding for old, new in zip(before, after, strict=True)
    )


def _below(interpreter: Machine, node: cst.Call) -> str:
    """Return the text of the function below a call."""
    unit, end = interpreter.frames[-1].unit, interpreter.place(node).resolve().end_line
    return "".join(unit.text.splitlines(keepends=True)[end - unit.first_line + 1 :])


def _note_helper(
    interpreter: Machine, function: Function, given: Value, result: Value, node: cst.Call
) -> None:
    """Record a call of a function of the program that only returns the array it is given, placed."""
    if not isinstance(given, Array) or not isinstance(result, Array) or given.shape != result.shape:
        return
    if result.sharding is None or result.sharding == given.sharding or given.dtype != result.dtype:
        return
    if _only_returns(function.code.node.body) and _used_below(interpreter, node):
        silent = (
            f"`{function.name}` returns a new array, which nothing uses: the one it is given stays as it is"
        )
        place = interpreter.place(node)
        record_of_value(interpreter, "jax.Array(discarded)", Accepted(), place, silent=silent)


def _only_returns(node: cst.CSTNode) -> bool:
    """Return whether statements do no more than return values, beside tests and names that they bind."""
    if isinstance(node, cst.IndentedBlock | cst.SimpleStatementLine | cst.SimpleStatementSuite):
        return all(map(_only_returns, node.body))
    if isinstance(node, cst.If):
        rest = node.orelse
        return _only_returns(node.body) and (rest is None or _only_returns(rest))
    if isinstance(node, cst.Else):
        return _only_returns(node.body)
    if isinstance(node, cst.Assign):
        return all(isinstance(target.target, cst.Name) for target in node.targets)
    if isinstance(node, cst.Expr):
        return isinstance(node.value, cst.SimpleString)
    return isinstance(node, cst.Return | cst.Pass | cst.Raise | cst.Assert)


def _used_below(interpreter: Machine, node: cst.Call) -> bool:
    """Return whether the text of the function below a call names what the call is given."""
    below = _below(interpreter, node)
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

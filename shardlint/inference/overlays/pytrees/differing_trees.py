"""Trees that `jax.tree.map` is given together, and that differ where the first one has nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from shardlint.inference.domain.values import (
    Alternatives,
    Array,
    Const,
    DictValue,
    Instance,
    Integer,
    LibraryObject,
    ListValue,
    MeshValue,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import Stop
from shardlint.inference.overlays.pytrees.prefixes import leaves_in
from shardlint.inference.overlays.pytrees.trees import Node, node_of
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.core.values import Unknown
from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.uses import TREE_MAP

_LEAVES: dict[type, str] = {
    Integer: "a number",
    MeshValue: "a mesh",
    ShardingValue: "a sharding",
    SpecValue: "a spec",
}
_CONTAINERS: dict[type, str] = {Tuple: "a tuple", ListValue: "a list", DictValue: "a dict"}


def refuse_differing(
    call: Call, tree: Value, rest: Sequence[Value], is_leaf: Callable[[Value], bool] | None
) -> bool:
    """Record trees with specs or shardings in one of them, of which another certainly has not the nodes of
    the first; return whether there are any (`PyTreeDef.flatten_up_to` raises ValueError, JAX 0.10.2)."""
    leaves = (leaf for one in (tree, *rest) for leaf in leaves_in(one))
    if not rest or not any(isinstance(leaf, SpecValue | ShardingValue) for leaf in leaves):
        return False
    for number, other in enumerate(rest, start=2):
        found = next(_differences(tree, other, "", is_leaf), None)
        if found is not None:
            at, what = found
            name = call.interpreter.written(call.place_of(number, "")) or f"argument {number}"
            verdict = Rejected(Cause.MISUSE, "ValueError", "call", detail=f"`{name}{at}` {what}")
            record_of_value(call.interpreter, TREE_MAP, verdict, call.place)
            return True
    return False


def _differences(
    tree: Value, other: Value, path: str, is_leaf: Callable[[Value], bool] | None
) -> Iterator[tuple[str, str]]:
    """Yield where another tree certainly has not the node that the first one has, and what it has there."""
    if is_leaf is not None and is_leaf(tree):
        return
    node, found = _node(tree), _node(other)
    if (node is None and not is_none(tree)) or isinstance(other, Unknown | Alternatives):
        return
    expected, given = _text(tree), _text(other)
    if node is None or found is None:
        if given is not None and expected is not None and given != expected:
            yield path, f"is {given}, where the first tree has {expected}"
    elif found.shape == node.shape:
        for step, one, two in zip(_steps(node), node.children, found.children, strict=True):
            yield from _differences(one, two, path + step, is_leaf)
    elif expected != given:
        if type(tree) in _CONTAINERS and type(other) in _CONTAINERS:
            yield path, f"is {given}, where the first tree has {expected}"
    elif node.shape[0] == "dict":
        lacking = ", ".join(repr(key) for key in node.shape[1:] if key not in found.shape[1:])
        surplus = ", ".join(repr(key) for key in found.shape[1:] if key not in node.shape[1:])
        texts = [f"lacks {lacking}" if lacking else "", f"has {surplus} besides" if surplus else ""]
        if lacking or surplus:
            yield path, " and ".join(text for text in texts if text)
    elif node.shape[0] == "sequence":
        yield path, f"has {len(found.children)} items, where the first tree has {len(node.children)}"


def _node(value: Value) -> Node | None:
    """Return a value as a node; None for a leaf, and where that is not known."""
    try:
        return node_of(value)
    except Stop:
        return None


def _steps(node: Node) -> Iterator[str]:
    """Yield how the children of a node are written."""
    kind, *names = node.shape
    if kind == "sequence":
        return (f"[{number}]" for number in range(len(node.children)))
    return (f"[{name!r}]" for name in names) if kind == "dict" else (f".{name}" for name in names[1:])


def _text(value: Value) -> str | None:
    """Return a node or a leaf in words; None if it is not certain which of both it is."""
    if is_none(value):
        return "None"
    if isinstance(value, Array):
        return None if value.shape is None else "an array"
    if isinstance(value, Const):
        return repr(value.value)
    if type(value) in _LEAVES:
        return _LEAVES[type(value)]
    if isinstance(value, Tuple) and value.fields is not None:
        return None
    if type(value) in _CONTAINERS:
        return _CONTAINERS[type(value)] if _node(value) is not None else None
    if isinstance(value, Instance | LibraryObject) and _node(value) is not None:
        return f"a {value.cls.name}" if isinstance(value, Instance) else f"a {value.kind.rpartition('.')[2]}"
    return None

"""Equinox: modules as pytrees, transforms that pass only arrays to JAX, and `filter_shard`.

From `equinox` 0.13.8. Its transforms are JAX's own: arrays pass through them, everything else bypasses them
(`equinox.partition`, `equinox.combine`). Here the numbers in a tree are hidden from JAX's transforms, which
would trace them, and restored for the function.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from shardlint.inference.domain.classes import all_fields, lineage
from shardlint.inference.domain.truthiness import truth
from shardlint.inference.domain.values import (
    NONE,
    Alternatives,
    Array,
    Bound,
    ClassValue,
    Const,
    Devices,
    DictValue,
    External,
    Function,
    Instance,
    Integer,
    LibraryObject,
    ListValue,
    Native,
    Partial,
    Tuple,
    Value,
    as_bool,
    as_items,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import given, table, unresolved
from shardlint.inference.overlays.equinox.layers import CALLS as LAYER_CALLS
from shardlint.inference.overlays.equinox.layers import CHILDREN as LAYER_CHILDREN
from shardlint.inference.overlays.equinox.layers import TABLE as LAYERS
from shardlint.inference.overlays.jax.sharding.placement import constrained
from shardlint.inference.overlays.jax.transforms.jit import function_name
from shardlint.inference.overlays.pytrees.nodes import BESIDE, map_parts
from shardlint.inference.overlays.pytrees.strange_leaves import strange
from shardlint.inference.overlays.pytrees.trees import tree_map
from shardlint.laws.core.values import Unknown

if TYPE_CHECKING:
    from shardlint.inference.evaluation.evaluator import Evaluator

Rule = Callable[[Call], Value]

_PLAIN, _IF_ARRAY = "equinox.not-differentiated", "equinox.if_array"
_NUMBERS = (bool, int, float, complex)


# -- modules ----------------------------------------------------------------------------------------


def module_created(interpreter: Evaluator, module: Instance) -> None:
    """Run the steps of the metaclass after ``__init__``: converters of fields, then each
    ``__check_init__``."""
    place = module.origin
    if place is None:
        return
    for name, default in all_fields(module.cls).items():
        if isinstance(default, LibraryObject) and given(default.fields.get("converter")):
            converted = [module.attributes.get(name, Unknown(f"`{name}` is not set"))]
            module.attributes[name] = interpreter.call(default.fields["converter"], converted, {}, place)
    for base in lineage(module.cls):
        check = base.attributes.get("__check_init__") if isinstance(base, ClassValue) else None
        if check is not None:
            interpreter.call(Bound(check, module), [], {}, place)


def _field(call: Call) -> Value:
    return LibraryObject("dataclasses.field", dict(call.kwargs))


# -- arrays through JAX, the rest around it ------------------------------------------------------------


def hide(tree: Value, around: Callable[[Value], bool], kind: str = BESIDE) -> Value:
    """Hide the leaves of a tree that bypass JAX: those for which ``around`` is true."""
    return _walk(tree, lambda node: LibraryObject(kind, {"value": node}) if around(node) else None)


def show(tree: Value, *dropped: str) -> Value:
    """Return the tree before `hide`; leaves that were hidden as one of the kinds ``dropped`` become None."""

    def shown(node: Value) -> Value | None:
        if not isinstance(node, LibraryObject) or node.kind not in (BESIDE, _PLAIN):
            return None
        return NONE if node.kind in dropped else node.fields["value"]

    return _walk(tree, shown)


def _walk(tree: Value, change: Callable[[Value], Value | None]) -> Value:
    """Return the tree with some nodes changed; the walk continues below the others. Unknown parts are
    allowed."""
    changed = change(tree)
    if changed is not None:
        return changed
    if isinstance(tree, Tuple):
        return replace(tree, items=tuple(_walk(item, change) for item in tree.items))
    if isinstance(tree, ListValue) and tree.items is not None:
        return ListValue([_walk(item, change) for item in tree.items], tree.origin, tree.path)
    if isinstance(tree, DictValue) and tree.items is not None:
        items = {key: _walk(item, change) for key, item in tree.items.items()}
        return DictValue(items, tree.origin, tree.path)
    return map_parts(tree, lambda _, part: _walk(part, change))


def _is_number(value: Value) -> bool:
    if isinstance(value, Alternatives):
        return all(map(_is_number, value.options))
    return isinstance(value, Integer) or (isinstance(value, Const) and isinstance(value.value, _NUMBERS))


def _is_static(value: Value) -> bool:
    return _is_number(value) or strange(value) is not None or (isinstance(value, Array) and value.struct)


def _is_not_differentiated(value: Value) -> bool:
    integral = isinstance(value, Array) and _is_inexact(value) is False
    return integral or _is_number(value) or strange(value) is not None


def _lifted(
    name: str, takes: Callable[[dict[str, Value]], dict[str, Value]], differentiates: bool = False
) -> Rule:
    """Return an Equinox transform that is JAX's ``name``; ``takes`` converts its options to JAX's."""

    def wrap(call: Call) -> Value:
        if call.opaque:
            return call.unknown("the arguments are not known")
        interpreter, options = call.interpreter, dict(call.kwargs)
        function = call.args[0] if call.args else options.pop("fun", None)
        if function is None:
            return Native(
                f"{call.name}(...)",
                lambda inner: wrap(Call(inner.interpreter, call.name, inner.args, options, inner.place)),
            )
        wrapped = function

        def shown(inner: Call) -> Value:
            args, kwargs = [show(arg) for arg in inner.args], {k: show(v) for k, v in inner.kwargs.items()}
            return hide(interpreter.call(wrapped, args, kwargs, inner.place, inner.opaque), _is_static)

        traced = Native(function_name(function), shown, wraps=function)
        lifted = interpreter.call(External(name), [traced], takes(options), call.place)

        def run(inner: Call) -> Value:
            args = [hide(arg, _is_static) for arg in inner.args]
            if differentiates and args:
                args[0] = hide(inner.args[0], _is_not_differentiated, _PLAIN)
            kwargs = {key: hide(value, _is_static) for key, value in inner.kwargs.items()}
            return show(interpreter.call(lifted, args, kwargs, inner.place, inner.opaque), _PLAIN)

        native = Native(f"{call.name}({function_name(function)})", run, wraps=function, origin=call.place)
        return interpreter.wrapped(native)

    return wrap


def _without(*names: str) -> Callable[[dict[str, Value]], dict[str, Value]]:
    return lambda options: {key: value for key, value in options.items() if key not in names}


def _mapping(options: dict[str, Value]) -> dict[str, Value]:
    """Return the options of `filter_vmap` as JAX's; by default, arrays are mapped over their leading axis."""
    return {name: _axes(value) if name.endswith("_axes") else value for name, value in options.items()}


def _axes(axes: Value) -> Value:
    """Return axes as `jax.vmap` takes them; Unknown for axes by name, or by a function of the leaf."""
    if isinstance(axes, LibraryObject) and axes.kind == _IF_ARRAY:
        return axes.fields["axis"]
    if isinstance(axes, Tuple):
        return Tuple(tuple(map(_axes, axes.items)))
    known = isinstance(axes, Integer) or (isinstance(axes, Const) and not isinstance(axes.value, bool))
    return axes if known else Unknown("axes that are not known")


def _if_array(call: Call) -> Value:
    (axis,) = call.bind("axis")
    return LibraryObject(_IF_ARRAY, {"axis": axis or NONE})


def _eval_shape(call: Call) -> Value:
    """``filter_eval_shape(fun, *args, **kwargs)``."""
    if not call.args or call.opaque:
        return call.unknown("the arguments are not known")
    interpreter, (function, *args) = call.interpreter, call.args

    def shown(inner: Call) -> Value:
        kwargs = {key: show(value) for key, value in inner.kwargs.items()}
        args = [show(arg) for arg in inner.args]
        return hide(interpreter.call(function, args, kwargs, inner.place), _is_static)

    args = [hide(arg, _is_number) for arg in args]
    kwargs = {key: hide(value, _is_number) for key, value in call.kwargs.items()}
    traced = Native(function_name(function), shown, wraps=function)
    return show(interpreter.call(External("jax.eval_shape"), [traced, *args], kwargs, call.place))


def _shard(call: Call) -> Value:
    """``filter_shard(x, device_or_shardings)``: `with_sharding_constraint` of the arrays, inside or outside
    jit."""
    tree, shardings = call.bind("x", "device_or_shardings")
    assert tree is not None and shardings is not None
    return show(constrained(call, hide(tree, _is_static), shardings))


# -- trees --------------------------------------------------------------------------------------------


def _is_array(value: Value) -> bool | None:
    """Return whether a leaf is an array (`equinox.is_array`: of JAX or NumPy); None if that is unknown."""
    if isinstance(value, Array):
        return not value.struct
    return False if _is_plain(value) else None


def _is_plain(value: Value) -> bool:
    return isinstance(value, Const | Integer | Function | Bound | Partial | ClassValue | External | Devices)


def _is_array_like(value: Value) -> bool | None:
    return True if _is_number(value) else _is_array(value)


def _is_inexact(value: Value) -> bool | None:
    if isinstance(value, Array) and not value.struct:
        return None if value.dtype is None else value.dtype.startswith(("float", "bfloat", "complex"))
    return _is_array(value)


def _is_inexact_like(value: Value) -> bool | None:
    if isinstance(value, Const) and isinstance(value.value, float | complex):
        return True
    return _is_inexact(value)


def _asked(test: Callable[[Value], bool | None]) -> Rule:
    def ask(call: Call) -> Value:
        (element,) = call.bind("element")
        outcome = None if element is None else test(element)
        return Unknown("of something unknown") if outcome is None else Const(outcome)

    return ask


def _mask(call: Call, spec: Value, tree: Value) -> Value:
    """Return whether each leaf passes a filter: a tree of booleans, some of which may be unknown."""

    def at(mask: Value, subtree: Value) -> Value:
        if isinstance(mask, Const) and isinstance(mask.value, bool):
            return tree_map(lambda _: mask, subtree)
        if isinstance(mask, Unknown | Alternatives | Const | LibraryObject):
            unresolved("a filter that is not known")

        def leaf(value: Value) -> Value:
            outcome = truth(call.interpreter.call(mask, [value], {}, call.place))
            return Unknown("a filter's answer") if outcome is None else Const(outcome)

        return tree_map(leaf, subtree)

    return tree_map(at, spec, tree)


def _chosen(mask: Value, tree: Value, wanted: bool, otherwise: Value) -> Value:
    def choose(passes: Value, leaf: Value) -> Value:
        outcome = as_bool(passes)
        if outcome is None:
            return Unknown("filtered, or not")
        return leaf if outcome is wanted else otherwise

    return tree_map(choose, mask, tree)


def _filter(call: Call) -> Value:
    """``filter(pytree, filter_spec, inverse=False, replace=None, is_leaf=None)``."""
    tree, spec, inverse, replace, is_leaf = call.bind(
        "pytree", "filter_spec", inverse=Const(False), replace=NONE, is_leaf=NONE
    )
    backwards = as_bool(inverse)
    if tree is None or spec is None or backwards is None or not is_none(is_leaf):
        unresolved("the arguments are not known")
    return _chosen(_mask(call, spec, tree), tree, not backwards, replace or NONE)


def _partition(call: Call) -> Value:
    """``partition(pytree, filter_spec, replace=None, is_leaf=None)``: the leaves that pass, and the
    others."""
    tree, spec, replace, is_leaf = call.bind("pytree", "filter_spec", replace=NONE, is_leaf=NONE)
    if tree is None or spec is None or not is_none(is_leaf):
        unresolved("the arguments are not known")
    mask = _mask(call, spec, tree)
    return Tuple(tuple(_chosen(mask, tree, wanted, replace or NONE) for wanted in (True, False)))


def _combine(call: Call) -> Value:
    """``combine(*pytrees, is_leaf=None)``: at each position the first leaf that is not None."""
    if call.opaque or not call.args or given(call.kwargs.get("is_leaf")):
        unresolved("the arguments are not known")

    def first(*leaves: Value) -> Value:
        return next((leaf for leaf in leaves if not is_none(leaf)), NONE)

    return tree_map(first, *call.args, is_leaf=is_none)


def _apply_updates(call: Call) -> Value:
    """``apply_updates(model, updates)``: each parameter plus its update, if there is one."""
    model, updates = call.bind("model", "updates")
    assert model is not None and updates is not None

    def add(update: Value, value: Value) -> Value:
        return value if is_none(update) else call.interpreter.operation("Add", value, update, call.place)

    return tree_map(add, updates, model, is_leaf=is_none)


def _tree_at(call: Call) -> Value:
    """``tree_at(where, pytree, replace=, replace_fn=, is_leaf=None)``: a copy with some nodes replaced.

    As in Equinox, ``where`` receives the tree with leaves that are equal only to themselves.
    """
    where, tree, replace, function, is_leaf = call.bind(
        "where", "pytree", replace=None, replace_fn=None, is_leaf=NONE
    )
    if where is None or tree is None or (replace is None) is (function is None):
        unresolved("the arguments are not known")

    def whole(node: Value) -> bool:
        if is_leaf is None or is_none(is_leaf):
            return False
        answer = as_bool(call.interpreter.call(is_leaf, [node], {}, call.place))
        return unresolved("what a leaf is is not known") if answer is None else answer

    marked = tree_map(lambda leaf: LibraryObject("equinox.leaf", {"value": leaf}), tree, is_leaf=whole)
    found = call.interpreter.call(where, [marked], {}, call.place)
    single = not isinstance(found, Tuple | ListValue) or _holds(marked, found)
    nodes = [found] if single else list(as_items(found) or ())
    values = [replace] if single else as_items(replace)
    if not nodes or any(isinstance(node, Unknown | Alternatives | Const) for node in nodes):
        unresolved("what is replaced is not known")
    if replace is not None and (values is None or len(values) != len(nodes)):
        unresolved("what replaces it is not known")
    visited: set[int] = set()

    def exchange(node: Value) -> Value:
        for number, wanted in enumerate(nodes):
            if node is wanted:
                visited.add(number)
                if function is None:
                    return (values or ())[number] or NONE
                return call.interpreter.call(function, [_unmarked(node)], {}, call.place)
        return _unmarked(node)

    changed = tree_map(exchange, marked, is_leaf=lambda node: any(node is wanted for wanted in nodes))
    return changed if len(visited) == len(nodes) else unresolved("what is replaced is not known")


def _holds(tree: Value, node: Value) -> bool:
    """Return whether a tree contains this very node, by identity."""
    found: list[bool] = []

    def look(one: Value) -> bool:
        found.append(one is node)
        return one is node

    tree_map(lambda leaf: leaf, tree, is_leaf=look)
    return any(found)


def _unmarked(tree: Value) -> Value:
    return tree_map(
        lambda leaf: (
            leaf.fields["value"] if isinstance(leaf, LibraryObject) and leaf.kind == "equinox.leaf" else leaf
        ),
        tree,
    )


def _first(call: Call) -> Value:
    """Return a function that returns its first argument: `error_if`, `inference_mode`."""
    return call.args[0] if call.args else call.unknown("no argument")


_FUNCTIONS: dict[str, Rule] = {
    "field": _field,
    "filter_shard": _shard,
    "filter_jit": _lifted("jax.jit", _without("donate")),
    "filter_vmap": _lifted("jax.vmap", _mapping),
    "filter_grad": _lifted("jax.grad", _without(), differentiates=True),
    "filter_value_and_grad": _lifted("jax.value_and_grad", _without(), differentiates=True),
    "filter_checkpoint": _lifted("jax.checkpoint", _without("policy", "prevent_cse")),
    "filter_eval_shape": _eval_shape,
    "if_array": _if_array,
    "is_array": _asked(_is_array),
    "is_array_like": _asked(_is_array_like),
    "is_inexact_array": _asked(_is_inexact),
    "is_inexact_array_like": _asked(_is_inexact_like),
    "filter": _filter,
    "partition": _partition,
    "combine": _combine,
    "apply_updates": _apply_updates,
    "tree_at": _tree_at,
    "error_if": _first,
    "tree_inference": _first,
    "nn.inference_mode": _first,
}

TABLE: dict[str, Rule] = {**LAYERS, **table("equinox.", _FUNCTIONS)}
CALLS = LAYER_CALLS
CHILDREN: dict[str, tuple[str, ...]] = LAYER_CHILDREN
CREATED: dict[str, Callable[[Evaluator, Instance], None]] = {"equinox.Module": module_created}

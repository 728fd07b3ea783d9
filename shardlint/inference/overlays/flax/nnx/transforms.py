"""nnx's versions of JAX's transforms: the function receives the very objects that are passed.

`flax.nnx.transforms` (0.12.8) copies the function's changes of an object back to it, while JAX's own
transforms work on a copy of each pytree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from shardlint.inference.domain.values import (
    Array,
    Const,
    DictValue,
    External,
    LibraryObject,
    ListValue,
    Native,
    ShardingValue,
    Tuple,
    Value,
    as_items,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.flax.nnx.state import variables_of
from shardlint.inference.overlays.flax.nnx.variables import OPTIMIZER
from shardlint.inference.overlays.jax.sharding.made_arrays import note_given
from shardlint.inference.overlays.jax.sharding.movement import arrived
from shardlint.inference.overlays.jax.transforms.idle_axes import note_idle_axes
from shardlint.inference.overlays.jax.transforms.jit import committed_arguments, function_name, given
from shardlint.inference.overlays.jax.transforms.jit_arguments import lowers, runs
from shardlint.inference.overlays.jax.transforms.jit_devices import (
    JittedCall,
    check_devices,
    refuse_ordered,
)
from shardlint.inference.overlays.pytrees.nodes import Trees, is_data_node
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Place
from shardlint.model.uses import Use

_WHOLE = "flax.nnx.whole"
_SHARDINGS = ("in_shardings", "out_shardings")
_STATIC = ("static_argnums", "static_argnames")


def over_objects(call: Call, transform: str, function: Value) -> Value:
    """Return ``transform(function)``, a transform of JAX by name, that passes objects unchanged; ``call``
    tells which arguments are static."""
    interpreter = call.interpreter
    static = {name: call.kwargs[name] for name in _STATIC if given(call.kwargs.get(name))}

    body: list[Use] = []

    def shown(inner: Call) -> Value:
        args, kwargs = [_show(arg) for arg in inner.args], {k: _show(v) for k, v in inner.kwargs.items()}
        result = interpreter.call(function, args, kwargs, inner.place, inner.opaque)
        # Outside of any jit these are all uses of the body.
        body[:] = interpreter.uses
        return _hide(result)

    traced = Native(function_name(function), shown, wraps=function)
    shardings = {name: call.kwargs[name] for name in _SHARDINGS if given(call.kwargs.get(name))}
    if shardings and (static or not all(map(_is_plain, shardings.values()))):
        return call.unknown("shardings of state")
    transformed = None if shardings else interpreter.call(External(transform), [traced], static, call.place)

    def run(inner: Call) -> Value:
        args, kwargs = [_hide(arg) for arg in inner.args], {k: _hide(v) for k, v in inner.kwargs.items()}
        if transformed is None:
            return _laid_out(inner, traced, shardings, args, kwargs, call.place)
        if transform != "jax.jit" or not lowers(inner):
            return _show(interpreter.call(transformed, args, kwargs, inner.place, inner.opaque))
        states = [_states(arg) for arg in (*inner.args, *inner.kwargs.values())]
        trees = Trees()
        received = [arrived(state, trees) for state in states]
        # Variables that the program made whole, and gives to a jitted function beside split ones.
        name, names = function_name(function), interpreter.parameter_names(function)
        count = len(inner.args)
        note_given(inner, name, names, states[:count], received[:count], trees)
        result = _show(interpreter.call(transformed, args, kwargs, inner.place, inner.opaque))
        if not isinstance(result, Unknown) and _lie_apart(inner, function, result, trees, body):
            return Unknown("JAX refuses arguments on different devices")
        if runs(inner):
            note_idle_axes(inner, name, received, _states(result), body, Trees())
        return result

    name = f"{call.name.removeprefix('flax.')}({function_name(function)})"
    return interpreter.wrapped(Native(name, run, wraps=function, origin=call.place))


def _lie_apart(call: Call, function: Value, result: Value, trees: Trees, body: Sequence[Use]) -> bool:
    """Record arguments, objects among them, that lie on different devices, or on more than a callback in the
    body allows; return whether there are any.

    Variables that nothing uses are dropped in some modes of nnx (``graph=False``): of them nothing is said.
    """
    numbers = range(len(call.args))
    places = {number: call.place_of(number, "") for number in numbers}
    held = committed_arguments(call, function, call.args, numbers, places, trees)
    called = JittedCall(call, function, call.args, call.kwargs, held, result)
    return check_devices(called) or refuse_ordered(called, body)


def _laid_out(
    call: Call,
    traced: Native,
    shardings: dict[str, Value],
    args: Sequence[Value],
    kwargs: dict[str, Value],
    place: Place,
) -> Value:
    """Return the result of a function under ``nnx.jit(in_shardings=, out_shardings=)``. Those of an object
    are prefixes of its state, of which nothing is claimed."""
    options = dict(shardings)
    if (inside := options.get("in_shardings")) is not None:
        items = as_items(inside)
        each = [inside] * len(args) if items is None else list(items)
        if len(each) != len(args):
            return call.unknown("shardings of other arguments")
        pairs = list(zip(args, each, strict=True))
        if any(_holds_object(arg) and not is_none(one) for arg, one in pairs):
            return call.unknown("shardings of state")
        options["in_shardings"] = Tuple(tuple(each))
    transformed = call.interpreter.call(External("jax.jit"), [traced], options, place)
    result = call.interpreter.call(transformed, list(args), kwargs, call.place, call.opaque)
    if "out_shardings" in options and _holds_object(result):
        return call.unknown("shardings of state")
    return _show(result)


def _holds_object(tree: Value) -> bool:
    """Return whether there is, or may be, an object in a tree."""
    if isinstance(tree, Tuple | ListValue) and tree.items is not None:
        return any(map(_holds_object, tree.items))
    if isinstance(tree, DictValue) and tree.items is not None:
        return any(map(_holds_object, tree.items.values()))
    return not isinstance(tree, Array | Const) and not is_none(tree)


def _is_plain(shardings: Value) -> bool:
    """Return whether shardings are known, and of arrays."""
    if isinstance(shardings, Tuple):
        return all(map(_is_plain, shardings.items))
    if isinstance(shardings, DictValue) and shardings.items is not None:
        return all(map(_is_plain, shardings.items.values()))
    return isinstance(shardings, ShardingValue) or is_none(shardings)


def _branches(call: Call) -> Value:
    """``nnx.cond(pred, true_fun, false_fun, *operands)``, ``nnx.switch(index, branches, *operands)``."""
    interpreter = call.interpreter

    def shown(function: Value) -> Value:
        def run(inner: Call) -> Value:
            return _hide(interpreter.call(function, [_show(arg) for arg in inner.args], {}, inner.place))

        return Native(function_name(function), run, wraps=function)

    count = 3 if call.name.endswith("cond") else 2
    if call.opaque or call.kwargs or len(call.args) < count:
        return call.unknown("the branches are not known")
    chosen, *functions = call.args[:count]
    if count == 3:
        given = [shown(function) for function in functions]
    elif (listed := as_items(functions[0])) is not None:
        given = [Tuple(tuple(map(shown, listed)))]
    else:
        return call.unknown("the branches are not known")
    name = call.name.replace("flax.nnx", "jax.lax")
    operands = [_hide(arg) for arg in call.args[count:]]
    return _show(interpreter.call(External(name), [chosen, *given, *operands], {}, call.place))


TABLE: dict[str, Callable[[Call], Value]] = {f"flax.nnx.{name}": _branches for name in ("cond", "switch")}


def _hide(tree: Value) -> Value:
    """Return the tree with each object in a box that is not a pytree."""
    return _map_leaves(
        tree, lambda leaf: LibraryObject(_WHOLE, {"value": leaf}) if is_data_node(leaf) else leaf
    )


def _show(tree: Value) -> Value:
    """Return the tree with each object out of its box."""

    def shown(leaf: Value) -> Value:
        return leaf.fields["value"] if isinstance(leaf, LibraryObject) and leaf.kind == _WHOLE else leaf

    return _map_leaves(tree, shown)


def _states(tree: Value) -> Value:
    """Return the tree with the variables of each object in its place."""

    def state(leaf: Value) -> Value:
        holds = isinstance(leaf, LibraryObject) and leaf.kind == OPTIMIZER
        return variables_of(leaf) if holds or is_data_node(leaf) else leaf

    return _map_leaves(tree, state)


def _map_leaves(tree: Value, change: Callable[[Value], Value]) -> Value:
    """Return a tree with all that is no plain container changed."""

    def below(value: Value) -> Value:
        return _map_leaves(value, change)

    match tree:
        case Tuple():
            return replace(tree, items=tuple(map(below, tree.items)))
        case ListValue(items=items) if items is not None:
            return ListValue(list(map(below, items)), tree.origin)
        case DictValue(items=known) if known is not None and tree.kind == "dict":
            return DictValue({key: below(item) for key, item in known.items()}, tree.origin)
    return change(tree)

"""`flax.nnx`: layers, variables, random streams, and trees of state.

Objects of the program's own classes need no hooks: ``__init__`` runs, and each parameter is recorded and
checked where it is made. `METHODS` has the methods they inherit, under the kind ``flax.nnx.Module``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from shardlint.inference.domain.values import (
    NONE,
    Array,
    ClassValue,
    Const,
    External,
    LibraryObject,
    MeshValue,
    Native,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
    as_bool,
    as_int,
    as_items,
    as_str,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import Stop
from shardlint.inference.overlays.flax.common.derived_classes import nnx_class, nnx_layer
from shardlint.inference.overlays.flax.common.functions import functions
from shardlint.inference.overlays.flax.common.layer_results import layer_result
from shardlint.inference.overlays.flax.common.layer_shapes import aliases, initializer_makers
from shardlint.inference.overlays.flax.common.metadata import map_tree
from shardlint.inference.overlays.flax.common.parameter_uses import Owner
from shardlint.inference.overlays.flax.linen.module_runs import NOT_EAGER
from shardlint.inference.overlays.flax.nnx.adapters import LAYERS as ADAPTERS
from shardlint.inference.overlays.flax.nnx.assignment import METHODS as ASSIGNING
from shardlint.inference.overlays.flax.nnx.assignment import is_altered
from shardlint.inference.overlays.flax.nnx.cells import CELLS, attribute, initialize_carry
from shardlint.inference.overlays.flax.nnx.cells import LAYERS as RECURRENT
from shardlint.inference.overlays.flax.nnx.filters import TABLE as FILTERS
from shardlint.inference.overlays.flax.nnx.flat_state import METHODS as FLAT_METHODS
from shardlint.inference.overlays.flax.nnx.iteration import METHODS as ITERATING
from shardlint.inference.overlays.flax.nnx.iteration import TABLE as ITERATION
from shardlint.inference.overlays.flax.nnx.layers import LAYERS as PLAIN
from shardlint.inference.overlays.flax.nnx.layers import Forward, attend, construct, operand_of
from shardlint.inference.overlays.flax.nnx.lifted import TABLE as TRANSFORMS
from shardlint.inference.overlays.flax.nnx.optimizers import METHODS as OPTIMIZING
from shardlint.inference.overlays.flax.nnx.optimizers import TABLE as OPTIMIZERS
from shardlint.inference.overlays.flax.nnx.rngs import (
    RNGS,
    STREAM,
    fork,
    make_streams,
    next_key,
    one_stream,
    random_methods,
)
from shardlint.inference.overlays.flax.nnx.rngs import attribute as stream_attribute
from shardlint.inference.overlays.flax.nnx.state import DICT, STATE, copied, dict_entry, entry, split, state
from shardlint.inference.overlays.flax.nnx.state import METHODS as STATE_METHODS
from shardlint.inference.overlays.flax.nnx.state import TABLE as STATES
from shardlint.inference.overlays.flax.nnx.transforms import TABLE as BRANCHES
from shardlint.inference.overlays.flax.nnx.transforms import over_objects
from shardlint.inference.overlays.flax.nnx.variables import (
    METADATA,
    PARAM,
    VARIABLES,
    ancestors,
    is_variable,
    make_variable,
    variable_spec,
    with_metadata,
)
from shardlint.inference.overlays.jax.transforms.idle_axes import note_gradient
from shardlint.inference.overlays.pytrees.prefixes import map_arrays
from shardlint.laws.core.values import Spec, Unknown
from shardlint.laws.core.verdicts import Rejected
from shardlint.laws.placement.named_sharding import judge_sharding
from shardlint.model.uses import ShardingUse

Rule = Callable[[Call], Value]
#: nnx's classes by name.
LAYERS = {**PLAIN, **RECURRENT, **ADAPTERS}

ALIASES = {
    **aliases("flax.nnx"),
    **{
        f"flax.nnx.optimizer.{name}": f"flax.nnx.{name}"
        for name in ("OptState", "OptArray", "OptVariable", "Optimizer")
    },
}
_BASE = "flax.nnx.Module"


# -- layers and variables ---------------------------------------------------------------------


def _construct(call: Call) -> Value:
    class_name = call.name.rpartition(".")[2]
    order = LAYERS[class_name].parameters
    args = dict(zip(order, call.args, strict=False)) | call.kwargs
    args.pop("rngs", None)
    try:
        return construct(call, class_name, args, Owner("nnx", f"nnx.{class_name}", call.place), LAYERS)
    except Stop as stop:
        return stop.answer(call.name)
    except ZeroDivisionError:
        return call.unknown("division by zero")


#: Layers that call others, or return their argument: what they return varies as it should already.
_PASSING = frozenset({"Dropout", "Sequential", "MultiHeadAttention"})


def _forward(rule: Callable[[Forward], Value], name: str = "") -> Rule:
    def forward(call: Call) -> Value:
        layer = nnx_layer(call.args[0])
        if layer is None:
            return call.unknown("an object of a class derived from a layer")
        if is_altered(layer):
            return call.unknown("its parameters were replaced")
        try:
            result = rule(Forward(call, layer))
        except Stop as stop:
            return stop.answer(call.name)
        if name in _PASSING:
            return result
        held = {
            key: operand_of(field) for key, field in layer.fields.items() if isinstance(field, LibraryObject)
        }
        params = (replace(one, name=key) for key, one in held.items() if isinstance(one, Array))
        operands = (*call.args[1:], *params)
        return layer_result(call, name, result, operands)

    return forward


def _variable(call: Call) -> Value:
    """``Param(value, **metadata)``."""
    value = call.argument(0, "value")
    if value is None:
        return call.unknown("no value")
    metadata = {key: item for key, item in call.kwargs.items() if key not in ("value", "hijax", "ref")}
    owner = Owner("nnx", f"nnx.{call.name.rpartition('.')[2]}", call.place)
    return make_variable(call, call.name, value, None if call.opaque else metadata, owner, "value")


def _value(call: Call) -> Value:
    variable = call.args[0]
    return variable.fields["value"] if isinstance(variable, LibraryObject) else call.unknown("no variable")


def _nothing(call: Call) -> Value:
    return NONE


def _identity(call: Call) -> Value:
    return call.args[0] if call.args else call.unknown("no argument")


def _fields(receiver: LibraryObject, name: str) -> Value | None:
    return receiver.fields.get(name)


# -- metadata ---------------------------------------------------------------------------------


def _map_state(function: Callable[[LibraryObject], Value], tree: Value) -> Value:
    """Replace the value of each variable in a tree of state; ``function`` handles plain arrays."""

    def leaf(value: Value) -> Value:
        if isinstance(value, LibraryObject) and value.kind == STATE:
            return LibraryObject(STATE, {"tree": map_tree(leaf, value.fields["tree"])}, value.origin)
        if isinstance(value, LibraryObject) and is_variable(value):
            return LibraryObject(value.kind, {**value.fields, "value": function(value)}, value.origin)
        if isinstance(value, Array):
            return function(LibraryObject("flax.nnx.Variable", {"value": value}, value.origin))
        return Unknown("not a tree of state")

    return map_tree(leaf, tree)


def _get_partition_spec(call: Call) -> Value:
    tree = call.argument(0, "tree") or call.unknown("no tree")
    return _map_state(lambda variable: variable_spec(call.interpreter, variable, call.place), tree)


def _get_named_sharding(call: Call) -> Value:
    """``nnx.get_named_sharding(tree, mesh)``, with the checks of `NamedSharding`."""
    tree, mesh = call.argument(0, "tree"), call.argument(1, "mesh")
    if tree is None or mesh is None:
        return call.unknown("no tree or mesh")
    rejected = False

    def sharding(variable: LibraryObject) -> Value:
        nonlocal rejected
        spec = variable_spec(call.interpreter, variable, call.place)
        if not isinstance(spec, SpecValue):
            return spec
        on = mesh if isinstance(mesh, MeshValue) else Unknown("the mesh is not known")
        verdict = judge_sharding(on.mesh if isinstance(on, MeshValue) else on, spec.spec)
        rejected = rejected or isinstance(verdict, Rejected)
        if spec.spec != Spec():
            call.interpreter.record(
                ShardingUse(
                    place=spec.origin or call.place,
                    environment=call.interpreter.environment(),
                    verdict=verdict,
                    mesh=on.mesh if isinstance(on, MeshValue) else on,
                    spec=spec.spec,
                    entry_places=spec.places,
                )
            )
        return ShardingValue(on, spec, call.place)

    found = _map_state(sharding, tree)
    return call.unknown("rejected") if rejected else found


def _switch_eager(call: Call) -> Value:
    """``use_eager_sharding(value)``: while it is off, nothing is claimed. A block restores it."""
    switches = call.interpreter.switches
    if as_bool(call.argument(0, "value")) is True or NOT_EAGER in switches:
        return LibraryObject("harmless", {}, call.place)
    switches.add(NOT_EAGER)

    def leave(inner: Call) -> Value:
        inner.interpreter.switches.discard(NOT_EAGER)
        return NONE

    return LibraryObject("harmless", {"leave": Native("use_eager_sharding.__exit__", leave)}, call.place)


def _configure(call: Call) -> Value:
    """``flax.config.update("flax_always_shard_variable", False)`` is the same switch."""
    if as_str(call.argument(0, "name")) in (None, "flax_always_shard_variable"):
        call.interpreter.switches.add(NOT_EAGER)
    return NONE


# -- transforms -------------------------------------------------------------------------------


def _jit(call: Call) -> Value:
    """``nnx.jit(f, in_shardings=, out_shardings=)`` traces as `jax.jit` does."""
    function = call.argument(0, "fun")
    if function is None or is_none(function):
        return Native("nnx.jit", lambda inner: _jit(replace(call, args=inner.args)))
    return over_objects(call, "jax.jit", function)


def _remat(call: Call) -> Value:
    """``nnx.remat(f, ...)``; a decorator if only options are passed."""
    function = call.argument(0, "f")
    if function is None:
        return Native("nnx.remat(...)", lambda inner: _remat(replace(call, args=inner.args)))
    return over_objects(call, "jax.checkpoint", function)


def _grad(call: Call) -> Value:
    """``nnx.grad(f, argnums=0)`` and ``nnx.value_and_grad``: the gradient of an object is a state of its
    parameters."""
    function, argnums = call.argument(0, "f"), call.argument(1, "argnums") or Const(0)
    if function is None:
        return Native(f"{call.name}(...)", lambda inner: _grad(replace(call, args=inner.args)))
    aux, both = as_bool(call.kwargs.get("has_aux", Const(False))), call.name.endswith("value_and_grad")

    def run(inner: Call) -> Value:
        note_gradient(inner)
        value = inner.interpreter.call(function, list(inner.args), dict(inner.kwargs), inner.place)
        number = as_int(argnums)
        if number is None or number >= len(inner.args) or aux is None:
            grads: Value = inner.unknown("what it differentiates for is not known")
        else:
            grads = _gradient(inner, inner.args[number])
        if both:
            return Tuple((value, grads))
        parts = as_items(value)
        return grads if not aux else Tuple((grads, parts[1] if parts else inner.unknown("no output")))

    return call.interpreter.wrapped(Native(f"{call.name}(...)", run, function, call.place))


def _gradient(call: Call, primal: Value) -> Value:
    if isinstance(primal, Array):
        return replace(primal, sharding=None, committed=None, name=None)
    found = state(Call(call.interpreter, "flax.nnx.state", [primal, External(PARAM)], {}, call.place))
    return copied(found)


def _eval_shape(call: Call) -> Value:
    """``nnx.eval_shape(f, *args)``: the result of ``f``, traced, of which nothing is made."""
    if not call.args:
        return call.unknown("no function")
    traced = call.interpreter.call(External("jax.jit"), [call.args[0]], {}, call.place)
    with call.interpreter.within(in_jit=True, compiles=False):
        result = call.interpreter.call(traced, list(call.args[1:]), dict(call.kwargs), call.place)
    return map_arrays(result, lambda array, _: replace(array, made=None, struct=True), keeps=True)


def _abstract_model(call: Call) -> Value:
    """``nnx.get_abstract_model(init_fn, mesh)``: the result of `init_fn` on the mesh, split."""
    init, mesh, _ = call.bind("init_fn", "mesh", graph=None)
    if init is None or not isinstance(mesh, MeshValue):
        return call.unknown("the mesh is not known")
    interpreter, place = call.interpreter, call.place
    with interpreter.within(mesh=mesh):
        model = _eval_shape(Call(interpreter, "flax.nnx.eval_shape", [init], {}, place))
        parts = split(Call(interpreter, "flax.nnx.split", [model], {}, place))
        states = parts.items[1] if isinstance(parts, Tuple) else parts
        shardings = _get_named_sharding(
            Call(interpreter, "flax.nnx.get_named_sharding", [states, mesh], {}, place)
        )
    return shardings if isinstance(shardings, Unknown) else parts


_SPMD = ("flax.nnx", "flax.nnx.spmd")

TABLE: dict[str, Rule] = {
    **TRANSFORMS,
    **STATES,
    **FILTERS,
    **BRANCHES,
    **ITERATION,
    **{f"flax.nnx.{name}": _construct for name in LAYERS},
    **dict.fromkeys(VARIABLES, _variable),
    **{f"{module}.with_partitioning": with_metadata for module in _SPMD},
    **{f"{module}.get_partition_spec": _get_partition_spec for module in _SPMD},
    **{f"{module}.get_named_sharding": _get_named_sharding for module in _SPMD},
    **{f"{module}.get_abstract_model": _abstract_model for module in _SPMD},
    "flax.nnx.with_metadata": with_metadata,
    "flax.nnx.use_eager_sharding": _switch_eager,
    "flax.config.update": _configure,
    RNGS: make_streams,
    **OPTIMIZERS,
    "flax.nnx.jit": _jit,
    "flax.nnx.remat": _remat,
    "flax.nnx.grad": _grad,
    "flax.nnx.value_and_grad": _grad,
    "flax.nnx.eval_shape": _eval_shape,
    **{f"flax.nnx.{name}": _identity for name in ("data", "static")},
    **initializer_makers("flax.nnx"),
    **functions("flax.nnx"),
}

#: Calling an object of a kind.
CALLS: dict[str, Rule] = {
    **{f"flax.nnx.{name}": _forward(layer.forward, name) for name, layer in LAYERS.items()},
    RNGS: next_key,
    STREAM: next_key,
}

#: Layers as base classes.
BASES: dict[str, Callable[[], ClassValue]] = {
    f"flax.nnx.{name}": partial(nnx_class, name, _construct, CALLS[f"flax.nnx.{name}"]) for name in LAYERS
}

_LAYER_KINDS = tuple(f"flax.nnx.{name}" for name in LAYERS)

#: Methods by kind and name; the object is the call's first argument.
METHODS: dict[tuple[str, str], Rule] = {
    **{
        (kind, name): _nothing
        for kind in (_BASE, *_LAYER_KINDS)
        for name in ("train", "eval", "set_attributes")
    },
    **{
        (kind, name): _value for kind in VARIABLES for name in ("get_value", "get_raw_value", "__jax_array__")
    },
    **ASSIGNING,
    **STATE_METHODS,
    **FLAT_METHODS,
    ("flax.nnx.Embed", "attend"): _forward(attend),
    **{(kind, "initialize_carry"): initialize_carry for kind in CELLS},
    **random_methods(RNGS),
    **random_methods(STREAM),
    (RNGS, "fork"): fork,
    **OPTIMIZING,
    **ITERATING,
    (STREAM, "fork"): one_stream,
}

#: Attributes by kind; None for unknown attributes.
ATTRIBUTES: dict[str, Callable[[LibraryObject, str], Value | None]] = {
    **dict.fromkeys((*_LAYER_KINDS, *VARIABLES), _fields),
    **dict.fromkeys(CELLS, attribute),
    RNGS: stream_attribute,
    STATE: entry,
    DICT: dict_entry,
}

#: Kinds that delegate to the value in one of their fields: in operators, by index, and for attributes that
#: `ATTRIBUTES` does not have.
DELEGATES: dict[str, str] = {**dict.fromkeys(VARIABLES, "value"), STATE: "tree", DICT: "items"}

#: Kinds that are pytrees, with the fields that hold their children.
CHILDREN: dict[str, tuple[str, ...] | None] = {
    **dict.fromkeys(_LAYER_KINDS),
    **dict.fromkeys((*VARIABLES, METADATA), ("value",)),
    STATE: ("tree",),
    RNGS: ("streams",),
    STREAM: ("count", "key"),
    DICT: ("items",),
}

#: The classes of which variables, states and modules are instances (flax 0.12.8).
LINEAGES: dict[str, tuple[str, ...]] = {
    **{kind: ancestors(kind) for kind in VARIABLES},
    STATE: (STATE,),
    _BASE: (_BASE,),
    **{kind: (kind, _BASE) for kind in _LAYER_KINDS},
    **{kind: (kind, "flax.nnx.RNNCellBase", _BASE) for kind in CELLS},
    "flax.nnx.LoRALinear": ("flax.nnx.LoRALinear", "flax.nnx.Linear", _BASE),
}

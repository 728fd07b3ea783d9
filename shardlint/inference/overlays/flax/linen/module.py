"""`flax.linen`: layers, partitioning metadata, and the methods of modules.

The evaluator makes an object of a program's class that derives from ``flax.linen.Module``, and then `CREATED`
names it; each call of a function of such a class runs inside the context of `METHOD_CONTEXTS`. `TABLE`,
`CALLS`, `ATTRIBUTES` and `METHODS` do the rest; the methods of the base class are in `METHODS` under the kind
``flax.linen.Module``.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from shardlint.inference.domain.values import (
    NONE,
    Array,
    Bound,
    ClassValue,
    Const,
    External,
    Function,
    Instance,
    LibraryObject,
    MeshValue,
    Native,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
    as_bool,
    as_str,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import Stop
from shardlint.inference.overlays.flax.common.derived_classes import linen_class, linen_layer
from shardlint.inference.overlays.flax.common.functions import functions
from shardlint.inference.overlays.flax.common.layer_shapes import (
    aliases,
    initialized,
    initializer_makers,
    refuse_array,
    shape_by_convention,
)
from shardlint.inference.overlays.flax.common.metadata import (
    LOGICALLY_PARTITIONED,
    NAMING,
    PARTITIONED,
    is_box,
    leaf_spec,
    map_tree,
    mesh_of,
    names_of,
    spec_of,
    unboxed,
)
from shardlint.inference.overlays.flax.common.parameter_uses import NameCheck, Owner, shape_known
from shardlint.inference.overlays.flax.common.unknown_layers import record_box, record_named
from shardlint.inference.overlays.flax.linen.bare_trees import note_bare
from shardlint.inference.overlays.flax.linen.cells import CELLS, attribute, initialize_carry
from shardlint.inference.overlays.flax.linen.cells import LAYERS as RECURRENT
from shardlint.inference.overlays.flax.linen.layers import LAYERS as PLAIN
from shardlint.inference.overlays.flax.linen.layers import Forward, attend
from shardlint.inference.overlays.flax.linen.lifted import LIFTED
from shardlint.inference.overlays.flax.linen.methods import TABLE as BRANCHES
from shardlint.inference.overlays.flax.linen.methods import clone, make_rng
from shardlint.inference.overlays.flax.linen.module_runs import (
    Mode,
    Run,
    current,
    for_parameters,
    fresh_run,
    is_module,
    module_created,
    running,
)  # fmt: skip
from shardlint.inference.overlays.flax.linen.mutable import (
    changed_variables,
    is_mutable_collection,
    makes_params,
    note_written,
)
from shardlint.inference.overlays.flax.linen.parameters import make_variable, unbox
from shardlint.inference.overlays.flax.linen.wrappers import LAYERS as WRAPPERS
from shardlint.inference.overlays.jax.shard_map.varying import vary
from shardlint.inference.overlays.jax.sharding.made_arrays import made_by_library
from shardlint.laws.core.values import Unknown
from shardlint.laws.core.verdicts import Api, Rejected
from shardlint.laws.transforms.varying import CONSTANT
from shardlint.model.spans import Place

if TYPE_CHECKING:
    from shardlint.inference.evaluation.evaluator import Evaluator

ALIASES = aliases("flax.linen")
_BASE = "flax.linen.Module"
#: linen's classes by name.
LAYERS = {**PLAIN, **RECURRENT, **WRAPPERS}

# -- layers -----------------------------------------------------------------------------------


def _construct(call: Call, prefix: str = "") -> Value:
    """Create a layer with its arguments as fields. A transform adds ``prefix`` to the name of its class."""
    class_name = call.name.rpartition(".")[2]
    order = LAYERS[class_name].fields
    fields = dict(zip(order, call.args, strict=False)) | call.kwargs
    if call.opaque:
        # A starred argument may set any field that is not written here.
        fields = {name: Unknown("starred arguments") for name in order} | fields
    name, parent = fields.get("name"), fields.pop("parent", None)
    layer = LibraryObject(call.name, fields, call.place)
    module_created(call.interpreter, layer, prefix + class_name, name, parent)
    return layer


def instance_created(interpreter: Evaluator, module: Instance) -> None:
    """Name a new object of a class of the program, whose fields are set."""
    attributes = module.attributes
    module_created(interpreter, module, module.cls.name, attributes.get("name"), attributes.get("parent"))


def _forward(name: str, rule: Callable[[Forward], Value], passes: bool = False) -> Callable[[Call], Value]:
    """Turn a layer's rule into the evaluation of its calls; for ``passes`` see `Layer`."""

    def forward(call: Call) -> Value:
        module = call.args[0]
        layer = linen_layer(module, f"flax.linen.{name}")
        if layer is None or not is_module(module):
            return call.unknown("an object of a class derived from a layer")
        owner = owner_of(module, call)
        with running(call.interpreter, module, call.place) as binding:
            running_layer = Forward(call, layer, binding, owner)
            try:
                result = rule(running_layer)
                return result if passes else running_layer.computed(result)
            except Stop as stop:
                record_named(call, owner, layer.fields, running_layer.made)
                return stop.answer(call.name)
            except ZeroDivisionError:
                return call.unknown("division by zero")

    return forward


def owner_of(module: Value, call: Call) -> Owner:
    """Return a module as an owner: ``nn.Dense``, or the class of the program."""
    place = getattr(module, "origin", None) or call.place
    if isinstance(module, Instance):
        return Owner("linen", module.cls.name, place)
    kind = module.kind if isinstance(module, LibraryObject) else call.name
    return Owner("linen", f"nn.{kind.rpartition('.')[2]}", place)


# -- init and apply ---------------------------------------------------------------------------

_INIT_KEYWORDS = ("method", "mutable", "capture_intermediates", "rngs", "unbox")


def linen_init(call: Call) -> Value:
    """``module.init(rngs, *args)``: the variables that a call of the module makes."""
    variables = _run(call, Mode.INIT)[1]
    alike = vary(variables, CONSTANT) if call.interpreter.context.bound_axes == () else variables
    return made_by_library(call, alike)


def linen_init_with_output(call: Call) -> Value:
    """``module.init_with_output(rngs, *args)``: the result of the call, and the variables."""
    output, variables, _ = _run(call, Mode.INIT)
    return Tuple((output, made_by_library(call, variables)))


def linen_apply(call: Call) -> Value:
    """``module.apply(variables, *args)``: the result of the call, with changed variables if ``mutable``."""
    output, _, run = _run(call, Mode.APPLY)
    mutable = [call.kwargs.get(name) for name in ("mutable", "capture_intermediates")]
    if all(value is None or as_bool(value) is False for value in mutable):
        return output
    if isinstance(mutable[0], Unknown):
        return call.unknown("whether it returns variables is not known")
    return Tuple((output, changed_variables(run, *mutable)))


def _run(call: Call, mode: Mode) -> tuple[Value, Value, Run | None]:
    """Return the output, the variables, and the run that made them."""
    module, args = call.args[0], list(call.args[2:])
    if not is_module(module):
        return call.unknown("the module is not known"), call.unknown("the module is not known"), None
    interpreter = call.interpreter
    given = call.argument(1, "variables") if mode is Mode.APPLY else None
    kwargs = {
        name: value for name, value in call.kwargs.items() if name not in (*_INIT_KEYWORDS, "variables")
    }
    method = call.kwargs.get("method")
    rngs = call.argument(1, "rngs") if mode is Mode.INIT else call.kwargs.get("rngs")
    started = fresh_run(interpreter, module, mode, given, rngs, call.place)
    with started as run, running(interpreter, module, call.place):
        run.makes_params = makes_params(mode, call.kwargs.get("mutable"))
        if method is None or is_none(method):
            output = interpreter.call(module, args, kwargs, call.place)
        elif (name := as_str(method)) is not None:
            output = interpreter.call(
                interpreter.attribute(module, name, call.place), args, kwargs, call.place
            )
        else:
            function = method.function if isinstance(method, Bound) else method
            output = interpreter.call(function, [module, *args], kwargs, call.place)
        variables: Value = run.variables()
        if isinstance(module, Instance) and module.opaque and not run.made:
            variables = call.unknown("the module is not known")
            return output, variables, None
    return output, variables, run


# -- methods of modules -----------------------------------------------------------------------


def linen_param(call: Call) -> Value:
    """``self.param(name, init_fn, *init_args, unbox=True)``: the parameter, without its box."""
    name = as_str(call.argument(1, "name"))
    args = [for_parameters(call.interpreter), *call.args[3:]]
    return _variable(call, "params", name, call.argument(2, "init_fn"), args)


def linen_variable(call: Call) -> Value:
    """``self.variable(col, name, init_fn, *init_args)``: an object whose ``value`` is the variable's."""
    note_written(call, call.argument(1, "col"))
    collection, name = as_str(call.argument(1, "col")), as_str(call.argument(2, "name"))
    init, args = call.argument(3, "init_fn"), list(call.args[4:])
    value = call.unknown("no initializer") if init is None else _variable(call, collection, name, init, args)
    return LibraryObject("flax.linen.Variable", {"value": value}, call.place)


def _variable(
    call: Call, collection: str | None, name: str | None, init: Value | None, args: list[Value]
) -> Value:
    interpreter, module = call.interpreter, call.args[0]
    keywords = ("name", "init_fn", "col", "unbox")
    kwargs = {key: value for key, value in call.kwargs.items() if key not in keywords}

    def initial() -> Value:
        return _made_by(call, init or Unknown("no initializer"), args, kwargs)

    if collection is None or name is None or not is_module(module) or call.opaque:
        made = initial() if not call.opaque else call.unknown("starred arguments")
        if collection == "params" and is_module(module):
            record_box(call, owner_of(module, call), "a parameter", made)
        return unboxed(made)
    return make_variable(
        interpreter, current(interpreter, module), collection, name, owner_of(module, call), initial
    )


def _made_by(call: Call, init: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
    value = initialized(call, init, args, kwargs)
    shape = shape_by_convention(init, args) if isinstance(value, Unknown) else None
    if shape is None:
        return value
    return LibraryObject(
        PARTITIONED, {"value": Array(shape), "names": Unknown("the initializer is not known")}
    )


def _is_initializing(call: Call) -> Value:
    module = call.args[0]
    mode = current(call.interpreter, module).run.mode if is_module(module) else Mode.LOOSE
    return call.unknown("the caller decides") if mode is Mode.LOOSE else Const(mode is Mode.INIT)


def _unknown(call: Call) -> Value:
    return call.unknown("not followed")


def _writes(call: Call) -> Value:
    """``sow(col, ...)``, ``put_variable(col, ...)``: a variable that is not modelled."""
    note_written(call, call.argument(1, "col"))
    return call.unknown("not followed")


# -- metadata ---------------------------------------------------------------------------------


def _with_partitioning(call: Call) -> Value:
    """``with_partitioning(fn, names, mesh=None)``: an initializer whose results are boxed."""
    init, names = call.argument(0, "fn"), call.argument(1, "names")
    mesh, rules = call.argument(2, "mesh"), call.argument(3, "rules")
    kind = LOGICALLY_PARTITIONED if call.name.endswith("with_logical_partitioning") else PARTITIONED
    if init is None or names is None:
        return call.unknown("no names")
    fields = {"names": names, "mesh": mesh or NONE, "rules": rules or NONE}

    def boxed(inner: Call) -> Value:
        if refuse_array(call, "nn.with_partitioning", init):
            return call.unknown("rejected")
        value = initialized(inner, init, inner.args, inner.kwargs)
        if isinstance(value, Unknown) and (shape := shape_by_convention(init, inner.args)) is not None:
            value = Array(shape)
        return LibraryObject(kind, {"value": value, **fields}, call.place)

    return Native(NAMING, boxed, wraps=init, origin=call.place)


def _partitioned(call: Call) -> Value:
    """``Partitioned(value, names, mesh=None)``."""
    value, names, mesh = call.argument(0, "value"), call.argument(1, "names"), call.argument(2, "mesh")
    if value is None or names is None or call.opaque:
        return call.unknown("no names")
    fields = {
        "value": value,
        "names": names,
        "mesh": mesh or NONE,
        "rules": call.argument(3, "rules") or NONE,
    }
    return LibraryObject(call.name, fields, call.place)


def _get_partition_spec(call: Call) -> Value:
    note_bare(call, call.argument(0, "tree"))
    return map_tree(leaf_spec, call.argument(0, "tree") or call.unknown("no tree"))


def _get_sharding(call: Call) -> Value:
    """``get_sharding(tree, mesh)``: each box's names on the mesh, with the checks of `NamedSharding`."""
    tree, mesh = call.argument(0, "tree"), call.argument(1, "mesh")
    if tree is None or mesh is None:
        return call.unknown("no tree or mesh")
    note_bare(call, tree)
    rejected = False

    def sharding(leaf: Value) -> Value:
        nonlocal rejected
        spec = leaf_spec(leaf)
        if not isinstance(spec, SpecValue):
            return spec
        if isinstance(leaf, LibraryObject):
            rejected = _box_rejected(call, leaf, spec, mesh) or rejected
        return ShardingValue(
            mesh if isinstance(mesh, MeshValue) else Unknown("the mesh is not known"), spec, call.place
        )

    found = map_tree(sharding, tree)
    return call.unknown("rejected") if rejected else found


def _box_rejected(call: Call, box: LibraryObject, spec: SpecValue, mesh: Value) -> bool:
    """Record a box's names on the mesh; return whether JAX rejects them."""
    api, value = Api.LINEN_SHARDING, box.fields["value"]
    name_check = NameCheck(api, api, mesh_of(mesh), raw=False, in_jit=False, ruled=True)
    names, subject = names_of(spec), as_str(box.fields.get("subject")) or "a parameter"
    verdict = name_check.judge(names, shape_known(value))
    name_check.record(call.interpreter, names, value, subject, call.place, verdict)
    return isinstance(verdict, Rejected)


def _unbox(call: Call) -> Value:
    """``nn.unbox(tree)``, ``box.unbox()``: the values in boxes, constrained if there is a mesh."""
    constrain = as_bool(call.argument(1, "apply_constraint")) is not False

    def leaf_value(leaf: Value) -> Value:
        if not isinstance(leaf, LibraryObject) or not is_box(leaf):
            return leaf
        if not constrain:
            return unboxed(leaf)
        subject = as_str(leaf.fields.get("subject")) or "a parameter"
        return unbox(call.interpreter, leaf, subject, call.place)

    return map_tree(leaf_value, call.argument(0, "tree") or call.unknown("no tree"))


def _box_spec(call: Call) -> Value:
    box = call.args[0]
    return spec_of(box.fields.get("names")) if isinstance(box, LibraryObject) else call.unknown("no box")


def _identity(call: Call) -> Value:
    return call.args[0] if call.args else call.unknown("no argument")


def _decorator(call: Call) -> Value:
    """``@compact``, ``@nowrap``: the method itself."""
    return call.args[0] if call.args else Native("a decorator", _identity)


def _lifted_class(prefix: str) -> Callable[[Call], Value]:
    """Return ``nn.remat(Block)`` or ``nn.jit(Block)``: the same module, its class name with a prefix."""

    def lift(call: Call) -> Value:
        target = call.argument(0, "target")
        if isinstance(target, ClassValue):
            return ClassValue(
                prefix + target.name, (target,), {}, dataclass=target.dataclass, origin=target.origin
            )
        if isinstance(target, External) and target.name.rpartition("flax.linen.")[2] in LAYERS:
            return Native(
                f"{prefix}({target.name})",
                lambda inner: _construct(replace(inner, name=target.name), prefix),
                origin=call.place,
            )
        if isinstance(target, Function | Native):
            return Native(f"{prefix}(...)", lambda inner: _same(inner, target), target, call.place)
        return call.unknown("what is lifted is not known")

    return lift


def _same(call: Call, function: Value) -> Value:
    """Call a lifted function: the function without the transform, traced."""
    with call.interpreter.within(in_jit=True):
        return call.interpreter.call(function, list(call.args), dict(call.kwargs), call.place, call.opaque)


_META = ("flax.linen", "flax.linen.meta", "flax.linen.spmd", "flax.linen.partitioning", "flax.core.meta")

TABLE: dict[str, Callable[[Call], Value]] = {
    **{f"flax.linen.{name}": _construct for name in LAYERS},
    **{f"{module}.with_partitioning": _with_partitioning for module in _META},
    **{f"{module}.with_logical_partitioning": _with_partitioning for module in _META},
    **{f"{module}.get_partition_spec": _get_partition_spec for module in _META},
    **{f"{module}.get_sharding": _get_sharding for module in _META},
    **{f"{module}.unbox": _unbox for module in _META},
    **{f"{module}.Partitioned": _partitioned for module in _META},
    **{f"{module}.LogicallyPartitioned": _partitioned for module in _META},
    **{f"flax.linen.{name}": _decorator for name in ("compact", "nowrap", "compact_name_scope")},
    **initializer_makers("flax.linen"),
    **functions("flax.linen"),
    **BRANCHES,
    "flax.linen.remat": _lifted_class("Checkpoint"),
    "flax.linen.checkpoint": _lifted_class("Checkpoint"),
    "flax.linen.jit": _lifted_class("Jit"),
    "flax.linen.partitioning.remat": _lifted_class("Core_remat_static"),
    "flax.core.freeze": _identity,
    "flax.core.unfreeze": _identity,
    "flax.core.FrozenDict": _identity,
    "flax.core.frozen_dict.freeze": _identity,
    "flax.core.frozen_dict.unfreeze": _identity,
}

#: Calling an object of a kind.
CALLS: dict[str, Callable[[Call], Value]] = {
    f"flax.linen.{name}": _forward(name, layer.forward, layer.passes) for name, layer in LAYERS.items()
}

#: Layers as base classes.
BASES: dict[str, Callable[[], ClassValue]] = {
    f"flax.linen.{name}": partial(linen_class, name, layer.fields, CALLS[f"flax.linen.{name}"])
    for name, layer in LAYERS.items()
}

_OPAQUE_METHODS = ("bind", "get_variable", "has_rng", "has_variable", "tabulate", "unbind")

_MODULE_METHODS: dict[str, Callable[[Call], Value]] = {
    "init": linen_init,
    "lazy_init": linen_init,
    "init_with_output": linen_init_with_output,
    "apply": linen_apply,
    "param": linen_param,
    "variable": linen_variable,
    "make_rng": make_rng,
    "is_initializing": _is_initializing,
    "is_mutable_collection": is_mutable_collection,
    "perturb": lambda call: call.args[2] if len(call.args) > 2 else call.unknown("no value"),
    **dict.fromkeys(("clone", "copy"), clone),
    **dict.fromkeys(_OPAQUE_METHODS, _unknown),
    **dict.fromkeys(("sow", "put_variable"), _writes),
}

#: Methods by kind and name; the object is the call's first argument.
METHODS: dict[tuple[str, str], Callable[[Call], Value]] = {
    **{(kind, name): method for kind in (_BASE, *CALLS, LIFTED) for name, method in _MODULE_METHODS.items()},
    ("flax.linen.Embed", "attend"): _forward("Embed", attend),
    **{(kind, "initialize_carry"): initialize_carry for kind in CELLS},
    **{(kind, "unbox"): _unbox for kind in (PARTITIONED, LOGICALLY_PARTITIONED)},
    **{(kind, "get_partition_spec"): _box_spec for kind in (PARTITIONED, LOGICALLY_PARTITIONED)},
}


def _fields(module: LibraryObject, name: str) -> Value | None:
    return module.fields.get(name)


#: Attributes by kind; None for unknown attributes.
ATTRIBUTES: dict[str, Callable[[LibraryObject, str], Value | None]] = {
    **dict.fromkeys((*CALLS, PARTITIONED, LOGICALLY_PARTITIONED, "flax.linen.Variable"), _fields),
    **dict.fromkeys(CELLS, attribute),
}

#: Kinds that are pytrees, with the fields that hold their children, for tree functions and transforms.
CHILDREN: dict[str, tuple[str, ...]] = {PARTITIONED: ("value",), LOGICALLY_PARTITIONED: ("value",)}

#: Hooks for a new object of a class of the program, by the library class it derives from.
CREATED: dict[str, Callable[[Evaluator, Instance], None]] = {_BASE: instance_created}

#: The context in which a method of the program runs, by the library class that its object derives from.
METHOD_CONTEXTS: dict[str, Callable[[Evaluator, Instance, Place], AbstractContextManager[object]]] = {
    _BASE: running
}

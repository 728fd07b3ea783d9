"""linen's lifted transforms: `nn.scan` and `nn.vmap` over modules, and the axis they add to variables.

From `flax.core.lift`, `flax.core.meta` and `flax.linen.partitioning` 0.12.8. The body runs with the variables
of one layer; those in ``variable_axes`` are stacked along a new axis. A box then needs a name for it, from
``metadata_params``.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager

from shardlint.inference.domain.values import (
    Array,
    ClassValue,
    Const,
    DictValue,
    External,
    Function,
    LibraryObject,
    Native,
    SpecValue,
    Tuple,
    Value,
    as_dim,
    as_int,
    as_items,
    as_str,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.flax.common.metadata import Names, entry_of, is_box, names_of
from shardlint.inference.overlays.flax.common.variable_axes import (
    Sizes,
    names_with,
    slice_of,
    sliced,
    stacked_array,
    with_axis,
)
from shardlint.inference.overlays.flax.linen.module_runs import (
    Binding,
    Module,
    Run,
    Tree,
    flax_state,
    is_module,
    module_created,
    running,
)
from shardlint.inference.overlays.flax.linen.parameters import merge_variables
from shardlint.inference.overlays.flax.logical.uses import Calls, Setting, record_mistake
from shardlint.inference.overlays.pytrees.prefixes import traced
from shardlint.laws.core.dims import Dim
from shardlint.laws.core.values import Entry, Spec, Unknown
from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.laws.core.witness_data import call_data
from shardlint.laws.flax.logical_axes import Mistake
from shardlint.model.spans import Place
from shardlint.support.lazy_dataclass import dataclass

PARTITION_NAME = "partition_name"
#: linen's prefix for a class whose variables are mapped (`nn.map_variables`); the kind of an ``In(axis)``.
_MAPPED, _IN = "Map_variables", "flax.typing.In"
#: The kind of an object that holds a lifted layer of linen.
LIFTED = "flax.linen.Lifted"


@dataclass(frozen=True, slots=True)
class Lift:
    """A transform's treatment of variables and arguments.

    ``axes`` has the axis of each stacked collection, None if it is unknown; those in ``inward`` are only
    read. ``name`` is the new axis's entry in names; it is not ``named`` if ``metadata_params`` lack it.
    ``wraps`` is the prefix of what is wrapped around the transform (`scan_with_axes`).
    """

    scan: bool
    place: Place
    axes: dict[str, int] | None
    named: bool | None
    name: Entry
    name_place: Place | None
    in_axes: Value
    out_axes: Value
    length: Dim | None
    inward: frozenset[str] = frozenset()
    wraps: str = ""

    @property
    def prefix(self) -> str:
        """Return linen's prefix for the name of a lifted class."""
        return self.wraps + ("Scan" if self.scan else "Vmap")


def _lift_of(call: Call) -> Lift:
    scan = "scan" in call.name.rpartition(".")[2]
    axes = _axes_of(call.argument(1, "variable_axes"))
    # `scan_with_axes` takes none, and names the axis in other metadata than boxes.
    boxed = not call.name.endswith("_with_axes")
    metadata = call.kwargs.get("metadata_params", DictValue({})) if boxed else None
    known = metadata.items if isinstance(metadata, DictValue) else None
    name: Value = Unknown("the axis name") if known is None else known.get(PARTITION_NAME, Const(None))
    size = call.kwargs.get("length" if scan else "axis_size")
    return Lift(
        scan=scan,
        place=call.place,
        axes=None if axes is None else {name: axis for name, (axis, _) in axes.items()},
        named=None if known is None else PARTITION_NAME in known,
        name=entry_of(name),
        name_place=getattr(name, "origin", None),
        in_axes=call.kwargs.get("in_axes", Const(0)),
        out_axes=call.kwargs.get("out_axes", Const(0)),
        length=as_dim(size),
        inward=frozenset(name for name, (_, inward) in (axes or {}).items() if inward),
        wraps=_MAPPED * len(_with_metadata(call, axes or {})),
    )


def _axes_of(value: Value | None) -> dict[str, tuple[int, bool]] | None:
    """Return the axis of each collection, and whether it is only read along it; shared ones (None) are left
    out."""
    if value is None:
        return {}
    if not isinstance(value, DictValue) or value.items is None:
        return None
    found: dict[str, tuple[int, bool]] = {}
    for key, axis in value.items.items():
        inward = isinstance(axis, LibraryObject) and axis.kind == _IN
        number = as_int(axis.fields["axis"] if isinstance(axis, LibraryObject) and inward else axis)
        if not isinstance(key, str) or (number is None and (inward or not is_none(axis))):
            return None
        if number is not None:
            found[key] = number, inward
    return found


def _with_metadata(call: Call, axes: Container[str]) -> list[str]:
    """Return the stacked collections with metadata in which `scan_with_axes` or `vmap_with_axes` names the
    new axis."""
    if not call.name.endswith("_with_axes"):
        return []
    if "vmap" in call.name:
        names = call.kwargs.get("partitioning_axis_names")
        keys = list(names.items or ()) if isinstance(names, DictValue) else []
    else:
        given = call.kwargs.get("axes_collections")
        keys = ["params"] if given is None else [as_str(item) for item in as_items(given) or ()]
    return [key for key in keys if isinstance(key, str) and key in axes]


def _only_read(call: Call) -> Value:
    """``In(axis)``: variables that a transform takes along an axis, and does not return."""
    (axis,) = call.bind("axis")
    return LibraryObject(_IN, {"axis": axis or call.unknown("no axis")}, call.place)


# -- lifted bodies --------------------------------------------------------------------------------------


def lifted(call: Call) -> Value:
    """``nn.scan(target, ...)``, ``nn.vmap(target, ...)``: of a class of modules, or of a function on a
    module."""
    target = call.argument(0, "target")
    if call.opaque or "methods" in call.kwargs:
        return call.unknown("arguments that are not followed")
    lift = _lift_of(call)
    if isinstance(target, ClassValue):
        return _lifted_class(call, target, lift)
    if isinstance(target, External) and target.name.startswith("flax.linen."):
        return Native(f"{lift.prefix}{target.name}", lambda inner: _lifted_layer(inner, target, lift))
    if isinstance(target, Function | Native):
        return Native(
            f"a lifted {target.name if isinstance(target, Function) else target.description}",
            lambda inner: _run_function(inner, target, lift),
            wraps=target,
            origin=call.place,
        )
    return call.unknown("what is lifted is not known")


def _lifted_class(call: Call, target: ClassValue, lift: Lift) -> ClassValue:
    body = call.interpreter.attribute(target, "__call__", call.place)

    def run(inner: Call) -> Value:
        module = inner.args[0]
        if not is_module(module):
            return inner.unknown("the module is not known")
        with running(inner.interpreter, module, inner.place) as binding:
            return _lifted_call(inner, lift, binding, module, body, inner.args[1:], own=True)

    method = Native(f"{lift.prefix}.__call__", run, wraps=body, origin=call.place)
    name = lift.prefix + target.name
    return ClassValue(name, (target,), {"__call__": method}, dataclass=target.dataclass, origin=target.origin)


def _lifted_layer(call: Call, target: External, lift: Lift) -> Value:
    """Return a layer of linen itself, lifted: an object that holds the layer."""
    interpreter = call.interpreter
    kwargs = dict(call.kwargs)
    name, parent = kwargs.pop("name", None), kwargs.pop("parent", None)
    layer = interpreter.call(target, list(call.args), {**kwargs, "parent": Const(None)}, call.place)

    def run(inner: Call) -> Value:
        holder = inner.args[0]
        if not is_module(holder) or not is_module(layer):
            return inner.unknown("the layer is not known")
        with running(inner.interpreter, holder, inner.place) as binding:
            return _lifted_call(inner, lift, binding, layer, layer, inner.args[1:])

    body = Native("a lifted layer", run)
    made = LibraryObject(LIFTED, {"body": body}, call.place)
    module_created(interpreter, made, f"{lift.prefix}{target.name.rpartition('.')[2]}", name, parent)
    return made


def call_lifted(call: Call) -> Value:
    """Call an object that holds a lifted layer."""
    holder = call.args[0]
    assert isinstance(holder, LibraryObject)
    body = holder.fields["body"]
    assert isinstance(body, Native)
    return body.call(call)


def _run_function(call: Call, function: Value, lift: Lift) -> Value:
    """``nn.scan(body, ...)(module, carry, xs)``: the body's variables are the module's."""
    module = call.args[0] if call.args else None
    if module is None or not is_module(module):
        return call.unknown("the module is not known")
    with running(call.interpreter, module, call.place) as binding:
        return _lifted_call(call, lift, binding, module, function, call.args[1:], own=True)


# -- running the body -----------------------------------------------------------------------------------


def _lifted_call(
    call: Call,
    lift: Lift,
    outer: Binding,
    module: Module,
    body: Value,
    args: Sequence[Value],
    own: bool = False,
) -> Value:
    """Run the body on one layer's variables and one slice of the arguments, and stack the results.

    ``own``: the body takes the module as its first argument.
    """
    interpreter, sizes = call.interpreter, Sizes(lift.length)
    carried = 1 if lift.scan else 0
    slices = [traced(arg) for arg in args[:carried]]
    slices += sliced([traced(arg) for arg in args[carried:]], lift.in_axes, sizes)
    if lift.axes is None:
        return call.unknown("the axes of the variables are not known")
    with _layer(interpreter, lift, outer, module) as run:
        inner = [module, *slices] if own else slices
        result = interpreter.call(body, inner, dict(call.kwargs), call.place)
    unnamed = _stacked(interpreter, lift, outer, run, sizes.known)
    if unnamed:
        return call.unknown("rejected")
    if not lift.scan:
        return with_axis(result, lift.out_axes, sizes.known)
    parts = as_items(result)
    if parts is None or len(parts) != 2:
        return call.unknown("the body returns no carry and output")
    return Tuple((parts[0], with_axis(parts[1], lift.out_axes, sizes.known)))


@contextmanager
def _layer(interpreter: Evaluator, lift: Lift, outer: Binding, module: Module) -> Iterator[Run]:
    """Start a run of one layer, whose variables are slices of the outer run's."""
    state = flax_state(interpreter)
    run = Run(outer.run.mode, interpreter.path, _unstacked(outer.run.given, lift))
    run.written, run.makes_params = outer.run.written, outer.run.makes_params
    root = Binding(run, module, outer.path, counts=outer.counts, ready=outer.ready)
    if module is not outer.module:
        root = Binding(run, module, outer.path)
    run.bindings[id(module)] = root
    before, state.stack = state.stack, [root]
    try:
        with interpreter.within(in_jit=True, mapped=True), running(interpreter, module, lift.place):
            yield run
    finally:
        state.stack = before


def _stacked(interpreter: Evaluator, lift: Lift, outer: Binding, run: Run, length: Dim) -> bool:
    """Merge the body's variables into the outer run, stacked. Return whether Flax has no name for the
    axis."""
    refused = False

    def stack(axis: int) -> Callable[[Value], Value]:
        def one(value: Value) -> Value:
            nonlocal refused
            if lift.named is False and not refused and isinstance(value, LibraryObject) and _is_named(value):
                refused = True
                _record_unnamed(interpreter, lift, value)
            return _with_axis_added(value, axis, lift, length)

        return one

    assert lift.axes is not None
    for collection, tree in run.made.items():
        axis = lift.axes.get(collection)
        if collection in lift.inward:
            outer.run.uncertain.add(outer.path)
            continue
        merge_variables(
            interpreter, outer.run, collection, tree if axis is None else _map_variables(tree, stack(axis))
        )
    outer.run.uncertain |= run.uncertain
    return refused


def _is_named(value: LibraryObject) -> bool:
    """Return whether a variable certainly has partitioning names; an unknown initializer may set none."""
    return is_box(value) and not isinstance(names_of(value.fields.get("names")).spec, Unknown)


def _record_unnamed(interpreter: Evaluator, lift: Lift, box: LibraryObject) -> None:
    names = names_of(box.fields.get("names"))
    subject = as_str(box.fields.get("subject")) or "a parameter"
    setting = Setting("linen", Names(None), (), lift.place, function=f"nn.{lift.prefix.lower()}")
    detail = f"{names.spec}" if isinstance(names.spec, Spec) else ""
    verdict = Rejected(Cause.RULES, "PartitioningUnspecifiedError", "init", detail=detail)
    calls = Calls(*(call_data("stacked layers", (named,)) for named in (False, True)))
    record_mistake(interpreter, setting, Mistake.UNNAMED_AXIS, subject, verdict, calls=calls)


def _with_axis_added(value: Value, axis: int, lift: Lift, length: Dim) -> Value:
    """Return a variable with a new axis (`Partitioned.add_axis`); a box's names get an entry for it."""
    if isinstance(value, LibraryObject) and is_box(value):
        names: Value = Unknown("whether the axis has a name is not known")
        if lift.named is not None:
            names = names_with(value.fields.get("names"), axis, lift.name, lift.name_place)
        inner = _with_axis_added(value.fields["value"], axis, lift, length)
        return LibraryObject(value.kind, {**value.fields, "value": inner, "names": names}, value.origin)
    return stacked_array(value, axis, length) if isinstance(value, Array) else value


def _unstacked(given: Value | None, lift: Lift) -> Value | None:
    """Return the given variables as one layer receives them."""
    if not isinstance(given, DictValue) or given.items is None or not lift.axes:
        return given
    return DictValue(
        {
            key: _map_lifted_axes(tree, lift.axes[key]) if key in lift.axes else tree
            for key, tree in given.items.items()
            if isinstance(key, str)
        }
    )


def _map_lifted_axes(tree: Value, axis: int) -> Value:
    if isinstance(tree, DictValue):
        items = tree.items
        return DictValue(None if items is None else {k: _map_lifted_axes(v, axis) for k, v in items.items()})
    if isinstance(tree, LibraryObject) and is_box(tree):
        names = names_of(tree.fields.get("names"))
        rest: Value = Unknown("the names are not known")
        if isinstance(names.spec, Spec) and 0 <= axis < len(names.spec):
            spec, places = names.spec.entries, names.entry_places
            rest = SpecValue(
                Spec((*spec[:axis], *spec[axis + 1 :])), names.place, (*places[:axis], *places[axis + 1 :])
            )
        inner = _map_lifted_axes(tree.fields["value"], axis)
        return LibraryObject(tree.kind, {**tree.fields, "value": inner, "names": rest}, tree.origin)
    return slice_of(tree, axis, Sizes(None)) if isinstance(tree, Array) else tree


def _map_variables(tree: Tree | Value, change: Callable[[Value], Value]) -> Tree | Value:
    if isinstance(tree, dict):
        return {name: _map_variables(below, change) for name, below in tree.items()}
    return change(tree)


_META = ("flax.linen", "flax.linen.meta", "flax.core.meta", "flax.nnx", "flax.nnx.spmd")

TABLE: dict[str, Callable[[Call], Value]] = {
    **{f"flax.linen.{name}": lifted for name in ("scan", "vmap")},
    **{f"flax.linen.transforms.{name}": lifted for name in ("scan", "vmap")},
    **{f"flax.linen.partitioning.{name}_with_axes": lifted for name in ("scan", "vmap")},
    **dict.fromkeys((_IN, "flax.core.lift.In", "flax.linen.partitioning.ScanIn"), _only_read),
}

CONSTANTS: dict[str, Value] = {f"{module}.PARTITION_NAME": Const(PARTITION_NAME) for module in _META}

#: Calling an object of a kind.
CALLS: dict[str, Callable[[Call], Value]] = {LIFTED: call_lifted}

"""linen's logical axes: names resolved by the rules in effect (`flax.linen.spmd`).

The laws resolve names (`laws.flax.logical_axes`), and `rules` determines the rules in effect; this module
reads names from the program, and records mistakes in either.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shardlint.inference.domain.values import (
    NONE,
    Array,
    Const,
    DictValue,
    External,
    ListValue,
    MeshValue,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
    as_items,
    as_str,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.flax.common.metadata import Names, names_of
from shardlint.inference.overlays.flax.logical.idle_constraints import (
    WITH_RULES,
    note_without_mesh,
    note_without_rules,
)
from shardlint.inference.overlays.flax.logical.rules import effective_rules, rules_of
from shardlint.inference.overlays.flax.logical.uses import (
    Calls,
    Setting,
    constraining,
    dropping,
    making,
    placing,
    record_mistake,
    resolving,
)
from shardlint.inference.overlays.jax.sharding.overlooked_meshes import overlooked_mesh, record_overlooked
from shardlint.inference.overlays.jax.sharding.placement_check import (
    CONSTRAINT,
    place_array,
    record_open,
    text_of,
)
from shardlint.inference.overlays.jax.sharding.specs import is_unconstrained
from shardlint.inference.overlays.pytrees.nodes import map_parts, parts
from shardlint.inference.overlays.pytrees.prefixes import map_arrays, traced
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.core.dims import Shape
from shardlint.laws.core.values import Mesh, Spec, Unknown, entry_axes
from shardlint.laws.core.verdicts import Accepted, Api, Cause, Rejected, Undecided, Verdict
from shardlint.laws.flax.logical_axes import (
    Fallback,
    Mistake,
    Refused,
    Resolved,
    given,
    mesh_spec,
    resolve,
    shadowed,
    without_rule,
)
from shardlint.laws.placement.checks import is_axis
from shardlint.laws.placement.named_sharding import judge_sharding
from shardlint.model.uses import ShardingUse

_NAME = "nn.with_logical_constraint"
_FALLBACK = "flax.linen.spmd.RulesFallback."

# -- names -------------------------------------------------------------------------------------------


def as_written(names: Names) -> Names:
    """Return names with a bare string split into its letters: one name for each."""
    if not isinstance(names.spec, str):
        return names
    letters = tuple(names.spec)
    return Names(Spec(letters), names.place, (names.place,) * len(letters))


def resolved(
    interpreter: Evaluator, setting: Setting, *, quiet: bool = False, constrains: bool = False
) -> Resolved | Rejected | Undecided:
    """Return names resolved by linen's rules. Mistakes in names or rules are recorded.

    ``quiet``: names that merely end up without a mesh axis are not reported. ``constrains``: linen looks at
    the names only if there are rules.
    """
    if not isinstance(setting.names.spec, Spec):
        return Undecided("the names are not known")
    setting.note_names()
    found = resolve(setting.spec, setting.rules)
    if isinstance(found, Refused):
        verdict = found.at("logical_to_mesh_axes")
        calls = resolving(setting.spec, setting.rules)
        now = Accepted() if constrains and isinstance(setting.rules, Unknown) else verdict
        record_mistake(interpreter, setting, found.mistake, found.text, now, found.dimension, calls=calls)
        return verdict
    if isinstance(found, Resolved) and not quiet:
        _record_dropped(interpreter, setting, found)
    return found


def _record_dropped(interpreter: Evaluator, setting: Setting, found: Resolved) -> None:
    """Record names that silently get no mesh axis: misspelled names, and names whose axes are taken by
    earlier ones. Where no rules are set, no name is meant to get one."""
    if not given(setting.rules):
        return
    rules = setting.rules if isinstance(setting.rules, tuple) else ()
    calls = resolving(setting.spec, rules)
    silent = Calls(calls.broken, calls.broken)
    for dimension in without_rule(setting.spec, rules):
        mistake, name = Mistake.UNKNOWN_NAME, setting.name(dimension)
        record_mistake(interpreter, setting, mistake, name, Accepted(), dimension, calls=silent)
    for dimension, axes in shadowed(setting.spec, rules):
        record_mistake(
            interpreter, setting, Mistake.SHADOWED, setting.name(dimension), Accepted(), dimension, axes
        )
    for dimension, axis in found.taken:
        mistake, name = Mistake.ONE_MESH_AXIS, setting.name(dimension)
        record_mistake(interpreter, setting, mistake, name, Accepted(), dimension, (axis,), silent)


def foresee(interpreter: Evaluator, setting: Setting, mesh: Mesh | Unknown | None) -> Spec | None:
    """Return the resolved names of a box that may be unboxed elsewhere, as far as they can be known.

    A mistake that will fail then is recorded as something that JAX accepts now.
    """
    setting.note_names()
    found = resolve(setting.spec, setting.rules) if given(setting.rules) else None
    if isinstance(found, Resolved):
        _record_dropped(interpreter, setting, found)
        if isinstance(mesh, Mesh):
            verdict = judge_sharding(mesh, mesh_spec(found.spec))
            record_axis(interpreter, setting, found.spec, verdict, mesh, later=True)
        return found.spec
    if isinstance(found, Refused) and found.mistake is Mistake.REPEATED_NAME:
        record_mistake(interpreter, setting, found.mistake, found.text, Accepted(), found.dimension)
    return None


def record_axis(
    interpreter: Evaluator,
    setting: Setting,
    spec: Spec,
    verdict: Verdict,
    mesh: Mesh | Unknown | None,
    shape: Shape | Unknown | None = None,
    *,
    later: bool = False,
) -> bool:
    """Record a rejection caused by a rule, or by a missing rule; return whether it is one.

    ``spec`` are the resolved names, and ``verdict`` JAX's on them; an nnx variable has a ``shape``.
    ``later``: JAX does not see it yet.
    """
    if not isinstance(verdict, Rejected) or verdict.dimension is None:
        return False
    dimension, axis = verdict.dimension, verdict.axis or ""
    renamed = setting.spec.entries[dimension] != spec.entries[dimension]
    ruled = isinstance(setting.rules, tuple) and bool(setting.rules)
    if verdict.cause is Cause.UNKNOWN_AXIS and renamed:
        mistake = Mistake.UNKNOWN_MESH_AXIS
    elif verdict.cause is Cause.UNKNOWN_AXIS and ruled:
        mistake = Mistake.UNKNOWN_NAME
    elif verdict.cause is Cause.DUPLICATE_AXIS and ruled and renamed:
        mistake = Mistake.ONE_MESH_AXIS
    else:
        return False
    name = setting.spec.entries[dimension]
    text = name if isinstance(name, str) else axis
    if later:
        calls, verdict = Calls(), Accepted()
    elif setting.library == "linen":
        calls = placing(setting.spec, setting.rules, mesh) if isinstance(mesh, Mesh) else Calls()
    else:
        alone = shape is not None and setting.own == ()
        calls = making(setting.spec, setting.rules, shape or ()) if alone else Calls()
    axes = mesh.names if mistake is Mistake.UNKNOWN_NAME and isinstance(mesh, Mesh) else (axis,)
    record_mistake(interpreter, setting, mistake, text, verdict, dimension, axes, calls)
    return True


# -- names to mesh axes ---------------------------------------------------------------------------------


def _logical_to_mesh_axes(call: Call) -> Value:
    """``logical_to_mesh_axes(array_dim_names, rules=None)``: a spec."""
    names, rules = call.bind("array_dim_names", rules=None)
    return NONE if names is None or is_none(names) else _spec_of_names(call, names, rules)


def _spec_of_names(call: Call, names: Value, rules: Value | None) -> Value:
    spec, _ = _resolved_spec(call, names, rules)
    return spec


def _resolved_spec(call: Call, names: Value, rules: Value | None) -> tuple[SpecValue | Unknown, Setting]:
    """Return the spec of resolved names, and the names with their rules."""
    written = effective_rules(call.interpreter, rules)
    setting = Setting("linen", as_written(names_of(names)), rules_of(written), call.place, written)
    found = resolved(call.interpreter, setting)
    if not isinstance(found, Resolved):
        return call.unknown("the names are not resolved"), setting
    return SpecValue(mesh_spec(found.spec), setting.names.place, setting.names.entry_places), setting


def _map_specs(tree: Value, change: Callable[[Value], Value]) -> Value:
    """Change every spec in a tree, in any container; None stays."""
    if isinstance(tree, SpecValue):
        return change(tree)
    if isinstance(tree, Tuple):
        return replace(tree, items=tuple(_map_specs(item, change) for item in tree.items))
    if isinstance(tree, ListValue) and tree.items is not None:
        return ListValue([_map_specs(item, change) for item in tree.items], tree.origin)
    if isinstance(tree, DictValue) and tree.items is not None:
        return DictValue({key: _map_specs(item, change) for key, item in tree.items.items()}, tree.origin)
    if parts(tree):
        return map_parts(tree, lambda _, part: _map_specs(part, change))
    return tree if is_none(tree) else Unknown("no spec of names")


def _logical_to_mesh(call: Call) -> Value:
    """``logical_to_mesh(tree, rules=None)``: each spec of logical names as one of mesh axes."""
    tree, rules = call.bind("tree", rules=None)
    return _map_specs(tree or NONE, lambda names: _spec_of_names(call, names, rules))


def _logical_to_mesh_sharding(call: Call) -> Value:
    """``logical_to_mesh_sharding(tree, mesh, rules=None)``: each spec as a `NamedSharding` on the mesh."""
    tree, mesh, rules = call.bind("tree", "mesh", rules=None)
    on = mesh if isinstance(mesh, MeshValue) else Unknown("the mesh is not known")

    def sharding(names: Value) -> Value:
        spec, setting = _resolved_spec(call, names, rules)
        if isinstance(spec, Unknown):
            return spec
        if isinstance(on, MeshValue) and _rejected_on(call, setting, spec, on.mesh):
            return call.unknown("rejected")
        return ShardingValue(on, spec, call.place)

    return _map_specs(tree or NONE, sharding)


def _rejected_on(call: Call, setting: Setting, spec: SpecValue, mesh: Mesh) -> bool:
    """Record resolved names that `NamedSharding` rejects; return whether it does."""
    verdict, interpreter = judge_sharding(mesh, spec.spec), call.interpreter
    if not isinstance(verdict, Rejected):
        return False
    if not record_axis(interpreter, setting, spec.spec, verdict, mesh):
        interpreter.record(
            ShardingUse(
                place=spec.origin or call.place,
                environment=interpreter.environment(),
                verdict=verdict,
                mesh=mesh,
                spec=spec.spec,
                entry_places=spec.places,
            )
        )
    return True


# -- constraints --------------------------------------------------------------------------------------


def with_logical_constraint(call: Call) -> Value:
    """``with_logical_constraint(x, logical_axis_resources, rules=None, mesh=None, fallback=...)``.

    Without rules, or without a mesh, it does nothing.
    """
    x, names, rules, mesh, fallback = call.bind(
        "x", "logical_axis_resources", rules=None, mesh=None, fallback=None
    )
    tree, written = traced(x or NONE), effective_rules(call.interpreter, rules)
    table = rules_of(written)
    if names is None or is_none(names):
        return tree
    if not given(table):
        if _is_names(names):
            # Names that fit no rules do not fit those that another caller sets.
            setting = Setting("linen", as_written(names_of(names)), Unknown("none are set"), call.place)
            foresee(call.interpreter, replace(setting, function="with_logical_constraint"), None)
            note_without_rules(call)
        return tree
    record_of_value(call.interpreter, WITH_RULES, Accepted(), call.place)
    return _constrain_tree(call, tree, names, written, mesh, _fallback_of(fallback))


def _fallback_of(value: Value | None) -> Fallback | None:
    if value is None:
        return Fallback.AXIS_IS_UNSHARDED
    name = value.name.rpartition(".")[2] if isinstance(value, External) else ""
    return Fallback(name) if name in Fallback.__members__ else None


def _is_names(value: Value) -> bool:
    """Return whether `with_logical_constraint` takes a value as the names of one array
    (`_is_logical_spec`)."""
    if isinstance(value, SpecValue) or as_str(value) is not None:
        return True
    return isinstance(value, Tuple) and all(_is_name(item) or is_unconstrained(item) for item in value.items)


def _is_name(value: Value) -> bool:
    return isinstance(value, Const) and (value.value is None or isinstance(value.value, str))


def _constrain_tree(
    call: Call, tree: Value, names: Value, rules: Value, mesh: Value | None, fallback: Fallback | None
) -> Value:
    """Walk a tree of names and the tree of arrays below it."""
    if is_none(names):
        return tree
    if _is_names(names):
        if isinstance(tree, Unknown):
            _constrain(call, Array(None), names, rules, mesh, fallback, "")
            return tree
        return map_arrays(
            tree, lambda array, path: _constrain(call, array, names, rules, mesh, fallback, path)
        )
    if isinstance(names, Tuple | ListValue | DictValue) and isinstance(tree, Array):
        if _is_certain_tree(names):
            _record_not_names(call, names, rules)
        return call.unknown("a tree of names for one array")
    if isinstance(names, DictValue) and isinstance(tree, DictValue):
        given_names, arrays = names.items or {}, tree.items or {}
        if given_names.keys() == arrays.keys():
            found = {
                key: _constrain_tree(call, arrays[key], item, rules, mesh, fallback)
                for key, item in given_names.items()
            }
            return DictValue(found, tree.origin)
    items, parts = as_items(tree), as_items(names)
    if type(names) is type(tree) and items is not None and parts is not None and len(items) == len(parts):
        made = [
            _constrain_tree(call, item, part, rules, mesh, fallback)
            for item, part in zip(items, parts, strict=True)
        ]
        return Tuple(tuple(made)) if isinstance(tree, Tuple) else ListValue(made)
    unknown = call.unknown("its names are not known")
    array = tree if isinstance(tree, Array) else Array(None)
    record_open(call.interpreter, Api.CONSTRAINT, array, unknown, unknown, call.place)
    return call.unknown("the tree of names is not followed")


def _is_certain_tree(names: Tuple | ListValue | DictValue) -> bool:
    """Return whether names are certainly a tree of names, whatever their unknown parts are."""
    if isinstance(names, Tuple):
        others = Const | Tuple | ListValue | DictValue | SpecValue
        return any(isinstance(item, others) and not _is_name(item) for item in names.items)
    return names.items is not None


def _record_not_names(call: Call, names: Value, rules: Value) -> None:
    """Record a list of names, or a tuple with a tuple in it: it is a tree, which the array is not."""
    shown = Names(Unknown("a tree of names"), getattr(names, "origin", None))
    setting = Setting("linen", shown, rules_of(rules), call.place, rules)
    verdict = Refused(Mistake.NOT_NAMES, "ValueError", text_of(names)).at("with_logical_constraint")
    record_mistake(call.interpreter, setting, Mistake.NOT_NAMES, text_of(names), verdict)


_NO_MESH = Unknown("the mesh is not known")


def _constrain(
    call: Call,
    array: Array,
    names: Value,
    rules: Value,
    mesh: Value | None,
    fallback: Fallback | None,
    path: str,
) -> Value:
    """Constrain one array (`_with_sharding_constraint_one_fallback`)."""
    interpreter = call.interpreter
    setting = Setting("linen", as_written(names_of(names)), rules_of(rules), call.place, rules)
    setting = replace(setting, function="with_logical_constraint")
    own = mesh is not None and not is_none(mesh)
    on: Value | None = mesh if own else interpreter.context.mesh
    loose = replace(array, sharding=None)
    quiet = fallback is not Fallback.AXIS_IS_UNSHARDED
    found = resolved(interpreter, setting, quiet=quiet, constrains=True)
    if isinstance(found, Rejected):
        return call.unknown("rejected")
    if isinstance(found, Undecided) or (found.unmatched and fallback is None):
        reason = found.reason if isinstance(found, Undecided) else "its fallback is not known"
        record_open(interpreter, Api.CONSTRAINT, array, setting.spec, Unknown(reason), call.place)
        return loose
    if found.unmatched and fallback is not Fallback.AXIS_IS_UNSHARDED:
        return _unmatched(call, array, setting, found, fallback, on)
    if on is None:
        missed = overlooked_mesh(None, interpreter.context.legacy_mesh)
        if missed is not None and any(map(entry_axes, found.spec.entries)):
            record_overlooked(interpreter, missed, f"`{_NAME}` finds no mesh and does nothing", call.place)
        if interpreter.context.legacy_mesh is None:
            note_without_mesh(call, array, found.spec)
        return array
    if not isinstance(on, MeshValue):
        no_mesh = on if isinstance(on, Unknown) else _NO_MESH
        record_open(interpreter, Api.CONSTRAINT, array, setting.spec, no_mesh, call.place)
        return loose
    spec = SpecValue(mesh_spec(found.spec), setting.names.place, setting.names.entry_places)
    verdict = judge_sharding(on.mesh, spec.spec)
    if record_axis(interpreter, setting, spec.spec, verdict, on.mesh):
        return call.unknown("rejected")
    target: Value = ShardingValue(on, spec, call.place) if own else spec
    name = interpreter.written(call.place_of(0, "x")) or array.name
    subject = f"`{name}{path}`" if name else None
    return place_array(interpreter, CONSTRAINT, array, target, call.place, subject)


def _unmatched(
    call: Call, array: Array, setting: Setting, found: Resolved, fallback: Fallback | None, on: Value | None
) -> Value:
    """Record a name without a mesh axis; the fallback raises, or leaves the array unchanged."""
    dimension, shape = found.unmatched[0], array.shape
    name = setting.name(dimension)
    calls = constraining(setting.spec, setting.rules, shape if shape is not None else Unknown("the shape"))
    if fallback is Fallback.RAISE_ERROR:
        verdict = Refused(Mistake.UNKNOWN_NAME, "ValueError", name, dimension).at("with_logical_constraint")
        record_mistake(call.interpreter, setting, Mistake.UNKNOWN_NAME, name, verdict, dimension, calls=calls)
        return call.unknown("rejected")
    dropped = tuple(axis for entry in found.spec.entries for axis in entry_axes(entry) if is_axis(axis))
    if dropped:
        calls = dropping(setting.spec, setting.rules, on.mesh) if isinstance(on, MeshValue) else Calls()
        mistake = Mistake.CONSTRAINT_OFF
        record_mistake(call.interpreter, setting, mistake, name, Accepted(), dimension, dropped, calls)
    return array


#: Modules that export the functions; `flax.linen.partitioning` has other names for some.
_LINEN = ("flax.linen", "flax.linen.spmd", "flax.linen.partitioning", "flax.linen.meta", "flax.core.meta")

TABLE: dict[str, Callable[[Call], Value]] = {
    **{f"{module}.logical_to_mesh_axes": _logical_to_mesh_axes for module in _LINEN},
    **{f"{module}.logical_to_mesh": _logical_to_mesh for module in _LINEN},
    **{f"{module}.logical_to_mesh_sharding": _logical_to_mesh_sharding for module in _LINEN},
    **{f"{module}.with_logical_constraint": with_logical_constraint for module in _LINEN},
    "flax.linen.partitioning.with_sharding_constraint": with_logical_constraint,
}

#: The other spelling of the enum.
ALIASES: dict[str, str] = {
    f"flax.linen.partitioning.RulesFallback.{fallback}": _FALLBACK + fallback for fallback in Fallback
}

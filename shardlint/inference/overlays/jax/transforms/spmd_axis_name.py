"""The mesh axes of the dimension that `vmap` maps over, in what the function does with its arrays.

``spmd_axis_name=`` gives them to constraints inside; Explicit axes are those of the arrays themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from shardlint.inference.domain import name_links
from shardlint.inference.domain.values import (
    Array,
    MeshValue,
    ShardingValue,
    SpecValue,
    Value,
    as_items,
    as_str,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.jax.sharding.movement import (
    certain_layout,
    known_part,
    note_gathered,
    split_by,
)
from shardlint.inference.overlays.jax.sharding.placement_check import context_mesh
from shardlint.inference.overlays.jax.transforms.taint import following, is_following, is_marked, marked
from shardlint.inference.overlays.pytrees.prefixes import arrays_in, map_prefix, specs_in
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.core.values import Entry, Mesh, Spec, Unknown, entry_axes
from shardlint.laws.core.verdicts import Api, Rejected
from shardlint.laws.core.witness_data import (
    Known,
    apply_data,
    array_data,
    call_data,
    constant_data,
    function_data,
    mesh_data,
    sharding_data,
    spec_data,
)
from shardlint.laws.transforms.vmap import judge_resharded, judge_spmd
from shardlint.model.memory_uses import MAPPED_SHARD_MAP
from shardlint.model.spans import Place
from shardlint.model.uses import Fact, Placement, Use

#: A constraint on a mapped array: its place, the spec, and the mesh, which is not looked at for shard_map.
Constraint = tuple[Place, Spec, Mesh | None]


class Reshard(NamedTuple):
    """A `reshard` of a mapped array."""

    place: Place
    spec: Spec


def note_constraint(call: Call, tree: Value, target: Value) -> None:
    """Record a constraint on a mapped array, for the `vmap` that watches."""
    watched = call.interpreter.context.watched

    def record_leaf(leaf: Value, array: Array, _: str) -> Array:
        spec = leaf.spec if isinstance(leaf, ShardingValue) else leaf
        mesh = _mesh_of(call, leaf)
        if watched is not None and is_marked(array) and mesh is not None and isinstance(spec, SpecValue):
            watched.append((call.place, spec.spec, mesh))
        return array

    if watched is not None:
        map_prefix(target, tree, record_leaf)


def note_reshard(call: Call, tree: Value, target: Value) -> None:
    """Record what reshards a mapped array, for the `vmap` that watches."""
    watched = call.interpreter.context.watched

    def record_leaf(leaf: Value, array: Array, _: str) -> Array:
        spec = leaf.spec if isinstance(leaf, ShardingValue) else leaf
        if watched is not None and is_marked(array) and isinstance(spec, SpecValue):
            watched.append(Reshard(call.place, spec.spec))
        return array

    if watched is not None:
        map_prefix(target, tree, record_leaf)


def note_specs(call: Call, *trees: Value | None) -> None:
    """Record the specs of a `shard_map` of mapped arrays, for the `vmap` that watches."""
    context = call.interpreter.context
    watched = context.watched
    if (
        isinstance(context.legacy_mesh, Unknown)
        or "no error of vmap and shard_map" in call.interpreter.switches
    ):
        # A setting, or a context manager that is not known, may turn the check off.
        return
    if watched is not None and any(map(is_marked, (array for arg in call.args for array in arrays_in(arg)))):
        watched += [(call.place, spec.spec, None) for tree in trees for spec in specs_in(tree)]


def _mesh_of(call: Call, target: Value) -> Mesh | None:
    if isinstance(target, ShardingValue):
        return target.mesh.mesh if isinstance(target.mesh, MeshValue) else None
    mesh = context_mesh(call.interpreter, legacy=True)
    return mesh if isinstance(mesh, Mesh) else None


def refuse_constraints(
    call: Call, function: Value, args: Sequence[Value], mapped: Sequence[bool], spmd: Value | None
) -> bool:
    """Record a constraint inside that names an axis of spmd_axis_name; return whether there is one."""
    names = (spmd,) if as_items(spmd) is None else as_items(spmd)
    axes = [axis for axis in map(as_str, names or ()) if axis is not None]
    if spmd is None or is_none(spmd) or not axes or len(axes) != len(names or ()) or call.kwargs:
        return False
    interpreter = call.interpreter
    found: list[Constraint] = [
        one for one in _watched(call, function, args, mapped) if not isinstance(one, Reshard)
    ]
    for place, spec, mesh in found:
        if mesh is not None:
            for name in (*axes, *name_links.names_in(spec)):
                name_links.look_up(name, mesh.names)
        verdict = judge_spmd(axes, spec, mesh)
        if isinstance(verdict, Rejected):
            mapped_here = Fact("the function is mapped here", call.place, kind="call")
            calls = _calls(tuple(axes), spec, mesh)
            record_of_value(interpreter, "jax.vmap", verdict, place, *calls, facts=[mapped_here])
            return True
    return False


def refuse_reshards(
    call: Call, function: Value, args: Sequence[Value], mapped: Sequence[bool], along: Entry
) -> bool:
    """Record a `reshard` inside that names an Explicit axis along which the mapped dimension lies; return
    whether there is one.
    """
    axes = entry_axes(along)
    if not axes or call.kwargs:
        return False
    for one in _watched(call, function, args, mapped):
        if not isinstance(one, Reshard):
            continue
        verdict = judge_resharded(axes, one.spec)
        if isinstance(verdict, Rejected):
            mapped_here = Fact("the function is mapped here", call.place, kind="call")
            record_of_value(call.interpreter, "jax.vmap", verdict, one.place, facts=[mapped_here])
            return True
    return False


def note_unnamed(
    call: Call,
    function: Value,
    whole: Sequence[Value],
    args: Sequence[Value],
    numbers: Sequence[int | None],
    recorded: Sequence[Use],
) -> None:
    """Record ``whole`` arguments, mapped without spmd_axis_name along dimensions that are split, which the
    function gives to a shard_map: its specs then have None for the mapped dimension, so that each device gets
    all examples (`shard_map._shard_map_batch`, JAX 0.10.2).

    ``numbers`` are the mapped dimensions, None where there is none; ``recorded`` are the function's uses.
    """
    context = call.interpreter.context
    if context.in_jit is not True or context.mapped or is_following(context) or call.kwargs:
        return
    manual = {
        axis
        for use in recorded
        if isinstance(use, Placement) and use.api is Api.SHARD_MAP_IN and isinstance(use.mesh, Mesh)
        for axis in use.mesh.names
    }
    for position, (arg, number) in enumerate(zip(whole, numbers, strict=True)):
        known = known_part(arg) if isinstance(arg, Array) and manual else None
        if known is None or number is None or not isinstance(arg, Array) or not arg.shape:
            continue
        at, (mesh, spec) = number % len(arg.shape), known
        axes = entry_axes(spec.entries[at]) if at in split_by(mesh, spec) else ()
        only = [index == position for index in range(len(args))]
        if not axes or not manual.issuperset(axes) or not _are_mapped(_watched(call, function, args, only)):
            continue
        subject = f"`{arg.name}`" if arg.name else f"argument {position}"
        # What the array takes is told where its whole layout is known.
        array = arg if certain_layout(arg) is not None else replace(arg, shape=None)
        at_once = frozenset({at})
        note_gathered(call.interpreter, array, known, at_once, MAPPED_SHARD_MAP, call.place, subject)
        return


def _are_mapped(found: Sequence[Constraint | Reshard]) -> bool:
    """Return whether some of this is a spec of a shard_map."""
    return any(not isinstance(one, Reshard) and one[2] is None for one in found)


def _watched(
    call: Call, function: Value, args: Sequence[Value], mapped: Sequence[bool]
) -> list[Constraint | Reshard]:
    """Return what a function does with its mapped arguments; it is evaluated once more."""
    whole = [marked(arg) if on else arg for arg, on in zip(args, mapped, strict=True)]
    found = list[Constraint | Reshard]()
    with following(call.interpreter, watched=found):
        call.interpreter.call(function, whole, {}, call.place)
    return found


def _calls(axes: tuple[str, ...], spec: Spec, mesh: Mesh | None) -> tuple[Known, Known]:
    """Return the constraint under `vmap`, with and without spmd_axis_name, on an array that it splits."""
    if mesh is None:
        return None, None
    target = sharding_data(mesh_data(mesh), spec_data(spec))
    constrained = function_data(call_data("jax.lax.with_sharding_constraint", (("operand", 0), target)))
    array = array_data((mesh.device_count,) * (len(spec.entries) + 1))
    options: tuple[dict[str, Known], ...] = ({"spmd_axis_name": constant_data(axes)}, {})
    mapped = (call_data("jax.vmap", (constrained,), kwargs) for kwargs in options)
    one, other = (apply_data(call_data("jax.jit", (function,)), (array,)) for function in mapped)
    return one, other

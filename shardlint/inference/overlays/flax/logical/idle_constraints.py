"""linen's constraints that do nothing: without rules, or without a mesh (`with_logical_constraint`)."""

from __future__ import annotations

from shardlint.inference.domain.values import Array, MeshValue, SpecValue
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.flax.linen.module_runs import Mode, flax_state
from shardlint.inference.overlays.jax.sharding.placement_check import mesh_facts
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.core.dims import equal
from shardlint.laws.core.values import AxisType, Spec, entry_axes
from shardlint.laws.core.verdicts import Accepted
from shardlint.laws.flax.logical_axes import mesh_spec
from shardlint.model.uses import Fact

#: The names of the events that a constraint finds rules, that it finds none, and that it finds no mesh.
WITHOUT_MESH = "linen.with_logical_constraint(no mesh)"
WITH_RULES, WITHOUT_RULES = "linen.with_logical_constraint(rules)", "linen.with_logical_constraint(no rules)"


def note_without_rules(call: Call) -> None:
    """Record a constraint for which there are no rules: flax returns the array as it is.

    One that is compiled so, under a mesh of several devices, is recorded a second time. What `init` makes of
    activations is dropped.
    """
    record_of_value(call.interpreter, call.name, Accepted(), call.place)
    context = call.interpreter.context
    mesh = context.mesh if isinstance(context.mesh, MeshValue) else None
    if mesh is None or equal(mesh.mesh.device_count, 1) is not False or not context.compiles:
        return
    stack = flax_state(call.interpreter).stack
    if context.in_jit is not True or context.test or not stack or stack[-1].run.mode is not Mode.APPLY:
        return
    facts = () if mesh.entered is None else (Fact("its mesh is set here", mesh.entered),)
    record_of_value(call.interpreter, WITHOUT_RULES, Accepted(), call.place, facts=facts, silent="no rules")


def note_without_mesh(call: Call, array: Array, wanted: Spec) -> None:
    """Record a constraint for which there is no mesh: flax returns the array as it is.

    One that is compiled so is recorded a second time if its array lies on a mesh of whose axes the rules ask
    for more. What `init` makes of activations is dropped.
    """
    record_of_value(call.interpreter, call.name, Accepted(), call.place)
    context, home = call.interpreter.context, array.laid
    if home is None or context.in_jit is not True or context.test or not context.compiles:
        return
    stack = flax_state(call.interpreter).stack
    if not isinstance(home.mesh, MeshValue) or (stack and stack[-1].run.mode is not Mode.APPLY):
        return
    mesh, held = home.mesh.mesh, _dimensions(home.spec.spec if isinstance(home.spec, SpecValue) else Spec())
    asked = _dimensions(mesh_spec(wanted))
    if set(mesh.types) != {AxisType.AUTO} or not asked.keys() <= set(mesh.names):
        return
    several = {axis for axis in asked if equal(mesh.size_of(axis), 1) is False}
    if more := [axis for axis in asked if axis in several and asked[axis] != held.get(axis)]:
        named = " and ".join(f'"{axis}"' for axis in more)
        silent = (
            f"no mesh is set, and `nn.with_logical_constraint`, which is to split over {named}, does nothing"
        )
        facts = mesh_facts(home.mesh)
        record_of_value(call.interpreter, WITHOUT_MESH, Accepted(), call.place, facts=facts, silent=silent)


def _dimensions(spec: Spec) -> dict[str, int]:
    """Return the dimension that each axis splits."""
    return {axis: i for i, entry in enumerate(spec.entries) for axis in entry_axes(entry)}

"""Constraints that a helper of the program skips, since the mesh that it was to have is None."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from shardlint.inference.domain.values import Array, External, MeshValue, ShardingValue, Value, is_none
from shardlint.inference.evaluation.context import Frame
from shardlint.inference.machine.machine import Machine
from shardlint.inference.machine.variable_reads import holder_of
from shardlint.inference.syntax.node_fields import walk
from shardlint.laws.core.dims import equal
from shardlint.laws.core.verdicts import Accepted
from shardlint.model.uses import CallUse, Fact

#: The name of the event.
SKIPPED = "jax.sharding.NamedSharding(None)"


def note_without_mesh(interpreter: Machine, frame: Frame, bound: Mapping[str, Value]) -> None:
    """Record a call, inside jit, of a function that makes shardings on a mesh that is a parameter of its own,
    gets None for it, and returns an array as it is, which lies on a mesh of several devices."""
    function, context = frame.function, interpreter.context
    missing = {name for name, value in bound.items() if is_none(value)}
    if not missing or function is None or frame.called_at is None or context.test or not frame.returns:
        return
    arrays = {id(value): (name, value) for name, value in bound.items() if isinstance(value, Array)}
    returned = [arrays.get(id(value)) for value in frame.returns]
    if returned[0] is None or any(one is not returned[0] for one in returned):
        return
    name, array = returned[0]
    home = array.laid
    mesh = home.mesh if isinstance(home, ShardingValue) else None
    if not isinstance(mesh, MeshValue) or equal(mesh.mesh.device_count, 1) is not False:
        return
    if not any(_is_sharding_on(interpreter, frame, node, missing) for node in walk(function.node)):
        return
    facts = [] if mesh.origin is None else [Fact(f"`{name}` comes from this mesh", mesh.origin)]
    interpreter.record(
        CallUse(
            place=frame.called_at,
            environment=interpreter.environment(),
            verdict=Accepted(),
            facts=tuple(facts),
            function=SKIPPED,
            silent=f"`{function.name}` has no mesh here and returns `{name}` as it is",
        )
    )


def _is_sharding_on(interpreter: Machine, frame: Frame, node: cst.CSTNode, names: set[str]) -> bool:
    """Return whether a call makes a sharding on the mesh in one of these variables."""
    if not isinstance(node, cst.Call) or not node.args:
        return False
    mesh = next((arg.value for arg in node.args if arg.keyword is None or arg.keyword.value == "mesh"), None)
    if not isinstance(mesh, cst.Name) or mesh.value not in names:
        return False
    written, path = node.func, ""
    while isinstance(written, cst.Attribute):
        path = f".{written.attr.value}{path}"
        written = written.value
    if not isinstance(written, cst.Name):
        return False
    holder = holder_of(frame.scope, written.value)
    found = None if holder is None else holder.variables.get(written.value)
    return isinstance(found, External) and f"{found.name}{path}" == "jax.sharding.NamedSharding"

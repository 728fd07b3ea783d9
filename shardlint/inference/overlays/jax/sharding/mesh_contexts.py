"""The current mesh: `jax.set_mesh`, `use_abstract_mesh`, ``with mesh:``, and functions that return it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shardlint.inference.domain.values import (
    NONE,
    LibraryObject,
    MeshValue,
    SomeMesh,
    Value,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.context import Context
from shardlint.inference.evaluation.deployment_mesh import assumed_mesh, is_assumed
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.jax.sharding.mesh_arguments import as_thing, by_position, take
from shardlint.inference.overlays.jax.sharding.overlooked_meshes import overlooked_mesh
from shardlint.inference.overlays.python.stdlib.environment import decorate
from shardlint.inference.overlays.recording import record_call, record_of_value
from shardlint.inference.overlays.witness_values import call_of, data_of
from shardlint.laws.core.values import AxisType, Failed, Junk, Mesh, Unknown
from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.laws.core.witness_data import ONE_DEVICE, call_data, mesh_data
from shardlint.laws.meshes.contexts import (
    NO_MESH,
    judge_enter_abstract,
    judge_get_mesh,
    judge_set_mesh,
    judge_use_abstract_mesh,
    judge_with,
)
from shardlint.model.spans import Place

#: The mesh inside a block that JAX does not enter.
_FAILED = Unknown("JAX does not enter this block")

SET, USE, MESH = "jax.set_mesh", "jax.sharding.use_abstract_mesh", "jax.sharding.Mesh"


def _given(value: Value | None) -> Mesh | Junk | Unknown | None:
    """Return a mesh argument in the form of the laws."""
    if isinstance(value, MeshValue):
        return value.mesh
    return None if value is None or is_none(value) else as_thing(value)


def _set_mesh(call: Call) -> Value:
    """`jax.set_mesh(mesh)`: sets the mesh at once; as a context manager it restores the old one."""
    (mesh,) = take(call, None, ("mesh",))
    interpreter, before = call.interpreter, call.interpreter.context.mesh
    verdict = judge_set_mesh(_given(mesh), interpreter.context.in_jit)
    if isinstance(verdict, Rejected):
        _record_unset(call, verdict, mesh)
        return Unknown("JAX does not set this mesh")
    known: MeshValue | Unknown | None = SomeMesh("a mesh that is not known")
    if isinstance(mesh, MeshValue):
        known = replace(mesh, entered=call.place)
    elif is_none(mesh):
        known = None
    elif not isinstance(mesh, Failed):
        known = assumed_mesh(interpreter) or known
    interpreter.context = replace(interpreter.context, mesh=known)
    return LibraryObject(SET, {"mesh": known or NONE, "previous": before or NONE})


def _record_unset(call: Call, verdict: Rejected, mesh: Value | None) -> None:
    """Record a rejected `set_mesh`: the argument is no Mesh, or no mesh can be set here."""
    if _wrong_kind(mesh) and not is_none(mesh):
        mended = by_position(call, {"mesh": NONE}, ("mesh",))
        record_call(call, verdict, function=SET, place=call.place_of(0, "mesh"), repaired=mended)
        return
    inside = call_data(USE, (mesh_data(replace(ONE_DEVICE, abstract=True)),))
    record_of_value(call.interpreter, SET, verdict, call.place, call_of(SET, call.args, call.kwargs), inside)


def _wrong_kind(mesh: Value | None) -> bool:
    return not isinstance(mesh, MeshValue) or mesh.mesh.abstract


def _use_abstract_mesh(call: Call) -> Value:
    """`use_abstract_mesh(mesh)`: sets the mesh when its block begins."""
    (mesh,) = take(call, None, ("mesh",))
    verdict = judge_use_abstract_mesh(_given(mesh))
    if isinstance(verdict, Rejected):
        mended = by_position(call, {"mesh": MeshValue(NO_MESH)}, ("mesh",))
        record_call(call, verdict, place=call.place_of(0, "mesh"), repaired=mended)
        return Unknown("JAX does not take this mesh")
    return LibraryObject(USE, {"mesh": mesh if isinstance(mesh, MeshValue) else Unknown("not known")})


def _get_abstract_mesh(call: Call) -> Value:
    """Return the mesh that is set, or an empty one."""
    take(call, 0, ())
    mesh = call.interpreter.context.mesh
    call.interpreter.note_query(overlooked_mesh(mesh, call.interpreter.context.legacy_mesh))
    if mesh is None:
        return MeshValue(NO_MESH)
    return replace(mesh, mesh=replace(mesh.mesh, abstract=True)) if isinstance(mesh, MeshValue) else mesh


def _get_mesh(call: Call) -> Value:
    """Return the mesh of devices that `jax.set_mesh` set, outside of jit."""
    take(call, 0, ())
    verdict = judge_get_mesh(call.interpreter.context.in_jit)
    mesh = call.interpreter.context.mesh
    if isinstance(verdict, Rejected):
        calls = (call_data("jax.sharding.get_mesh"), call_data("jax.sharding.get_abstract_mesh"))
        record_of_value(call.interpreter, "jax.sharding.get_mesh", verdict, call.place, *calls)
        return Unknown("get_mesh in a trace")
    if USE in call.interpreter.switches and not (isinstance(mesh, MeshValue) and not mesh.mesh.abstract):
        # `use_abstract_mesh` does not change the mesh of devices.
        return Unknown("a mesh behind an abstract one")
    call.interpreter.note_query(overlooked_mesh(mesh, call.interpreter.context.legacy_mesh))
    return MeshValue(replace(NO_MESH, abstract=False)) if mesh is None else mesh


def physical_mesh(interpreter: Evaluator) -> MeshValue | Unknown:
    """Return ``thread_resources.env.physical_mesh``: the mesh of ``with mesh:``, or an empty one."""
    mesh = interpreter.context.legacy_mesh
    interpreter.note_query(overlooked_mesh(mesh, interpreter.context.mesh))
    return MeshValue(replace(NO_MESH, abstract=False)) if mesh is None else mesh


def _not_callable(call: Call) -> Value:
    """Reject a call of `set_mesh(mesh)`, `use_abstract_mesh(mesh)` or an abstract mesh, as by a decorator."""
    manager = call.args[0]
    if isinstance(manager, LibraryObject):
        kind = manager.kind
        made = mended = call_data(kind, (data_of(manager.fields["mesh"]),))
        detail = "it is no decorator and cannot be called; use it in a `with` statement"
    else:
        kind, made = "AbstractMesh.__call__", data_of(manager)
        mended = call_data(USE, (made,))
        detail = "an AbstractMesh is no decorator; use `with jax.sharding.use_abstract_mesh(mesh):`"
    verdict = Rejected(Cause.MESH_CONTEXT, "TypeError", "call", detail=detail)
    calls = call_data("a decorator", (made,)), call_data(_ENTERED, (mended,))
    record_of_value(call.interpreter, kind, verdict, call.place, *calls)
    return Unknown("JAX does not call this")


def _called_mesh(call: Call) -> Value:
    """``@mesh``: a function that runs in ``with mesh:`` (`contextlib.ContextDecorator`)."""
    mesh = call.args[0]
    abstract = isinstance(mesh, MeshValue) and mesh.mesh.abstract
    return _not_callable(call) if abstract else decorate(call)


# -- with statements ----------------------------------------------------------------------------------


#: Enters a context manager and leaves it.
_ENTERED = "a context"


def enter_mesh(interpreter: Evaluator, mesh: MeshValue, place: Place) -> Context:
    """Return the context inside ``with mesh:``."""
    context = interpreter.context
    verdict = judge_with(mesh.mesh)
    if isinstance(verdict, Rejected):
        given = mesh_data(mesh.mesh)
        calls = [call_data(_ENTERED, (manager,)) for manager in (given, call_data(USE, (given,)))]
        record_of_value(interpreter, "AbstractMesh.__enter__", verdict, place, *calls)
        return replace(context, mesh=_FAILED, legacy_mesh=_FAILED)
    if is_assumed(interpreter, context.mesh):
        # Nothing is assumed if the program itself names a mesh.
        context = replace(context, mesh=Unknown("the caller may have set a mesh"))
    return replace(context, legacy_mesh=replace(mesh, entered=place))


def enter_abstract_mesh(interpreter: Evaluator, manager: LibraryObject, place: Place) -> Context:
    """Return the context inside ``with use_abstract_mesh(mesh):``."""
    context, mesh = interpreter.context, manager.fields["mesh"]
    interpreter.switches.add(USE)
    if not isinstance(mesh, MeshValue):
        return replace(context, mesh=Unknown("a mesh that is not known"))
    current = context.mesh.mesh if isinstance(context.mesh, MeshValue) else context.mesh
    verdict = judge_enter_abstract(mesh.mesh, current)
    if isinstance(verdict, Rejected) and isinstance(current, Mesh):
        fitting = Mesh(("x",), (current.device_count,), (AxisType.AUTO,), abstract=True)
        managers = (call_data(USE, (mesh_data(one),)) for one in (mesh.mesh, fitting))
        record_of_value(interpreter, USE, verdict, place, *(call_data(_ENTERED, (one,)) for one in managers))
        return replace(context, mesh=_FAILED)
    return replace(context, mesh=mesh if mesh.mesh.names else None)


TABLE: dict[str, Callable[[Call], Value]] = {
    SET: _set_mesh,
    "jax.sharding.use_mesh": _set_mesh,
    USE: _use_abstract_mesh,
    "jax.sharding.get_abstract_mesh": _get_abstract_mesh,
    "jax.sharding.get_mesh": _get_mesh,
}

CALLS: dict[str, Callable[[Call], Value]] = {SET: _not_callable, USE: _not_callable, MESH: _called_mesh}

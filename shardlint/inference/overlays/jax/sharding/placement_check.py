"""Checks of a spec on an array: judges it by the laws and records the use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from shardlint.inference.domain.kinds import kind_name
from shardlint.inference.domain.values import (
    Array,
    Const,
    Devices,
    DictValue,
    External,
    Integer,
    LibraryObject,
    ListValue,
    MeshValue,
    SetValue,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
)
from shardlint.inference.evaluation.deployment_mesh import assumed_mesh
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.jax.configuration import DISABLE_JIT, is_set
from shardlint.inference.overlays.jax.explicit.memory_spaces import memory_put, moved
from shardlint.inference.overlays.jax.explicit.placement_types import spec_in_type, typed_by
from shardlint.inference.overlays.jax.layouts.apart_uses import note_requested
from shardlint.inference.overlays.jax.layouts.collected_arrays import collected_on
from shardlint.inference.overlays.jax.sharding.movement import constrained
from shardlint.inference.overlays.jax.transforms.stacked_copies import note_placed
from shardlint.inference.overlays.pytrees.prefixes import SINGLE_DEVICE
from shardlint.inference.overlays.witness_values import data_of
from shardlint.laws.core.dims import Dim, Shape
from shardlint.laws.core.python_source import constant_source
from shardlint.laws.core.values import AxisType, Failed, Junk, Mesh, Spec, Unknown
from shardlint.laws.core.verdicts import Accepted, Api, Cause, Rejected, Undecided, Verdict
from shardlint.laws.core.witness_data import NONE, constant_data, spec_data
from shardlint.laws.placement.judge import LATE, judge_placement
from shardlint.laws.transforms.shard_map import judge_inside
from shardlint.model.spans import Place
from shardlint.model.uses import ArityUse, Fact, Placement

#: The same call outside and inside jit, with different checks.
DEVICE_PUT = (Api.DEVICE_PUT, Api.DEVICE_PUT_IN_JIT)
CONSTRAINT = (Api.CONSTRAINT_EAGER, Api.CONSTRAINT)
RESHARD = (Api.RESHARD, Api.RESHARD_IN_JIT)

#: Calls that, outside jit, commit an array to the given sharding.
COMMITTING = frozenset({Api.DEVICE_PUT, Api.CALLBACK, Api.CREATE, Api.CONSTRAINT_EAGER})

#: Calls that also use the mesh of ``with mesh:``, not only that of `jax.set_mesh`; of jit only `pjit` does.
_TAKES_LEGACY_MESH = frozenset({Api.CONSTRAINT, Api.CONSTRAINT_EAGER, Api.JIT_IN, Api.JIT_OUT})

#: Calls that ask for an array in a layout inside jit.
_ASKING = {Api.CONSTRAINT: "with_sharding_constraint", Api.JIT_OUT: "out_shardings"}

T = TypeVar("T")


def place_array(
    interpreter: Evaluator,
    apis: Sequence[Api],
    array: Array,
    target: Value,
    place: Place,
    subject: str | None = None,
    wrapped_at: Place | None = None,
    *,
    alone: bool = True,
) -> Array:
    """Judge ``target`` for ``array``, record it, and return the placed array.

    ``apis`` is one API, or the pair for outside and inside jit. ``target`` is a sharding, a bare spec, or a
    wrong value in its position. ``wrapped_at`` is the `jit` or `shard_map` whose function is called at
    ``place``. ``alone`` tells that the array is the only result of a jit: of several, none is refused for its
    size 0.
    """
    if (device := device_of(target)) is not None:
        return on_device(interpreter, array, collected_on(array, device, place))
    spec, mesh, raw = _target(interpreter, apis[-1], target)
    shape: Shape | Unknown = array.shape if array.shape is not None else Unknown("shape not known")
    held = spec_in_type(interpreter, array, mesh) or _held(array, mesh)
    verdict, api = _judge(interpreter, apis, mesh, spec, shape, raw, held, array.varying)
    if not interpreter.context.compiles and isinstance(verdict, Rejected) and _is_late(verdict):
        verdict = Undecided("it is only traced")
    if not alone and isinstance(verdict, Rejected) and verdict.cause is Cause.EMPTY:
        verdict = Accepted()
    interpreter.record(
        Placement(
            place=place,
            environment=interpreter.environment(),
            verdict=verdict,
            facts=facts_of(array, target, mesh, place, interpreter, wrapped_at),
            api=api,
            mesh=mesh,
            spec=as_held(spec),
            shape=shape,
            dtype=array.dtype,
            subject=subject or (f"`{array.name}`" if array.name else "the array"),
            raw=raw,
            held=held,
            made_at=array.made,
            entry_places=_entry_places(target),
            beside=_is_beside(interpreter, target, place),
            spec_place=_spec_origin(target),
        )
    )
    unplaced = isinstance(verdict, Rejected) or (isinstance(verdict, Accepted) and verdict.dropped)
    sharding = None if unplaced else _sharding(target, interpreter)
    if isinstance(verdict, Accepted) and api in COMMITTING:
        note_placed(interpreter, array, sharding, place)
    asked = sharding if api in _ASKING and isinstance(verdict, Accepted) else None
    note_requested(interpreter, array, asked, _ASKING.get(api, ""), place, subject or array.name)
    return replace(
        constrained(array, asked if api is Api.CONSTRAINT else None, place, subject or array.name),
        sharding=sharding,
        committed=sharding if api in COMMITTING and interpreter.context.in_jit is False else None,
        typed=typed_by(interpreter, api, array, mesh, spec, verdict),
        memory=memory_put(api, sharding, array),
    )


def device_of(target: Value) -> Devices | None:
    """Return the device of a `SingleDeviceSharding`; None for another target."""
    if not isinstance(target, LibraryObject) or target.kind != SINGLE_DEVICE:
        return None
    return device if isinstance(device := target.fields["device"], Devices) else None


def on_device(interpreter: Evaluator, array: Array, device: Devices) -> Array:
    """Return an array placed on one device; outside jit it is committed to it."""
    outside = interpreter.context.in_jit is False and device.shape == ()
    typed = array.typed if array.typed is not None and array.typed.mesh is None else None
    home, memory = device if outside else None, moved(array, outside)
    return replace(array, sharding=None, typed=typed, committed=home, memory=memory)


def _is_late(verdict: Rejected) -> bool:
    """Return whether JAX may refuse this only when it compiles; for repeated axis names the stage varies."""
    return verdict.stage in LATE or verdict.cause is Cause.REPEATED_AXIS


def rejected_at(
    interpreter: Evaluator,
    api: Api,
    stage: str,
    target: Value,
    place: Place,
    facts: tuple[Fact, ...] = (),
) -> bool:
    """Record a target that is rejected at a stage before any array; return whether it is."""
    spec, mesh, raw = _target(interpreter, api, target)
    if isinstance(target, ShardingValue) and api in (Api.SHARD_MAP_IN, Api.SHARD_MAP_OUT):
        spec, mesh, raw = Junk("a NamedSharding", "NamedSharding"), context_mesh(interpreter, False), True
    if isinstance(spec, Unknown):
        return False
    shape, context = Unknown("no array yet"), context_mesh(interpreter, legacy=False)
    verdict = judge_placement(api, mesh, spec, shape, raw=raw, context=context)
    if not isinstance(verdict, Rejected) or verdict.stage != stage:
        return False
    interpreter.record(
        Placement(
            place=place,
            environment=interpreter.environment(),
            verdict=verdict,
            facts=(*facts_of(None, target, mesh, place, interpreter), *facts),
            api=api,
            mesh=mesh,
            spec=as_held(spec),
            shape=shape,
            raw=raw,
            entry_places=_entry_places(target),
        )
    )
    return True


def as_held(spec: T | None) -> T | Junk:
    """Return a spec in the form of uses."""
    return Junk("None", "NoneType", falsy=True, data=NONE) if spec is None else spec


def _judge(
    interpreter: Evaluator,
    apis: Sequence[Api],
    mesh: Mesh | Unknown | None,
    spec: Spec | Junk | Unknown | None,
    shape: Shape | Unknown,
    raw: bool,
    held: Spec | None,
    varying: frozenset[str],
) -> tuple[Verdict, Api]:
    """Return the verdict of the API in effect; if the caller decides about jit, only what both APIs
    reject."""
    context = context_mesh(interpreter, legacy=False)
    in_jit = _is_traced(interpreter, apis)
    api = apis[-1] if in_jit is not False else apis[0]
    if inside_shard_map(interpreter) and api not in (Api.SHARD_MAP_IN, Api.SHARD_MAP_OUT):
        varies = varying if interpreter.context.check_vma else frozenset()
        bound = interpreter.context.mesh.mesh if isinstance(interpreter.context.mesh, MeshValue) else None
        manual = _manual(bound, mesh)
        return judge_inside(api, mesh, spec, shape, raw=raw, varying=varies, manual=manual), api
    if raw and context is None and isinstance(mesh, Mesh) and set(mesh.types) != {AxisType.AUTO}:
        # The laws of bare specs are those under `jax.set_mesh`, where Explicit axes only assert.
        return Undecided("a mesh of `with mesh:` with other than Auto axes"), api
    verdict = judge_placement(api, mesh, spec, shape, raw=raw, context=context, held=held)
    if in_jit is None and len(apis) > 1 and isinstance(verdict, Rejected):
        other = judge_placement(apis[0], mesh, spec, shape, raw=raw, context=context, held=held)
        if not isinstance(other, Rejected):
            return Undecided("outside jit this is accepted"), api
    if in_jit is None and len(apis) > 1 and isinstance(verdict, Accepted) and verdict.replicated:
        return replace(verdict, replicated=()), api
    return verdict, api


def _manual(around: Mesh | None, mesh: Mesh | Unknown | None) -> frozenset[str]:
    """Return the Manual axes of a body that a mesh has too, in the same sizes."""
    if (
        around is None
        or not isinstance(mesh, Mesh)
        or (mesh.names, mesh.sizes) != (around.names, around.sizes)
    ):
        return frozenset()
    return frozenset(axis for axis in around.names if around.type_of(axis) is AxisType.MANUAL)


def _is_traced(interpreter: Evaluator, apis: Sequence[Api]) -> bool | None:
    """Return whether JAX traces a call of one of these APIs; None where that is not known.

    Under `vmap` alone, `device_put` is made at once, of the arrays with their mapped dimension. `jnp.zeros`
    has no operand, but `jnp.full` may have one that is mapped. Where jit is disabled, a constraint outside a
    trace lays nothing out: it is a jit itself (`pjit._sharding_constraint_impl`).
    """
    in_jit, staged = interpreter.context.in_jit, interpreter.context.staged
    if in_jit is True and staged is not True and apis[0] in (Api.CREATE, Api.DEVICE_PUT, Api.CONVERT):
        return None
    if in_jit is False and apis[0] is Api.CONSTRAINT_EAGER and is_set(interpreter, DISABLE_JIT):
        return None
    return staged if apis[0] is Api.CREATE else in_jit


def _held(array: Array, mesh: Mesh | Unknown | None) -> Spec | None:
    """Return the current sharding of the array on this mesh, or None if it is unknown."""
    holder = array.sharding.mesh if array.sharding is not None else None
    spec = array.sharding.spec if array.sharding is not None else None
    held = isinstance(holder, MeshValue) and holder.mesh == mesh
    return spec.spec if held and isinstance(spec, SpecValue) else None


def inside_shard_map(interpreter: Evaluator) -> bool:
    """Return whether some mesh axis is Manual here."""
    mesh = interpreter.context.mesh
    return isinstance(mesh, MeshValue) and AxisType.MANUAL in mesh.mesh.types


def _target(
    interpreter: Evaluator, api: Api, target: Value
) -> tuple[Spec | Junk | Unknown | None, Mesh | Unknown | None, bool]:
    """Split a target into spec, mesh, and whether the spec is bare."""
    if isinstance(target, ShardingValue):
        spec = target.spec.spec if isinstance(target.spec, SpecValue) else target.spec
        return spec, target.mesh.mesh if isinstance(target.mesh, MeshValue) else target.mesh, False
    junk = target if isinstance(target, Unknown) else _given(target)
    if isinstance(junk, Unknown):
        return junk, None, True
    return junk, context_mesh(interpreter, api in _TAKES_LEGACY_MESH), True


def _given(target: Value) -> Spec | Junk | Unknown | None:
    """Return a value in the position of a sharding or spec, which may be an array, a shape, or a mesh."""
    if isinstance(target, Array):
        return array_junk(target)
    if isinstance(target, MeshValue):
        return Junk(f"the mesh {target.mesh}", "Mesh", data=data_of(target))
    return as_junk(target)


def context_mesh(interpreter: Evaluator, legacy: bool) -> Mesh | Unknown | None:
    """Return the mesh for a bare spec: that of `jax.set_mesh`, else (with ``legacy``) that of ``with
    mesh:``."""
    for mesh in (interpreter.context.mesh, interpreter.context.legacy_mesh if legacy else None):
        if mesh is not None:
            return mesh.mesh if isinstance(mesh, MeshValue) else mesh
    return None


def as_junk(value: Value) -> Spec | Junk | Unknown | None:
    """Return a value in the position of a spec: a spec, None, or Junk."""
    if isinstance(value, SpecValue):
        return value.spec
    if isinstance(value, Const):
        if value.value is None:
            return None
        return junk_of(value)
    if isinstance(value, Integer):
        return number_junk(value.dim)
    if isinstance(value, Tuple | ListValue) and value.items is not None:
        parts = [as_junk(item) for item in value.items]
        if all(isinstance(part, Junk | None) for part in parts):
            kind = "tuple" if isinstance(value, Tuple) else "list"
            return Junk(text_of(value), kind, isinstance(value, Tuple), data=data_of(value))
    return Unknown("what is given is not known")


def junk_of(value: Const) -> Junk:
    """Return a misplaced constant: its text and class."""
    text, data = constant_source(value.value), constant_data(value.value)
    return Junk(text, kind_name(value), falsy=not value.value, data=data)


def number_junk(number: Dim) -> Junk:
    """Return a misplaced whole number."""
    return Junk(str(number), "int", data=number if isinstance(number, int) else None)


def array_junk(array: Array) -> Junk | Unknown:
    """Return a misplaced array, or `jax.ShapeDtypeStruct`; what has a method of arrays need not be one."""
    if array.shape is None or array.dtype is None:
        return Unknown("it may be no array")
    if array.struct:
        return Junk("a ShapeDtypeStruct", "ShapeDtypeStruct", data=data_of(array))
    return Junk("an array", "Array", hashable=False, data=data_of(array))


def spec_junk(spec: Spec, falsy: bool = False) -> Junk:
    """Return a misplaced spec."""
    return Junk(str(spec), "PartitionSpec", falsy=falsy, data=spec_data(spec))


def text_of(value: Value) -> str:
    """Return a value as Python writes it."""
    if isinstance(value, Const):
        return constant_source(value.value)
    if isinstance(value, Integer):
        return str(value.dim)
    if isinstance(value, SpecValue):
        return str(value.spec)
    if isinstance(value, SetValue):
        return (
            "a set"
            if value.items is None
            else constant_source(value.items if value.frozen else set(value.items))
        )
    if isinstance(value, Tuple):
        inner = ", ".join(map(text_of, value.items))
        return f"({inner},)" if len(value.items) == 1 else f"({inner})"
    if isinstance(value, ListValue) and value.items is not None:
        return f"[{', '.join(map(text_of, value.items))}]"
    if isinstance(value, DictValue) and value.items is not None:
        return (
            "{"
            + ", ".join(f"{constant_source(key)}: {text_of(item)}" for key, item in value.items.items())
            + "}"
        )
    return value.name if isinstance(value, External) else "?"


def _entry_places(target: Value) -> tuple[Place | None, ...]:
    spec = target.spec if isinstance(target, ShardingValue) else target
    return spec.places if isinstance(spec, SpecValue) else ()


def _is_beside(interpreter: Evaluator, target: Value, place: Place) -> bool:
    """Return whether the code at a place makes the spec that is used there, or is in a function that does."""
    origin = _spec_origin(target)
    return origin is not None and interpreter.sees(place, origin)


def _spec_origin(target: Value) -> Place | None:
    spec = target.spec if isinstance(target, ShardingValue) else target
    return spec.origin if isinstance(spec, SpecValue) else None


def record_open(
    interpreter: Evaluator, api: Api, array: Array, spec: Spec | Unknown, reason: Unknown, place: Place
) -> None:
    """Record an array with a spec of unknown effect in JAX; ``reason`` is the reason."""
    interpreter.record(
        Placement(
            place=place,
            environment=interpreter.environment(),
            verdict=Undecided(reason.reason),
            api=api,
            mesh=reason,
            spec=spec,
            shape=array.shape if array.shape is not None else Unknown("shape not known"),
            dtype=array.dtype,
            subject=f"`{array.name}`" if array.name else "the array",
        )
    )


def place_unknown(
    interpreter: Evaluator,
    apis: Sequence[Api],
    target: Value,
    place: Place,
    subject: str | None = None,
    wrapped_at: Place | None = None,
) -> None:
    """Record that an unknown value is placed on ``target``.

    One sharding, or spec, is judged as that of an array of any shape; in a tree of them each may be for a
    part that has no leaves.
    """
    if not isinstance(target, ShardingValue | SpecValue | Unknown):
        target = Unknown("what it places is not known")
    place_array(interpreter, apis, Array(None), target, place, subject, wrapped_at)


def _sharding(target: Value, interpreter: Evaluator) -> ShardingValue | None:
    if isinstance(target, ShardingValue):
        return target
    mesh = interpreter.context.mesh
    return (
        ShardingValue(mesh, target) if isinstance(target, SpecValue) and isinstance(mesh, MeshValue) else None
    )


def record_mismatch(
    interpreter: Evaluator, api: Api, function: str, specs: Value, text: str, place: Place
) -> None:
    """Record that a tree of specs is not a prefix of the tree of arrays."""
    interpreter.record(
        ArityUse(
            place=getattr(specs, "origin", None) or place,
            environment=interpreter.environment(),
            verdict=Rejected(Cause.ARITY, "ValueError", "trace"),
            facts=(Fact(f"`{function}` is called here", place, kind="call"),),
            api=api,
            function=function,
            mismatch=text,
        )
    )


def facts_of(
    array: Array | None,
    target: Value,
    mesh: Mesh | Unknown | None,
    place: Place,
    interpreter: Evaluator,
    wrapped_at: Place | None = None,
) -> tuple[Fact, ...]:
    """Return the origins of the mesh and the shape, and the calls if the spec is written elsewhere."""
    facts: list[Fact] = []
    holder = target.mesh if isinstance(target, ShardingValue) else interpreter.context.mesh
    if holder is None:
        holder = interpreter.context.legacy_mesh
    facts.extend(mesh_facts(holder))
    if array is not None and array.shape is not None and array.origin is not None:
        facts.append(
            Fact(
                f"{f'`{array.name}`' if array.name else 'the array'} has shape {shape_text(array.shape)}",
                array.origin,
                kind="shape",
            )
        )
    spec = target.spec if isinstance(target, ShardingValue) else target
    if isinstance(spec, SpecValue) and spec.origin is not None and spec.origin != place:
        facts.append(Fact(f"{spec.spec} is used here", place, kind="use"))
    if wrapped_at is not None and wrapped_at != place:
        facts.append(Fact("the function is wrapped here", wrapped_at))
    return tuple(facts)


def mesh_facts(mesh: MeshValue | Unknown | None) -> Iterable[Fact]:
    """Yield the origin of a mesh."""
    if isinstance(mesh, MeshValue) and mesh.origin is not None:
        name = f"`{mesh.name}`" if mesh.name else "the mesh"
        yield Fact(f"{name} has the axes {mesh.mesh}", mesh.origin, mesh.mesh)


def laid_out(law: Callable[[Mesh, Spec, Shape], Shape], mesh: Mesh, spec: Spec, shape: Shape) -> Shape | None:
    """Return a shape by `shard_shape` or `global_shape`; None if the mesh, or the spec on it, is invalid."""
    try:
        return law(mesh, spec, shape)
    except (ValueError, ZeroDivisionError):
        return None


def shape_text(shape: Shape) -> str:
    """Return a shape as Python writes it; unnamed sizes are question marks."""
    sizes = ["?" if "?" in str(dim) else str(dim) for dim in shape]
    return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"


def as_mesh(interpreter: Evaluator, value: Value | None) -> MeshValue | Unknown:
    """Return a mesh argument; for the caller's mesh, the one that the user configured."""
    if isinstance(value, MeshValue):
        return value
    open_ = value is None or (isinstance(value, Unknown) and not isinstance(value, Failed))
    if open_ and (assumed := assumed_mesh(interpreter)) is not None:
        return assumed
    return value if isinstance(value, Unknown) else Unknown("not a mesh that is known")

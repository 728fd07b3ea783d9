"""nnx variables and their metadata: the constructor of `flax.nnx.Variable`.

A variable is a `LibraryObject` of kind ``flax.nnx.Param`` (or another variable class) whose field ``value``
is its array; the other fields are its metadata. An initializer `with_partitioning` returns a
``flax.nnx.VariableMetadata``, which `Param` unpacks.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace

from shardlint.inference.domain.values import (
    NONE,
    Array,
    DictValue,
    LibraryObject,
    ListValue,
    MeshValue,
    Native,
    ShardingValue,
    SpecValue,
    Value,
    as_bool,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.arrays.operands import Stop, operand
from shardlint.inference.overlays.flax.common.layer_shapes import initialized, refuse_array
from shardlint.inference.overlays.flax.common.metadata import NAMING, Names, mesh_of, names_of
from shardlint.inference.overlays.flax.common.parameter_uses import (
    INERT,
    NameCheck,
    Owner,
    record_parameter,
    shape_known,
)
from shardlint.inference.overlays.flax.linen.module_runs import NOT_EAGER
from shardlint.inference.overlays.flax.logical.constraints import as_written, record_axis
from shardlint.inference.overlays.flax.logical.rules import combined_rules, rules_of
from shardlint.inference.overlays.flax.logical.uses import Setting, making, record_mistake
from shardlint.inference.overlays.jax.explicit.type_conversion import typed_as
from shardlint.inference.overlays.jax.sharding.movement import laid
from shardlint.inference.overlays.recording import record_call
from shardlint.laws.core.dims import Shape
from shardlint.laws.core.values import Mesh, Spec, Unknown
from shardlint.laws.core.verdicts import Accepted, Cause, Rejected, Undecided, Verdict
from shardlint.laws.flax.logical_axes import Refused, mesh_spec, rename
from shardlint.laws.flax.logical_axes import given as given_rules
from shardlint.laws.placement.named_sharding import judge_sharding
from shardlint.model.spans import Place

METADATA = "flax.nnx.VariableMetadata"
PARAM = "flax.nnx.Param"
OPTIMIZER = "flax.nnx.Optimizer"
#: Classes of variables, each with its base class.
PARENTS = {
    "flax.nnx.Variable": None,
    **{
        f"flax.nnx.{name}": "flax.nnx.Variable"
        for name in ("Param", "BatchStat", "Cache", "Intermediate", "OptState", "RngState")
    },
    "flax.nnx.Perturbation": "flax.nnx.Intermediate",
    "flax.nnx.LoRAParam": PARAM,
    "flax.nnx.RngKey": "flax.nnx.RngState",
    "flax.nnx.RngCount": "flax.nnx.RngState",
    "flax.nnx.OptArray": "flax.nnx.OptState",
    "flax.nnx.OptVariable": "flax.nnx.OptState",
}
VARIABLES = tuple(PARENTS)
#: Former names of ``out_sharding``.
OLD_NAMES = ("sharding", "sharding_names")


def with_metadata(call: Call) -> Value:
    """``with_partitioning(init, sharding, mesh=None, **metadata)``, ``with_metadata(init, **metadata)``."""
    init = call.argument(0, "initializer")
    if init is None or call.opaque:
        return call.unknown("the initializer is not known")
    metadata: dict[Hashable, Value] = dict(call.kwargs.items())
    metadata.pop("initializer", None)
    if call.name.endswith("with_partitioning"):
        metadata.pop("sharding", None)
        metadata["out_sharding"] = call.argument(1, "sharding") or NONE
        metadata["mesh"] = call.argument(2, "mesh") or NONE

    def wrapped(inner: Call) -> Value:
        if refuse_array(call, "nnx.with_partitioning", init):
            return call.unknown("rejected")
        value = initialized(inner, init, inner.args, inner.kwargs)
        return LibraryObject(METADATA, {"value": value, "metadata": DictValue({**metadata})}, call.place)

    return Native(NAMING, wrapped, wraps=init, origin=call.place)


def make_variable(
    call: Call,
    kind: str,
    value: Value,
    metadata: dict[str, Value] | None,
    owner: Owner,
    name: str,
    copies: int = 1,
) -> Value:
    """Create a variable: shard it by its metadata, and record a parameter.

    ``metadata`` is None if it is unknown. The initializer's metadata takes precedence, as in
    `flax.nnx.Variable`. ``copies`` are made of it.
    """
    named = None
    if isinstance(value, LibraryObject) and value.kind == METADATA:
        named = value.origin
        carried = value.fields["metadata"]
        known = carried.items if isinstance(carried, DictValue) else None
        fits = metadata is not None and known is not None
        metadata = {**(metadata or {}), **{str(k): v for k, v in (known or {}).items()}} if fits else None
        value = value.fields["value"]
    try:
        array = operand(value)
    except Stop:
        return call.unknown("a variable that holds no array")
    if metadata is not None:
        metadata = _with_new_name(metadata)
    names, mesh, verdict = _sharded(call, array, metadata)
    holder = _holder(call.interpreter, metadata, mesh)
    array = _held(call.interpreter, array, names, holder, verdict)
    if kind == PARAM or names.spec is not None:
        record_parameter(
            call.interpreter,
            owner,
            name,
            array,
            names,
            mesh,
            verdict,
            initializer_place=named,
            state=kind != PARAM,
            copies=copies,
        )
    if isinstance(verdict, Rejected):
        return Unknown(f"rejected: the names of {owner.subject(name)}")
    fields = {"out_sharding": Unknown("the metadata is not known")} if metadata is None else metadata
    return LibraryObject(kind, {**fields, "value": array}, call.place)


def _with_new_name(metadata: dict[str, Value]) -> dict[str, Value]:
    """Return metadata with the sharding under its current name."""
    for old in OLD_NAMES:
        if old in metadata:
            metadata = {**metadata, "out_sharding": metadata[old]}
            del metadata[old]
    return metadata


def _sharded(
    call: Call, array: Array, metadata: dict[str, Value] | None
) -> tuple[Names, Mesh | Unknown | None, Verdict]:
    """Return the names of a new variable, their mesh, and the verdict (`flax.core.spmd.shard_value`)."""
    interpreter = call.interpreter
    if metadata is None:
        return Names(Unknown("the metadata is not known")), None, Undecided("the metadata is not known")
    sharding = metadata.get("out_sharding")
    names = names_of(sharding)
    if names.spec is None or names.spec in ("", Spec()):
        return Names(None), None, INERT
    own = mesh_of(metadata.get("mesh"))
    name_check = NameCheck.nnx(interpreter, own)
    eager = metadata.get("eager_sharding")
    if NOT_EAGER in interpreter.switches or (eager is not None and as_bool(eager) is not True):
        return names, name_check.mesh, Undecided("eager sharding may be off")
    setting = _setting(interpreter, sharding, metadata, call.place)
    renamed = _renamed(interpreter, setting, shape_known(array))
    if not isinstance(renamed, Spec):
        ruled = isinstance(setting.names.spec, Spec)
        return names, Unknown("logical axis rules decide") if ruled else name_check.mesh, renamed
    if isinstance(sharding, ShardingValue):
        on = sharding.mesh.mesh if isinstance(sharding.mesh, MeshValue) else sharding.mesh
        if (refused := _elsewhere(name_check, on)) is not None:
            mended: dict[int | str, Value] = {"out_sharding": sharding.spec}
            fits = call.kwargs.get("out_sharding") is sharding
            repaired = mended if fits else None
            record_call(call, refused, place=sharding.origin, function="nnx.Param", repaired=repaired)
            return names, on, refused
        name_check = NameCheck.nnx(interpreter, on)
    if isinstance(sharding, ListValue) or isinstance(names.spec, str):
        # Only a tuple or a `PartitionSpec` shards. A list or a string becomes the constraint None, which
        # leaves the value replicated on the mesh of the context; without one it is refused.
        shown = Names(Unknown("a list of names"), names.place) if isinstance(sharding, ListValue) else names
        bare, legacy = NameCheck.nnx(interpreter, None), interpreter.context.legacy_mesh
        refused_here = bare.mesh is None and (name_check.mesh is None or legacy is None)
        verdict = bare.judge(Names(Spec((None,))), (1,)) if refused_here else Undecided("no effect")
        return shown, name_check.mesh, verdict
    found = replace(names, spec=renamed)
    verdict = name_check.judge(found, shape_known(array))
    if name_check.ruled or not isinstance(name_check.mesh, Mesh):
        record_axis(interpreter, setting, renamed, verdict, name_check.mesh, shape_known(array))
    else:
        foreseen = judge_sharding(name_check.mesh, mesh_spec(renamed))
        record_axis(interpreter, setting, renamed, foreseen, name_check.mesh, later=True)
    return found, name_check.mesh, verdict


def _holder(
    interpreter: Evaluator, metadata: Mapping[str, Value] | None, mesh: Mesh | Unknown | None
) -> MeshValue | None:
    """Return the mesh that a variable is placed on, with its devices where they are known."""
    if not isinstance(mesh, Mesh):
        return None
    own, context = (metadata or {}).get("mesh"), interpreter.context
    held = (one for one in (own, context.mesh, context.legacy_mesh) if isinstance(one, MeshValue))
    return next((one for one in held if one.mesh == mesh), MeshValue(mesh))


def _held(
    interpreter: Evaluator, array: Array, names: Names, mesh: MeshValue | None, verdict: Verdict
) -> Array:
    """Return the array after `shard_value`, which constrains it."""
    if names.spec is None or not isinstance(verdict, Accepted):
        return array if names.spec is None else replace(array, sharding=None, typed=None)
    if mesh is None or not isinstance(names.spec, Spec):
        return replace(array, sharding=None, typed=None)
    spec = None if verdict.spec is None else SpecValue(verdict.spec, names.place, names.entry_places)
    sharding = None if spec is None else ShardingValue(mesh, spec, names.place)
    in_jit = interpreter.context.in_jit
    return replace(
        laid(array, sharding if in_jit else None),
        sharding=sharding,
        committed=sharding if in_jit is False else None,
        typed=typed_as(mesh.mesh, names.spec, array.shape),
    )


def _setting(
    interpreter: Evaluator, sharding: Value | None, metadata: Mapping[str, Value], place: Place
) -> Setting:
    """Return a variable's names with the rules that apply to them, the context's and its own."""
    names = as_written(names_of(sharding))
    if isinstance(sharding, SpecValue | ShardingValue) and isinstance(names.spec, Spec):
        names = replace(names, spec=mesh_spec(names.spec))
    around, written = combined_rules(interpreter, metadata.get("sharding_rules"))
    context, own = rules_of(around), rules_of(written)
    if isinstance(context, Unknown) and not interpreter.context.program:
        # `NameCheck.judge` considers that the caller's rules may rename the axes.
        context = ()
    if not given_rules(context):
        context, own = own, ()
    elif not given_rules(own):
        written = around
    return Setting("nnx", names, context, place, written, own, "nnx.Param")


def _renamed(interpreter: Evaluator, setting: Setting, shape: Shape | Unknown) -> Spec | Rejected | Undecided:
    """Return a variable's names, renamed by the rules. Mistakes in the rules are recorded."""
    if not isinstance(setting.names.spec, Spec):
        return Undecided("the names are not known")
    setting.note_names()
    found = rename(setting.spec, setting.rules, setting.own)
    if not isinstance(found, Refused):
        return found
    verdict = found.at("nnx.Param()")
    calls = making(setting.spec, setting.rules, shape) if setting.own == () else None
    record_mistake(interpreter, setting, found.mistake, found.text, verdict, calls=calls)
    return verdict


def _elsewhere(name_check: NameCheck, on: Mesh | Unknown) -> Verdict | None:
    """Return the rejection of a `NamedSharding` because of its mesh (a bare assert in `shard_value`), or
    None.

    The mesh must be equal to the variable's own mesh, or else to that of `jax.set_mesh`, which is abstract: a
    mesh of devices never is.
    """
    mesh = name_check.mesh
    if isinstance(mesh, Mesh) and name_check.raw:
        mesh = replace(mesh, abstract=True)
    if mesh is None or mesh == on:
        return None
    if isinstance(mesh, Unknown) or isinstance(on, Unknown):
        return Undecided("whether the meshes are equal is not known")
    detail = (
        "nnx wants a NamedSharding on the mesh of its variable: mesh=, or the AbstractMesh that jax.set_mesh "
        "sets; pass P(...) alone, or the sharding's mesh too"
    )
    return Rejected(Cause.OTHER_MESH, "AssertionError", "nnx.Param()", detail=detail)


def ancestors(kind: str) -> tuple[str, ...]:
    """Return the classes of which a variable is an instance."""
    parent = PARENTS[kind]
    return (kind,) if parent is None else (kind, *ancestors(parent))


def is_variable(value: Value) -> bool:
    """Return whether a value is an nnx variable."""
    return isinstance(value, LibraryObject) and value.kind in VARIABLES


def variable_spec(interpreter: Evaluator, variable: LibraryObject, place: Place) -> Value:
    """``nnx.get_partition_spec`` of one variable (`flax.nnx.spmd.get_var_pspec`)."""
    sharding = variable.fields.get("out_sharding")
    names = names_of(sharding)
    if names.spec is None or names.spec == "":
        return SpecValue(Spec(), variable.origin)
    if isinstance(names.spec, Unknown) or isinstance(sharding, ShardingValue):
        return Unknown("the spec is not known")
    setting = _setting(interpreter, sharding, variable.fields, place)
    if isinstance(rules_of(interpreter.context.logical_rules), Unknown):
        return Unknown("logical axis rules decide")
    spec = _renamed(interpreter, setting, Unknown("no array is involved"))
    if not isinstance(spec, Spec):
        return Unknown("the names are not resolved")
    return SpecValue(mesh_spec(spec), setting.names.place, setting.names.entry_places)

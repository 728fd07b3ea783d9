"""nnx variables and their metadata: what `flax.nnx.Variable` does when it is made.

A variable is a `LibraryObject` of kind ``flax.nnx.Param`` (or another variable class) whose field
``value`` is its array; the other fields are its metadata. An initializer `with_partitioning` returns
a ``flax.nnx.VariableMetadata``, which `Param` takes apart.
"""

from __future__ import annotations

from collections.abc import Hashable

from shardlint.inference.calls import Call
from shardlint.inference.overlays.arrays import Stop, operand
from shardlint.inference.overlays.flax_metadata import Names, mesh_of, names_of
from shardlint.inference.overlays.flax_modules import NOT_EAGER, RULES
from shardlint.inference.overlays.flax_uses import INERT, Meeting, Owner, record_parameter, shape_known
from shardlint.inference.values import (
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
    is_none,
)
from shardlint.laws.values import Mesh, Spec, Unknown
from shardlint.laws.verdicts import Rejected, Undecided, Verdict

METADATA = "flax.nnx.VariableMetadata"
PARAM = "flax.nnx.Param"
#: Classes of variables; subclasses of the program's own are not followed.
VARIABLES = tuple(
    f"flax.nnx.{name}" for name in ("Variable", "Param", "BatchStat", "Cache", "Intermediate", "LoRAParam")
)
#: What ``out_sharding`` was called before.
_OLD_NAMES = ("sharding", "sharding_names")


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
        made = inner.interpreter.call(init, list(inner.args), dict(inner.kwargs), inner.place)
        return LibraryObject(METADATA, {"value": made, "metadata": DictValue({**metadata})}, call.place)

    return Native("an initializer with metadata", wrapped, wraps=init, origin=call.place)


def make_variable(
    call: Call, kind: str, value: Value, metadata: dict[str, Value] | None, owner: Owner, name: str
) -> Value:
    """Make a variable: shard it as its metadata says, and record a parameter.

    ``metadata`` is None when it is not known. Metadata that the initializer carries comes first, as in
    `flax.nnx.Variable`.
    """
    if isinstance(value, LibraryObject) and value.kind == METADATA:
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
    if kind == PARAM or names.spec is not None:
        record_parameter(call.interpreter, owner, name, array, names, mesh, verdict)
    if isinstance(verdict, Rejected):
        return Unknown(f"rejected: the names of {owner.subject(name)}")
    fields = {"out_sharding": Unknown("the metadata is not known")} if metadata is None else metadata
    return LibraryObject(kind, {**fields, "value": array}, call.place)


def _with_new_name(metadata: dict[str, Value]) -> dict[str, Value]:
    """Metadata with the sharding under its present name."""
    for old in _OLD_NAMES:
        if old in metadata:
            metadata = {**metadata, "out_sharding": metadata[old]}
            del metadata[old]
    return metadata


def _sharded(
    call: Call, array: Array, metadata: dict[str, Value] | None
) -> tuple[Names, Mesh | Unknown | None, Verdict]:
    """What `flax.core.spmd.shard_value` makes of a new variable: its names, their mesh, the verdict."""
    interpreter = call.interpreter
    if metadata is None:
        return Names(Unknown("the metadata is not known")), None, Undecided("the metadata is not known")
    sharding = metadata.get("out_sharding")
    names = names_of(sharding)
    if names.spec is None or names.spec in ("", Spec()):
        return Names(None), None, INERT
    own = mesh_of(metadata.get("mesh"))
    if isinstance(sharding, ShardingValue):
        # It must be on the context's mesh, if there is one; which is not looked into here.
        own = sharding.mesh.mesh if isinstance(sharding.mesh, MeshValue) else sharding.mesh
    meeting = Meeting.nnx(interpreter, own)
    eager = metadata.get("eager_sharding")
    if NOT_EAGER in interpreter.switches or (eager is not None and as_bool(eager) is not True):
        return names, meeting.mesh, Undecided("eager sharding may be off")
    rules = metadata.get("sharding_rules")
    if RULES in interpreter.switches or (rules is not None and not is_none(rules)):
        return names, Unknown("logical axis rules decide"), Undecided("logical axis rules decide")
    if isinstance(sharding, ListValue) or isinstance(names.spec, str):
        # Only a tuple or a `PartitionSpec` shards. A list or a string becomes the constraint None, which
        # leaves the value replicated on the mesh of the context; without one it is refused.
        shown = Names(Unknown("a list of names"), names.place) if isinstance(sharding, ListValue) else names
        bare, legacy = Meeting.nnx(interpreter, None), interpreter.context.legacy_mesh
        refused = bare.mesh is None and (meeting.mesh is None or legacy is None)
        verdict = bare.judge(Names(Spec((None,))), (1,)) if refused else Undecided("no effect")
        return shown, meeting.mesh, verdict
    return names, meeting.mesh, meeting.judge(names, shape_known(array))


def is_variable(value: Value) -> bool:
    """Whether a value is an nnx variable."""
    return isinstance(value, LibraryObject) and value.kind in VARIABLES


def variable_spec(variable: LibraryObject) -> Value:
    """``nnx.get_partition_spec`` of one variable (`flax.nnx.spmd.get_var_pspec`)."""
    names = names_of(variable.fields.get("out_sharding"))
    if names.spec is None or names.spec == "":
        return SpecValue(Spec(), variable.origin)
    if isinstance(names.spec, str):
        letters = tuple(names.spec)
        return SpecValue(Spec(letters), names.place, (names.place,) * len(letters))
    if isinstance(names.spec, Unknown) or given_rules(variable):
        return Unknown("the spec is not known")
    return SpecValue(names.spec, names.place, names.entry_places)


def given_rules(variable: LibraryObject) -> bool:
    """Whether the variable has axis rules of its own."""
    rules = variable.fields.get("sharding_rules")
    return rules is not None and not is_none(rules)

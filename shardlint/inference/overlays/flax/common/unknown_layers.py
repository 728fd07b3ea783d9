"""Parameters of unknown layers, whose initializers carry names.

A layer whose sizes come from an unknown configuration may have parameters of any rank. The names in its
initializers are recorded without a shape and a verdict.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from shardlint.inference.domain.values import DictValue, LibraryObject, Value, as_bool
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.flax.common.layer_shapes import initialized
from shardlint.inference.overlays.flax.common.metadata import Names, carries_names, is_box, mesh_of, names_of
from shardlint.inference.overlays.flax.common.parameter_uses import NameCheck, Owner, record_parameter
from shardlint.inference.overlays.flax.linen.module_runs import KEY
from shardlint.laws.core.values import Mesh, Unknown
from shardlint.laws.core.verdicts import Undecided

_METADATA = "flax.nnx.VariableMetadata"


def record_named(call: Call, owner: Owner, args: Mapping[str, Value], seen: Collection[str] = ()) -> None:
    """Record the parameters of a layer whose initializers carry names, except for those in ``seen``.

    ``args`` are the layer's arguments by name; ``kernel_init`` initializes ``kernel``.
    """
    for argument, init in args.items():
        name, _, ending = argument.rpartition("_")
        if ending not in ("init", "initializer") or not carries_names(init) or name in seen:
            continue
        if as_bool(args.get(f"use_{name}")) is not False:
            unknown = Unknown("the shape is not known")
            record_box(call, owner, name, initialized(call, init, [KEY, unknown, Unknown("dtype")], {}))


def record_box(call: Call, owner: Owner, name: str, made: Value) -> None:
    """Record the result of an initializer, if it carries names."""
    found = _named(call, made)
    if found is not None and isinstance(made, LibraryObject):
        names, mesh = found
        undecided = Undecided("the layer is not followed")
        record_parameter(
            call.interpreter, owner, name, Unknown("the shape is not known"), names, mesh, undecided,
            initializer_place=made.origin,
        )  # fmt: skip


def _named(call: Call, made: Value) -> tuple[Names, Mesh | Unknown | None] | None:
    if not isinstance(made, LibraryObject):
        return None
    if is_box(made):
        own = mesh_of(made.fields.get("mesh"))
        return names_of(made.fields.get("names")), NameCheck.linen(call.interpreter, own).mesh
    metadata = made.fields.get("metadata")
    if made.kind != _METADATA or not isinstance(metadata, DictValue) or metadata.items is None:
        return None
    names, own = names_of(metadata.items.get("out_sharding")), mesh_of(metadata.items.get("mesh"))
    return None if names.spec is None else (names, NameCheck.nnx(call.interpreter, own).mesh)

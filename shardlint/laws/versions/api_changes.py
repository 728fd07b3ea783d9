"""The data table: changes of JAX's sharding API between releases, one event a row.

A row names its subject (a qualified name, ``function(argument=)`` for an argument, or a behaviour in words),
the release, the event, the replacement, and a summary of JAX's changelog for that release: empty where the
changelog does not mention it. Every row about a name or an argument was measured on all releases from 0.4.35
to 0.12.0; `tests/versions` measures them again.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from shardlint.laws.versions.releases import Release
from shardlint.support.lazy_dataclass import dataclass


class Event(StrEnum):
    """A change of a row's subject in a release."""

    ADDED = "added"
    DEPRECATED = "deprecated"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Row:
    """One event. ``since`` is None where it happened before 0.4.35 and the changelog gives no release."""

    subject: str
    event: Event
    since: Release | None
    instead: str = ""
    entry: str = ""


def added(since: str, entry: str, *names: str) -> Iterator[Row]:
    """Yield a row a name that a release added."""
    return (Row(name, Event.ADDED, Release.parse(since), entry=entry) for name in names)


def deprecated(since: str | None, instead: str, entry: str, *names: str) -> Iterator[Row]:
    """Yield a row a name that a release deprecated."""
    release = Release.parse(since) if since else None
    return (Row(name, Event.DEPRECATED, release, instead, entry) for name in names)


def removed(since: str | None, instead: str, entry: str, *names: str) -> Iterator[Row]:
    """Yield a row a name that a release removed."""
    release = Release.parse(since) if since else None
    return (Row(name, Event.REMOVED, release, instead, entry) for name in names)


def under(prefix: str, names: str) -> tuple[str, ...]:
    """Return the names, each with the prefix."""
    return tuple(f"{prefix}{name}" for name in names.split())


def _out_sharding(names: str) -> tuple[str, ...]:
    return tuple(f"jax.{name}(out_sharding=)" for name in names.split())


#: `jax.make_mesh` creates Explicit axes unless their types are given.
EXPLICIT_BY_DEFAULT = "jax.make_mesh: Explicit axes by default"
#: So does `jax.sharding.AbstractMesh`.
EXPLICIT_ABSTRACT_MESH = "jax.sharding.AbstractMesh: Explicit axes by default"
#: By constructor of meshes: the change of its default types.
TYPES_BY_DEFAULT = {"make_mesh": EXPLICIT_BY_DEFAULT, "AbstractMesh": EXPLICIT_ABSTRACT_MESH}
#: It warns that this will change.
WARNS_OF_DEFAULT = "jax.make_mesh: a warning where axis_types is left out"
#: `PartitionSpec` is a Python tuple.
SPEC_IS_TUPLE = "PartitionSpec: a tuple"
#: A spec equals the tuple of its entries.
SPEC_EQUALS_TUPLE = "PartitionSpec: equal to a tuple"
#: Falsy values (``""``, ``0``) may stand for None in a spec.
FALSY_IS_NONE = "PartitionSpec: what is false stands for None"
#: Inside shard_map the gradient with respect to an unvarying value is summed over the axes that the value
#: varies over.
GRADIENTS_ARE_SUMMED = "jax.grad: gradients by what does not vary are summed"

_PXLA = "jax.interpreters.pxla."
_GONE_PXLA = "Chunked NoSharding Replicated ShardedAxis ShardingSpec Unstacked shard_args spec_to_indices"
_GONE_PXLA_LATER = (
    "ArrayMapping Index MeshAxisName MeshExecutable array_mapping_to_axis_resources "
    "global_aval_to_result_handler global_result_handlers op_sharding_to_indices"
)
_TREE = "map leaves flatten unflatten structure transpose"
_SHARD = "reshard auto_axes explicit_axes"
_CORE_AXES = "nonempty_axis_env_DO_NOT_USE unsafe_get_axis_names_DO_NOT_USE"

NAMES: tuple[Row, ...] = (
    # -- shard_map ------------------------------------------------------------------------------
    *added("0.6.1", "", "jax.shard_map"),
    *deprecated(
        "0.8.0",
        "jax.shard_map (check_rep is now check_vma)",
        "jax.experimental.shard_map.shard_map is deprecated in favour of jax.shard_map",
        "jax.experimental.shard_map.shard_map",
    ),
    *added("0.7.0", "", "jax.smap"),
    *removed("0.4.31", "jax.shard_map", "xmap deleted, shard_map replaces it", "jax.experimental.maps.xmap"),
    # -- jit and pjit ---------------------------------------------------------------------------
    *deprecated(
        "0.8.0", "jax.jit", "jax.experimental.pjit.pjit is deprecated in favour of jax.jit",
        "jax.experimental.pjit.pjit",
    ),
    *removed("0.4.11", "jax.sharding.PartitionSpec", "", "jax.experimental.pjit.PartitionSpec"),
    *removed("0.4.11", "jax.sharding.NamedSharding", "", "jax.experimental.pjit.NamedSharding"),
    *removed(
        "0.4.11", "sharded jax.Arrays as arguments, without in_shardings", "",
        "jax.experimental.pjit.FROM_GDA",
    ),
    *removed(
        None, "jax.lax.with_sharding_constraint", "", "jax.experimental.pjit.with_sharding_constraint"
    ),
    *removed("0.10.1", "", "", "jax.experimental.pjit.AUTO"),
    # -- meshes and their context ---------------------------------------------------------------
    *added("0.5.0", "", "jax.sharding.use_mesh"),
    *removed("0.7.1", "jax.set_mesh", "use_mesh removed in favour of jax.set_mesh", "jax.sharding.use_mesh"),
    *added("0.7.1", "jax.set_mesh is a global setter and a context manager", "jax.set_mesh"),
    *added("0.5.3", "", "jax.sharding.set_mesh", "jax.sharding.get_abstract_mesh"),
    *added("0.8.1", "", "jax.sharding.get_mesh"),
    *added("0.11.1", "", *under("jax.", "get_mesh get_abstract_mesh use_abstract_mesh")),
    *added("0.7.2", "", "jax.sharding.use_abstract_mesh"),
    *deprecated(
        "0.10.1", "jax.set_mesh", "the `with mesh:` context manager is deprecated, use jax.set_mesh",
        "jax.sharding.Mesh.__enter__",
    ),
    *removed("0.4.11", "jax.sharding.Mesh", "", "jax.experimental.maps.Mesh", f"{_PXLA}Mesh"),
    *removed(None, "jax.sharding.Mesh and jax.shard_map", "", "jax.experimental.maps"),
    *deprecated(
        "0.8.2", "jax.set_mesh(mesh) and jax.sharding.get_abstract_mesh()",
        "everything in jax.interpreters.pxla is deprecated", f"{_PXLA}thread_resources",
    ),
    # -- axis types -----------------------------------------------------------------------------
    *added("0.5.3", "", "jax.sharding.AxisType"),
    *added("0.5.0", "", "jax.sharding.AxisTypes"),
    *removed("0.5.3", "jax.sharding.AxisType", "", "jax.sharding.AxisTypes"),
    *added("0.10.0", "manual_axis_type of ShapeDtypeStruct is one", "jax.sharding.ManualAxisType"),
    *added("0.5.3", "", "jax.typeof"),
    *added("0.5.1", "", "jax.experimental.shard", *under("jax.experimental.shard.", _SHARD)),
    *removed(
        "0.7.0", "jax.sharding (reshard, auto_axes, explicit_axes)",
        "jax.experimental.shard deleted, its functions are in jax.sharding", "jax.experimental.shard",
    ),
    *(
        row
        for name in _SHARD.split()
        for row in removed(
            "0.7.0", f"jax.sharding.{name}",
            "jax.experimental.shard deleted, its functions are in jax.sharding",
            f"jax.experimental.shard.{name}",
        )
    ),
    *added("0.7.0", "the functions of jax.experimental.shard are here", *under("jax.sharding.", _SHARD)),
    *added("0.8.2", "", "jax.reshard"),
    *added("0.12.0", "", "jax.sharding.no_collectives"),
    # -- specs and shardings --------------------------------------------------------------------
    *added("0.7.0", "jax.P is jax.sharding.PartitionSpec", "jax.P"),
    *added("0.11.0", "", "jax.sharding.UnreducedKind"),
    *removed(
        "0.4.11", "jax.sharding.PartitionSpec", "", "jax.experimental.PartitionSpec", f"{_PXLA}PartitionSpec"
    ),
    *deprecated("0.6.0", "jax.sharding.NamedSharding", "", "jax.sharding.PositionalSharding"),
    *removed("0.7.0", "jax.sharding.NamedSharding", "", "jax.sharding.PositionalSharding"),
    *deprecated("0.6.0", "jax.sharding.NamedSharding", "", "jax.sharding.GSPMDSharding"),
    *removed("0.7.0", "jax.sharding.NamedSharding", "", "jax.sharding.GSPMDSharding"),
    *deprecated(
        "0.8.1", "jax.sharding.NamedSharding", "PmapSharding is deprecated, use NamedSharding",
        "jax.sharding.PmapSharding",
    ),
    *removed(
        "0.10.0", "jax.sharding.NamedSharding", "PmapSharding is gone with the C++ pmap",
        "jax.sharding.PmapSharding",
    ),
    *removed(
        "0.4.34", "jax.sharding.Sharding", "XLACompatibleSharding removed, use Sharding",
        "jax.sharding.XLACompatibleSharding",
    ),
    *removed("0.4.12", "jax.sharding.NamedSharding", "", "jax.sharding.OpShardingSharding"),
    *removed(None, "jax.sharding.NamedSharding", "", "jax.sharding.MeshPspecSharding"),
    *deprecated(
        "0.8.2", "jax.sharding.NamedSharding", "everything in jax.interpreters.pxla is deprecated",
        *under(_PXLA, _GONE_PXLA), *under(_PXLA, _GONE_PXLA_LATER),
    ),
    *removed(
        "0.10.0", "jax.sharding.NamedSharding", "gone with the C++ pmap", *under(_PXLA, _GONE_PXLA)
    ),
    *deprecated(
        "0.8.1", "jax.device_put with a NamedSharding", "device_put_sharded is deprecated, use device_put",
        "jax.device_put_sharded",
    ),
    *removed(
        "0.10.0", "jax.device_put with a NamedSharding", "device_put_sharded removed",
        "jax.device_put_sharded",
    ),
    *deprecated(
        "0.8.1", "jax.device_put with NamedSharding(mesh, P())",
        "device_put_replicated is deprecated, use device_put", "jax.device_put_replicated",
    ),
    *removed(
        "0.10.0", "jax.device_put with NamedSharding(mesh, P())", "device_put_replicated removed",
        "jax.device_put_replicated",
    ),
    *added("0.7.1", "", "jax.memory", "jax.memory.Space"),
    *added("0.6.2", "Layout renamed to Format", "jax.experimental.layout.Format"),
    *removed(
        "0.7.0", "jax.experimental.layout.Layout", "DeviceLocalLayout renamed to Layout",
        "jax.experimental.layout.DeviceLocalLayout",
    ),
    # -- collectives ----------------------------------------------------------------------------
    *added("0.6.0", "", "jax.lax.pvary"),
    *deprecated(
        "0.8.2", 'jax.lax.pcast(..., to="varying")', "pvary is deprecated, use pcast(..., to='varying')",
        "jax.lax.pvary",
    ),
    *removed("0.10.0", 'jax.lax.pcast(..., to="varying")', "", "jax.lax.pvary"),
    *added("0.8.2", "pcast replaces pvary", "jax.lax.pcast"),
    *added("0.6.1", "lax.axis_size gives the size of a mapped axis", "jax.lax.axis_size"),
    *added("0.4.38", "", "jax.lax.ragged_all_to_all"),
    *added("0.7.0", "", "jax.lax.psend", "jax.lax.precv"),
    *deprecated("0.12.0", "jax.lax.ppermute", "", "jax.lax.psend", "jax.lax.precv"),
    *added("0.12.0", "", "jax.lax.psum_scatter_start"),
    *added("0.6.2", "", "jax.lax.all_gather_invariant"),
    *removed("0.8.2", 'jax.lax.all_gather(..., to="invarying")', "", "jax.lax.all_gather_invariant"),
    # -- what sharded programs of some age use beside -------------------------------------------
    *(
        row
        for name in _TREE.split()
        for row in (
            *deprecated("0.4.26", f"jax.tree.{name}", "deprecated, use jax.tree", f"jax.tree_{name}"),
            *removed("0.6.0", f"jax.tree.{name}", "removed, see jax.tree", f"jax.tree_{name}"),
        )
    ),
    *deprecated("0.8.2", "jax.checkpoint", "", "jax.ad_checkpoint.checkpoint"),
    *removed("0.10.0", "jax.checkpoint", "", "jax.ad_checkpoint.checkpoint"),
    *deprecated("0.4.38", "jax.lax.axis_size", "many names of jax.core deprecated", "jax.core.axis_frame"),
    *removed("0.7.0", "jax.lax.axis_size", "removed from jax.core", "jax.core.axis_frame"),
    *added("0.4.36", "", "jax.core.AxisName"),
    *deprecated("0.4.38", "Hashable", "many names of jax.core deprecated", "jax.core.AxisName"),
    *removed("0.7.0", "Hashable", "removed from jax.core", "jax.core.AxisName"),
    *removed("0.4.36", "jax.lax.axis_size", "stackless tracing", "jax.core.thread_local_state"),
    *deprecated(
        "0.10.0", "jax.sharding.get_abstract_mesh()", "internal names of jax.core deprecated",
        *under("jax.core.", _CORE_AXES),
    ),
    *removed("0.11.0", "jax.sharding.get_abstract_mesh()", "", *under("jax.core.", _CORE_AXES)),
    *removed("0.11.0", "", "", *under(_PXLA, _GONE_PXLA_LATER)),
)  # fmt: skip

#: Functions with an ``out_sharding=`` that are never called with ``out_shardings=``, as `jax.jit` is.
_SHARDED_RESULTS = (
    *under(
        "jax.numpy.",
        "arange array asarray bincount broadcast_to dot einsum empty full full_like matmul ones ones_like "
        "ravel repeat reshape tensordot zeros zeros_like",
    ),
    *under("jax.lax.", "broadcast broadcast_in_dim broadcasted_iota dot dot_general reduce_sum reshape"),
    *under(
        "jax.random.",
        "ball bernoulli beta bits categorical cauchy chisquare exponential gamma gumbel laplace loggamma "
        "logistic lognormal normal poisson randint truncated_normal uniform",
    ),
)

_OLD_SHARD_MAP = "jax.experimental.shard_map.shard_map"
#: Functions of jax.numpy for quantiles.
QUANTILES = ("percentile", "quantile", "nanpercentile", "nanquantile")

ARGUMENTS: tuple[Row, ...] = (
    *removed(
        "0.8.0", "axis_names= of jax.shard_map", "the auto= parameter of the old shard_map removed",
        f"{_OLD_SHARD_MAP}(auto=)",
    ),
    *removed(None, "check_rep=", "", f"{_OLD_SHARD_MAP}(check_vma=)"),
    *removed(None, "auto=", "", f"{_OLD_SHARD_MAP}(axis_names=)"),
    *removed(None, "check_vma=", "", "jax.shard_map(check_rep=)"),
    *removed(None, "axis_names=", "", "jax.shard_map(auto=)"),
    *removed(None, "in_shardings=", "", *under("jax.jit", "(in_axis_resources=) (in_sharding=)")),
    *removed(None, "out_shardings=", "", *under("jax.jit", "(out_axis_resources=) (out_sharding=)")),
    *removed(None, "in_shardings=", "", "jax.experimental.pjit.pjit(in_axis_resources=)"),
    *removed(None, "out_shardings=", "", "jax.experimental.pjit.pjit(out_axis_resources=)"),
    *removed("0.6.0", "shape=", "", "jax.numpy.reshape(newshape=)"),
    *removed("0.6.0", "", "", "jax.nn.softmax(initial=)", "jax.nn.log_softmax(initial=)"),
    *removed("0.8.2", "", "", "jax.jit(abstracted_axes=)", "jax.make_jaxpr(abstracted_axes=)"),
    *removed("0.9.0", "method=", "", *(f"jax.numpy.{name}(interpolation=)" for name in QUANTILES)),
    *removed("0.10.0", "arr", "", "jax.numpy.clip(a=)"),
    *removed("0.10.0", "min=", "", "jax.numpy.clip(a_min=)"),
    *removed("0.10.0", "max=", "", "jax.numpy.clip(a_max=)"),
    *removed(None, "out_sharding=", "", *(f"{name}(out_shardings=)" for name in _SHARDED_RESULTS)),
    *removed(None, "device=", "", *under("jax.device_put", "(sharding=) (shardings=) (devices=)")),
    *removed(None, "shardings=", "", "jax.lax.with_sharding_constraint(sharding=)"),
    *removed(None, "scatter_dimension=", "", "jax.lax.psum_scatter(axis=)"),
    *removed(None, "axis=", "", "jax.lax.all_gather(scatter_dimension=)"),
    *added("0.11.1", "", "jax.make_mesh(axis_sizes=)"),
    *removed("0.11.1", "axis_sizes=", "", "jax.make_mesh(axis_shapes=)"),
    *added("0.4.38", "", "jax.make_mesh(axis_types=)"),
    *removed("0.5.1", "auto_axes= and explicit_axes=", "", "jax.make_mesh(axis_types=)"),
    *added("0.5.3", "", "jax.make_mesh(axis_types=)"),
    *added("0.5.1", "", *under("jax.make_mesh", "(auto_axes=) (explicit_axes=) (manual_axes=)")),
    *removed(
        "0.5.3", "axis_types=", "", *under("jax.make_mesh", "(auto_axes=) (explicit_axes=) (manual_axes=)")
    ),
    *added("0.4.36", "", "jax.sharding.Mesh(axis_types=)"),
    *added("0.5.3", "", *under("jax.sharding.AbstractMesh", "(axis_sizes=) (axis_names=)")),
    *removed("0.5.3", "axis_sizes= and axis_names=", "", "jax.sharding.AbstractMesh(shape_tuple=)"),
    *added("0.6.2", "", "jax.ShapeDtypeStruct(vma=)"),
    *removed(
        "0.10.0", "manual_axis_type=", "vma of ShapeDtypeStruct replaced by manual_axis_type",
        "jax.ShapeDtypeStruct(vma=)",
    ),
    *added(
        "0.10.0", "vma of ShapeDtypeStruct replaced by manual_axis_type",
        "jax.ShapeDtypeStruct(manual_axis_type=)",
    ),
    *added(
        "0.5.3", "",
        "jax.make_array_from_callback(dtype=)", "jax.make_array_from_single_device_arrays(dtype=)",
    ),
    *removed("0.10.0", "", "", "jax.pmap(global_arg_shapes=)"),
    *removed("0.11.0", "", "", "jax.checkpoint(concrete=)", "jax.remat(concrete=)"),
    *added("0.6.1", "", "jax.sharding.PartitionSpec(unreduced=)"),
    *added("0.6.2", "", "jax.sharding.PartitionSpec(reduced=)"),
    *added("0.11.0", "", "jax.sharding.PartitionSpec(unreduced_kind=)"),
    *added("0.8.2", "", "jax.lax.all_gather(to=)"),
    *added("0.5.0", "", *_out_sharding("numpy.einsum lax.dot_general")),
    *added("0.5.1", "", *_out_sharding("lax.reshape lax.broadcast_in_dim lax.broadcast")),
    *added("0.6.0", "", *_out_sharding("random.normal random.uniform random.bits random.randint")),
    *added(
        "0.6.1", "",
        *_out_sharding("numpy.dot numpy.reshape numpy.ravel numpy.broadcast_to numpy.repeat"),
    ),
    *added(
        "0.7.0", "",
        *_out_sharding("numpy.matmul numpy.zeros numpy.ones numpy.empty numpy.arange numpy.tensordot"),
    ),
    *added("0.7.1", "", *_out_sharding("lax.dot random.gumbel")),
    *added("0.8.0", "", *_out_sharding("numpy.array numpy.asarray numpy.zeros_like numpy.ones_like")),
    *added("0.10.2", "", *_out_sharding("numpy.full numpy.full_like")),
    *added("0.11.0", "", *_out_sharding("nn.one_hot")),
    *added("0.11.1", "", *_out_sharding("lax.reduce_max lax.reduce_min")),
    *added("0.11.2", "", *_out_sharding("numpy.histogram")),
)  # fmt: skip

BEHAVIOURS: tuple[Row, ...] = (
    *added(
        "0.9.0",
        "announced in 0.8.1: the default axis_types of make_mesh become Explicit",
        EXPLICIT_BY_DEFAULT,
    ),
    *added("0.8.1", "make_mesh without axis_types raises a DeprecationWarning", WARNS_OF_DEFAULT),
    *removed("0.9.0", "", "", WARNS_OF_DEFAULT),
    *removed("0.6.1", "", "PartitionSpec no longer inherits from tuple", SPEC_IS_TUPLE),
    *removed("0.10.0", "", "PartitionSpecs no longer equal tuples", SPEC_EQUALS_TUPLE),
    *added("0.5.3", "", FALSY_IS_NONE),
    *added("0.6.1", "", GRADIENTS_ARE_SUMMED),
    *added("0.11.1", "", EXPLICIT_ABSTRACT_MESH),
)  # fmt: skip

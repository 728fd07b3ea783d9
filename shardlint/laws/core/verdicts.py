"""The verdicts of laws: accepted, rejected, or undecided."""

from __future__ import annotations

from enum import StrEnum
from typing import Union

from shardlint.laws.core.dims import Dim
from shardlint.laws.core.values import Spec
from shardlint.support.lazy_dataclass import dataclass


class Api(StrEnum):
    """The calls whose checks the laws cover. The value is the name by which users know it."""

    PARTITION_SPEC = "PartitionSpec"
    NAMED_SHARDING = "NamedSharding"
    SHARD_SHAPE = "NamedSharding.shard_shape"
    SHAPE_DTYPE_STRUCT = "ShapeDtypeStruct(sharding=)"
    DEVICE_PUT = "device_put"
    DEVICE_PUT_IN_JIT = "device_put inside jit"
    JIT_IN = "jit(in_shardings=)"
    JIT_OUT = "jit(out_shardings=)"
    JIT_ARGUMENT = "jit on a ShapeDtypeStruct"
    CONSTRAINT = "with_sharding_constraint"
    CONSTRAINT_EAGER = "with_sharding_constraint outside jit"
    SHARD_MAP_IN = "shard_map(in_specs=)"
    SHARD_MAP_OUT = "shard_map(out_specs=)"
    RESHARD = "reshard"
    RESHARD_IN_JIT = "reshard inside jit"
    CREATE = "jnp.zeros(device=)"
    CREATE_IN_JIT = "jnp.zeros(device=) inside jit"
    ARANGE = "jnp.arange(device=)"
    ARANGE_IN_JIT = "jnp.arange(device=) inside jit"
    CONVERT = "jnp.array(device=)"
    CONVERT_IN_JIT = "jnp.array(device=) inside jit"
    LINSPACE = "jnp.linspace(device=)"
    CREATE_OUT = "jnp.zeros(out_sharding=)"
    CREATE_OUT_IN_JIT = "jnp.zeros(out_sharding=) inside jit"
    EMPTY_OUT = "jnp.empty(out_sharding=)"
    EMPTY_OUT_IN_JIT = "jnp.empty(out_sharding=) inside jit"
    RANDOM_OUT = "jax.random.normal(out_sharding=)"
    RANDOM_OUT_IN_JIT = "jax.random.normal(out_sharding=) inside jit"
    CALLBACK = "make_array_from_callback"
    LINEN_SHARDING = "linen get_sharding"
    LINEN_UNBOX = "linen unbox"
    LINEN_UNBOX_EAGER = "linen unbox outside jit"
    NNX_PARAM = "nnx.Param"
    NNX_PARAM_IN_JIT = "nnx.Param inside jit"
    NNX_SHARDING = "nnx.get_named_sharding"


class Cause(StrEnum):
    """The cause of a rejection: the kind of mistake, independent of the exception's class."""

    BAD_ENTRY = "bad-entry"
    NOT_A_SPEC = "not-a-spec"
    DUPLICATE_AXIS = "duplicate-axis"
    UNKNOWN_AXIS = "unknown-axis"
    TOO_LONG = "too-long"
    INDIVISIBLE = "indivisible"
    EMPTY = "empty"
    UNCONSTRAINED = "unconstrained"
    NO_MESH = "no-mesh"
    AXIS_TYPE = "axis-type"
    OTHER_SHARDING = "other-sharding"
    VARYING = "varying"
    OPERAND = "operand"
    LOCAL_SHAPE = "local-shape"
    CARRY = "carry"
    PERMUTATION = "permutation"
    CONFLICT = "conflict"
    AMBIGUOUS = "ambiguous"
    UNSUPPORTED = "unsupported"
    OUT_SHARDING = "out-sharding"
    OTHER_MESH = "other-mesh"
    DEVICES = "devices"
    MESH_CONTEXT = "mesh-context"
    MISUSE = "misuse"
    RULES = "rules"
    MESH_SHAPE = "mesh-shape"
    MESH_NAMES = "mesh-names"
    REPEATED_AXIS = "repeated-axis"
    DEVICE_COUNT = "device-count"
    UNBOUND_AXIS = "unbound-axis"
    ARITY = "arity"
    BAD_ARGUMENT = "bad-argument"
    REMOVED = "removed"
    FORBIDDEN_COLLECTIVE = "forbidden-collective"
    DELETED = "deleted"
    MEMORY = "memory"


class Returned(StrEnum):
    """The fate of an array that a jit returns, where XLA splits it over a part of an axis, or does not split
    it as it is of size 0.

    JAX raises IndivisibleError (for size 0 AssertionError), or makes a sharding (`GSPMDSharding`) that no
    spec can name. If the mesh is known from `jax.set_mesh` alone, as in a jit without arguments where the
    spec is bare, it raises KeyError for what has no name.
    """

    REFUSED = "refused"
    NAMELESS = "nameless"


@dataclass(frozen=True, slots=True)
class Accepted:
    """JAX accepts the call. ``spec`` is the sharding of the result where the law determines it.

    ``replicated`` lists dimensions whose axes JAX or XLA silently drops (an uneven constraint); ``dropped``:
    the whole sharding is, and the array stays on one device. ``returned``: where a jit returns the array,
    it is otherwise.
    """

    spec: Spec | None = None
    replicated: tuple[int, ...] = ()
    dropped: bool = False
    returned: Returned | None = None


@dataclass(frozen=True, slots=True)
class Rejected:
    """JAX raises ``exception`` (a class name) at ``stage`` (as `measure_matrix.py` names stages).

    ``dimension`` and ``part`` point at the entry, and the element of a tuple entry, that is wrong;
    ``axis`` is the offending name; ``size`` the array's dimension and ``ways`` the number of parts.
    """

    cause: Cause
    exception: str
    stage: str
    dimension: int | None = None
    part: int | None = None
    axis: str | None = None
    size: Dim | None = None
    ways: Dim | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Undecided:
    """Something that the check needs is unknown."""

    reason: str


Verdict = Union[Accepted, Rejected, Undecided]

"""The rules to which an error of JAX belongs, by its sentences, as measured.

The table is written by `tests/versions/jax_errors.py`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache

#: The most characters that a message has between two parts of its sentence.
_MOST_BETWEEN = 2_002
#: An entry begins at the margin: the rules' codes, and the beginning of the message; ``*`` is what varies.
SENTENCES = r"""
SHL101 | A tuple inside PartitionSpec cannot contain a nested tuple. Got partition: * and the nested tuple:
    *
SHL102 | partitions cannot overlap with unreduced axes passed to PartitionSpec. Got partitions: * and
    unreduced axes: *
SHL102 SHL508 SHL706 SHL710 | A single NamedSharding spec specification can map every mesh axis to at most
    one positional dimension, but * has duplicate entries for *
SHL103 | shard_map in_specs argument must refer to an axis marked as manual *, but:
SHL103 SHL506 SHL505 SHL105 SHL502 SHL706 SHL710 | Resource axis: * of * is not found in mesh: *
SHL104 | *: incompatible function arguments. The following argument types are supported:
SHL104 | NamedSharding spec leaf specifications are expected to be PartitionSpec instances or None, but got
    data
SHL104 | in_shardings leaf specifications are expected to be PartitionSpec instances or None, but got data
SHL104 | shard_map * argument must be a pytree of `jax.sharding.PartitionSpec` instances, but:
SHL106 | Could not find memory addressable by device cpu. Device cpu can address the following memory kinds:
    *, pinned_host, unpinned_host. Got memory kind: *
SHL106 | Could not find memory addressable by device cpu. Device cpu can address the following memory kinds:
    *. Got memory kind: *
SHL106 | Subclassing `jax.P` is prohibited.
SHL106 | unreduced argument of PartitionSpec should of type * or *. Got type *
SHL201 | Sharding * is only valid for values of rank at least * but was applied to a value of rank *
SHL201 | shard_map applied to the function * was given an in_specs entry which is too long to be compatible
    with the corresponding input value from the function:
SHL201 SHL501 | One of device_put args is incompatible with its sharding annotation *: Sharding * is only
    valid for values of rank at least * but was applied to a value of rank *
SHL201 SHL501 | One of pjit outputs with pytree key path result is incompatible with its sharding annotation
    *: Sharding * is only valid for values of rank at least * but was applied to a value of rank *
SHL201 SHL501 | One of with_sharding_constraint arguments is incompatible with its sharding annotation *:
    Sharding * is only valid for values of rank at least * but was applied to a value of rank *
SHL201 SHL706 | Length of sharding.spec * must be equal to aval's ndim * Got sharding.spec *, aval.ndim *
    and sharding *
SHL202 | * implies that array axis * is partitioned * times, but the dimension size is *
SHL202 | One of device_put args was given the sharding * implies that array axis * is partitioned * times,
    but the dimension size is *
SHL202 | One of device_put args was given the sharding of *, which implies that the global size of its
    dimension * should be divisible by * but it is equal to *
SHL202 | One of pjit arguments with pytree key path x was given the sharding * implies that array axis * is
    partitioned * times, but the dimension size is *
SHL202 | One of pjit outputs with pytree key path result was given the sharding * implies that array axis *
    is partitioned * times, but the dimension size is *
SHL202 | shape=* is incompatible with mesh_shape=*: dim_size=* is not divisible by axis_size=*
SHL202 | shard_map applied to the function * was given argument arrays with axis sizes that are not evenly
    divisible by the corresponding mesh axis sizes:
SHL202 SHL209 | Sharding * implies that array axis * is partitioned * times, but the dimension size is *
SHL203 | One of device_put args is incompatible with its sharding annotation *: Sharding * is only valid for
    values of rank at least * but was applied to a value of rank * For scalars the PartitionSpec should be *
SHL203 | One of pjit outputs with pytree key path result is incompatible with its sharding annotation *:
    Sharding * is only valid for values of rank at least * but was applied to a value of rank * For scalars
    the PartitionSpec should be *
SHL206 | Please set a mesh via * if a PartitionSpec is passed to device_put
SHL206 | Using PartitionSpec when you are not under a mesh context is not allowed. Please pass a
    NamedSharding instance or enter into a mesh context via `jax.set_mesh`. Got *
SHL206 | `jax.device_put` only accepts *, `jax.sharding.Sharding`, `jax.Device`, * or a pytree of these
    values. Received invalid value: *
SHL206 | sharding=* must be an instance of jax.sharding.Sharding
SHL207 | Sharding passed to jit does not match the sharding on the respective arg. Got jit sharding: *,
SHL207 | Sharding passed to pjit does not match the sharding on the respective arg. Got pjit sharding: *,
SHL208 | pjit does not support kwargs when in_shardings is specified.
SHL209 | One of pjit arguments with pytree key path * was given the sharding * implies that array axis * is
    partitioned * times, but the dimension size is *
SHL209 | cannot select an axis to squeeze out which has size not equal to one, got shape=* and dimensions=*
SHL209 | vmap got inconsistent sizes for array axes to be mapped:
SHL209 | vmap in_axes must be an int, None, or a tuple of entries corresponding to the positional arguments
    passed to the function, but got *=*=*
SHL209 | vmap must have at least one non-None value in in_axes or axis_size must be specified
SHL209 | vmap was requested to map its argument along axis * which implies that its rank should be at least
    * but is only *
SHL210 | Expected * per-device arrays *, but got *
SHL210 | Expected shard shape * doesn't match the single device array shape * Shape of Array is * with
    sharding *
SHL211 | Compiled object called with input * does not match the * the computation was compiled with. Here
    are the * mismatches:
SHL211 | Compiled object called with input sharding(s) does not match the sharding(s) the computation was
    compiled with. Here are the * mismatches:
SHL211 | Computation was compiled for input shardings that disagree with the shardings of arguments passed
    to it. Here are the * mismatches:
SHL212 | If backend or device is specified on jit, then in_shardings should not be specified.
SHL213 | Cannot interpret value of type * as an abstract array; it does not have a dtype attribute
SHL214 | The following ordered effects are not supported for more than * device: *
SHL215 | Non-hashable static arguments are not supported. An error occurred while trying to hash an object
    of type * The error was:
SHL301 | pjit in_shardings specification must be a tree prefix of the positional arguments tuple. In
    particular, pjit in_shardings must either be a Sharding, a PartitionSpec, or a tuple of length equal to
    the number of positional arguments. But pjit in_shardings is the wrong length: got a tuple or list of
    length * for an args tuple of length *
SHL301 | pytree structure error: different lengths of tuple at key path
SHL302 | shard_map applied to the function * was given an out_specs entry which is too long to be compatible
    with the corresponding output value from the function:
SHL303 | Found an unbound axis name: *. To fix this, please call * under `jax.shard_map`.
SHL303 | jax.lax.psum can only accept axis_name which corresponds to one of varying, unreduced, reduced or
    invarying state of the input. Got input type: *, axes: * and input state: *
SHL303 | unbound axis name: *
SHL303 | unbound axis name: *. The following axis names * are available to collective operations: *
SHL304 | axis * is out of bounds for array of dimension *
SHL304 | tiled reduce_scatter operand scatter dimension size * must be divisible by shard_count *
SHL305 | shard_map applied to the function * was given out_specs which require replication which can't be
    statically inferred given the mesh:
SHL306 | Incompatible shapes for broadcasting: shapes=*
SHL306 | Too many indices: array is * but * were indexed
SHL306 | dot_general requires contracting dimensions to have the same shape, got * and *
SHL307 | The context mesh * should match the mesh passed to shard_map *
SHL307 | The context mesh cannot be empty. Use `*` to enter into a mesh context
SHL307 | `axis_names` argument of shard_map should be of type * or *. Got type: *
SHL307 | jax.shard_map requires axis_names=* to be a subset of mesh.axis_names=*
SHL307 | shard_map * argument must refer to an axis marked as manual *, but:
SHL307 | shard_map requires a callable for its first argument, but got * of type *
SHL307 | smap in_axes must be an int, None, jax.sharding.Infer, or a tuple of entries corresponding to the
    positional arguments passed to the function, but got *
SHL307 | smap out_axes must be an int, None, or * container with those types as leaves, but got *
SHL308 | * body function carry input and carry output must have equal types, but they differ:
SHL309 | * can only accept axis_name which corresponds to one of varying, unreduced, reduced or invarying
    state of the input. Got input type: *, axes: * and input state: *
SHL309 | Unsupported pcast from=varying, to=*
SHL310 | * does not represent a permutation: *
SHL310 | ppermute sources and destinations must be unique, got *
SHL312 | shard_map in_specs argument must be a pytree of `jax.sharding.PartitionSpec` instances, but it was
    None.
SHL312 SHL307 | shard_map in_specs argument must be a pytree of `jax.sharding.PartitionSpec` instances, but
    it was * when axis_names=* are of type AxisType.Auto, AxisType.Auto
SHL325 | Attempted boolean conversion of traced array with shape *
SHL401 | * argument * has length * but argument * has length * All lengths: *
SHL401 | Mesh requires the ndim of its first argument * to equal the length of its second argument *, but
    got devices.ndim == * and * == *
SHL403 | Number of devices * must be >= the product of mesh_shape *
SHL403 SHL404 | Number of devices * must equal the product of mesh_shape *
SHL406 | Mesh axis names cannot be None. Got: *
SHL406 | axis_types passed to Mesh must be of type `jax.sharding.AxisType`. Got * of type *
SHL407 | AbstractMesh does not implement __enter__
SHL407 | Expected mesh of type `jax.sharding.AbstractMesh`. Got type: *
SHL407 | Expected mesh of type `jax.sharding.Mesh`. Got *
SHL407 | `get_mesh` can only be used outside of `jax.jit`. Maybe you want `*`?
SHL407 | `set_mesh` can only be used outside of `jax.jit`.
SHL407 | `use_mesh` can only be used outside of `jax.jit`
SHL407 | use_abstract_mesh cannot change the size of the mesh. Got new mesh: * with size=* and prev mesh: *
    with size=*
SHL408 | AbstractMesh does not implement devices
SHL408 | device_set is not implemented for `jax.sharding.AbstractMesh`.
SHL505 | Axis names * did not match a rule
SHL507 | Unknown axis rule specification type.
SHL508 | Unsupported: Dimensions * occur more than once in array names.
SHL509 | Trying to transform a Partitioned variable but * is not specified in metadata_params: *
SHL613 | Array has been deleted with shape=*
SHL620 | memory_space of all inputs passed to * must be the same. Got one operand with type: * and another
    operand with type: *
SHL701 | PartitionSpec passed to * cannot contain axis names that are of type Auto or Manual. Got
    PartitionSpec: * with axis name: * of type: *.Auto.
SHL701 | Unreduced axes can only refer to mesh axes that are of type `Explicit` or `Manual`. Got unreduced
    axes: * and mesh: *
SHL701 | Unreduced axes can only refer to mesh axes that is of type `Explicit`. Got unreduced axes: * and
    mesh: *
SHL702 | The spec of NamedSharding passed to with_sharding_constraint can only refer to Auto axes of the
    mesh. Got spec=* and mesh=*
SHL702 | `with_sharding_constraint` acts as an assert when all axes of mesh are of type `Explicit`. The
    array sharding: * did not match the sharding provided: * Please use `jax.sharding.reshard` to shard your
    input to the sharding you want.
SHL702 SHL701 | The spec of NamedSharding passed to with_sharding_constraint can only refer to Auto axes of
    the mesh. Got spec=* and mesh=* You probably meant to use * API?
SHL703 | * got incompatible shardings for broadcasting: *
SHL703 | add operation with inputs: * produces an illegally sharded result: *
SHL703 SHL704 SHL705 SHL706 | Using PartitionSpec when you are not under a mesh context is not allowed.
    Please pass a NamedSharding instance or enter into a mesh context via `jax.sharding.use_mesh`. Got *
SHL704 | Contracting dimensions are sharded and it is ambiguous how the output should be sharded. Please
    specify the output sharding via the `out_sharding` parameter. Got lhs_contracting_spec=* and
    rhs_contracting_spec=*
SHL704 | Use `*` to provide output PartitionSpec for the gather indexing as out sharding could not be
    resolved unambiguously * Got operand=*, indices=*
SHL705 | Arguments to sort must be unsharded over the sorting dimension. Got arg sharding=* and sorting
    dimension=*
SHL705 | Arguments to sort must have equal shardings, got: *
SHL705 | This reshape is not supported. Please specify the sharding of the output via the `out_sharding`
    argument of jax.lax.reshape. Got operand type: *, new sizes: *
SHL705 | slicing on sharded dims where out dim * is not divisible by mesh axes * with spec * is not
    implemented. Got input type=* and output shape=*
SHL706 | PartitionSpec passed to dot_general cannot contain axis names that are of type Auto or Manual. Got
    PartitionSpec: * with axis name: * of type: *.Auto.
SHL706 SHL202 | Sharding spec * implies that array axis * is partitioned * times, but does not evenly divide
    the dimension size * Got shape: * and sharding *
SHL707 | For primitive mul, context mesh * should match the aval mesh * for shape *
SHL708 | Received incompatible devices for jitted computation. Got argument * of * with shape * and with
    device ids * on platform CPU and argument * of * with shape * and with device ids * on platform CPU
SHL708 | Received incompatible devices for jitted computation. Got argument * of * with shape * and with
    device ids * on platform CPU and jit's context mesh with device ids * on platform CPU
SHL708 | Received incompatible devices for jitted computation. Got argument x of * with shape * and device
    ids * on platform CPU and argument y of * with shape * and device ids * on platform CPU
SHL708 | Received incompatible devices for jitted computation. Got argument x of * with shape * and with
    device ids * on platform CPU and argument y of * with shape * and with device ids * on platform CPU
SHL709 | Length of device assignment * is not equal to the size of the mesh * of aval * Please enter your *
    into a mesh context via `jax.set_mesh`.
SHL709 | is_fully_addressable is not implemented for `jax.sharding.AbstractMesh`.
SHL710 | vmap spmd_axis_name * cannot appear in with_sharding_constraint spec, but got spec *
SHL802 | jax.device_put_replicated is deprecated; use jax.device_put instead. See
    https://docs.jax.dev/en/latest/migrate_pmap.html#drop-in-replacements for a drop-in replacement.
SHL802 SHL803 | jax.lax.pvary was deprecated in JAX * and removed in JAX *; use `*
"""


@cache
def sentences() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the sentences, each with the codes of its rules."""
    entries = re.split(r"\n(?=SHL)", SENTENCES.strip())
    split = (" ".join(entry.split()).partition(" | ") for entry in entries if entry)
    return tuple((sentence, tuple(codes.split())) for codes, _, sentence in split)


def codes_of(error: str) -> list[str]:
    """Return the codes of the rules whose mistakes give an error, the most specific sentence first.

    ``error`` is pasted text: a message of JAX, or a whole traceback.
    """
    text = " ".join(error.split())
    found = [(sentence, codes) for sentence, codes in sentences() if _stands_in(sentence, text)]
    found.sort(key=lambda one: -len(one[0].replace("*", "")))
    return list(dict.fromkeys(code for _, codes in found for code in codes))


def _stands_in(sentence: str, text: str) -> bool:
    """Return whether the parts of a sentence stand in a text one after the other, each near the one before.

    A regular expression would try all ways to choose them, which takes long for a text made for that.
    """
    ends: list[int] | None = None
    for part in _parts(sentence):
        found = _places_of(part, text)
        ends = [start + len(part) for start in found if ends is None or _is_near(ends, start)]
        if not ends:
            return False
    return True


def _places_of(part: str, text: str) -> Iterator[int]:
    """Yield where a part begins in a text."""
    start = text.find(part)
    while start >= 0:
        yield start
        start = text.find(part, start + 1)


def _is_near(ends: list[int], start: int) -> bool:
    """Return whether one of these places, in order, lies shortly before another."""
    before = bisect_right(ends, start)
    return before > 0 and start - ends[before - 1] <= _MOST_BETWEEN


@cache
def _parts(sentence: str) -> tuple[str, ...]:
    return tuple(stripped for part in sentence.split("*") if (stripped := part.strip()))

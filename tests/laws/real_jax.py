"""Ask the real JAX: one small program an API, run on forced CPU devices, and what became of it.

`attempt` answers in the words of `shardlint.laws.core.verdicts`: accepted or not, the exception's class
and the stage, named as `measure_matrix.py` names stages. Where tracing shows the same error as
running does, only tracing is done, and the result's spec is not known.
"""

from __future__ import annotations

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

import contextlib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn
from flax import nnx
from jax.sharding import AbstractMesh, AxisType, NamedSharding, PartitionSpec

from shardlint.laws.core import values
from shardlint.laws.core.verdicts import Api

warnings.simplefilter("ignore")


@dataclass(frozen=True)
class Outcome:
    """What JAX did. ``spec`` is the result's sharding, without trailing Nones, where it was looked at."""

    ok: bool
    exception: str = ""
    stage: str = ""
    spec: values.Spec | None = None


class Stages:
    """The stage a program is in, for the one that fails; and the array that meets the spec."""

    current = ""

    def __init__(self, held: NamedSharding | None = None) -> None:
        self.held = held

    def __call__(self, name: str) -> None:
        self.current = name

    def array(self, shape: tuple[int, ...]) -> Any:
        """An array of this shape, sharded as the case says it is."""
        return _ones(shape) if self.held is None else jax.device_put(_ones(shape), self.held)


def real_mesh(mesh: values.Mesh) -> Any:
    """Build the mesh in JAX."""
    types = tuple(AxisType[kind.value] for kind in mesh.types)
    if mesh.abstract:
        return AbstractMesh(mesh.sizes, mesh.names, axis_types=types)
    count = int(np.prod(mesh.sizes, dtype=int))
    return jax.sharding.Mesh(
        np.array(jax.devices()[:count]).reshape(mesh.sizes), mesh.names, axis_types=types
    )


def real_spec(spec: values.Spec | values.Junk | None) -> Any:
    """Build the spec in JAX; junk is what its text says in Python."""
    if not isinstance(spec, values.Spec):
        return _part(spec)
    reductions = {
        name: set(axes) for name, axes in (("unreduced", spec.unreduced), ("reduced", spec.reduced)) if axes
    }
    return PartitionSpec(*real_entries(spec), **reductions)


def real_entries(spec: values.Spec) -> tuple[Any, ...]:
    """Return the arguments that the entries of a spec are made of."""
    return tuple(map(_part, spec.entries))


def _part(part: Any) -> Any:
    if isinstance(part, values.Marker):
        return PartitionSpec.UNCONSTRAINED
    if isinstance(part, values.Junk):
        return eval(part.text)
    return tuple(_part(p) for p in part) if isinstance(part, tuple) else part


def law_spec(spec: PartitionSpec) -> values.Spec:
    """Read a spec of JAX back, without trailing Nones."""
    marker = values.Marker.UNCONSTRAINED
    return trimmed(values.Spec(tuple(marker if e is PartitionSpec.UNCONSTRAINED else e for e in spec)))


def trimmed(spec: values.Spec) -> values.Spec:
    """Drop trailing Nones, which mean nothing to a layout."""
    entries = list(spec.entries)
    while entries and entries[-1] is None:
        entries.pop()
    return values.Spec(tuple(entries))


Program = Callable[[Stages, Any, Any, tuple[int, ...]], Any]


def _jit(stages: Stages, function: Any, argument: Any, *, lower: bool = False, run: bool = False) -> Any:
    stages("trace")
    traced = function.trace(argument)
    if lower:
        stages("lower")
        traced.lower()
    if run:
        stages("execute")
        return function(argument)
    return None


def _ones(shape: tuple[int, ...]) -> Any:
    return np.ones(shape, np.float32)


def _shard_shape(stages: Stages, mesh: Any, sharding: Any, shape: tuple[int, ...]) -> None:
    stages("shard_shape")
    sharding.shard_shape(shape)


def _struct_alone(stages: Stages, mesh: Any, sharding: Any, shape: tuple[int, ...]) -> None:
    _struct(stages, mesh, sharding, shape)


def _struct(stages: Stages, mesh: Any, sharding: Any, shape: tuple[int, ...]) -> Any:
    stages("ShapeDtypeStruct()")
    return jax.ShapeDtypeStruct(shape, np.float32, sharding=sharding)


def _argument(stages: Stages, mesh: Any, sharding: Any, shape: tuple[int, ...]) -> None:
    struct = _struct(stages, mesh, sharding, shape)
    _jit(stages, jax.jit(lambda x: x * 2), struct, lower=not isinstance(mesh, AbstractMesh))


def _device_put(stages: Stages, mesh: Any, sharding: Any, shape: tuple[int, ...]) -> Any:
    array = stages.array(shape)
    stages("device_put")
    return jax.device_put(array, sharding)


def _device_put_in_jit(stages: Stages, mesh: Any, sharding: Any, shape: tuple[int, ...]) -> None:
    array = stages.array(shape)
    _jit(stages, jax.jit(lambda x: jax.device_put(x, sharding)), array)


def _jit_in(stages: Stages, mesh: Any, sharding: Any, shape: tuple[int, ...]) -> None:
    stages("jit()")
    _jit(stages, jax.jit(lambda x: x * 2, in_shardings=sharding), _ones(shape))


def _jit_out(stages: Stages, mesh: Any, sharding: Any, shape: tuple[int, ...]) -> None:
    stages("jit()")
    _jit(stages, jax.jit(lambda x: x * 2, out_shardings=sharding), stages.array(shape))


def _constraint(stages: Stages, mesh: Any, sharding: Any, shape: tuple[int, ...]) -> Any:
    function = jax.jit(lambda x: jax.lax.with_sharding_constraint(x, sharding))
    return _jit(stages, function, stages.array(shape), run=not isinstance(mesh, AbstractMesh))


def _constraint_eager(stages: Stages, mesh: Any, sharding: Any, shape: tuple[int, ...]) -> Any:
    array = jnp.asarray(stages.array(shape))
    stages("wsc eager")
    return jax.lax.with_sharding_constraint(array, sharding)


def _shard_map_in(stages: Stages, mesh: Any, spec: Any, shape: tuple[int, ...]) -> None:
    def use(x: Any) -> Any:
        return jax.lax.psum(x.sum(), jax.sharding.get_abstract_mesh().axis_names)

    mapped = jax.shard_map(use, mesh=mesh, in_specs=(spec,), out_specs=PartitionSpec(), check_vma=False)
    _jit(stages, jax.jit(mapped), stages.array(shape), lower=not isinstance(mesh, AbstractMesh))


def _shard_map_out(stages: Stages, mesh: Any, spec: Any, shape: tuple[int, ...]) -> None:
    mapped = jax.shard_map(lambda x: x, mesh=mesh, in_specs=(PartitionSpec(),), out_specs=spec)
    _jit(stages, jax.jit(mapped), _ones(shape))


def _create(stages: Stages, mesh: Any, sharding: Any, shape: tuple[int, ...]) -> Any:
    stages("jnp.zeros(device=)")
    return _maker(shape)(shape, device=sharding)


def _create_in_jit(stages: Stages, mesh: Any, sharding: Any, shape: tuple[int, ...]) -> None:
    stages("trace")
    jax.jit(lambda: _maker(shape)(shape, device=sharding)).trace()


def _arange(stages: Stages, mesh: Any, sharding: Any, shape: tuple[int, ...]) -> Any:
    stages("jnp.arange(device=)")
    return jnp.arange(*shape, device=sharding)


def _arange_in_jit(stages: Stages, mesh: Any, sharding: Any, shape: tuple[int, ...]) -> None:
    stages("trace")
    jax.jit(lambda: jnp.arange(*shape, device=sharding)).trace()


def _convert(stages: Stages, mesh: Any, sharding: Any, shape: tuple[int, ...]) -> Any:
    array = stages.array(shape)
    stages("jnp.array(device=)")
    return _converter(shape)(array, device=sharding)


def _convert_in_jit(stages: Stages, mesh: Any, sharding: Any, shape: tuple[int, ...]) -> Any:
    function = jax.jit(lambda x: _converter(shape)(x, device=sharding))
    return _jit(stages, function, stages.array(shape), run=not isinstance(mesh, AbstractMesh))


def _converter(shape: tuple[int, ...]) -> Any:
    return (jnp.array, jnp.asarray)[len(shape) % 2]


def _linspace(stages: Stages, mesh: Any, sharding: Any, shape: tuple[int, ...]) -> Any:
    stages("jnp.linspace(device=)")
    return jnp.linspace(jnp.zeros(shape[1:]), jnp.ones(shape[1:]), shape[0], device=sharding)


def _create_out(stages: Stages, mesh: Any, sharding: Any, shape: tuple[int, ...]) -> Any:
    stages("jnp.zeros(out_sharding=)")
    return _out_maker(shape)(shape, sharding)


def _create_out_in_jit(stages: Stages, mesh: Any, sharding: Any, shape: tuple[int, ...]) -> Any:
    function = jax.jit(lambda x: _out_maker(shape)(shape, sharding))
    return _jit(stages, function, stages.array((8, 8)), run=not isinstance(mesh, AbstractMesh))


def _out_maker(shape: tuple[int, ...]) -> Any:
    """One of the functions that create an array of a type."""
    return (
        lambda s, out: jnp.zeros(s, out_sharding=out),
        lambda s, out: jnp.ones(s, out_sharding=out),
        lambda s, out: jnp.empty(s, out_sharding=out),
        lambda s, out: jnp.full(s, 2.0, out_sharding=out),
        lambda s, out: jnp.zeros_like(jnp.ones(s), out_sharding=out),
    )[len(shape) % 5]


def _random_out(stages: Stages, mesh: Any, sharding: Any, shape: tuple[int, ...]) -> Any:
    key = jax.random.key(0)
    stages("random.normal(out_sharding=)")
    return _sampler(shape)(key, shape, out_sharding=sharding)


def _random_out_in_jit(stages: Stages, mesh: Any, sharding: Any, shape: tuple[int, ...]) -> Any:
    key = jax.random.key(0)
    function = jax.jit(lambda x: _sampler(shape)(key, shape, out_sharding=sharding))
    return _jit(stages, function, stages.array((8, 8)), run=not isinstance(mesh, AbstractMesh))


def _sampler(shape: tuple[int, ...]) -> Any:
    return (jax.random.normal, jax.random.uniform, jax.random.bits, jax.random.gumbel)[len(shape) % 4]


def _maker(shape: tuple[int, ...]) -> Any:
    """One of the functions that create an array."""
    return (jnp.zeros, jnp.ones, jnp.empty, lambda s, device: jnp.full(s, 2.0, device=device))[len(shape) % 4]


def _callback(stages: Stages, mesh: Any, sharding: Any, shape: tuple[int, ...]) -> Any:
    stages("make_array_from_callback")
    data = _ones(shape)
    return jax.make_array_from_callback(shape, sharding, lambda index: data[index])


def _reshard(stages: Stages, mesh: Any, sharding: Any, shape: tuple[int, ...]) -> Any:
    array = jnp.asarray(stages.array(shape))
    stages("reshard")
    return jax.sharding.reshard(array, sharding)


def _reshard_in_jit(stages: Stages, mesh: Any, sharding: Any, shape: tuple[int, ...]) -> Any:
    function = jax.jit(lambda x: jax.sharding.reshard(x, sharding))
    return _jit(stages, function, stages.array(shape), run=not isinstance(mesh, AbstractMesh))


def _boxed(stages: Stages, mesh: Any, names: Any, shape: tuple[int, ...]) -> Any:
    return nn.Partitioned(jnp.asarray(stages.array(shape)), names=names, mesh=mesh)


def _linen_sharding(stages: Stages, mesh: Any, names: Any, shape: tuple[int, ...]) -> None:
    box = _boxed(stages, mesh, names, shape)
    stages("get_sharding")
    box.get_sharding(mesh)


def _linen_unbox(stages: Stages, mesh: Any, names: Any, shape: tuple[int, ...]) -> Any:
    box = _boxed(stages, mesh, names, shape)
    stages("unbox")
    return jax.jit(lambda b: b.unbox())(box)


def _linen_unbox_eager(stages: Stages, mesh: Any, names: Any, shape: tuple[int, ...]) -> Any:
    box = _boxed(stages, mesh, names, shape)
    stages("unbox eager")
    return box.unbox()


def _nnx_param(stages: Stages, mesh: Any, names: Any, shape: tuple[int, ...]) -> Any:
    array = jnp.asarray(stages.array(shape))
    stages("nnx.Param()")
    return nnx.Param(array, out_sharding=names, **({} if mesh is None else {"mesh": mesh}))[...]


def _nnx_param_in_jit(stages: Stages, mesh: Any, names: Any, shape: tuple[int, ...]) -> Any:
    stages("nnx.jit(Param())")
    given = {} if mesh is None else {"mesh": mesh}
    return nnx.jit(lambda: nnx.Param(jnp.ones(shape), out_sharding=names, **given))()[...]


def _nnx_sharding(stages: Stages, mesh: Any, names: Any, shape: tuple[int, ...]) -> None:
    with nnx.use_eager_sharding(False):
        stages("nnx.Param()")
        parameter = nnx.Param(jnp.ones(shape), out_sharding=names)
        stages("get_partition_spec")
        nnx.get_partition_spec(parameter)
        stages("get_named_sharding")
        nnx.get_named_sharding(parameter, mesh)


PROGRAMS: dict[Api, Program] = {
    Api.SHARD_SHAPE: _shard_shape,
    Api.SHAPE_DTYPE_STRUCT: _struct_alone,
    Api.JIT_ARGUMENT: _argument,
    Api.DEVICE_PUT: _device_put,
    Api.DEVICE_PUT_IN_JIT: _device_put_in_jit,
    Api.JIT_IN: _jit_in,
    Api.JIT_OUT: _jit_out,
    Api.CONSTRAINT: _constraint,
    Api.CONSTRAINT_EAGER: _constraint_eager,
    Api.SHARD_MAP_IN: _shard_map_in,
    Api.SHARD_MAP_OUT: _shard_map_out,
    Api.RESHARD: _reshard,
    Api.RESHARD_IN_JIT: _reshard_in_jit,
    Api.CREATE: _create,
    Api.CREATE_IN_JIT: _create_in_jit,
    Api.ARANGE: _arange,
    Api.ARANGE_IN_JIT: _arange_in_jit,
    Api.CONVERT: _convert,
    Api.CONVERT_IN_JIT: _convert_in_jit,
    Api.LINSPACE: _linspace,
    Api.CREATE_OUT: _create_out,
    Api.CREATE_OUT_IN_JIT: _create_out_in_jit,
    Api.RANDOM_OUT: _random_out,
    Api.RANDOM_OUT_IN_JIT: _random_out_in_jit,
    Api.CALLBACK: _callback,
    Api.LINEN_SHARDING: _linen_sharding,
    Api.LINEN_UNBOX: _linen_unbox,
    Api.LINEN_UNBOX_EAGER: _linen_unbox_eager,
    Api.NNX_PARAM: _nnx_param,
    Api.NNX_PARAM_IN_JIT: _nnx_param_in_jit,
    Api.NNX_SHARDING: _nnx_sharding,
}
#: These take partitioning names, of which flax makes a spec later.
NAMES = frozenset(
    {
        Api.LINEN_SHARDING, Api.LINEN_UNBOX, Api.LINEN_UNBOX_EAGER, Api.NNX_PARAM, Api.NNX_PARAM_IN_JIT,
        Api.NNX_SHARDING,
    }
)  # fmt: skip
#: These take a bare spec whether or not the mesh comes from the context.
BARE_SPECS = frozenset({Api.SHARD_MAP_IN, Api.SHARD_MAP_OUT})


@contextlib.contextmanager
def _context(mesh: Any) -> Iterator[None]:
    if mesh is None:
        yield
    else:
        with jax.set_mesh(mesh):
            yield


def attempt(
    api: Api,
    mesh: values.Mesh | None,
    spec: values.Spec | values.Junk | None,
    shape: tuple[int, ...],
    *,
    raw: bool = False,
    under: bool | values.Mesh = False,
    held: values.Spec | None = None,
) -> Outcome:
    """Run P() and NamedSharding() where the API's users write them, then the API's program.

    ``under``: the mesh is also the context's, or another mesh that is. ``held``: how the array lies on the
    mesh before.
    """
    built = None if mesh is None else real_mesh(mesh)
    around = real_mesh(under) if isinstance(under, values.Mesh) else built if raw or under else None
    stages = Stages(NamedSharding(built, real_spec(held)) if held is not None and held.entries else None)
    try:
        stages("P()")
        sharding: Any
        if api in NAMES and isinstance(spec, values.Spec):
            sharding = tuple(_part(entry) for entry in spec.entries)
        else:
            sharding = real_spec(spec)
        with _context(around):
            if not raw and api not in BARE_SPECS | NAMES:
                stages("NamedSharding()")
                sharding = NamedSharding(built, sharding)
            return _read(PROGRAMS[api](stages, None if raw else built, sharding, shape))
    except Exception as error:
        return Outcome(False, type(error).__name__, stages.current)


def _read(made: Any) -> Outcome:
    sharding = getattr(made, "sharding", None)
    return Outcome(True, spec=law_spec(sharding.spec) if isinstance(sharding, NamedSharding) else None)

"""Shapes, copies and bytes a device holds, arity, and exception classes, against JAX and numpy."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P
from random_cases import draw_cases
from real_jax import real_mesh, real_spec

from shardlint.laws.core.dims import substitute, symbol
from shardlint.laws.core.exceptions import BASES, is_caught
from shardlint.laws.core.values import AxisType, Mesh, Spec
from shardlint.laws.core.verdicts import Accepted, Api, Rejected, Undecided
from shardlint.laws.placement.array_bytes import dtype_size
from shardlint.laws.placement.partition_spec import judge_spec, normalize
from shardlint.laws.placement.shard_shapes import global_shape, replication, shard_shape
from shardlint.laws.placement.spec_arity import judge_arity

MESH = Mesh(("x", "y"), (4, 2), (AxisType.AUTO, AxisType.AUTO))


def placements(count: int) -> list[tuple[Mesh, Spec, tuple[int, ...]]]:
    """Random placements that JAX accepts."""
    found = []
    for case in draw_cases(count, 3):
        if not isinstance(case.mesh, Mesh) or not isinstance(case.spec, Spec) or case.mesh.abstract:
            continue
        try:
            sharding = NamedSharding(real_mesh(case.mesh), real_spec(case.spec))
            sharding.shard_shape(case.shape)
            if len(case.spec) <= len(case.shape):
                found.append((case.mesh, normalize(case.spec), case.shape))
        except Exception:
            assert not isinstance(judge_spec(case.spec), Undecided)
    return found


def test_shard_shapes_and_copies_agree_with_jax() -> None:
    cases = placements(3000)
    assert len(cases) > 1000
    for mesh, spec, shape in cases:
        sharding = NamedSharding(real_mesh(mesh), real_spec(spec))
        held = shard_shape(mesh, spec, shape)
        assert held == sharding.shard_shape(shape)
        assert global_shape(mesh, spec, held) == shape
        if 0 not in shape:
            indices = [str(index) for index in sharding.devices_indices_map(shape).values()]
            assert replication(mesh, spec) == indices.count(indices[0]), (mesh, spec, shape)


def test_symbolic_shapes_substitute() -> None:
    n = symbol("n", 1)
    spec = Spec((("x", "y"), None, "y"))
    held = shard_shape(MESH, spec, (8 * n, n, 2))
    assert held == (n, n, 1)
    assert shard_shape(MESH, Spec(("x",)), (n, 3))[0] == n // 4
    sizes = {"n": 24}
    assert tuple(substitute(d, sizes) for d in held) == shard_shape(MESH, spec, (8 * 24, 24, 2))
    wide = Mesh(("x",), (n,), (AxisType.AUTO,))
    assert shard_shape(wide, Spec(("x",)), (n * 3,)) == (3,)
    assert replication(wide, Spec()) == n


@pytest.mark.parametrize("spec", [Spec(("z",)), Spec(("x", None, None))], ids=str)
def test_shapes_of_wrong_specs_are_refused(spec: Spec) -> None:
    with pytest.raises(ValueError):
        shard_shape(MESH, spec, (8, 8))
    with pytest.raises(ValueError):
        global_shape(MESH, spec, (8, 8))


DTYPES = [
    "bool", "int2", "int4", "int8", "int16", "int32", "int64", "uint2", "uint4", "uint8", "uint16", "uint32",
    "uint64", "float16", "float32", "float64", "bfloat16", "complex64", "complex128", "float8_e4m3fn",
    "float8_e5m2", "float8_e4m3b11fnuz", "float8_e8m0fnu", "float4_e2m1fn",
]  # fmt: skip


@pytest.mark.parametrize("name", DTYPES)
def test_dtype_sizes_agree_with_jax(name: str) -> None:
    dtype = jnp.dtype(getattr(jnp, name, name))
    narrow = name.startswith(("int2", "int4", "uint2", "uint4", "float4"))
    bits = jnp.finfo(dtype).bits if narrow and name.startswith("float") else None
    if narrow:
        bits = bits or jnp.iinfo(dtype).bits
    assert dtype_size(name) == (bits / 8 if bits else dtype.itemsize)


def test_key_sizes_agree_with_jax() -> None:
    for implementation, name in (
        ("threefry2x32", "key<fry>"),
        ("rbg", "key<rbg>"),
        ("unsafe_rbg", "key<urbg>"),
    ):
        key = jax.random.key(0, impl=implementation)
        assert str(key.dtype) == name
        assert dtype_size(name) == jax.random.key_data(key).nbytes
    assert dtype_size("object") is None
    assert dtype_size("intp") is None


def _many(count: int, x: Any) -> Any:
    return tuple(x for _ in range(count))


@pytest.mark.parametrize("given", range(4))
@pytest.mark.parametrize("due", range(4))
@pytest.mark.parametrize("api", [Api.JIT_IN, Api.JIT_OUT, Api.SHARD_MAP_IN, Api.SHARD_MAP_OUT])
def test_arity_agrees_with_jax(api: Api, given: int, due: int) -> None:
    mesh = real_mesh(MESH)
    x = np.ones((8, 8), np.float32)
    shardings, specs = _many(given, NamedSharding(mesh, P("x"))), _many(given, P("x"))
    inputs, outputs = lambda *args: 0.0, lambda arg: _many(due, arg)
    calls = {
        Api.JIT_IN: lambda: jax.jit(inputs, in_shardings=shardings).trace(*_many(due, x)),
        Api.JIT_OUT: lambda: jax.jit(outputs, out_shardings=shardings).trace(x),
        Api.SHARD_MAP_IN: lambda: jax.eval_shape(
            jax.shard_map(inputs, mesh=mesh, in_specs=specs, out_specs=P()), *_many(due, x)
        ),
        Api.SHARD_MAP_OUT: lambda: jax.eval_shape(
            jax.shard_map(outputs, mesh=mesh, in_specs=(P("x"),), out_specs=specs), x
        ),
    }
    verdict = judge_arity(api, given, due)
    try:
        calls[api]()
    except Exception as error:
        assert isinstance(verdict, Rejected) and verdict.exception == type(error).__name__
        return
    assert isinstance(verdict, Accepted)


def test_arity_of_other_apis_is_undecided() -> None:
    assert isinstance(judge_arity(Api.DEVICE_PUT, 2, 1), Undecided)


def test_bases_are_those_of_the_classes() -> None:
    import builtins

    from jax._src import core
    from jax._src.named_sharding import DuplicateSpecError
    from jax._src.sharding import IndivisibleError

    for name, bases in BASES.items():
        ours = {"DuplicateSpecError": DuplicateSpecError, "IndivisibleError": IndivisibleError}
        cls = ours.get(name) or getattr(builtins, name, None) or getattr(core, name, None)
        if cls is None:
            assert name == "ForbiddenCollectiveError" and jax.__version_info__ < (0, 12)
            continue
        assert tuple(base.__name__ for base in cls.__mro__[1:-1]) == bases


def test_catching() -> None:
    assert is_caught("IndivisibleError", {"ValueError"})
    assert is_caught("IndivisibleError", ["jax.sharding.IndivisibleError"])
    assert not is_caught("DuplicateSpecError", {"ValueError", "TypeError"})
    assert is_caught("DuplicateSpecError", {"Exception"})
    assert is_caught("KeyError", {"BaseException"})
    assert is_caught("IndexError", {"LookupError"})
    assert not is_caught("ValueError", {"IndivisibleError"})
    assert not is_caught("ValueError", ())
    assert is_caught("Exception", {"KeyError"})
    assert not is_caught("Exception", ())
    assert is_caught("SomethingElse", {"Exception"})
    assert not is_caught("SomethingElse", {"ValueError"})

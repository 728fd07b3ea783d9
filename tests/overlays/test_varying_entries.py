"""Every function that computes varies as its operands do: our word beside the types of JAX's results."""

from __future__ import annotations

import random
import zlib
from dataclasses import replace
from typing import Any

import jax
import pytest
from jax import lax
from jax.sharding import AbstractMesh, PartitionSpec
from overlay_harness import CASES, PLACE, Draw, FakeInterpreter, Leaves, _fill, concrete, resolve
from test_transfer import DATA_DEPENDENT, ELSEWHERE, TABLES, generator

from shardlint.inference.domain.values import Array, DictValue, ListValue, MeshValue, Tuple, Value
from shardlint.inference.evaluation.call import Call, CannotBind
from shardlint.inference.evaluation.context import Context
from shardlint.inference.overlays.jax.operations import OPERATIONS
from shardlint.inference.overlays.jax.shard_map.varying import COMPUTE, finish_call, variation_of
from shardlint.inference.overlays.operations import Dependence
from shardlint.laws.core.values import AxisType, Mesh
from shardlint.laws.transforms.varying import Variation

MESH = AbstractMesh((2, 4), ("x", "y"))
OURS = Mesh(("x", "y"), (2, 4), (AxisType.MANUAL, AxisType.MANUAL))
CHOICES = tuple(map(frozenset, ("", "x", "y", "xy")))
#: Of these the lower bound is left open, or where they are given functions or sort several arrays.
OPEN = {f"jax.lax.{name}" for name in ("reduce", "reduce_window", "sort_key_val")} | {
    name for name, one in OPERATIONS.items() if one.depends_on is not Dependence.ALL
}
NAMES = sorted(name for name in TABLES.keys() - ELSEWHERE - DATA_DEPENDENT if name in COMPUTE)


class InsideShardMap(FakeInterpreter):
    """What a body of shard_map is evaluated by."""

    context = Context(mesh=MeshValue(OURS), bound_axes=(("x", 2), ("y", 4)), check_vma=True)
    muted = 1

    def record(self, use: object) -> None:
        """Nothing is kept."""


def spread(value: Value, rng: random.Random, held: list[frozenset[str]]) -> Value:
    """The value, each of its JAX arrays varying over axes of its own, which are noted in order."""
    if isinstance(value, Array) and not value.numpy:
        held.append(rng.choice(CHOICES))
        return value.vary(Variation(held[-1], held[-1]))
    if isinstance(value, Tuple):
        return replace(value, items=tuple(spread(item, rng, held) for item in value.items))
    if isinstance(value, ListValue):
        return ListValue([spread(item, rng, held) for item in value.items or ()])
    if isinstance(value, DictValue):
        return DictValue({key: spread(item, rng, held) for key, item in (value.items or {}).items()})
    return value


def jax_says(target: Any, args: list[Value], kwargs: dict[str, Value], held: list[frozenset[str]]) -> Any:
    """Over what each result varies, nested as they are; raises what JAX raises."""
    leaves, answer = Leaves(), []
    positional = [leaves.python(arg) for arg in args]
    named = {key: leaves.python(arg) for key, arg in kwargs.items()}

    def body(*arrays: Any) -> None:
        moved = [
            lax.pcast(array, tuple(sorted(axes)), to="varying") if axes else array
            for array, axes in zip(arrays, held, strict=True)
        ]
        found = target(
            *(_fill(a, moved) for a in positional), **{k: _fill(v, moved) for k, v in named.items()}
        )
        answer.append(described(found))

    P = PartitionSpec()
    mapped = jax.shard_map(body, mesh=MESH, in_specs=(P,) * len(leaves.structs), out_specs=P)
    jax.eval_shape(mapped, *leaves.structs)
    return answer[-1]


def described(value: Any) -> Any:
    """The axes of arrays, nested as they are; None for anything else."""
    if isinstance(value, tuple | list):
        return [described(item) for item in value]
    if isinstance(value, jax.Array):
        return jax.typeof(value).mat.varying
    return None


def compare(ours: Value, real: Any, note: object) -> list[bool]:
    """For each array both know of, whether our bounds meet; false bounds fail."""
    if isinstance(ours, Tuple | ListValue) and isinstance(real, list):
        pairs = zip(ours.items or (), real, strict=False)
        return [exact for item, other in pairs for exact in compare(item, other, note)]
    if not isinstance(ours, Array) or not isinstance(real, frozenset):
        return []
    held = variation_of(ours)
    assert held.surely <= real, (note, held, real)
    assert held.perhaps is None or real <= held.perhaps, (note, held, real)
    return [held.surely == held.perhaps]


@pytest.mark.parametrize("name", NAMES)
def test_varies_as_its_operands(name: str) -> None:
    generate, target = generator(name), resolve(name)
    assert generate is not None
    rng = random.Random(zlib.crc32(name.encode()))
    exact: list[bool] = []
    for _ in range(max(CASES // 2, 2)):
        draw = Draw(rng)
        given, named = generate(draw)
        held: list[frozenset[str]] = []
        args = [spread(concrete(arg, draw.sizes), rng, held) for arg in given]
        kwargs = {key: spread(concrete(arg, draw.sizes), rng, held) for key, arg in named.items()}
        try:
            real = jax_says(target, args, kwargs, held)
        except Exception:
            continue
        call = Call(InsideShardMap(), name, args, kwargs, PLACE)  # type: ignore[arg-type]
        try:
            ours = finish_call(call, TABLES[name](call))
        except CannotBind:
            continue
        exact += compare(ours, real, (name, args, kwargs))
    assert name in OPEN or 2 * sum(exact) >= len(exact), (name, exact)

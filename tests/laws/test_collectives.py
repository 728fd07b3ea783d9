"""The laws of collectives against JAX, traced in a shard_map over an AbstractMesh."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import numpy as np
import pytest
from jax import lax
from jax.sharding import AbstractMesh, AxisType
from jax.sharding import PartitionSpec as P
from support.jax_answers import asks_jax
from support.sizes import size

from shardlint.laws.core.dims import symbol
from shardlint.laws.core.values import Unknown
from shardlint.laws.core.verdicts import Accepted, Rejected, Undecided
from shardlint.laws.transforms.collectives import (
    EXCEPTIONS,
    SAME_SHAPE,
    has_ring,
    judge_axes,
    judge_groups,
    judge_permutation,
    local_result,
    without_receiver,
)

CASES = size("SHARDLINT_COLLECTIVE_CASES", 70, 200)
MESH = AbstractMesh((4, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
BOUND = (("x", 4), ("y", 2))

OFFSETS = (np.zeros(4, np.int32),) * 4
CALLS: dict[str, Callable[..., Any]] = {
    "psum": lax.psum,
    "pmean": lax.pmean,
    "pmax": lax.pmax,
    "pmin": lax.pmin,
    "ppermute": lambda x, axes: lax.ppermute(x, axes, [(0, 1)]),
    "pshuffle": lambda x, axes: lax.pshuffle(x, axes, list(range(8 if axes == ("x", "y") else 4))),
    "pbroadcast": lambda x, axes: lax.pbroadcast(x, axes, 0),
    "all_gather": lax.all_gather,
    "all_to_all": lambda x, axes: lax.all_to_all(x, axes, 0, 0, tiled=True),
    "pswapaxes": lambda x, axes: lax.pswapaxes(x, axes, 0),
    "psum_scatter": lambda x, axes: lax.psum_scatter(x, axes, tiled=True),
    "axis_index": lambda x, axes: lax.axis_index(axes),
    "axis_size": lambda x, axes: lax.axis_size(axes),
    "ragged_all_to_all": lambda x, axes: lax.ragged_all_to_all(x, x, *OFFSETS, axis_name=axes),
    "pcast": lambda x, axes: lax.pcast(x, axes, to="varying"),
    "pvary": lambda x, axes: lax.pcast(x, axes, to="varying"),
}


def raised(call: Callable[[Any], Any], shape: tuple[int, ...], check_vma: bool, spec: P) -> str:
    """The class that tracing the call on shards of this shape raises, or ``""``."""
    mapped = jax.shard_map(
        lambda x: (call(x), x)[1], mesh=MESH, in_specs=spec, out_specs=spec, check_vma=check_vma
    )
    try:
        jax.eval_shape(mapped, jax.ShapeDtypeStruct(shape, np.float32))
    except Exception as error:
        return type(error).__name__
    return ""


@pytest.mark.parametrize("function", EXCEPTIONS)
@pytest.mark.parametrize("check_vma", [True, False])
def test_unbound_axes_raise_what_the_law_says(function: str, check_vma: bool) -> None:
    for axes, spec in itertools.product([("z",), ("x", "z"), ("z", "y")], [P("x", "y"), P()]):
        written = axes if len(axes) > 1 else axes[0]

        def call(x: Any, axes: Any = written) -> Any:
            return CALLS[function](x, axes)

        real = raised(call, (8, 8), check_vma, spec)
        verdict = judge_axes(function, axes, BOUND, check_vma=check_vma)
        assert isinstance(verdict, Rejected) and real
        assert verdict.exception in (real, "Exception")
        assert verdict.exception == real or len(axes) > 1
        assert verdict.axis == "z" and axes[verdict.part or 0] == "z"
        assert judge_axes(function, axes, BOUND) in (verdict, _of_unknown_class(verdict))


def _of_unknown_class(verdict: Rejected) -> Rejected:
    return Rejected(verdict.cause, "Exception", verdict.stage, part=verdict.part, axis=verdict.axis)


@pytest.mark.parametrize("function", EXCEPTIONS)
def test_without_bound_axes_every_name_is_refused(function: str) -> None:
    verdict = judge_axes(function, ("x",), ())
    assert isinstance(verdict, Rejected)
    for call in (lambda x: CALLS[function](x, "x"), jax.jit(lambda x: CALLS[function](x, "x"))):
        with pytest.raises(Exception) as caught:
            call(np.ones((4, 4), np.float32))
        assert verdict.exception in (type(caught.value).__name__, "Exception")


def test_bound_axes_are_accepted() -> None:
    assert isinstance(judge_axes("psum", ("x", "y"), BOUND), Accepted)
    assert isinstance(judge_axes("all_gather", ("y",), BOUND), Accepted)
    assert isinstance(judge_axes("psum", ("z",), Unknown("the caller's")), Undecided)
    assert isinstance(judge_axes("own", ("z",), BOUND), Undecided)


SHAPE_CASES = [
    (function, shape, options)
    for shape in [(), (4,), (8,), (3,), (4, 8), (8, 4), (2, 8, 4), (5, 4, 8)]
    for function, options in [
        *[(name, {}) for name in ("psum", "pmean", "pmax", "pmin", "ppermute", "pbroadcast")],
        *[
            ("all_gather", {"axis": axis, "tiled": tiled})
            for axis in (-3, -2, -1, 0, 1, 2)
            for tiled in (False, True)
        ],
        *[
            ("psum_scatter", {"scatter_dimension": axis, "tiled": tiled})
            for axis in (-4, -2, -1, 0, 1, 2)
            for tiled in (False, True)
        ],
        *[("pswapaxes", {"axis": axis}) for axis in (-1, 0, 1, 2)],
        *[
            ("all_to_all", {"split_axis": split, "concat_axis": concat, "tiled": tiled})
            for split in (-1, 0, 1, 2, 3)
            for concat in (-1, 0, 1, 2, 3)
            for tiled in (False, True)
        ],
    ]
]  # fmt: skip


@asks_jax("laws")
def real_local_result(function: str, shape: tuple[int, ...], options: dict[str, Any]) -> Any:
    """What one shard's result is in JAX: its shape, or the class of the error, when traced or lowered."""
    call = CALLS[function] if not options else getattr(lax, function)
    seen: list[tuple[int, ...]] = []

    def body(x: Any) -> Any:
        result = call(x, "x", **options)
        seen.append(result.shape)
        return result.sum() + x

    mapped = jax.shard_map(body, mesh=MESH, in_specs=P(), out_specs=P(), check_vma=False)
    try:
        traced = jax.jit(mapped).trace(jax.ShapeDtypeStruct(shape, np.float32))
        # XLA has its own mind about negative dimensions, some of which crash it.
        if function == "psum_scatter":
            traced.lower(lowering_platforms=("cpu",))
    except Exception as error:
        return type(error).__name__
    return seen[0]


def test_local_results_agree_with_jax() -> None:
    decided = rejected = 0
    for function, shape, options in SHAPE_CASES:
        result = local_result(function, shape, 4, **options)
        if isinstance(result, Unknown):
            # Only negative dimensions are left open.
            assert min(value for value in options.values() if value is not True) < 0, (function, options)
            continue
        real = real_local_result(function, shape, options)
        decided += 1
        rejected += isinstance(result, Rejected)
        ours = result.exception if isinstance(result, Rejected) else result
        assert ours == real or (ours == "Exception" and isinstance(real, str)), (
            function,
            shape,
            options,
            real,
        )
    assert decided > 0.7 * len(SHAPE_CASES) and rejected > 150, (decided, rejected, len(SHAPE_CASES))


def random_groups(rng: random.Random) -> list[list[int]]:
    """Groups of the four devices along "x", often not quite right."""
    indices = list(range(4))
    rng.shuffle(indices)
    if rng.random() < 0.5:
        indices[rng.randrange(4)] = rng.randrange(5)
    cut = rng.choice((1, 2, 2, 2, 3))
    return [indices[:cut], indices[cut:]] if rng.random() < 0.8 else [indices]


def test_groups_agree_with_jax() -> None:
    rng, accepted = random.Random(0), 0
    for _ in range(CASES):
        groups = random_groups(rng)
        function = rng.choice(("psum", "pmax", "all_gather", "psum_scatter", "all_to_all", "pswapaxes"))
        known: dict[str, Any] = {}
        if function in ("all_gather", "psum_scatter"):
            known = {"tiled": rng.random() < 0.5}
        if function == "all_to_all":
            known = {
                "split_axis": rng.randrange(2),
                "concat_axis": rng.randrange(2),
                "tiled": rng.random() < 0.5,
            }
        if function == "pswapaxes":
            known = {"axis": rng.randrange(2)}
        shape = (rng.choice((2, 4, 6)), rng.choice((2, 4)))
        verdict = judge_groups(tuple(map(tuple, groups)))
        result = local_result(function, shape, len(groups[0]), **known)
        seen: list[tuple[int, ...]] = []
        asked = partial(getattr(lax, function), axis_name="x", axis_index_groups=groups, **known)

        def call(x: Any, asked: Callable[..., Any] = asked, seen: list[tuple[int, ...]] = seen) -> Any:
            seen.append(asked(x).shape)
            return x

        real = raised(call, shape, False, P())
        wrong = verdict if isinstance(verdict, Rejected) else result
        if isinstance(wrong, Rejected):
            assert real == wrong.exception, (function, shape, known, groups, real, wrong)
        else:
            assert not real and seen[0] == result, (function, shape, known, groups, real, wrong)
            accepted += 1
    assert 0.2 * CASES < accepted < 0.8 * CASES


def random_permutation(rng: random.Random) -> tuple[tuple[int, int], ...]:
    """Pairs among the four devices along "x", often not quite right."""
    devices = [rng.randrange(4) if rng.random() < 0.9 else rng.choice((-5, -2, -1, 4, 5)) for _ in range(8)]
    if rng.random() < 0.6:
        devices = [*rng.sample(range(4), 4), *rng.sample(range(4), 4)]
    return tuple(zip(devices[:4], devices[4:], strict=True))[: rng.randint(0, 4)]


def lowered(call: Callable[[Any], Any]) -> str:
    """The class that tracing or lowering the call on a shard raises, or ``""``."""
    mapped = jax.shard_map(call, mesh=MESH, in_specs=P("x"), out_specs=P("x"))
    try:
        jax.jit(mapped).trace(jax.ShapeDtypeStruct((4,), np.float32)).lower(lowering_platforms=("cpu",))
    except Exception as error:
        return type(error).__name__
    return ""


def test_permutations_agree_with_jax() -> None:
    rng, rejected = random.Random(0), 0
    for _ in range(CASES):
        pairs = random_permutation(rng)
        verdict = judge_permutation("ppermute", pairs, 4)
        real = lowered(partial(lax.ppermute, axis_name="x", perm=pairs))
        ours = verdict.exception if isinstance(verdict, Rejected) else ""
        assert ours == real, (pairs, ours, real)
        sources = [source for source, _ in pairs]
        verdict = judge_permutation("pshuffle", tuple((s, i) for i, s in enumerate(sources)), 4)
        real = lowered(partial(lax.pshuffle, axis_name="x", perm=sources))
        ours = verdict.exception if isinstance(verdict, Rejected) else ""
        assert ours == real, (sources, ours, real)
        rejected += bool(real)
    assert 0.2 * CASES < rejected < 0.8 * CASES
    assert isinstance(judge_permutation("ppermute", ((0, 1),), symbol("n")), Undecided)


def test_devices_that_receive_nothing_hold_zeros() -> None:
    sends = lambda x: lax.ppermute(x, "x", [(0, 1), (1, 2), (2, 0)])  # noqa: E731
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:4]), ("x",))
    held = jax.shard_map(sends, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(np.arange(1.0, 5.0))
    assert [i for i, value in enumerate(held.tolist()) if value == 0] == [3]
    assert without_receiver(((0, 1), (1, 2), (2, 0)), 4) == (3,)
    assert without_receiver(((0, 1), (1, 2), (2, 0)), symbol("n")) == ()
    assert has_ring(((0, 1), (1, 2), (2, 0))) and has_ring(((0, 1), (3, 3)))
    assert not has_ring(((0, 1), (1, 2))) and not has_ring(((1, 0), (3, 2))) and not has_ring(())


def test_every_shape_keeping_collective_is_known() -> None:
    assert set(EXCEPTIONS) >= SAME_SHAPE


def test_negative_dimensions_are_left_open_where_xla_refuses_them() -> None:
    assert isinstance(
        local_result("all_to_all", (8, 8), 4, split_axis=-1, concat_axis=0, tiled=True), Unknown
    )


def test_symbolic_local_results() -> None:
    n, k = symbol("n"), symbol("k", 1)
    assert local_result("all_gather", (n, 8), k, axis=0, tiled=True) == (n * k, 8)
    assert local_result("all_gather", (n, 8), k) == (k, n, 8)
    assert local_result("psum_scatter", (4 * n, 8), 4, tiled=True) == (n, 8)
    assert isinstance(local_result("psum_scatter", (n, 8), 4, tiled=True), Unknown)
    assert isinstance(local_result("psum_scatter", (4 * n + 2, 8), 4, tiled=True), Rejected)
    assert local_result("all_to_all", (n, 4 * k), 4, split_axis=1, concat_axis=0, tiled=True) == (4 * n, k)
    assert isinstance(local_result("all_gather", (n,), 4, tiled=Unknown("?")), Unknown)
    assert isinstance(local_result("own", (n,), 4), Unknown)

"""The laws of collectives against JAX, traced in a shard_map over an AbstractMesh."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest
from jax import lax
from jax.sharding import AbstractMesh
from jax.sharding import PartitionSpec as P

from shardlint.laws.collectives import EXCEPTIONS, SAME_SHAPE, judge_axes, local_result
from shardlint.laws.dims import symbol
from shardlint.laws.values import Unknown
from shardlint.laws.verdicts import Accepted, Rejected, Undecided

MESH = AbstractMesh((4, 2), ("x", "y"))
BOUND = (("x", 4), ("y", 2))

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
            for axis in (0, 1, 2)
            for tiled in (False, True)
        ],
        *[
            ("all_to_all", {"split_axis": split, "concat_axis": concat, "tiled": tiled})
            for split in (0, 1, 2)
            for concat in (0, 1, 2)
            for tiled in (False, True)
        ],
    ]
]  # fmt: skip


def real_local_result(function: str, shape: tuple[int, ...], options: dict[str, Any]) -> Any:
    """What one shard's result is in JAX: its shape, or the class of the error."""
    call = CALLS[function] if not options else getattr(lax, function)
    seen: list[tuple[int, ...]] = []

    def body(x: Any) -> Any:
        seen.append(call(x, "x", **options).shape)
        return x

    mapped = jax.shard_map(body, mesh=MESH, in_specs=P(), out_specs=P(), check_vma=False)
    try:
        jax.eval_shape(mapped, jax.ShapeDtypeStruct(shape, np.float32))
    except Exception as error:
        return type(error).__name__
    return seen[0]


def test_local_results_agree_with_jax() -> None:
    decided = rejected = 0
    for function, shape, options in SHAPE_CASES:
        result = local_result(function, shape, 4, **options)
        real = real_local_result(function, shape, options)
        if isinstance(result, Unknown):
            assert isinstance(real, str), (function, shape, options, real)
            continue
        decided += 1
        rejected += isinstance(result, Rejected)
        ours = result.exception if isinstance(result, Rejected) else result
        assert ours == real, (function, shape, options)
    assert decided > 150 and rejected > 30


def test_every_shape_keeping_collective_is_known() -> None:
    assert set(EXCEPTIONS) >= SAME_SHAPE


def test_negative_dimensions_are_left_open_where_xla_refuses_them() -> None:
    assert isinstance(local_result("psum_scatter", (8, 8), 4, scatter_dimension=-1, tiled=True), Unknown)
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
    assert isinstance(local_result("psum", (n,), 4, axis_index_groups=[[0, 1]]), Unknown)
    assert isinstance(local_result("all_gather", (n,), 4, tiled=Unknown("?")), Unknown)
    assert isinstance(local_result("own", (n,), 4), Unknown)

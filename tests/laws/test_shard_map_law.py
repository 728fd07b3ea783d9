"""The laws of shard_map beside its specs: placements and collectives in bodies, against JAX's own."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import AxisType, NamedSharding, PartitionSpec, reshard
from support.jax_answers import asks_jax
from test_collectives import CALLS

from shardlint.laws.core.values import AxisType as Kind
from shardlint.laws.core.values import Mesh, Spec, Unknown
from shardlint.laws.core.verdicts import Api, Rejected
from shardlint.laws.transforms.collectives import judge_axes
from shardlint.laws.transforms.shard_map import judge_inside, judge_smap, judge_unreduced

SHAPE = (8, 8)
SPECS = (
    (), (None,), ("x",), ("y",), (None, "y"), ("x", "y"), (("x", "y"),), ("x", "x"), ("z",),
    (None, None, "y"), (None, None, None),
)  # fmt: skip
KINDS = {"Auto": (AxisType.Auto, Kind.AUTO), "Explicit": (AxisType.Explicit, Kind.EXPLICIT)}
APIS: dict[Api, Callable[[Any, Any], Any]] = {
    Api.CONSTRAINT: lax.with_sharding_constraint,
    Api.RESHARD_IN_JIT: reshard,
    Api.DEVICE_PUT_IN_JIT: jax.device_put,
}


def raised(call: Callable[[Any], Any], mesh: Any, manual: set[str], checked: bool, spec: Any) -> str:
    """The class that tracing the call in a body raises, or ``""``; ``spec`` splits the argument."""
    mapped = jax.shard_map(
        lambda x: (call(x), jnp.zeros(()))[1],
        mesh=mesh, in_specs=spec, out_specs=PartitionSpec(), axis_names=manual, check_vma=checked,
    )  # fmt: skip
    kept = [axis for axis in mesh.axis_names if mesh._name_to_type[axis] is AxisType.Explicit]
    held = PartitionSpec(*(entry if entry in kept else None for entry in spec))
    try:
        jax.eval_shape(mapped, jax.device_put(jnp.ones((16, 16)), NamedSharding(mesh, held)))
    except Exception as error:
        return type(error).__name__
    return ""


@asks_jax("laws")
def placed(
    api: Api,
    entries: tuple[Any, ...],
    raw: bool,
    checked: bool,
    kinds: tuple[str, ...],
    manual: tuple[str, ...],
) -> str | None:
    """Return the class that a placement in a body raises, or ``""``; None where there is no such sharding."""
    mesh = jax.make_mesh((2, 2), ("x", "y"), axis_types=tuple(KINDS[kind][0] for kind in kinds))
    try:
        given = PartitionSpec(*entries) if raw else NamedSharding(mesh, PartitionSpec(*entries))
    except Exception:
        return None
    return raised(lambda x: APIS[api](x, given), mesh, set(manual), checked, PartitionSpec(*manual))


@pytest.mark.parametrize("kinds", list(itertools.product(KINDS, repeat=2)), ids="-".join)
@pytest.mark.parametrize("manual", [("x", "y"), ("x",)], ids="".join)
def test_placements_in_bodies_agree_with_jax(kinds: tuple[str, str], manual: tuple[str, ...]) -> None:
    mesh = Mesh(("x", "y"), (2, 2), tuple(KINDS[kind][1] for kind in kinds))
    inside = mesh.with_types(dict.fromkeys(manual, Kind.MANUAL))
    count = Counter[str]()
    for api, entries, raw, checked in itertools.product(APIS, SPECS, (True, False), (True, False)):
        error = placed(api, entries, raw, checked, kinds, manual)
        if error is None:
            continue
        varying = frozenset(manual) if checked else frozenset()
        verdict = judge_inside(api, inside if raw else mesh, Spec(entries), SHAPE, raw=raw, varying=varying)
        rejected = isinstance(verdict, Rejected)
        assert not rejected or error, (api, entries, raw, checked, verdict)
        if isinstance(verdict, Rejected):
            assert verdict.exception in (error, "Exception"), (api, entries, raw, checked, error)
        count["rejected"] += bool(error)
        count["found"] += rejected
    assert count["found"] >= 0.7 * count["rejected"] > 20, count


@pytest.mark.parametrize("function", sorted(CALLS))
@pytest.mark.parametrize("checked", [True, False])
def test_axes_that_are_not_manual_are_not_found(function: str, checked: bool) -> None:
    mesh = jax.make_mesh((2, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
    verdict = judge_axes(function, ("y",), (("x", 2),), check_vma=checked, kept=("y",))
    assert isinstance(verdict, Rejected)
    error = raised(lambda x: CALLS[function](x, "y"), mesh, {"x"}, checked, PartitionSpec("x"))
    assert verdict.exception in (error, "Exception")


VALUES: tuple[Any, ...] = (
    0, 1, None, "x", 1.5, (0, 1), [0], (0, None), ((0, 1), None), {"a": 0}, ("x",), (), True, -1
)  # fmt: skip


def test_smap_takes_what_the_law_says() -> None:
    for name, given, out in itertools.product(("x", ("x",), ["x"], 3), VALUES, VALUES):
        try:
            jax.smap(np.negative, in_axes=given, out_axes=out, axis_name=name)
            error = ""
        except Exception as problem:
            error = type(problem).__name__
        verdict = judge_smap(name, given, out)
        assert (verdict.exception if isinstance(verdict, Rejected) else "") == error, (name, given, out)
    assert not isinstance(judge_smap(Unknown("?"), Unknown("?"), Unknown("?")), Rejected)


def test_results_that_a_spec_calls_unreduced() -> None:
    """Before 0.11.0 what varies over an axis was cast to be unreduced over it."""
    mesh = jax.sharding.AbstractMesh((2, 2), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)
    sets = [frozenset(axes) for axes in ((), "x", "y", "xy")]
    for varying, cast in itertools.product(sets, sets):
        for unreduced in (one for one in sets if one <= varying):

            def body(varying: Any = varying, cast: Any = cast) -> Any:
                x = lax.pcast(jnp.ones(4), tuple(sorted(varying)), to="varying") if varying else jnp.ones(4)
                return lax.pcast(x, tuple(sorted(cast)), to="unreduced") if cast else x

            if not cast <= unreduced:
                continue
            left = tuple(sorted(varying - unreduced))
            spec = PartitionSpec(left or None, unreduced=set(unreduced))
            mapped = jax.shard_map(body, mesh=mesh, in_specs=(), out_specs=spec)
            with jax.sharding.use_abstract_mesh(mesh):
                try:
                    jax.eval_shape(mapped)
                except Exception as error:
                    real = type(error).__name__
                else:
                    real = ""
            law = judge_unreduced(varying - cast, Spec((left or None,), unreduced=unreduced))
            said = law.exception if isinstance(law, Rejected) else ""
            assert said == real, (varying, cast, unreduced)

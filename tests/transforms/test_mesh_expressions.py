"""Meshes, specs and shardings in random expressions: what JAX raises, and what the values are."""

from __future__ import annotations

import math
import random
import warnings
from typing import Any

import jax
import numpy as np
import pytest
from mesh_expressions import KINDS, SETUP
from probing import SCALE, Evaluated, Tally, compare, evaluate

from shardlint.inference.domain.values import (
    Devices,
    DictValue,
    External,
    ListValue,
    MeshValue,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
)
from shardlint.laws.core.values import Junk, Marker, Mesh, Unknown
from shardlint.laws.core.verdicts import Rejected

ROUNDS = max(1, round(SCALE))
BATCH = 100


def real_values(texts: list[str]) -> list[Any]:
    """What Python makes of each expression: a value, or an exception."""
    namespace: dict[str, Any] = {}
    found: list[Any] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(SETUP, namespace)
        for text in texts:
            try:
                found.append(eval(text, namespace))
            except Exception as error:
                found.append(error)
    return found


def rejections(told: Evaluated, first: int, count: int) -> list[list[Rejected]]:
    """The rejections on each of the lines from ``first`` on."""
    found: list[list[Rejected]] = [[] for _ in range(count)]
    for use in told.uses:
        line = use.place.resolve().line - first
        if isinstance(use.verdict, Rejected) and line >= 0:
            found[line].append(use.verdict)
    return found


def agree(value: Value, real: Any, tally: Tally) -> None:
    """Compare a value with the real one; meshes, specs, shardings and devices by what they hold."""
    if isinstance(value, MeshValue):
        assert isinstance(real, jax.sharding.AbstractMesh if value.mesh.abstract else jax.sharding.Mesh)
        _agree_mesh(value.mesh, real)
        tally.add(True)
    elif isinstance(value, SpecValue):
        assert isinstance(real, jax.P), (value, real)
        pairs = [(mine, _entry(its)) for mine, its in zip(value.spec.entries, real.partitions, strict=True)]
        assert all(mine == its for mine, its in pairs if not _is_open(mine)), (value, real)
        assert (real.unreduced, real.reduced) == (value.spec.unreduced, value.spec.reduced)
        tally.add(True)
    elif isinstance(value, ShardingValue):
        assert isinstance(real, jax.sharding.NamedSharding), (value, real)
        agree(value.mesh, real.mesh, tally)
        agree(value.spec, real.spec, tally)
    elif isinstance(value, Devices):
        items = real if isinstance(real, np.ndarray) or _is_device(real) else list(real)
        shape = () if _is_device(items) else np.array(items).shape
        assert value.shape == shape, (value, real)
        tally.add(True)
    elif isinstance(value, External) and value.name.startswith("jax.sharding."):
        name = "UNCONSTRAINED" if real is jax.P.UNCONSTRAINED else str(getattr(real, "name", real.__class__))
        assert value.name.endswith(f".{name}"), (value, real)
        tally.add(True)
    elif isinstance(value, Tuple | ListValue) and value.items is not None and type(real) in (tuple, list):
        assert type(real) is (tuple if isinstance(value, Tuple) else list), (value, real)
        for item, other in zip(value.items, real, strict=True):
            agree(item, other, tally)
    elif isinstance(value, DictValue) and value.items is not None and isinstance(real, dict):
        assert value.items.keys() == real.keys(), (value, real)
        for key, item in value.items.items():
            agree(item, real[key], tally)
    else:
        compare(value, _plain(real), {}, tally)


def _is_open(entry: Any) -> bool:
    """Whether an entry, or a part of it, is junk or not known."""
    return isinstance(entry, Junk | Unknown) or (isinstance(entry, tuple) and any(map(_is_open, entry)))


def _is_device(real: Any) -> bool:
    return isinstance(real, jax.Device)


def _entry(entry: Any) -> Any:
    if isinstance(entry, tuple):
        return tuple(map(_entry, entry))
    return Marker.UNCONSTRAINED if entry is jax.P.UNCONSTRAINED else entry


def _plain(real: Any) -> Any:
    """Views of dicts as the evaluator holds them."""
    return list(real) if type(real).__name__ in ("odict_items", "odict_values", "odict_keys") else real


def _agree_mesh(mesh: Mesh, real: Any) -> None:
    assert mesh.names == tuple(real.axis_names), (mesh, real)
    assert [kind.value for kind in mesh.types] == [kind.name for kind in real.axis_types], (mesh, real)
    if not all(isinstance(size, int) for size in mesh.sizes):
        return  # The sizes of a process's own part of a mesh are left open.
    assert mesh.sizes == tuple(real.axis_sizes), (mesh, real)
    if not mesh.names or 0 in mesh.sizes:
        return
    assert mesh.device_count == math.prod(real.axis_sizes)


#: Of each kind: the least share of rejected expressions that are found, and of values that are known.
SHARES = {
    "mesh": (0.95, 0.9),
    "derived": (0.95, 0.9),
    "read": (0.9, 0.9),
    "spec": (0.8, 0.9),
    "sharding": (0.95, 0.9),
}


@pytest.mark.parametrize("kind", KINDS)
def test_expressions_agree_with_jax(kind: str) -> None:
    rng = random.Random(f"meshes: {kind}")
    raised = found = accepted = 0
    tally = Tally()
    for _ in range(ROUNDS):
        texts = [KINDS[kind](rng) for _ in range(BATCH)]
        program = SETUP + "\n".join(f"probe({i}, {text})" for i, text in enumerate(texts)) + "\n"
        told = evaluate(program)
        rejected = rejections(told, SETUP.count("\n") + 1, BATCH)
        for i, (text, real) in enumerate(zip(texts, real_values(texts), strict=True)):
            value = told.probes.get(i, Unknown("not reached"))
            if isinstance(real, Exception):
                raised += 1
                classes = {cls.__name__ for cls in type(real).__mro__}
                # Python stops at the first of them.
                assert all(verdict.exception in classes for verdict in rejected[i][:1]), (
                    text,
                    real,
                    rejected[i],
                )
                found += bool(rejected[i])
            else:
                accepted += 1
                # What an AbstractMesh is made of is looked at when it is first used.
                assert all(verdict.stage == "use" for verdict in rejected[i]), (text, real, rejected[i])
                try:
                    agree(value, real, tally)
                except AssertionError as error:
                    raise AssertionError((text, value, real)) from error
    least, known = SHARES[kind]
    assert raised >= BATCH * ROUNDS // 20 and accepted >= BATCH * ROUNDS // 4, (raised, accepted)
    assert found >= least * raised, (found, raised)
    assert tally.leaves - tally.unknown >= known * tally.leaves, tally

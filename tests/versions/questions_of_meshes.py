"""Questions about the construction of meshes: sizes, names and axis types, and what is the default."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial
from typing import Any

import older_jax
from questions import Question, compare, law_at

from shardlint.laws.core.values import AxisType
from shardlint.laws.core.verdicts import Accepted
from shardlint.laws.meshes.construction import judge_mesh
from shardlint.laws.versions import Release, holds
from shardlint.laws.versions.api_changes import EXPLICIT_ABSTRACT_MESH, EXPLICIT_BY_DEFAULT

jax, np = older_jax.jax, older_jax.np

FUNCTIONS = ("Mesh", "make_mesh", "AbstractMesh", "create_device_mesh")
SHAPES = [(), (1,), (3,), (4,), (8,), (16,), (2, 2), (4, 2), (4, 4), (2, 2, 2), (-1, 2), (0, 2), (-2, -4)]
NAMES = [(), ("x",), ("x", "y"), ("x", "x"), ("x", "y", "z")]


def meshes() -> Iterator[Question]:
    """Yield each function with each shape, names and number of axis types."""
    for function, shape, names, types in itertools.product(FUNCTIONS, SHAPES, NAMES, (None, 1, 2)):
        if function == "create_device_mesh" and (types is not None or names != NAMES[0]):
            continue
        if function in ("Mesh", "AbstractMesh") and any(size <= 0 for size in shape):
            continue
        text = f"{function} {shape} {names} {types}"
        ask, judge = (
            partial(_ask, function, shape, names, types),
            partial(_judge, function, shape, names, types),
        )
        yield Question(f"{function}|{'types' if types else 'default'}", text, ask, judge)


def _ask(function: str, shape: tuple[int, ...], names: tuple[str, ...], types: int | None) -> str:
    if types and not older_jax.AXIS_TYPES:
        return "- no axis types"
    if function == "AbstractMesh" and not older_jax.takes(jax.sharding.AbstractMesh, "axis_names"):
        return "- other arguments"
    try:
        mesh = _build(function, shape, names, types)
    except Exception as error:
        return f"{type(error).__name__} @{function}()"
    try:
        _ = mesh.shape
    except Exception as error:
        return f"{type(error).__name__} @use"
    kinds = getattr(mesh, "axis_types", None)
    return "ok" if types or not isinstance(kinds, tuple) else f"ok {' '.join(kind.name for kind in kinds)}"


def _build(function: str, shape: tuple[int, ...], names: tuple[str, ...], types: int | None) -> Any:
    given = {} if types is None else {"axis_types": (jax.sharding.AxisType.Auto,) * types}
    if function == "Mesh":
        return jax.sharding.Mesh(np.resize(np.array(jax.devices()), shape), names, **given)
    if function == "make_mesh":
        return jax.make_mesh(shape, names, **given)
    if function == "AbstractMesh":
        return jax.sharding.AbstractMesh(shape, names, **given)
    from jax.experimental import mesh_utils

    return mesh_utils.create_device_mesh(shape)


def _judge(
    function: str,
    shape: tuple[int, ...],
    names: tuple[str, ...],
    types: int | None,
    answer: str,
    release: Release,
) -> tuple[str, str] | None:
    kinds = None if types is None else (AxisType.AUTO,) * types
    given = None if function == "create_device_mesh" else names
    verdict = law_at(release, judge_mesh(function, shape, given, 8, types=kinds), f"jax.{function}")
    if isinstance(verdict, Accepted) and types is None and answer.startswith("ok "):
        return compare(answer, " ".join([_default(function, release)] * len(names)))
    return compare(answer, verdict)


def _default(function: str, release: Release) -> str:
    """Return the type that axes have unless it is given."""
    behaviour = {"make_mesh": EXPLICIT_BY_DEFAULT, "AbstractMesh": EXPLICIT_ABSTRACT_MESH}.get(function)
    explicit = behaviour is not None and holds(behaviour, release)
    return "Explicit" if explicit else "Auto"

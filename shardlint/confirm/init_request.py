"""A model's abstract init, run by the worker on a fake mesh. It is the user's own code: only on request."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from shardlint.confirm.child_process import ChildLost
from shardlint.confirm.connection import INITIALIZER, Connection
from shardlint.laws.core.values import Entry, Junk, Marker, Mesh, Spec
from shardlint.laws.core.witness_data import mesh_data
from shardlint.laws.flax.path_rules import PathRule
from shardlint.support.lazy_dataclass import dataclass

#: A mesh of more devices is not faked: the model is created under an `AbstractMesh`.
MOST_DEVICES = 512


class InitFailed(Exception):
    """The init, or the rules, could not be loaded or run; the message states why."""


@dataclass(frozen=True, slots=True)
class InitArray:
    """One array of an init's result. ``names`` are those of its box, or the spec it is sharded by."""

    path: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: str
    names: Spec | str | None = None
    box: str | None = None


@dataclass(frozen=True, slots=True)
class Initialized:
    """The result of init on one mesh, and the rules: None where none were requested.

    ``chosen`` holds a spec for each array where the rules are a function of a path. ``others`` are the paths
    of leaves that are not arrays. ``state`` are the arrays of an optimizer's state.
    """

    jax: str
    arrays: tuple[InitArray, ...]
    rules: tuple[PathRule, ...] | None = None
    chosen: tuple[Spec | str, ...] | None = None
    others: tuple[str, ...] = ()
    state: tuple[InitArray, ...] = ()


def abstract_init(
    init: str,
    rules: str | None = None,
    mesh: Mesh | None = None,
    *,
    roots: Sequence[str] = (".",),
    python: str | None = None,
    devices: int = 8,
    timeout: float = 120.0,
    memory: int = 8 << 30,
    optimizer: str | None = None,
) -> Initialized:
    """Import ``package.module:function``, call it under `jax.eval_shape`, and list the arrays it creates.

    It runs under the mesh, on as many fake devices as that has (``devices`` without one), in a process with
    ``timeout`` seconds and ``memory`` bytes; ``roots`` are the folders to import from, the first is the
    working directory. ``optimizer`` names an optax transformation, or a function that makes one, whose state
    is listed too. An init that cannot be traced (`jax.set_mesh`, reading values) is run as it is. Raises
    InitFailed.
    """
    count = mesh.device_count if mesh is not None else devices
    assert isinstance(count, int)
    if mesh is not None and count > MOST_DEVICES:
        mesh, count = replace(mesh, abstract=True), devices
    roots = [str(Path(root).resolve()) for root in roots]
    on = None if mesh is None else mesh_data(mesh)
    request = {"init": init, "rules": rules, "mesh": on, "roots": roots, "optimizer": optimizer}
    connection = None
    try:
        connection = Connection(
            python or sys.executable, count, timeout, memory, Path(roots[0]), program=INITIALIZER
        )
        answer = connection.ask({**request, "traced": True})
        if not answer.get("ok") and answer.get("stage") == "init":
            answer = _eagerly(connection, request, answer)
    except ChildLost as reason:
        raise InitFailed(f"{init} was not run: {reason}" if connection else str(reason)) from None
    finally:
        if connection is not None:
            connection.close()
    return _read(init, rules, answer)


def step_temporaries(
    step: str,
    meshes: Sequence[Mesh],
    *,
    roots: Sequence[str] = (".",),
    python: str | None = None,
    timeout: float = 600.0,
    memory: int = 8 << 30,
) -> Iterator[int | str]:
    """Yield the bytes of temporaries on each device for a step on each mesh, or what failed.

    ``step`` names a function of a mesh that returns ``jax.jit(...).lower(...)``; the user's own code. Meshes
    have at most `MOST_DEVICES` devices. After ``timeout`` seconds for one mesh, nothing more is asked.
    """
    roots = [str(Path(root).resolve()) for root in roots]
    count = max((n for mesh in meshes if isinstance(n := mesh.device_count, int)), default=1)
    connection = None
    try:
        connection = Connection(
            python or sys.executable, count, timeout, memory, Path(roots[0]), program=INITIALIZER
        )
        for mesh in meshes:
            answer = connection.ask({"step": step, "mesh": mesh_data(mesh), "roots": roots})
            if answer.get("ok"):
                yield int(answer["temporaries"])
            elif "unsupported" in answer:
                yield str(answer["unsupported"])
            else:
                yield _failure(step, None, answer)
    except ChildLost as reason:
        yield f"{step} was not compiled: {reason}" if connection else str(reason)
    finally:
        if connection is not None:
            connection.close()


def _eagerly(connection: Connection, request: dict[str, Any], traced: dict[str, Any]) -> dict[str, Any]:
    """Run init again with real arrays; if that exceeds the process's limits, the first failure stands."""
    try:
        return connection.ask({**request, "traced": False})
    except ChildLost:
        return traced


def _read(init: str, rules: str | None, answer: dict[str, Any]) -> Initialized:
    if "unsupported" in answer:
        raise InitFailed(str(answer["unsupported"]))
    if not answer.get("ok"):
        raise InitFailed(_failure(init, rules, answer))
    found = answer["arrays"]
    arrays = _arrays(found)
    others = tuple("/".join(one["path"]) for one in found if one["shape"] is None)
    if not arrays:
        content = f"a {found[0]['dtype']}, which is no pytree of arrays" if found else "an empty pytree"
        raise InitFailed(f"{init} makes {content}; it must return parameters, as `model.init(...)` does")
    table = answer.get("rules")
    chosen = answer.get("chosen")
    return Initialized(
        str(answer["jax"]),
        arrays,
        None if table is None else tuple(PathRule(_pattern(p), read_spec(spec)) for p, spec in table),
        None
        if chosen is None
        else tuple(
            read_spec(spec) for spec, one in zip(chosen, found, strict=True) if one["shape"] is not None
        ),
        others,
        _arrays(answer.get("state", ())),
    )


def _arrays(found: Sequence[dict[str, Any]]) -> tuple[InitArray, ...]:
    return tuple(
        InitArray(
            tuple(one["path"]),
            tuple(one["shape"]),
            one["dtype"],
            None if one["spec"] is None else read_spec(one["spec"]),
            one["box"],
        )
        for one in found
        if one["shape"] is not None
    )


def _failure(init: str, rules: str | None, answer: dict[str, Any]) -> str:
    stages = {
        "import": f"importing {init if rules is None else f'{init} and {rules}'}",
        "rules": f"reading the rules of {rules}",
        "Mesh()": "making the mesh",
        "the optimizer": "asking the optimizer",
        "the step": f"compiling {init}",
    }
    what = stages.get(str(answer["stage"]), f"running {init}")
    where = f" ({answer['where']})" if answer.get("where") else ""
    return f"{what} raised {answer['exception']}: {answer['message']}{where}"


def _pattern(data: Any) -> str | tuple[str, ...]:
    return tuple(map(str, data)) if isinstance(data, list) else str(data)


def read_spec(data: dict[str, Any]) -> Spec | str:
    """Return a spec from its JSON; anything else stays as Python writes it."""
    if "junk" in data:
        return str(data["junk"])
    return Spec(tuple(_entry(entry) for entry in data["entries"]))


def _entry(data: Any) -> Entry:
    if isinstance(data, list):
        return tuple(_entry(part) for part in data)
    if isinstance(data, dict):
        return Marker.UNCONSTRAINED if "marker" in data else Junk(data["junk"], "object")
    return None if data is None else str(data)

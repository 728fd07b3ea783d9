"""Uses as inference would record them, on a mesh of data=2 and model=4."""

from __future__ import annotations

from typing import Any

from shardlint.laws.placements import judge_placement
from shardlint.laws.values import AxisType, Mesh, Spec
from shardlint.laws.verdicts import Api
from shardlint.spans import Span
from shardlint.uses import Environment, ParameterUse, Placement

MESH = Mesh(("data", "model"), (2, 4), (AxisType.AUTO, AxisType.AUTO))


def at(line: int, column: int = 1) -> Span:
    """A place of one column."""
    return Span("train.py", line, column, line, column + 1)


def placement(
    *entries: Any, shape: Any = (16, 10), api: Api = Api.DEVICE_PUT, line: int = 1, **other: Any
) -> Placement:
    """A spec of these entries, one place each, on an array, judged by the law of the API."""
    fields: dict[str, Any] = {
        "place": at(line),
        "environment": Environment(),
        "verdict": judge_placement(api, MESH, Spec(entries), shape),
        "api": api,
        "mesh": MESH,
        "spec": Spec(entries),
        "shape": shape,
        "subject": "kernel",
        "entry_places": tuple(at(line, 10 + i) for i in range(len(entries))),
    }
    return Placement(**{**fields, **other})


def parameter(name: str, shape: Any, *names: Any, line: int = 1, **other: Any) -> ParameterUse:
    """A parameter of one `nn.Dense`; without names it is bare."""
    fields: dict[str, Any] = {
        "place": at(line),
        "environment": Environment(),
        "library": "flax.linen",
        "owner": "nn.Dense",
        "owner_place": at(line),
        "name": name,
        "shape": shape,
        "names": Spec(names) if names else None,
        "names_place": at(line, 20) if names else None,
        "entry_places": tuple(at(line, 21 + i) for i in range(len(names))),
    }
    return ParameterUse(**{**fields, **other})

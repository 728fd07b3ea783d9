"""Uses as inference would record them, on a mesh of data=2 and model=4."""

from __future__ import annotations

from typing import Any

from shardlint.laws.core.dims import symbol
from shardlint.laws.core.values import AxisType, Junk, Mesh, Spec
from shardlint.laws.core.verdicts import Api, Rejected
from shardlint.laws.meshes.construction import judge_mesh
from shardlint.laws.placement.judge import judge_placement
from shardlint.laws.placement.named_sharding import judge_sharding
from shardlint.laws.placement.partition_spec import judge_spec
from shardlint.laws.placement.spec_arity import judge_arity
from shardlint.laws.transforms.collectives import judge_axes, judge_forbidden, local_result
from shardlint.model.spans import Span
from shardlint.model.uses import (
    ApiReference,
    ArityUse,
    CallUse,
    CollectiveUse,
    Environment,
    MeshUse,
    ParameterUse,
    Placement,
    ShardingUse,
    SpecUse,
)

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


BATCH = symbol("batch", 1)


def spec(*entries: Any, **other: Any) -> SpecUse:
    places = tuple(at(1, 10 + i) for i in range(len(entries)))
    written = Spec(entries, **other)
    return SpecUse(
        place=at(1), environment=Environment(), verdict=judge_spec(written), spec=written, entry_places=places
    )


def sharding(*entries: Any, **other: Any) -> ShardingUse:
    places = tuple(at(1, 10 + i) for i in range(len(entries)))
    written = Spec(entries, **other)
    return ShardingUse(
        place=at(1),
        environment=Environment(),
        verdict=judge_sharding(MESH, written),
        mesh=MESH,
        spec=written,
        entry_places=places,
    )


def not_spec(written: str, kind: str = "tuple") -> ShardingUse:
    junk = Junk(written, kind)
    verdict = judge_sharding(MESH, junk)
    return ShardingUse(place=at(1), environment=Environment(), verdict=verdict, mesh=MESH, spec=junk)


def arity(api: Api, given: int, due: int) -> ArityUse:
    return ArityUse(
        place=at(1),
        environment=Environment(),
        verdict=judge_arity(api, given, due),
        api=api,
        function="step",
        given=given,
        due=due,
    )


def collective(
    function: str, *axes: str, bound: tuple[tuple[str, int], ...] = (), forbidden: tuple[str, ...] = ()
) -> CollectiveUse:
    verdict = judge_axes(function, axes, bound)
    return CollectiveUse(
        place=at(1),
        environment=Environment(bound_axes=bound),
        verdict=judge_forbidden(function, axes, forbidden) if forbidden else verdict,
        function=function,
        axes=axes,
        axis_places=tuple(at(1, 10 + i) for i in range(len(axes))),
    )


def scatter(size: int, tiled: bool) -> CollectiveUse:
    verdict = local_result("psum_scatter", (size, 16), 4, tiled=tiled)
    assert isinstance(verdict, Rejected)
    return CollectiveUse(
        place=at(1), environment=Environment(), verdict=verdict, function="psum_scatter", axes=("model",)
    )


def mesh(
    function: str, shape: tuple[int, ...], *names: str, devices: int | None = 8, types: int | None = None
) -> MeshUse:
    return MeshUse(
        place=at(1),
        environment=Environment(),
        verdict=judge_mesh(
            function, shape, names or None, devices, types=None if types is None else (AxisType.AUTO,) * types
        ),
        function=function,
        shape=shape,
        names=names or None,
        devices=devices,
        names_place=at(1, 20),
        shape_place=at(1, 10),
    )


def reference(name: str, verdict: Any) -> ApiReference:
    return ApiReference(place=at(1), environment=Environment(), verdict=verdict, name=name)


def rejected_call(function: str, verdict: Any) -> CallUse:
    return CallUse(place=at(1), environment=Environment(), verdict=verdict, function=function)


def bare(*entries: Any, api: Api = Api.DEVICE_PUT, under: Mesh | None = None) -> Placement:
    verdict = judge_placement(api, under, Spec(entries), (16, 10), raw=True)
    return placement(*entries, api=api, raw=True, mesh=under, verdict=verdict)

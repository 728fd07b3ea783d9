"""Recipes for calls in their context: under a mesh, under jit, in the body of shard_map."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from witness_steps import Request, Unsupported, at, keep, member, shard_map, staged, within
from witness_values import array_of, build, function_of


def call(request: Request) -> Any:
    """Make a call: eagerly, under jit, or in a body that is Manual over some axes of the mesh."""
    made, mesh, manual = request["call"], request["context"], request["manual"]
    if not isinstance(made, list):
        raise Unsupported("this is no call")
    on = None if mesh is None else build(mesh)
    at("program")
    if manual:
        return _in_body(made, on, tuple(manual))
    with within(on):
        if request["in_jit"]:
            return staged(jax.jit(lambda x: keep(build(made), x)), 0)
        return build(made)


def _in_body(made: Any, mesh: Any, manual: tuple[str, ...]) -> Any:
    split = PartitionSpec(manual)

    def body(x: Any) -> Any:
        return keep(build(made), x)

    if len(manual) == len(mesh.axis_names):
        mapped = shard_map(body, mesh, (split,), split, True)
    else:
        # The predecessor of `jax.shard_map` names the other axes.
        mapper = member(jax, "shard_map")
        mapped = mapper(body, mesh=mesh, in_specs=(split,), out_specs=split, axis_names=set(manual))
    return staged(jax.jit(mapped), np.ones(mesh.devices.size, np.float32))


def traced(request: Request) -> None:
    """Trace a function of arrays of these types, under a mesh."""
    mesh = None if request["mesh"] is None else build(request["mesh"])
    operands = [build(operand) for operand in request["operands"]]
    at("program")
    with within(mesh):
        staged(jax.jit(function_of(request["body"])), *operands, abstract=True)


def mapped(request: Request) -> Any:
    """Run a function in a body of shard_map, whose operands are split over the axes that they vary over.

    A leading dimension carries the split, so that scalars vary too; it is dropped inside. Without a mesh the
    function is under jit alone. The result is split over ``out``; without it there is none, and the function
    is only traced.
    """
    mesh = None if request["mesh"] is None else build(request["mesh"])
    splits = [tuple(axes) for axes, _, _ in request["operands"]]
    arrays = [
        array_of([_parts(mesh, axes), *shape], dtype)
        for axes, (_, shape, dtype) in zip(splits, request["operands"])  # noqa: B905
    ]
    out = request["out"]

    def body(*shards: Any) -> Any:
        result = build(request["body"], [shard[0] for shard in shards])
        return 0 if out is None else keep(result, shards[0])

    at("program")
    if mesh is None:
        return staged(jax.jit(body), *arrays)
    specs = tuple(PartitionSpec(axes) if axes else PartitionSpec() for axes in splits)
    whole = PartitionSpec() if out is None else PartitionSpec(tuple(out))
    function = shard_map(body, mesh, specs, whole, bool(request["check"]))
    return staged(jax.jit(function), *arrays, abstract=out is None)


def _parts(mesh: Any, axes: Sequence[str]) -> int:
    return math.prod(mesh.shape[axis] for axis in axes) if axes else 1


def arity(request: Request) -> Any:
    """Pass specs or shardings to a function, in the requested numbers."""
    given, due, mesh = request["given"], request["due"], build(request["mesh"])
    if not all(type(count) is int and 0 <= count <= MOST_ARGUMENTS for count in (given, due)):
        raise Unsupported("so many arguments")
    ins, in_map = bool(request["arguments"]), bool(request["shard_map"])
    one = PartitionSpec() if in_map else NamedSharding(mesh, PartitionSpec())
    # A single result takes a spec that is not in a tuple.
    several = one if not ins and given == due == 1 else (one,) * given

    def function(*arrays: Any) -> Any:
        return arrays[0] if ins or due == 1 else (arrays[0],) * due

    arrays = [np.ones(1, np.float32)] * (due if ins else 1)
    if in_map:
        specs = (several, PartitionSpec()) if ins else ((PartitionSpec(),), several)
        return staged(jax.jit(shard_map(function, mesh, specs[0], specs[1], False)), *arrays)
    jitted: Callable[..., Any] = jax.jit(function, **{"in_shardings" if ins else "out_shardings": several})
    return staged(jitted, *arrays)


MOST_ARGUMENTS = 1000

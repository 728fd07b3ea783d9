"""Witnesses of whole calls, of operations on types, and of carries: the call as data, and its context."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from shardlint.confirm.witnesses.requests import (
    NO_SHAPE,
    NO_SIZES,
    NotRunnable,
    Request,
    Witness,
    expected_of,
    known,
)
from shardlint.confirm.witnesses.sizes import MAX_DEVICES, integers, parts_of, small_mesh
from shardlint.laws.core.array_types import ArrayType
from shardlint.laws.core.dims import Dim
from shardlint.laws.core.values import AxisType, Data, Mesh, Unknown
from shardlint.laws.core.witness_data import (
    Known,
    array_data,
    call_data,
    mesh_data,
    sharding_data,
    spec_data,
    type_data,
    without,
)
from shardlint.model.uses import CallUse, CarryUse, Environment, OperationUse

#: The assumed length of `jax.devices()` in programs that name no mesh.
_USUAL = 8


def request_of(call: Data, devices: int = 1) -> Request:
    """Return the worker's request for a call without a context."""
    return {"kind": "call", "call": call, "context": None, "in_jit": False, "manual": [], "devices": devices}


def whole_call(use: CallUse) -> Witness:
    """Return a call with its arguments' values, and the repaired one."""
    return Witness(
        _surrounded(known(use.call), use.environment),
        _surrounded(known(use.repaired), use.environment),
        expected_of(use.verdict),
    )


def _surrounded(call: Data, environment: Environment) -> Request:
    """Return the call in its context: that of a mesh, under jit, inside shard_map.

    A claim in an unknown context holds without a context, too.
    """
    bound, mesh = environment.bound_axes, environment.context_mesh
    if isinstance(mesh, Unknown):
        mesh = None
    if bound and not isinstance(bound, Unknown):
        return _in_body(call, dict(bound), mesh)
    request = {**request_of(call, _USUAL), "in_jit": bool(environment.in_jit)}
    if mesh is None:
        return request
    return {**request, "context": known(mesh_data(mesh)), "devices": max(_USUAL, _devices(mesh))}


def _in_body(call: Data, bound: dict[str, Dim], mesh: Mesh | None) -> Request:
    """Return the call in a body that is Manual over the bound axes of its mesh."""
    manual = () if mesh is None else tuple(n for n in mesh.names if mesh.type_of(n) is AxisType.MANUAL)
    if mesh is None or set(manual) != set(bound):
        raise NotRunnable("the mesh of the body is not known")
    mesh = replace(mesh.with_types(dict.fromkeys(manual, AxisType.AUTO)), abstract=False)
    return {**request_of(call, _devices(mesh)), "context": known(mesh_data(mesh)), "manual": list(manual)}


def _devices(mesh: Mesh) -> int:
    """Return the number of devices of a mesh. Raises NotRunnable where that is too large or not known."""
    count = mesh.device_count
    if mesh.abstract:
        return 1
    if not isinstance(count, int) or count > MAX_DEVICES:
        raise NotRunnable(f"its mesh is not known, or has more than {MAX_DEVICES} devices")
    return count


def operation(use: OperationUse) -> Witness:
    """Return operands of the program's types; the twin's are replicated, and it requests no sharding.

    Types are checked while tracing, so nothing needs devices.
    """
    call, types = known(use.call), _concrete(use.operands)
    if use.concrete:
        return _of_concrete(use, call, types)
    mesh = _mesh_of(use.operands, use.environment.context_mesh)
    plain = [replace(kind, sharding=None) for kind in types]
    twin = _traced(mesh, known(without(call, "out_sharding")), plain)
    return Witness(_set(use, _traced(mesh, call, types)), twin, expected_of(use.verdict))


def _of_concrete(use: OperationUse, call: Data, types: Sequence[ArrayType]) -> Witness:
    """Return the operation on arrays that are put on devices; the twin's lie on one."""
    placed = [known(_array(kind)) for kind in types]
    plain = [known(array_data(kind.shape or (), kind.dtype or "float32", numpy=False)) for kind in types]
    requests = [_surrounded(_given(call, arrays), use.environment) for arrays in (placed, plain)]
    return Witness(requests[0], requests[1], expected_of(use.verdict))


def _array(kind: ArrayType) -> Known:
    """Return an array of a type: one that is put on the devices of its mesh."""
    array, typed = array_data(kind.shape or (), kind.dtype or "float32", numpy=False), kind.sharding
    if typed is None or typed.mesh is None:
        return array
    sharding = sharding_data(mesh_data(replace(typed.mesh, abstract=False)), spec_data(typed.spec))
    return call_data("jax.device_put", (array, sharding))


def _given(data: Data, operands: Sequence[Data]) -> Data:
    """Return data with values in the places of operands."""
    if not isinstance(data, tuple):
        return data
    if len(data) == 2 and data[0] == "operand" and isinstance(data[1], int):
        return operands[data[1]]
    return tuple(_given(part, operands) for part in data)


def _set(use: OperationUse | CarryUse, request: Request) -> Request:
    """Return the request without a mesh in its context where none is set: the types still have meshes."""
    alone = use.environment.context_mesh is None and request["kind"] == "traced"
    return {**request, "mesh": None} if alone else request


#: The worker's recipes for a loop that carries something, or for two branches.
_LOOPS = ("scan", "fori_loop", "while_loop", "cond", "switch")


def carry(use: CarryUse) -> Witness:
    """Return a loop whose body changes the carry's type, or branches that differ; the twin's do not."""
    types = (use.before, use.after)
    mesh = _mesh_of(types, use.environment.context_mesh)
    loop = use.function.rsplit(".", 1)[-1]
    if loop not in _LOOPS:
        raise NotRunnable(f"no small program with {loop} is known")
    bodies = (known(call_data(loop, (("operand", 0), ("operand", after)))) for after in (1, 0))
    wrong, right = (_traced(mesh, body, _concrete(types)) for body in bodies)
    return Witness(_set(use, wrong), _set(use, right), expected_of(use.verdict))


def _mesh_of(types: Sequence[ArrayType], context: Mesh | Unknown | None) -> Mesh:
    """Return the mesh of the operands' types, or else of the context."""
    meshes = [kind.sharding.mesh for kind in types if kind.sharding is not None]
    for mesh in (context, *meshes):
        if isinstance(mesh, Mesh):
            return mesh
    raise NotRunnable("the mesh is not known")


def _concrete(types: Sequence[ArrayType]) -> list[ArrayType]:
    """Return the types with integers for open sizes, which their shardings divide."""
    shapes = [kind.shape for kind in types if kind.shape is not None]
    if len(shapes) < len(types):
        raise NotRunnable(NO_SHAPE)
    parts = [part for kind in types for part in _parts(kind)]

    def suits(sizes: tuple[int, ...]) -> bool:
        return all(size > 0 and size % part == 0 for size, part in zip(sizes, parts, strict=True))

    sizes = integers([size for shape in shapes for size in shape], suits)
    if sizes is None:
        raise NotRunnable(NO_SIZES)
    rest = iter(sizes)
    return [
        replace(kind, shape=tuple(itertools.islice(rest, len(shape))))
        for kind, shape in zip(types, shapes, strict=True)
    ]


def _parts(kind: ArrayType) -> tuple[int, ...]:
    """Return the number of parts into which each dimension of an array is split."""
    sharding, rank = kind.sharding, len(kind.shape or ())
    if sharding is None:
        return (1,) * rank
    return parts_of(sharding.spec, sharding.mesh, rank)


def _traced(mesh: Mesh, body: Data, types: Sequence[ArrayType]) -> Request:
    """Return a function of arrays of the given types, traced under the mesh, inside shard_map where it is
    Manual.
    """
    if AxisType.MANUAL in mesh.types:
        if any(kind.sharding is not None and kind.sharding.mesh not in (None, mesh) for kind in types):
            raise NotRunnable("it needs two meshes")
        return _in_shard_map(mesh, body, types)
    abstract = known(mesh_data(replace(mesh, abstract=True)))
    return {
        "kind": "traced",
        "mesh": abstract,
        "body": body,
        "operands": [known(type_data(k)) for k in types],
    }


def _in_shard_map(mesh: Mesh, body: Data, types: Sequence[ArrayType]) -> Request:
    """Return the function in a body that is Manual over all axes; varying arrays are split over their
    axes.
    """
    if set(mesh.types) != {AxisType.MANUAL}:
        raise NotRunnable("not all axes of the mesh are Manual there")
    mesh = small_mesh(replace(mesh, types=(AxisType.AUTO,) * len(mesh.names), abstract=False))
    return {
        "kind": "mapped",
        "mesh": known(mesh_data(mesh)),
        "operands": [[sorted(_varying(k)), list(k.shape or ()), k.dtype or "float32"] for k in types],
        "out": None,
        "check": True,
        "body": body,
        "devices": _devices(mesh),
    }


def _varying(kind: ArrayType) -> frozenset[str]:
    """Return the axes an array varies over. Raises NotRunnable where they are not known."""
    if kind.varying is None:
        raise NotRunnable("the axes over which an array varies are not all known")
    return kind.varying

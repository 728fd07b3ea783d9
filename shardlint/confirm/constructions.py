"""Witnesses of calls that no spec meets an array in: arity, collectives, meshes, names of other versions."""

from __future__ import annotations

import json
import math
from typing import Any

from shardlint.confirm import repair
from shardlint.confirm.requests import (
    NotRunnable,
    Witness,
    cause_of,
    expected_of,
    known_int,
    mesh_json,
)
from shardlint.confirm.sizes import MAX_DEVICES, MAX_ELEMENTS, Sizes, integers
from shardlint.laws.dims import Dim
from shardlint.laws.values import AxisType, Mesh, Spec, Unknown
from shardlint.laws.verdicts import Cause, Rejected
from shardlint.uses import ApiReference, ArityUse, CollectiveUse, MeshUse

#: What collectives need besides axes, where the program's own arguments are not known.
_COLLECTIVE_ARGUMENTS: dict[str, dict[str, Any]] = {
    "all_to_all": {"split_axis": 0, "concat_axis": 0},
    "ppermute": {"perm": [[0, 0]]},
    "pcast": {"to": "varying"},
}
_MESH_FUNCTIONS = ("Mesh", "make_mesh", "AbstractMesh", "create_device_mesh")


def arity(use: ArityUse) -> Witness:
    """So many specs for a function; the twin gives as many as are due."""
    request = {
        "kind": "arity",
        "api": use.api.value,
        "mesh": mesh_json(repair.mesh_for(Spec())),
        "given": use.given,
        "due": use.due,
    }
    return Witness(request, {**request, "given": use.due}, expected_of(use.verdict))


def collective(use: CollectiveUse) -> Witness:
    """The collective under the axes that are bound; the twin uses one of them, or binds what it needs."""
    bound = use.environment.bound_axes
    if isinstance(bound, Unknown):
        raise NotRunnable
    names = tuple(axis for axis, _ in bound)
    mesh, shape = _collective_sizes(use, names, tuple(size for _, size in bound))
    twin_mesh = mesh or repair.mesh_for(Spec(use.axes))
    twin_axes = tuple(a for a in use.axes if a in twin_mesh.names) or twin_mesh.names[:1]
    fitting = math.prod(known_int(twin_mesh.size_of(axis)) for axis in twin_axes)
    name = use.function.rsplit(".", 1)[-1]
    given = {key: _plain(value) for key, value in use.arguments}
    request = {
        "kind": "collective",
        "function": name,
        "mesh": mesh_json(mesh),
        "axes": list(use.axes),
        "shape": list(shape or (fitting, fitting)),
        "arguments": {**_COLLECTIVE_ARGUMENTS.get(name, {}), **given},
        # Where the replication check is on, as it is unless turned off, reductions raise other classes.
        "check": expected_of(use.verdict) != "NameError",
    }
    twin = {
        **request,
        "mesh": mesh_json(twin_mesh),
        "axes": list(twin_axes),
        "shape": [fitting] * max(len(shape), 2),
    }
    return Witness(request, twin, expected_of(use.verdict))


def _collective_sizes(
    use: CollectiveUse, names: tuple[str, ...], bound: tuple[Dim, ...]
) -> tuple[Mesh | None, Sizes]:
    """Integers for the bound axes and the array; no array's where the mistake is the axis."""
    verdict, count = use.verdict, len(bound)
    if isinstance(verdict, Rejected) and verdict.cause is Cause.UNBOUND_AXIS:
        dims: tuple[Dim, ...] = ()
    elif isinstance(use.shape, Unknown) or not use.shape:
        raise NotRunnable
    else:
        dims = use.shape

    def suits(sizes: Sizes) -> bool:
        if min(sizes, default=1) < 1 or math.prod(sizes[:count]) > MAX_DEVICES:
            return False
        if not dims or not isinstance(verdict, Rejected) or verdict.dimension is None:
            return True
        axes = dict(zip(names, sizes[:count], strict=True))
        size, parts = sizes[count + verdict.dimension], math.prod(axes[axis] for axis in use.axes)
        return size % parts != 0 if verdict.cause is Cause.INDIVISIBLE else size != parts

    sizes = integers((*bound, *dims), suits)
    if sizes is None or math.prod(sizes) > MAX_ELEMENTS * MAX_DEVICES:
        raise NotRunnable
    mesh = Mesh(names, sizes[:count], (AxisType.AUTO,) * count) if names else None
    return mesh, sizes[count:]


def _plain(value: object) -> Any:
    try:
        return json.loads(json.dumps(value))
    except TypeError:
        raise NotRunnable from None


def mesh_construction(use: MeshUse) -> Witness:
    """A mesh, or an arrangement of devices, over so many devices."""
    if isinstance(use.shape, Unknown) or isinstance(use.names, Unknown):
        raise NotRunnable
    name, cause = use.function.rsplit(".", 1)[-1], cause_of(use.verdict)
    function = name if name in _MESH_FUNCTIONS else "reshape"
    known = use.devices is not None and function != "Mesh"
    dims = (*use.shape, *((use.devices,) if known and use.devices is not None else ()))
    rank = len(use.shape)

    def suits(sizes: Sizes) -> bool:
        wanted, count = math.prod(sizes[:rank]), sizes[-1] if known else math.prod(sizes)
        # `make_mesh` takes as many devices as it wants of those there are.
        wrong = wanted > count if function == "make_mesh" else wanted != count
        return 1 <= count <= MAX_DEVICES and (cause is not Cause.DEVICE_COUNT or wrong)

    sizes = integers(dims, suits)
    if sizes is None:
        raise NotRunnable
    shape, names = sizes[:rank], use.names or ()
    count = sizes[-1] if known else math.prod(shape)
    twin_shape = shape if math.prod(shape) == count else (count, *(1 for _ in shape[1:]))
    request = {
        "kind": "mesh",
        "function": function,
        "shape": list(shape),
        "names": list(names),
        "devices": count,
    }
    twin_names = repair.repaired_names(names, rank) if names else ()
    twin = {**request, "shape": list(twin_shape), "names": list(twin_names)}
    if isinstance(use.verdict, Rejected) and use.verdict.detail == "axis_types":
        request["types"] = known_int(use.verdict.ways)
    return Witness(request, twin, expected_of(use.verdict))


def reference(use: ApiReference) -> Witness:
    """A name that JAX has no more, or still has; the twin is the package it was looked up in."""
    request = {
        "kind": "reference",
        "name": use.name,
        "from_import": expected_of(use.verdict) == "ImportError",
    }
    package = use.name.partition(".")[0]
    return Witness(request, {**request, "name": package, "from_import": False}, expected_of(use.verdict))

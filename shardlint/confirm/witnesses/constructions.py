"""Witnesses of calls without a placement: arity, meshes, names of other versions."""

from __future__ import annotations

import math

from shardlint.confirm.witnesses import repair
from shardlint.confirm.witnesses.programs import request_of
from shardlint.confirm.witnesses.requests import (
    NO_SIZES,
    NotRunnable,
    Request,
    Witness,
    cause_of,
    expected_of,
    known,
    known_int,
)
from shardlint.confirm.witnesses.sizes import MAX_DEVICES, Sizes, integers
from shardlint.laws.core.values import Data, Spec, Unknown
from shardlint.laws.core.verdicts import Api, Cause, Rejected
from shardlint.laws.core.witness_data import (
    Known,
    call_data,
    constant_data,
    devices_data,
    mesh_data,
    tuple_data,
)
from shardlint.model.uses import ApiReference, ArityUse, MeshUse

_MESH_FUNCTIONS = ("Mesh", "make_mesh", "AbstractMesh", "create_device_mesh")


def arity(use: ArityUse) -> Witness:
    """Return this number of specs for a function; the twin has the expected number."""
    return Witness(_arity(use, use.given), _arity(use, use.due), expected_of(use.verdict))


def _arity(use: ArityUse, given: int) -> Request:
    """Return ``given`` specs or shardings for a function with ``due`` arguments or results."""
    return {
        "kind": "arity",
        "mesh": known(mesh_data(repair.mesh_for(Spec()))),
        "arguments": use.api in (Api.SHARD_MAP_IN, Api.JIT_IN),
        "shard_map": use.api in (Api.SHARD_MAP_IN, Api.SHARD_MAP_OUT),
        "given": given,
        "due": use.due,
        "devices": 2,
    }


def mesh_construction(use: MeshUse) -> Witness:
    """Return a mesh, or an arrangement of devices, over this many devices."""
    if isinstance(use.shape, Unknown) or isinstance(use.names, Unknown):
        raise NotRunnable("the shape and the names of the mesh are not all known")
    name, cause = use.function.rsplit(".", 1)[-1], cause_of(use.verdict)
    function = name if name in _MESH_FUNCTIONS else "reshape"
    known = use.devices is not None and function != "Mesh"
    dims = (*use.shape, *((use.devices,) if known and use.devices is not None else ()))
    rank = len(use.shape)

    def suits(sizes: Sizes) -> bool:
        wanted, count = math.prod(sizes[:rank]), sizes[-1] if known else math.prod(sizes)
        # `make_mesh` takes as many of the available devices as it needs.
        wrong = wanted > count if function == "make_mesh" else wanted != count
        return 1 <= count <= MAX_DEVICES and (cause is not Cause.DEVICE_COUNT or wrong)

    sizes = integers(dims, suits)
    if sizes is None:
        raise NotRunnable(NO_SIZES)
    shape, names = sizes[:rank], use.names or ()
    count = sizes[-1] if known else math.prod(shape)
    twin_shape = shape if math.prod(shape) == count else (count, *(1 for _ in shape[1:]))
    options: dict[str, Known] = {}
    if isinstance(use.verdict, Rejected) and use.verdict.detail == "axis_types":
        auto = ("constant", "jax.sharding.AxisType.Auto")
        options["axis_types"] = tuple_data([auto] * known_int(use.verdict.ways))
    twin_names = repair.repaired_names(names, rank) if names else ()
    return Witness(
        request_of(_construction(function, shape, names, count, options), count),
        request_of(_construction(function, twin_shape, twin_names, count, {}), count),
        expected_of(use.verdict),
    )


def _construction(
    function: str, shape: Sizes, names: tuple[str, ...], count: int, options: dict[str, Known]
) -> Data:
    """Build a mesh, or arrange devices, from the first ``count`` fake ones."""
    devices, sizes, named = devices_data(range(count)), constant_data(shape), constant_data(names)
    match function:
        case "Mesh":
            grid = devices_data(range(count), shape)
            return known(call_data("jax.sharding.Mesh", (grid, named), options))
        case "make_mesh":
            return known(call_data("jax.make_mesh", (sizes, named), {"devices": devices, **options}))
        case "AbstractMesh":
            # Names and sizes are first compared when the shape is read.
            data = call_data("jax.sharding.AbstractMesh", (sizes, named), options)
            return known(call_data("AbstractMesh.shape", (data,)))
        case "create_device_mesh":
            name = "jax.experimental.mesh_utils.create_device_mesh"
            return known(call_data(name, (sizes,), {"devices": devices}))
    return known(devices_data(range(count), shape))


def reference(use: ApiReference) -> Witness:
    """Return a lookup of a name that JAX has removed, or still has; the twin looks up its package.

    An argument ``f(x=)`` is looked up in the signature; the twin passes none.
    """
    from_import = expected_of(use.verdict) == "ImportError"
    request = {"kind": "reference", "name": use.name, "from_import": from_import, "there": False}
    return Witness(request, {**request, "there": True}, expected_of(use.verdict))

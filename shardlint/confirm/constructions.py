"""Witnesses of calls that no spec meets an array in: arity, collectives, meshes, names of other versions."""

from __future__ import annotations

import math

from shardlint.confirm import repair
from shardlint.confirm.programs import request_of
from shardlint.confirm.requests import (
    NotRunnable,
    Request,
    Witness,
    cause_of,
    expected_of,
    known_int,
)
from shardlint.confirm.sizes import MAX_DEVICES, Sizes, integers
from shardlint.laws.source import mesh_source, tuple_source
from shardlint.laws.values import Spec, Unknown
from shardlint.laws.verdicts import Api, Cause, Rejected
from shardlint.uses import ApiReference, ArityUse, MeshUse

_MESH_FUNCTIONS = ("Mesh", "make_mesh", "AbstractMesh", "create_device_mesh")


def arity(use: ArityUse) -> Witness:
    """So many specs for a function; the twin gives as many as are due."""
    return Witness(_arity(use, use.given), _arity(use, use.due), expected_of(use.verdict))


def _arity(use: ArityUse, given: int) -> Request:
    """``given`` specs or shardings for a function with ``due`` arguments or results."""
    mesh, ins = mesh_source(repair.mesh_for(Spec())), use.api in (Api.SHARD_MAP_IN, Api.JIT_IN)
    mapped = use.api in (Api.SHARD_MAP_IN, Api.SHARD_MAP_OUT)
    one = "P()" if mapped else f"NamedSharding({mesh}, P())"
    # One result takes one that is not in a tuple.
    several = one if not ins and given == use.due == 1 else tuple_source([one] * given)
    results = "x[0]" if ins or use.due == 1 else f"(x[0],) * {use.due}"
    data = ", ".join(["np.ones(1, np.float32)"] * (use.due if ins else 1))
    function = f"lambda *x: {results}"
    if mapped:
        specs = f"{several}, P()" if ins else f"(P(),), {several}"
        return request_of(f"run(shard_map({function}, {mesh}, {specs}, False), {data})", 2)
    keyword = "in_shardings" if ins else "out_shardings"
    return request_of(f"run({function}, {data}, {keyword}={several})", 2)


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
    types = ""
    if isinstance(use.verdict, Rejected) and use.verdict.detail == "axis_types":
        types = f", axis_types={tuple_source(['AxisType.Auto'] * known_int(use.verdict.ways))}"
    twin_names = repair.repaired_names(names, rank) if names else ()
    return Witness(
        request_of(_construction(function, shape, names, count, types), count),
        request_of(_construction(function, twin_shape, twin_names, count, ""), count),
        expected_of(use.verdict),
    )


def _construction(function: str, shape: Sizes, names: tuple[str, ...], count: int, types: str) -> str:
    """Build a mesh, or arrange devices, from the first ``count`` fake ones."""
    devices = f"jax.devices()[:{count}]"
    match function:
        case "Mesh":
            return f"Mesh(np.array({devices}).reshape({shape}), {names}{types})"
        case "make_mesh":
            return f"jax.make_mesh({shape}, {names}, devices={devices}{types})"
        case "AbstractMesh":
            # Names and sizes are first compared when the shape is asked for.
            return f"AbstractMesh({shape}, {names}{types}).shape"
        case "create_device_mesh":
            return f"jax.experimental.mesh_utils.create_device_mesh({shape}, devices={devices})"
    return f"np.array({devices}).reshape({shape})"


def reference(use: ApiReference) -> Witness:
    """A name that JAX has no more, or still has; the twin is the package it was looked up in.

    An argument ``f(x=)`` is asked of the signature; the twin gives none.
    """
    if use.name.endswith("=)"):
        function, _, argument = use.name.removesuffix("=)").partition("(")
        bound = f"import inspect\ninspect.signature({function}).bind_partial({{}})"
        given, nothing = (request_of(bound.format(text)) for text in (f"{argument}=None", ""))
        return Witness(given, nothing, expected_of(use.verdict))
    request = {
        "kind": "reference",
        "name": use.name,
        "from_import": expected_of(use.verdict) == "ImportError",
    }
    package = use.name.partition(".")[0]
    return Witness(request, {**request, "name": package, "from_import": False}, expected_of(use.verdict))

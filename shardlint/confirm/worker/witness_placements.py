"""Witnesses of placements: a spec is applied to an array by an API."""

from __future__ import annotations

import contextlib
import importlib.metadata
import inspect
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.lax import with_sharding_constraint
from jax.sharding import NamedSharding, PartitionSpec

from witness_functions import flax
from witness_steps import Request, Unsupported, at, member, shard_map, staged, within
from witness_values import build, mesh_of


def build_mesh(request: Request) -> Any:
    """Build the request's mesh on fake devices, or without devices; None when it has none."""
    data = request["mesh"]
    if data is None:
        return None
    at("Mesh()")
    return mesh_of(data["names"], data["sizes"], data["types"], data["abstract"])


def is_abstract(request: Request) -> bool:
    """Return whether the witness's mesh has no devices, so that its programs can be traced but not run."""
    return bool(request["mesh"] and request["mesh"]["abstract"])


def build_spec(data: Any) -> Any:
    """Build the spec, or the object in its place."""
    if data is None:
        return None
    at("P()")
    if "junk" in data:
        return build(data["junk"])
    extra = {key: set(data[key]) for key in ("unreduced", "reduced") if data.get(key)}
    return PartitionSpec(*(build_entry(entry) for entry in data["entries"]), **extra)


def build_entry(entry: Any) -> Any:
    """Build one entry from its JSON."""
    if isinstance(entry, list):
        return tuple(build_entry(part) for part in entry)
    if isinstance(entry, dict):
        return PartitionSpec.UNCONSTRAINED if "marker" in entry else build(entry["junk"])
    return entry


def named_sharding(request: Request, mesh: Any) -> Any:
    """Return the sharding under test: ``NamedSharding(mesh, spec)``, or the bare spec if the program has
    one.
    """
    spec = build_spec(request["spec"])
    if request["raw"]:
        return spec
    at("NamedSharding()")
    return NamedSharding(mesh, spec)


def context(request: Request, mesh: Any) -> Any:
    """Return the mesh context of the call: `jax.set_mesh`, its predecessor before 0.7, or ``with mesh:``."""
    if mesh is None or request["context"] is None:
        return contextlib.nullcontext()
    return mesh if request["context"] == "with" and not is_abstract(request) else within(mesh)


def argument(request: Request, sharding: Any = None) -> Any:
    """Return the witness's array: its shape alone where nothing runs, else a NumPy array."""
    shape = tuple(request["shape"])
    if is_abstract(request) or sharding is not None:
        return jax.ShapeDtypeStruct(shape, np.float32, sharding=sharding)
    return np.ones(shape, np.float32)


def held(request: Request, mesh: Any) -> Any:
    """Return the witness's array, already sharded over the mesh if the request says so."""
    if request["held"] is None:
        return argument(request)
    sharding = NamedSharding(mesh, build_spec(request["held"]))
    at("held")
    if is_abstract(request):
        return argument(request, sharding)
    return jax.device_put(argument(request), sharding)


# One function for each API: it makes the call for a request and its mesh, and returns the result.
Call = Callable[[Request, Any], Any]


def eager(stage: str, call: Callable[[Any, Any], Any]) -> Call:
    """Return a call outside jit, on a sharding and an array."""

    def witness(request: Request, mesh: Any) -> Any:
        sharding, array = named_sharding(request, mesh), held(request, mesh)
        with context(request, mesh):
            at(stage)
            return call(sharding, array)

    return witness


def jitted(function: Callable[[Any], Any]) -> Call:
    """Return a call of a jitted function, which is created from a sharding."""

    def witness(request: Request, mesh: Any) -> Any:
        sharding, array = named_sharding(request, mesh), held(request, mesh)
        with context(request, mesh):
            at("jit()")
            return staged(function(sharding), array, abstract=is_abstract(request))

    return witness


def within_jit(place: Callable[[Any, Any], Any]) -> Call:
    """Return a placement inside jit, which returns the array, or computes with it if not ``returned``."""

    def witness(request: Request, mesh: Any) -> Any:
        def function(sharding: Any) -> Any:
            if request.get("returned", True):
                return jax.jit(lambda x: place(sharding, x))
            return jax.jit(lambda x: place(sharding, x) * 2)

        return jitted(function)(request, mesh)

    return witness


def shard_shape(sharding: Any, array: Any) -> Any:
    sharding.shard_shape(array.shape)
    return sharding


def jit_argument(request: Request, mesh: Any) -> Any:
    sharding = named_sharding(request, mesh)
    with context(request, mesh):
        at("ShapeDtypeStruct()")
        struct = argument(request, sharding)
        staged(jax.jit(lambda x: x * 2), struct, abstract=is_abstract(request))
        return getattr(struct, "sharding", None)


def shard_map_in(request: Request, mesh: Any) -> Any:
    spec, whole, array = build_spec(request["spec"]), PartitionSpec(), held(request, mesh)
    at("shard_map()")
    body = shard_map(lambda x: jax.lax.psum(x.sum(), mesh.axis_names), mesh, (spec,), whole, request["check"])
    return staged(jax.jit(body), array, abstract=is_abstract(request))


def shard_map_out(request: Request, mesh: Any) -> Any:
    spec, given = build_spec(request["spec"]), build_spec(request["held"] or {"entries": ()})
    at("shard_map()")
    body = shard_map(lambda x: x, mesh, (given,), spec, request["check"])
    return staged(jax.jit(body), argument(request), abstract=is_abstract(request))


# Flax.


def partition_names(request: Request) -> Any:
    """Return the names of an initializer: a tuple, or the program's object in its place."""
    spec = build_spec(request["spec"])
    return spec if spec is None or "junk" in request["spec"] else tuple(spec)


def linen_box(request: Request, mesh: Any) -> Any:
    """Return a parameter as its initializer does, bare or in a box that holds its mesh (not if ``raw``)."""
    linen, names = flax("linen"), partition_names(request)
    own = None if request["raw"] else mesh
    at("with_partitioning")
    if names is None:
        return jnp.ones(tuple(request["shape"]))
    return linen.with_partitioning(lambda: jnp.ones(tuple(request["shape"])), names, mesh=own)()


def linen_sharding(request: Request, mesh: Any) -> Any:
    box = linen_box(request, mesh)
    at("get_sharding")
    return flax("linen").get_sharding(box, mesh)


def linen_unbox(request: Request, mesh: Any) -> Any:
    linen, box = flax("linen"), linen_box(request, mesh)
    if not request["raw"]:
        at("get_sharding")
        linen.get_sharding(box, mesh)
    with context(request, mesh):
        at("unbox")
        return jax.jit(linen.unbox)(box)


def linen_unbox_eager(request: Request, mesh: Any) -> Any:
    box = linen_box(request, mesh)
    with context(request, mesh):
        at("unbox eager")
        return flax("linen").unbox(box)


def nnx_param(request: Request, mesh: Any) -> Any:
    nnx, names = flax("nnx"), partition_names(request)
    # Flax 0.12 renamed the metadata that holds the names.
    version = importlib.metadata.version("flax")
    key = "out_sharding" if tuple(map(int, version.split(".")[:2])) >= (0, 12) else "sharding"

    def param() -> Any:
        return nnx.Param(jnp.ones(tuple(request["shape"])), **({} if names is None else {key: names}))

    in_jit = request["api"] == "nnx.Param inside jit"
    with context(request, mesh):
        at("nnx.jit(Param())" if in_jit else "nnx.Param()")
        return (nnx.jit(param) if in_jit else param)()[...]


def made(name: str) -> Callable[[Any, Any], Any]:
    """Create an array with ``out_sharding=``, where this JAX has it: `jnp.zeros`, `jax.random.normal`."""

    def call(sharding: Any, array: Any) -> Any:
        create = {"zeros": jnp.zeros, "empty": jnp.empty, "normal": jax.random.normal}[name]
        first = (jax.random.key(0),) if name == "normal" else ()
        if "out_sharding" not in inspect.signature(create).parameters:
            raise Unsupported(f"{name} of JAX {jax.__version__} takes no out_sharding")
        return create(*first, array.shape, out_sharding=sharding)

    return call


def nnx_sharding(request: Request, mesh: Any) -> Any:
    nnx, names = flax("nnx"), partition_names(request)
    with member(nnx, "use_eager_sharding")(False):
        at("nnx.Param()")
        param = nnx.Param(jnp.ones(tuple(request["shape"])), out_sharding=names)
        at("get_partition_spec")
        nnx.get_partition_spec(param)
        at("get_named_sharding")
        return nnx.get_named_sharding(param, mesh)


PLACEMENTS: dict[str, Call] = {
    "PartitionSpec": lambda request, mesh: build_spec(request["spec"]),
    "NamedSharding": named_sharding,
    "NamedSharding.shard_shape": eager("shard_shape", shard_shape),
    "ShapeDtypeStruct(sharding=)": eager(
        "ShapeDtypeStruct()", lambda s, x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=s).sharding
    ),
    "device_put": eager("device_put", lambda s, x: jax.device_put(x, s)),
    "device_put inside jit": within_jit(lambda s, x: jax.device_put(x, s)),
    "jit(in_shardings=)": jitted(lambda s: jax.jit(lambda x: x * 2, in_shardings=s)),
    "jit(out_shardings=)": jitted(lambda s: jax.jit(lambda x: x * 2, out_shardings=s)),
    "jit on a ShapeDtypeStruct": jit_argument,
    "with_sharding_constraint": within_jit(lambda s, x: with_sharding_constraint(x, s)),
    "with_sharding_constraint outside jit": eager(
        "wsc eager", lambda s, x: with_sharding_constraint(jnp.asarray(x), s)
    ),
    "reshard": eager("reshard", lambda s, x: member(jax.sharding, "reshard")(x, s)),
    "reshard inside jit": within_jit(lambda s, x: member(jax.sharding, "reshard")(x, s)),
    "shard_map(in_specs=)": shard_map_in,
    "shard_map(out_specs=)": shard_map_out,
    "jnp.zeros(device=)": eager("jnp.zeros(device=)", lambda s, x: jnp.zeros(x.shape, device=s)),
    "jnp.zeros(device=) inside jit": within_jit(lambda s, x: jnp.zeros(x.shape, device=s)),
    "jnp.arange(device=)": eager("jnp.arange(device=)", lambda s, x: jnp.arange(*x.shape, device=s)),
    "jnp.arange(device=) inside jit": within_jit(lambda s, x: jnp.arange(*x.shape, device=s)),
    "jnp.array(device=)": eager("jnp.array(device=)", lambda s, x: jnp.array(x, device=s)),
    "jnp.array(device=) inside jit": within_jit(lambda s, x: jnp.array(x, device=s)),
    "jnp.linspace(device=)": eager(
        "jnp.linspace(device=)", lambda s, x: jnp.linspace(x[0], x[0] + 1, len(x), device=s)
    ),
    "jnp.zeros(out_sharding=)": eager("jnp.zeros(out_sharding=)", made("zeros")),
    "jnp.zeros(out_sharding=) inside jit": within_jit(lambda s, x: made("zeros")(s, x)),
    "jnp.empty(out_sharding=)": eager("jnp.zeros(out_sharding=)", made("empty")),
    "jnp.empty(out_sharding=) inside jit": within_jit(lambda s, x: made("empty")(s, x)),
    "jax.random.normal(out_sharding=)": eager("random.normal(out_sharding=)", made("normal")),
    "jax.random.normal(out_sharding=) inside jit": within_jit(lambda s, x: made("normal")(s, x)),
    "make_array_from_callback": eager(
        "make_array_from_callback",
        lambda s, x: jax.make_array_from_callback(x.shape, s, lambda index: x[index]),
    ),
    "linen get_sharding": linen_sharding,
    "linen unbox": linen_unbox,
    "linen unbox outside jit": linen_unbox_eager,
    "nnx.Param": nnx_param,
    "nnx.Param inside jit": nnx_param,
    "nnx.get_named_sharding": nnx_sharding,
}


def placement(request: Request) -> Any:
    """Run a placement through its API."""
    if not isinstance(request["api"], str) or request["api"] not in PLACEMENTS:
        raise Unsupported("no witness has this API")
    return PLACEMENTS[request["api"]](request, build_mesh(request))

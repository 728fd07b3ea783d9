"""Run witnesses with the real JAX: JSON lines in, JSON lines out.

Self-contained on purpose: any interpreter with jax (0.4.35 or newer) runs this file as
``python -I worker.py``, with ``JAX_PLATFORMS=cpu`` and the number of fake devices in ``XLA_FLAGS``.

The first line out says whether jax could be imported. Then each request is answered by one line: ``ok``,
the exception's class and bases, the ``stage`` that raised, and for accepted calls the shape, spec and
replication of the result. ``unsupported`` says that this JAX or Flax cannot run the request at all.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
import json
import math
import os
import pkgutil
import runpy
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

try:
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.lax import with_sharding_constraint
    from jax.sharding import NamedSharding, PartitionSpec
except ImportError as error:
    jax, MISSING = None, str(error)

Request = dict[str, Any]
MESSAGE_LIMIT = 500


class Unsupported(Exception):
    """This JAX or Flax cannot run the request."""


#: The step a witness has reached; what it was when something raised is part of the answer.
STAGE = [""]


def at(stage: str) -> None:
    """Note the step that comes next."""
    STAGE[0] = stage


def serve(requests: Iterator[str], answer: Callable[[Request], None]) -> None:
    """Answer requests until there are no more."""
    if jax is None:
        answer({"ready": False, "message": MISSING})
        return
    warnings.simplefilter("ignore")
    answer({"ready": True, "jax": jax.__version__, "devices": len(jax.devices())})
    for line in requests:
        answer({"jax": jax.__version__, **run(json.loads(line))})


def run(request: Request) -> Request:
    """Run one witness and say what happened."""
    at("")
    try:
        if request["kind"] == "init":
            return initialize(request)
        return {"ok": True, **described(KINDS[request["kind"]](request))}
    except Unsupported as reason:
        return {"unsupported": str(reason)}
    except Exception as error:
        lines = str(error).strip().splitlines() or [""]
        return {
            "ok": False,
            "exception": type(error).__name__,
            "bases": [cls.__name__ for cls in type(error).__mro__[1:-1]],
            "stage": STAGE[0],
            "message": lines[0][:MESSAGE_LIMIT],
        }


def described(result: Any) -> Request:
    """Shape, spec and replication of an accepted call's result, as far as it has them."""
    sharding = getattr(result, "sharding", result)
    shape = getattr(result, "shape", None)
    spec = getattr(sharding, "spec", None)
    return {
        "shape": [int(n) for n in shape] if isinstance(shape, tuple) else None,
        "spec": None if spec is None else list(spec),
        "replicated": bool(getattr(sharding, "is_fully_replicated", False)),
        "devices": len(getattr(sharding, "device_set", ())),
    }


# Building what a request names.


def build_mesh(request: Request) -> Any:
    """Build the request's mesh on fake devices, or without devices; None when it has none."""
    data = request["mesh"]
    if data is None:
        return None
    names, sizes = tuple(data["names"]), tuple(data["sizes"])
    at("Mesh()")
    if is_abstract(request):
        return abstract_mesh(names, sizes, types_of(data["types"]))
    count = math.prod(sizes)
    return jax.sharding.Mesh(np.array(jax.devices()[:count]).reshape(sizes), names, **types_of(data["types"]))


def is_abstract(request: Request) -> bool:
    """Whether the witness's mesh has no devices, so that its programs can be traced but not run."""
    return bool(request["mesh"] and request["mesh"]["abstract"])


def abstract_mesh(names: tuple[str, ...], sizes: tuple[int, ...], types: Request) -> Any:
    """Build an `AbstractMesh`. JAX without axis types cannot yet trace with one."""
    member(jax.sharding, "AxisType")
    return jax.sharding.AbstractMesh(sizes, names, **types)


def types_of(types: list[str], always: bool = False) -> Request:
    """The ``axis_types`` argument, left out where all are Auto, as every JAX has it, unless ``always``."""
    if not always and all(kind == "Auto" for kind in types):
        return {}
    axis_type = member(jax.sharding, "AxisType")
    return {"axis_types": tuple(getattr(axis_type, kind) for kind in types)}


def member(module: Any, name: str) -> Any:
    """What a module of this JAX has under a name. Raises Unsupported where it has nothing."""
    if not hasattr(module, name):
        raise Unsupported(f"{module.__name__}.{name} is not in JAX {jax.__version__}")
    return getattr(module, name)


def build_spec(data: Any) -> Any:
    """Build the spec, or the thing that stands where a spec is meant."""
    if data is None:
        return None
    at("P()")
    if "junk" in data:
        return literal(data["junk"])
    extra = {key: set(data[key]) for key in ("unreduced", "reduced") if data.get(key)}
    return PartitionSpec(*(build_entry(entry) for entry in data["entries"]), **extra)


def build_entry(entry: Any) -> Any:
    """Build one entry from its JSON."""
    if isinstance(entry, list):
        return tuple(build_entry(part) for part in entry)
    if isinstance(entry, dict):
        return PartitionSpec.UNCONSTRAINED if "marker" in entry else literal(entry["junk"])
    return entry


def literal(text: str) -> Any:
    """Evaluate a literal that may hold specs. Nothing else of the user's is ever run."""

    def value(node: ast.expr) -> Any:
        if isinstance(node, ast.Tuple):
            return tuple(map(value, node.elts))
        if isinstance(node, ast.List):
            return list(map(value, node.elts))
        if isinstance(node, ast.Dict) and None not in node.keys:
            return {value(k): value(v) for k, v in zip(node.keys, node.values) if k is not None}  # noqa: B905
        if isinstance(node, ast.Call) and not node.keywords:
            name = ast.unparse(node.func).split(".")[-1]
            if name in ("P", "PartitionSpec"):
                return PartitionSpec(*map(value, node.args))
        return ast.literal_eval(node)

    try:
        return value(ast.parse(text, mode="eval").body)
    except (ValueError, SyntaxError):
        raise Unsupported(f"{text} is not a literal") from None


def named_sharding(request: Request, mesh: Any) -> Any:
    """The sharding under test: ``NamedSharding(mesh, spec)``, or the bare spec where the program has one."""
    spec = build_spec(request["spec"])
    if request["raw"]:
        return spec
    at("NamedSharding()")
    return NamedSharding(mesh, spec)


def context(request: Request, mesh: Any) -> Any:
    """The mesh context of the call: `jax.set_mesh` or its ancestors before 0.7, or ``with mesh:`` itself."""
    if mesh is None or request["context"] is None:
        return contextlib.nullcontext()
    return mesh if request["context"] == "with" and not is_abstract(request) else within(mesh)


def within(mesh: Any) -> Any:
    """The context of a mesh: `jax.set_mesh` or its ancestors; without devices `use_abstract_mesh`."""
    if not isinstance(mesh, jax.sharding.Mesh):
        return member(jax.sharding, "use_abstract_mesh")(mesh)
    setter = getattr(jax, "set_mesh", None) or getattr(jax.sharding, "use_mesh", None)
    return mesh if setter is None else setter(mesh)


def shard_map(function: Any, mesh: Any, in_specs: Any, out_specs: Any, check: bool) -> Any:
    """`jax.shard_map`, old or new; ``check`` is ``check_vma``, once called ``check_rep``."""
    mapper = getattr(jax, "shard_map", None) or pkgutil.resolve_name("jax.experimental.shard_map.shard_map")
    flag = "check_vma" if "check_vma" in inspect.signature(mapper).parameters else "check_rep"
    return mapper(function, mesh=mesh, in_specs=in_specs, out_specs=out_specs, **{flag: check})


def staged(jitted: Any, *arguments: Any, abstract: bool = False) -> Any:
    """Trace; where the mesh has devices lower and compile too; and run where the arguments are arrays."""
    at("trace")
    traced = jitted.trace(*arguments)
    if abstract:
        return None
    at("lower")
    lowered = traced.lower()
    at("compile")
    lowered.compile()
    if any(isinstance(value, jax.ShapeDtypeStruct) for value in arguments):
        return None
    at("execute")
    return jax.block_until_ready(jitted(*arguments))


def argument(request: Request, sharding: Any = None) -> Any:
    """The array a witness works on: its shape alone where nothing runs, else a NumPy array."""
    shape = tuple(request["shape"])
    if is_abstract(request) or sharding is not None:
        return jax.ShapeDtypeStruct(shape, np.float32, sharding=sharding)
    return np.ones(shape, np.float32)


def held(request: Request, mesh: Any) -> Any:
    """The array a witness works on, sharded over the mesh already where the request says how."""
    if request["held"] is None:
        return argument(request)
    sharding = NamedSharding(mesh, build_spec(request["held"]))
    at("held")
    if is_abstract(request):
        return argument(request, sharding)
    return jax.device_put(argument(request), sharding)


# One function an API: given the request and its mesh, it makes the call and returns the result.
Call = Callable[[Request, Any], Any]


def eager(stage: str, call: Callable[[Any, Any], Any]) -> Call:
    """A call outside jit, on a sharding and an array."""

    def witness(request: Request, mesh: Any) -> Any:
        sharding, array = named_sharding(request, mesh), held(request, mesh)
        with context(request, mesh):
            at(stage)
            return call(sharding, array)

    return witness


def jitted(function: Callable[[Any], Any]) -> Call:
    """A call of a jitted function, which is made from a sharding."""

    def witness(request: Request, mesh: Any) -> Any:
        sharding, array = named_sharding(request, mesh), held(request, mesh)
        with context(request, mesh):
            at("jit()")
            return staged(function(sharding), array, abstract=is_abstract(request))

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


def flax_module(name: str) -> Any:
    """Import ``flax.linen`` or ``flax.nnx``."""
    try:
        return importlib.import_module(f"flax.{name}")
    except ImportError as error:
        raise Unsupported(f"flax.{name}: {error}") from None


def partition_names(request: Request) -> Any:
    """The names an initializer carries: a tuple, or whatever the program gives instead."""
    spec = build_spec(request["spec"])
    return spec if spec is None or "junk" in request["spec"] else tuple(spec)


def linen_box(request: Request, mesh: Any) -> Any:
    """A parameter as its initializer returns it, bare or in a box that knows its mesh (not if ``raw``)."""
    linen, names = flax_module("linen"), partition_names(request)
    own = None if request["raw"] else mesh
    at("with_partitioning")
    if names is None:
        return jnp.ones(tuple(request["shape"]))
    return linen.with_partitioning(lambda: jnp.ones(tuple(request["shape"])), names, mesh=own)()


def linen_sharding(request: Request, mesh: Any) -> Any:
    box = linen_box(request, mesh)
    at("get_sharding")
    return flax_module("linen").get_sharding(box, mesh)


def linen_unbox(request: Request, mesh: Any) -> Any:
    linen, box = flax_module("linen"), linen_box(request, mesh)
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
        return flax_module("linen").unbox(box)


def nnx_param(request: Request, mesh: Any) -> Any:
    nnx, names = flax_module("nnx"), partition_names(request)
    # Flax 0.12 renamed the metadata that holds the names.
    version = importlib.import_module("flax").__version__
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
        create = pkgutil.resolve_name(f"jax.{name}")
        first = (jax.random.key(0),) if "random" in name else ()
        if "out_sharding" not in inspect.signature(create).parameters:
            raise Unsupported(f"{name} of JAX {jax.__version__} takes no out_sharding")
        return create(*first, array.shape, out_sharding=sharding)

    return call


def nnx_sharding(request: Request, mesh: Any) -> Any:
    nnx, names = flax_module("nnx"), partition_names(request)
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
    "device_put inside jit": jitted(lambda s: jax.jit(lambda x: jax.device_put(x, s))),
    "jit(in_shardings=)": jitted(lambda s: jax.jit(lambda x: x * 2, in_shardings=s)),
    "jit(out_shardings=)": jitted(lambda s: jax.jit(lambda x: x * 2, out_shardings=s)),
    "jit on a ShapeDtypeStruct": jit_argument,
    "with_sharding_constraint": jitted(lambda s: jax.jit(lambda x: with_sharding_constraint(x, s) * 2)),
    "with_sharding_constraint outside jit": eager(
        "wsc eager", lambda s, x: with_sharding_constraint(jnp.asarray(x), s)
    ),
    "reshard": eager("reshard", lambda s, x: member(jax.sharding, "reshard")(x, s)),
    "reshard inside jit": jitted(lambda s: jax.jit(lambda x: member(jax.sharding, "reshard")(x, s))),
    "shard_map(in_specs=)": shard_map_in,
    "shard_map(out_specs=)": shard_map_out,
    "jnp.zeros(device=)": eager("jnp.zeros(device=)", lambda s, x: jnp.zeros(x.shape, device=s)),
    "jnp.zeros(device=) inside jit": jitted(lambda s: jax.jit(lambda x: jnp.zeros(x.shape, device=s))),
    "jnp.arange(device=)": eager("jnp.arange(device=)", lambda s, x: jnp.arange(*x.shape, device=s)),
    "jnp.arange(device=) inside jit": jitted(lambda s: jax.jit(lambda x: jnp.arange(*x.shape, device=s))),
    "jnp.array(device=)": eager("jnp.array(device=)", lambda s, x: jnp.array(x, device=s)),
    "jnp.array(device=) inside jit": jitted(lambda s: jax.jit(lambda x: jnp.array(x, device=s))),
    "jnp.linspace(device=)": eager(
        "jnp.linspace(device=)", lambda s, x: jnp.linspace(x[0], x[0] + 1, len(x), device=s)
    ),
    "jnp.zeros(out_sharding=)": eager("jnp.zeros(out_sharding=)", made("numpy.zeros")),
    "jnp.zeros(out_sharding=) inside jit": jitted(lambda s: jax.jit(lambda x: made("numpy.zeros")(s, x))),
    "jax.random.normal(out_sharding=)": eager("random.normal(out_sharding=)", made("random.normal")),
    "jax.random.normal(out_sharding=) inside jit": jitted(
        lambda s: jax.jit(lambda x: made("random.normal")(s, x))
    ),
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
    """A spec meets an array through an API."""
    if request["api"] not in PLACEMENTS:
        raise Unsupported(f"{request['api']} is not known here")
    return PLACEMENTS[request["api"]](request, build_mesh(request))


# The other kinds of witness.


def program(request: Request) -> Any:
    """Run a program that shardlint wrote, and return what it leaves in ``result``.

    It knows JAX's own names, and those below of steps whose stage matters. Raises Unsupported where it asks
    for a name that this JAX or Flax does not have.
    """
    tree = ast.parse(request["code"])
    asked = {name.id for name in ast.walk(tree) if isinstance(name, ast.Name)}
    names = {"jax": jax, "jnp": jnp, "np": np, "lax": jax.lax, "P": PartitionSpec}
    names |= {
        "run": run_jitted,
        "trace": trace_jitted,
        "keep": keep,
        "shard_map": shard_map,
        "within": within,
    }
    for name in asked & {"Mesh", "NamedSharding", "AbstractMesh", "AxisType"}:
        names[name] = member(jax.sharding, name)
    for name, module in (("nn", "linen"), ("nnx", "nnx")):
        if name in asked:
            names[name] = flax_module(module)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            look_up(node, names)
    refuse_foreign(tree, names)
    at("program")
    exec(compile(tree, "<witness>", "exec"), names)
    return names.get("result")


#: What programs name besides JAX's own.
BUILTINS = ("set", "frozenset", "slice", "zip", "inspect")


def refuse_foreign(tree: ast.AST, names: Request) -> None:
    """Raise Unsupported for a name that no witness has, or that leads out of JAX, Flax and NumPy."""
    bound = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
    known = {*names, *bound, *BUILTINS}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id not in known:
            raise Unsupported(f"{node.id} is no name of a witness")
        if isinstance(node, ast.Attribute):
            found = look_up(node, names)
            home = found.__name__.partition(".")[0] if inspect.ismodule(found) else "jax"
            hidden = node.attr.startswith("_") and node.attr not in ("__enter__", "__exit__")
            if hidden or home not in ("jax", "flax", "numpy"):
                raise Unsupported(f"{ast.unparse(node)} is no name of a witness")


def look_up(node: ast.expr, names: Request) -> Any:
    """What a dotted name of modules stands for, None for other expressions."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    module = look_up(node.value, names) if isinstance(node, ast.Attribute) else None
    if not isinstance(node, ast.Attribute) or not inspect.ismodule(module):
        return None
    with contextlib.suppress(ImportError):
        importlib.import_module(f"{module.__name__}.{node.attr}")
    return member(module, node.attr)


def run_jitted(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Trace, lower, compile and run a function under jit."""
    return staged(jax.jit(function, **options), *arguments)


def trace_jitted(function: Callable[..., Any], *arguments: Any) -> None:
    """Trace a function under jit."""
    staged(jax.jit(function), *arguments, abstract=True)


def keep(made: Any, x: Any) -> Any:
    """Return x, such that JAX does not drop what made these arrays as unused."""
    arrays = [leaf for leaf in jax.tree.leaves(made) if isinstance(leaf, jax.Array)]
    return jax.lax.optimization_barrier((x, *arrays))[0]


def reference(request: Request) -> Any:
    """Look a name up, as ``import a`` and ``a.b`` do, or where asked as ``from a import b`` does."""
    path, _, last = request["name"].rpartition(".")
    package = pkgutil.resolve_name(path) if path else None
    at("import")
    if request["from_import"]:
        exec(f"from {path} import {last}", {})  # The path was found just now: it is a name.
        return None
    return getattr(package, last) if path else importlib.import_module(last)


def initialize(request: Request) -> Request:
    """Run a model's init, the user's own code: the file beside this one does, in a worker of its own."""
    beside = runpy.run_path(os.path.join(os.path.dirname(os.path.abspath(__file__)), "initializer.py"))
    answer: Request = beside["initialize"](sys.modules[__name__], request)
    return answer


KINDS: dict[str, Callable[[Request], Any]] = {
    "placement": placement,
    "program": program,
    "reference": reference,
}


def main() -> None:
    """Keep the protocol's stream to ourselves: what JAX prints goes to stderr."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def answer(data: Request) -> None:
        out.write(json.dumps(data, default=str) + "\n")
        out.flush()

    serve(iter(sys.stdin.readline, ""), answer)


if __name__ == "__main__":
    main()

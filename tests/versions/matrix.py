"""The behaviour matrix: each API beside each mistake and each type of axes, on a mesh x=4, y=2.

`measured` runs all cells under the JAX that runs this, from 0.4.35 on (before axis types: Auto only).
In mode ``mixed``, x is Explicit and y Auto. `stage` is the call that raised, ``result`` the result's spec.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import older_jax
import real_jax

jax, jnp, np = older_jax.jax, older_jax.jnp, older_jax.np
from flax import linen as nn  # noqa: E402
from flax import nnx  # noqa: E402
from jax.sharding import NamedSharding  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402

from shardlint.laws.core.values import AxisType, Mesh  # noqa: E402

AUTO, EXPLICIT = AxisType.AUTO, AxisType.EXPLICIT
MODES = {"auto": (AUTO, AUTO), "explicit": (EXPLICIT, EXPLICIT), "mixed": (EXPLICIT, AUTO)}
MESHES = {mode: Mesh(("x", "y"), (4, 2), types) for mode, types in MODES.items()}

Shape = tuple[int, ...]
#: Makes the spec, so that what its constructor raises is seen.
MakeSpec = Callable[[], Any]


class Stage:
    """The call that a program has come to."""

    name = ""

    def __call__(self, name: str) -> None:
        self.name = name


stage = Stage()


def _sharding(mesh: Any, make: MakeSpec) -> Any:
    stage("P()")
    spec = make()
    stage("NamedSharding()")
    return NamedSharding(mesh, spec)


def _bare(make: MakeSpec) -> Any:
    stage("P()")
    return make()


def _host(shape: Shape) -> Any:
    return np.ones(shape, np.float32)


def _run(function: Any, *arguments: Any) -> Any:
    stage("trace")
    traced = function.trace(*arguments)
    stage("lower")
    lowered = traced.lower()
    stage("compile")
    lowered.compile()
    stage("execute")
    made = function(*arguments)
    jax.block_until_ready(made)
    return made


def _ctor(mesh: Any, make: MakeSpec, shape: Shape) -> Any:
    return _sharding(mesh, make)


def _sds(mesh: Any, make: MakeSpec, shape: Shape) -> Any:
    sharding = _sharding(mesh, make)
    stage("ShapeDtypeStruct()")
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=sharding)


def _shard_shape(mesh: Any, make: MakeSpec, shape: Shape) -> Any:
    sharding = _sharding(mesh, make)
    stage("shard_shape")
    return sharding.shard_shape(shape)


def _dput_np(mesh: Any, make: MakeSpec, shape: Shape) -> Any:
    sharding = _sharding(mesh, make)
    stage("device_put")
    return jax.device_put(_host(shape), sharding)


def _dput_jax(mesh: Any, make: MakeSpec, shape: Shape) -> Any:
    sharding, array = _sharding(mesh, make), jnp.ones(shape)
    stage("device_put")
    return jax.device_put(array, sharding)


def _dput_p(mesh: Any, make: MakeSpec, shape: Shape) -> Any:
    spec = _bare(make)
    with jax.set_mesh(mesh):
        stage("device_put")
        return jax.device_put(_host(shape), spec)


def _dput_injit(mesh: Any, make: MakeSpec, shape: Shape) -> Any:
    sharding = _sharding(mesh, make)
    return _run(jax.jit(lambda x: jax.device_put(x, sharding)), jnp.ones(shape))


def _jitted(shape: Shape, **shardings: Any) -> Any:
    stage("jit()")
    return _run(jax.jit(lambda x: x * 2, **shardings), _host(shape))


def _in(mesh: Any, make: MakeSpec, shape: Shape) -> Any:
    return _jitted(shape, in_shardings=_sharding(mesh, make))


def _in_p(mesh: Any, make: MakeSpec, shape: Shape) -> Any:
    spec = _bare(make)
    with jax.set_mesh(mesh):
        return _jitted(shape, in_shardings=spec)


def _out(mesh: Any, make: MakeSpec, shape: Shape) -> Any:
    return _jitted(shape, out_shardings=_sharding(mesh, make))


def _out_p(mesh: Any, make: MakeSpec, shape: Shape) -> Any:
    spec = _bare(make)
    with jax.set_mesh(mesh):
        return _jitted(shape, out_shardings=spec)


def _wsc(mesh: Any, make: MakeSpec, shape: Shape) -> Any:
    sharding = _sharding(mesh, make)
    return _run(jax.jit(lambda x: jax.lax.with_sharding_constraint(x, sharding) * 2), _host(shape))


def _wsc_setmesh_p(mesh: Any, make: MakeSpec, shape: Shape) -> Any:
    spec = _bare(make)
    with jax.set_mesh(mesh):
        return _run(jax.jit(lambda x: jax.lax.with_sharding_constraint(x, spec) * 2), _host(shape))


def _wsc_eager(mesh: Any, make: MakeSpec, shape: Shape) -> Any:
    sharding, array = _sharding(mesh, make), jnp.ones(shape)
    stage("wsc eager")
    return jax.lax.with_sharding_constraint(array, sharding)


def _wsc_inner(mesh: Any, make: MakeSpec, shape: Shape) -> Any:
    sharding = _sharding(mesh, make)
    return _run(jax.jit(lambda x: jax.lax.with_sharding_constraint(x, sharding).sum()), _host(shape))


def _reshard(mesh: Any, make: MakeSpec, shape: Shape) -> Any:
    sharding = _sharding(mesh, make)
    with jax.set_mesh(mesh):
        array = jnp.ones(shape)
        stage("reshard")
        return jax.sharding.reshard(array, sharding)


def _reshard_jit(mesh: Any, make: MakeSpec, shape: Shape) -> Any:
    spec = _bare(make)
    with jax.set_mesh(mesh):
        return _run(jax.jit(lambda x: jax.sharding.reshard(x, spec) * 2), _host(shape))


def _mapped(mesh: Any, shape: Shape, body: Any, in_spec: Any, out_spec: Any, **options: Any) -> Any:
    stage("shard_map()")
    mapped = jax.shard_map(body, mesh=mesh, in_specs=(in_spec,), out_specs=out_spec, **options)
    return _run(jax.jit(mapped), _host(shape))


def _smin(mesh: Any, make: MakeSpec, shape: Shape) -> Any:
    spec = _bare(make)
    return _mapped(mesh, shape, lambda x: jax.lax.psum(x.sum(), ("x", "y")), spec, P(), check_vma=False)


def _smout(mesh: Any, make: MakeSpec, shape: Shape) -> Any:
    return _mapped(mesh, shape, lambda x: x, P(), _bare(make), check_vma=False)


def _smout_vma(mesh: Any, make: MakeSpec, shape: Shape) -> Any:
    return _mapped(mesh, shape, lambda x: x, P(), _bare(make))


def _zeros(mesh: Any, make: MakeSpec, shape: Shape) -> Any:
    sharding = _sharding(mesh, make)
    stage("jnp.zeros(device=)")
    return jnp.zeros(shape, device=sharding)


def _zeros_out(mesh: Any, make: MakeSpec, shape: Shape) -> Any:
    spec = _bare(make)
    with jax.set_mesh(mesh):
        stage("jnp.zeros(out_sharding=)")
        return jnp.zeros(shape, out_sharding=spec)


def _rand_out(mesh: Any, make: MakeSpec, shape: Shape) -> Any:
    spec = _bare(make)
    with jax.set_mesh(mesh):
        stage("random.normal(out_sharding=)")
        return jax.random.normal(jax.random.key(0), shape, out_sharding=spec)


def _cb(mesh: Any, make: MakeSpec, shape: Shape) -> Any:
    sharding, data = _sharding(mesh, make), _host(shape)
    stage("make_array_from_callback")
    return jax.make_array_from_callback(shape, sharding, lambda index: data[index])


def _arg(mesh: Any, make: MakeSpec, shape: Shape) -> Any:
    struct = _sds(mesh, make, shape)
    stage("trace")
    traced = jax.jit(lambda x: x * 2).trace(struct)
    stage("lower")
    lowered = traced.lower()
    stage("compile")
    lowered.compile()
    return traced.out_info


def _linen(mesh: Any, make: MakeSpec, shape: Shape) -> Any:
    names = tuple(_bare(make))
    stage("with_partitioning")
    box = nn.Partitioned(jnp.ones(shape), names=names, mesh=mesh)
    stage("get_partition_spec")
    box.get_partition_spec()
    stage("get_sharding")
    box.get_sharding(mesh)
    stage("unbox")
    return jax.jit(lambda b: b.unbox())(box)


def _linen_eager_unbox(mesh: Any, make: MakeSpec, shape: Shape) -> Any:
    box = nn.Partitioned(jnp.ones(shape), names=tuple(_bare(make)), mesh=mesh)
    stage("unbox eager")
    return box.unbox()


def _nnx(mesh: Any, make: MakeSpec, shape: Shape) -> Any:
    names = tuple(_bare(make))
    with jax.set_mesh(mesh):
        stage("nnx.Param()")
        return nnx.Param(jnp.ones(shape), out_sharding=names)[...]


def _nnx_jit(mesh: Any, make: MakeSpec, shape: Shape) -> Any:
    names = tuple(_bare(make))
    with jax.set_mesh(mesh):
        stage("nnx.jit(Param())")
        return nnx.jit(lambda: nnx.Param(jnp.ones(shape), out_sharding=names))()[...]


def _nnx_noeager(mesh: Any, make: MakeSpec, shape: Shape) -> Any:
    names = tuple(_bare(make))
    with jax.set_mesh(mesh), nnx.use_eager_sharding(False):
        stage("nnx.Param()")
        parameter = nnx.Param(jnp.ones(shape), out_sharding=names)
        stage("get_partition_spec")
        spec = nnx.get_partition_spec(parameter)
        stage("get_named_sharding")
        nnx.get_named_sharding(parameter, mesh)
        return spec


APIS: dict[str, Callable[[Any, MakeSpec, Shape], Any]] = {
    function.__name__.removeprefix("_"): function
    for function in (
        _ctor, _sds, _shard_shape, _dput_np, _dput_jax, _dput_p, _dput_injit, _in, _in_p, _out, _out_p, _wsc,
        _wsc_setmesh_p, _wsc_eager, _wsc_inner, _reshard, _reshard_jit, _smin, _smout, _smout_vma, _zeros,
        _zeros_out, _rand_out, _cb, _arg, _linen, _linen_eager_unbox, _nnx, _nnx_jit, _nnx_noeager,
    )
}  # fmt: skip
#: The mistakes: what makes the spec, and the array's shape.
MISTAKES: dict[str, tuple[MakeSpec, Shape]] = {
    "ok": (lambda: P("x", "y"), (8, 8)),
    "too_long": (lambda: P("x", "y"), (8,)),
    "too_long_trailing_None": (lambda: P("x", None), (8,)),
    "too_long_Nones": (lambda: P(None, None, None), (8, 8)),
    "too_short": (lambda: P("x"), (8, 8)),
    "scalar_P_x": (lambda: P("x"), ()),
    "scalar_P_None": (lambda: P(None), ()),
    "scalar_P": (lambda: P(), ()),
    "unknown_axis": (lambda: P("z"), (8, 8)),
    "dup_dims": (lambda: P("x", "x"), (8, 8)),
    "dup_tuple": (lambda: P(("x", "x")), (16, 8)),
    "uneven_5_over_4": (lambda: P("x"), (5, 8)),
    "smaller_2_over_4": (lambda: P("x"), (2, 8)),
    "tuple_uneven_4_over_8": (lambda: P(("x", "y")), (4, 8)),
    "zero_dim": (lambda: P("x"), (0, 8)),
    "unconstrained": (lambda: P(P.UNCONSTRAINED, "y"), (8, 8)),
    "empty_tuple": (lambda: P(()), (8, 8)),
    "list_entry": (lambda: P(["x", "y"]), (8, 8)),
    "set_entry": (lambda: P({"x", "y"}), (8, 8)),
    "nested_tuple": (lambda: P((("x", "y"),)), (8, 8)),
    "int_entry": (lambda: P(0), (8, 8)),
    "none_in_tuple": (lambda: P(("x", None)), (8, 8)),
    "empty_string": (lambda: P(""), (8, 8)),
    "comma_string": (lambda: P("x,y"), (8, 8)),
    "auto_axis_y": (lambda: P("y"), (8, 8)),
    "raw_tuple": (lambda: ("x", "y"), (8, 8)),
    "raw_str": (lambda: "x", (8,)),
    "None": (lambda: None, (8, 8)),
    "list_of_P": (lambda: [P("x", "y")], (8, 8)),
}
RAW = frozenset({"raw_tuple", "raw_str", "None", "list_of_P"})


def measured(first_line: Callable[[Exception], str]) -> dict[str, dict[str, str]]:
    """Run every cell: by API and mode, what became of each mistake.

    An outcome is ``ok`` and the result, or the exception's class, ``@`` the stage and ``#`` its message's
    first line, of which ``first_line`` makes what is stored.
    """
    found: dict[str, dict[str, str]] = {}
    for mode in MODES if older_jax.AXIS_TYPES else ("auto",):
        mesh = real_jax.real_mesh(MESHES[mode])
        for api, program in APIS.items():
            cells = found[f"{api}|{mode}"] = {}
            if lack := _lack(api):
                cells |= dict.fromkeys(MISTAKES, f"- {lack}")
                continue
            for mistake, (make, shape) in MISTAKES.items():
                if mistake in RAW and api.startswith(("linen", "nnx")):
                    continue
                stage("")
                try:
                    cells[mistake] = f"ok {_shown(program(mesh, make, shape))}"
                except Exception as error:
                    cells[mistake] = f"{type(error).__name__} @{stage.name} #{first_line(error)}"
    return found


_IN_CONTEXT = frozenset(
    "dput_p in_p out_p wsc_setmesh_p reshard reshard_jit zeros_out rand_out nnx nnx_jit nnx_noeager".split()
)


def _lack(api: str) -> str | None:
    """Say what this release lacks for an API, if anything."""
    if api in _IN_CONTEXT and not older_jax.CONTEXT:
        return "no context mesh"
    if api.startswith("reshard") and not hasattr(jax.sharding, "reshard"):
        return "no reshard"
    if api.startswith("nnx") and not hasattr(nnx, "use_eager_sharding"):
        return "flax before eager sharding"
    function = {"zeros_out": jnp.zeros, "rand_out": jax.random.normal}.get(api)
    if function is not None and not older_jax.takes(function, "out_sharding"):
        return "no out_sharding="
    return None


def _shown(made: Any) -> str:
    """Show a result: the spec of an array or a sharding, else its text."""
    for holder in (getattr(made, "sharding", None), made):
        if (spec := getattr(holder, "spec", None)) is not None:
            return real_text(spec)
    if hasattr(made, "sharding"):
        return type(made.sharding).__name__
    return real_text(made) if isinstance(made, P) else str(made)[:60]


def real_text(spec: Any) -> str:
    """Write a spec of JAX as `spec_texts` does one of ours."""
    from spec_texts import spec_text

    return spec_text(real_jax.law_spec(spec), trim=False)

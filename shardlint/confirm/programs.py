"""Witnesses that are programs: the text that makes a call, under the mesh, jit and axes of its use.

The worker knows the names ``jax jnp np lax P Mesh NamedSharding AbstractMesh AxisType nn nnx``, and of its
own ``run(f, *args)`` (trace, lower, compile and execute under jit), ``trace(f, *args)``, ``within(mesh)``,
``keep(made, x)`` (x, while nothing that was made is dropped as unused) and
``shard_map(f, mesh, in_specs, out_specs, check)``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

from shardlint.confirm.requests import NotRunnable, Request, Witness, expected_of, known_int
from shardlint.confirm.sizes import MAX_DEVICES, integers, parts_of, small_mesh
from shardlint.laws.dims import Dim
from shardlint.laws.source import mesh_source, spec_source, tuple_source
from shardlint.laws.types import ArrayType
from shardlint.laws.values import AxisType, Mesh, Spec, Unknown
from shardlint.uses import CallUse, CarryUse, Environment, OperationUse

#: What programs expect of `jax.devices()` that name no mesh.
_USUAL = 8


def request_of(code: str, devices: int = 1) -> Request:
    """A program as the worker's request."""
    return {"kind": "program", "code": code, "devices": devices}


def written(text: str | None) -> str:
    """A source text. Raises NotRunnable where there is none."""
    if text is None:
        raise NotRunnable
    return text


def whole_call(use: CallUse) -> Witness:
    """A call with its arguments' values in place, and the repaired one."""
    return Witness(
        _surrounded(written(use.call), use.environment),
        _surrounded(written(use.repaired), use.environment),
        expected_of(use.verdict),
    )


def _surrounded(call: str, environment: Environment) -> Request:
    """The call where the program makes it: in the context of a mesh, under jit, inside shard_map.

    What holds in surroundings that are not known holds in none, too.
    """
    bound, mesh = environment.bound_axes, environment.context_mesh
    if isinstance(mesh, Unknown):
        mesh = None
    if bound and not isinstance(bound, Unknown):
        return _in_body(call, dict(bound), mesh)
    step = f"run(lambda x: keep({call}, x), 0)" if environment.in_jit else call
    if mesh is None:
        return request_of(f"result = {step}", _USUAL)
    code = f"with within({written(mesh_source(mesh))}):\n    result = {step}"
    return request_of(code, max(_USUAL, _devices(mesh)))


def _in_body(call: str, bound: dict[str, Dim], mesh: Mesh | None) -> Request:
    """The call in a body that is Manual over the axes of its mesh that are bound."""
    manual = () if mesh is None else tuple(n for n in mesh.names if mesh.type_of(n) is AxisType.MANUAL)
    if mesh is None or set(manual) != set(bound):
        raise NotRunnable
    mesh = replace(mesh.with_types(dict.fromkeys(manual, AxisType.AUTO)), abstract=False)
    split, on = written(spec_source(Spec((manual,)))), written(mesh_source(mesh))
    body = f"shard_map(lambda x: keep({call}, x), {on}, ({split},), {split}, True)"
    if len(manual) < len(mesh.names):
        # What came before `jax.shard_map` names the other axes.
        names = f"mesh={on}, in_specs=({split},), out_specs={split}, axis_names=set({manual})"
        body = f"jax.shard_map(lambda x: keep({call}, x), {names})"
    return request_of(f"result = run({body}, np.ones({mesh.device_count}, np.float32))", _devices(mesh))


def _devices(mesh: Mesh) -> int:
    """How many devices a mesh takes. Raises NotRunnable where that is too many or not known."""
    count = mesh.device_count
    if mesh.abstract:
        return 1
    if not isinstance(count, int) or count > MAX_DEVICES:
        raise NotRunnable
    return count


def operation(use: OperationUse) -> Witness:
    """Operands of the types in the program; the twin's are replicated, and it asks for no sharding.

    What the types say is checked while tracing, so nothing needs devices.
    """
    call, types = written(use.call), _concrete(use.operands)
    asked = "" if use.out_sharding is None else f", out_sharding={spec_source(use.out_sharding)}"
    operands = ", ".join(f"x{i}" for i in range(len(types)))
    wrong, right = (f"lambda {operands}: {text}" for text in (call, call.replace(asked, "")))
    mesh = _mesh_of(use.operands, use.environment.context_mesh)
    twin = _traced(mesh, right, [replace(kind, sharding=None) for kind in types])
    return Witness(_traced(mesh, wrong, types), twin, expected_of(use.verdict))


#: A loop that carries x0, or two branches, with what the body or the other branch returns left open.
_LOOPS = {
    "scan": "lax.scan(lambda c, _: ({}, None), x0, None, length=2)",
    "fori_loop": "lax.fori_loop(0, 2, lambda i, c: {}, x0)",
    "while_loop": "lax.while_loop(lambda c: True, lambda c: {}, x0)",
    "cond": "lax.cond(jnp.sum(x0) > 0, lambda: x0, lambda: {})",
    "switch": "lax.switch(0, (lambda: x0, lambda: {}))",
}


def carry(use: CarryUse) -> Witness:
    """A loop whose body returns another type than it began with, or branches that differ; not so the twin."""
    types = (use.before, use.after)
    mesh = _mesh_of(types, use.environment.context_mesh)
    loop = _LOOPS.get(use.function.rsplit(".", 1)[-1])
    if loop is None:
        raise NotRunnable
    wrong, right = (
        _traced(mesh, f"lambda x0, x1: {loop.format(after)}", _concrete(types)) for after in ("x1", "x0")
    )
    return Witness(wrong, right, expected_of(use.verdict))


def _mesh_of(types: Sequence[ArrayType], context: Mesh | Unknown | None) -> Mesh:
    """The mesh that the operands' types, or else the context, tell."""
    held = [kind.sharding.mesh for kind in types if kind.sharding is not None]
    for mesh in (context, *held):
        if isinstance(mesh, Mesh):
            return mesh
    raise NotRunnable


def _concrete(types: Sequence[ArrayType]) -> list[ArrayType]:
    """The types with integers for open sizes, which their shardings divide."""
    shapes = [kind.shape for kind in types if kind.shape is not None]
    if len(shapes) < len(types):
        raise NotRunnable
    parts = [part for kind in types for part in _parts(kind)]

    def suits(sizes: tuple[int, ...]) -> bool:
        return all(size > 0 and size % part == 0 for size, part in zip(sizes, parts, strict=True))

    sizes = integers([size for shape in shapes for size in shape], suits)
    if sizes is None:
        raise NotRunnable
    rest = iter(sizes)
    return [
        replace(kind, shape=tuple(itertools.islice(rest, len(shape))))
        for kind, shape in zip(types, shapes, strict=True)
    ]


def _parts(kind: ArrayType) -> tuple[int, ...]:
    """Into how many parts each dimension of an array is split."""
    sharding, rank = kind.sharding, len(kind.shape or ())
    if sharding is None:
        return (1,) * rank
    return parts_of(sharding.spec, sharding.mesh, rank)


def _traced(mesh: Mesh, function: str, types: Sequence[ArrayType]) -> Request:
    """A function of arrays of the given types, traced under the mesh, inside shard_map where it is Manual."""
    if AxisType.MANUAL in mesh.types:
        if any(kind.sharding is not None and kind.sharding.mesh not in (None, mesh) for kind in types):
            raise NotRunnable
        return _in_shard_map(mesh, function, types)
    abstract = written(mesh_source(replace(mesh, abstract=True)))
    operands = ", ".join(map(_struct, types))
    return request_of(f"with within({abstract}):\n    trace({function}, {operands})")


def _struct(kind: ArrayType) -> str:
    """An array of a type: no devices are needed."""
    sharding, dtype = kind.sharding, kind.dtype or "float32"
    if sharding is None or sharding.mesh is None:
        return f'jax.ShapeDtypeStruct({kind.shape}, "{dtype}")'
    mesh, spec = (
        written(mesh_source(replace(sharding.mesh, abstract=True))),
        written(spec_source(sharding.spec)),
    )
    return f'jax.ShapeDtypeStruct({kind.shape}, "{dtype}", sharding=NamedSharding({mesh}, {spec}))'


def _in_shard_map(mesh: Mesh, function: str, types: Sequence[ArrayType]) -> Request:
    """The function in a body that is Manual over all axes; what varies over axes is split over them."""
    if set(mesh.types) != {AxisType.MANUAL}:
        raise NotRunnable
    mesh = small_mesh(replace(mesh, types=(AxisType.AUTO,) * len(mesh.names), abstract=False))
    specs, arrays = [], []
    for kind in types:
        axes = tuple(sorted(_varying(kind)))
        specs.append(written(spec_source(Spec((axes,)))))
        # A leading dimension carries the split, so that scalars vary too; it is dropped inside.
        count = math.prod(known_int(mesh.size_of(axis)) for axis in axes)
        arrays.append(f'np.ones({(count, *(kind.shape or ()))}, "{kind.dtype or "float32"}")')
    names = [f"x{i}" for i in range(len(types))]
    body = f"lambda {', '.join(names)}: (({function})({', '.join(f'{x}[0]' for x in names)}), 0)[1]"
    mapped = f"shard_map({body}, {written(mesh_source(mesh))}, {tuple_source(specs)}, P(), True)"
    return request_of(f"trace({mapped}, {', '.join(arrays)})", _devices(mesh))


def _varying(kind: ArrayType) -> frozenset[str]:
    """The axes an array varies over. Raises NotRunnable where they are not known."""
    if kind.varying is None:
        raise NotRunnable
    return kind.varying

"""`jax.shard_map`: bodies run on one shard, with the mesh axes bound."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace

from shardlint.inference.calls import Call
from shardlint.inference.overlays.jax_jit import function_name
from shardlint.inference.overlays.placing import as_mesh, laid_out, mesh_facts, place_array, record_mismatch
from shardlint.inference.overlays.prefixes import is_leaf, meet_prefix, mismatch, traced
from shardlint.inference.values import (
    Array,
    Const,
    MeshValue,
    Native,
    SetValue,
    SpecValue,
    Tuple,
    Value,
    as_bool,
    as_items,
    is_none,
)
from shardlint.laws.arity import judge_arity
from shardlint.laws.dims import Dim
from shardlint.laws.shards import global_shape, shard_shape
from shardlint.laws.values import AxisType, Unknown, entry_axes
from shardlint.laws.varying import judge_varying
from shardlint.laws.verdicts import Api, Rejected
from shardlint.uses import ArityUse, Fact, Placement

_NEW_OPTIONS = {"mesh", "in_specs", "out_specs", "axis_names", "check_vma"}
_OLD_ORDER = ("f", "mesh", "in_specs", "out_specs", "check_rep", "auto")


def _shard_map(call: Call) -> Value:
    """``jax.shard_map(f, /, *, mesh=, in_specs=, out_specs=, axis_names=, check_vma=)``."""
    if call.opaque or len(call.args) > 1 or set(call.kwargs) - _NEW_OPTIONS - {"f"}:
        return Unknown("shard_map with arguments that are not known")
    options = {k: v for k, v in call.kwargs.items() if k != "f"}
    function = call.argument(0, "f")
    if function is None:
        return Native(
            "jax.shard_map(...)", lambda inner: _wrap(inner, inner.args[0] if inner.args else None, options)
        )
    return _wrap(call, function, options)


def _old_shard_map(call: Call) -> Value:
    """`jax.experimental.shard_map.shard_map(f, mesh, in_specs, out_specs, check_rep=, auto=)`."""
    if call.opaque or len(call.args) > len(_OLD_ORDER) or set(call.kwargs) - set(_OLD_ORDER) - {"check_vma"}:
        return Unknown("shard_map with arguments that are not known")
    options = {**dict(zip(_OLD_ORDER, call.args, strict=False)), **call.kwargs}
    if "auto" in options:
        return Unknown("shard_map with auto axes")
    options["check_vma"] = options.pop("check_rep", options.get("check_vma", Const(True)))
    return _wrap(call, options.pop("f", None), options)


def _wrap(call: Call, function: Value | None, options: dict[str, Value]) -> Value:
    if function is None:
        return Unknown("shard_map of nothing")

    def run(inner: Call) -> Value:
        return _run(inner, function, options)

    return call.interpreter.wrapped(
        Native(f"shard_map({function_name(function)})", run, wraps=function, origin=call.place)
    )


def _run(call: Call, function: Value, options: dict[str, Value]) -> Value:
    """Evaluate a call: place the arguments, run the body on shards, place the results."""
    interpreter = call.interpreter
    given = options.get("mesh")
    own = given is not None and not is_none(given)
    holder = as_mesh(interpreter, given) if own else interpreter.context.mesh
    manual = _manual_axes(holder, options.get("axis_names"))
    args = [traced(arg) for arg in call.args]
    with _mesh_in_force(call, holder):
        local = _place_arguments(call, function, options.get("in_specs"), args, holder, manual)
    bound: tuple[tuple[str, Dim], ...] | Unknown = Unknown("the mesh is not known")
    if isinstance(holder, MeshValue) and manual is not None:
        outer = interpreter.context.bound_axes
        inner_axes = tuple(
            (n, s) for n, s in zip(holder.mesh.names, holder.mesh.sizes, strict=True) if n in manual
        )
        # Where the caller is not known, nobody is taken to bind further names around a shard_map.
        bound = inner_axes if isinstance(outer, Unknown) else outer + inner_axes
    inside: MeshValue | Unknown = Unknown("inside shard_map")
    if isinstance(holder, MeshValue) and manual is not None:
        types = {name: AxisType.MANUAL for name in manual if name in holder.mesh.names}
        inside = replace(holder, mesh=holder.mesh.with_types(types))
    check_vma = as_bool(options.get("check_vma", Const(True)))
    with interpreter.within(mesh=inside, bound_axes=bound, in_jit=True, check_vma=check_vma):
        result = interpreter.call(function, local, dict(call.kwargs), call.place, call.opaque)
    with _mesh_in_force(call, holder):
        return _place_results(
            call, function, options.get("out_specs"), result, holder, manual, check_vma is True
        )


def _mesh_in_force(call: Call, holder: MeshValue | Unknown | None) -> AbstractContextManager[None]:
    """Specs of shard_map are bare and belong to its mesh."""
    return call.interpreter.within(mesh=holder)


def _manual_axes(holder: MeshValue | Unknown | None, axis_names: Value | None) -> frozenset[str] | None:
    """The axes a body sees as Manual: those named, else all; None where that is not known."""
    if axis_names is None or is_none(axis_names):
        return frozenset(holder.mesh.names) if isinstance(holder, MeshValue) else None
    return frozenset(axis_names.items) if isinstance(axis_names, SetValue) and axis_names.items else None


def _place_arguments(
    call: Call,
    function: Value,
    specs: Value | None,
    args: list[Value],
    holder: MeshValue | Unknown | None,
    manual: frozenset[str] | None,
) -> list[Value]:
    """Judge arguments against ``in_specs`` and return what one shard of each looks like."""
    if specs is None:
        return [Unknown("in_specs are not given") for _ in args]
    columns = as_items(specs) if isinstance(specs, Tuple) else None
    if isinstance(specs, Tuple) and len(specs.items) != len(args):
        if not call.opaque:
            _record_arity(call, Api.SHARD_MAP_IN, function, specs, len(args))
        return [Unknown("the specs do not fit") for _ in args]
    if is_leaf(specs):
        columns = (specs,) * len(args)
    text = mismatch(specs, Tuple(tuple(args))) if not call.opaque else None
    if text is not None:
        record_mismatch(call.interpreter, Api.SHARD_MAP_IN, function_name(function), specs, text, call.place)
    if columns is None or text is not None:
        return [Unknown("in_specs that are not known") for _ in args]

    def meet(leaf: Value, array: Array, path: str) -> Value:
        return _shard(call, leaf, array, path, holder, manual)

    return [
        meet_prefix(spec, arg, lambda leaf, array, path, i=i: meet(leaf, array, f"argument {i}{path}"))  # type: ignore[misc]
        for i, (spec, arg) in enumerate(zip(columns, args, strict=True))
    ]


def _shard(
    call: Call,
    leaf: Value,
    array: Array,
    path: str,
    holder: MeshValue | Unknown | None,
    manual: frozenset[str] | None,
) -> Value:
    """Judge one argument and return one shard of it."""
    subject = f"`{array.name}`" if array.name else path
    if manual is not None and isinstance(holder, MeshValue) and manual < set(holder.mesh.names):
        return Unknown("partly manual")
    placed = place_array(call.interpreter, (Api.SHARD_MAP_IN,), array, leaf, call.place, subject)
    if is_none(leaf):
        return replace(array, sharding=None)
    if not isinstance(leaf, SpecValue) or not isinstance(holder, MeshValue) or array.shape is None:
        return Array(None, array.dtype, origin=array.origin, name=array.name)
    if placed.sharding is None:
        return Unknown("JAX rejects this argument")
    local = laid_out(shard_shape, holder.mesh, leaf.spec, array.shape)
    axes = frozenset(axis for entry in leaf.spec.entries for axis in entry_axes(entry))
    return Array(local, array.dtype, array.weak, origin=array.origin, name=array.name, varying=axes)


def _record_arity(call: Call, api: Api, function: Value, specs: Tuple, due: int) -> None:
    call.interpreter.record(
        ArityUse(
            place=specs.origin or call.place,
            environment=call.interpreter.environment(),
            verdict=judge_arity(api, len(specs.items), due),
            api=api,
            function=function_name(function),
            given=len(specs.items),
            due=due,
        )
    )


def _place_results(
    call: Call,
    function: Value,
    specs: Value | None,
    result: Value,
    holder: MeshValue | Unknown | None,
    manual: frozenset[str] | None,
    checked: bool,
) -> Value:
    """Judge one shard's results against ``out_specs`` and return the whole arrays.

    ``checked`` tells that shard_map checks what its results vary over (``check_vma=True``).
    """
    if specs is None or isinstance(result, Unknown):
        return Unknown("the results of shard_map")
    if isinstance(specs, Tuple) and isinstance(result, Tuple) and len(specs.items) != len(result.items):
        _record_arity(call, Api.SHARD_MAP_OUT, function, specs, len(result.items))
        return Unknown("the specs do not fit")
    text = mismatch(specs, result)
    if text is not None:
        record_mismatch(call.interpreter, Api.SHARD_MAP_OUT, function_name(function), specs, text, call.place)
        return Unknown("the specs do not fit")

    def meet(leaf: Value, array: Array, path: str) -> Value:
        name = (
            f"result{path} of `{function_name(function)}`"
            if path
            else f"the result of `{function_name(function)}`"
        )
        if manual is None or not isinstance(holder, MeshValue) or manual < set(holder.mesh.names):
            return Unknown("partly manual")
        placed = place_array(call.interpreter, (Api.SHARD_MAP_OUT,), array, leaf, call.place, name)
        if placed.sharding is None or array.shape is None or not isinstance(leaf, SpecValue):
            return Unknown("what shard_map returns")
        if checked and _varies_too_much(call, array, leaf, holder, name):
            return Unknown("what shard_map returns")
        whole = laid_out(global_shape, holder.mesh, leaf.spec, array.shape)
        return Array(whole, array.dtype, array.weak, origin=call.place)

    return meet_prefix(specs, result, meet)


def _varies_too_much(call: Call, array: Array, leaf: SpecValue, holder: MeshValue, name: str) -> bool:
    """Judge the axes a result varies over, and record it where they are too many."""
    verdict = judge_varying(holder.mesh, array.varying, leaf.spec)
    if not isinstance(verdict, Rejected):
        return False
    facts = mesh_facts(holder)
    if array.origin is not None:
        facts = (*facts, Fact("the result is computed here", array.origin))
    call.interpreter.record(
        Placement(
            place=leaf.origin or call.place,
            environment=call.interpreter.environment(),
            verdict=verdict,
            facts=tuple(facts),
            api=Api.SHARD_MAP_OUT,
            mesh=holder.mesh,
            spec=leaf.spec,
            shape=array.shape if array.shape is not None else Unknown("not known"),
            dtype=array.dtype,
            subject=name,
            raw=True,
        )
    )
    return True


TABLE: dict[str, Callable[[Call], Value]] = {
    "jax.shard_map": _shard_map,
    "jax.experimental.shard_map.shard_map": _old_shard_map,
}

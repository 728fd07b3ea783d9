"""`jax.sharding.auto_axes` and `explicit_axes`: functions whose body has axes of another type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from shardlint.inference.domain.values import (
    Array,
    MeshValue,
    Native,
    ShardingValue,
    SpecValue,
    Value,
    as_items,
    as_str,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.jax.explicit.type_conversion import in_types_of
from shardlint.inference.overlays.jax.sharding.placement_check import RESHARD, place_array
from shardlint.inference.overlays.pytrees.prefixes import leaves_in, map_arrays, map_prefix, traced, untyped
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.core.values import AxisType, Mesh, Unknown
from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.laws.core.witness_data import (
    IDENTITY,
    NO_SPEC,
    Known,
    apply_data,
    array_data,
    call_data,
    constant_data,
    tuple_data,
)

Transfer = Callable[[Call], Value]


def _wrapper(name: str, keyword: str, run: Callable[[Call, Value, Mesh, Value], Value]) -> Transfer:
    """Return ``name(f, axes=, keyword=)``, also a decorator; the keyword may be passed in each call
    instead."""

    def wrap(call: Call) -> Value:
        if call.opaque or len(call.args) > 1 or set(call.kwargs) - {"axes", keyword}:
            return Unknown(f"{name} with arguments that are not known")
        if not call.args:
            options = dict(call.kwargs)
            return Native(f"{name}(...)", lambda inner: wrap(replace(inner, kwargs=options)))
        (function,) = call.args
        return Native(
            f"{name}(...)",
            lambda inner: _call(inner, function, dict(call.kwargs)),
            wraps=function,
            origin=call.place,
        )

    def record_misuse(inner: Call, verdict: Rejected, *kinds: Mapping[str, Known]) -> None:
        """Record a rejected call; ``kinds`` are the wrapper's arguments that show it, and their repair."""
        made = (call_data(name, (IDENTITY,), given) for given in kinds)
        calls = (apply_data(one, (array_data(()),)) for one in made)
        record_of_value(inner.interpreter, name, verdict, inner.place, *calls)

    def _call(inner: Call, function: Value, options: dict[str, Value]) -> Value:
        kwargs = dict(inner.kwargs)
        given = options.get(keyword)
        sharding = given if given is not None and not is_none(given) else kwargs.pop(keyword, None)
        if sharding is None:
            if not inner.opaque:
                detail = f"`{keyword}=`; pass it to the wrapper, or with the call"
                verdict = Rejected(Cause.MISUSE, "TypeError", "trace", detail=detail)
                record_misuse(inner, verdict, {}, {keyword: NO_SPEC})
            return Unknown(f"{name} without {keyword}")
        body = replace(inner, kwargs={key: traced(value) for key, value in kwargs.items()})
        mesh = _mesh_of(inner, sharding)
        explicit = _KIND[name] is AxisType.EXPLICIT
        if explicit and inner.interpreter.context.mesh is None:
            # It takes no mesh from the sharding (`pjit._explicit_axes`).
            detail = "a mesh in the context; set one with jax.set_mesh(mesh)"
            verdict = Rejected(Cause.NO_MESH, "ValueError", "trace", detail=detail)
            record_misuse(inner, verdict)
            return Unknown(f"{name} without a mesh")
        if mesh is None:
            return inner.interpreter.call(function, list(inner.args), kwargs, inner.place, inner.opaque)
        names = None if isinstance(mesh, Unknown) else _names(options.get("axes"), mesh)
        if isinstance(mesh, Unknown) or names is None:
            return Unknown(f"{name} on a mesh that is not known")
        if missing := [axis for axis in names if axis not in mesh.names]:
            # `pjit._get_new_mesh` looks up the type of each.
            has = ", ".join(f'"{axis}"' for axis in mesh.names)
            detail = f'axes that its mesh has: {has}, not "{missing[0]}"'
            verdict = Rejected(Cause.UNKNOWN_AXIS, "KeyError", "trace", axis=missing[0], detail=detail)
            known = (tuple_data(map(constant_data, axes)) for axes in (names, mesh.names))
            both = ({"axes": axes, keyword: NO_SPEC} for axes in known)
            # A witness has its mesh from the context.
            record_misuse(inner, verdict, *(both if inner.interpreter.context.mesh is not None else ()))
            return Unknown(f"{name} of an axis that the mesh lacks")
        if not explicit and set(names) == set(_auto(mesh)):
            return inner.interpreter.call(function, list(inner.args), kwargs, inner.place, inner.opaque)
        return run(body, function, mesh.with_types(dict.fromkeys(names, _KIND[name])), sharding)

    return wrap


def _mesh_of(call: Call, sharding: Value) -> Mesh | Unknown | None:
    """Return the mesh whose axes change: the context's, or that of the shardings (`pjit._get_new_mesh`)."""
    holder = call.interpreter.context.mesh
    for leaf in leaves_in(sharding):
        if holder is None and not isinstance(leaf, SpecValue) and not is_none(leaf):
            holder = leaf.mesh if isinstance(leaf, ShardingValue) else Unknown("a sharding that is not known")
    return holder.mesh if isinstance(holder, MeshValue) else holder


def _names(axes: Value | None, mesh: Mesh) -> list[str] | None:
    """Return the axes that change: those named, or all of them; None if not all are known."""
    if axes is None or is_none(axes):
        return list(mesh.names)
    items = as_items(axes)
    named = [as_str(item) for item in ((axes,) if items is None else items)]
    known = [name for name in named if name is not None]
    return known if len(known) == len(named) else None


def _auto(mesh: Mesh) -> list[str]:
    return [name for name, kind in zip(mesh.names, mesh.types, strict=True) if kind is AxisType.AUTO]


def _in_auto(call: Call, function: Value, inside: Mesh, sharding: Value) -> Value:
    """`auto_axes`: in the body the types of the arguments have no axes; results are resharded."""
    args = [_typed_on(arg, inside) for arg in call.args]
    # Only positional arguments are resharded.
    kwargs = {key: untyped(value) for key, value in call.kwargs.items()}
    with call.interpreter.within(mesh=MeshValue(inside)):
        result = traced(call.interpreter.call(function, args, kwargs, call.place, call.opaque))
    return _resharded(call, result, sharding)


def _in_explicit(call: Call, function: Value, inside: Mesh, sharding: Value) -> Value:
    """`explicit_axes`: arguments are resharded, and the types of results have the axes that stay Explicit."""
    before = call.interpreter.context.mesh
    with call.interpreter.within(mesh=MeshValue(inside)):
        items = as_items(sharding)
        alone = items is None or len(items) != len(call.args)
        columns = (sharding,) * len(call.args) if alone or items is None else items
        pairs = zip(call.args, columns, strict=True)
        args = [_resharded(call, traced(arg), one) for arg, one in pairs]
        result = traced(call.interpreter.call(function, args, dict(call.kwargs), call.place, call.opaque))
    return (
        _typed_on(result, before.mesh) if isinstance(before, MeshValue) else Unknown("the mesh is not known")
    )


def _typed_on(tree: Value, mesh: Mesh) -> Value:
    """Return the arrays as they are on a mesh with other axis types."""
    return map_arrays(traced(tree), lambda array, _: in_types_of(array, mesh))


def _resharded(call: Call, tree: Value, sharding: Value) -> Value:
    def place_leaf(leaf: Value, array: Array, path: str) -> Value:
        return place_array(call.interpreter, RESHARD, array, leaf, call.place)

    return map_prefix(sharding, tree, place_leaf)


_KIND = {"jax.sharding.auto_axes": AxisType.AUTO, "jax.sharding.explicit_axes": AxisType.EXPLICIT}

TABLE: dict[str, Transfer] = {
    "jax.sharding.auto_axes": _wrapper("jax.sharding.auto_axes", "out_sharding", _in_auto),
    "jax.sharding.explicit_axes": _wrapper("jax.sharding.explicit_axes", "in_sharding", _in_explicit),
}

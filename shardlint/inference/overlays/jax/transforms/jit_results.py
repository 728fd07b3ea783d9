"""The placement of a jitted function's results without out_shardings.

Under `jax.set_mesh` they are placed on that mesh (measured on JAX 0.10.2), along Explicit axes by their
types. On Auto axes new parameters are replicated, even those that Flax boxed with names: boxes are metadata,
which takes effect only through `out_shardings` made from it, or a constraint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shardlint.inference.domain.values import (
    Alternatives,
    Array,
    DictValue,
    LibraryObject,
    ListValue,
    MeshValue,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import Stop
from shardlint.inference.overlays.flax.common.metadata import is_box, names_of
from shardlint.inference.overlays.jax.sharding.movement import (
    computed_in_force,
    home_in_force,
    layout,
    lies_on,
)
from shardlint.inference.overlays.jax.sharding.placement_check import inside_shard_map, mesh_facts
from shardlint.inference.overlays.jax.transforms.donation import is_known
from shardlint.inference.overlays.pytrees.nodes import Trees, parts
from shardlint.inference.overlays.pytrees.prefixes import NO_PATH, arrays_at, arrays_in, map_arrays
from shardlint.inference.overlays.pytrees.trees import leaves
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.core.check_chain import Case
from shardlint.laws.core.values import AxisType, Mesh, Spec, Unknown
from shardlint.laws.core.verdicts import Accepted, Api, Rejected
from shardlint.laws.placement.array_bytes import array_bytes
from shardlint.laws.placement.checks import empty_output
from shardlint.model.uses import CollectiveUse, LogicalAxesUse, OperationUse, ParameterUse, Placement, Use


def note_whole(call: Call) -> None:
    """Record a `jit` whose shardings fit every argument and result: None, or whole on the devices of a mesh.

    Whether anything calls the function does not matter: no shape is refused.
    """
    asked = [call.kwargs[name] for name in ("in_shardings", "out_shardings") if name in call.kwargs]
    if asked and all(map(_fits_any, asked)):
        record_of_value(call.interpreter, call.name, Accepted(), call.place)


def _fits_any(sharding: Value) -> bool:
    if not isinstance(sharding, ShardingValue):
        return is_none(sharding)
    spec = sharding.spec
    return isinstance(sharding.mesh, MeshValue) and isinstance(spec, SpecValue) and not spec.spec.entries


def note_results(call: Call, function: str, args: Sequence[Value], result: Value) -> None:
    """Record the largest array that a call of a jitted function without out_shardings leaves replicated."""
    interpreter = call.interpreter
    holder = interpreter.context.mesh
    if interpreter.context.in_jit is not False or not isinstance(holder, MeshValue):
        return
    if inside_shard_map(interpreter):
        return
    if set(holder.mesh.types) == {AxisType.EXPLICIT}:
        before = {array.shape for arg in args for array in arrays_in(arg)}
        # An array that was replicated before is not reported.
        results = [(array, path) for array, path in arrays_at(result) if array.shape not in before]
        whole = [(array, path) for array, path in results if _is_whole(array, holder.mesh)]
    elif set(holder.mesh.types) == {AxisType.AUTO} and not any(map(_may_be_sharded, args)):
        whole = _boxed(result)
    else:
        return
    sized = [(array_bytes(array.shape or (), array.dtype) or 0, array, path) for array, path in whole]
    if not sized:
        return
    _, array, path = max(sized, key=lambda one: one[0])
    name = f"`{function}`" if function.isidentifier() else function
    interpreter.record(
        Placement(
            place=call.place,
            environment=interpreter.environment(),
            verdict=Accepted(Spec()),
            facts=tuple(mesh_facts(holder)),
            api=Api.JIT_OUT,
            mesh=holder.mesh,
            spec=Spec(),
            shape=array.shape if array.shape is not None else Unknown("shape not known"),
            dtype=array.dtype,
            subject=f"result{path} of {name}, jitted without out_shardings",
        )
    )


def refuse_empty(call: Call, function: str, result: Value) -> bool:
    """Record a result of size 0 that its type splits where JAX refuses that; return whether it does.

    Of several results XLA keeps the shardings, so that JAX refuses none.
    """
    array = only_array(result)
    if array is None or array.shape is None or 0 not in array.shape:
        return False
    typed = array.typed
    if typed is None or not isinstance(typed.mesh, Mesh) or set(typed.mesh.types) != {AxisType.EXPLICIT}:
        return False
    mesh = replace(typed.mesh, abstract=False)
    verdict = empty_output(Case(mesh, typed.spec, array.shape))
    if not isinstance(verdict, Rejected) or inside_shard_map(call.interpreter):
        return False
    call.interpreter.record(
        Placement(
            place=call.place,
            environment=call.interpreter.environment(),
            verdict=replace(verdict, stage="compile"),
            facts=(),
            api=Api.JIT_OUT,
            mesh=mesh,
            spec=typed.spec,
            shape=array.shape,
            dtype=array.dtype,
            subject=f"the result of `{function}`",
        )
    )
    return True


def passed_on(
    call: Call,
    arguments: Sequence[Value],
    traces: Sequence[Value],
    body: Sequence[Use],
    result: Value,
    trees: Trees,
) -> Value:
    """Return the results of a jitted function without out_shardings, committed where its arguments lie.

    An argument that is returned as it is stays where it is; what is computed lies as its operands do if all
    arguments are laid out alike, and nothing in the body asks for another layout. Of arrays that are laid out
    otherwise the compiler may combine the axes, even in what it computes from one of them (JAX 0.10.2 and
    0.12.0.1). Where the arguments are whole, so are all results on the mesh that is set.

    ``traces`` are the arguments as the body received them, ``trees`` as for `nodes.parts`.
    """
    if inside_shard_map(call.interpreter) or call.interpreter.context.in_jit is not False:
        return result
    given = {id(array) for trace in traces for array in arrays_in(trace, trees)}
    homes = [
        array.laid for argument in arguments for array in arrays_in(argument, trees) if array.shape != ()
    ]
    alike = bool(homes) and homes[0] is not None and all(one == homes[0] for one in homes)
    certain = is_known(result) and not any(map(_asks, body))
    if certain and _all_whole(call, [*arguments, *call.kwargs.values()], trees):
        result = map_arrays(
            result, lambda array, _: computed_in_force(call.interpreter, array, ()), NO_PATH, keeps=True
        )
    computed = alike and certain
    computed = computed and all(_is_laid(array) for array in arrays_in(result))

    def keep(array: Array, _: str) -> Array:
        if _is_laid(array) and (computed or id(array) in given):
            return replace(array, sharding=array.laid, committed=array.laid)
        return array

    return map_arrays(result, keep, NO_PATH, keeps=True)


def _all_whole(call: Call, arguments: Sequence[Value], trees: Trees) -> bool:
    """Return whether all arguments are whole on the mesh that is set, along Auto axes, or lie on none."""
    home = home_in_force(call.interpreter)
    if home is None or not all(map(is_known, arguments)):
        return False
    types = home.mesh.mesh.types if isinstance(home.mesh, MeshValue) else ()
    arrays = [one for tree in arguments for one in arrays_in(tree, trees)]
    large = [one for one in arrays if one.shape != () or one.committed is not None]
    return set(types) == {AxisType.AUTO} and all(lies_on(home, one) for one in large)


def _is_laid(array: Array) -> bool:
    """Return whether an array certainly has a layout on the devices of a mesh."""
    known = None if array.laid is None else layout(array.laid)
    return known is not None and not known[0].abstract


def _asks(use: Use) -> bool:
    """Return whether a use may ask for a layout."""
    return isinstance(use, Placement | ParameterUse | OperationUse | CollectiveUse | LogicalAxesUse)


def only_array(tree: Value) -> Array | None:
    """Return the array that is all of a tree, or None if there are, or may be, others."""
    if len(arrays_in(tree)) != 1:
        return None
    try:
        found = leaves(tree)
    except Stop:
        return None
    return found[0] if len(found) == 1 and isinstance(found[0], Array) else None


def _is_whole(array: Array, mesh: Mesh) -> bool:
    """Return whether no axis of the mesh splits an array, by its type."""
    typed = array.typed
    if typed is None or typed.mesh is None or typed.mesh.names != mesh.names:
        return False
    return not (any(typed.spec.entries) or typed.spec.unreduced or typed.spec.reduced)


def _boxed(tree: Value) -> list[tuple[Array, str]]:
    """Return the arrays in boxes with names, in a tree."""
    if isinstance(tree, LibraryObject) and is_box(tree):
        value, names = tree.fields["value"], names_of(tree.fields.get("names"))
        entries = names.spec.entries if isinstance(names.spec, Spec) else ()
        partitioned = any(isinstance(entry, str | tuple) for entry in entries)
        return [(value, "")] if isinstance(value, Array) and partitioned else []
    below = _children(tree).items()
    return [(array, f"{at}{path}") for at, child in below for array, path in _boxed(child)]


def _may_be_sharded(tree: Value) -> bool:
    """Return whether an argument may have a sharding: it is unknown, placed, or boxed."""
    if isinstance(tree, Array):
        return tree.sharding is not None
    if isinstance(tree, Unknown | Alternatives) or (isinstance(tree, LibraryObject) and is_box(tree)):
        return True
    return any(map(_may_be_sharded, _children(tree).values()))


def _children(tree: Value) -> dict[str, Value]:
    if isinstance(tree, DictValue):
        return {f"[{key!r}]": item for key, item in (tree.items or {}).items()}
    if isinstance(tree, Tuple | ListValue):
        return {f"[{i}]": item for i, item in enumerate(tree.items or ())}
    return {f".{name}": part for name, part in (parts(tree) or {}).items()}

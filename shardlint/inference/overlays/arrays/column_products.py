"""Products inside `jax.jit` with weights whose columns are split, on Auto axes.

What comes of the first is split along its last dimension, also after functions of single elements. A second
weight that splits its columns over the same axes needs all of it: XLA gathers it (JAX 0.10.2 and 0.12.0.1),
where a weight that splits its rows would be multiplied in parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shardlint.inference.domain.values import Array, MeshValue, ShardingValue, SpecValue, Value, as_str
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.jax.sharding.movement import (
    OPEN,
    computed_from_gathered,
    layout,
    note_multiplied,
)
from shardlint.laws.core.dims import equal
from shardlint.laws.core.values import Entry, Mesh, Spec, Unknown, entry_axes
from shardlint.laws.core.verdicts import Accepted
from shardlint.model.memory_uses import ColumnsUse
from shardlint.model.spans import Place
from shardlint.model.uses import Fact

#: Layers that multiply their input with a matrix, `kernel`.
_DENSE = frozenset({"Dense", "Linear"})


def multiplied(interpreter: Evaluator, result: Value, x: Value, weight: Value, place: Place | None) -> Value:
    """Return the product of an array with a matrix, split along its last dimension if the matrix splits its
    columns; record an array that is gathered for it."""
    context = interpreter.context
    if context.in_jit is not True or context.mapped or context.bound_axes or place is None:
        return result
    result = computed_from_gathered(result, (x, weight))
    note_multiplied(interpreter, result)
    if not isinstance(result, Array) or not isinstance(x, Array) or not isinstance(weight, Array):
        return result
    known = None if weight.laid is None else layout(weight.laid)
    if known is None or weight.laid is None or len(weight.shape or ()) != 2 or len(x.shape or ()) < 2:
        return result
    mesh, spec = known
    _, last = (*spec.entries, None, None)[:2]
    if not _splits(mesh, last):
        return result
    _note(interpreter, x, weight, known, place)
    rows = _rows_of(x, mesh)
    if rows is None or set(rows) & {*entry_axes(last)}:
        return result
    entries = (_entry(rows), *(OPEN,) * (len(x.shape or ()) - 2), last)
    origin = replace(weight.laid, spec=SpecValue(Spec(entries)), origin=weight.laid.origin or place)
    return replace(result, columns=origin)


def contracted(call: Call, result: Value) -> Value:
    """Return the result of an einsum, as `multiplied` if it multiplies an array with a matrix."""
    subscripts = as_str(call.args[0]) if len(call.args) == 3 else None
    if subscripts is None or not _is_product(subscripts.replace(" ", "")):
        return result
    return multiplied(call.interpreter, result, call.args[1], call.args[2], call.place)


def _is_product(subscripts: str) -> bool:
    """Return whether subscripts are those of a product with a matrix: ``btd,df->btf``."""
    terms, _, output = subscripts.partition("->")
    first, _, second = terms.partition(",")
    if len(second) != 2 or not first or not output:
        return False
    return (first[-1], output) == (second[0], first[:-1] + second[1]) and second[1] not in first


def layer_multiplied(
    interpreter: Evaluator, layer: str, result: Value, operands: Sequence[Value], place: Place
) -> Value:
    """Return the result of a layer, as `multiplied` if it multiplies its input with a matrix."""
    result = computed_from_gathered(result, operands)
    kernels = [one for one in operands if isinstance(one, Array) and one.name == "kernel"]
    if layer not in _DENSE or not operands or len(kernels) != 1:
        return result
    return multiplied(interpreter, result, operands[0], kernels[0], place)


def _note(interpreter: Evaluator, x: Array, weight: Array, known: tuple[Mesh, Spec], place: Place) -> None:
    mesh, spec = known
    home, (first, last) = x.columns, (*spec.entries, None, None)[:2]
    if home is None or not isinstance(home.mesh, MeshValue) or not isinstance(home.spec, SpecValue):
        return
    rows, *_, columns = home.spec.spec.entries
    axes = entry_axes(columns)
    if home.mesh.mesh != mesh or axes != entry_axes(last) or set(axes) & {*entry_axes(first)}:
        return
    # Along an axis that splits nothing XLA may divide the product otherwise.
    several = {name for name in mesh.names if equal(mesh.size_of(name), 1) is not True}
    if several - {*axes, *entry_axes(rows)} or x.shape is None or weight.shape is None:
        return
    interpreter.record(
        ColumnsUse(
            place=place,
            environment=interpreter.environment(),
            verdict=Accepted(),
            facts=tuple(_facts(home, weight)),
            mesh=mesh,
            spec=spec,
            held=Spec((rows, *(None,) * (len(x.shape) - 2), columns)),
            shape=x.shape,
            columns=weight.shape[1],
            dtype=x.dtype,
            subject=f"`{weight.name}`" if weight.name else "the weight",
        )
    )


def _facts(home: ShardingValue, weight: Array) -> list[Fact]:
    second = None if weight.laid is None else weight.laid.origin
    pairs = {home.origin: "the weight before is laid out by this", second: "this one is laid out by this"}
    return [Fact(text, place) for place, text in pairs.items() if place is not None]


def _rows_of(x: Array, mesh: Mesh) -> tuple[str, ...] | None:
    """Return the axes that split the first dimension of an array; None if they are not known."""
    for home in (x.laid, x.columns):
        if home is None or not isinstance(home.mesh, MeshValue) or not isinstance(home.spec, SpecValue):
            continue
        first, *_ = (*home.spec.spec.entries, None)
        if home.mesh.mesh == mesh and not isinstance(first, Unknown):
            return entry_axes(first)
    return None


def _splits(mesh: Mesh, entry: Entry) -> bool:
    return any(axis in mesh.names and equal(mesh.size_of(axis), 1) is False for axis in entry_axes(entry))


def _entry(axes: tuple[str, ...]) -> Entry:
    return axes[0] if len(axes) == 1 else axes or None

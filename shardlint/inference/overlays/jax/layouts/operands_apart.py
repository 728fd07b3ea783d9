"""Operands inside `jax.jit` that an Auto axis splits along different dimensions of what is computed of them.

Each device has other parts of the two, so XLA moves one (an all-to-all or an all-gather: JAX 0.10.2 and
0.12.0.1). Of a product the same holds for an operand and for the layout that a constraint asks for, if the
axis splits nothing of the other operand. Only its second operand is judged, the weight: activations whose
batch is split over the axis that a weight is stored along in parts are meant to gather it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace

from shardlint.inference.domain.histories import Product
from shardlint.inference.domain.values import Array, Value, as_str, is_none
from shardlint.inference.evaluation.call import Call, CannotBind
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.arrays.operands import Stop
from shardlint.inference.overlays.jax.explicit.primitives import Open, Rule
from shardlint.inference.overlays.jax.explicit.recording import short_name
from shardlint.inference.overlays.jax.explicit.rules import contractions
from shardlint.inference.overlays.jax.explicit.rules.einsum import einsum, written_out
from shardlint.inference.overlays.jax.explicit.rules.indexing import FULL, spelled
from shardlint.inference.overlays.jax.layouts.apart_uses import factor_of, is_followed, note_apart, together
from shardlint.laws.core.dims import Shape
from shardlint.model.spans import Place

#: Names of the dimensions of arrays that have as many, and of the two of a matrix that follow them.
_DIMENSIONS, _ROWS, _BETWEEN, _COLUMNS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "r", "b", "c"
_MATMUL: tuple[Rule, ...] = (contractions.matmul, contractions.at_operator)


def note_product(call: Call, name: str, rule: Rule | None, result: Value) -> Value:
    """Return a product with what it was computed of; record operands of it that an axis splits apart."""
    if not is_followed(call.interpreter) or not isinstance(result, Array) or call.place is None:
        return result
    terms = _terms(call, rule)
    if terms is None:
        return result
    given = [one for one in call.args if isinstance(one, Array)]
    return _multiplied(call.interpreter, result, given, terms, _shown(name), call.place)


def _multiplied(
    interpreter: Evaluator,
    result: Array,
    given: Sequence[Array],
    terms: tuple[str, str, str],
    function: str,
    place: Place,
) -> Array:
    (x, weight), (*letters, output) = given, terms
    known = together((x, letters[0]), (weight, letters[1]))
    if known is None:
        return result
    mesh, beside, operand = known
    shared = "".join(name for name in output if all(name in one for one in letters))
    factor = factor_of(weight, operand, "the weight")
    if note_apart(interpreter, mesh, factor, beside, x.name, shared, function, place):
        return result
    return replace(result, product=Product(mesh, beside, factor, output))


def note_elementwise(call: Call, name: str) -> None:
    """Record two operands of one shape, combined element by element, that an axis splits apart."""
    arrays = [one for one in call.args if isinstance(one, Array) and one.laid is not None]
    if len(arrays) < 2 or not is_followed(call.interpreter) or call.place is None:
        return
    for one, other in itertools.pairwise(arrays):
        letters = _DIMENSIONS[: len(one.shape or ())]
        known = together((one, letters), (other, letters)) if one.shape == other.shape else None
        if known is not None:
            mesh, first, second = known
            factor, function = factor_of(other, second), _shown(name)
            note_apart(call.interpreter, mesh, factor, first, one.name, letters, function, call.place)


def note_updated(call: Call, array: Array, key: Value, new: Value) -> None:
    """Record what ``x.at[key].set(y)``, or a relative, writes if an axis splits it apart from the array."""
    shape = array.shape or ()
    try:
        items = [item for item in spelled(key, len(shape)) if not is_none(item)]
    except Open:
        return
    whole = [*itertools.takewhile(lambda item: item == FULL, reversed(items))]
    name = f".at[...].{call.name.rpartition('.')[2]}"
    _note_written(call, array, new, range(len(shape) - len(whole), len(shape)), name)


def note_update(call: Call, name: str) -> None:
    """Record what replaces a slice of an array if an axis splits it apart from the array."""
    array, new = call.args[:2]
    if isinstance(array, Array) and isinstance(new, Array) and len(array.shape or ()) == len(new.shape or ()):
        _note_written(call, array, new, range(len(array.shape or ())), _shown(name))


def _note_written(call: Call, array: Array, new: Value, dimensions: Iterable[int], function: str) -> None:
    """``dimensions`` of the array are those that what is written has as well."""
    if not isinstance(new, Array) or not new.shape or not array.shape or not is_followed(call.interpreter):
        return
    letters = _DIMENSIONS[: len(array.shape)]
    known = together((array, letters), (new, letters[-len(new.shape) :]))
    if known is not None:
        mesh, home, written = known
        shared = "".join(letters[at] for at in dimensions)
        factor = factor_of(new, written)
        note_apart(call.interpreter, mesh, factor, home, array.name, shared, function, call.place)


def _shown(name: str) -> str:
    """Return a function, or an operator (``2 @``), as programs name it."""
    return short_name(name.removeprefix("2 "))


def _terms(call: Call, rule: Rule | None) -> tuple[str, str, str] | None:
    """Return the letters of the operands of a product and of its result; None if they are not known."""
    shapes = [one.shape for one in call.args if isinstance(one, Array) and one.shape is not None]
    try:
        if rule is einsum:
            subscripts = as_str(call.args[0]) if len(call.args) == 3 else None
            if subscripts is None or len(shapes) != 2:
                return None
            (x, weight), output = written_out(subscripts, [len(shape) for shape in shapes])
            repeated = any(len(set(names)) < len(names) for names in (x, weight, output))
            return None if repeated else (x, weight, output)
        if rule in _MATMUL or rule is contractions.dot:
            return _of_matrices(shapes) if len(call.args) == len(shapes) == 2 else None
    except (Open, Stop, CannotBind):
        pass
    return None


def _of_matrices(shapes: Sequence[Shape]) -> tuple[str, str, str] | None:
    """Return the letters of a product of matrices, or of stacks of as many of them."""
    a, b = map(len, shapes)
    if min(a, b) < 2 or (b > 2 and a != b):
        return None
    lead = _DIMENSIONS[: a - 2]
    return lead + _ROWS + _BETWEEN, lead[: b - 2] + _BETWEEN + _COLUMNS, lead + _ROWS + _COLUMNS

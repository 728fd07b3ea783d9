"""Helpers of all array overlays: operands, axes, broadcasting, and tables of guarded functions.

A transfer function may stop early: `reject` if the library raises for these shapes, `unresolved` if it needs
something that is unknown. Tables turn both into `Unknown`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import NoReturn

from shardlint.inference.domain.iteration import iterate
from shardlint.inference.domain.values import (
    Array,
    Const,
    Devices,
    Integer,
    LibraryObject,
    ListValue,
    SetValue,
    Tuple,
    Value,
    as_int,
    as_items,
    as_size,
    is_none,
)  # fmt: skip
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.dtypes import as_dtype, narrowed, promote
from shardlint.laws.core.dims import Dim, Expr, Quotient, Shape, equal, fresh, lower_bound
from shardlint.laws.core.values import Unknown
from shardlint.model.origins import plain_kind
from shardlint.support.lazy_dataclass import dataclass

Transfer = Callable[[Call], Value]
_NO_NAMES: Mapping[str, tuple[str, ...]] = {}


@dataclass(frozen=True, slots=True)
class Impossible(Unknown):
    """The result of a call that the library rejects for its operands; ``problem`` is the reason."""

    problem: str


class Stop(Exception):
    """Raised when a result is unknown; ``rejected`` if the library raises."""

    def __init__(self, reason: str, rejected: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.rejected = rejected

    def answer(self, name: str) -> Unknown:
        """Return the value of a call of ``name`` that stopped."""
        if self.rejected:
            return Impossible(f"rejected by {name}: {self.reason}", self.reason)
        return Unknown(f"{name}: {self.reason}")


def reject(reason: str) -> NoReturn:
    """Stop: the library raises for these operands, whatever the open sizes are."""
    raise Stop(reason, rejected=True)


def unresolved(reason: str) -> NoReturn:
    """Stop: the result depends on something unknown."""
    raise Stop(reason)


def table(
    prefix: str, functions: Mapping[str, Transfer], parameters: Mapping[str, tuple[str, ...]] = _NO_NAMES
) -> dict[str, Transfer]:
    """Return the table with qualified names; each `Stop` is an Unknown.

    ``parameters`` has the first parameters of functions whose overlays have other names for them: one overlay
    stands for `jnp.add`, which takes no keywords, and for `jnp.gcd(x1, x2)`.
    """
    return {
        f"{prefix}{name}": _guarded(function, parameters.get(name, ()))
        for name, function in functions.items()
    }


def by_position(call: Call, names: tuple[str, ...]) -> Call:
    """Return the call with arguments by these names, the first parameters, in their positions."""
    names = names[len(call.args) :]
    if call.opaque or not names or names[0] not in call.kwargs:
        return call
    args, kwargs, places = list(call.args), dict(call.kwargs), dict(call.arg_places)
    for name in names:
        if name not in kwargs:
            break
        if name in places:
            places[len(args)] = places.pop(name)
        args.append(kwargs.pop(name))
    return replace(call, args=args, kwargs=kwargs, arg_places=places)


def _guarded(function: Transfer, names: tuple[str, ...]) -> Transfer:
    @wraps(function)
    def guarded(call: Call) -> Value:
        try:
            return function(by_position(call, names) if names else call)
        except Stop as stop:
            return stop.answer(call.name)
        except ZeroDivisionError:
            return Stop("division by zero", rejected=True).answer(call.name)

    return guarded


def is_numpy(call: Call) -> bool:
    """Return whether the call is of numpy (a function, or a method of a numpy array)."""
    return call.name.startswith("numpy.")


def operand(value: Value | None, numpy: bool = False) -> Array:
    """Return the array that a value is, or is converted to, as an argument of JAX (or numpy).

    Python scalars are weakly typed, nested lists become arrays, an unknown value is an array of unknown rank.
    Stops for values that no array function accepts.
    """
    if isinstance(value, Array):
        return value if numpy or not value.numpy else replace(value, numpy=False, dtype=narrowed(value.dtype))
    if isinstance(value, Const) and isinstance(value.value, (bool, int, float, complex)):
        return Array(
            (), _scalar_dtype(value.value, numpy), weak=not isinstance(value.value, bool), numpy=numpy
        )
    if isinstance(value, Integer):
        return Array((), "int64" if numpy else "int32", weak=True, numpy=numpy)
    if isinstance(value, Devices):
        return Array(value.shape, "object", numpy=True)
    if (items := as_items(value)) is not None:
        return _stacked([operand(item, numpy) for item in items], numpy)
    if isinstance(value, LibraryObject) and isinstance(value.fields.get("value"), Array):
        return operand(value.fields["value"], numpy)
    if value is None or isinstance(value, (Const, SetValue)):
        reject("not an array")
    return Array(None, None, numpy=numpy)


def _scalar_dtype(scalar: bool | int | float | complex, numpy: bool) -> str:
    if isinstance(scalar, bool):
        return "bool"
    name = {int: "int64", float: "float64", complex: "complex128"}[plain_kind(scalar)]
    return name if numpy else narrowed(name) or name


def _stacked(items: list[Array], numpy: bool) -> Array:
    """Return the array made from a list of array-likes; it is strongly typed."""
    if not items:
        return Array((0,), "float64" if numpy else "float32", numpy=numpy)
    dtype, _ = promote(((item.dtype, item.weak) for item in items), numpy)
    shape = same_shape([item.shape for item in items])
    return Array(None if shape is None else (len(items), *shape), dtype, numpy=numpy)


def same_shape(shapes: Sequence[Shape | None]) -> Shape | None:
    """Return the one shape that all must have, with the best known size of each dimension."""
    known = [shape for shape in shapes if shape is not None]
    if len(known) < len(shapes) and not known:
        return None
    if len({len(shape) for shape in known}) > 1:
        reject("shapes differ in rank")
    return tuple(same_dim(dims) for dims in zip(*known, strict=True))


def same_dim(dims: Iterable[Dim]) -> Dim:
    """Return the one size that all must have. Rejects sizes that provably differ."""
    best, *others = dims
    for dim in others:
        if equal(best, dim) is False:
            reject(f"sizes {best} and {dim} differ")
        if isinstance(dim, int):
            best = dim
    return best


def operands(values: Iterable[Value | None], numpy: bool = False) -> list[Array]:
    """Return the arrays that several values are, or are converted to."""
    return [operand(value, numpy) for value in values]


def sequence(value: Value | None, numpy: bool = False) -> list[Array]:
    """Return the arrays in a list, or the slices of an array along its first axis."""
    if (items := as_items(value)) is not None:
        return operands(items, numpy)
    if isinstance(value, Array) and value.shape and isinstance(value.shape[0], int) and value.shape[0] <= 64:
        return [replace(operand(value, numpy), shape=value.shape[1:])] * value.shape[0]
    unresolved("the list of arrays is not known")


def result(call: Call, shape: Shape | None, dtype: str | None, weak: bool = False) -> Array:
    """Return the array that a call returns: numpy's, or JAX's with 64-bit types off."""
    if is_numpy(call):
        return Array(shape, dtype, numpy=True)
    return Array(shape, narrowed(dtype), weak=weak and dtype != "bool")


def like(call: Call, source: Array, shape: Shape | None) -> Array:
    """Return an array with the source's dtype and the given shape."""
    return result(call, shape, source.dtype, source.weak)


def strong(call: Call, source: Array, shape: Shape | None) -> Array:
    """Return an array with the source's dtype, which is unknown if that is weak: releases differ."""
    return result(call, shape, None if source.weak else source.dtype)


def mixed(call: Call, arrays: Sequence[Array]) -> tuple[str | None, bool]:
    """Return the dtype and weak type that a call's operands promote to."""
    numpy = is_numpy(call)
    if numpy and any(not array.numpy for array in arrays):
        return None, False
    return promote(((array.dtype, array.weak) for array in arrays), numpy)


def dtype_argument(value: Value | None, default: str | None) -> str | None:
    """Return the dtype that an argument names, or the default if it is None or missing. Rejects a number."""
    if value is None or is_none(value):
        return default
    if isinstance(value, Integer) or (isinstance(value, Const) and isinstance(value.value, int | float)):
        reject("a number for a dtype")
    return as_dtype(value)


def given(value: Value | None) -> bool:
    """Return whether an optional argument is present and not None."""
    return value is not None and not is_none(value)


def truth(value: Value | None, default: bool) -> bool:
    """Return a boolean argument; stops if it is unknown."""
    if value is None:
        return default
    if isinstance(value, Const) and isinstance(value.value, (bool, int)):
        return bool(value.value)
    unresolved("a flag is not known")


def known_int(value: Value | None, default: int | None = None) -> int:
    """Return an integer argument that determines a structure; stops if it is unknown."""
    if not given(value) and default is not None:
        return default
    number = as_int(value)
    if number is None:
        unresolved("an integer is not known")
    return number


def axis_of(value: Value | None, rank: int) -> int:
    """Return one axis, counted from 0. Rejects an axis out of range."""
    return normal_axis(known_int(value), rank)


def normal_axis(axis: int, rank: int) -> int:
    """Return an axis counted from 0. Rejects an axis out of range."""
    if not -rank <= axis < rank:
        reject(f"axis {axis} of an array of rank {rank}")
    return axis % rank


def axes_of(value: Value | None, rank: int) -> tuple[int, ...]:
    """Return axes counted from 0, in their order; all axes if the argument is None or missing."""
    if not given(value):
        return tuple(range(rank))
    items = as_items(value)
    axes = (axis_of(value, rank),) if items is None else tuple(axis_of(item, rank) for item in items)
    if len(set(axes)) != len(axes):
        reject("an axis is repeated")
    return axes


def rolled_order(axis: int, start: int, rank: int) -> list[int]:
    """Return the order of axes after `rollaxis`. Rejects a start out of range."""
    if not -rank <= start <= rank:
        reject("start is out of range")
    start = start + rank if start < 0 else start
    order = [i for i in range(rank) if i != axis]
    order.insert(start - 1 if axis < start else start, axis)
    return order


def known_rank(array: Array) -> Shape:
    """Return the array's shape; stops if its rank is unknown."""
    if array.shape is None:
        unresolved("the rank is not known")
    return array.shape


def shape_of(value: Value | None) -> Shape:
    """Return a shape argument; unknown items become fresh sizes."""
    items = listed(value)
    if items is None and (dim := as_size(value)) is not None:
        return (dim,)
    if items is None:
        unresolved("the shape is not known")
    shape = tuple(dim if (dim := as_size(item)) is not None else fresh() for item in items)
    if any(isinstance(dim, int) and dim < 0 for dim in shape):
        reject("a negative size")
    return shape


def listed(value: Value | None) -> tuple[Value, ...] | None:
    """Return the items of a tuple, list, or numpy vector, or None."""
    if isinstance(value, Array) and value.numpy and value.shape is not None and len(value.shape) == 1:
        return iterate(value)
    return as_items(value)


def size_of(value: Value | None) -> Dim:
    """Return a size that is given as a number."""
    if as_items(value) is not None:
        unresolved("a size that is no number")
    return shape_of(value)[0]


def signed_dims(value: Value) -> tuple[Dim, ...]:
    """Return the integers of a tuple or list, which may be negative; unknown ones are fresh."""
    return tuple(fresh(None) if (dim := as_size(item)) is None else dim for item in as_items(value) or ())


def signed_row(value: Value, length: int) -> tuple[Dim, ...]:
    """Return the integers of a row in a table; an unknown row has ``length`` fresh ones."""
    return signed_dims(value) if as_items(value) is not None else tuple(fresh(None) for _ in range(length))


def broadcast(shapes: Iterable[Shape | None]) -> Shape | None:
    """Return the shape that shapes broadcast to. Rejects sizes that do not broadcast."""
    found: Shape = ()
    for shape in shapes:
        if shape is None:
            return None
        long, short = (found, shape) if len(found) >= len(shape) else (shape, found)
        lead = len(long) - len(short)
        tail = (broadcast_dim(a, b) for a, b in zip(long[lead:], short, strict=True))
        found = (*long[:lead], *tail)
    return found


def broadcast_dim(a: Dim, b: Dim) -> Dim:
    """Return the size that two sizes broadcast to; fresh if it is not provable."""
    if a == b or b == 1:
        return a
    if a == 1:
        return b
    a_rules, b_rules = equal(a, 1) is False, equal(b, 1) is False
    if a_rules and b_rules:
        return same_dim((a, b))
    if a_rules or b_rules:
        return a if a_rules else b
    return fresh()


def at_most(a: Dim, b: Dim) -> bool:
    """Return whether ``a <= b`` is provable."""
    low = lower_bound(b - a)
    if low is not None and low >= 0:
        return True
    if isinstance(a, Expr) and len(a.terms) == 1 and a.terms[0][1] == 1 and len(a.terms[0][0]) == 1:
        atom = a.terms[0][0][0]
        if isinstance(atom, Quotient) and isinstance(atom.denominator, int) and atom.denominator > 0:
            return (lower_bound(atom.numerator) or 0) >= 0 and at_most(atom.numerator, b)
    return False


def minimum(a: Dim, b: Dim) -> Dim:
    """Return the smaller size; fresh if it is not provable."""
    if at_most(a, b):
        return a
    return b if at_most(b, a) else fresh()


def maximum(a: Dim, b: Dim) -> Dim:
    """Return the larger size; fresh if it is not provable."""
    if at_most(a, b):
        return b
    return a if at_most(b, a) else fresh()


def arrays_tuple(items: Iterable[Value]) -> Tuple:
    """Return a tuple value."""
    return Tuple(tuple(items))


def arrays_list(items: Iterable[Value]) -> ListValue:
    """Return a list value."""
    return ListValue(list(items))

"""Operators on Python values; those on arrays belong to the array overlays."""

from __future__ import annotations

import operator
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

from shardlint.inference.domain import name_links
from shardlint.inference.domain.builtin_bases import answers_first, mixed_in_value, seen_as
from shardlint.inference.domain.class_names import NAMING, same_class
from shardlint.inference.domain.classes import class_attribute, lineage, special_method
from shardlint.inference.domain.havoc import forget_contents
from shardlint.inference.domain.iteration import VIEWS, hashable, iterate
from shardlint.inference.domain.kinds import is_steady, told_apart
from shardlint.inference.domain.lattice import options
from shardlint.inference.domain.truthiness import truth
from shardlint.inference.domain.unknown_choices import undecided
from shardlint.inference.domain.values import (
    Array,
    ClassValue,
    Const,
    DictValue,
    External,
    Function,
    Instance,
    Integer,
    LibraryObject,
    ListValue,
    MeshValue,
    SetValue,
    ShardingValue,
    Sized,
    SpecValue,
    Tuple,
    Value,
    as_bool,
    as_dim,
    as_int,
    as_size,
    integer,
)
from shardlint.inference.evaluation.disjunction import each_option, each_pair
from shardlint.inference.evaluation.iterators import each_left, is_iterator
from shardlint.inference.evaluation.release_queries import OF_VERSION, is_of_version, note_comparison
from shardlint.inference.overlays import jaxtyping
from shardlint.inference.overlays.jax.shard_map.equal_draws import negated, operated
from shardlint.inference.overlays.jax.sharding.mesh_arguments import AXIS_TYPES
from shardlint.inference.overlays.jax.sharding.specs import spec_operation
from shardlint.inference.overlays.object_protocol import delegate
from shardlint.inference.overlays.python.builtins.strings import percent
from shardlint.inference.overlays.python.stdlib.collections import equal_dicts
from shardlint.inference.overlays.pytrees.key_paths import KEYS
from shardlint.laws.core import dims
from shardlint.laws.core.values import Unknown
from shardlint.laws.meshes.construction import equal_meshes
from shardlint.laws.placement.partition_spec import equal_specs
from shardlint.model.spans import Place, Span

if TYPE_CHECKING:
    from shardlint.inference.evaluation.evaluator import Evaluator

#: Largest integer, and longest string or sequence, that arithmetic may produce.
_MAX_BITS, _MAX_LENGTH = 256, 10_000

_BINARY: dict[str, tuple[str, str, Callable[[Any, Any], Any]]] = {
    "Add": ("+", "add", operator.add),
    "Subtract": ("-", "sub", operator.sub),
    "Multiply": ("*", "mul", operator.mul),
    "Divide": ("/", "truediv", operator.truediv),
    "FloorDivide": ("//", "floordiv", operator.floordiv),
    "Modulo": ("%", "mod", operator.mod),
    "Power": ("**", "pow", operator.pow),
    "MatrixMultiply": ("@", "matmul", operator.matmul),
    "BitAnd": ("&", "and", operator.and_),
    "BitOr": ("|", "or", operator.or_),
    "BitXor": ("^", "xor", operator.xor),
    "LeftShift": ("<<", "lshift", operator.lshift),
    "RightShift": (">>", "rshift", operator.rshift),
}
_NOT_IMPLEMENTED = External("builtins.NotImplemented")
_UNARY: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "Minus": ("-", operator.neg),
    "Plus": ("+", operator.pos),
    "BitInvert": ("~", operator.invert),
}
_COMPARE: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "Equal": ("==", operator.eq),
    "NotEqual": ("!=", operator.ne),
    "LessThan": ("<", operator.lt),
    "LessThanEqual": ("<=", operator.le),
    "GreaterThan": (">", operator.gt),
    "GreaterThanEqual": (">=", operator.ge),
}


def binary_operation(interpreter: Evaluator, name: str, a: Value, b: Value, place: Place) -> Value:
    """Evaluate ``a <op> b``; ``name`` is the operator's, as in `_BINARY`."""
    symbol, method, function = _BINARY[name]

    def combine(x: Value, y: Value) -> Value:
        x, y = delegate(x), delegate(y)
        if isinstance(x, Array) or isinstance(y, Array):
            if _unknown(x, y):
                return undecided("an operand is unknown", x, y)
            return operated(interpreter, symbol, x, y, place)
        if isinstance(x, Instance) or isinstance(y, Instance):
            found = _by_methods(interpreter, (x, y), f"__{method}__", f"__r{method}__", place)
            if found is not None:
                return found
        if isinstance(x, SpecValue) or isinstance(y, SpecValue):
            return spec_operation(interpreter, symbol, x, y, place)
        return _python_binary(interpreter, symbol, function, x, y)

    return each_pair(interpreter, a, b, combine)


def _by_methods(
    interpreter: Evaluator, operands: tuple[Value, Value], plain: str, reflected: str, place: Place
) -> Value | None:
    """Return the result of the operands' own methods for an operator; None if there are none.

    The right operand's is called first if its class derives from the left one's.
    """
    x, y = operands
    sides = [(x, y, plain), (y, x, reflected)]
    if isinstance(x, Instance) and isinstance(y, Instance) and x.cls in lineage(y.cls)[1:]:
        sides.reverse()
    if answers_first(x, y):
        return Unknown("the left operand, whose class is another one, answers first")
    for receiver, other, name in sides:
        if not isinstance(receiver, Instance):
            continue
        method = special_method(receiver, name)
        if method is None:
            continue
        answer = interpreter.call(method, [other], {}, place)
        if _NOT_IMPLEMENTED not in options(answer):
            return answer
        if len(options(answer)) > 1:
            return Unknown("it may not answer")
    return None


def find_method(instance: Instance, name: str) -> Function | None:
    """Return a special method that the program defines for an instance."""
    found = class_attribute(instance.cls, name)
    return found if isinstance(found, Function) else None


def _unknown(x: Value, y: Value) -> bool:
    return isinstance(x, Unknown) or isinstance(y, Unknown)


def _python_binary(
    interpreter: Evaluator, symbol: str, function: Callable[[Any, Any], Any], x: Value, y: Value
) -> Value:
    if isinstance(x, Const) and isinstance(y, Const) and not (symbol == "%" and isinstance(x.value, str)):
        return _fold(symbol, function, x.value, y.value)
    a, b = as_dim(x), as_dim(y)
    if a is not None and b is not None:
        return _dim_arithmetic(symbol, a, b)
    if (a := as_size(x)) is not None and (b := as_size(y)) is not None:
        size = as_dim(_dim_arithmetic(symbol, a, b))
        return Unknown(f"`{symbol}` on sizes") if size is None else Sized(f"`{symbol}` on sizes", dim=size)
    if symbol == "+":
        return _concatenate(interpreter, x, y)
    if symbol == "*":
        return _repeat(interpreter, x, y)
    if symbol == "|" and isinstance(x, DictValue) and isinstance(y, DictValue):
        if "Counter" in (x.kind, y.kind):
            return Unknown("`|` on counters")
        joined = None if x.items is None or y.items is None else {**x.items, **y.items}
        if joined is None:
            forget_contents(x, y)
        return DictValue(joined, path=interpreter.path, kind=x.kind, default=x.default)
    if symbol == "%" and isinstance(x, Const) and isinstance(x.value, str):
        return percent(x.value, y)
    if symbol == "|" and (classes := jaxtyping.union(x, y)) is not None:
        return classes
    if isinstance(x, SetValue) and isinstance(y, SetValue) and symbol in "|&-^":
        items = None if x.items is None or y.items is None else function(x.items, y.items)
        return SetValue(items, frozen=x.frozen, path=interpreter.path)
    forget_contents(x, y)
    return undecided(f"`{symbol}` on values that are not known", x, y)


def _fold(symbol: str, function: Callable[[Any, Any], Any], a: Any, b: Any) -> Value:
    """Compute with constants, within bounds on what the result may hold."""
    if symbol in ("**", "<<") and not (isinstance(b, (int, float)) and abs(b) <= _MAX_BITS):
        return Unknown("too large to compute")
    if symbol == "*" and any(isinstance(v, (str, bytes)) for v in (a, b)):
        length = len(a) * b if isinstance(a, str | bytes) and isinstance(b, int) else 0
        length = length or (len(b) * a if isinstance(b, str | bytes) and isinstance(a, int) else 0)
        if length > _MAX_LENGTH:
            return Unknown("too long to compute")
    if any(isinstance(v, int) and v.bit_length() > 8 * _MAX_BITS for v in (a, b)):
        return Unknown("too large to compute")
    if (
        symbol == "+"
        and isinstance(a, str | bytes)
        and isinstance(b, str | bytes)
        and len(a) + len(b) > _MAX_LENGTH
    ):
        return Unknown("too long to compute")
    if symbol == "%" and isinstance(a, str | bytes):
        return Unknown("a formatted string")
    try:
        result = function(a, b)
        huge = isinstance(result, int) and result.bit_length() > 8 * _MAX_BITS
        return Unknown("too large to compute") if huge else Const(result)
    except Exception:  # whatever Python raises, the program raises too
        return Unknown("raises in Python")


def _dim_arithmetic(symbol: str, a: dims.Dim, b: dims.Dim) -> Value:
    try:
        if symbol == "+":
            return integer(a + b)
        if symbol == "-":
            return integer(a - b)
        if symbol == "*":
            return integer(a * b)
        if symbol == "//":
            return integer(dims.floordiv(a, b))
        if symbol == "%":
            return integer(dims.mod(a, b))
        if symbol == "**" and isinstance(b, int) and 0 <= b <= 4:
            return integer(dims.product([a] * b))
    except ZeroDivisionError:
        return Unknown("divides by zero")
    return Unknown(f"`{symbol}` on sizes")


def _concatenate(interpreter: Evaluator, x: Value, y: Value) -> Value:
    lengths = [len(v.items) for v in (x, y) if isinstance(v, (Tuple, ListValue)) and v.items is not None]
    if sum(lengths) > _MAX_LENGTH:
        forget_contents(x, y)
        return Unknown("too long to compute")
    if isinstance(x, Tuple) and isinstance(y, Tuple):
        return Tuple(x.items + y.items, x.origin)
    if isinstance(x, ListValue) and isinstance(y, ListValue) and x.kind == y.kind != "range":
        known = x.items is not None and y.items is not None
        if not known:
            forget_contents(x, y)
        joined = [*(x.items or ()), *(y.items or ())] if known else None
        return ListValue(joined, path=interpreter.path, kind=x.kind)
    forget_contents(x, y)
    return undecided("`+` on values that are not known", x, y)


def _repeat(interpreter: Evaluator, x: Value, y: Value) -> Value:
    for sequence, times in ((x, y), (y, x)):
        # A test repeats a sequence once, or not at all.
        count = as_int(times) if as_bool(times) is None else as_bool(times)
        if count is None or not isinstance(sequence, Tuple | ListValue):
            continue
        if isinstance(sequence, ListValue) and sequence.kind == "range":
            return Unknown("a range, which nothing multiplies")
        if sequence.items is None or len(sequence.items) * count > _MAX_LENGTH:
            forget_contents(sequence)
            return Unknown("too long to compute")
        if isinstance(sequence, Tuple):
            return Tuple(sequence.items * count, sequence.origin)
        return ListValue(list(sequence.items) * count, path=interpreter.path, kind=sequence.kind)
    forget_contents(x, y)
    return undecided("`*` on values that are not known", x, y)


def compare(interpreter: Evaluator, name: str, a: Value, b: Value, place: Place | None = None) -> Value:
    """Evaluate one comparison; ``name`` is the operator's, as in `_COMPARE`."""
    return each_pair(interpreter, a, b, lambda x, y: _compare(interpreter, name, x, y, place))


def _compare(interpreter: Evaluator, name: str, x: Value, y: Value, place: Place | None) -> Value:
    if name in ("Equal", "NotEqual", "Is", "IsNot") and (same := _same_class(x, y)) is not None:
        return Const(same is (name in ("Equal", "Is")))
    if name in ("Is", "IsNot"):
        outcome = _identical(x, y)
        told = Const(outcome is (name == "Is"))
        return undecided("identity is not known", x, y) if outcome is None else told
    if name in ("In", "NotIn"):
        outcome = _has(interpreter, y, x, place)
        told = Const(outcome is (name == "In"))
        return undecided("membership is not known", x, y) if outcome is None else told
    x, y = _compared(x), _compared(y)
    sizes = as_size(x) is not None and as_size(y) is not None
    if _unknown(x, y) and not sizes:
        if is_of_version(x) or is_of_version(y):
            return Unknown(OF_VERSION)
        return undecided("compared with something unknown", x, y)
    if isinstance(x, Instance) or isinstance(y, Instance):
        at = place or Span("", 1, 1, 1, 1)
        found = _by_methods(interpreter, (x, y), _COMPARE_METHODS[name], _REFLECTED[name], at)
        if found is not None:
            return found
        if name == "NotEqual" and _by_methods(interpreter, (x, y), "__eq__", "__eq__", at) is not None:
            return Unknown("what is not equal")
    if isinstance(x, Array) or isinstance(y, Array):
        symbol = _COMPARE[name][0]
        return operated(interpreter, symbol, x, y, place)
    if interpreter.versions_read:
        note_comparison(interpreter, _COMPARE[name][1], _plain(x), _plain(y))
    outcome = _ordered(name, x, y)
    return Unknown("not comparable here") if outcome is None else Const(outcome)


def _compared(value: Value) -> Value:
    """Return what an object without methods of the program's own compares as: a version as its numbers."""
    if isinstance(value, LibraryObject) and value.kind.startswith("packaging."):
        return delegate(value)
    return mixed_in_value(value) or value


def _same_class(x: Value, y: Value) -> bool | None:
    """Return whether two values are the same class, or the same name of one; None if they are none."""
    return same_class(x, y) if type(x) in NAMING or type(y) in NAMING else None


def _ordered(name: str, x: Value, y: Value) -> bool | None:
    if isinstance(x, Const) and isinstance(y, Const):
        try:
            holds = bool(_COMPARE[name][1](x.value, y.value))
            if name in ("Equal", "NotEqual") and holds is (name == "Equal"):
                name_links.equate(x, y)
            return holds
        except Exception:  # not comparable in Python either
            return None
    a, b = as_size(x), as_size(y)
    if a is not None and b is not None:
        return dims.compare(_COMPARE[name][0], a, b)
    known_sets = all(isinstance(one, SetValue) and one.items is not None for one in (x, y))
    if known_sets or (type(x) is type(y) and name not in ("Equal", "NotEqual")):
        with suppress(TypeError):  # Of what is not known, too: None has no order.
            return bool(_COMPARE[name][1](_plain(x), _plain(y)))
    if name in ("Equal", "NotEqual"):
        outcome = _same_class(x, y)
        outcome = _equal(x, y) if outcome is None else outcome
        if outcome:
            name_links.equate(x, y)
        return None if outcome is None else outcome is (name == "Equal")
    return None


def _plain(value: Value) -> Any:
    """Return a constant, a set, or a tuple of the constants in a sequence; None for anything else."""
    if isinstance(value, Const | SetValue):
        return value.value if isinstance(value, Const) else value.items
    if not isinstance(value, Tuple | ListValue) or value.items is None:
        return None
    parts = [item.value for item in value.items if isinstance(item, Const)]
    return tuple(parts) if len(parts) == len(value.items) else None


def _equal(x: Value, y: Value) -> bool | None:
    """Return whether containers or other values are provably equal or unequal; None if neither."""
    if isinstance(x, (Tuple, ListValue)) and type(x) is type(y) and isinstance(y, (Tuple, ListValue)):
        if getattr(x, "kind", "") != getattr(y, "kind", ""):
            return False
        if x.items is None or y.items is None:
            return None
        if len(x.items) != len(y.items):
            return False
        outcomes = [_alike(a, b) for a, b in zip(x.items, y.items, strict=True)]
        return False if False in outcomes else None if None in outcomes else True
    if isinstance(x, DictValue) and isinstance(y, DictValue):
        return equal_dicts(x, y, _alike)
    if isinstance(x, External) and isinstance(y, External):
        types = x.name.startswith(AXIS_TYPES) and y.name.startswith(AXIS_TYPES)
        return True if x.name == y.name else False if types else None
    if isinstance(x, Instance) and isinstance(y, Instance):
        return _same_member(x, y)
    if isinstance(x, SpecValue) and isinstance(y, SpecValue):
        return equal_specs(x.spec, y.spec)
    if isinstance(x, MeshValue) and isinstance(y, MeshValue):
        return equal_meshes(x.mesh, y.mesh)
    if isinstance(x, ShardingValue) and isinstance(y, ShardingValue):
        return False if _equal(x.mesh, y.mesh) is False or _equal(x.spec, y.spec) is False else None
    keys = [one for one in (x, y) if isinstance(one, LibraryObject) and one.kind in KEYS]
    if len(keys) == 2:
        return keys[0].kind == keys[1].kind and _alike(*(one.fields[KEYS[one.kind][0]] for one in keys))
    constants = [isinstance(one, Const) for one in (x, y)]
    held = [isinstance(one, Tuple | ListValue | DictValue) for one in (x, y)]
    return False if any(constants) and (any(held) or keys) else None


#: The method that a comparison calls on its left side, and on its right side if the left one has none.
_COMPARE_METHODS = {name: f"__{function.__name__}__" for name, (_, function) in _COMPARE.items()}
_REFLECTED = {
    **_COMPARE_METHODS, "LessThan": "__gt__", "GreaterThan": "__lt__", "LessThanEqual": "__ge__",
    "GreaterThanEqual": "__le__",
}  # fmt: skip


def _has(interpreter: Evaluator, container: Value, item: Value, place: Place | None) -> bool | None:
    """Evaluate ``item in container``; objects of the program have their method called."""
    at = place or Span("", 1, 1, 1, 1)
    container = seen_as(container, "__contains__")
    if is_iterator(container):
        return _is_left(interpreter, container, item, at)
    if not isinstance(container, Instance):
        return _contains(container, item)
    method = special_method(container, "__contains__")
    return None if method is None else truth(interpreter.call(method, [item], {}, at))


def _is_left(interpreter: Evaluator, iterator: Value, item: Value, place: Place) -> bool | None:
    """Evaluate ``item in iterator``, which draws all items up to that one."""
    found: bool | None = False
    with ExitStack() as forks:
        for drawn in each_left(interpreter, iterator, place):
            outcome = truth(compare(interpreter, "Equal", item, drawn.item)) if drawn.sure else None
            if outcome is True:
                return True
            if outcome is None:
                found = None
                forks.enter_context(interpreter.forked())
    return found


def _identical(x: Value, y: Value) -> bool | None:
    if _unknown(x, y) or (x is y and is_steady(x)):
        return None
    if told_apart(x, y):
        return False
    if isinstance(x, Const) and isinstance(y, Const):
        if x.value is None or y.value is None or isinstance(x.value, bool) or isinstance(y.value, bool):
            return x.value is y.value
        return None
    if isinstance(x, Const) or isinstance(y, Const):
        constant, other = (x, y) if isinstance(x, Const) else (y, x)
        # Library names may stand for constants (`jax.lax.Precision.DEFAULT` is not None, others may be).
        certain = not isinstance(other, External | LibraryObject)
        return False if certain and isinstance(constant, Const) and constant.value is None else None
    return True if x is y else _same_member(x, y)


def _same_member(x: Value, y: Value) -> bool | None:
    """Return whether two enumeration members are identical: names of equal values are aliases."""
    if not isinstance(x, Instance) or not isinstance(y, Instance):
        return None
    if any(value not in (value.cls.members or {}).values() for value in (x, y)):
        return None
    if x is y or x.cls is not y.cls:
        return x is y
    first, second = (value.attributes.get("_value_") or Unknown("a value") for value in (x, y))
    return False if _ordered("Equal", first, second) is False else None


def _alike(x: Value, y: Value) -> bool | None:
    """Return whether containers identify two items: a number that equals nothing (NaN) equals itself
    there."""
    if isinstance(x, Const) and isinstance(y, Const) and x.value != x.value and y.value != y.value:
        return None
    return _ordered("Equal", x, y)


def _contains(container: Value, item: Value) -> bool | None:
    if isinstance(container, Const) and isinstance(item, Const):
        if isinstance(container.value, str) and isinstance(item.value, str):
            return item.value in container.value
        return None
    if isinstance(container, DictValue | SetValue):
        found, key = hashable(item)
        if container.items is None or not found:
            return None
        name_links.look_up(key, container.items)
        return key in container.items
    if isinstance(container, ClassValue) and container.members is not None:
        return True if item in container.members.values() else None
    if isinstance(container, SpecValue) or (isinstance(container, LibraryObject) and container.kind in VIEWS):
        entries = iterate(container)
        return None if entries is None else _contains(Tuple(entries), item)
    if isinstance(container, Tuple | ListValue) and container.items is not None:
        outcomes = [_alike(item, other) for other in container.items]
        return True if True in outcomes else None if None in outcomes else False
    return None


def unary_operation(interpreter: Evaluator, name: str, value: Value, place: Place) -> Value:
    """Evaluate ``-x``, ``+x``, ``~x`` or ``not x``; ``name`` is the operator's (``Minus``)."""
    if name == "Not":
        outcome = truth(value)
        return undecided("`not` of something undecided", value) if outcome is None else Const(not outcome)
    return each_option(interpreter, value, lambda option: _unary(interpreter, name, option, place))


def _unary(interpreter: Evaluator, name: str, value: Value, place: Place) -> Value:
    symbol, function = _UNARY[name]
    if isinstance(value, Array):
        return negated(interpreter, symbol, value, place)
    if isinstance(value, Const) and isinstance(value.value, int | float | complex):
        try:
            return Const(function(value.value), value.origin)
        except TypeError:
            return Unknown("raises in Python")
    if isinstance(value, Integer) and symbol in "-+":
        return integer(value.dim * (-1 if symbol == "-" else 1))
    return undecided(f"`{symbol}` on something unknown", value)

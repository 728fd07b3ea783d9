"""Random calls, evaluated four ways: by JAX or numpy, and by the overlays: with sizes, with symbols, and with
parts of the arguments unknown.

A case is made once, of abstract values whose sizes are partly symbols; `Draw.sizes` says what the
symbols stand for. Substituting first and last must both give what the library gives.
"""

from __future__ import annotations

import importlib
import inspect
import os
import random
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import numpy as np
from support.sizes import size

from shardlint.inference.domain.values import (
    Array,
    Const,
    DictValue,
    External,
    Integer,
    ListValue,
    Native,
    Slice,
    Tuple,
    Value,
    integer,
)  # fmt: skip
from shardlint.inference.evaluation.call import Call, CannotBind
from shardlint.inference.evaluation.context import Context
from shardlint.inference.overlays.registry import transfer
from shardlint.laws.core.dims import Dim, Shape, substitute, symbol, symbols
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Span

PLACE = Span("case.py", 1, 1, 1, 2)
#: Cases an entry; the environment may ask for more.
CASES = size("SHARDLINT_OVERLAY_CASES", 6, 12)
DTYPES = ("float32", "float32", "bfloat16", "int32", "int8", "uint8", "bool", "float16")
NUMPY_DTYPES = ("float64", "float32", "int64", "int32", "int8", "uint8", "bool", "float16")

#: What a `Native` of a case is in Python, by its description.
FUNCTIONS: dict[str, Callable[..., Any]] = {}


class FakeInterpreter:
    """Calls the abstract functions of the cases."""

    path = ()
    context = Context()

    def within(self, **changes: object) -> AbstractContextManager[None]:
        """No case asks what surrounds it."""
        return nullcontext()

    def only_reads(self, place: object, name: str) -> bool:
        """Let arrays of no program keep their numbers."""
        return True

    def jits_anew(self, place: object, function: Value) -> bool:
        """No case runs in a loop."""
        return False

    def call(self, function: Value, args: list[Value], kwargs: dict[str, Value], place: object) -> Value:
        """Call a `Native`, or a library's function."""
        if isinstance(function, Unknown):
            return function
        if isinstance(function, External):
            found = transfer(function.name)
            assert found is not None
            function = Native(function.name, found)
        assert isinstance(function, Native)
        return function.call(Call(self, function.description, args, kwargs, PLACE))  # type: ignore[arg-type]


def function(name: str, abstract: Callable[[Call], Value], python: Callable[..., Any]) -> Native:
    """A function argument, abstract and real."""
    FUNCTIONS[name] = python
    return Native(name, abstract)


@dataclass
class Draw:
    """Draws sizes, shapes, arrays and arguments for a case; ``unusual`` has more axes, and sizes of 0."""

    rng: random.Random
    numpy: bool = False
    unusual: bool = False
    sizes: dict[str, int] = field(default_factory=dict)
    pool: list[Dim] = field(default_factory=list)

    def dim(self, low: int = 1, high: int = 6) -> Dim:
        """A size: a symbol, a number, or one drawn before."""
        fitting = [d for d in self.pool if low <= self.of(d) <= high]
        if fitting and self.chance(0.35):
            return self.rng.choice(fitting)
        size = self.rng.randint(low, high)
        if self.unusual and low == 1 and self.chance(0.3):
            size = self.rng.randint(0, 1)
        if self.chance(0.5):
            found: Dim = symbol(f"n{len(self.sizes)}")
            self.sizes[f"n{len(self.sizes)}"] = size
        else:
            found = size
        self.pool.append(found)
        return found

    def of(self, dim: Dim) -> int:
        """What a size stands for."""
        found = substitute(dim, self.sizes)
        assert isinstance(found, int)
        return found

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def pick(self, *options: Any) -> Any:
        return self.rng.choice(options)

    def between(self, low: int, high: int) -> int:
        return self.rng.randint(low, high)

    def shape(self, low: int = 0, high: int = 3, least: int = 1) -> Shape:
        high += self.unusual
        return tuple(self.dim(least) for _ in range(self.between(low, high)))

    def dtype(self) -> str:
        return self.pick(*(NUMPY_DTYPES if self.numpy else DTYPES))

    def float_dtype(self) -> str:
        return self.pick("float32", "float64" if self.numpy else "bfloat16")

    def array(self, shape: Shape | None = None, dtype: str | None = None) -> Array:
        weak = dtype is None and not self.numpy and self.chance(0.1)
        dtype = self.pick("int32", "float32") if weak else dtype or self.dtype()
        return Array(self.shape() if shape is None else shape, dtype, weak=weak, numpy=self.numpy)

    def operand(self, dtype: str | None = None) -> Value:
        """An array, or sometimes a Python scalar."""
        return Const(self.pick(2, 2.5, True)) if self.chance(0.15) else self.array(dtype=dtype)

    def meeting(self, shape: Shape) -> Shape:
        """A shape that broadcasts with this one, mostly."""
        dims = [self.dim() if self.chance(0.06) else 1 if self.chance(0.2) else dim for dim in shape]
        return tuple(dims[self.between(0, len(dims)) :]) if self.chance(0.25) else tuple(dims)

    def axis(self, rank: int, wrong: float = 0.05) -> int:
        if rank == 0 or self.chance(wrong):
            return self.between(-4, 4)
        return self.between(-rank, rank - 1)

    def axes(self, rank: int) -> Value:
        """None, one axis, or a tuple of them."""
        kind = self.between(0, 3)
        if kind == 0 or rank == 0:
            return Const(None)
        if kind == 1:
            return Const(self.axis(rank))
        chosen = self.rng.sample(range(rank), self.between(1, rank))
        return Tuple(tuple(Const(a - rank if self.chance(0.3) else a) for a in chosen))

    def dtype_value(self) -> Value:
        if self.chance(0.03):
            return Const(self.pick(4, 2.0, True))  # no dtypes
        return self.pick(
            Const("float32"), Const("int32"), External("jax.numpy.bfloat16"), External("jax.numpy.int8"),
            External("numpy.float16"), External("builtins.float"), External("builtins.int"),
            External("builtins.bool"),
        )  # fmt: skip

    def maybe(self, share: float = 0.4, **kwargs: Callable[[], Value]) -> dict[str, Value]:
        """Each keyword with this probability."""
        return {key: make() for key, make in kwargs.items() if self.chance(share)}


Case = tuple[Sequence[Value], dict[str, Value]]
Generator = Callable[[Draw], Case]


def dims(shape: Sequence[Dim]) -> Tuple:
    """A tuple of sizes as an argument."""
    return Tuple(tuple(integer(dim) for dim in shape))


def concrete(value: Value, sizes: dict[str, int]) -> Value:
    """The value with numbers for symbols."""
    if isinstance(value, Integer):
        return integer(substitute(value.dim, sizes))
    if isinstance(value, Tuple):
        return Tuple(tuple(concrete(item, sizes) for item in value.items))
    if isinstance(value, ListValue) and value.items is not None:
        return ListValue([concrete(item, sizes) for item in value.items])
    if isinstance(value, DictValue) and value.items is not None:
        return DictValue({key: concrete(item, sizes) for key, item in value.items.items()})
    if isinstance(value, Slice):
        return Slice(concrete(value.start, sizes), concrete(value.stop, sizes), concrete(value.step, sizes))
    if isinstance(value, Array) and value.shape is not None:
        return replace(value, shape=tuple(substitute(dim, sizes) for dim in value.shape))
    return value


def forgetful(value: Value, rng: random.Random) -> Value:
    """The value with parts of it unknown, or all of it."""
    if rng.random() < 0.2:
        return Unknown("forgotten")
    if isinstance(value, Tuple):
        return Tuple(tuple(forgetful(item, rng) for item in value.items))
    if isinstance(value, ListValue) and value.items is not None:
        return ListValue([forgetful(item, rng) for item in value.items])
    if isinstance(value, DictValue) and value.items is not None:
        return DictValue({key: forgetful(item, rng) for key, item in value.items.items()})
    if isinstance(value, Slice):
        start, stop, step = (forgetful(part, rng) for part in (value.start, value.stop, value.step))
        return Slice(start, stop, step)
    return forgetful_array(value, rng) if isinstance(value, Array) else value


def forgetful_array(array: Array, rng: random.Random) -> Array:
    """An array still, of perhaps no known shape or dtype."""
    shape = None if rng.random() < 0.2 else array.shape
    return replace(array, shape=shape, dtype=None if rng.random() < 0.2 else array.dtype)


def resolve(name: str) -> Any:
    """The object of a qualified name."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        for part in parts[cut:]:
            found = getattr(found, part)
        return found
    raise LookupError(name)


class Leaves:
    """Turns concrete abstract values into Python ones, arrays into entries of ``structs``."""

    def __init__(self) -> None:
        self.structs: list[Any] = []

    def python(self, value: Value) -> Any:
        """The Python value; a JAX array is a number into ``structs``, wrapped."""
        if isinstance(value, Const):
            return value.value
        if isinstance(value, Tuple):
            return tuple(self.python(item) for item in value.items)
        if isinstance(value, ListValue):
            return [self.python(item) for item in value.items or ()]
        if isinstance(value, DictValue):
            return {key: self.python(item) for key, item in (value.items or {}).items()}
        if isinstance(value, Slice):
            return slice(*(self.python(part) for part in (value.start, value.stop, value.step)))
        if isinstance(value, External):
            return resolve(value.name)
        if isinstance(value, Native):
            return FUNCTIONS[value.description]
        assert isinstance(value, Array) and value.shape is not None, value
        if value.numpy:
            return np.ones(value.shape, value.dtype)
        dtype = jax.random.key(0).dtype if value.dtype == "key<fry>" else np.dtype(value.dtype)
        self.structs.append(jax.ShapeDtypeStruct(value.shape, dtype, weak_type=value.weak))
        return _Slot(len(self.structs) - 1)


@dataclass(frozen=True)
class _Slot:
    index: int


def _fill(value: Any, arrays: Sequence[Any]) -> Any:
    if isinstance(value, _Slot):
        return arrays[value.index]
    if isinstance(value, tuple | list):
        return type(value)(_fill(item, arrays) for item in value)
    if isinstance(value, dict):
        return {key: _fill(item, arrays) for key, item in value.items()}
    return value


def run_library(
    target: Callable[..., Any], args: Sequence[Value], kwargs: dict[str, Value], *, numpy: bool = False
) -> Any:
    """What the library answers, described; raises what it raises. JAX only traces."""
    leaves = Leaves()
    positional = [leaves.python(arg) for arg in args]
    named = {key: leaves.python(arg) for key, arg in kwargs.items()}
    answer: list[Any] = []

    def traced(*arrays: Any) -> None:
        found = target(
            *(_fill(a, arrays) for a in positional), **{k: _fill(v, arrays) for k, v in named.items()}
        )
        answer.append(describe_real(found))

    if numpy:
        traced()
    else:
        jax.eval_shape(traced, *leaves.structs)
    return answer[-1]


def describe_real(value: Any) -> Any:
    """(shape, dtype, weak) of arrays, nested as they are; plain values as they are."""
    if isinstance(value, tuple | list):
        return [describe_real(item) for item in value]
    if isinstance(value, dict):
        return {key: describe_real(item) for key, item in value.items()}
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        weak = bool(getattr(getattr(value, "aval", None), "weak_type", False))
        number = value.item() if isinstance(value, np.integer) else None
        return (tuple(value.shape), str(value.dtype), weak, number)
    return value


class Wrong(AssertionError):
    """The overlay claims what the library does not do."""


def check(ours: Value, real: Any, sizes: dict[str, int], note: str) -> bool:
    """Compare an answer with the library's; whether anything was left open. Raises Wrong."""
    if isinstance(ours, Unknown):
        return True
    if isinstance(ours, Tuple | ListValue):
        items = ours.items or ()
        if not isinstance(real, list) or len(items) != len(real):
            raise Wrong(f"{note}: {ours} for {real}")
        pairs = zip(items, real, strict=True)
        return sum(check(item, other, sizes, note) for item, other in pairs) > 0
    if isinstance(ours, DictValue):
        if not isinstance(real, dict) or set(ours.items or ()) != set(real):
            raise Wrong(f"{note}: {ours} for {real}")
        entries = (ours.items or {}).items()
        return sum(check(item, real[key], sizes, note) for key, item in entries) > 0
    if isinstance(ours, Const | Integer):
        number = ours.value if isinstance(ours, Const) else substitute(ours.dim, sizes)
        wanted = real[3] if isinstance(real, tuple) else real
        if (isinstance(number, int) and number != wanted) or (isinstance(real, tuple) and real[0] != ()):
            raise Wrong(f"{note}: {number} for {real}")
        return not isinstance(number, int) and number is not None
    if isinstance(real, bool | int | float) and isinstance(ours, Array) and ours.numpy:
        real = ((), "bool" if isinstance(real, bool) else "a Python number", False, None)
    if not isinstance(ours, Array) or not isinstance(real, tuple):
        raise Wrong(f"{note}: {ours} for {real}")
    shape, dtype, weak, _ = real
    vague = ours.shape is None or ours.dtype is None
    if ours.dtype is not None and (ours.dtype != dtype or (ours.weak != weak and dtype != "bool")):
        raise Wrong(f"{note}: {ours.dtype} weak={ours.weak} for {dtype} weak={weak}")
    if ours.shape is not None:
        if len(ours.shape) != len(shape):
            raise Wrong(f"{note}: {ours.shape} for {shape}")
        for dim, wanted in zip(ours.shape, shape, strict=True):
            found = substitute(dim, sizes)
            if isinstance(found, int):
                if found != wanted:
                    raise Wrong(f"{note}: {ours.shape} for {shape}")
            elif all(name.startswith("?") for name in symbols(found)):
                vague = True
            else:
                raise Wrong(f"{note}: {dim} is neither open nor known")
    return vague


@dataclass
class Tally:
    """What became of the cases of one entry."""

    cases: int = 0
    accepted: int = 0
    open_sizes: int = 0
    open_symbols: int = 0
    rejected: int = 0


def run_entry(
    name: str, transfer: Callable[[Call], Value], target: Callable[..., Any], generate: Generator,
    cases: int, *, numpy: bool = False, seed: int = 0, receiver: bool = False, unusual: bool = True,
) -> Tally:  # fmt: skip
    """Draw cases of one entry and compare. Raises Wrong at the first disagreement.

    The ``receiver`` of a method, an attribute or an index is known to be an array: else the
    evaluator does not ask.
    """
    tally = Tally()
    for number in range(cases):
        draw = Draw(
            random.Random(f"{name}/{seed}/{number}"), numpy=numpy, unusual=unusual and number % 4 == 3
        )
        args, kwargs = generate(draw)
        if number % 3 == 1 and not receiver:
            args, kwargs = named(target, args, kwargs, random.Random(f"{name}/{seed}/{number}/named"))
        plain_args = [concrete(arg, draw.sizes) for arg in args]
        plain_kwargs = {key: concrete(arg, draw.sizes) for key, arg in kwargs.items()}
        note = f"{name}{tuple(plain_args)} {plain_kwargs}"
        with_sizes = evaluate(name, transfer, plain_args, plain_kwargs)
        with_symbols = evaluate(name, transfer, list(args), kwargs)
        partly = [forgetful(arg, draw.rng) for arg in plain_args]
        if receiver and isinstance(plain_args[0], Array):
            partly[0] = forgetful_array(plain_args[0], draw.rng)
        partly_named = {key: forgetful(arg, draw.rng) for key, arg in plain_kwargs.items()}
        with_parts = evaluate(name, transfer, partly, partly_named)
        tally.cases += 1
        try:
            real = run_library(target, plain_args, plain_kwargs, numpy=numpy)
        except Exception:
            tally.rejected += 1
            continue
        tally.accepted += 1
        told = f"{note} told {tuple(partly)} {partly_named}"
        for said, ours in (
            (f"{note} with sizes", with_sizes), (f"{note} with symbols", with_symbols), (told, with_parts),
        ):  # fmt: skip
            if isinstance(ours, Unknown) and ours.reason.startswith("rejected"):
                raise Wrong(f"{said}: {ours.reason}, but it gives {real}")
        check(with_parts, real, {}, told)
        tally.open_sizes += check(with_sizes, real, {}, f"{note} with sizes")
        tally.open_symbols += check(
            with_symbols, real, draw.sizes, f"{name}{tuple(args)} {kwargs} with symbols"
        )
    return tally


def named(
    target: Callable[..., Any], args: Sequence[Value], kwargs: dict[str, Value], rng: random.Random
) -> tuple[Sequence[Value], dict[str, Value]]:
    """The same arguments, the last ones by keyword as far as the library's signature has names for them."""
    try:
        parameters = list(inspect.signature(target).parameters.values())[: len(args)]
    except (TypeError, ValueError):
        return args, kwargs
    first = rng.randint(0, len(args))
    if len(parameters) < len(args) or any(
        one.kind is not inspect.Parameter.POSITIONAL_OR_KEYWORD for one in parameters[first:]
    ):
        return args, kwargs
    pairs = zip(parameters[first:], args[first:], strict=True)
    return args[:first], {**{one.name: arg for one, arg in pairs}, **kwargs}


def evaluate(
    name: str, transfer: Callable[[Call], Value], args: Sequence[Value], kwargs: dict[str, Value]
) -> Value:
    """The overlay's answer; arguments that do not bind are Unknown, as the evaluator has it."""
    try:
        return transfer(Call(FakeInterpreter(), name, list(args), dict(kwargs), PLACE))  # type: ignore[arg-type]
    except CannotBind:
        return Unknown("the arguments do not bind")

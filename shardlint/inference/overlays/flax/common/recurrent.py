"""Computations of the recurrent layers of linen and nnx: cells, and sequences of their steps.

From `flax.linen.recurrent` and `flax.nnx.nn.recurrent` 0.12.8, whose cells differ only in how they store
their weights. A `Cell` provides the sums of weighted input and state for a step, by the gate's name.
"""

from __future__ import annotations

from collections.abc import Callable

from shardlint.inference.domain.values import (
    NONE,
    Array,
    Const,
    External,
    Tuple,
    Value,
    as_bool,
    as_int,
    as_items,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import given, operand, reject, shape_of, unresolved
from shardlint.inference.overlays.flax.common.variable_axes import Sizes, slice_of, with_axis
from shardlint.laws.core.dims import Dim, Shape
from shardlint.laws.core.values import Unknown
from shardlint.support.lazy_dataclass import dataclass

Field = Callable[[str], Value | None]
_SIGMOID, _TANH = External("jax.nn.sigmoid"), External("jax.numpy.tanh")


@dataclass(frozen=True, slots=True)
class Cell:
    """One step of a cell: ``field`` reads the cell's own fields."""

    call: Call
    field: Field

    def operate(self, name: str, a: Value, b: Value) -> Value:
        """Apply an operator to two values."""
        return self.call.interpreter.operation(name, a, b, self.call.place)

    def add(self, a: Value, b: Value) -> Value:
        """``a + b``."""
        return self.operate("Add", a, b)

    def multiply(self, a: Value, b: Value) -> Value:
        """``a * b``."""
        return self.operate("Multiply", a, b)

    def gate(self, value: Value) -> Value:
        """Return the cell's ``gate_fn``."""
        return self._function("gate_fn", _SIGMOID, value)

    def activate(self, value: Value) -> Value:
        """Return the cell's ``activation_fn``."""
        return self._function("activation_fn", _TANH, value)

    def _function(self, name: str, default: Value, value: Value) -> Value:
        return self.call.interpreter.call(self.field(name) or default, [value], {}, self.call.place)

    def mixed(self, weight: Value, new: Value, old: Value) -> Value:
        """``(1 - weight) * new + weight * old``."""
        rest = self.operate("Subtract", Const(1.0), weight)
        return self.add(self.multiply(rest, new), self.multiply(weight, old))


def two(value: Value | None) -> tuple[Value, Value]:
    """Return the two halves of a carry. Stops if it is no pair."""
    items = as_items(value)
    if items is None:
        unresolved("the carry is not known")
    if len(items) != 2:
        reject("the carry is a pair")
    return items[0], items[1]


def lstm(cell: Cell, memory: Value, total: Callable[[str], Value]) -> Value:
    """Return a step of an LSTM: ``((c, h), h)``; ``total`` returns the sum for a gate."""
    i, f = cell.gate(total("i")), cell.gate(total("f"))
    g, o = cell.activate(total("g")), cell.gate(total("o"))
    c = cell.add(cell.multiply(f, memory), cell.multiply(i, g))
    h = cell.multiply(o, cell.activate(c))
    return Tuple((Tuple((c, h)), h))


def gru(cell: Cell, state: Value, inner: Callable[[str], Value], hidden: Callable[[str], Value]) -> Value:
    """Return a step of a GRU: ``(h, h)``."""
    r = cell.gate(cell.add(inner("r"), hidden("r")))
    z = cell.gate(cell.add(inner("z"), hidden("z")))
    n = cell.activate(cell.add(inner("n"), cell.multiply(r, hidden("n"))))
    h = cell.mixed(z, n, state)
    return Tuple((h, h))


def simple(cell: Cell, state: Value, total: Value) -> Value:
    """Return a step of a plain recurrent cell: ``(h, h)``."""
    residual = cell.field("residual")
    if residual is not None and as_bool(residual) is not False:
        if as_bool(residual) is None:
            unresolved("`residual` is not known")
        total = cell.add(total, state)
    h = cell.activate(total)
    return Tuple((h, h))


# -- carries ----------------------------------------------------------------------------------------------


def carry_shape(input_shape: Value | None, features: Dim) -> Shape:
    """Return the shape of a carry for inputs of ``input_shape``."""
    return (*shape_of(input_shape)[:-1], features)


def carried(array: Array, pair: bool) -> Value:
    """Return the initial carry of a cell: one array, or a pair of equal ones."""
    return Tuple((array, array)) if pair else array


# -- sequences --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sequence:
    """A call of ``RNN``: its options are the call's arguments, else the layer's fields."""

    call: Call
    field: Field

    def option(self, name: str) -> bool:
        """Return a flag that is off by default. Stops if it is unknown."""
        value = self.call.kwargs.get(name)
        if value is None or is_none(value):
            value = self.field(name)
        if value is None:
            return False
        if (flag := as_bool(value)) is None:
            unresolved(f"`{name}` is not known")
        return flag

    def run(self, start: Callable[[Value, Shape], Value]) -> Value:
        """Run the cell over time; ``start`` makes its initial carry from the shape of one step's input."""
        interpreter, place = self.call.interpreter, self.call.place
        x, cell = operand(self.call.argument(1, "inputs") or Unknown("no input")), self.field("cell")
        if cell is None or x.shape is None:
            unresolved("the cell or the input's rank is not known")
        axes = as_int(interpreter.attribute(cell, "num_feature_axes", place))
        if axes is None:
            unresolved("how many dimensions the cell takes is not known")
        time = 0 if self.option("time_major") else len(x.shape) - (axes + 1)
        time = time + len(x.shape) if time < 0 else time
        if not 0 <= time < len(x.shape):
            reject("the input has no time axis")
        sizes = Sizes(None)
        step = slice_of(x, time, sizes)
        assert step.shape is not None
        first = self.call.kwargs.get("initial_carry")
        carry = start(cell, step.shape) if first is None or is_none(first) else first
        with interpreter.within(in_jit=True):
            done = as_items(interpreter.call(cell, [carry, step], {}, place))
        if done is None or len(done) != 2:
            unresolved("what a step returns is not known")
        outputs = with_axis(done[1], Const(time), sizes.known)
        return Tuple((done[0], outputs)) if self.option("return_carry") else outputs


def both_directions(call: Call, field: Field) -> Value:
    """``Bidirectional``: both layers over the input, and their outputs merged, along features by default."""
    runs = Sequence(call, field)
    keep, time_major = runs.option("return_carry"), Const(runs.option("time_major"))
    shared: dict[str, Value] = {"return_carry": Const(True), "time_major": time_major}
    if given(call.kwargs.get("seq_lengths")):
        shared["seq_lengths"] = call.kwargs["seq_lengths"]
    starts = call.kwargs.get("initial_carry")
    first = two(starts) if given(starts) else (NONE, NONE)
    carries, outputs = [], []
    for name, start in zip(("forward_rnn", "backward_rnn"), first, strict=True):
        layer = field(name) or Unknown("no layer")
        done = call.interpreter.call(
            layer, [call.argument(1, "inputs") or Unknown("no input")],
            {**shared, "initial_carry": start}, call.place,
        )  # fmt: skip
        carry, output = two(done)
        carries.append(carry)
        outputs.append(output)
    merge = field("merge_fn")
    if merge is None:
        merged = call.interpreter.call(
            External("jax.numpy.concatenate"), [Tuple(tuple(outputs))], {"axis": Const(-1)}, call.place
        )
    else:
        merged = call.interpreter.call(merge, outputs, {}, call.place)
    return Tuple((Tuple(tuple(carries)), merged)) if keep else merged

"""nnx's recurrent layers: cells, `RNN` and `Bidirectional`.

From `flax.nnx.nn.recurrent` 0.12.8. The weights of a cell are `Linear` layers, made by its constructor; two
of the cells multiply the weights of all gates together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shardlint.inference.domain.values import (
    Array,
    Const,
    External,
    LibraryObject,
    Value,
    as_items,
    integer,
    shape_value,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.dtypes import as_dtype
from shardlint.inference.overlays.arrays.operands import Stop, given, operand
from shardlint.inference.overlays.flax.common.layer_shapes import dim_of, initialized
from shardlint.inference.overlays.flax.common.recurrent import (
    Cell,
    Sequence,
    both_directions,
    carried,
    carry_shape,
    gru,
    lstm,
    simple,
    two,
)
from shardlint.inference.overlays.flax.linen.module_runs import KEY
from shardlint.inference.overlays.flax.nnx.layers import Build, Forward, Layer, construct
from shardlint.laws.core.dims import Dim, Shape
from shardlint.laws.core.values import Unknown

_GATES = "ifgo"
#: Arguments that a cell's layers take from it, by their own names.
_INNER = {"kernel_init": "kernel_init", "kernel_metadata": "kernel_metadata"}
_HIDDEN = {"kernel_init": "recurrent_kernel_init", "kernel_metadata": "recurrent_kernel_metadata"}
_BIAS = {"bias_init": "bias_init", "bias_metadata": "bias_metadata"}


def _linear(b: Build, name: str, inside: Dim, outside: Dim, renamed: dict[str, str]) -> Value:
    """Return a layer of a cell; it has a bias if an initializer for one is passed on."""
    taken = {own: b.args[theirs] for own, theirs in renamed.items() if theirs in b.args}
    shared: dict[str, Value] = {
        n: b.args[n] for n in ("dtype", "param_dtype", "promote_dtype") if n in b.args
    }
    fields: dict[str, Value] = {
        "in_features": integer(inside),
        "out_features": integer(outside),
        "use_bias": Const("bias_init" in renamed),
        **shared,
        **taken,
    }
    return construct(b.call, "Linear", fields, replace(b.owner, name=f"{b.owner.name}.{name}"))


def _sizes(b: Build) -> tuple[Dim, Dim]:
    return dim_of(b.args.get("in_features")), dim_of(b.args.get("hidden_features"))


def _lstm(b: Build) -> dict[str, Value]:
    inside, hidden = _sizes(b)
    inner = {_attribute(f"i{g}"): _linear(b, f"i{g}", inside, hidden, _INNER) for g in _GATES}
    outer = {f"h{g}": _linear(b, f"h{g}", hidden, hidden, _HIDDEN | _BIAS) for g in _GATES}
    return inner | outer


def _attribute(name: str) -> str:
    return "if_" if name == "if" else name


def _together(
    inner: dict[str, str], outer: dict[str, str], gates: int
) -> Callable[[Build], dict[str, Value]]:
    """Return the constructor of a cell with two layers, each for all gates."""

    def build(b: Build) -> dict[str, Value]:
        inside, hidden = _sizes(b)
        return {
            "dense_i": _linear(b, "dense_i", inside, gates * hidden, inner),
            "dense_h": _linear(b, "dense_h", hidden, gates * hidden, outer),
        }

    return build


def _simple(b: Build) -> dict[str, Value]:
    # It alone does not take its dtype from its operands.
    return _together(_INNER | _BIAS, _HIDDEN, 1)(replace(b, args={"dtype": Const("float32"), **b.args}))


def _parts(f: Forward) -> tuple[Cell, Value, Value]:
    """Return the cell, its carry and the step's input."""
    carry = f.call.argument(1, "carry") or Unknown("no carry")
    return Cell(f.call, f.field), carry, f.call.argument(2, "inputs") or Unknown("no input")


def _through(f: Forward, name: str, x: Value) -> Value:
    layer = f.field(name) or Unknown("no layer")
    return f.call.interpreter.call(layer, [x], {}, f.call.place)


def _split(f: Forward, x: Value, names: str) -> dict[str, Value]:
    split, sections = External("jax.numpy.split"), Const(len(names))
    found = as_items(f.call.interpreter.call(split, [x, sections], {"axis": Const(-1)}, f.call.place))
    pieces = found or [Unknown("the gates are not known")] * len(names)
    return dict(zip(names, pieces, strict=True))


def _lstm_call(f: Forward) -> Value:
    cell, carry, x = _parts(f)
    memory, h = two(carry)
    return lstm(
        cell,
        memory,
        lambda g: cell.add(_through(f, _attribute(f"i{g}"), x), _through(f, f"h{g}", h)),
    )


def _optimized_lstm_call(f: Forward) -> Value:
    cell, carry, x = _parts(f)
    memory, h = two(carry)
    total = _split(f, cell.add(_through(f, "dense_i", x), _through(f, "dense_h", h)), _GATES)
    return lstm(cell, memory, total.__getitem__)


def _gru_call(f: Forward) -> Value:
    cell, h, x = _parts(f)
    inner = _split(f, _through(f, "dense_i", x), "rzn")
    hidden = _split(f, _through(f, "dense_h", h), "rzn")
    return gru(cell, h, inner.__getitem__, hidden.__getitem__)


def _simple_call(f: Forward) -> Value:
    cell, h, x = _parts(f)
    return simple(cell, h, cell.add(_through(f, "dense_i", x), _through(f, "dense_h", h)))


def _nothing(b: Build) -> dict[str, Value]:
    return {}


def _rnn_call(f: Forward) -> Value:
    def start(cell: Value, shape: Shape) -> Value:
        interpreter, place = f.call.interpreter, f.call.place
        make = interpreter.attribute(cell, "initialize_carry", place)
        return interpreter.call(make, [shape_value(shape), KEY], {}, place)

    return Sequence(f.call, f.field).run(start)


def _bidirectional_call(f: Forward) -> Value:
    return both_directions(f.call, f.field)


_CELLS: dict[str, tuple[Callable[[Build], dict[str, Value]], Callable[[Forward], Value]]] = {
    "LSTMCell": (_lstm, _lstm_call),
    "OptimizedLSTMCell": (_together(_INNER, _HIDDEN | _BIAS, 4), _optimized_lstm_call),
    "GRUCell": (_together(_INNER | _BIAS, _HIDDEN, 3), _gru_call),
    "SimpleCell": (_simple, _simple_call),
}
LAYERS = {
    **{name: Layer(("in_features", "hidden_features"), *rules) for name, rules in _CELLS.items()},
    "RNN": Layer(("cell",), _nothing, _rnn_call),
    "Bidirectional": Layer(("forward_rnn", "backward_rnn"), _nothing, _bidirectional_call),
}
#: The kinds of cells.
CELLS = tuple(f"flax.nnx.{name}" for name in _CELLS)


def initialize_carry(call: Call) -> Value:
    """``cell.initialize_carry(input_shape, rngs)``: the initial carry of a sequence."""
    cell = call.args[0]
    if not isinstance(cell, LibraryObject):
        return call.unknown("the cell is not known")
    dtype = cell.fields.get("param_dtype")
    try:
        shape = carry_shape(call.argument(1, "input_shape"), dim_of(cell.fields.get("hidden_features")))
    except Stop as stop:
        return stop.answer(call.name)
    array: Value = Array(shape, "float32" if dtype is None else as_dtype(dtype))
    own = call.argument(3, "carry_init")
    if (init := own if given(own) else cell.fields.get("carry_init")) is not None and given(init):
        array = initialized(call, init, [KEY, shape_value(shape), dtype or Const("float32")], {})
    return carried(array, "LSTM" in cell.kind) if isinstance(array, Array) else operand(array)


def attribute(cell: LibraryObject, name: str) -> Value | None:
    """Return an attribute of a cell."""
    return Const(1) if name == "num_feature_axes" else cell.fields.get(name)

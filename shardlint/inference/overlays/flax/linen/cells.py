"""linen's recurrent layers: cells, `RNN` and `Bidirectional`.

From `flax.linen.recurrent` 0.12.8. The weights of a cell are layers inside it, made like those of attention;
`OptimizedLSTMCell` has the weights of `LSTMCell`, and multiplies them together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shardlint.inference.domain.values import (
    Array,
    Const,
    External,
    LibraryObject,
    Tuple,
    Value,
    as_items,
    integer,
    shape_value,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.dtypes import as_dtype
from shardlint.inference.overlays.arrays.operands import Stop, operand
from shardlint.inference.overlays.flax.common.layer_shapes import dim_of, dims_of, initialized, last
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
from shardlint.inference.overlays.flax.linen.layers import Forward, Layer, part
from shardlint.inference.overlays.flax.linen.module_runs import KEY
from shardlint.laws.core.dims import Shape
from shardlint.laws.core.values import Unknown


def _dense(f: Forward, name: str, x: Array, like: Array, bias: bool, *inits: str) -> Value:
    """Call a dense layer of a cell; ``inits`` are the cell's fields for the initializers of kernel and
    bias."""
    given = {n: f.field(field) for n, field in zip(("kernel_init", "bias_init"), inits, strict=False)}
    return part(f, name, "Dense", x, features=integer(last(like)), use_bias=Const(bias), **given)


def _parts(f: Forward) -> tuple[Cell, Value, Array]:
    """Return the cell, its carry and the step's input."""
    carry = f.call.argument(1, "carry") or Unknown("no carry")
    return Cell(f.call, f.field), carry, operand(f.call.argument(2, "inputs") or Unknown("no input"))


def _lstm(f: Forward) -> Value:
    cell, carry, x = _parts(f)
    memory, state = two(carry)
    h = operand(state)

    def total(gate: str) -> Value:
        inner = _dense(f, f"i{gate}", x, h, False, "kernel_init")
        return cell.add(inner, _dense(f, f"h{gate}", h, h, True, "recurrent_kernel_init", "bias_init"))

    return lstm(cell, memory, total)


def _gru(f: Forward) -> Value:
    cell, carry, x = _parts(f)
    h = operand(carry)

    def inner(gate: str) -> Value:
        return _dense(f, f"i{gate}", x, h, True, "kernel_init", "bias_init")

    def hidden(gate: str) -> Value:
        return _dense(f, f"h{gate}", h, h, gate == "n", "recurrent_kernel_init", "bias_init")

    return gru(cell, h, inner, hidden)


def _simple(f: Forward) -> Value:
    cell, carry, x = _parts(f)
    h = operand(carry)
    inner = _dense(f, "i", x, h, True, "kernel_init", "bias_init")
    return simple(cell, h, cell.add(inner, _dense(f, "h", h, h, False, "recurrent_kernel_init")))


def _mgu(f: Forward) -> Value:
    cell, carry, x = _parts(f)
    h, reset = operand(carry), f.flag("reset_gate", True)
    forget = cell.add(
        _dense(f, "if", x, h, True, "kernel_init", "forget_bias_init"),
        _dense(f, "hf", h, h, False, "recurrent_kernel_init"),
    )
    forget = cell.gate(forget)
    hidden = _dense(f, "hn", h, h, reset, "recurrent_kernel_init", "activation_bias_init")
    hidden = cell.multiply(hidden, forget) if reset else hidden
    inner = _dense(f, "in", x, h, True, "kernel_init", "activation_bias_init")
    new = cell.mixed(forget, cell.activate(cell.add(inner, hidden)), h)
    return Tuple((new, new))


def _conv_lstm(f: Forward) -> Value:
    cell, carry, x = _parts(f)
    memory, state = two(carry)
    shared = {name: f.field(name) for name in ("kernel_size", "strides", "padding", "use_bias")}
    features = integer(4 * dim_of(f.field("features")))
    gates = cell.add(
        part(f, "ih", "Conv", x, features=features, **shared),
        part(f, "hh", "Conv", operand(state), features=features, **shared),
    )
    split = External("jax.numpy.split")
    pieces = as_items(f.call.interpreter.call(split, [gates, Const(4)], {"axis": Const(-1)}, f.call.place))
    if pieces is None:
        return Unknown("the gates are not known")
    # The gates' order is fixed here.
    by_name = dict(zip("igfo", pieces, strict=True))
    return lstm(replace(cell, field=lambda name: None), memory, by_name.__getitem__)


def _rnn(f: Forward) -> Value:
    def start(cell: Value, shape: Shape) -> Value:
        interpreter, place = f.call.interpreter, f.call.place
        make = interpreter.attribute(cell, "initialize_carry", place)
        return interpreter.call(make, [KEY, shape_value(shape)], {}, place)

    return Sequence(f.call, f.field).run(start)


def _bidirectional(f: Forward) -> Value:
    return both_directions(f.call, f.field)


#: Cells whose carry is a pair.
_PAIRS = ("LSTMCell", "OptimizedLSTMCell", "ConvLSTMCell")
_GATED = (
    "features gate_fn activation_fn kernel_init recurrent_kernel_init bias_init dtype param_dtype carry_init"
)
_CELLS: dict[str, tuple[str, Callable[[Forward], Value]]] = {
    "LSTMCell": (_GATED, _lstm),
    "OptimizedLSTMCell": (_GATED, _lstm),
    "GRUCell": (_GATED, _gru),
    "SimpleCell": (
        "features activation_fn kernel_init recurrent_kernel_init bias_init dtype param_dtype carry_init "
        "residual",
        _simple,
    ),
    "MGUCell": (
        "features gate_fn activation_fn kernel_init recurrent_kernel_init forget_bias_init "
        "activation_bias_init dtype param_dtype carry_init reset_gate",
        _mgu,
    ),
    "ConvLSTMCell": (
        "features kernel_size strides padding use_bias dtype param_dtype carry_init",
        _conv_lstm,
    ),
}
_SEQUENCES: dict[str, tuple[str, Callable[[Forward], Value]]] = {
    "RNN": (
        "cell time_major return_carry reverse keep_order unroll variable_axes variable_broadcast "
        "variable_carry split_rngs",
        _rnn,
    ),
    "Bidirectional": ("forward_rnn backward_rnn merge_fn time_major return_carry", _bidirectional),
}

#: The recurrent classes of linen by name.
LAYERS = {name: Layer(tuple(fields.split()), rule) for name, (fields, rule) in (_CELLS | _SEQUENCES).items()}
#: The kinds of cells.
CELLS = tuple(f"flax.linen.{name}" for name in _CELLS)


def initialize_carry(call: Call) -> Value:
    """``cell.initialize_carry(rng, input_shape)``: the initial carry of a sequence."""
    cell = call.args[0]
    if not isinstance(cell, LibraryObject):
        return call.unknown("the cell is not known")
    dtype = cell.fields.get("param_dtype")
    try:
        shape = carry_shape(call.argument(2, "input_shape"), dim_of(cell.fields.get("features")))
    except Stop as stop:
        return stop.answer(call.name)
    array: Value = Array(shape, "float32" if dtype is None else as_dtype(dtype))
    if (init := cell.fields.get("carry_init")) is not None:
        array = initialized(call, init, [KEY, shape_value(shape), dtype or Const("float32")], {})
    pair = cell.kind.rpartition(".")[2] in _PAIRS
    return carried(array, pair) if isinstance(array, Array) else call.unknown("the initializer is not known")


def _feature_axes(cell: LibraryObject) -> int:
    return len(dims_of(cell.fields.get("kernel_size"))) + 1 if "kernel_size" in cell.fields else 1


def attribute(cell: LibraryObject, name: str) -> Value | None:
    """Return an attribute of a cell."""
    if name != "num_feature_axes":
        return cell.fields.get(name)
    try:
        return Const(_feature_axes(cell))
    except Stop as stop:
        return stop.answer("num_feature_axes")

"""Sliding windows over arrays: convolutions and `reduce_window` of `jax.lax`."""

from __future__ import annotations

from collections.abc import Sequence

from shardlint.inference.domain.values import Array, Const, LibraryObject, Value, as_items, as_str
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import (
    Stop,
    Transfer,
    at_most,
    dtype_argument,
    given,
    known_int,
    known_rank,
    like,
    maximum,
    operand,
    operands,
    reject,
    result,
    same_dim,
    shape_of,
    signed_row,
    truth,
    unresolved,
)  # fmt: skip
from shardlint.inference.overlays.jax.explicit.primitives import unclaimed
from shardlint.inference.overlays.jax.explicit.rules import convolution as convolution_rules
from shardlint.inference.overlays.operations import Operation, library_table
from shardlint.laws.core.dims import Dim, Shape, equal, floordiv, fresh, lower_bound, product

#: (before, after) for each axis, or a mode from which JAX computes it.
Padding = str | list[tuple[Dim, Dim]]


def padding_of(value: Value | None) -> Padding:
    """Return a padding argument: ``"SAME"``, ``"VALID"``, ``"SAME_LOWER"`` or pairs."""
    if (name := as_str(value)) is not None:
        if name.upper() not in ("SAME", "VALID", "SAME_LOWER"):
            reject(f"padding {name!r}")
        return name.upper()
    items = as_items(value)
    if items is None:
        unresolved("the padding is not known")
    pairs = [signed_row(item, 2) for item in items]
    if any(len(pair) != 2 for pair in pairs):
        reject("a padding is not a pair")
    return [(pair[0], pair[1]) for pair in pairs]


def window_size(
    size: Dim, window: Dim, stride: Dim, padding: str | tuple[Dim, Dim], dilation: Dim = 1
) -> Dim:
    """Return the number of windows along an axis: ``(padded - dilated) // stride + 1``, at least 0."""
    if padding in ("SAME", "SAME_LOWER"):
        return -floordiv(-size, stride)
    low, high = padding if isinstance(padding, tuple) else (0, 0)
    reach = (window - 1) * dilation + 1
    room = low + size + high - reach
    if isinstance(room, int) and isinstance(stride, int):
        return max(0, room // stride + 1)
    count = floordiv(room, stride) + 1
    floor = lower_bound(room)
    return count if floor is not None and floor >= 0 else fresh()


def conv_general_dilated(call: Call) -> Value:
    """`conv_general_dilated(lhs, rhs, window_strides, padding, ...)`."""
    lhs, rhs, strides, padding, lhs_dilation, rhs_dilation, numbers, _, groups, _, preferred, _ = call.bind(
        "lhs", "rhs", "window_strides", "padding", lhs_dilation=None, rhs_dilation=None,
        dimension_numbers=None, feature_group_count=Const(1), batch_group_count=Const(1), precision=None,
        preferred_element_type=None, out_sharding=None,
    )  # fmt: skip
    if known_int(groups) != 1:
        unresolved("batch groups")
    return _convolved(
        call, lhs, rhs, strides, padding, lhs_dilation, rhs_dilation, numbers, preferred,
        known_int(call.argument(7, "feature_group_count"), 1),
    )  # fmt: skip


def conv(call: Call) -> Value:
    """`conv(lhs, rhs, window_strides, padding)`: channels first."""
    lhs, rhs, strides, padding, _, preferred = call.bind(
        "lhs", "rhs", "window_strides", "padding", precision=None, preferred_element_type=None
    )
    return _convolved(call, lhs, rhs, strides, padding, None, None, None, preferred, 1)


def conv_with_general_padding(call: Call) -> Value:
    """`conv_with_general_padding(lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation)`."""
    lhs, rhs, strides, padding, lhs_dilation, rhs_dilation, _, preferred = call.bind(
        "lhs", "rhs", "window_strides", "padding", "lhs_dilation", "rhs_dilation", precision=None,
        preferred_element_type=None,
    )  # fmt: skip
    return _convolved(call, lhs, rhs, strides, padding, lhs_dilation, rhs_dilation, None, preferred, 1)


#: The layouts of `conv_transpose` without dimension numbers, by rank.
_LAYOUTS = {
    2: ("NC", "IO", "NC"),
    3: ("NHC", "HIO", "NHC"),
    4: ("NHWC", "HWIO", "NHWC"),
    5: ("NHWDC", "HWDIO", "NHWDC"),
}


def conv_transpose(call: Call) -> Value:
    """`conv_transpose(lhs, rhs, strides, padding, ...)`: each stride stretches an axis by as much."""
    lhs, rhs, strides, padding, dilation, numbers, swapped, _, preferred, consistent = call.bind(
        "lhs", "rhs", "strides", "padding", rhs_dilation=None, dimension_numbers=None, transpose_kernel=None,
        precision=None, preferred_element_type=None, use_consistent_padding=None,
    )  # fmt: skip
    x, kernel = operands([lhs, rhs])
    shape, window = known_rank(x), known_rank(kernel)
    if len(shape) != len(window) or len(shape) not in _LAYOUTS:
        reject("ranks differ, or are not 2 to 5")
    layout_in, layout_kernel, layout_out = (
        layouts(numbers, len(shape)) if given(numbers) else _LAYOUTS[len(shape)]
    )
    steps, pads, count = shape_of(strides), padding_of(padding), len(shape) - 2
    holes = shape_of(dilation) if given(dilation) else (1,) * count
    if len({count, len(steps), len(holes), count if isinstance(pads, str) else len(pads)}) > 1:
        reject("one stride, padding and dilation a spatial axis")
    if truth(consistent, False) and not isinstance(pads, str):
        unresolved("padding of the convolution that is transposed")
    into, out_of = ("O", "I") if truth(swapped, False) else ("I", "O")
    same_dim((shape[layout_in.index("C")], window[layout_kernel.index(into)]))
    sizes: dict[str, Dim] = {"N": shape[layout_in.index("N")], "C": window[layout_kernel.index(out_of)]}
    letters = [
        _spatial(layout, others)
        for layout, others in ((layout_in, "NC"), (layout_kernel, "OI"), (layout_out, "NC"))
    ]
    for i, (letter, of_kernel, of_result) in enumerate(zip(*letters, strict=True)):
        reach = (window[layout_kernel.index(of_kernel)] - 1) * holes[i] + 1
        size = shape[layout_in.index(letter)]
        sizes[of_result] = _stretched(size, reach, steps[i], pads if isinstance(pads, str) else pads[i])
    return result(call, tuple(sizes[letter] for letter in layout_out), dtype_argument(preferred, x.dtype))


def _stretched(size: Dim, reach: Dim, step: Dim, padding: str | tuple[Dim, Dim]) -> Dim:
    """Return the size of an axis after a transposed convolution by windows that reach so far."""
    if isinstance(padding, tuple):
        return (size - 1) * step + 2 + padding[0] + padding[1] - reach
    if padding == "SAME":
        return size * step
    if padding != "VALID":
        unresolved("the padding")
    return size * step + maximum(reach - step, 0)


def conv_patches(call: Call) -> Value:
    """`conv_general_dilated_patches(lhs, filter_shape, window_strides, padding, ...)`: the elements of each
    patch become features."""
    lhs, sizes, strides, padding, lhs_dilation, rhs_dilation, numbers, _, preferred = call.bind(
        "lhs", "filter_shape", "window_strides", "padding", lhs_dilation=None, rhs_dilation=None,
        dimension_numbers=None, precision=None, preferred_element_type=None,
    )  # fmt: skip
    x, window = operand(lhs), shape_of(sizes)
    shape = known_rank(x)
    if len(shape) != len(window) + 2:
        reject("a size for each spatial axis")
    layout_in, layout_kernel, _ = layouts(numbers, len(shape))
    channels = shape[layout_in.index("C")]
    rest = iter(window)
    known = {"O": channels * product(window), "I": 1}
    kernel = Array(tuple(known[c] if c in known else next(rest) for c in layout_kernel), x.dtype)
    return _convolved(
        call, x, kernel, strides, padding, lhs_dilation, rhs_dilation, numbers, preferred, channels
    )


def _convolved(
    call: Call, lhs: Value | None, rhs: Value | None, strides: Value | None, padding: Value | None,
    lhs_dilation: Value | None, rhs_dilation: Value | None, numbers: Value | None, preferred: Value | None,
    groups: Dim,
) -> Array:  # fmt: skip
    x, kernel = operands([lhs, rhs])
    shape, window = known_rank(x), known_rank(kernel)
    if len(shape) != len(window) or len(shape) < 2:
        reject("ranks differ")
    layout_in, layout_kernel, layout_out = layouts(numbers, len(shape))
    places = _spatial(layout_in, "NC"), _spatial(layout_kernel, "OI"), _spatial(layout_out, "NC")
    count = len(shape) - 2
    steps = shape_of(strides)
    stretch = shape_of(lhs_dilation) if given(lhs_dilation) else (1,) * count
    holes = shape_of(rhs_dilation) if given(rhs_dilation) else (1,) * count
    pads = padding_of(padding)
    if isinstance(pads, str) and any(step != 1 for step in stretch):
        unresolved("named padding of a dilated operand")
    if len({count, len(steps), len(stretch), len(holes), count if isinstance(pads, str) else len(pads)}) > 1:
        reject("one stride, padding and dilation a spatial axis")
    features = shape[layout_in.index("C")]
    same_dim((features, window[layout_kernel.index("I")] * groups))
    sizes: dict[str, Dim] = {"N": shape[layout_in.index("N")], "C": window[layout_kernel.index("O")]}
    for i, letter in enumerate(places[0]):
        size = shape[layout_in.index(letter)]
        if stretch[i] != 1:
            if equal(size, 0) is not False:
                unresolved("dilation of a size that may be 0")
            size = (size - 1) * stretch[i] + 1
        width = window[layout_kernel.index(places[1][i])]
        pad = pads if isinstance(pads, str) else pads[i]
        sizes[places[2][i]] = window_size(size, width, steps[i], pad, holes[i])
    dtype = dtype_argument(preferred, x.dtype)
    return result(call, tuple(sizes[letter] for letter in layout_out), dtype)


def layouts(numbers: Value | None, rank: int) -> tuple[str, str, str]:
    """Return the layouts of input, kernel and output (``NHWC``, ``HWIO``, ``NHWC``); channels first by
    default."""
    spatial = "".join(chr(ord("a") + i) for i in range(rank - 2))
    if not given(numbers):
        return "NC" + spatial, "OI" + spatial, "NC" + spatial
    if isinstance(numbers, LibraryObject):
        parts = [as_str(numbers.fields.get(key)) for key in ("lhs", "rhs", "out")]
    else:
        parts = [as_str(item) for item in as_items(numbers) or ()]
    if len(parts) != 3 or any(part is None for part in parts):
        unresolved("the dimension numbers are not known")
    texts = [part or "" for part in parts]
    if any(len(text) != rank or len(set(text)) != rank for text in texts):
        reject("dimension numbers do not fit the rank")
    if any(not set(pair) <= set(text) for pair, text in zip(("NC", "OI", "NC"), texts, strict=True)):
        reject("dimension numbers lack a batch or feature axis")
    return texts[0], texts[1], texts[2]


def _spatial(layout: str, others: str) -> str:
    """Return the spatial axes of a layout, in the order of the input's layout, which all three share."""
    return "".join(sorted(letter for letter in layout if letter not in others))


def conv_dimension_numbers(call: Call) -> Value:
    """`conv_dimension_numbers(lhs_shape, rhs_shape, numbers)`: represented by the three layouts."""
    lhs, _, numbers = call.bind("lhs_shape", "rhs_shape", "dimension_numbers")
    found = layouts(numbers, len(shape_of(lhs)))
    return LibraryObject(
        "jax.lax.ConvDimensionNumbers",
        {key: Const(text) for key, text in zip(("lhs", "rhs", "out"), found, strict=True)},
    )


def reduce_window(call: Call) -> Value:
    """`reduce_window(operand, init, computation, window_dimensions, window_strides, padding)`."""
    operand_, _, _, window, strides, padding, base, holes = call.bind(
        "operand", "init_value", "computation", "window_dimensions", window_strides=None,
        padding=Const("VALID"), base_dilation=None, window_dilation=None,
    )  # fmt: skip
    if given(base):
        unresolved("a dilated operand")
    x = operand(operand_)
    shape, sizes = known_rank(x), shape_of(window)
    ones = (1,) * len(shape)
    steps = shape_of(strides) if given(strides) else ones
    spread = shape_of(holes) if given(holes) else ones
    pads = padding_of(padding)
    per_axis: Sequence[str | tuple[Dim, Dim]] = [pads] * len(shape) if isinstance(pads, str) else pads
    if len({len(shape), len(sizes), len(steps), len(spread), len(per_axis)}) > 1:
        reject("one window size, stride and padding an axis")
    return like(call, x, windows(shape, sizes, steps, per_axis, spread))


def windows(
    shape: Shape, sizes: Shape, steps: Shape, pads: Sequence[str | tuple[Dim, Dim]], holes: Shape
) -> Shape:
    """Return the shape of sliding windows over every axis."""
    rows = zip(shape, sizes, steps, pads, holes, strict=True)
    return tuple(window_size(size, window, step, pad, hole) for size, window, step, pad, hole in rows)


#: Functions by whose windows the elements of an array are combined with their neighbours.
WINDOWED = frozenset(
    f"jax.lax.{name}"
    for name in ("conv", "conv_general_dilated", "conv_with_general_padding", "reduce_window")
)


def overlapping(call: Call) -> list[int]:
    """Return the dimensions of a `WINDOWED` function's operand along which the windows surely overlap."""
    try:
        if call.name.endswith("reduce_window"):
            sizes, steps = shape_of(call.argument(3, "window_dimensions")), call.argument(4, "window_strides")
            strides = shape_of(steps) if given(steps) else (1,) * len(sizes)
            rows = enumerate(zip(sizes, strides, strict=False))
            return [at for at, (size, step) in rows if at_most(step, size) and equal(step, size) is False]
        kernel = known_rank(operand(call.argument(1, "rhs")))
        numbers = call.argument(6, "dimension_numbers") if call.name.endswith("dilated") else None
        strides = shape_of(call.argument(2, "window_strides"))
        layout_in, layout_kernel, _ = layouts(numbers, len(kernel))
        pairs = zip(_spatial(layout_in, "NC"), _spatial(layout_kernel, "OI"), strides, strict=False)
        return [
            layout_in.index(place)
            for place, window, step in pairs
            if at_most(step, size := kernel[layout_kernel.index(window)]) and equal(step, size) is False
        ]
    except Stop:
        return []


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "conv_general_dilated",
        conv_general_dilated,
        sharding=convolution_rules.general_convolution,
        reads_values=True,
    ),
    Operation("conv", conv, sharding=convolution_rules.convolution, reads_values=True),
    Operation(
        "conv_with_general_padding",
        conv_with_general_padding,
        sharding=convolution_rules.convolution,
        reads_values=True,
    ),
    Operation("conv_transpose", conv_transpose, sharding=unclaimed, reads_values=True),
    Operation("conv_general_dilated_patches", conv_patches, sharding=unclaimed, reads_values=True),
    Operation("conv_dimension_numbers", conv_dimension_numbers, sharding=None, reads_values=False),
    Operation("reduce_window", reduce_window, sharding=convolution_rules.window, reads_values=False),
)

TABLE: dict[str, Transfer] = library_table("jax.lax.", OPERATIONS)

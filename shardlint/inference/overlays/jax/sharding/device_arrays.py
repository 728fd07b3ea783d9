"""Lists and numpy arrays of devices: ``np.array(jax.devices()).reshape(2, 4)``, ``devices[:4]``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shardlint.inference.domain.values import (
    Const,
    Devices,
    ListValue,
    Slice,
    Tuple,
    Value,
    as_dim,
    as_int,
    as_items,
    as_str,
    integer,
    is_none,
    shape_value,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.indexing import indexed
from shardlint.inference.overlays.arrays.layout import (
    expanded,
    permuted,
    reshaped,
    resize_in_place,
    squeezed,
    swapped,
    target_items,
)  # fmt: skip
from shardlint.inference.overlays.arrays.operands import Stop, Transfer, is_numpy, known_int, table
from shardlint.laws.core.dims import Shape, product
from shardlint.laws.core.values import Unknown
from shardlint.laws.meshes.device_order import Grid, Index, NoOrder, concatenated, stacked


def grid_of(value: Value | None) -> Grid | None:
    """Return devices whose order is known, as an array of them; None for others."""
    if not isinstance(value, Devices) or value.ids is None:
        return None
    shape = tuple(size for size in value.shape if isinstance(size, int))
    return Grid(shape, value.ids) if len(shape) == len(value.shape) else None


def _arranged(shape: Shape, like: Devices, arrange: Callable[[Grid], Grid]) -> Devices:
    """Return devices of this shape, in the order in which numpy arranges them, where that is followed."""
    grid = grid_of(like)
    try:
        found = None if grid is None else arrange(grid)
    except NoOrder:
        found = None
    ids = found.ids if found is not None and found.shape == shape else None
    return replace(like, shape=shape, ids=ids)


def index_devices(devices: Devices, key: Value) -> Value:
    """Return ``devices[key]``; a list accepts only an integer or a slice."""
    if not devices.numpy and not (isinstance(key, Slice) or as_dim(key) is not None):
        return Unknown("a list of devices indexed by something else")
    try:
        shape = indexed(devices.shape, key, devices.numpy)
    except Stop as stop:
        return stop.answer("indexing")
    if shape is None:
        return Unknown("indexing")

    def pick(grid: Grid) -> Grid:
        return grid.picked([_index(part) for part in (key.items if isinstance(key, Tuple) else (key,))])

    return _arranged(shape, devices, pick)


def _index(part: Value) -> Index:
    """Return an index as numpy would see it. Raises NoOrder if it is not known."""
    if isinstance(part, Slice):
        bounds = [None if is_none(bound) else _integer(bound) for bound in (part.start, part.stop, part.step)]
        return slice(*bounds)
    if is_none(part):
        return None
    if isinstance(part, Const) and part.value is Ellipsis:
        return Ellipsis
    if isinstance(part, ListValue) and part.items is not None:
        return [_integer(item) for item in part.items]
    return _integer(part)


def _integer(value: Value | None) -> int:
    number = as_int(value)
    if number is None:
        raise NoOrder
    return number


def _integers(value: Value | None) -> list[int] | None:
    """Return an integer, or several, as a list; None for None. Raises NoOrder if they are not known."""
    if value is None or is_none(value):
        return None
    return [_integer(item) for item in as_items(value) or (value,)]


def length(devices: Devices) -> Value:
    """Return ``len(devices)``."""
    return integer(devices.shape[0]) if devices.shape else Unknown("len() of one device")


def _receiver(call: Call) -> Devices:
    receiver = call.args[0]
    if not isinstance(receiver, Devices):
        raise Stop("not devices")
    return receiver


def _method(
    rearrange: Callable[[Call, Shape], Shape | None], arrange: Callable[[Call, Grid], Grid]
) -> Transfer:
    """Return a method of a numpy array of devices: the shape of its result, and the devices in it."""

    def transfer(call: Call) -> Value:
        devices = _receiver(call)
        if not devices.numpy:
            raise Stop("a list has no such method")
        shape = rearrange(call, devices.shape)
        if shape is None:
            raise Stop("the rank is not known")
        return _arranged(shape, devices, lambda grid: arrange(call, grid))

    return transfer


def _order(call: Call, position: int | None = None) -> str:
    """Return the argument ``order``. Raises NoOrder if it is not known."""
    given = call.argument(position, "order")
    order = "C" if given is None else as_str(given)
    if order is None:
        raise NoOrder
    return order


def _ravelled(call: Call, grid: Grid) -> Grid:
    return grid.reshaped([-1] if grid.ids else [0], _order(call, 1))


def _swapped(call: Call, grid: Grid) -> Grid:
    _, first, second = call.bind("self_", "axis1", "axis2")
    order = list(range(len(grid.shape)))
    one, other = grid.axis(_integer(first)), grid.axis(_integer(second))
    order[one], order[other] = order[other], order[one]
    return grid.transposed(order)


def _star(call: Call) -> Value | None:
    """Return the one tuple, or the integers, after the receiver."""
    if call.opaque or call.kwargs.keys() - {"order", "copy"}:
        raise Stop("the arguments are not known")
    rest = call.args[1:]
    if not rest:
        return None
    return rest[0] if len(rest) == 1 else Tuple(tuple(rest))


def _squeeze(call: Call, shape: Shape) -> Shape | None:
    _, axis = call.bind("self_", axis=None)
    return squeezed(shape, axis)


def _swapaxes(call: Call, shape: Shape) -> Shape | None:
    _, first, second = call.bind("self_", "axis1", "axis2")
    return swapped(shape, known_int(first), known_int(second))


def _tolist(call: Call) -> Value:
    devices = _receiver(call)
    if len(devices.shape) != 1:
        raise Stop("nested lists of devices")
    return replace(devices, numpy=False)


#: Methods of numpy arrays of devices; the receiver is the first argument.
METHODS: dict[str, Transfer] = table("", {
    "reshape": _method(
        lambda call, shape: reshaped(shape, target_items(_star(call)), numpy=True),
        lambda call, grid: grid.reshaped(_integers(_star(call)) or [], _order(call)),
    ),
    "transpose": _method(
        lambda call, shape: permuted(shape, _star(call)),
        lambda call, grid: grid.transposed(_integers(_star(call))),
    ),
    "flatten": _method(lambda call, shape: (product(shape),), _ravelled),
    "ravel": _method(lambda call, shape: (product(shape),), _ravelled),
    "squeeze": _method(_squeeze, lambda call, grid: _squeezed(call, grid)),
    "swapaxes": _method(_swapaxes, _swapped),
    "copy": _method(lambda call, shape: shape, lambda call, grid: grid),
    "tolist": _tolist,
    "resize": resize_in_place,
})  # fmt: skip

ATTRIBUTES: dict[str, Callable[[Devices], Value]] = {
    "shape": lambda devices: shape_value(devices.shape),
    "size": lambda devices: integer(product(devices.shape)),
    "ndim": lambda devices: Const(len(devices.shape)),
    "T": lambda devices: _arranged(devices.shape[::-1], devices, Grid.transposed),
    "flat": lambda devices: replace(devices, shape=(product(devices.shape),)),
}


def _squeezed(call: Call, grid: Grid) -> Grid:
    _, axis = call.bind("self_", axis=None)
    chosen = _integers(axis)
    gone = (
        [k for k, size in enumerate(grid.shape) if size == 1]
        if chosen is None
        else [grid.axis(one) for one in chosen]
    )
    return grid.reshaped([size for k, size in enumerate(grid.shape) if k not in gone])


# -- functions of numpy ---------------------------------------------------------------------------------


def on_devices(arrange: Callable[[Call], Grid | list[Grid]], otherwise: Transfer) -> Transfer:
    """Return a numpy function that rearranges devices as it does arrays (``np.flip(devices)``).

    Where their order is not known, the shape of the result is that of as many unknown devices.
    """

    def transfer(call: Call) -> Value:
        first = next(iter(call.args), None)
        items = as_items(first)
        if not is_numpy(call) or not any(isinstance(one, Devices) for one in items or (first,)):
            return otherwise(call)
        try:
            found = arrange(call)
        except NoOrder:
            return Unknown(f"devices that `{call.name}` arranges")
        if isinstance(found, list):
            return ListValue([_made(one) for one in found], call.place, call.interpreter.path)
        return _made(found)

    def _made(grid: Grid) -> Devices:
        return Devices(grid.shape, numpy=True, ids=grid.ids)

    return transfer


def _grid(value: Value | None) -> Grid:
    found = grid_of(value)
    if found is None:
        raise NoOrder
    return found


def _grids(value: Value | None) -> list[Grid]:
    return [_grid(item) for item in as_items(value) or ()]


def _flip(call: Call) -> Grid:
    m, axis = call.bind("m", axis=None)
    return _grid(m).flipped(_integers(axis))


def _flipped_along(axis: int) -> Callable[[Call], Grid]:
    def flip(call: Call) -> Grid:
        (m,) = call.bind("m")
        return _grid(m).flipped([axis])

    return flip


def _roll(call: Call) -> Grid:
    a, shift, axis = call.bind("a", "shift", axis=None)
    grid, shifts, axes = _grid(a), _integers(shift) or [], _integers(axis)
    if axes is None:
        return grid.rolled(sum(shifts))
    if len(shifts) == 1:
        shifts *= len(axes)
    if len(shifts) != len(axes):
        raise NoOrder
    for number, along in zip(shifts, axes, strict=True):
        grid = grid.rolled(number, along)
    return grid


def _moveaxis(call: Call) -> Grid:
    a, source, destination = call.bind("a", "source", "destination")
    return _grid(a).moved(_integers(source) or [], _integers(destination) or [])


def _concatenate(call: Call) -> Grid:
    arrays, axis, *_ = call.bind("arrays", axis=Const(0))
    grids, along = _grids(arrays), _integers(axis)
    if along is None:
        return concatenated([grid.reshaped([len(grid.ids)]) for grid in grids])
    return concatenated(grids, along[0])


def _stack(call: Call) -> Grid:
    arrays, axis = call.bind("arrays", axis=Const(0))
    return stacked(_grids(arrays), _integer(axis))


def _split(uneven: bool) -> Callable[[Call], list[Grid]]:
    def split(call: Call) -> list[Grid]:
        array, sections, axis = call.bind("ary", "indices_or_sections", axis=Const(0))
        count = as_int(sections)
        return _grid(array).split(
            count if count is not None else _integers(sections) or [], _integer(axis), uneven
        )

    return split


#: Functions of numpy that give arrays of devices, and lists of them.
FUNCTIONS: dict[str, Callable[[Call], Grid | list[Grid]]] = {
    "flip": _flip,
    "flipud": _flipped_along(0),
    "fliplr": _flipped_along(1),
    "roll": _roll,
    "moveaxis": _moveaxis,
    "swapaxes": lambda call: _swapped(_receiving(call), _grid(call.argument(0, "a"))),
    "concatenate": _concatenate,
    "stack": _stack,
    "split": _split(uneven=False),
    "array_split": _split(uneven=True),
}


def _receiving(call: Call) -> Call:
    """Return a call of a function as one of the method: its array is the receiver."""
    kwargs = {name: value for name, value in call.kwargs.items() if name != "a"}
    args = call.args if "a" not in call.kwargs else [call.kwargs["a"], *call.args]
    return Call(call.interpreter, call.name, args, kwargs, call.place, call.opaque, call.arg_places)


def keeps_devices(
    rearrange: Callable[[Call, Devices], Shape | None],
    arrange: Callable[[Call, Grid], Grid],
    otherwise: Transfer,
) -> Transfer:
    """Return a numpy function that rearranges devices as it does arrays (``np.reshape(devices, ...)``)."""

    def transfer(call: Call) -> Value:
        devices = call.args[0] if call.args else None
        if not isinstance(devices, Devices) or not is_numpy(call):
            return otherwise(call)
        shape = rearrange(call, devices)
        if shape is None:
            raise Stop("the rank is not known")
        made = Devices(shape, numpy=True, origin=devices.origin, ids=devices.ids)
        return _arranged(shape, replace(made, shape=devices.shape), lambda grid: arrange(call, grid))

    return transfer


def reshape_of(call: Call, devices: Devices) -> Shape:
    """`np.reshape(devices, shape)`."""
    _, shape, _ = call.bind("a", "shape", order=None)
    return reshaped(devices.shape, target_items(shape), numpy=True)


def transpose_of(call: Call, devices: Devices) -> Shape | None:
    """`np.transpose(devices, axes)`."""
    _, axes = call.bind("a", axes=None)
    return permuted(devices.shape, axes)


def expand_of(call: Call, devices: Devices) -> Shape:
    """`np.expand_dims(devices, axis)`."""
    _, axis = call.bind("a", "axis")
    return expanded(devices.shape, axis)


def reshape_order(call: Call, grid: Grid) -> Grid:
    """Return the devices in `np.reshape(devices, shape, order)`."""
    _, shape, _ = call.bind("a", "shape", order=None)
    return grid.reshaped(_integers(shape) or [], _order(call, 2))


def transpose_order(call: Call, grid: Grid) -> Grid:
    """Return the devices in `np.transpose(devices, axes)`."""
    _, axes = call.bind("a", axes=None)
    return grid.transposed(_integers(axes))


def expand_order(call: Call, grid: Grid) -> Grid:
    """Return the devices in `np.expand_dims(devices, axis)`."""
    _, axis = call.bind("a", "axis")
    shape = expanded(grid.shape, axis)
    return grid.reshaped([size for size in shape if isinstance(size, int)])

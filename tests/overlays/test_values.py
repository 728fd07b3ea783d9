"""Methods, attributes, operators, indexing, devices and what is not an array, against the libraries."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable
from typing import Any

import cases_jax
import cases_numpy as shared
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cases_products import product_pair
from overlay_harness import (
    CASES,
    PLACE,
    Case,
    Draw,
    FakeInterpreter,
    Generator,
    check,
    concrete,
    dims,
    evaluate,
    function,
    run_entry,
    run_library,
)  # fmt: skip

from shardlint.inference.domain.values import (
    Array,
    Const,
    Devices,
    DictValue,
    External,
    Integer,
    LibraryObject,
    ListValue,
    Native,
    Slice,
    Tuple,
    Value,
    integer,
)  # fmt: skip
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays import methods
from shardlint.inference.overlays.arrays.dtypes import as_dtype
from shardlint.inference.overlays.jax import initializers
from shardlint.inference.overlays.jax import numpy as jax_numpy
from shardlint.inference.overlays.jax import tree as jax_tree
from shardlint.inference.overlays.jax.lax import convolution
from shardlint.inference.overlays.jax.sharding import device_arrays
from shardlint.inference.overlays.numpy import functions as numpy_  # fmt: skip
from shardlint.laws.core.dims import symbol, symbols
from shardlint.laws.core.values import Unknown

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "@": operator.matmul, "&": operator.and_, "|": operator.or_,
    "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift, "==": operator.eq, "!=": operator.ne,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def star(generate: Generator) -> Generator:
    """A tuple argument sometimes given as arguments: ``x.reshape(2, 3)``."""

    def generated(d: Draw) -> Case:
        args, kwargs = generate(d)
        if len(args) == 2 and isinstance(args[1], Tuple) and args[1].items and d.chance(0.5):
            args = [args[0], *args[1].items]
        return args, kwargs

    return generated


def transposed(d: Draw) -> Case:
    args, kwargs = shared.transpose(d)
    return [*args, *kwargs.values()], {}


def clipped(d: Draw) -> Case:
    return [d.array(dtype="int32"), Const(0), Const(3)], {}


def viewed(d: Draw) -> Case:
    return [Array(d.shape(1, 3), "float32", numpy=d.numpy), External("numpy.int32")], {}


def method_sort(d: Draw) -> Case:
    return [d.array(d.shape(1, 3))], {}


METHOD_CASES: dict[str, Generator] = {
    **{name: shared.SHARED[name] for name in (
        "sum", "prod", "max", "min", "all", "any",
        "mean", "std", "var", "argmax", "argmin", "cumsum", "cumprod",
        "trace", "ptp", "swapaxes", "squeeze", "repeat",
        "conj", "conjugate", "take", "argsort", "diagonal", "dot",
        "astype", "searchsorted",
    )},
    "ravel": shared.arrays,
    "flatten": shared.arrays,
    "copy": shared.arrays,
    "round": shared.arrays,
    "nonzero": shared.sized,
    "reshape": star(shared.reshape),
    "transpose": star(transposed),
    "clip": clipped,
    "view": viewed,
    "sort": method_sort,
}  # fmt: skip

#: Methods that give plain numbers, of which nothing is known.
NUMBERS = {"item", "tolist"}

#: Traced arrays lack this one.
CONCRETE = {"block_until_ready"}


def test_every_method_has_cases() -> None:
    # What changes an array in place stands in tests/python/features/numpy.txt.
    assert methods.METHODS.keys() - NUMBERS - CONCRETE - {"__setattr__", "resize"} == METHOD_CASES.keys()


def receiver_first(generate: Generator) -> Generator:
    """Cases whose first argument is an array, so that it has methods."""

    def generated(d: Draw) -> Case:
        args, kwargs = generate(d)
        first = args[0] if isinstance(args[0], Array) else d.array()
        return [first, *args[1:]], kwargs

    return generated


def call_method(name: str) -> Callable[..., Any]:
    def target(x: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(x, name)(*args, **kwargs)

    return target


@pytest.mark.parametrize(
    ("name", "numpy"),
    # numpy 2 has taken `ptp` from its arrays.
    [
        (name, numpy)
        for name in sorted(METHOD_CASES)
        for numpy in (False, True)
        if (name, numpy) != ("ptp", True)
    ],
)
def test_methods(name: str, numpy: bool) -> None:
    transfer, generate = methods.METHODS[name], receiver_first(METHOD_CASES[name])
    tally = run_entry(name, transfer, call_method(name), generate, CASES, numpy=numpy, receiver=True)
    assert tally.accepted >= tally.cases // 4, tally
    if name != "nonzero":
        assert tally.open_sizes <= tally.accepted // 3, tally


def operands_of(op: str) -> Generator:
    if op == "@":
        return lambda d: (list(product_pair(d)), {})
    if op in "& | ^ << >>":
        return shared.integer_pair
    return shared.power if op == "**" else shared.binary


@pytest.mark.parametrize("numpy", [False, True])
@pytest.mark.parametrize("op", sorted(OPERATORS))
def test_binary_operators(op: str, numpy: bool) -> None:
    def transfer(call: Call) -> Value:
        return methods.binary(op, call.args[0], call.args[1])

    tally = run_entry(op, transfer, OPERATORS[op], operands_of(op), CASES * 2, numpy=numpy)
    assert tally.accepted >= tally.cases // 3, tally
    assert tally.open_sizes <= tally.accepted // 4, tally


@pytest.mark.parametrize("numpy", [False, True])
@pytest.mark.parametrize("op", ["-", "+", "~", "abs"])
def test_unary_operators(op: str, numpy: bool) -> None:
    functions: dict[str, Callable[[Any], Any]] = {
        "-": operator.neg, "+": operator.pos, "~": operator.invert, "abs": operator.abs
    }  # fmt: skip

    def transfer(call: Call) -> Value:
        array = call.args[0]
        assert isinstance(array, Array)
        return methods.unary(op, array)

    run_entry(op, transfer, functions[op], shared.arrays, CASES, numpy=numpy, receiver=True)


def test_mixed_operators() -> None:
    """A numpy array beside a JAX one becomes a JAX one, 64 bits narrowed."""

    def generate(d: Draw) -> Case:
        shape = d.shape()
        other = Array(d.meeting(shape), d.pick("float64", "int64", "float32"), numpy=True)
        pair: list[Value] = [d.array(shape), other]
        return (pair if d.chance(0.5) else pair[::-1]), {}

    def transfer(call: Call) -> Value:
        return methods.binary("*", call.args[0], call.args[1])

    tally = run_entry("*", transfer, operator.mul, generate, CASES * 5)
    assert tally.accepted > tally.cases // 2


@pytest.mark.parametrize("name", ["shape", "size", "ndim", "itemsize", "nbytes", "T", "mT", "real", "imag"])
def test_attributes(name: str) -> None:
    def transfer(call: Call) -> Value:
        array = call.args[0]
        assert isinstance(array, Array)
        return methods.ATTRIBUTES[name](array)

    def generate(d: Draw) -> Case:
        return [d.array(d.shape(2, 4))], {}

    tally = run_entry(name, transfer, operator.attrgetter(name), generate, CASES, receiver=True)
    assert tally.accepted == tally.cases and tally.open_sizes == 0


def test_dtype_attribute() -> None:
    found = methods.ATTRIBUTES["dtype"](Array((2,), "bfloat16"))
    assert as_dtype(found) == "bfloat16"


def test_every_attribute_is_tested() -> None:
    tested = {"shape", "size", "ndim", "itemsize", "nbytes", "T", "mT", "real", "imag", "dtype", "at"}
    assert methods.ATTRIBUTES.keys() == tested


def index_item(d: Draw, size: Any) -> Value:
    kind = d.between(0, 9)
    if kind <= 1:
        return Const(d.between(-d.of(size), d.of(size) - 1))
    if kind <= 6:
        bounds: list[Value] = [Const(None), Const(None), Const(None)]
        for i in range(2):
            if d.chance(0.6):
                bounds[i] = integer(d.dim(0)) if d.chance(0.4) else Const(d.between(-7, 7))
        if d.chance(0.25):
            bounds[2] = Const(d.pick(-2, -1, 2, 3))
        start, stop, step = bounds
        return Slice(start, stop, step)
    if kind == 7:
        return Array(d.shape(0, 2), "int32", numpy=d.numpy) if not d.numpy else Const(0)
    return Slice(Const(None), integer(size), Const(None))


def indexing_case(d: Draw) -> Case:
    shape = d.shape(1, 4)
    items = [index_item(d, size) for size in shape[: d.between(1, len(shape))]]
    for extra in (Const(None), Const(None)):
        if d.chance(0.2):
            items.insert(d.between(0, len(items)), extra)
    if d.chance(0.25):
        if d.chance(0.5) and len(items) > 1:
            items = items[1:]
        items.insert(d.between(0, len(items)), Const(...))
    key = items[0] if len(items) == 1 and d.chance(0.5) else Tuple(tuple(items))
    return [d.array(shape), key], {}


@pytest.mark.parametrize("numpy", [False, True])
def test_indexing(numpy: bool) -> None:
    def transfer(call: Call) -> Value:
        array = call.args[0]
        assert isinstance(array, Array)
        return methods.index(array, call.args[1])

    tally = run_entry(
        "index", transfer, operator.getitem, indexing_case, CASES * 60,
        numpy=numpy, receiver=True, unusual=False,
    )  # fmt: skip
    assert tally.accepted >= tally.cases * 2 // 3, tally
    assert tally.open_sizes <= tally.accepted // 20, tally
    assert tally.open_symbols <= tally.accepted // 2, tally


def test_masks_have_open_lengths() -> None:
    n = symbol("n")
    found = methods.index(Array((n, 3, 4), "float32"), Array((n, 3), "bool"))
    assert isinstance(found, Array) and found.shape is not None
    assert len(found.shape) == 2 and found.shape[1] == 4 and symbols(found.shape[0]) != {"n"}


def test_at() -> None:
    array = Array((symbol("n"), 3), "float32")
    at = methods.ATTRIBUTES["at"](array)
    assert isinstance(at, LibraryObject)
    updater = methods.at_index(at, Const(0))
    assert isinstance(updater, LibraryObject)
    for name in ("set", "add", "get"):
        method = updater.fields[name]
        assert isinstance(method, Native)
        found = method.call(Call(FakeInterpreter(), name, [Const(1)], {}, PLACE))  # type: ignore[arg-type]
        assert isinstance(found, Array)
        assert (found.shape, found.dtype) == ((3,) if name == "get" else array.shape, "float32")


def device_array(shape: tuple[int, ...]) -> Any:
    return np.arange(int(np.prod(shape))).reshape(shape)


def device_key(d: Draw, rank: int) -> Value:
    items: list[Value] = []
    for _ in range(d.between(1, rank)):
        bounds = [Const(None) if d.chance(0.4) else Const(d.between(-3, 4)) for _ in range(2)]
        items.append(Const(0) if d.chance(0.3) else Slice(bounds[0], bounds[1], Const(None)))
    return items[0] if len(items) == 1 else Tuple(tuple(items))


DEVICE_CASES: dict[str, Callable[[Draw, Any], list[Value]]] = {
    "reshape": lambda d, shape: [dims((-1, shape[0]))] if d.chance(0.5) else list(dims((*shape, 1)).items),
    "transpose": lambda d, shape: [],
    "flatten": lambda d, shape: [],
    "ravel": lambda d, shape: [],
    "squeeze": lambda d, shape: [],
    "swapaxes": lambda d, shape: [Const(0), Const(-1)],
    "copy": lambda d, shape: [],
    "index": lambda d, shape: [device_key(d, len(shape))],
}


def test_every_device_method_is_tested() -> None:
    assert device_arrays.METHODS.keys() - {"tolist", "resize"} == DEVICE_CASES.keys() - {"index"}


@pytest.mark.parametrize("name", sorted(DEVICE_CASES))
def test_devices(name: str) -> None:
    known = 0
    for number in range(CASES * 3):
        d = Draw(random.Random(f"devices/{name}/{number}"), numpy=True)
        shape = d.shape(1, 3, least=2 if name == "squeeze" else 1)
        extra = DEVICE_CASES[name](d, shape)
        value = Devices(shape, numpy=True)
        if name == "index":
            ours = device_arrays.index_devices(value, extra[0])
        else:
            ours = evaluate(name, device_arrays.METHODS[name], [value, *extra], {})
        stand_in = Array(tuple(map(d.of, shape)), "int64", numpy=True)
        plain = [concrete(item, d.sizes) for item in extra]
        target = operator.getitem if name == "index" else call_method(name)
        real = run_library(target, [stand_in, *plain], {}, numpy=True)
        if isinstance(ours, Devices):
            known += 1
            ours = Array(ours.shape, str(real[1]), numpy=True)
        check(ours, real, d.sizes, f"{name} {shape} {extra}")
    assert known >= CASES * 3 // 4


def test_device_lists() -> None:
    count = symbol("devices", 1)
    listed = Devices((count,))
    array = evaluate("numpy.array", numpy_.TABLE["numpy.array"], [listed], {})
    assert array == Devices((count,), numpy=True)
    pair = evaluate("reshape", device_arrays.METHODS["reshape"], [array, Const(-1), Const(2)], {})
    assert pair == Devices((count // 2, 2), numpy=True)
    assert device_arrays.length(listed) == Integer(count)
    assert device_arrays.index_devices(listed, Const(0)) == Devices(())
    first = device_arrays.index_devices(listed, Slice(Const(None), Const(4), Const(None)))
    assert isinstance(first, Devices) and symbols(first.shape[0]) - {"devices"}
    four = device_arrays.index_devices(Devices((8,)), Slice(Const(None), Const(4), Const(None)))
    assert four == Devices((4,))
    same = evaluate("numpy.reshape", numpy_.TABLE["numpy.reshape"], [array, dims((2, -1))], {})
    assert same == Devices((2, count // 2), numpy=True)
    attributes = device_arrays.ATTRIBUTES
    grid = Devices((2, 4), numpy=True)
    assert attributes["size"](grid) == Const(8) and attributes["ndim"](grid) == Const(2)
    assert attributes["T"](grid) == Devices((4, 2), numpy=True)
    assert attributes["flat"](grid) == Devices((8,), numpy=True)
    assert attributes["shape"](grid) == dims((2, 4))
    plain = evaluate("tolist", device_arrays.METHODS["tolist"], [Devices((8,), numpy=True)], {})
    assert plain == Devices((8,))


@pytest.mark.parametrize("name", sorted(initializers.TABLE))
def test_initializers(name: str) -> None:
    short = name.rpartition(".")[2]
    made = getattr(jax.nn.initializers, short)
    args = {"constant": (0.5,), "variance_scaling": (1.0, "fan_in", "normal")}.get(short, ())
    initializer = made if short in ("zeros", "ones") else made(*args)
    transfer = initializers.TABLE[name]
    if short not in ("zeros", "ones"):
        native = evaluate(name, transfer, [Const(arg) for arg in args], {})
        assert isinstance(native, Native)
        transfer = native.call

    def generate(d: Draw) -> Case:
        shape = (1, d.dim(1, 3), d.dim(4, 6)) if short == "delta_orthogonal" else d.shape(2, 3)
        # QR takes no bfloat16: JAX says so while tracing since 0.12, before when it lowers.
        return [cases_jax.key(d), dims(shape)], d.maybe(
            dtype=lambda: Const("float32" if "orthogonal" in short else "bfloat16")
        )

    tally = run_entry(name, transfer, initializer, generate, CASES, unusual=False)
    assert tally.accepted == tally.cases and tally.open_symbols == 0, tally


def test_generators_of_numpy() -> None:
    maker = numpy_.TABLE["numpy.random.default_rng"]
    rng = evaluate("numpy.random.default_rng", maker, [Const(0)], {})
    assert isinstance(rng, LibraryObject)
    real = np.random.default_rng(0)
    for name, args in {"normal": (0, 1), "integers": (0, 9), "standard_normal": (), "uniform": ()}.items():
        method = rng.fields[name]
        assert isinstance(method, Native)
        size = {"size": dims((2, 3))}
        found = evaluate(name, method.call, [Const(arg) for arg in args], dict(size))
        drawn = getattr(real, name)(*args, size=(2, 3))
        assert found == Array(drawn.shape, str(drawn.dtype), numpy=True)
    old = evaluate("RandomState", numpy_.TABLE["numpy.random.RandomState"], [Const(0)], {})
    assert isinstance(old, LibraryObject) and isinstance(old.fields["randn"], Native)
    assert evaluate("randn", old.fields["randn"].call, [Const(2)], {}) == Array((2,), "float64", numpy=True)
    assert evaluate("seed", numpy_.TABLE["numpy.random.seed"], [Const(0)], {}) == Const(None)


def pair_of(x: Any) -> tuple[Any, Any]:
    return x, -x


def test_blocking_gives_the_array() -> None:
    array = Array((2,), "float32")
    assert jnp.ones(2).block_until_ready().shape == (2,)
    assert evaluate("block_until_ready", methods.METHODS["block_until_ready"], [array], {}) == array


def test_numbers_are_not_known() -> None:
    for name in NUMBERS:
        assert isinstance(evaluate(name, methods.METHODS[name], [Array((), "float32")], {}), Unknown)


def test_vectorize() -> None:
    def transfer(call: Call) -> Value:
        array = call.args[0]
        assert isinstance(array, Array)
        return Tuple((array, methods.unary("-", array)))

    pair = function("pair", transfer, pair_of)
    native = evaluate("jax.numpy.vectorize", jax_numpy.TABLE["jax.numpy.vectorize"], [pair], {})
    assert isinstance(native, Native)
    tally = run_entry("vectorized", native.call, jnp.vectorize(pair_of), shared.arrays, CASES)
    assert tally.open_symbols == 0


@pytest.mark.parametrize("prefix", ["jax.tree.", "jax.tree_util.tree_"])
def test_tree_structures(prefix: str) -> None:
    table = jax_tree.TABLE
    tree = DictValue({"b": Const(2), "a": Tuple((Const(1), Const(None), ListValue([Const(3)])))})
    both = evaluate("flatten", table[f"{prefix}flatten"], [tree], {})
    assert isinstance(both, Tuple) and isinstance(both.items[0], ListValue)
    assert both.items[0].items == [Const(leaf) for leaf in jax.tree.leaves({"b": 2, "a": (1, None, [3])})]
    structure = evaluate("structure", table[f"{prefix}structure"], [tree], {})
    again = evaluate("unflatten", table[f"{prefix}unflatten"], [structure, both.items[0]], {})
    assert isinstance(again, DictValue) and again.items is not None
    nested = again.items["a"]
    assert again.items["b"] == Const(2) and isinstance(nested, Tuple) and nested.items[0] == Const(1)


def test_dimension_numbers() -> None:
    found = evaluate(
        "jax.lax.conv_dimension_numbers", convolution.TABLE["jax.lax.conv_dimension_numbers"],
        [dims((1, 8, 8, 3)), dims((3, 3, 3, 4)), Tuple((Const("NHWC"), Const("HWIO"), Const("NHWC")))], {},
    )  # fmt: skip
    args: list[Value] = [
        Array((1, 8, 8, 3), "float32"),
        Array((3, 3, 3, 4), "float32"),
        dims((1, 1)),
        Const("SAME"),
    ]
    conv = convolution.TABLE["jax.lax.conv_general_dilated"]
    answer = evaluate("jax.lax.conv_general_dilated", conv, args, {"dimension_numbers": found})
    assert answer == Array((1, 8, 8, 4), "float32")


def test_what_is_unknown_stays_unknown() -> None:
    hidden, array = Unknown("elsewhere"), Array((2, 3), "float32")
    assert isinstance(methods.binary("+", array, hidden), Unknown)
    assert isinstance(methods.index(array, hidden), Unknown)
    total = evaluate("jax.numpy.sum", jax_numpy.TABLE["jax.numpy.sum"], [hidden], {})
    assert total == Array((), None)
    kept = evaluate("jax.numpy.exp", jax_numpy.TABLE["jax.numpy.exp"], [hidden], {})
    assert kept == Array(None, None)


def test_rejections_say_so() -> None:
    found = evaluate(
        "jax.numpy.reshape",
        jax_numpy.TABLE["jax.numpy.reshape"],
        [Array((2, 3), "float32"), dims((4, -1))],
        {},
    )
    assert isinstance(found, Unknown) and found.reason.startswith("rejected by jax.numpy.reshape")

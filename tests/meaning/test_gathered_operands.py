"""Operands that the compiler gathers along a split dimension: beside the collectives in the compiled code."""

from __future__ import annotations

import random
import re

import jax
import pytest
from consequences import found, of_pages, value
from support.checking import check
from support.sizes import size

from shardlint.laws.placement.movement import moved_by_cut

CASES = size("SHARDLINT_GATHER_CASES", 60, 24)
SHAPE = (16, 64, 128)
HEADER = """import jax, jax.experimental, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
def array(*spec, shape=(16, 64, 128)):
    return jax.device_put(jnp.ones(shape), NamedSharding(mesh, P(*spec)))
"""
#: Calls of the operand ``v``, at position ``i``, by the dimension ``d``.
CALLS = (
    "jnp.cumsum(v, {d})", "v.cumprod(axis={d})", "jnp.cumsum(v, axis={n})", "lax.cummax(v, {d})",
    "lax.cumlogsumexp(v, axis={d}, reverse=True)", "jnp.cumsum(v)",
    "lax.dynamic_slice_in_dim(v, i, 2, {d})", "lax.dynamic_index_in_dim(v, i, axis={n})",
    "lax.dynamic_slice(v, (0, i, 0), (16, 3, 128))", "lax.dynamic_slice(v, [i, i, i], [16, 64, 2])",
    "lax.dynamic_update_slice_in_dim(v, v[:2, :2, :2], i, axis={d})",
    "lax.dynamic_update_slice(v, jnp.ones((16, 3, 128)), (0, i, 0))",
    "v[i]", "v[:, i]", "v[..., i]", "v[None, 2, i]", "v[i, :, 3]", "v[:, i, 4:]", "v[i, i]", "v[i, -1]",
)  # fmt: skip
ORDERED = (
    "lax.top_k(v, 4)", "lax.top_k(v, 2, axis={d})", "jnp.sort(v, axis={d})", "jnp.argsort(v)",
    "jnp.sort(v, axis=None)", "lax.sort(v, dimension={d})", "jnp.median(v)", "jnp.quantile(v, 0.5)",
    "jnp.partition(v, 3, axis={d})", "jnp.argpartition(v, 3)", "v.argsort(axis={n})",
    "jnp.percentile(v, 5, axis={d})",
)  # fmt: skip
WITH_CONSTANTS = (
    "jnp.cumsum(v * np.hanning(128), {d})", "jnp.cumsum(np.ones((64, 1)) - v, {d})",
    "lax.top_k(np.ones(128) * v, 3, axis={d})", "(v + np.arange(128.0)).at[:, :2].set(0.0)",
    "jnp.fft.rfft(v * np.hanning(128), axis={d})", "jnp.cumsum(jnp.where(np.eye(64, 128) > 0, v, 0.0), {d})",
)  # fmt: skip
TRANSFORMS = (
    "jnp.fft.rfft(v)", "jnp.fft.rfft(v, axis={d})", "jnp.fft.irfft(v.astype(complex), axis={n})",
    "jnp.fft.rfft2(v)", "jnp.fft.rfftn(v, axes=(0, {d}))", "jnp.fft.fft(v, axis={d})", "jnp.fft.fft2(v)",
)  # fmt: skip
MATRICES = (
    "jnp.linalg.svd(v, compute_uv=False)", "jnp.linalg.qr(v[:, :16, :16])", "jnp.linalg.inv(v @ v.mT)",
    "jnp.linalg.det(v)", "jnp.linalg.cholesky(v)", "jnp.linalg.eigvalsh(v)", "jnp.linalg.pinv(v)",
    "jnp.linalg.slogdet(v)",
)  # fmt: skip


def random_spec(rng: random.Random, axes: str = "xy") -> tuple[str | None, ...]:
    entries: list[str | None] = [None, None, None]
    for axis, at in zip(rng.sample(axes, rng.randint(1, len(axes))), rng.sample(range(3), 3), strict=False):
        entries[at] = axis
    return tuple(entries)


def gathers(call: str, operand: str) -> bool:
    """Return whether XLA gathers the operand, in what a call of it compiles to: the parts along some axis."""
    program = f"{HEADER}compiled = jax.jit(lambda v, i: {call}).lower({operand}, jnp.int32(3)).compile()\n"
    pattern = r"= \w+\[([\d,]+)\]\S* all-gather(?:-start)?\("
    shapes = value(program, f"__import__('re').findall({pattern!r}, compiled.as_text())")
    return bool(shapes)


def told(call: str, operand: str, jitted: bool = True) -> list[str]:
    """Return what is said of a call of the operand, inside jit or outside, for the release that runs here."""
    inside = f"jax.jit(lambda v, i: {call})({operand}, jnp.int32(3))\n"
    outside = f"v, i = {operand}, jnp.int32(3)\nw = {call}\n"
    target = ".".join(map(str, jax.__version_info__))
    findings = check(HEADER + (inside if jitted else outside), target=target, preview=True)
    return [finding.message for finding in findings if finding.code == "SHL618"]


def compare(calls: tuple[str, ...], shape: tuple[int, ...], axes: str = "xy") -> int:
    """Put random calls beside what they compile to, and return how many gather their operand."""
    rng, gathered = random.Random(len(calls)), 0
    for number in range(CASES):
        spec, at = random_spec(rng, axes), rng.randrange(3)
        call = calls[number % len(calls)].format(d=at, n=at - 3)
        operand = f"array(*{spec}, shape={shape})"
        said = told(call, operand)
        # Outside of jit slices and products are not followed.
        assert said or not told(call, operand, jitted=False), (call, spec)
        gathered += bool(said)
        if said:
            assert gathers(call, operand), (call, spec, said)
    return gathered


def test_values_are_accumulated_and_slices_searched() -> None:
    assert compare(CALLS, SHAPE) > CASES // 4


def test_values_are_ordered() -> None:
    assert compare(ORDERED, (8, 16, 32)) > CASES // 4
    assert compare(ORDERED, (1, 1, 256)) > CASES // 12


def test_operands_beside_constants() -> None:
    assert compare(WITH_CONSTANTS, SHAPE) > CASES // 4


def test_transforms() -> None:
    assert compare(TRANSFORMS, SHAPE) > CASES // 4


def test_decompositions() -> None:
    assert compare(MATRICES, (16, 16, 16)) > CASES // 8


_TYPE = "jax.ShapeDtypeStruct(v.shape, v.dtype)"
CALLBACKS = (
    f"jax.pure_callback(np.sin, {_TYPE}, v)", f"jax.pure_callback(lambda *, a: a, {_TYPE}, a=v)",
    "jax.pure_callback(np.sum, jax.ShapeDtypeStruct((), v.dtype), v)",
    f"jax.experimental.io_callback(np.sin, {_TYPE}, (v, i)[0], ordered=False)",
    "(jax.experimental.io_callback(print, None, v), v)[1]", "(jax.debug.callback(print, i, v), v)[1]",
    "(jax.debug.print('{} {a}', i, a={'v': v}), v)[1]",
)  # fmt: skip


@pytest.mark.parametrize("call", CALLBACKS)
def test_functions_of_the_host_get_whole_arrays(call: str) -> None:
    for spec, split in (("'x', 'y'", True), ("None, 'y'", True), ("", False)):
        operand = f"array({spec})"
        assert bool(told(call, operand)) == split
        assert gathers(call, operand) == split
    assert not told(call, "array('x')", jitted=False)


#: What computes rows from rows ``v``, and a matrix ``m``, so that the rows are split as they came.
ROWS = (
    "v @ m", "jax.nn.relu(v @ m + 1)", "jax.nn.softmax(v)", "v / v.sum(-1, keepdims=True)",
    "v - v.max(1)[:, None]", "jax.vmap(lambda r: r @ m)(v)", "jax.vmap(lambda r: jnp.sort(r))(v)",
    "jax.vmap(lambda r, s: r + s[jnp.argmax(s)], (0, 0))(v, v)",
    "jax.vmap(lambda r: lax.scan(lambda c, e: (c + e, c * e), 0.0, r)[1])(v)",
    "jax.vmap(lambda r: jax.random.normal(jax.random.key(jnp.argmax(r)), (16,)))(v)",
    "jax.vmap(lambda r: lax.cond(r[0] > 0, jnp.sin, jnp.cos, r))(v)",
    "jax.grad(lambda m: ((v @ m).sum(), v @ m), has_aux=True)(m)[1]",
    "jax.value_and_grad(lambda m: ((v @ m).sum(), jnp.tanh(v @ m)), has_aux=True)(m)[0][1]",
    "jax.checkpoint(jnp.sin)(v)", "v[:, ::-1]",
)  # fmt: skip
#: What the compiler lays out anew, or as it chooses.
OTHERS = (
    "jax.vmap(lambda r: jnp.ones(16))(v)",
    "v[::-1]",
    "lax.with_sharding_constraint(v, whole)",
    "v @ v.T @ m",
)
GIVEN = (
    "jax.debug.callback(print, v)", "jax.debug.print('{}', v)",
    "jax.experimental.io_callback(print, None, v)",
    "v = jax.pure_callback(np.asarray, jax.ShapeDtypeStruct(v.shape, v.dtype), v)",
)  # fmt: skip


def test_rows_that_are_computed_are_gathered_for_the_host() -> None:
    rng, said = random.Random(21), 0
    for _ in range(CASES):
        spec, layout = rng.choice(("'x'", "'y'", "('x', 'y')")), rng.choice(("", "None, 'x'"))
        steps = [*rng.choices(ROWS, k=2), *rng.choices(OTHERS, k=rng.random() < 0.2)]
        rng.shuffle(steps)
        body = "".join(f"    v = {step}\n" for step in steps)
        program = (
            f"{HEADER}whole = NamedSharding(mesh, P())\n@jax.jit\ndef f(v, m):\n{body}"
            f"    {rng.choice(GIVEN)}\n    return v\n"
            f"v, m = array({spec}, shape=(64, 16)), array({layout}, shape=(16, 16))\n"
        )
        target = ".".join(map(str, jax.__version_info__))
        findings = check(f"{program}f(v, m)\n", target=target, preview=True)
        texts = [finding.message for finding in findings if finding.code == "SHL618"]
        if any("debug" in text or "callback" in text for text in texts):
            said += 1
            assert value(program, "'all-gather' in f.lower(v, m).compile().as_text()"), program
    assert said > CASES // 4


def test_one_number_a_row_is_no_matter_to_see() -> None:
    assert not told("(jax.debug.print('{}', v.sum(-1)), v)[1]", "array('x', shape=(64, 16))")
    assert not told("(jax.debug.print('{}', v.mean()), v)[1]", "array('x', shape=(64, 16))")
    assert told(
        "jax.pure_callback(np.sin, jax.ShapeDtypeStruct((64,), v.dtype), v.sum(-1))",
        "array('x', shape=(64, 16))",
    )


#: Calls whose operand is not gathered, along a dimension that is split, as far as its parts allow.
KEPT = {
    "jnp.cumsum(v, 0)": (None, "y"),
    "lax.dynamic_slice_in_dim(v, i, 64, 1)": (None, "y"),
    "lax.dynamic_slice_in_dim(v, 3, 2, 0)": (None, "y"),
    "lax.dynamic_update_slice_in_dim(v, v[:, :1], i, 1)": (None, "y"),
    "lax.dynamic_update_index_in_dim(v, jnp.ones((16, 128)), i, 1)": (None, "y"),
    "v.at[:, i].set(0.0)": (None, "y"),
    "v[:, jnp.stack([i, i])]": (None, "y"),
    "v[:, 3]": (None, "y"),
    "jnp.sort(v, axis=1)": (None, "y"),
    "jnp.linalg.svd(v, compute_uv=False)": ("y",),
}


@pytest.mark.parametrize("call", KEPT)
def test_what_is_kept_in_parts(call: str) -> None:
    operand = f"array(*{KEPT[call]})"
    assert not gathers(call, operand)
    assert not told(call, operand)


#: Pieces of the operand ``v``, split by ("x", "y") or (None, "y"), and whether they move to other devices.
CUTS = {
    "jnp.split(v, 2, 1)": True,
    "jnp.split(v, 4, axis=-2)": True,
    "jnp.array_split(v, 2, axis=1)": True,
    "[w @ jnp.ones((128, 8)) for w in jnp.split(v, 2, 1)]": True,
    "(lambda a, b: jax.nn.silu(a) * b)(*jnp.split(jnp.tanh(v), 2, axis=1))": True,
    "jnp.split(v, 2, -1)": False,
    "jnp.split(v, [32], 1)": True,
    "jnp.split(v, [16, 24], axis=1)": True,
    "jnp.split(v, 16, 1)": True,
    "jnp.split(v, [30], 1)": None,
    "(v[:, :32], v[:, 32:])": True,
    "v[:, 0:48, :] * 2": True,
    "v[:, :32].sum()": True,
    "v[..., None, :32, :]": True,
    "[w.reshape(16, 128, -1) for w in (v[:, :32], v[:, 32:48], v[:, 48:])]": True,
    "v[..., :64]": False,
    "v[:, :64]": False,
    "v[:, ::2]": None,
    "v[:, :33]": None,
    "v[:, 32:]": None,
    "v[:, :8]": None,
    "v[0, :32]": None,
    "jnp.split(v, 1, 1)": False,
}


@pytest.mark.parametrize("call", CUTS)
def test_pieces_move(call: str) -> None:
    for spec in ("'x', 'y'", "None, 'y'"):
        said, moves = told(call, f"array({spec})"), permutes(call, f"array({spec})")
        assert bool(said) == bool(CUTS[call])
        assert moves == CUTS[call] or CUTS[call] is None
    assert not told(call, "array()")
    assert not told(call, "array('x', 'y')", jitted=False)


#: What is computed of a part ``p`` of an operand of three dimensions.
USES = (
    "p", "jnp.tanh(p) + 1", "p.sum()", "p.max(-1)", "p @ p.mT", "p.reshape(p.shape[0], -1)",
    "jax.nn.softmax(p)", "p / jnp.linalg.norm(p, axis=1, keepdims=True)", "p.astype('bfloat16')",
    "p.transpose(2, 0, 1)", "lax.scan(lambda c, row: (c + row, c), p[0], p)", "p[::2]",
    "jnp.einsum('abc,abd->acd', p, p)",
)  # fmt: skip


def test_first_parts_move() -> None:
    rng, moved = random.Random(3), 0
    for number in range(2 * CASES):
        at, use = rng.randrange(3), USES[number % len(USES)]
        stop = rng.choice((SHAPE[at] // 2, SHAPE[at] * 3 // 4, SHAPE[at] - 8, SHAPE[at] - 3, 3))
        key = ", ".join((":",) * at + (f":{stop}",))
        call, operand = f"(lambda p: {use})(v[{key}])", f"array(*{random_spec(rng)})"
        if told(call, operand):
            moved += 1
            program = (
                f"{HEADER}f = jax.jit(lambda v, i: {call})\ny = f.lower({operand}, jnp.int32(3)).compile()\n"
            )
            kinds = "('collective-permute', 'all-gather', 'all-to-all')"
            assert value(program, f"any(kind in y.as_text() for kind in {kinds})"), (call, operand)
    assert moved > CASES // 4


def permutes(call: str, operand: str) -> bool:
    """Return whether parts of the operand move to other devices, in what a call of it compiles to."""
    program = f"{HEADER}compiled = jax.jit(lambda v, i: {call}).lower({operand}, jnp.int32(3)).compile()\n"
    return bool(value(program, "'collective-permute' in compiled.as_text()"))


@pytest.mark.parametrize(
    ("product", "moves"),
    [
        ("jnp.split(a @ w, 2, -1)", True),
        ("(lambda g, u: jax.nn.silu(g) * u)(*jnp.split(jnp.tanh(a @ w + 1), 2, axis=1))", True),
        ("(a @ w)[:, :32]", True),
        ("(lambda h: jax.nn.softmax(h[:, :32] @ h[:, 32:].T))(a @ w)", True),
        ("(lambda h: h[:, :16] * h[:, 16:32] + h[:, 32:48] * h[:, 48:])(jax.nn.relu(a @ w))", True),
        ("jnp.sum(jnp.tanh(a @ w)[..., :48], -1)", True),
        ("jnp.split(a @ w, 2)", None),
        ("jnp.split(a @ w.T[:, :32].T, 2, -1)", None),
    ],
)
def test_pieces_of_a_product_move(product: str, moves: bool | None) -> None:
    placed = "a, w = array('x', shape=(16, 32)), array(None, 'y', shape=(32, 64))\n"
    program = f"{HEADER}{placed}f = jax.jit(lambda a, w: {product})\ny = f(a, w)\n"
    messages = [one.message for one in found(program, "SHL618")]
    assert bool(messages) == bool(moves)
    if moves is not None:
        assert value(program, "'collective-permute' in f.lower(a, w).compile().as_text()") == moves


def test_what_a_cut_moves() -> None:
    assert moved_by_cut(192, (0, 64), 4) == 48
    assert moved_by_cut(64, (0, 32, 48, 64), 4) == 48
    for pieces, ways in ((2, 2), (2, 4), (3, 4), (4, 2), (8, 8)):
        size = 4 * pieces * ways
        bounds = range(0, size + 1, size // pieces)
        held = [number * ways // size for number in range(size)]
        due = [number % (size // pieces) * ways * pieces // size for number in range(size)]
        moved = sum(one != other for one, other in zip(held, due, strict=True))
        assert moved_by_cut(size, bounds, ways) == moved


#: Updates by fixed slices, the spec of their operand, and whether they gather it.
UPDATES = {
    **{
        f"v.at[:, :2].{method}({value})": ("None, 'y'", gathered)
        for method, value, gathered in (
            ("set", "0.0", True), ("add", "v[:, :2]", True), ("subtract", "1.0", True), ("mul", "2.0", True),
            ("multiply", "v[:, 2:4]", True), ("min", "0.0", True), ("max", "0.0", True),
            ("apply", "jnp.sin", True), ("divide", "2.0", False), ("power", "2.0", False),
        )
    },
    "v.at[:, -2:].set(0.0)": ("'x', 'y'", True),
    "v.at[..., :32, :].set(1.0)": ("'x', 'y'", True),
    "v.at[0, :16].set(0.0)": ("'x', 'y'", True),
    "v.at[i, 4:8].set(0.0)": (None, False),
    "v.at[None, :, :8].set(0.0)": ("'x', 'y'", True),
    "v.at[jnp.arange(3), :8].set(0.0)": ("'x', 'y'", True),
    "v.at[:8].set(0.0)": ("None, 'y'", False),
    "v.at[:, :].set(0.0)": ("'x', 'y'", False),
    "v.at[:, 0:64].set(0.0)": ("'x', 'y'", False),
    "v.at[:, :100].add(0.0)": ("'x', 'y'", False),
    "v.at[:, 3].set(0.0)": ("'x', 'y'", False),
    "v.at[:, 3:4].set(0.0)": ("'x', 'y'", False),
    "v.at[:, ::2].set(0.0)": ("'x', 'y'", False),
}  # fmt: skip


@pytest.mark.parametrize("call", UPDATES)
def test_fixed_rows_are_written(call: str) -> None:
    spec, gathered = UPDATES[call]
    operand = f"array({spec or ''})"
    assert bool(told(call, operand)) == gathered == gathers(call, operand)


#: Arrays of which no more is known than what splits their rows.
COMPUTED = (
    "v + jnp.roll(v, 1, 2)", "v * jnp.pad(v, 1)[:-2, 1:-1, 1:-1]", "v + jnp.flip(v, 2)",
    "v @ jnp.ones((128, 128))",
    "v + jnp.cumsum(v, 1)", "jnp.where(v > 0, v, v[..., ::-1])", "v - v.mean(0)", "jnp.tanh(v + v[::-1])",
    "v + jnp.concatenate([v[1:], v[:1]])", "v + v[:, :1]",
)  # fmt: skip


#: Operations on products ``p``, along the columns.
OF_PRODUCTS = (
    "lax.top_k(p, 4)", "lax.top_k(p + jnp.ones(256), 4)[1]", "jnp.cumsum(p, -1)", "jnp.partition(p, 3)",
    "jnp.sort(p, axis=None)", "jnp.cumsum(jax.nn.relu(p), p.ndim - 1)", "jnp.fft.rfft(p)",
)  # fmt: skip


@pytest.mark.parametrize("operation", OF_PRODUCTS)
def test_columns_of_products(operation: str) -> None:
    said = 0
    weight = "lax.with_sharding_constraint(jnp.ones((128, 256)), NamedSharding(mesh, P({})))"
    for columns in ("None, 'y'", "None, ('x', 'y')", "'x', 'y'"):
        for spec in ("", "'x'", "'y'"):
            call = f"(lambda p: {operation})(v @ {weight.format(columns)})"
            if told(call, f"array({spec}, shape=(16, 128))".replace("(, ", "(")):
                said += 1
                assert gathers(call, f"array({spec}, shape=(16, 128))".replace("(, ", "(")), (call, spec)
    assert said


@pytest.mark.parametrize("computed", COMPUTED)
def test_slices_written_into_rows(computed: str) -> None:
    said = 0
    for spec in ("'x'", "'y'", "('x', 'y')", "'x', 'y'", "'y', None, 'x'", "None, 'x'"):
        for update in ("at[:2].set(0.0)", "at[-3:, 1:].add(1.0)"):
            call, operand = f"({computed}).{update}", f"array({spec})"
            if told(call, operand):
                said += 1
                assert gathers(call, operand), (call, operand)
    assert said


_MAPPED = "jax.shard_map(lambda a, b=0: a * 2 + b, mesh=mesh, in_specs=P('y'), out_specs=P('y'){})"
#: Functions that map a shard_map over "y", the spec of their operand, and whether they gather it.
SHARD_MAPS = {
    f"jax.vmap({_MAPPED.format('')})(v)": ("'x'", True),
    f"jax.vmap({_MAPPED.format('')}, 1, 1)(v + 1)": ("'y', 'x'", True),
    f"jax.vmap(lambda a: {_MAPPED.format('')}(jnp.sin(a)))(v)": ("'x', 'y'", True),
    f"jax.vmap({_MAPPED.format('')}, spmd_axis_name='x')(v)": ("'x', 'y'", False),
    f"jax.vmap({_MAPPED.format(', axis_names=frozenset(`y`)')})(v)".replace("`", "'"): ("'x', 'y'", False),
    f"jax.vmap(lambda a, b: {_MAPPED.format('')}(a) + b, (None, 0))(v[0], v)": ("'x'", False),
    f"jax.vmap({_MAPPED.format('')}, 1, 1)(v)": ("'x'", False),
    "jax.vmap(lambda a: a * 2)(v)": ("'x', 'y'", False),
}  # fmt: skip


@pytest.mark.parametrize("call", SHARD_MAPS)
def test_a_shard_map_is_mapped(call: str) -> None:
    spec, gathered = SHARD_MAPS[call]
    assert bool(told(call, f"array({spec})")) == gathered == gathers(call, f"array({spec})")


def test_where_slices_start_is_known() -> None:
    assert not told("lax.dynamic_slice_in_dim(v, 3, 2, 1)", "array(None, 'y')")
    assert not told("lax.dynamic_slice(v, (0, jnp.zeros((), int), i), (16, 2, 128))", "array(None, 'y')")


def test_what_is_told() -> None:
    (message,) = told("jnp.cumsum(v, 1)", "array('x', 'y')")
    assert message == (
        'the operand is laid out as P("x", "y"), and `jnp.cumsum` does not work on parts along dimension 1: '
        "the array, 512 KiB, is gathered on each device, for which each sends 192 KiB"
    )
    assert re.search("the dimensions 0 and 1", told("jnp.cumsum(v)", "array('x', 'y')")[0])


def test_transforms_in_parts_since_0_12() -> None:
    program = f"{HEADER}w = jnp.fft.rfft(array('y'))\n"
    assert "SHL618" in {finding.code for finding in check(program, target="0.11.2", preview=True)}
    assert "SHL618" not in {finding.code for finding in check(program, target="0.12.0", preview=True)}


def test_both_pages_write_the_same() -> None:
    assert of_pages("SHL618", "bool(np.array_equal(bad.cache, good.cache))")


#: What picks elements of an array outside of jit, its spec, and whether they lie along what was split.
CHOICES = {
    "v[keep]": {"'x'": True, "'x', 'y'": True, "None, 'y'": False, "": False},
    "v[np.asarray(keep)]": {"'x'": True, "None, 'y'": False},
    "v[v > 0]": {"'x'": True, "None, 'y'": True, "": False},
    "v[:, columns]": {"'x'": False, "'x', 'y'": True},
    "jnp.compress(keep, v, axis=0)": {"'y'": True, "None, 'x'": False},
    "jnp.compress(keep, v, 0)": {"'x', 'y'": True},
    "jnp.nonzero(v)[0]": {"'x'": True, "": False},
    "jnp.flatnonzero(v)": {"None, 'x'": True},
    "jnp.argwhere(v)": {"'x'": True},
    "jnp.where(v > 0)[1]": {"'x'": True, "": False},
    "jnp.unique(v)": {"('x', 'y')": True},
    "jnp.extract(v > 0, v)": {"'x'": True},
}


@pytest.mark.parametrize("choice", CHOICES)
def test_elements_that_the_data_choose(choice: str) -> None:
    for spec, loses in CHOICES[choice].items():
        operand = f"array(*({spec}{',' if spec else ''}), shape=(64, 16))"
        masks = "keep, columns = array(shape=(64,)) > 0, jnp.arange(16) < 12"
        program = f"{HEADER}v = {operand}\n{masks}\nw = {choice}\n"
        assert bool(found(program, "SHL618")) == loses, spec
        after = value(program, "str(w.sharding.spec)")
        axes = {axis for axis in "xy" if f"'{axis}'" in spec}
        assert any(f"'{axis}'" not in after for axis in axes) == loses, (spec, after)


@pytest.mark.parametrize(
    "call",
    ["v[jnp.array([0, 1])]", "jnp.nonzero(v, size=8)", "jnp.where(v > 0, v, 0)", "np.asarray(v)[keep]"],
)
def test_nothing_is_chosen_by_the_data(call: str) -> None:
    program = f"{HEADER}v = array('x', shape=(64, 16))\nkeep = np.arange(64) > 3\nw = {call}\n"
    assert not found(program, "SHL618")

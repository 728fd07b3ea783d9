# ruff: noqa: E501
"""`[tool.shardlint.dims]`: what is unknown and has a configured name is that size, where it is a size."""

from __future__ import annotations

import pytest
from facts_harness import check, interpreter, run_in_jax
from support.checking import codes

from shardlint.inference.domain.lattice import options
from shardlint.inference.domain.values import Array, Const, External, Sized, Value
from shardlint.inference.overlays.registry import load_mentioned, merged
from shardlint.laws.core.size_syntax import configured
from shardlint.model.spans import Span

DIMS = (("batch", 128), ("cfg.ff", 6), ("d_model", 10), ("n_heads", 5))
MESH = 'mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))\n'
WORLD = "import types\ncfg = types.SimpleNamespace(ff=6, d_model=10, n_heads=5, ffn=8)\n"


def put(name: str, *entries: str | None) -> str:
    return f"jax.device_put({name}, NamedSharding(mesh, P{entries!r}))"


#: name, program, how it is called, codes of the errors
PROGRAMS: list[tuple[str, str, str, list[str]]] = [
    ("parameter", f"def f(d_model):\n    {put('jnp.ones((4, d_model))', None, 'model')}", "f(10)", ["SHL202"]),
    ("product", f"def f(d_model):\n    {put('jnp.ones((4, 2 * d_model))', None, 'data')}", "f(10)", []),
    ("quotient", f"def f(d_model, n_heads):\n    {put('jnp.ones((4, d_model // n_heads))', None, 'model')}", "f(10, 5)", ["SHL202"]),
    ("attribute", f"def f(c):\n    {put('jnp.ones((4, c.d_model))', None, 'model')}", "f(cfg)", ["SHL202"]),
    ("dotted", f"def f(cfg):\n    {put('jnp.ones((4, cfg.ff))', None, 'model')}", "f(cfg)", ["SHL202"]),
    ("another's", f"def f(c):\n    {put('jnp.ones((4, c.ff + 2))', None, 'model')}", "f(cfg)", []),
    ("of self", f"class A:\n    def f(self):\n        {put('jnp.ones((4, self.cfg.ff))', None, 'model')}", "a = A()\na.cfg = cfg\na.f()", ["SHL202"]),
    ("unpacked", f"def f(x):\n    b, d_model = x.shape\n    {put('x', None, 'model')}", "f(jnp.ones((8, 10)))", ["SHL202"]),
    ("assigned", f"def f(x):\n    d_model = x.shape[1]\n    {put('jnp.ones((4, d_model))', None, 'model')}", "f(jnp.ones((8, 10)))", ["SHL202"]),
    ("passed on", f"def g(n):\n    {put('jnp.ones((4, n))', None, 'model')}\ndef f(d_model):\n    g(d_model)", "f(10)", ["SHL202"]),
    ("reshape", f"def f(d_model):\n    {put('jnp.ones((8, 10)).reshape(4, -1, d_model)', None, None, 'model')}", "f(10)", ["SHL202"]),
    ("known", f"def f(d_model):\n    {put('jnp.ones((4, d_model))', None, 'model')}\nf(8)", "", []),
    ("default", f"def f(d_model=8):\n    {put('jnp.ones((4, d_model))', None, 'model')}\nf()", "", []),
    ("guard", f"def f(d_model):\n    if d_model % 4 == 0:\n        {put('jnp.ones((4, d_model))', None, 'model')}", "f(10)", []),
    ("guard that leaves", f"def f(d_model):\n    if d_model % 4:\n        return\n    {put('jnp.ones((4, d_model))', None, 'model')}", "f(10)", []),
    ("an array", f"def f(batch):\n    {put('batch', 'model')}", "f(jnp.ones(8))", []),
    ("a tree", f"def f(batch):\n    {put('batch[0]', 'model')}\n    {put('batch[1] * 2', 'model')}", "f([jnp.ones(8)] * 2)", []),
    ("an array's attribute", f"def f(batch):\n    {put('jnp.ones(batch.shape)', 'model')}", "f(jnp.ones(8))", []),
    ("arithmetic of an array", f"def f(batch):\n    {put('(batch + 1) * 4', 'model')}", "f(jnp.ones(8))", []),
    ("a function", f"def f(d_model):\n    {put('jnp.ones((4, d_model()))', None, 'model')}", "f(lambda: 8)", []),
    ("one of two", f"def f(x, d_model):\n    n = d_model if x.flag else 8\n    {put('jnp.ones((4, n))', None, 'model')}", "f(types.SimpleNamespace(flag=False), 10)", []),
]  # fmt: skip


@pytest.fixture(scope="module")
def outcomes() -> dict[str, str | None]:
    return run_in_jax([(name, f"{MESH}{text}\n{call}", WORLD) for name, text, call, _ in PROGRAMS])


@pytest.mark.parametrize(("name", "text", "call", "expected"), PROGRAMS, ids=[row[0] for row in PROGRAMS])
def test_programs(
    name: str, text: str, call: str, expected: list[str], outcomes: dict[str, str | None]
) -> None:
    assert codes(check(MESH + text, dims=DIMS)) == expected
    assert (outcomes[name] is not None) == bool(expected)


def test_without_a_size_nothing_is_said() -> None:
    for name, text, _, _ in PROGRAMS:
        assert check(MESH + text) == [], name


@pytest.mark.parametrize(
    ("name", "size"),
    [("d_model", 10), ("self.cfg.d_model", 10), ("cfg.ff", 6), ("self.cfg.ff", 6), ("ff", None), ("mycfg.ff", None), ("xd_model", None)],
)  # fmt: skip
def test_names_fit_by_their_last_parts(name: str, size: int | None) -> None:
    assert configured(DIMS, name) == size


#: Functions whose result is the size they are given, or is computed of sizes.
SAME = ("builtins.max", "builtins.min", "operator.", "typing.")


def test_no_library_function_passes_a_size_on_as_its_result() -> None:
    where, place = interpreter(), Span("empty.py", 1, 1, 1, 1)
    load_mentioned("einops equinox flax optax")
    for name in merged("TABLE"):
        if name.startswith(SAME):
            continue
        size, array = Sized("?", dim=512), Array((4, 8), "float32")
        given: list[list[Value]] = [
            [size],
            [size, size],
            [size, Const(2)],
            [Const(2), size],
            [array, size],
            [size, array],
        ]
        for args in given:
            found = where.call(External(name), args, {}, place)
            assert not any(isinstance(one, Sized) for one in options(found)), name

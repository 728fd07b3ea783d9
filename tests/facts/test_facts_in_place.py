# ruff: noqa: E501
"""Facts in comments: what they fill in is judged as JAX judges it, and what they get wrong is said."""

from __future__ import annotations

import pytest
from facts_harness import MESHES, SETUP, check, check_cells, run_in_jax
from support.checking import codes

from shardlint.api import Linter, Settings, source_from_text
from shardlint.model.findings import Severity

MESH = 'mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))\n'


def world(shape: tuple[int, ...]) -> str:
    """What the unknown names of a program are."""
    made = f"load=lambda: jnp.ones({shape}), all=lambda: [jnp.ones({shape})] * 2, two=lambda: (jnp.ones({shape}), 0)"
    mesh = "Mesh(np.array(jax.devices()).reshape(2, 4), ('data', 'model'))"
    return (
        f"import types\nfrom jax.sharding import Mesh\nloader = types.SimpleNamespace({made}, mesh={mesh})\n"
    )


def put(name: str, *entries: str | None, mesh: str = "mesh") -> str:
    return f"jax.device_put({name}, NamedSharding({mesh}, P{entries!r}))"


#: name, program, the shape that `loader` really loads, codes of the findings
PROGRAMS: list[tuple[str, str, tuple[int, ...], list[str]]] = [
    ("assigned", f"{MESH}x = loader.load()  # shardlint: x: (6,)\n{put('x', 'model')}", (6,), ["SHL202"]),
    ("assigned, right", f"{MESH}x = loader.load()  # shardlint: x: (8,)\n{put('x', 'model')}", (8,), []),
    ("open size", f"{MESH}x = loader.load()  # shardlint: x: (n, 8)\n{put('x', 'model')}", (8, 8), []),
    ("rank", f"{MESH}x = loader.load()  # shardlint: x: (n,)\n{put('x', None, 'model')}", (8,), ["SHL201"]),
    ("before", f"{MESH}x = loader.load()\n# shardlint: x: (6,)\n{put('x', 'model')}", (6,), ["SHL202"]),
    ("product", f"{MESH}x = loader.load()  # shardlint: x: (4*n, 8)\n{put('x', 'model')}", (8, 8), []),
    ("a variable's size", f"{MESH}n = 6\nx = loader.load()  # shardlint: x: (n,)\n{put('x', 'model')}", (6,), ["SHL202"]),
    ("the same name", f"{MESH}y = jnp.ones((6, 2))  # shardlint: y: (n, _)\nx = loader.load()  # shardlint: x: (n,)\n{put('x', 'model')}", (6,), ["SHL202"]),
    ("unpacked", f"{MESH}x, y = loader.two()  # shardlint: x: (6,)\n{put('x', 'model')}", (6,), ["SHL202"]),
    ("loop", f"{MESH}for x in loader.all():  # shardlint: x: (6,)\n    {put('x', 'model')}", (6,), ["SHL202"]),
    ("a mesh given", f"x = jnp.ones(6)\nmesh = loader.mesh  # shardlint: mesh=(data=2, model=4)\n{put('x', 'model')}", (), ["SHL202"]),
    ("a mesh used", f"x = jnp.ones(6)\n{put('x', 'model', mesh='loader.mesh')}  # shardlint: mesh=(data=2, model=4)", (), ["SHL202"]),
    ("a mesh by name", f"x = jnp.ones(6)\nmesh = loader.mesh  # shardlint: mesh=v5e-8\n{put('x', 'modle')}", (), ["SHL103"]),
    ("parameters", f"def f(x, mesh):  # shardlint: x: (6,), mesh=v5e-8\n    {put('x', 'model')}\nf(loader.load(), loader.mesh)", (6,), ["SHL202"]),
    ("above a def", f"# shardlint: x: (6,), mesh=v5e-8\ndef f(x, mesh):\n    {put('x', 'model')}\nf(loader.load(), loader.mesh)", (6,), ["SHL202"]),
    ("above a decorator", f"{MESH}# shardlint: x: (6,)\n@jax.jit\ndef f(x):\n    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P(None, 'model')))\nf(loader.load())", (6,), ["SHL201"]),
    ("a method", f"class A:\n    def f(self, x):  # shardlint: self.w: (6,), x: (8,)\n        {put('self.w', 'model', mesh='loader.mesh')}  # shardlint: mesh=v5e-8\na = A()\na.w = loader.load()\na.f(1)", (6,), ["SHL202"]),
    ("set by the caller", "@jax.jit\ndef f(x):  # shardlint: x: (6, 8), mesh=v5e-8\n    return jax.lax.with_sharding_constraint(x, P('modle'))\nwith jax.set_mesh(loader.mesh):\n    f(loader.load())", (6, 8), ["SHL103"]),
    ("dtype and rank", f"{MESH}x = loader.load()  # shardlint: x: f32[...]\n{put('x', 'model')}", (8,), []),
    ("what is known stands", f"{MESH}x = jnp.ones(8)  # shardlint: x: (6,)\n{put('x', 'model')}", (), ["SHL010"]),
    ("a caller is known", f"{MESH}def f(x):  # shardlint: x: (6,)\n    {put('x', 'model')}\nf(jnp.ones(8))", (), ["SHL010"]),
    ("one of two", f"{MESH}x = jnp.ones(8) if len(jax.devices()) > 1 else loader.load()  # shardlint: x: (8,)\n{put('x', 'model')}", (8,), []),
]  # fmt: skip


@pytest.fixture(scope="module")
def outcomes() -> dict[str, str | None]:
    return run_in_jax([(name, text, world(shape)) for name, text, shape, _ in PROGRAMS])


@pytest.mark.parametrize(("name", "text", "shape", "expected"), PROGRAMS, ids=[row[0] for row in PROGRAMS])
def test_programs(
    name: str, text: str, shape: tuple[int, ...], expected: list[str], outcomes: dict[str, str | None]
) -> None:
    found = check(text, meshes=MESHES, mesh=dict(MESHES)["v5e-8"])
    assert codes(found) == expected, found
    assert (outcomes[name] is not None) == any(f.severity is Severity.ERROR for f in found)


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("x = f()  # shardlint: x: (8", "SHL007", "is no fact"),
        ("x = f()  # shardlint: y: (8,)", "SHL007", "no variable `y`"),
        ("kernel = f()  # shardlint: kernle: (8,)", "SHL007", "did you mean `kernel`"),
        (
            "def f(kernel):  # shardlint: kernle: (8,), mesh=v5e-8\n    return kernel",
            "SHL007",
            "did you mean `kernel`",
        ),
        ("x = f()  # shardlint: mesh=v5e8", "SHL007", "did you mean `v5e-8`"),
        ("x = jnp.ones((4, 5))  # shardlint: x: (4, 6)", "SHL010", "its shape is (4, 5)"),
        ("x = jnp.ones((4, 5))  # shardlint: x: (4,)", "SHL010", "its shape is (4, 5)"),
        ("x = jnp.ones((4, 5))  # shardlint: x: (n, n)", "SHL010", "its shape is (4, 5)"),
        ("x = jnp.ones((4, 5))  # shardlint: x: bf16(4, 5)", "SHL010", "its dtype is f32"),
        ("x = (1, 2)  # shardlint: x: (4,)", "SHL010", "it is a tuple"),
        ('mesh = jax.make_mesh((8,), ("x",))  # shardlint: mesh=v5e-8', "SHL010", "it is (x=8)"),
    ],
)
def test_what_is_wrong_is_named(text: str, code: str, words: str) -> None:
    (finding,) = check(text, meshes=MESHES)
    assert (finding.code, finding.severity) == (code, Severity.WARNING)
    assert words in finding.message
    line = f"{SETUP}{text}".splitlines()[finding.span.line - 1]
    assert "shardlint:" in line[: finding.span.column]


@pytest.mark.parametrize(
    "text",
    [
        "x = jnp.ones((4, 5))  # shardlint: x: (4, 5)",
        "x = jnp.ones((4, 5))  # shardlint: x: f32(a, b)",
        "x = jnp.ones((4, 4))  # shardlint: x: (n, n)",
        "x = jnp.ones((4, 5))  # shardlint: x: (_, ...)",
        "x = None  # shardlint: x: (4,)",
        "def f(x, y):  # shardlint: x: (n,), y: (n, m)\n    pass\nf(jnp.ones(4), jnp.ones((4, 2)))\nf(jnp.ones(6), 0)",
        'mesh = jax.make_mesh((2, 4), ("data", "model"))  # shardlint: mesh=v5e-8',
        "x = f()  # shardlint: x: (8,)",
    ],
)
def test_nothing_is_said_of_what_is_so(text: str) -> None:
    assert check(text, meshes=MESHES) == []


def test_the_comment_is_named_in_the_chain() -> None:
    (finding,) = check(f"{MESH}x = f()  # shardlint: x: (6,)\n{put('x', 'model')}")
    lines = f"{SETUP}{MESH}x = f()  # shardlint: x: (6,)".splitlines()
    (related,) = [r for r in finding.related if r.span.line == len(lines)]
    assert lines[-1][related.span.column - 1 : related.span.end_column - 1] == "x: (6,)"


def test_a_suppression_beside_a_fact() -> None:
    text = f"{MESH}# shardlint: x: (6,)\n# shardlint: ignore[SHL202] known\n{put('x', 'model')}"
    assert check(f"x = f()\n{text}") == []


def test_facts_in_a_notebook() -> None:
    found = check_cells(
        [MESH, "x = f()  # shardlint: x: (6,)", put("x", "model"), "x = 1  # shardlint: y: ("]
    )
    assert [(f.code, f.span.cell) for f in found] == [("SHL202", 3), ("SHL007", 4)]


def test_a_fact_does_not_cross_functions() -> None:
    text = "def f(x):  # shardlint: x: (n,)\n    return x\ndef g(x):  # shardlint: x: (n, 2)\n    return x\n"
    assert check(f"{text}f(jnp.ones(4))\ng(jnp.ones((6, 2)))") == []


def test_sizes_of_facts_by_the_configuration() -> None:
    text = f"{MESH}x = f()  # shardlint: x: (batch, d_model)\n{put('x', None, 'model')}"
    source = source_from_text("program.py", f"{SETUP}{text}\n")
    for size, expected in ((10, ["SHL202"]), (12, [])):
        settings = Settings(devices=8, dims=(("d_model", size),))
        assert codes(Linter(settings).check_source(source)) == expected

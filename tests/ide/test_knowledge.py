"""What is shown of arrays, meshes and specs: it is what JAX does, and nothing where that is not known."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from renamed_programs import HEAD, settings
from support.jax_answers import asks_jax

from shardlint.api import Analysis, Linter, read_source, source_from_text
from shardlint.ide.hover_facts import Hint
from shardlint.laws.core.array_types import short_dtype
from shardlint.model.uses import LocalUse, NameUse, ValueUse

pytestmark = pytest.mark.slow

FIXTURES = sorted((Path(__file__).parents[2] / "fixtures").rglob("*.*"))


def analysis(text: str) -> Analysis:
    return Linter(settings()).analysis(source_from_text("train.py", text))


def hints(text: str) -> list[Hint]:
    return analysis(text).knowledge.hints


def texts(text: str) -> list[str]:
    return [hint.text for hint in hints(text)]


def programs(count: int) -> Iterable[tuple[str, str]]:
    """Random arrays on random meshes: a program that JAX accepts, and the dtype."""
    draw = random.Random(6)
    for _ in range(count):
        sizes = draw.choice([(8,), (2, 4), (4, 2), (2, 2, 2)])
        names = ("data", "model", "expert")[: len(sizes)]
        shape = tuple(draw.choice([8, 16, 24, 40]) for _ in range(draw.randint(1, 3)))
        left, entries = draw.sample(names, len(names)), []
        for _ in shape[: draw.randint(1, len(shape))]:
            taken = [left.pop() for _ in range(min(len(left), draw.choice([0, 1, 1, 2])))]
            entries.append(None if not taken else taken[0] if len(taken) == 1 else tuple(taken))
        if not any(entries):
            entries[0] = names[0]
        dtype = draw.choice(["float32", "bfloat16", "int8"])
        yield (
            (
                HEAD + f"mesh = Mesh(np.array(jax.devices()).reshape({sizes}), {names})\n"
                f"spec = P({', '.join(map(repr, entries))})\n"
                f"x = jax.device_put(jnp.zeros({shape}, jnp.{dtype}), NamedSharding(mesh, spec))\n"
            ),
            dtype,
        )


@asks_jax("ide")
def held(text: str) -> tuple[tuple[int, ...], int, int]:
    """Return the shape and the bytes of a shard of a program's ``x``, and how many devices hold the first."""
    scope: dict[str, Any] = {}
    exec(text, scope)
    x = scope["x"]
    blocks = list(x.sharding.devices_indices_map(x.shape).values())
    return x.sharding.shard_shape(x.shape), x.addressable_shards[0].data.nbytes, blocks.count(blocks[0])


@pytest.mark.parametrize("number", range(4))
def test_a_hint_says_what_each_device_of_jax_holds(number: int) -> None:
    for text, dtype in itertools.islice(programs(60), number * 15, number * 15 + 15):
        shard, count, copies = held(text)
        shown = f"{short_dtype(dtype)}[{', '.join(map(str, shard))}]"
        knowledge = analysis(text).knowledge
        assert [hint.text for hint in knowledge.hints] == [f"→ {shown} × 8 devices"], text
        (known,) = knowledge.at(len(text.splitlines()), 6)
        assert (known.shard, known.copies) == (shard, copies)
        assert known.shard_bytes_text == known_bytes(count)


def known_bytes(count: int) -> str:
    from shardlint.laws.placement.array_bytes import text_of_bytes

    return text_of_bytes(count)


MESH = HEAD + 'mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))\n'

BODY = (
    MESH
    + """
x, w = jnp.zeros((8, 16)), jnp.zeros((16, 12))
seen = []

def body(a, b):
    rows = a @ b
    flat = rows.reshape(-1)
    total = jax.lax.psum(flat, "data")
    seen.extend(map(jnp.shape, (a, b, rows, flat, total)))
    return total

mapped = jax.shard_map(body, mesh=mesh, in_specs=(P("data", None), P(None, "model")), out_specs=P("model"))
y = mapped(x, w)
"""
)


def test_the_shapes_in_a_body_are_those_that_jax_traces() -> None:
    scope: dict[str, Any] = {}
    exec(BODY, scope)
    local = [hint for hint in hints(BODY) if hint.local]
    assert [hint.text for hint in local] == [
        f": f32[{', '.join(map(str, shape))}]" for shape in scope["seen"]
    ]
    lines = BODY.split("\n")
    names = [lines[h.span.line - 1][h.span.column - 1 : h.span.end_column - 1] for h in local]
    assert names == ["a", "b", "rows", "flat", "total"]


SILENT = {
    "a shape of the caller": """
def place(x):
    return jax.device_put(x, NamedSharding(mesh, P("data", "model")))
""",
    "a mesh of the caller": """
def place(any_mesh):
    return jax.device_put(jnp.zeros((8, 16)), NamedSharding(any_mesh, P("data", "model")))
""",
    "a spec for arrays of two shapes": """
spec = P("data", "model")
x = jax.device_put(jnp.zeros((8, 16)), NamedSharding(mesh, spec))
y = jax.device_put(jnp.zeros((16, 16)), NamedSharding(mesh, spec))
""",
    "a spec for an array that is known and one that is not": """
spec = P("data", "model")
x = jax.device_put(jnp.zeros((8, 16)), NamedSharding(mesh, spec))
def place(x):
    return jax.device_put(x, NamedSharding(mesh, spec))
""",
    "what JAX rejects": """
x = jax.device_put(jnp.zeros((8, 10)), NamedSharding(mesh, P("data", "model")))
""",
    "a constraint on one example of many": """
def smooth(row):
    return jax.lax.with_sharding_constraint(row, NamedSharding(mesh, P("model")))
jax.jit(jax.vmap(smooth))(jnp.zeros((8, 16)))
""",
    "a spec of nothing": """
spec = P("data", "model")
""",
    "a body that is called with two shapes": """
f = jax.shard_map(lambda a: a * 2, mesh=mesh, in_specs=P("data"), out_specs=P("data"))
f(jnp.zeros(8)), f(jnp.zeros(16))
""",
    "a body whose argument is not known": """
def call(x):
    return jax.shard_map(lambda a: a * 2, mesh=mesh, in_specs=P("data"), out_specs=P("data"))(x)
""",
}


@pytest.mark.parametrize("title", SILENT)
def test_what_may_be_false_is_not_hinted(title: str) -> None:
    assert texts(MESH + SILENT[title]) == []


def test_an_uneven_constraint_holds_what_jax_replicates() -> None:
    """Inside jit JAX drops an axis that has no divisor in common with the dimension."""
    text = (
        MESH
        + """
@jax.jit
def step(x):
    x = jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("data", "model")))
    return x
y = step(jnp.zeros((8, 9)))
"""
    )
    scope: dict[str, Any] = {}
    exec(text, scope)
    assert scope["y"].sharding.shard_shape((8, 9)) == (4, 9)
    assert texts(text) == ["→ f32[4, 9] × 8 devices"]
    line = next(i for i, row in enumerate(text.split("\n"), 1) if row.startswith("    x = "))
    shards = {known.shard for column in (5, 12, 90) for known in analysis(text).knowledge.at(line, column)}
    assert shards <= {(4, 9), None}


def test_names_tell_what_they_hold() -> None:
    text = (
        MESH
        + """
spec = P(None, "model")
sharding = NamedSharding(mesh, spec)
x = jax.device_put(jnp.zeros((8, 16)), sharding)
print(x)
"""
    )
    knowledge = analysis(text).knowledge
    (mesh,) = knowledge.at(5, 2)
    assert str(mesh.mesh) == "(data=2, model=4)"
    (spec,) = knowledge.at(7, 2)
    assert str(spec.spec) == 'P(None, "model")'
    (sharding,) = knowledge.at(8, 2)
    assert (str(sharding.mesh), str(sharding.spec)) == ("(data=2, model=4)", 'P(None, "model")')
    (x,) = knowledge.at(10, 7)
    assert (x.array, x.shard, x.copies) == ("f32[8, 16]", (8, 4), 2)
    assert [fact.place.resolve().line for fact in x.origins] == [7, 5]
    assert x.picture[0].startswith("┌")


def test_each_of_several_values_is_told() -> None:
    text = (
        MESH
        + """
def place(x):
    return jax.device_put(x, NamedSharding(mesh, P("data")))
place(jnp.zeros((8, 16)))
place(jnp.zeros((4, 2)))
"""
    )
    found = analysis(text).knowledge.at(8, 15)
    assert {known.shard for known in found} == {(4, 16), (2, 2)}
    calls = {
        fact.place.resolve().line for known in found for fact in known.origins if "called" in fact.message
    }
    assert calls == {9, 10}


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: path.name)
def test_an_editor_is_told_the_same_findings(fixture: Path) -> None:
    """What is found for an editor besides changes nothing of what is found."""
    source, found = read_source(str(fixture)), []
    for editing in (False, True):
        given = Linter(replace(settings(), editing=editing)).analysis(source)
        found.append([(f.code, f.span, f.message, f.severity, f.help, f.related) for f in given.findings])
        extra = any(isinstance(use, LocalUse | NameUse | ValueUse) for use in given.uses)
        assert editing or not extra
    assert found[0] == found[1]

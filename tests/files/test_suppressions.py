"""Comments that ask shardlint to be silent, and the filter that passes over files."""

from __future__ import annotations

import pytest

from shardlint.files.lexing import comments
from shardlint.files.prefilter import mentions_sharding
from shardlint.files.suppressions import Suppression, matches, suppressions


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1  # shardlint: ignore[SHL202] known\n", [Suppression(1, ("SHL202",))]),
        ("\nx = 1  # shardlint:ignore\n", [Suppression(2, ())]),
        ("x = 1  # why  # shardlint: ignore\n", []),
        ("# shardlint: ignore[SHL1, indivisible-dimension]\n\n# note\nx = 1\n",
         [Suppression(4, ("SHL1", "indivisible-dimension"))]),
        ("# shardlint: ignore-file[SHL6]\n", [Suppression(None, ("SHL6",))]),
        ("# shardlint: ignore-file\r\nx = 1  # shardlint: ignore\r\n",
         [Suppression(None, ()), Suppression(2, ())]),
        ("x = '# shardlint: ignore'\n", []),
        ('"""\n# shardlint: ignore\n"""\n', []),
        ("x = 1  # shardlint: ignored\n", []),
        ("x = 1  # shardlint: devices=8\n", []),
    ],
)  # fmt: skip
def test_suppressions(text: str, expected: list[Suppression]) -> None:
    assert suppressions(text) == tuple(expected)


@pytest.mark.parametrize(
    ("line", "codes", "covered"),
    [
        (3, (), True), (5, (), True), (6, (), False), (None, (), True), (3, ("SHL202",), True),
        (3, ("SHL2",), True), (3, ("shl202",), True), (3, ("indivisible-dimension",), True),
        (3, ("SHL203",), False), (None, ("SHL1",), False),
    ],
)  # fmt: skip
def test_what_a_suppression_covers(line: int | None, codes: tuple[str, ...], covered: bool) -> None:
    assert Suppression(line, codes).covers("SHL202", "indivisible-dimension", 3, 5) is covered


def test_all_means_every_rule() -> None:
    assert matches("SHL202", "indivisible-dimension", ["ALL"])
    assert not matches("SHL202", "indivisible-dimension", [])
    assert not matches("SHL202", "indivisible-dimension", [""])


def test_comments_have_columns_in_code_points() -> None:
    (comment,) = comments("x = '轴#'  # here\r\n")
    assert (comment.line, comment.column, comment.text, comment.alone) == (1, 11, "# here", False)


def test_an_unfinished_string_ends_with_its_line() -> None:
    assert [c.text for c in comments("x = 'oh\ny = 1  # here\n")] == ["# here"]
    assert list(comments('x = """oh\ny = 1  # here\n')) == []


@pytest.mark.parametrize(
    "line",
    [
        "from jax.sharding import PartitionSpec as P", "x = jax.P('data')", "from jax import P",
        "mesh = make()", "jax.make_mesh((2,), ('x',))", "f = jax.shard_map(g)",
        "from jax.experimental.shard_map import shard_map",
        "f = pjit(g)", "y = jax.lax.psum(x, 'i')", "y = lax.all_gather(x, 'i')", "jax.device_put(x, s)",
        "nn.with_partitioning(init, (None,))", "nn.with_logical_constraint(x, ('batch',))",
        "f = jax.jit(f, in_shardings=s)",
        "jnp.zeros(3, out_sharding=s)", "lax.axis_index('i')", "nnx.Param(x, sharding=('a',))",
        "# expect: SHL202",
        "axis_rules = ()", "from jax import jit, P as Spec",
    ],
)  # fmt: skip
def test_lines_that_mention_sharding(line: str) -> None:
    assert mentions_sharding(b"import jax\n" + line.encode() + b"\n")


@pytest.mark.parametrize(
    "line",
    ["import jax", "x = jnp.zeros(3)", "P = 3", "probability = P * 2", "import PIL", "import jaxtyping"],
)
def test_lines_that_do_not(line: str) -> None:
    assert not mentions_sharding(line.encode())

"""Comments that ask shardlint to be silent, and the filter that passes over files."""

from __future__ import annotations

import pytest
from support.checking import check

from shardlint.laws.versions.api_changes import QUANTILES
from shardlint.laws.versions.other_changes import OTHERS
from shardlint.laws.versions.queries import subjects
from shardlint.source.comments.suppressions import matches, suppressions
from shardlint.source.lexing import comments, lines_of
from shardlint.source.workspace.prefilter import mentions_sharding, speaks_of_sharding


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1  # shardlint: ignore[SHL202] known\n", [(1, 1, ("SHL202",))]),
        ("\nx = 1  # shardlint:ignore\n", [(2, 2, ())]),
        ("x = 1  # why  # shardlint: ignore\n", [(1, 1, ())]),
        ("x = 1  # noqa: E501 # shardlint: ignore[SHL1]  # note\n", [(1, 1, ("SHL1",))]),
        ("# say `# shardlint: ignore` here\n", []),
        ("# shardlint: ignore[SHL1, indivisible-dimension]\n\n# note\nx = 1\n",
         [(4, 4, ("SHL1", "indivisible-dimension"))]),
        ("# shardlint: ignore-file[SHL6]\n", [(None, None, ("SHL6",))]),
        ("# shardlint: ignore-file\r\nx = 1  # shardlint: ignore\r\n", [(None, None, ()), (2, 2, ())]),
        ("x = '# shardlint: ignore'\n", []),
        ('"""\n# shardlint: ignore\n"""\n', []),
        ("x = 1  # shardlint: ignored\n", []),
        ("x = 1  # shardlint: ignore-fil\n", []),
        ("x = 1  # shardlint: ignore[]\n", []),
        ("x = 1  # shardlint: devices=8\n", []),
        ("a\n# shardlint: disable[SHL2] why\nb\n# shardlint: enable[SHL2]\nc\n", [(2, 6, ("SHL2",))]),
        ("a\n# shardlint: disable\nb\n# shardlint: enable\nc\n", [(2, 4, ())]),
        ("def f():\n    # shardlint: disable\n    a\n\nb\n", [(2, 4, ())]),
        ("def f():\n    # shardlint: disable\n    a(\nb)\n    c\nd\n", [(2, 5, ())]),
        ("x = 1  # shardlint: disable[SHL2]\ny = 2\n", [(1, 1, ("SHL2",))]),
    ],
)  # fmt: skip
def test_what_is_written(text: str, expected: list[tuple[int | None, int | None, tuple[str, ...]]]) -> None:
    assert [(s.first, s.last, s.codes) for s in suppressions(text)] == expected


def covered(text: str, *lines: int) -> bool:
    return any(s.covering("SHL202", "indivisible-dimension", lines) is not None for s in suppressions(text))


@pytest.mark.parametrize(
    ("codes", "expected"),
    [("", True), ("[SHL202]", True), ("[SHL2]", True), ("[shl202]", True), ("[indivisible-dimension]", True),
     ("[SHL203]", False), ("[SHL1, SHL202]", True)],
)  # fmt: skip
def test_which_rules_a_comment_names(codes: str, expected: bool) -> None:
    assert covered(f"x = 1  # shardlint: ignore{codes}\n", 1) is expected
    assert covered(f"# shardlint: ignore-file{codes}\n", 7) is expected
    assert covered(f"# shardlint: disable{codes}\nx\ny\n", 3) is expected


def test_what_is_enabled_again_is_not_covered() -> None:
    text = "# shardlint: disable[SHL2]\na\nif b:\n    # shardlint: enable[SHL202]\n    c\nd\n"
    assert [covered(text, line) for line in (2, 5, 6)] == [True, False, True]
    assert not covered(text.replace("    #", "#").replace("if b:", "b"), 6)


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


#: What is not of sharding, or written in too many ways.
UNMENTIONED = {
    "jax.typeof", "jax.ad_checkpoint.checkpoint", "jax.ShapeDtypeStruct(manual_axis_type=)",
    "jax.checkpoint(concrete=)", "jax.remat(concrete=)", "jax.jit(abstracted_axes=)",
    "jax.make_jaxpr(abstracted_axes=)", "jax.nn.softmax(initial=)", "jax.nn.log_softmax(initial=)",
    "jax.numpy.clip(a=)", "jax.numpy.clip(a_min=)", "jax.numpy.clip(a_max=)", "jax.numpy.reshape(newshape=)",
    *(f"jax.numpy.{name}(interpolation=)" for name in QUANTILES),
}  # fmt: skip
#: Names that have nothing to do with sharding: files are not read because of them, except to upgrade.
OTHER = {row.subject for row in OTHERS}
CHANGING = sorted(name for name in set(subjects()) - OTHER if name not in UNMENTIONED and ": " not in name)


@pytest.mark.parametrize("name", CHANGING)
def test_what_only_some_releases_have_is_mentioned(name: str) -> None:
    """As a call of it is written, with the argument if that is what changed."""
    line = name.replace("=)", "=x)")
    assert mentions_sharding(line.encode())
    assert speaks_of_sharding(line)


@pytest.mark.parametrize(
    "line",
    [
        "import jax",
        "x = jnp.zeros(3)",
        "P = 3",
        "probability = P * 2",
        "import PIL",
        "import jaxtyping",
        "# https://github.com/google-deepmind/optax",
        "axis = normalize_axis_index(axis, x.ndim)",
        "x, y = np.meshgrid(x, y)",
        "attention = upcast(attention)",
        "# as we would expect: nothing",
    ],
)
def test_lines_that_do_not(line: str) -> None:
    assert not mentions_sharding(line.encode())


@pytest.mark.parametrize("separator", ["\f", "\v", "\x1c", "\x85", "\u2028"])
def test_only_ends_of_lines_end_lines(separator: str) -> None:
    """As `str.splitlines` does it, lines after a form feed would be counted wrongly."""
    text = f"import jax\ns = '{separator}'\njax.tree_map(abs, 1)\n"
    assert lines_of(text) == ["import jax", f"s = '{separator}'", "jax.tree_map(abs, 1)"]
    found = check(text)
    assert [(one.code, one.span.line) for one in found] == [("SHL802", 3)]


@pytest.mark.parametrize("text", ["", "\n", "a", "a\r\nb\r\n", "a\rb", "\n\na\n\n"])
def test_lines_are_those_of_python(text: str) -> None:
    assert lines_of(text) == text.splitlines()

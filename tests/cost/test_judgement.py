"""Announcements, budgets, and tables of changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.command import run_decoded

from shardlint.cost.expectations import Expectation, Unreadable, parse_expectations
from shardlint.cost.values import Kind
from shardlint.support.sizes import parse_size, size_text

PROGRAM = """
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def array(shape, *spec):
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, P(*spec)))


def row(x, w):
    return x @ w


X, W = array((8, 64), None, "model"), array((64, 32), "model", None)


def case_within_its_bound():
    def f(x, w):
        return x @ w  # expect-collective: all-reduce model <= 1.5 KiB

    jax.jit(f).lower(X, W)


def case_over_its_bound():
    def f(x, w):
        return x @ w  # expect-collective: all-reduce model <= 1 KiB

    jax.jit(f).lower(X, W)


def case_none_is_announced():  # expect-no-collectives
    jax.jit(lambda x, w: x @ w).lower(X, W)


def case_another_is_announced():  # expect-collective: all-gather data
    jax.jit(lambda x, w: x @ w).lower(X, W)


def case_on_another_backend():  # expect-collective[tpu]: reduce-scatter model
    jax.jit(lambda x, w: x * 2).lower(X, W)


def case_nothing_is_announced():
    jax.jit(row).lower(X, W)


def case_ignored():  # expect-no-collectives
    jax.jit(lambda x, w: x @ w).lower(X, W)  # shardlint: ignore[SHL911] known


def case_gathers_a_weight():
    def f(w, x):
        return jax.lax.with_sharding_constraint(w, NamedSharding(mesh, P())) @ x

    jax.jit(f).lower(array((4096, 4096), "model"), array((4096, 8)))


def case_misspelt():  # expect-collective: all-gahter model
    pass
"""
CONFIG = '[tool.shardlint.cost]\nhbm = "{}"\nsent = "{}"\nreshard = "{}"\n'


def found(folder: Path, config: str = "", *options: str) -> list[tuple[int, str]]:
    (folder / "train.py").write_text(PROGRAM, encoding="utf-8")
    (folder / "pyproject.toml").write_text(config, encoding="utf-8")
    done = run_decoded(folder, "compile", "train.py", "--output-format", "json", *options)
    assert json.loads(done.stdout).keys() == {"programs", "collectives"}
    told = [line.split(":", 3) for line in done.stderr.splitlines()]
    assert done.returncode == (1 if told else 0), done.stderr
    return [(int(line), text.partition("[")[2].partition("]")[0]) for _, line, _, text in told]


def line_of(text: str, behind: str) -> int:
    lines = PROGRAM.splitlines()
    start = next(i for i, line in enumerate(lines) if behind in line)
    return next(i for i, line in enumerate(lines[start:], start + 1) if text in line)


def test_each_announcement_is_judged(tmp_path: Path) -> None:
    another = line_of("lower(X, W)", "case_another_is_announced")
    assert found(tmp_path) == [
        (line_of("x @ w", "case_over_its_bound"), "SHL913"),
        (line_of("lower(X, W)", "case_none_is_announced"), "SHL911"),
        (another - 1, "SHL912"),
        (another, "SHL911"),
        (line_of("with_sharding", "case_gathers_a_weight"), "SHL914"),
        (line_of("def", "case_misspelt"), "SHL910"),
    ]


def test_budgets_come_from_the_configuration(tmp_path: Path) -> None:
    """The weight has 64 MiB, a quarter of it on each device: 48 MiB are sent, and 80 MiB held."""
    head, line = line_of("def f", "case_gathers_a_weight"), line_of("with_sharding", "case_gathers_a_weight")
    chosen = "--select", "SHL913,SHL914,SHL915,SHL916"
    over = (line_of("x @ w", "case_over_its_bound"), "SHL913")
    budgets = CONFIG.format("79MiB", "47MiB", "47MiB")
    assert found(tmp_path, budgets, *chosen) == [over, (head, "SHL913"), (head, "SHL916"), (line, "SHL914")]
    whole = '[tool.shardlint]\nmax-replicated-bytes = "65MiB"\n'
    assert found(tmp_path, whole + CONFIG.format("90MiB", "49MiB", "47MiB"), *chosen) == [
        over,
        (line, "SHL915"),
    ]
    assert found(tmp_path, whole + CONFIG.format("90MiB", "49MiB", "48MiB"), *chosen) == [over]


def test_a_change_is_told_as_a_table(tmp_path: Path) -> None:
    before = PROGRAM.partition("def case_within")[0] + "\ndef case_a():\n    jax.jit(row).lower(X, W)\n"
    (tmp_path / "train.py").write_text(before, encoding="utf-8")
    done = run_decoded(tmp_path, "compile", "train.py", "-q", "--save", "base.json")
    assert done.returncode == 0
    done = run_decoded(tmp_path, "compile", "train.py", "--against", "base.json")
    assert done.stdout.splitlines()[-1] == "No collective and no memory has changed."
    wider = before.replace("return x @ w", "return jnp.tanh(x) @ w + jnp.sum(x)")
    (tmp_path / "train.py").write_text("\n\n" + wider, encoding="utf-8")
    done = run_decoded(tmp_path, "compile", "train.py", "--against", "base.json")
    assert "| `row` | all-reduce model (reduce_sum) | – | 6 B | +6 B |" in done.stdout
    assert "Each device sends 1.5 KiB; it was 1.5 KiB: +6 B (+0%)." in done.stdout


@pytest.mark.parametrize("text", ["", "[]", '{"programs": 1, "collectives": []}', "{}"])
def test_a_saved_report_that_is_none_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "train.py").write_text("", encoding="utf-8")
    (tmp_path / "base.json").write_text(text, encoding="utf-8")
    done = run_decoded(tmp_path, "compile", "train.py", "--against", "base.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "base.json is not what `shardlint compile --save` writes" in done.stderr


def test_comments_are_read() -> None:
    text = (
        "x = 1  # expect-collective: all-gather model, all-reduce data model <= 2 MiB\n"
        "y = 2  # expect-collective[tpu]: reduce-scatter data == 1024\n"
        "z = 3  # expect-no-collectives\n"
        "s = '# expect-collective: all-gather model'\n"
        "w = 4  # expect-collective: gather model\n"
        "v = 5  # expect-collective: all-gather model <= much\n"
    )
    first, second, third, none, unknown, unbounded = parse_expectations(text)
    assert isinstance(first, Expectation) and isinstance(second, Expectation)
    assert (first.kind, first.axes, first.most, first.line) == (Kind.ALL_GATHER, {"model"}, None, 1)
    assert (second.axes, second.least, second.most) == ({"data", "model"}, 0, 2 << 20)
    assert isinstance(third, Expectation) and (third.backend, third.least, third.most) == ("tpu", 1024, 1024)
    assert isinstance(none, Expectation) and none.kind is None and none.line == 3
    assert isinstance(unknown, Unreadable) and unknown.line == 5
    assert isinstance(unbounded, Unreadable) and "much" in unbounded.reason


@pytest.mark.parametrize(
    ("written", "count"),
    [
        ("8 MiB", 8 << 20),
        ("1.5GiB", 3 << 29),
        ("10 kB", 10_000),
        ("4096", 4096),
        ("7 B", 7),
        ("x", None),
        ("1 Q", None),
    ],
)
def test_sizes_are_read(written: str, count: int | None) -> None:
    assert parse_size(written) == count


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (12, "12 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (1536, "1.5 KiB"),
        (3 << 29, "1.5 GiB"),
        (1 << 36, "64 GiB"),
    ],
)
def test_sizes_are_written(count: int, text: str) -> None:
    assert size_text(count) == text


def test_the_training_step_of_the_fixtures_sends_what_it_announces() -> None:
    root = Path(__file__).parents[2]
    for devices in ("8", "16"):
        done = run_decoded(root, "compile", "fixtures/training_step.py", "--devices", devices, "-q")
        assert done.returncode == 0, done.stdout


def test_a_function_outside_of_a_case_announces_too(tmp_path: Path) -> None:
    program = PROGRAM.partition("def row")[0] + (
        "def row(x, w):\n"
        "    y = x @ w  # expect-collective: all-reduce model\n"
        "    return y / jnp.sum(y)\n\n\n"
        "def case_a():\n"
        '    X, W = array((8, 64), "data", "model"), array((64, 32), "model", None)\n'
        "    jax.jit(row).lower(X, W)\n"
    )
    (tmp_path / "train.py").write_text(program, encoding="utf-8")
    done = run_decoded(tmp_path, "compile", "train.py", "-q")
    assert done.returncode == 1
    assert 'warning[SHL911] an all-reduce over "data" of 4 B in `row`: nothing announces it' in done.stdout


def test_nothing_is_missed_where_a_part_did_not_run(tmp_path: Path) -> None:
    fixture = tmp_path / "fixture.py"
    fixture.write_text(
        "def case_sum():\n    raise RuntimeError('broken')  # expect-collective: all-reduce data\n",
        encoding="utf-8",
    )
    answer = run_decoded(tmp_path, "compile", "fixture.py")
    assert answer.returncode == 2
    assert "broken" in answer.stderr
    assert "SHL912" not in answer.stdout

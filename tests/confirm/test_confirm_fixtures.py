"""Fixtures: run in a process of their own, and compared with what they announce."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import confirm_cases as cases
import pytest
from confirm_cases import rejected

from shardlint.confirm.fixtures.comparison import compare
from shardlint.confirm.fixtures.expectations import Expectation, parse_expectations, read_expectations
from shardlint.confirm.fixtures.runs import FixtureRun, run_fixture
from shardlint.laws.core.values import Spec
from shardlint.laws.core.verdicts import Api, Cause
from shardlint.model.findings import Finding, Severity
from shardlint.model.spans import Span

HEAD = """\
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, -1), ("data", "model"))
"""


def program(folder: Path, body: str, name: str = "fixture.py", head: str = HEAD) -> Path:
    path = folder / name
    path.write_text(head + dedent(body))
    return path


def notebook(folder: Path, *cells: str, kind: str = "code") -> Path:
    path = folder / "fixture.ipynb"
    written = [{"cell_type": "markdown", "source": ["# A title\n"]}]
    written += [{"cell_type": kind, "source": cell.splitlines(keepends=True)} for cell in cells]
    path.write_text(json.dumps({"cells": written, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}))
    return path


def found(
    path: Path, code: str, line: int, cell: int | None = None, exception: str = "ValueError"
) -> Finding:
    finding = cases.placement(Api.DEVICE_PUT, Spec(("data",)), (7,), rejected(Cause.INDIVISIBLE, exception))
    return replace(finding, code=code, span=Span(str(path), line, 1, line, 9, cell))


def outcomes(run: FixtureRun) -> list[tuple[str, str | None, int | None]]:
    assert run.problem is None
    return [(unit.name, unit.exception, unit.line) for unit in run.units]


UNEVEN = 'jax.device_put(jnp.ones(7), NamedSharding(mesh, P("data")))'


def test_top_level_runs_first_and_then_each_case_by_itself(tmp_path: Path) -> None:
    path = program(
        tmp_path,
        f"""
        def place(x):
            return jax.device_put(x, NamedSharding(mesh, P("data")))

        def case_uneven():
            {UNEVEN}

        def case_even():
            print(place(jnp.ones(8)).shape)

        def case_in_a_helper():
            return place(jnp.ones(5))

        def case_with_a_parameter(x):
            raise AssertionError
        """,
    )
    run = run_fixture(path)
    assert outcomes(run) == [
        ("top level", None, None),
        ("case_uneven", "IndivisibleError", 10),
        ("case_even", None, None),
        ("case_in_a_helper", "IndivisibleError", 7),
    ]
    assert [unit.kind for unit in run.units] == ["top level", "case", "case", "case"]
    assert "ValueError" in run.units[1].bases
    assert run.units[2].stdout == "(8,)\n"
    assert [frame.line for frame in run.units[3].frames] == [16, 7]
    assert run.jax is not None


def test_nothing_runs_after_a_top_level_that_fails(tmp_path: Path) -> None:
    path = program(tmp_path, "1 / 0\ndef case_later(): pass\n", head="")
    run = run_fixture(path)
    assert outcomes(run) == [("top level", "ZeroDivisionError", 1), ("case_later", None, None)]
    assert [unit.ran for unit in run.units] == [True, False]
    messages = [d.message for d in compare(run, [], [])]
    assert messages == [
        "JAX raises ZeroDivisionError: division by zero, and nothing announces it",
        "case_later did not run",
    ]


def test_a_notebook_runs_cell_by_cell(tmp_path: Path) -> None:
    path = notebook(
        tmp_path,
        "%matplotlib inline\n" + HEAD,
        UNEVEN,
        "%%bash\nexit 1",
        "x = jnp.ones(8)\nif True:\n    !nvidia-smi\ny = (x\n  % 2)",
        "def f():\n    return y.no_such_attribute",
        "f()",
    )
    run = run_fixture(path)
    assert outcomes(run) == [
        ("cell 1", None, None),
        ("cell 2", "IndivisibleError", 1),
        ("cell 3", None, None),
        ("cell 4", None, None),
        ("cell 5", None, None),
        ("cell 6", "AttributeError", 2),
    ]
    assert [(frame.cell, frame.line) for frame in run.units[-1].frames] == [(6, 1), (5, 2)]


@pytest.mark.parametrize(("comment", "devices"), [("", 8), ("# shardlint: devices=4\n", 4)])
def test_a_fixture_says_how_many_devices_it_needs(tmp_path: Path, comment: str, devices: int) -> None:
    run = run_fixture(program(tmp_path, "print(len(jax.devices()))", head=comment + HEAD))
    assert run.units[0].stdout == f"{devices}\n"


def test_a_fixture_is_run_as_a_program(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("answer = 42\n")
    path = program(
        tmp_path,
        """
        import os, sys, pickle
        import helper
        class Config: pass
        pickle.dumps(Config())
        os.write(1, b"past Python")
        print(__name__, __file__ == sys.argv[0], os.getcwd(), helper.answer)
        sys.exit()
        """,
        head="",
    )
    run = run_fixture(path)
    assert outcomes(run) == [("top level", None, None)]
    assert run.units[0].stdout == f"__main__ True {tmp_path.resolve()} 42\n"
    assert "helper" not in sys.modules


def test_a_syntax_error_is_what_its_top_level_raises(tmp_path: Path) -> None:
    run = run_fixture(program(tmp_path, "\nx = (1,\n\ndef f(: pass\n", head=""))
    assert [(unit.name, unit.exception) for unit in run.units] == [("top level", "SyntaxError")]
    assert run.units[0].line is not None


@pytest.mark.parametrize(
    ("body", "limits", "problem"),
    [
        ("import time; time.sleep(600)", {"timeout": 2.0}, "did not answer within"),
        ("import os; os._exit(7)", {}, "died"),
        ("import os, time; x = os.urandom(1 << 20) * 128; time.sleep(600)", {"memory": 64 << 20}, "64 MiB"),
    ],
)
def test_limits(tmp_path: Path, body: str, limits: dict, problem: str) -> None:
    path = program(tmp_path, f"print('up')\ndef case_bad():\n    {body}\ndef case_next(): pass\n", head="")
    run = run_fixture(path, **limits)
    assert run.problem is not None
    assert problem in run.problem
    assert [unit.ran for unit in run.units] == [True, False, False]
    assert run.units[0].stdout == "up\n"
    assert any(problem in d.message for d in compare(run, [], []))


def test_no_interpreter(tmp_path: Path) -> None:
    run = run_fixture(program(tmp_path, ""), python=str(tmp_path / "no-such-python"))
    assert run.problem is not None
    assert run.problem.startswith("cannot run")


# Expectations.


def test_expectations_are_comments() -> None:
    text = dedent(
        '''\
        x = "# expect: SHL101"
        f(x)  # expect: SHL202, SHL203
        g(x)  # expect-silent: SHL601  # raises
        """
        # expect: SHL101
        """
        h(x)  # it raises  # expect:SHL204
        k(x)  # raises a question
        '''
    )
    assert parse_expectations(text) == [
        Expectation(2, ("SHL202", "SHL203")),
        Expectation(3, ("SHL601",), silent=True),
        Expectation(3, (), raises=True),
        Expectation(7, ("SHL204",)),
    ]


@pytest.mark.parametrize("broken", ["x = (1,\n", "def f(:\n", "  x\n y\n", "%magic 'unclosed\n", "'''\n"])
def test_expectations_survive_broken_text(broken: str) -> None:
    text = f"f(x)  # expect: SHL202\n{broken}g(x)  # expect: SHL203\n"
    lines = [e.line for e in parse_expectations(text)]
    assert lines == [1, text.count("\n")]


def test_expectations_of_a_notebook_know_their_cell(tmp_path: Path) -> None:
    path = notebook(tmp_path, "x = 1", "f(x)  # expect: SHL202")
    assert read_expectations(path) == [Expectation(1, ("SHL202",), cell=2)]


# Comparison.


def disagreements(path: Path, *findings: Finding) -> list[tuple[int, str]]:
    return [(d.line, d.message) for d in compare(run_fixture(path), read_expectations(path), findings)]


def test_a_fixture_that_is_right_about_itself(tmp_path: Path) -> None:
    path = program(
        tmp_path,
        f"""
        def case_uneven():
            sharding = NamedSharding(mesh, P("data"))  # expect: SHL202
            jax.device_put(
                jnp.ones(7), sharding)  # raises

        def case_silent():
            jax.device_put(jnp.ones(8), NamedSharding(mesh, P()))  # expect-silent: SHL601

        def place(x):
            return jax.device_put(x, NamedSharding(mesh, P("model")))  # expect: SHL202

        def case_in_a_helper():
            place(jnp.ones(7))  # raises

        def case_hidden():
            try:
                {UNEVEN}
            except ValueError:
                pass
        """,
    )
    reported = [found(path, "SHL202", 7), found(path, "SHL601", 12), found(path, "SHL202", 15)]
    assert disagreements(path, *reported) == []


def test_every_kind_of_disagreement(tmp_path: Path) -> None:
    path = program(
        tmp_path,
        f"""
        def case_not_reported():
            {UNEVEN}  # expect: SHL202

        def case_accepted():
            jnp.ones(7)  # expect: SHL202

        def case_not_announced():
            {UNEVEN}

        def case_not_silent():
            {UNEVEN}  # expect-silent: SHL601

        def case_of_another_class():
            {UNEVEN}  # expect: SHL202

        def case_of_another_line():
            x = 0  # raises
            {UNEVEN}  # expect: SHL202

        def case_reported():
            x = 0
        """,
    )
    reported = [
        found(path, "SHL202", 10),
        found(path, "SHL601", 16),
        found(path, "SHL202", 19, exception="KeyError"),
        found(path, "SHL202", 23),
        found(path, "SHL102", 26),
        replace(found(path, "SHL103", 26), severity=Severity.INFO),
        replace(found(path, "SHL104", 26), expected=True),
    ]
    said = disagreements(path, *reported)
    assert [line for line, _ in said] == [7, 10, 13, 16, 16, 19, 22, 26]
    for (_, message), words in zip(
        said,
        [
            "SHL202 is expected here, and not reported",
            "JAX accepts it",
            "nothing announces it",
            "is expected to accept this",
            "nothing announces it",
            "the finding says KeyError",
            "nothing raises here",
            "SHL102 is reported",
        ],
        strict=True,
    ):
        assert words in message


def test_cells_are_compared_by_cell(tmp_path: Path) -> None:
    path = notebook(tmp_path, HEAD, f"{UNEVEN}  # expect: SHL202", "x = 1  # expect: SHL202")
    right = found(path, "SHL202", 1, cell=2)
    said = compare(run_fixture(path), read_expectations(path), [right])
    assert [(d.cell, d.line, d.unit) for d in said] == [(3, 1, None), (3, 1, "cell 3")]

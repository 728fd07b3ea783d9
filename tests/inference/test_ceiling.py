"""The ceiling of work of a file: where it ends, and what is then not said and not stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.checking import check, places

from shardlint.api import Linter, Settings, read_source
from shardlint.cache.store import Store
from shardlint.cli.commands import main
from shardlint.engine.analyzer import Analyzer
from shardlint.engine.open_programs import Programs
from shardlint.inference.evaluation import budget
from shardlint.rules import all_rules
from shardlint.rules.base import AnyRule
from shardlint.source.comments.suppressions import Suppression

_HEAD = """import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
jax.device_put(jnp.ones((6, 8)), NamedSharding(mesh, P("data", "data")))
y = 1  # shardlint: ignore[SHL102] nothing is wrong here
"""


def calling(count: int) -> str:
    """Functions that call each other, and a use that each of them may reach."""
    lines = [
        f"def f{i}(x): return f{(i - 1) % count}(x) if x else f{(i + 1) % count}(x)" for i in range(1, count)
    ]
    first = f"def f0(x): return jax.device_put(x, NamedSharding(mesh, P('data'))) if x else f{count - 1}(x)"
    return "\n".join([first, *lines, ""])


def codes(text: str, **settings: Any) -> dict[str, int]:
    return dict(places(check(text, **settings)))


@pytest.fixture
def low(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "MAX_FILE_STEPS", 2_000)


def test_a_file_below_the_ceiling_says_all() -> None:
    assert codes(_HEAD) == {"SHL102": 7, "SHL012": 8}


@pytest.mark.usefixtures("low")
def test_what_rests_on_absence_is_not_said_of_a_part() -> None:
    found = codes(_HEAD + calling(60))
    assert found.keys() == {"SHL102", "SHL014"}
    assert found["SHL014"] > 8


@pytest.mark.parametrize("rule", [r for r in all_rules() if r.rests_on_absence], ids=lambda rule: rule.code)
def test_a_rule_that_rests_on_absence_is_not_asked_of_a_part(
    rule: AnyRule, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = rule.bad + "def f(x):\n    return jax.device_put(x)\n" * 2
    assert rule.code in codes(text)
    monkeypatch.setattr(budget, "MAX_FILE_STEPS", 1)
    found = codes(text)
    assert "SHL014" in found
    assert rule.code not in found


def test_which_rules_rest_on_absence() -> None:
    assert {rule.code for rule in all_rules() if rule.rests_on_absence} == {
        "SHL602",
        "SHL603",
        "SHL612",
    }


@pytest.mark.usefixtures("low")
def test_a_top_level_ends_too() -> None:
    text = _HEAD + "".join(f"for i in range(50):\n    y = i + {number}\n" for number in range(100))
    found = codes(text + 'jax.device_put(jnp.ones((6, 8)), NamedSharding(mesh, P("data", "model", None)))\n')
    assert found.keys() == {"SHL102", "SHL014"}


@pytest.mark.usefixtures("low")
def test_it_ends_at_the_same_place_each_time() -> None:
    text = _HEAD + calling(60)
    assert codes(text) == codes(text)


@pytest.mark.parametrize("share", [1, 2])
def test_a_hostile_file_ends(share: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not timed: the steps of such a file grow with the square of its functions.

    So what 100 and 200 of them take says that 3,000 pass the ceiling many times.
    """
    assert budget.MAX_FILE_STEPS <= 1_000_000
    monkeypatch.setattr(budget, "MAX_FILE_STEPS", 1_000_000 * (share * 100) ** 2 // 3_000**2)
    assert "SHL014" in codes(_HEAD + calling(share * 100))


def test_all_is_found_below_the_ceiling_whether_or_not_anything_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(_HEAD + calling(20))
    assert "SHL014" not in codes(path.read_text())


@pytest.mark.usefixtures("low")
def test_nothing_of_a_part_is_stored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.shardlint]\nignore = ['SHL014']\n")
    path = tmp_path / "program.py"
    path.write_text(_HEAD + calling(60))
    said = []
    for ceiling in (2_000, 10_000_000):
        budget.MAX_FILE_STEPS = ceiling
        main(["check", str(path), "--output-format", "json", "--devices", "8"])
        said.append({one["code"] for one in json.loads(capsys.readouterr().out)})
    assert said[0] == {"SHL102"}
    assert said[1] >= {"SHL102", "SHL012"}


@pytest.mark.usefixtures("low")
def test_an_editor_shows_a_part_and_evaluates_it_again(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(_HEAD + calling(60))
    store = Store(str(tmp_path / "store"))
    linter = Linter(Settings(devices=8), None, Analyzer(store, 1, Programs()))
    first = {finding.code for finding in linter.check_source(read_source(str(path)))}
    assert first == {"SHL102", "SHL014"}
    budget.MAX_FILE_STEPS = 10_000_000
    again = {finding.code for finding in linter.check_source(read_source(str(path)))}
    assert "SHL014" not in again
    assert "SHL012" in again


def test_a_comment_is_looked_at_for_findings_of_its_statement_only(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    covering = Suppression.covering

    def counting(self: Suppression, *args: object) -> str | None:
        asked.append(self.first)
        return covering(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(Suppression, "covering", counting)
    lines = [f"x{i} = {i}  # shardlint: ignore[SHL102, SHLX{i}] for nothing\n" for i in range(300)]
    found = check(_HEAD + "".join(lines))
    assert len(found) >= 600
    assert len(asked) <= 2 * len(found)
    assert sum("did you mean" in finding.message for finding in found) <= 50

"""Which rules selectors turn on: as ruff does it, with groups and names besides."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from shardlint.config import Selection, known_rules
from shardlint.config.selection import check_selectors, is_selected, selected_codes, severities
from shardlint.config.settings import Settings
from shardlint.model.findings import Group
from shardlint.rules import all_rules

#: Rules of ruff that are settled and have no redirects; our selectors are tried on them.
RUFF_CODES = (
    "F401 F402 F404 F405 F406 F407 F501 F502 F503 F504 F601 F602 F621 F622 F811 F821 F822 F841 "
    "E401 E402 E501 E701 E702 E703 E711 E712 E713"
).split()
SELECTORS = ["ALL", "F", "E", "F4", "F5", "F40", "F50", "E7", "E71", "F401", "F502", "F811", "E501", "E711"]


@dataclass(frozen=True)
class Rule:
    """A rule of ruff as ours look."""

    code: str
    preview: bool = False
    name: str = "no-name"
    group: str = "no-group"
    summary: str = ""
    docs: str = ""


def ruff_selects(folder: Path, file: Selection, asked: Selection) -> set[str]:
    """The rules that the real ruff has on under a configuration and options."""
    lines = [] if file.select is None else [f"select = {list(file.select)}"]
    lines += [f"extend-select = {list(file.extend_select)}", f"ignore = {list(file.ignore)}"]
    (folder / "ruff.toml").write_text("[lint]\n" + "\n".join(lines).replace("'", '"'))
    options = [
        f"--{name}={','.join(codes)}"
        for name, codes in (
            ("select", asked.select),
            ("extend-select", asked.extend_select),
            ("ignore", asked.ignore),
        )
        if codes
    ]
    shown = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--show-settings", *options, "a.py"],
        cwd=folder, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    enabled = re.search(r"linter\.rules\.enabled = \[(.*?)\]", shown, re.DOTALL)
    assert enabled is not None
    return set(re.findall(r"\(([A-Z]+\d+)\)", enabled[1])) & set(RUFF_CODES)


def test_selectors_decide_as_in_ruff(tmp_path: Path) -> None:
    draw = random.Random(5)
    (tmp_path / "a.py").write_text("")

    def some(most: int) -> tuple[str, ...]:
        return tuple(draw.sample(SELECTORS, draw.randint(0, most)))

    sizes = []
    for _ in range(60):
        file = Selection(some(2) or ("ALL",), some(2), some(3))
        asked = Selection(draw.choice([None, some(2) or None]), some(2), some(2))
        ours = {code for code in RUFF_CODES if is_selected(Rule(code), [file, asked])}
        assert ours == ruff_selects(tmp_path, file, asked), (file, asked)
        sizes.append(len(ours))
    assert len(set(sizes)) > 8


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        ("SHL202", "SHL20"),
        ("SHL20", "SHL2"),
        ("SHL2", "correctness"),
        ("indivisible-dimension", "SHL20"),
        ("correctness", "SHL"),
        ("SHL", "ALL"),
    ],
)
def test_the_narrower_selector_wins(narrow: str, wide: str) -> None:
    assert "SHL202" in selected_codes(Settings(select=(narrow,), ignore=(wide,)))
    assert "SHL202" not in selected_codes(Settings(select=(wide,), ignore=(narrow,)))


def test_ignoring_wins_over_selecting_the_same() -> None:
    assert "SHL202" not in selected_codes(Settings(select=("SHL202",), ignore=("indivisible-dimension",)))


def test_groups_say_what_jax_does() -> None:
    for rule in all_rules():
        if rule.group is Group.CORRECTNESS:
            assert rule.raises is not None, f"{rule.code}: JAX accepts its example"
        elif rule.group in (Group.SUSPICIOUS, Group.MEMORY):
            assert rule.raises is None, f"{rule.code}: JAX refuses its example"
        assert (rule.group is Group.VERSIONS) == rule.code.startswith("SHL8")
    assert {str(rule.group) for rule in known_rules()} == set(Group)


def test_previews_are_off_unless_asked_for() -> None:
    rule = Rule("SHL299", preview=True)
    for selection in (Selection(("ALL",)), Selection(("SHL299",))):
        assert not is_selected(rule, [selection])
        assert is_selected(rule, [selection], preview=True)


def test_codes_may_be_written_small() -> None:
    assert check_selectors(["shl2", "all", "memory"], "select") == ("SHL2", "ALL", "memory")


def test_the_narrowest_severity_counts() -> None:
    chosen = severities(Settings(severity=(("SHL601", "info"), ("memory", "warning"), ("SHL", "info"))))
    assert (chosen["SHL601"], chosen["SHL602"], chosen["SHL202"]) == ("info", "warning", "info")

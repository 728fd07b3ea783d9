"""The commands `explain`, `rules` and `demo`."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.command import run_decoded as run

from shardlint.api import known_rules
from shardlint.rules.messages import jax_errors
from shardlint.rules.messages.jax_errors import codes_of, sentences


def test_the_beginning_of_a_code_lists_its_rules(tmp_path: Path) -> None:
    done = run(tmp_path, "explain", "shl2")
    assert done.returncode == 0
    codes = [line.split()[0] for line in done.stdout.splitlines()]
    assert codes == [rule.code for rule in known_rules() if rule.code.startswith("SHL2")]


def test_a_group_lists_its_rules(tmp_path: Path) -> None:
    codes = [line.split()[0] for line in run(tmp_path, "explain", "memory").stdout.splitlines()]
    assert codes == [rule.code for rule in known_rules() if str(rule.group) == "memory"]


def test_an_error_of_one_rule_shows_its_page(tmp_path: Path) -> None:
    error = "ValueError: pjit does not support kwargs when in_shardings is specified."
    done = run(tmp_path, "explain", error)
    assert done.returncode == 0
    assert done.stdout == run(tmp_path, "explain", "SHL208").stdout
    assert run(tmp_path, "explain", *error.split()).stdout == done.stdout


def test_an_error_of_several_rules_lists_them(tmp_path: Path) -> None:
    done = run(
        tmp_path, "explain", "Resource axis: modle of P(None, 'modle') is not found in mesh: ('data',)."
    )
    assert done.returncode == 0
    listed = [line.split()[0] for line in done.stdout.splitlines() if line.startswith("SHL")]
    assert listed[0] == "SHL103"
    assert len(listed) > 1


@pytest.mark.parametrize("text", ["ValueError: the cat is on the mat", "- -"])
def test_an_unknown_error_is_said_to_be_unknown(tmp_path: Path, text: str) -> None:
    done = run(tmp_path, "explain", text)
    assert done.returncode == 2
    assert "no rule is known to give this error" in done.stderr


def test_rules_as_json(tmp_path: Path) -> None:
    listed = json.loads(run(tmp_path, "rules", "--output-format", "json").stdout)
    assert [rule["code"] for rule in listed] == [rule.code for rule in known_rules()]
    assert {"code", "name", "group", "summary", "preview", "fixable", "docs"} == set(listed[0])
    fixable = {rule["code"]: rule["fixable"] for rule in listed}
    assert (fixable["SHL103"], fixable["SHL001"]) == (True, False)


def test_the_demo_shows_confirmed_findings_a_picture_and_what_is_next(tmp_path: Path) -> None:
    done = run(tmp_path, "demo")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("confirmed by JAX") == 4
    assert "Found 3 errors, 1 warning." in done.stdout
    assert "┌" in done.stdout
    assert "shardlint src --confirm" in done.stdout
    assert len(done.stdout.splitlines()) < 64
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("sentence", [sentence for sentence, _ in sentences()][::9])
def test_a_text_made_of_the_beginnings_of_a_message_takes_no_time(sentence: str) -> None:
    """There are as many ways to choose them as the length to the power of their number."""
    *beginnings, _ = sentence.split("*")
    text = " x ".join(beginnings) * (200_000 // (len(sentence) + 1))
    begun = time.process_time()
    codes_of(text)
    assert time.process_time() - begun < 5


@settings(deadline=None)
@given(st.lists(st.sampled_from("ab* "), max_size=8), st.text("abx ", max_size=14))
def test_a_sentence_is_found_as_a_regular_expression_finds_it(sentence: list[str], text: str) -> None:
    parts = [re.escape(stripped) for part in "".join(sentence).split("*") if (stripped := part.strip())]
    found = re.search(".*?".join(parts), text) is not None
    assert jax_errors._stands_in("".join(sentence), text) is found

"""The stored answers are what JAX says, of a sample that differs from run to run."""

from __future__ import annotations

import random
import runpy
from collections.abc import Mapping
from typing import Any

import pytest

from support import jax_answers
from support.fast import TESTS


def _programs() -> list[str]:
    fixed = runpy.run_path(str(TESTS / "placement" / "argument_programs.py"))
    return [f"{fixed['PRELUDE']}\n{program}\n" for program in fixed["PROGRAMS"]]


def test_jax_still_says_what_is_stored() -> None:
    runner = jax_answers.RUNNER.read_text(encoding="utf-8")
    known = jax_answers.stored()
    programs = {text: text for text in _programs() if jax_answers.digest(text, runner) in known}
    if not programs:
        pytest.skip(f"nothing is stored for {jax_answers.releases()}")
    sample = {text: text for text in random.SystemRandom().sample(sorted(programs), min(8, len(programs)))}
    said = jax_answers.ask_jax(sample)
    for text in sample:
        assert said[text] == known[jax_answers.digest(text, runner)], text


def test_only_unknown_programs_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHARDLINT_ASK_JAX", raising=False)
    monkeypatch.setattr(jax_answers, "stored", lambda: {jax_answers.digest("a", "runner"): "stored"})

    def ask(programs: Mapping[str, str]) -> dict[str, Any]:
        assert programs == {"second": "b"}
        return {"second": "asked"}

    said = jax_answers.answers({"first": "a", "second": "b"}, ask, "runner")
    assert said == {"first": "stored", "second": "asked"}


def test_another_runner_is_another_question() -> None:
    assert jax_answers.digest("a", "one") != jax_answers.digest("a", "other")

"""The stored answers are what JAX says, of a sample that differs from run to run."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from typing import Any

import pytest

from shardlint.rules import all_rules
from support import jax_answers
from support.documents import read_programs
from support.fast import TESTS


def _programs() -> list[str]:
    documents = [path for path in TESTS.rglob("*.md") if path.name != "README.md"]
    return [
        *(program.text for path in documents for program in read_programs(path)),
        *(text for rule in all_rules() for text in (rule.bad, rule.good)),
    ]


def test_jax_still_says_what_is_stored() -> None:
    runner, known = jax_answers.runner(), jax_answers.stored()
    programs = {text: text for text in _programs() if jax_answers.digest(text, runner) in known}
    if not programs:
        pytest.skip(f"nothing is stored for {jax_answers.releases()}")
    sample = {text: text for text in random.SystemRandom().sample(sorted(programs), min(40, len(programs)))}
    said = jax_answers.ask_jax(sample)
    for text in sample:
        now, before = jax_answers.portable(said[text]), known[jax_answers.digest(text, runner)]
        assert _comparable(now) == _comparable(before), text


def _comparable(answer: Any) -> Any:
    """Return an answer, one for all that an operation says of a deleted array: it is a RuntimeError the first
    time that the process runs the operation, and a ValueError afterwards (JAX 0.10.2)."""
    deleted = answer is not None and re.search("has been deleted|deleted or donated", answer["message"])
    return ("deleted", answer["lines"]) if deleted else answer


def test_only_unknown_programs_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHARDLINT_ASK_JAX", raising=False)
    monkeypatch.setattr(jax_answers, "asked_of", 0)
    monkeypatch.setattr(jax_answers, "stored", lambda: {jax_answers.digest("a", "runner"): "stored"})

    def ask(programs: Mapping[str, str]) -> dict[str, Any]:
        assert programs == {"second": "b"}
        return {"second": "asked"}

    said = jax_answers.answers({"first": "a", "second": "b"}, ask, "runner")
    assert said == {"first": "stored", "second": "asked"}


def test_another_runner_is_another_question() -> None:
    assert jax_answers.digest("a", "one") != jax_answers.digest("a", "other")

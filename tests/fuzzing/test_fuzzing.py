"""Fuzzing in small, by `run_fuzzing`; and that it would notice."""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzz_texts import KINDS
from run_fuzzing import ROOT, fuzzed, problem_of, text_of, texts_in
from support.sizes import size

COUNT = size("SHARDLINT_FUZZED", 20, 60)
TEXTS = texts_in([ROOT / "fixtures"])


def test_nothing_crashes_hangs_or_wavers() -> None:
    failures, _ = fuzzed(COUNT, 3, TEXTS)
    assert failures == []


def test_texts_are_the_same_each_time() -> None:
    kinds = tuple(KINDS)
    for number in range(8):
        assert text_of(number, 1, kinds, TEXTS) == text_of(number, 1, kinds, TEXTS)
    assert text_of(0, 1, kinds, TEXTS) != text_of(0, 2, kinds, TEXTS)


def test_a_crash_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.py"
    path.write_text("import jax\nmesh = jax.make_mesh((2,), ('x',))\n")
    assert problem_of(str(path), "concise") is None

    def fails(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("shardlint.inference.analyze", fails)
    assert "SHL009" in (problem_of(str(path), "concise") or "")

"""What is kept of texts that change: the latest of each file, and not too many files."""

from __future__ import annotations

import pytest

from shardlint.inference.syntax import text_cache as remembering
from shardlint.inference.syntax.text_cache import Latest, of_texts


def test_only_the_latest_texts_of_a_file_are_kept() -> None:
    made: list[tuple[str, int | None, str]] = []

    def function(path: str, cell: int | None, text: str) -> str:
        made.append((path, cell, text))
        return text.upper()

    kept = Latest(function, cells=2, texts=2)
    assert [kept("a", None, text) for text in ("x", "y", "x", "z", "x")] == ["X", "Y", "X", "Z", "X"]
    assert [text for _, _, text in made] == ["x", "y", "z"]
    assert kept("a", None, "y") == "Y"  # it was the oldest, and is made again
    assert len(made) == 4
    kept("b", 0, "x")
    kept("a", None, "y")
    kept("b", 1, "x")  # the third cell: the one that was asked for longest ago goes
    kept("a", None, "y")
    assert len(made) == 6
    kept("b", 0, "x")
    assert len(made) == 7
    kept.cache_clear()
    kept("b", 0, "x")
    assert len(made) == 8


def test_texts_are_forgotten_when_they_are_too_long_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembering, "_MOST", 10)
    asked: list[str] = []

    @of_texts
    def length(text: str, factor: int) -> int:
        asked.append(text)
        return len(text) * factor

    assert [length(text, 2) for text in ("abcd", "abc", "abcd", "abc")] == [8, 6, 8, 6]
    assert asked == ["abcd", "abc"]
    # The one that makes it too much stays; what was before it is made once more.
    assert [length(text, 2) for text in ("abcde", "abcde", "abc")] == [10, 10, 6]
    assert asked == ["abcd", "abc", "abcde", "abc"]

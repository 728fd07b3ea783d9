"""Patterns with many stars mean what pathspec makes of them, and take no time over it."""

from __future__ import annotations

import random

from pathspec import GitIgnoreSpec

from shardlint.source.workspace.gitignore import ignore_spec

_PARTS = ("*", "*", "*", "a", "b", "?", "/", "[ab]", "[!a]", "**", "\\*", ".")


def test_they_match_what_pathspec_matches() -> None:
    chance = random.Random(1)
    decided = 0
    for _ in range(3000):
        pattern = chance.choice(("", "", "!")) + "".join(chance.choices(_PARTS, k=chance.randint(1, 9)))
        try:
            plain = GitIgnoreSpec.from_lines(["*b", pattern])
        except ValueError:
            continue
        ours = ignore_spec(["*b", pattern])
        for _ in range(8):
            names = ["".join(chance.choices("aab.*", k=chance.randint(1, 6))) for _ in range(3)]
            path = "/".join(names[: chance.randint(1, 3)]) + chance.choice(("", "/"))
            answer = plain.check_file(path).include
            assert ours.check_file(path).include == answer, (pattern, path)
            decided += answer is not None
    assert decided > 2000


def test_a_hundred_stars_end() -> None:
    assert not ignore_spec(["*a" * 100 + "b"]).match_file("a" * 250 + "/" + "a" * 250)

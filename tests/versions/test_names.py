"""The table of names beside what each release of JAX does with them, as `ask_words.py` measured it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from shardlint.laws.versions import NEWEST, RELEASES, Release, state_of
from shardlint.laws.versions.equivalents import EQUIVALENT
from shardlint.laws.versions.jax_words import words_of
from shardlint.laws.versions.queries import subjects

STORED = json.loads((Path(__file__).parents[1] / "data" / "names.json").read_text(encoding="utf-8"))
#: What a missing name raises; the last is `Array.device()`, where an object is called.
RAISED = ("AttributeError", "ImportError", "ModuleNotFoundError", "TypeError")
NAMES = [name for name in subjects() if not any(part in name for part in (":", "=", "__enter__"))]


@cache
def outcomes(release: Release) -> dict[str, str]:
    return {name: kind for kind, names in STORED[str(release)].items() for name in names.split()}


def test_every_release_was_asked() -> None:
    assert set(STORED) == set(map(str, RELEASES))


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_the_table_says_what_jax_does(release: Release) -> None:
    """Each name that is told to break raises on this release, and on no release before its row."""
    wrong = []
    for name in NAMES:
        state, said = state_of(name, release), outcomes(release).get(name)
        assert state is not None
        there, warns = said not in RAISED, said == "DeprecationWarning"
        if (state.there, state.deprecated) != (there, warns):
            wrong.append((name, state.there, state.deprecated, said))
    assert wrong == []


def test_what_a_fix_writes_is_there() -> None:
    """Replacements run on the newest release, but for those that have a later replacement themselves."""
    missing = {new for new in EQUIVALENT.values() if outcomes(NEWEST).get(new) in RAISED}
    assert missing == set()


def test_words_are_those_of_the_release() -> None:
    assert words_of("jax.tree_map", Release(0, 6, 0)).startswith(
        "AttributeError: jax.tree_map was removed in"
    )
    assert words_of("jax.tree_map", Release(0, 5, 0)).startswith("DeprecationWarning: jax.tree_map is depr")
    assert words_of("jax.tree_none", NEWEST) == ""

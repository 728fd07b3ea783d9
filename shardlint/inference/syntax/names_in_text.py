"""The names in a text, without reading it as Python."""

from __future__ import annotations

import re
from collections import Counter

from shardlint.inference.syntax.text_cache import bare, of_texts
from shardlint.source.lexing import words_in

_DECLARED = re.compile(r"\b(?:global|nonlocal)\s+([\w, ]+)")


@of_texts
def names_in(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names that a text declares global or nonlocal, and all its names."""
    text = bare(text)
    found = frozenset(words_in(text))
    if found.isdisjoint(("global", "nonlocal")):
        return frozenset(), found
    return frozenset(name for names in _DECLARED.findall(text) for name in words_in(names)), found


@of_texts
def single_names(text: str) -> frozenset[str]:
    """Return the names that occur exactly once in a text, its comments and strings included."""
    return frozenset(word for word, count in Counter(_WORD.findall(text)).items() if count == 1)


_WORD = re.compile(r"[^\W\d]\w*")

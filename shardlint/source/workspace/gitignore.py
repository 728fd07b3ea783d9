"""Patterns as in `.gitignore`, matched without catastrophic backtracking."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import AnyStr

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

_STAR = r"[^/]*"
#: A star, the text up to the next one (letters, escaped ones, `?` and plain sets), and that next star.
_BETWEEN_STARS = re.compile(
    r"(?:\[\^/\]\*)+((?:\\.|\[\^/\](?!\*)|\[[^\^/\\\]\[][^/\\\]\[]*\]|[^\[\]()?*+|\\^$./])+)(?=\[\^/\]\*)"
)


class _Pattern(GitIgnoreSpecPattern):
    """A pattern whose expression never backtracks into an earlier star.

    The first match of the text after a star is as good as any later one, since the next star absorbs the
    difference; so it is made atomic, as in `fnmatch.translate`.
    """

    @classmethod
    def pattern_to_regex(cls, pattern: AnyStr) -> tuple[AnyStr | None, bool | None]:
        regex, include = super().pattern_to_regex(pattern)
        if isinstance(regex, str):
            regex = _BETWEEN_STARS.sub(rf"(?>{_STAR}?\1)", regex)
        return regex, include


def ignore_spec(lines: Iterable[str]) -> GitIgnoreSpec:
    """Read lines of a `.gitignore`."""
    return GitIgnoreSpec.from_lines(lines, _Pattern)

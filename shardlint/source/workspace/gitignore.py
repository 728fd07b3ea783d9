"""Patterns as in `.gitignore`, in time that many stars cannot blow up."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import AnyStr

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

_STAR = r"[^/]*"
#: A star, what follows it up to the next one (letters, escaped ones, `?` and plain sets), and that one.
_BETWEEN_STARS = re.compile(
    r"(?:\[\^/\]\*)+((?:\\.|\[\^/\](?!\*)|\[[^\^/\\\]\[][^/\\\]\[]*\]|[^\[\]()?*+|\\^$./])+)(?=\[\^/\]\*)"
)


class _Pattern(GitIgnoreSpecPattern):
    """A pattern whose expression never goes back to what an earlier star took.

    The first place that fits what follows a star is as good as any later one, since the next star takes what
    lies between; so it is final, as in `fnmatch.translate`.
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

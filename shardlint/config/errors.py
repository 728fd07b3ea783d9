"""Configuration errors, and suggestions for misspelt words."""

from __future__ import annotations

from collections.abc import Iterable


class ConfigError(Exception):
    """A wrong key or value; the message names it, and the nearest correct one.

    ``at`` is the path of the key in its table, and ``word`` the wrong part of its value, if it is one of
    several. A caller that knows the file adds it (``file``), and the line in it, from 1; the message then
    names them, and ``brief`` does not.
    """

    def __init__(
        self,
        message: str,
        at: tuple[str, ...] = (),
        word: str | None = None,
        file: str | None = None,
        line: int | None = None,
        brief: str | None = None,
    ) -> None:
        super().__init__(message)
        self.brief = brief or message
        self.at = at
        self.word = word
        self.file = file
        self.line = line


def nearest_of(word: str, known: Iterable[str], *, others: bool = True) -> str:
    """Return the end of a message: the known word nearest to a wrong one, or (``others``) all known ones."""
    known = list(known)
    small = {name.lower(): name for name in known}
    import difflib

    close = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    close = close or [small[name] for name in difflib.get_close_matches(word.lower(), small, n=1, cutoff=0.5)]
    if close:
        return f'; did you mean "{close[0]}"?'
    names = sorted(known)[:24] + ["..."] * (len(known) > 24)
    return f"; the keys are {', '.join(names)}" if others and known else ""

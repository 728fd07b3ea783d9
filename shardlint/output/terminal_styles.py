"""Terminal colours by their role; plain text when the output is not a terminal."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import TextIO

from shardlint.support.lazy_dataclass import dataclass

Style = Callable[[str], str]


def _ansi(code: str) -> Style:
    return lambda text: f"\x1b[{code}m{text}\x1b[0m" if text else text


def _hyperlink(text: str, address: str) -> str:
    return f"\x1b]8;;{address}\x1b\\{text}\x1b]8;;\x1b\\"


def _unlinked(text: str, address: str) -> str:
    return text


@dataclass(frozen=True, slots=True)
class Styles:
    """One function from text to styled text for each role. The default styles change nothing.

    ``link`` makes a text link to an address.
    """

    error: Style = str
    warning: Style = str
    note: Style = str
    good: Style = str
    help: Style = str
    path: Style = str
    strong: Style = str
    dim: Style = str
    link: Callable[[str, str], str] = _unlinked

    @property
    def links(self) -> bool:
        """Return whether the terminal shows links."""
        return self.link is not _unlinked


COLOURED = Styles(
    error=_ansi("1;31"),
    warning=_ansi("1;33"),
    note=_ansi("1;34"),
    good=_ansi("32"),
    help=_ansi("1;36"),
    path=_ansi("1"),
    strong=_ansi("1"),
    dim=_ansi("2"),
)


def wants_colour(stream: TextIO) -> bool:
    """Return whether to colour: on a terminal that supports it, or if FORCE_COLOR is set; never with
    NO_COLOR.

    See https://no-color.org and https://force-color.org.
    """
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return _is_terminal(stream)


def styles_for(stream: TextIO) -> Styles:
    """Return the styles for a stream. Only a terminal shows links."""
    if not wants_colour(stream):
        return Styles()
    return replace(COLOURED, link=_hyperlink) if _is_terminal(stream) else COLOURED


def _is_terminal(stream: TextIO) -> bool:
    return stream.isatty() and os.environ.get("TERM") != "dumb"

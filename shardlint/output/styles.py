"""Colours of a terminal, by what they stand for; plain when the output is none."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO

Style = Callable[[str], str]


def _ansi(code: str) -> Style:
    return lambda text: f"\x1b[{code}m{text}\x1b[0m" if text else text


@dataclass(frozen=True, slots=True)
class Styles:
    """One function from text to styled text for each role. The default styles change nothing."""

    error: Style = str
    warning: Style = str
    note: Style = str
    good: Style = str
    help: Style = str
    path: Style = str
    strong: Style = str
    dim: Style = str


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
    """Whether to colour: on a terminal, unless NO_COLOR is set (https://no-color.org)."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def styles_for(stream: TextIO) -> Styles:
    """Return the styles that suit a stream."""
    return COLOURED if wants_colour(stream) else Styles()

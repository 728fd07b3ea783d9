"""What a run looks at of the objects that were there before it: noted by the number of the object."""

from __future__ import annotations

#: A number, and what was looked at: an attribute by its name, or one of those below.
Look = tuple[int, str]
#: All that an object holds; whether unknown code may have set attributes of it; where it was made.
ALL, OPAQUE, ORIGIN = "*", "(opaque)", "(origin)"


class Looks:
    """What the innermost run whose result may be kept has looked at, in order; None outside of such."""

    def __init__(self) -> None:
        self.noted: dict[Look, None] | None = None


#: Of the one analysis that runs.
LOOKS = Looks()


def look(number: int, name: str) -> None:
    """Note that something of an object is looked at."""
    if LOOKS.noted is not None:
        LOOKS.noted[number, name] = None


def note_looks(looks: dict[Look, None]) -> None:
    """Note what was looked at, in order."""
    if LOOKS.noted is not None:
        LOOKS.noted.update(looks)

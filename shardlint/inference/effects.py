"""What running code does to things that were there before it: noted here, so that a result can be kept.

Every object that programs change is numbered when it is made (`born`), as scopes are. Who changes an
object calls `changed` with its number. A run that began at number ``n`` had no effect if nothing older
was changed meanwhile, and then what it gave can be given again (`memory`).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

_numbers = itertools.count(1)
#: Younger than everything.
NOTHING = 1 << 62


def born() -> int:
    """The next number: what is made later has a greater one."""
    return next(_numbers)


#: A container that changed in ways that are not followed, and the items it held before.
Lost = tuple[Any, Any]


@dataclass(slots=True)
class Effects:
    """The effects of the innermost run whose result may be kept.

    ``oldest`` is the number of the oldest thing that was changed. ``mute_matters`` tells that something
    depends on whether uses are recorded. ``epoch`` counts the changes of classes and wrappers: that a run
    reads them is not noted. ``entered`` is the number at which the evaluation of an entry began, and
    ``leaks`` tells that it changed something older, which other entries may read; ``leaks_inside`` that an
    earlier entry had made what it changed, not before ``first``: then only entries may read it that stand in
    the same function. ``lost`` are the older containers of which it only lost sight, and what they held.
    ``touched`` are the numbers of all that was changed since somebody asked.
    """

    oldest: int = NOTHING
    epoch: int = 0
    mute_matters: bool = False
    entered: int = 0
    first: int = 0
    leaks: bool = False
    leaks_inside: bool = False
    lost: list[Lost] = field(default_factory=list)
    touched: set[int] = field(default_factory=set)


#: Of the one analysis that runs.
EFFECTS = Effects()


def changed_for_all(number: int) -> None:
    """Note a change of a class or a wrapper: whoever read it earlier may read something else now."""
    EFFECTS.epoch += 1
    changed(number)


def changed(number: int) -> None:
    """Note a change of the thing with this number; 0 is what is older than everything, and no object."""
    EFFECTS.touched.add(number)
    changed_here(number)


def lose(container: Any) -> None:
    """Make the items of a container unknown, for good: what changes it later changes nothing."""
    EFFECTS.touched.add(container.born)
    EFFECTS.oldest = min(EFFECTS.oldest, container.born)
    if 0 < container.born < EFFECTS.entered:
        EFFECTS.lost.append((container, container.items))
    container.items = None


def changed_here(number: int) -> None:
    """Note that this program tells more of a thing, which itself is as it was."""
    depends(number)
    if 0 < number < EFFECTS.first:
        EFFECTS.leaks = True
    elif 0 < number < EFFECTS.entered:
        EFFECTS.leaks_inside = True


def depends(number: int) -> None:
    """Note that what runs depends on this very thing, and would be another with one that is equal."""
    if number < EFFECTS.oldest:
        EFFECTS.oldest = number

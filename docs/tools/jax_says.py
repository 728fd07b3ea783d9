"""What releases of JAX say of the rules' examples: a table that is measured, never written by hand.

It is the section "pages" of `tests/data/releases`, which ``python -m tests.versions.measure RELEASE`` writes.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TypedDict

RELEASES = Path(__file__).parents[2] / "tests" / "data" / "releases"


class Said(TypedDict):
    """The class of the exception that an example raises, and the first line of its message."""

    raises: str
    message: str


#: By release and code; None where JAX accepts the example.
Table = dict[str, dict[str, Said | None]]


@cache
def table() -> Table:
    """Return what was measured of the broken examples, the oldest release first."""
    releases = sorted((path.stem for path in RELEASES.glob("*.json")), key=_order)
    return {release: _examples(release) for release in releases}


def _examples(release: str) -> dict[str, Said | None]:
    text = (RELEASES / f"{release}.json").read_text(encoding="utf-8")
    outcomes = json.loads(text).get("pages", {})
    return {
        name.removesuffix(" bad"): _said(outcome)
        for name, outcome in outcomes.items()
        if name.endswith(" bad")
    }


def _said(outcome: str | None) -> Said | None:
    if outcome is None:
        return None
    raises, _, message = outcome.partition(": ")
    return {"raises": raises, "message": message}


def _order(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))

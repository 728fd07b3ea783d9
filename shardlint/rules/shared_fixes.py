"""Fixes that several rules have. What they are made with is loaded with the first finding that needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardlint.model.findings import Fix

if TYPE_CHECKING:
    from shardlint.fixes.rewrites.fix_request import Desk


def nearest_axis(desk: Desk) -> Fix:
    """Write the axis that the wrong one is nearest to."""
    from shardlint.fixes.rewrites.axes import axis

    return axis(desk)


def without_surplus(desk: Desk) -> Fix:
    """Drop the entries that are beyond the rank and None."""
    from shardlint.fixes.rewrites.specs import surplus

    return surplus(desk)


def with_new_name(desk: Desk) -> Fix:
    """Write what a name or an argument is called in all releases that are meant."""
    from shardlint.fixes.rewrites.api_renames import renamed

    return renamed(desk)

"""Fixes that several rules have. What they are made with is loaded with the first finding that needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardlint.model.findings import Fix

if TYPE_CHECKING:
    from shardlint.fixes.rewrites.fix_request import FixRequest


def nearest_axis(request: FixRequest) -> Fix:
    """Return the fix that writes the known axis nearest to the wrong one."""
    from shardlint.fixes.rewrites.axes import axis

    return axis(request)


def without_surplus(request: FixRequest) -> Fix:
    """Return the fix that drops entries beyond the rank that are None."""
    from shardlint.fixes.rewrites.specs import surplus

    return surplus(request)


def with_new_name(request: FixRequest) -> Fix:
    """Return the fix that writes a name or an argument as all targeted releases know it."""
    from shardlint.fixes.rewrites.api_renames import renamed

    return renamed(request)

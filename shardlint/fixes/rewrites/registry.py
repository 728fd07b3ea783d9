"""Fixes of findings whose repair can be read off the text: a misspelt axis, a tuple that should be a spec.

Each is a function from a finding and the tree that it stands in to a fix. It gives none where the text is of
another form than it knows: a name instead of a literal, entries that are computed.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from shardlint.laws.versions import NEWEST_ONLY, Target
from shardlint.model.findings import Finding, Fix
from shardlint.source.sources import Source

if TYPE_CHECKING:
    from shardlint.fixes.rewrites.fix_request import Rewrite

#: Axes that are offered for one that is not known.
_MOST_AXES = 8
#: The codes of the rules that have a fix, each with the module and the function that makes it. Those are
#: loaded with the first finding that needs one.
REWRITES = {
    "SHL101": ("specs", "flat"),
    "SHL103": ("axes", "axis"),
    "SHL104": ("specs", "spec"),
    "SHL105": ("specs", "nothing_for_false"),
    "SHL201": ("specs", "surplus"),
    "SHL203": ("specs", "surplus"),
    "SHL204": ("specs", "nothing_for_unconstrained"),
    "SHL302": ("specs", "surplus"),
    "SHL303": ("axes", "axis"),
    "SHL307": ("calls", "keywords"),
    "SHL312": ("specs", "whole"),
    "SHL406": ("calls", "axis_types"),
    "SHL501": ("specs", "surplus"),
    "SHL502": ("calls", "names"),
    "SHL505": ("axes", "axis"),
    "SHL507": ("calls", "rules"),
    "SHL801": ("api_renames", "renamed"),
    "SHL802": ("api_renames", "renamed"),
    "SHL804": ("api_renames", "renamed"),
}


def with_fix(finding: Finding, source: Source | None, target: Target | None = None) -> Finding:
    """Return a finding with the fix of its rule, where there is one and the text allows it.

    What is written is what all releases of ``target`` have. The tree of one source is kept: findings of a
    file should come one after the other.
    """
    if finding.code not in REWRITES or finding.fix is not None or source is None:
        return finding
    return replace(finding, fix=_rewritten(finding, source, target or NEWEST_ONLY))


def alternatives(finding: Finding, source: Source) -> list[Fix]:
    """The other axes that could stand for one that is not known: which is meant, only the author knows."""
    if finding.use is None or REWRITES.get(finding.code) != ("axes", "axis"):
        return []
    from shardlint.fixes.rewrites.axes import axis, wrong_axis

    _, known = wrong_axis(finding.use)
    first = finding.fix.edits if finding.fix else ()
    fixes = (_rewritten(finding, source, rewrite=partial(axis, instead=one)) for one in known[:_MOST_AXES])
    return [fix for fix in fixes if fix is not None and fix.edits != first]


def _rewritten(
    finding: Finding, source: Source, target: Target = NEWEST_ONLY, rewrite: Rewrite | None = None
) -> Fix | None:
    if finding.use is None:
        return None
    from shardlint.fixes.rewrites.fix_request import Desk
    from shardlint.fixes.syntax.program_tree import CannotFix, program_of

    program = program_of(source)
    module, function = REWRITES[finding.code]
    rewrite = rewrite or getattr(import_module(f"shardlint.fixes.rewrites.{module}"), function)
    try:
        return rewrite(Desk(program, finding, finding.use, target))
    except (CannotFix, RecursionError):
        return None

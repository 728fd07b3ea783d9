"""The fixes of findings, by their rules: of those whose repair can be read off the text.

A rule's ``fix`` is a function from a finding and the tree that it stands in to a fix. It gives none where the
text is of another form than it knows: a name instead of a literal, entries that are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

from shardlint.laws.core.values import nearest_sizes
from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.laws.versions import ASSUMED_ONLY, Target
from shardlint.model.findings import Finding, Fix
from shardlint.model.uses import ApiReference
from shardlint.rules import all_rules
from shardlint.rules.shared_fixes import nearest_axis
from shardlint.source.sources import Source
from shardlint.support.cancellation import look

if TYPE_CHECKING:
    from shardlint.fixes.rewrites.fix_request import Rewrite

#: Axes that are offered for one that is not known.
_MOST_AXES = 8


@cache
def _rewrites() -> dict[str, Rewrite]:
    """Return the fixes of rules, by code."""
    return {rule.code: rule.fix for rule in all_rules() if rule.fix is not None}


def with_fix(finding: Finding, source: Source | None, target: Target = ASSUMED_ONLY) -> Finding:
    """Return a finding with the fix of its rule, where there is one and the text allows it.

    What is written is what all releases of ``target`` have. The tree of one source is kept: findings of a
    file should come one after the other.
    """
    if finding.code not in _rewrites() or finding.fix is not None or source is None:
        return finding
    return replace(finding, fix=_rewritten(finding, source, target))


def with_fixes(
    findings: Iterable[Finding],
    sources: Mapping[str, Source],
    target_of: Callable[[str], Target],
    later: bool = False,
) -> list[Finding]:
    """Return findings with the fixes of their rules; ``target_of`` returns the releases that a file targets.

    With ``later``, an editor asks for fixes when it offers them: only those are computed by which several
    findings may turn out to have one cause. A name that JAX has renamed has a fix of its own.
    """
    found = sorted(findings, key=lambda finding: finding.span.path)
    rewritten = [f for f in found if f.code in _rewrites()]
    if later:
        rewritten = [f for f in rewritten if not isinstance(f.use, ApiReference)]
        rewritten = rewritten if len(rewritten) > 1 else []
    chosen = set(map(id, rewritten))
    result = []
    for finding in found:
        look()
        path = finding.span.path
        fixable = id(finding) in chosen
        result.append(with_fix(finding, sources.get(path), target_of(path)) if fixable else finding)
    return result


def alternatives(finding: Finding, source: Source) -> list[Fix]:
    """Return the fixes among which only the author can choose: the other known axes for an unknown one, the
    sizes that the devices would divide."""
    if finding.code == "SHL202":
        return list(_sizes(finding, source))
    if finding.use is None or _rewrites().get(finding.code) is not nearest_axis:
        return []
    from shardlint.fixes.rewrites.axes import axis, wrong_axis

    _, known = wrong_axis(finding.use)
    first = finding.fix.edits if finding.fix else ()
    fixes = (_rewritten(finding, source, rewrite=partial(axis, instead=one)) for one in known[:_MOST_AXES])
    return [fix for fix in fixes if fix is not None and fix.edits != first]


def _sizes(finding: Finding, source: Source) -> Iterator[Fix]:
    """Yield the fixes that write the sizes which a finding names."""
    from shardlint.fixes.rewrites.sizes import dimension

    verdict = None if finding.use is None else finding.use.verdict
    if (
        not isinstance(verdict, Rejected)
        or verdict.cause is not Cause.INDIVISIBLE
        or verdict.dimension is None
    ):
        return
    size, ways = verdict.size, verdict.ways
    if isinstance(size, int) and isinstance(ways, int):
        for other in nearest_sizes(size, ways):
            rewrite = partial(dimension, number=verdict.dimension, size=size, instead=other)
            if (fix := _rewritten(finding, source, rewrite=rewrite)) is not None:
                yield fix


def _rewritten(
    finding: Finding, source: Source, target: Target = ASSUMED_ONLY, rewrite: Rewrite | None = None
) -> Fix | None:
    if finding.use is None:
        return None
    from shardlint.fixes.rewrites.fix_request import FixRequest
    from shardlint.fixes.syntax.program_tree import CannotFix, program_of

    program = program_of(source)
    rewrite = rewrite or _rewrites()[finding.code]
    try:
        return rewrite(FixRequest(program, finding, finding.use, target))
    except (CannotFix, RecursionError):
        return None

"""From uses to findings: run the rules, then settle severity, alternatives and duplicates."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable, Iterator, Sequence, Set

from shardlint.laws.core.exceptions import is_caught
from shardlint.laws.core.verdicts import Rejected
from shardlint.model.findings import Finding, Related, Severity, with_own_numbers
from shardlint.model.spans import Span
from shardlint.model.uses import ApiReference, FileProblem, ParameterUse, Placement, Use
from shardlint.rules.base import AnyRule, Problem, ProjectRule, RuleSettings
from shardlint.support.cancellation import look

#: The most calls that one finding tells besides those of the first error at its place.
_MOST_WAYS = 8
_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


def judge_with(
    rules: Sequence[AnyRule], uses: Sequence[Use | FileProblem], settings: RuleSettings
) -> list[Finding]:
    """Return the findings of rules in the uses, in reading order.

    Of several findings with one place and code, the most severe is reported. A rejection that an enclosing
    ``try`` catches is no mistake. Where a use has several possible values, it is an error only if every one
    of them is rejected. File problems show whether a file was analysed as a whole: if not, rules that rest on
    absence do not run.
    """
    judged = [use for use in uses if isinstance(use, Use)]
    uncaught = [use for use in judged if not _is_caught(use)]
    kinds = set(map(type, uncaught))
    partial = any(isinstance(use, FileProblem) and use.leaves_open for use in uses)
    found = [
        _finding(rule, use, problem)
        for rule in rules
        if not (partial and rule.rests_on_absence)
        for use, problem in _problems(rule, _ours(rule, uncaught, kinds), settings)
    ]
    merged = _deduplicated(_settle_alternatives(found, _sites(judged)))
    return _explained(merged, {rule.code: rule.explains for rule in rules})


def _ours(rule: AnyRule, uses: Sequence[Use], kinds: Set[type[Use]]) -> list[Use]:
    """Return the uses that a rule checks; ``kinds`` are the types of all uses, since a file has none for most
    rules."""
    ours = {kind for kind in kinds if issubclass(kind, rule.kinds)}
    return [use for use in uses if type(use) in ours] if ours else []


def _problems(rule: AnyRule, ours: Sequence[Use], settings: RuleSettings) -> Iterator[tuple[Use, Problem]]:
    if isinstance(rule, ProjectRule):
        for found in rule.check(ours, settings):
            look()
            yield found
        return
    for use in ours:
        look()
        for problem in rule.check(use, settings):
            yield use, problem


def _shows(outer: Span, inner: Span) -> bool:
    """Return whether ``outer`` begins on the line of ``inner`` and encloses it, so that its excerpt repeats
    the line."""
    same_line = (outer.path, outer.cell, outer.line) == (inner.path, inner.cell, inner.line)
    ends_later = (outer.end_line, outer.end_column) >= (inner.end_line, inner.end_column)
    return same_line and outer.column <= inner.column and ends_later


def _is_caught(use: Use) -> bool:
    return isinstance(use.verdict, Rejected) and is_caught(use.verdict.exception, use.environment.caught)


def _finding(rule: AnyRule, use: Use, problem: Problem) -> Finding:
    plain = Severity.ERROR if isinstance(use.verdict, Rejected) else Severity.WARNING
    severity, message = problem.severity or plain, problem.message
    if use.doubted and severity is Severity.ERROR:
        severity, message = Severity.WARNING, f"{message} (if this branch is taken)"
    span = problem.place.resolve()
    facts = dict.fromkeys((fact.place.resolve(), fact.message) for fact in (*problem.related, *use.facts))
    finding = Finding(
        code=rule.code,
        name=rule.name,
        severity=severity,
        message=message + (f" ({entry})" if (entry := use.environment.entry) else ""),
        span=span,
        related=tuple(Related(at, message) for at, message in facts if not _shows(at, span)),
        help=problem.help,
        expected=use.environment.expected,
        use=use,
    )
    return with_own_numbers(finding)


def _sites(uses: Iterable[Use]) -> dict[int, Hashable]:
    """Return a key for each use (by id) that is one of several possible values, equal for the values of one
    site.

    A place that is reached again, with its values from the first one on, is another site.
    """
    sites: dict[int, Hashable] = {}
    latest: dict[Hashable, tuple[int, int]] = {}
    for use in uses:
        if use.variants > 1:
            key = (type(use), use.place, use.environment.entry, use.variants, _subject(use))
            meeting, variant = latest.get(key, (0, 0))
            meeting += use.variant < variant
            latest[key] = (meeting, use.variant)
            sites[id(use)] = (key, meeting)
    return sites


def _subject(use: Use) -> Hashable:
    """Return a key that distinguishes the uses at one place."""
    if isinstance(use, Placement):
        return (use.api, use.subject)
    if isinstance(use, (ParameterUse, ApiReference)):
        return use.name
    return getattr(use, "function", None)


def _settle_alternatives(findings: Sequence[Finding], sites: dict[int, Hashable]) -> Iterator[Finding]:
    groups: dict[Hashable, list[Finding]] = {}
    for finding in findings:
        if (site := sites.get(id(finding.use))) is None:
            yield finding
        else:
            groups.setdefault(site, []).append(finding)
    for together in groups.values():
        yield from _settle_site(together)


def _settle_site(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the findings of one site: unchanged if all its values fail, else as warnings; none if its values
    are only supposed, or are rejected in a branch that may not be taken: a test that is not known may be what
    tells them apart."""
    uses = [finding.use for finding in findings if finding.use is not None]
    some = len(_variants(findings)) < uses[0].variants
    values, rejected = uses[0].variants, _variants(findings, Severity.ERROR)
    if len(rejected) == values:
        for finding in findings:
            if finding.use is not None and finding.use.variant == min(rejected):
                yield _first_of(finding, findings, values)
        return
    for finding in findings:
        duplicates = [other for other in findings if (other.code, other.span) == (finding.code, finding.span)]
        failing = len(_variants(duplicates))
        if failing == values and finding.severity is not Severity.ERROR:
            yield finding
        elif finding.use is not None and not finding.use.supposed and not (some and _is_unsure(finding.use)):
            yield dataclasses.replace(
                finding,
                severity=max(finding.severity, Severity.WARNING, key=_RANK.__getitem__),
                message=f"{finding.message} (for {failing} of {values} possible values)",
            )


def _is_unsure(use: Use) -> bool:
    """Return whether JAX rejects a use in a branch that may not be taken."""
    return use.doubted and isinstance(use.verdict, Rejected)


def _first_of(finding: Finding, findings: Sequence[Finding], values: int) -> Finding:
    """Return the finding of the first of several values, with a note if the others' findings differ."""
    messages = {
        other.message for other in findings if (other.code, other.span) == (finding.code, finding.span)
    }
    if len(messages) == 1:
        return finding
    return dataclasses.replace(
        finding,
        message=f"{finding.message} (the first of {values} possible values, all of which are rejected)",
    )


def _variants(findings: Iterable[Finding], severity: Severity | None = None) -> set[int]:
    return {
        finding.use.variant
        for finding in findings
        if finding.use is not None and severity in (None, finding.severity)
    }


def _weight(finding: Finding) -> tuple[bool, int]:
    """Return a sort key: unexpected findings first, then the most severe."""
    return (finding.expected, _RANK[finding.severity])


def _deduplicated(findings: Iterable[Finding]) -> list[Finding]:
    """Return one finding a code and span, the first by `_weight`, in reading order.

    Of other errors there it has the calls that lead to them.
    """
    first: dict[tuple[str, Span], Finding] = {}
    ways: dict[tuple[str, Span], dict[Related, None]] = {}
    for finding in sorted(findings, key=_weight):
        key = (finding.code, finding.span)
        one = first.setdefault(key, finding)
        if finding is not one and one.severity is Severity.ERROR and _weight(finding) == _weight(one):
            ways.setdefault(key, {}).update(dict.fromkeys(_ways(finding)))
    for key, found in ways.items():
        one = first[key]
        more = [way for way in found if way not in one.related and not _shows(way.span, one.span)]
        first[key] = dataclasses.replace(one, related=(*one.related, *more[:_MOST_WAYS]))
    return sorted(first.values(), key=lambda f: (f.span.order(), f.code))


def _ways(finding: Finding) -> Iterator[Related]:
    """Yield the calls that lead to an error, and where what is wrong is used."""
    for fact in finding.use.facts if finding.use is not None else ():
        if fact.kind in ("call", "use"):
            yield Related(fact.place.resolve(), fact.message)


def _explained(findings: Iterable[Finding], explains: dict[str, tuple[str, ...]]) -> list[Finding]:
    """Merge findings into the finding at the same span that explains them."""
    by_span: dict[Span, list[Finding]] = {}
    for finding in findings:
        by_span.setdefault(finding.span, []).append(finding)
    return [
        _merged(finding, [other for other in together if other.code in explains[finding.code]])
        for together in by_span.values()
        for finding in together
        if not any(finding.code in explains[other.code] for other in together)
    ]


def _merged(finding: Finding, caused: Sequence[Finding]) -> Finding:
    """Return a finding with the severity and the use of the gravest among itself and those that it caused."""
    gravest = min((finding, *caused), key=_weight)
    related = tuple(dict.fromkeys((*finding.related, *gravest.related)))
    return dataclasses.replace(
        finding, severity=gravest.severity, expected=gravest.expected, use=gravest.use, related=related
    )

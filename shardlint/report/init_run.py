"""The arrays of a model's init, and the effect of a table of (regex, spec) on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from shardlint.confirm.init_request import InitArray, Initialized
from shardlint.laws.core.values import Spec
from shardlint.laws.core.verdicts import Rejected
from shardlint.laws.flax.path_rules import PathRule, first_match, needs_rule, separator_of
from shardlint.model.findings import Severity
from shardlint.report.parameters import labels_of, names_text, report_of
from shardlint.report.per_device import LogicalRules, holding, spec_on, whole_bytes
from shardlint.report.values import (
    Holding,
    InitReport,
    NamedMesh,
    Parameter,
    RuleRow,
    TableFinding,
)
from shardlint.rules.messages.common import count_text, shape_text
from shardlint.support.lazy_dataclass import dataclass

#: The arrays on one mesh (None: no mesh was requested), or the reason why there are none.
Run = tuple[NamedMesh | None, Initialized | str]


@dataclass(frozen=True, slots=True)
class _Match:
    """The spec that rules assign to an array (a str is not a spec; None: no rule matches), and the rule's
    index.
    """

    spec: Spec | str | None
    rule: int | None = None


def init_report(
    init: str, runs: Sequence[Run], limit: int, logical: LogicalRules | None = None
) -> InitReport:
    """Combine the arrays of init on each mesh, the rule that matches each array, and the findings.

    ``limit`` is in bytes, ``logical`` are the configured rules for names that no mesh axis has.
    """
    meshes = tuple(named for named, _ in runs if named is not None)
    failures = [(named, failure) for named, failure in runs if isinstance(failure, str)]
    rows: dict[tuple[str, tuple[int, ...], str], Parameter] = {}
    findings: list[TableFinding] = []
    table: tuple[RuleRow, ...] | None = None
    notes: dict[str, None] = {}
    version = None
    for named, failure in runs:
        if isinstance(failure, str):
            continue
        version = failure.jax
        separator, matches = _matches(failure)
        table = _rows(failure, separator, matches)
        findings += _about_rules(table or (), failure, matches)
        if separator != "/":
            notes[f'the keys of paths are joined with "{separator}", as the rules expect'] = None
        for array, given in zip(failure.arrays, matches, strict=True):
            path = separator.join(array.path)
            key = (path, array.shape, array.dtype)
            row = rows.get(key) or _parameter(path, array, given, len(meshes))
            size, found = _held(named, array, given, logical, limit) if named else _checked(array, given)
            if found is not None:
                findings.append(replace(found, subject=path))
            before = zip(meshes, row.holdings, strict=True)
            holdings = tuple(size if one is named else old for one, old in before)
            rows[key] = replace(row, holdings=holdings)
        if failure.others:
            what = count_text(len(failure.others), "leaf").replace("leafs", "leaves")
            notes[f"{what} of what {init} makes hold no array: {', '.join(failure.others[:3])}"] = None
    messages = dict.fromkeys(f"{f'on {named.name}: ' if named else ''}{text}" for named, text in failures)
    report = report_of(meshes, rows.values(), limit, tuple(notes))
    return InitReport(init, report, table, _merged(findings), version, tuple(messages))


def _matches(made: Initialized) -> tuple[str, list[_Match]]:
    """Return the separator of keys, and the rules' spec for each array; its own names without rules."""
    if made.chosen is not None:
        return "/", [_Match(spec) for spec in made.chosen]
    if made.rules is None:
        return "/", [_Match(array.names if array.names is not None else Spec()) for array in made.arrays]
    separator = separator_of(made.rules, [array.path for array in made.arrays])
    return separator, [_by_rule(made.rules, array, separator) for array in made.arrays]


def _by_rule(rules: Sequence[PathRule], array: InitArray, separator: str) -> _Match:
    if not needs_rule(array.shape):
        return _Match(Spec())
    number = first_match(rules, array.path, separator)
    return _Match(None if number is None else rules[number].spec, number)


def _rows(made: Initialized, separator: str, matches: Sequence[_Match]) -> tuple[RuleRow, ...] | None:
    if made.rules is None:
        return None
    return tuple(
        RuleRow(
            rule,
            sum(rule.matches(array.path, separator) for array in made.arrays),
            sum(given.rule == number for given in matches),
        )
        for number, rule in enumerate(made.rules)
    )


def _about_rules(
    table: Sequence[RuleRow], made: Initialized, matches: Sequence[_Match]
) -> Iterator[TableFinding]:
    """Yield findings about the rules, and about arrays that none of them matches."""
    count = count_text(len(made.arrays), "parameter")
    for number, row in enumerate(table, 1):
        rule, name = row.rule, f"rule {number}, {row.rule}"
        if (broken := rule.broken) is not None:
            text = f"{name}, is no regular expression: {broken}"
            yield TableFinding("broken-pattern", Severity.ERROR, str(rule), text)
        elif not row.matches:
            text = f"{name}, matches none of the {count}"
            yield TableFinding("unmatched-rule", Severity.WARNING, str(rule), text)
        elif not row.takes and not rule.matches(()):
            text = f"{name}, takes nothing: earlier rules take all that it matches"
            yield TableFinding("shadowed-rule", Severity.INFO, str(rule), text)
        if isinstance(rule.spec, str):
            text = f"{name}, gives {rule.spec}, which is no PartitionSpec"
            yield TableFinding("not-a-spec", Severity.ERROR, str(rule), text)
    for array, given in zip(made.arrays, matches, strict=True):
        if given.spec is None:
            path = "/".join(array.path)
            text = f"no rule takes `{path}`, {shape_text(array.shape)} {array.dtype}"
            yield TableFinding("no-rule", Severity.WARNING, path, text)


def _parameter(path: str, array: InitArray, given: _Match, meshes: int) -> Parameter:
    return Parameter(
        path,
        array.shape,
        array.dtype,
        whole_bytes(array.shape, array.dtype),
        (None,) * meshes,
        names=names_text(array.names) if given.rule is None else None,
        labels=labels_of(array.names),
        rule=given.rule,
    )


def _held(
    named: NamedMesh, array: InitArray, given: _Match, logical: LogicalRules | None, limit: int
) -> tuple[Holding, TableFinding | None]:
    """Return a device's share of an array on a mesh, and JAX's rejection of its spec."""
    mesh, spec = named.mesh, given.spec
    if spec is None:
        return Holding(problem="no rule takes it"), None
    if isinstance(spec, str) and given.rule is not None:
        return Holding(problem=f"{spec} is no PartitionSpec"), None
    if given.rule is None and array.box is not None:
        library = "linen" if "Partitioned" in array.box else "nnx"
        named_spec, problem = spec_on(mesh, spec, None, library, logical)
        if named_spec is None:
            return Holding(problem=problem), None
        spec = named_spec
    if isinstance(spec, str):
        return Holding(problem=f"{spec} is no PartitionSpec"), None
    size, refused = holding(mesh, spec, array.shape, array.dtype, limit)
    return size, None if refused is None else _refused(array, size, refused, named.name)


def _checked(array: InitArray, given: _Match) -> tuple[Holding | None, TableFinding | None]:
    """Return the check of a spec that needs no mesh: whether it is longer than the rank."""
    if not isinstance(given.spec, Spec) or len(given.spec) <= len(array.shape):
        return None, None
    entries = count_text(len(given.spec), "entry")
    text = f"{given.spec} has {entries}, and the array has rank {len(array.shape)}"
    return None, TableFinding("too-long", Severity.ERROR, "", f"`{'/'.join(array.path)}`: {text}")


def _refused(array: InitArray, held: Holding, refused: Rejected, mesh: str) -> TableFinding:
    text = f"`{'/'.join(array.path)}`: {held.problem}"
    return TableFinding(str(refused.cause), Severity.ERROR, "", text, (mesh,))


def _merged(findings: Sequence[TableFinding]) -> tuple[TableFinding, ...]:
    """Return findings, with those that are equal on several meshes merged."""
    merged: dict[tuple[str, str, str], TableFinding] = {}
    for finding in findings:
        key = (finding.kind, finding.subject, finding.message)
        before = merged.get(key, finding)
        names = tuple(dict.fromkeys((*before.meshes, *finding.meshes)))
        merged[key] = replace(before, meshes=names)
    grave = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}
    return tuple(sorted(merged.values(), key=lambda one: grave[one.severity]))

"""Merges what is found under assumptions: on the meshes that a project deploys on, or with its defaults."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.findings import Finding, Severity
from shardlint.model.origins import BY_DEFAULT
from shardlint.model.spans import Span
from shardlint.model.uses import MeshUse, Use
from shardlint.source.workspace.test_files import is_named_as_test

if TYPE_CHECKING:
    from shardlint.config.deployments import Deployment


def is_test(path: str, root: str) -> bool:
    """Return whether a file is a test: by its name, as pytest and unittest find them, or a folder under
    ``root``.

    Tests create arrays small enough for the machine they run on: no deployment runs them.
    """
    folders = PurePath(os.path.relpath(path, root)).parts[:-1]
    return is_named_as_test(path) or not _TEST_FOLDERS.isdisjoint(folders)


_TEST_FOLDERS = frozenset({"test", "tests"})

_Key = tuple[str, Span]


def key_of(finding: Finding) -> _Key:
    """Return the key that identifies a finding in several analyses of one program."""
    return finding.code, finding.span


def without_errors(findings: Sequence[Finding], keys: set[_Key]) -> list[Finding]:
    """Return the findings without the errors among these keys."""
    return [f for f in findings if f.severity is not Severity.ERROR or key_of(f) not in keys]


def own_axes(uses: Iterable[Use]) -> frozenset[str]:
    """Return the names of the axes of meshes that programs create themselves."""
    names = (use.names for use in uses if isinstance(use, MeshUse))
    return frozenset(name for one in names if isinstance(one, tuple) for name in one)


def without_other_meshes(findings: Sequence[Finding], own: frozenset[str]) -> list[Finding]:
    """Return the findings without those about axes that only a mesh of the program itself has."""
    return [f for f in findings if not (own and _unknown_axis(f) in own)]


def _unknown_axis(finding: Finding) -> str | None:
    verdict = finding.use.verdict if finding.use is not None else None
    return verdict.axis if isinstance(verdict, Rejected) and verdict.cause is Cause.UNKNOWN_AXIS else None


def merged(base: Sequence[Finding], found: Sequence[tuple[Deployment, Sequence[Finding]]]) -> list[Finding]:
    """Add the findings that occur only on a deployment's mesh; each names its mesh."""
    known = set(map(key_of, base))
    extra: dict[_Key, list[tuple[Deployment, Finding]]] = {}
    for deployment, findings in found:
        for finding in findings:
            if key_of(finding) not in known:
                extra.setdefault(key_of(finding), []).append((deployment, finding))
    return [*base, *(_merged(occurrences) for occurrences in extra.values())]


def with_defaults(base: Sequence[Finding], found: Iterable[Finding]) -> list[Finding]:
    """Add what is found only if the program is run with its defaults: at most warnings, which name these.

    Along many axes there is one device by default, in programs that never run so: what is a mistake for that
    reason alone is left out.
    """
    known = set(map(key_of, base))
    new = (f for f in found if key_of(f) not in known)
    return [*base, *(_by_default(f) for f in new if f.severity is Severity.ERROR or _may_rest(f))]


#: Kinds of mistakes that JAX accepts, and those among them that axes of one device may cause.
_SILENT, _OF_SIZES = (
    ("SHL1", "SHL2", "SHL3", "SHL5", "SHL6", "SHL7"),
    frozenset({"SHL602", "SHL603", "SHL608"}),
)


def _may_rest(finding: Finding) -> bool:
    """Return whether a mistake that JAX accepts is one in a run with defaults."""
    return finding.code.startswith(_SILENT) and finding.code not in _OF_SIZES


def _by_default(finding: Finding) -> Finding:
    facts = () if finding.use is None else finding.use.facts
    messages = dict.fromkeys(fact.message for fact in facts if fact.kind == "default")
    names = [message.removeprefix(BY_DEFAULT) for message in messages]
    word = "the default" if len(names) == 1 else "the defaults"
    told = f"{word} {_listed(names)}" if names else f"{word} of what it is run with"
    severity = Severity.WARNING if finding.severity is Severity.ERROR else finding.severity
    return dataclasses.replace(finding, severity=severity, message=f"{finding.message} (with {told})")


def _merged(occurrences: Sequence[tuple[Deployment, Finding]]) -> Finding:
    rejecting = [one for one in occurrences if one[1].severity is Severity.ERROR]
    shown = rejecting or occurrences
    finding = shown[0][1]
    names = [str(deployment) for deployment, _ in shown if deployment.name is not None]
    if not names:
        return finding
    return dataclasses.replace(finding, message=f"{finding.message} (on {_listed(names)})")


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"

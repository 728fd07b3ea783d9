"""Findings: the diagnostics that rules report, and the types they carry."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.laws.versions import Release
    from shardlint.model.spans import Span
    from shardlint.model.uses import Use


class Severity(StrEnum):
    """The severity of a finding; ``error`` means that JAX raises."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Group(StrEnum):
    """The subject of a rule, by which users select rules together.

    ``correctness``: JAX raises. ``suspicious``: JAX accepts it, and it is almost surely a mistake.
    ``memory``: JAX accepts it, and devices hold or do more than they need to. ``versions``: it depends on the
    JAX release. ``files``: something is wrong with a file, or a comment asked for information.
    """

    CORRECTNESS = "correctness"
    SUSPICIOUS = "suspicious"
    MEMORY = "memory"
    VERSIONS = "versions"
    FILES = "files"


class Confirmation(StrEnum):
    """The outcome of running a finding's witness with the installed JAX."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    UNCONFIRMED = "unconfirmed"
    NOT_RUNNABLE = "not-runnable"


class Applicability(StrEnum):
    """The safety of a fix: ``safe`` preserves the program's behaviour, ``unsafe`` may change it."""

    SAFE = "safe"
    UNSAFE = "unsafe"


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that explains a finding: where the mesh, the shape or the spec comes from."""

    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text of ``span`` by ``text``."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that remove a finding."""

    message: str
    applicability: Applicability
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class RootCause:
    """The cause of several findings: an edit at ``span`` repairs all of them, ``repairs`` in number.

    ``verified`` names the JAX that accepts what they are about after the ``fix``, as far as it was asked.
    """

    span: Span
    message: str
    repairs: int
    fix: Fix | None = None
    verified: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One mistake at one place.

    ``use`` is the use of a sharding API that it was made from; `confirm` builds a witness of it.
    ``confirmed_by`` names what ran and what it raised: ``JAX 0.10.2: IndivisibleError``;
    ``confirmation_detail`` is the first line of what JAX says then, or why the finding is not confirmed.
    ``releases`` are the JAX releases under which it was found, where the project states which ones it
    supports.
    """

    code: str
    name: str
    severity: Severity
    message: str
    span: Span
    related: tuple[Related, ...] = ()
    help: str | None = None
    fix: Fix | None = None
    expected: bool = False
    confirmation: Confirmation = Confirmation.UNCONFIRMED
    confirmed_by: str | None = None
    confirmation_detail: str | None = field(default=None, compare=False)
    cause: RootCause | None = field(default=None, compare=False)
    releases: tuple[Release, ...] | None = field(default=None, compare=False)
    use: Use | None = field(default=None, compare=False, repr=False)


#: A generated name for an unnamed size in a message, outside of code quoted from a program.
_UNNAMED = re.compile(r"""(?<!["'`\w])\?\d+\b""")


def own_numbers() -> Callable[[str], str]:
    """Return a function that renumbers unnamed sizes in order of appearance: ?1, ?2.

    Inference numbers them as it goes, so its numbers depend on which files it read before.
    """
    numbers: dict[str, str] = {}

    def renumbered(text: str) -> str:
        return _UNNAMED.sub(lambda found: numbers.setdefault(found[0], f"?{len(numbers) + 1}"), text)

    return renumbered


def with_own_numbers(finding: Finding) -> Finding:
    """Return a finding whose unnamed sizes are numbered from 1."""
    renumbered = own_numbers()
    return replace(
        finding,
        message=renumbered(finding.message),
        related=tuple(replace(one, message=renumbered(one.message)) for one in finding.related),
        help=None if finding.help is None else renumbered(finding.help),
    )


def ordered(findings: Iterable[Finding]) -> list[Finding]:
    """Sort by place, and keep the most severe finding for each code and span."""
    rank = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}
    ordered = sorted(findings, key=lambda f: (f.span.order(), f.code, rank[f.severity]))
    return list({(f.code, f.span): f for f in reversed(ordered)}.values())[::-1]

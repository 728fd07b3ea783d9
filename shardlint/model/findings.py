"""What shardlint says: findings and what they carry."""

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
    """How sure and how bad: ``error`` means that JAX raises."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Group(StrEnum):
    """What rules are about, for those who select them together.

    ``correctness``: JAX raises. ``suspicious``: JAX accepts it, and it is almost surely not meant.
    ``memory``: JAX accepts it, and devices hold or do more than they need to. ``versions``: it depends on the
    release of JAX. ``files``: what is wrong with a file, and what is said of it on request.
    """

    CORRECTNESS = "correctness"
    SUSPICIOUS = "suspicious"
    MEMORY = "memory"
    VERSIONS = "versions"
    FILES = "files"


class Confirmation(StrEnum):
    """What the real JAX said of a finding's witness."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    UNCONFIRMED = "unconfirmed"
    NOT_RUNNABLE = "not-runnable"


class Applicability(StrEnum):
    """Whether a fix keeps what the program does (``safe``) or may change it (``unsafe``)."""

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
class Finding:
    """One mistake at one place.

    ``use`` is the use of a sharding API it was made from; the confirm room builds a witness of it.
    ``confirmed_by`` says what ran and what it raised: ``JAX 0.10.2: IndivisibleError``. ``releases`` are
    those of JAX under which it was found, where the project says which ones it means.
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
    releases: tuple[Release, ...] | None = field(default=None, compare=False)
    use: Use | None = field(default=None, compare=False, repr=False)


#: A size that has no name, as it stands in a message: not within what a program wrote.
_UNNAMED = re.compile(r"""(?<!["'`\w])\?\d+\b""")


def own_numbers() -> Callable[[str], str]:
    """What numbers the sizes without a name in texts as it comes upon them: ?1, ?2.

    Inference numbers them as it goes, so that what it read before would show.
    """
    numbers: dict[str, str] = {}

    def renumbered(text: str) -> str:
        return _UNNAMED.sub(lambda found: numbers.setdefault(found[0], f"?{len(numbers) + 1}"), text)

    return renumbered


def with_own_numbers(finding: Finding) -> Finding:
    """A finding with such numbers of its own."""
    renumbered = own_numbers()
    return replace(
        finding,
        message=renumbered(finding.message),
        related=tuple(replace(one, message=renumbered(one.message)) for one in finding.related),
        help=None if finding.help is None else renumbered(finding.help),
    )


def ordered(findings: Iterable[Finding]) -> list[Finding]:
    """Sort by place and keep one finding a code and span, the gravest."""
    rank = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}
    ordered = sorted(findings, key=lambda f: (f.span.order(), f.code, rank[f.severity]))
    return list({(f.code, f.span): f for f in reversed(ordered)}.values())[::-1]

"""The base of rules: a page of documentation and a pure function from uses to problems."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Union

from shardlint.laws.versions import ASSUMED_ONLY, Target
from shardlint.model.findings import Fix, Group, Severity
from shardlint.model.spans import Place
from shardlint.model.uses import Fact, Use
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.fixes.rewrites.fix_request import Desk

_BLOCK = r"^## {heading}\n+```python\n(.*?)^```$"


@dataclass(frozen=True, slots=True)
class RuleSettings:
    """The user's settings.

    ``replicated_bytes``: an array this large should not be replicated everywhere. ``target`` are the JAX
    releases that the project supports.
    """

    replicated_bytes: int = 64 * 2**20
    target: Target = ASSUMED_ONLY


@dataclass(frozen=True, slots=True)
class Problem:
    """A mistake as a rule sees it. Without a ``severity``, it is an error if JAX rejects the use."""

    message: str
    place: Place
    severity: Severity | None = None
    related: tuple[Fact, ...] = ()
    help: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Described:
    """What all rules have. ``explains`` names, by code, findings at the same place that this one causes:
    they are one mistake, and shown as this one. A rule in ``preview`` is off unless previews are asked for.
    One that ``rests_on_absence`` says that something is nowhere: it is not asked unless all was looked at.
    ``fix`` makes the fix of a finding, and raises CannotFix where the text does not allow one.
    """

    code: str
    name: str
    summary: str
    docs: str
    kinds: tuple[type[Use], ...]
    group: Group = Group.CORRECTNESS
    preview: bool = False
    explains: tuple[str, ...] = ()
    rests_on_absence: bool = False
    fix: Callable[[Desk], Fix] | None = None

    @property
    def bad(self) -> str:
        """The program of the documentation that has the mistake; runs on 8 devices."""
        return self._program("Example")

    @property
    def good(self) -> str:
        """The same program without the mistake."""
        return self._program("Use instead")

    @property
    def raises(self) -> str | None:
        """The exception class that JAX raises in `bad`, or None when JAX accepts it."""
        announced = re.search(r"# raises (\w+)", self.bad)
        return announced and announced[1]

    @property
    def target(self) -> str | None:
        """The ``target-jax`` under which `bad` has the mistake, None if any has it."""
        said = re.search(r'^The example is found with `target-jax = "(.+?)"`', self.docs, re.MULTILINE)
        return said and said[1]

    def _program(self, heading: str) -> str:
        block = re.search(_BLOCK.format(heading=heading), self.docs, re.DOTALL | re.MULTILINE)
        if block is None:
            raise ValueError(f"{self.code}: no program under '## {heading}'")
        return block[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule(_Described):
    """A rule that looks at one use of its ``kinds`` at a time."""

    check: Callable[[Any, RuleSettings], Iterable[Problem]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectRule(_Described):
    """A rule that looks at all uses of its ``kinds`` together and says which use each problem is of."""

    check: Callable[[Sequence[Any], RuleSettings], Iterable[tuple[Use, Problem]]]


AnyRule = Union[Rule, ProjectRule]

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
    from shardlint.fixes.rewrites.fix_request import FixRequest

_BLOCK = r"^## {heading}\n+```python\n(.*?)^```$"


@dataclass(frozen=True, slots=True)
class RuleSettings:
    """The user's settings.

    An array of at least ``replicated_bytes`` should not be replicated everywhere. ``target`` are the JAX
    releases that the project supports.
    """

    replicated_bytes: int = 64 * 2**20
    target: Target = ASSUMED_ONLY


@dataclass(frozen=True, slots=True)
class Problem:
    """A mistake as a rule reports it. Without a ``severity``, it is an error if JAX rejects the use."""

    message: str
    place: Place
    severity: Severity | None = None
    related: tuple[Fact, ...] = ()
    help: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Described:
    """The description that all rules have.

    ``explains`` names, by code, findings at the same place that this one causes: they are one mistake, and
    shown as this one. A rule in ``preview`` is off unless previews are enabled. A rule that
    ``rests_on_absence`` claims that something occurs nowhere: it runs only if all of the program was
    analysed. ``fix`` returns the fix of a finding, and raises CannotFix if the text does not allow one.
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
    fix: Callable[[FixRequest], Fix] | None = None

    @property
    def bad(self) -> str:
        """Return the program in the documentation that has the mistake; it runs on 8 devices."""
        return self._program("Example")

    @property
    def good(self) -> str:
        """Return the same program without the mistake."""
        return self._program("Use instead")

    @property
    def raises(self) -> str | None:
        """Return the exception class that JAX raises in `bad`, or None if JAX accepts it."""
        announced = re.search(r"# raises (\w+)", self.bad)
        return announced and announced[1]

    @property
    def target(self) -> str | None:
        """Return the ``target-jax`` under which `bad` has the mistake; None if it has it under any."""
        match = re.search(r'^The example is found with `target-jax = "(.+?)"`', self.docs, re.MULTILINE)
        return match and match[1]

    def _program(self, heading: str) -> str:
        block = re.search(_BLOCK.format(heading=heading), self.docs, re.DOTALL | re.MULTILINE)
        if block is None:
            raise ValueError(f"{self.code}: no program under '## {heading}'")
        return block[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule(_Described):
    """A rule that checks one use of its ``kinds`` at a time."""

    check: Callable[[Any, RuleSettings], Iterable[Problem]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectRule(_Described):
    """A rule that checks all uses of its ``kinds`` together, and states the use of each problem."""

    check: Callable[[Sequence[Any], RuleSettings], Iterable[tuple[Use, Problem]]]


AnyRule = Union[Rule, ProjectRule]

"""Laws as chains of checks, in JAX's order, until one of them decides.

A check returns a rejection, an acceptance that ends the chain, `Undecided` when something it needs is
unknown, or None when JAX continues with its next check.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Union

from shardlint.laws.core.dims import Shape
from shardlint.laws.core.values import Junk, Mesh, Spec, Unknown
from shardlint.laws.core.verdicts import Accepted, Rejected, Undecided, Verdict
from shardlint.support.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Case:
    """The arguments of an API call. ``mesh`` is None where there certainly is none.

    ``context`` is the mesh of `jax.set_mesh`, None where there is none. ``held`` is the sharding that the
    array already has, None where that is not known.
    """

    mesh: Mesh | Unknown | None
    spec: Spec | Junk | Unknown | None
    shape: Shape | Unknown
    context: Mesh | Unknown | None = Unknown("the context mesh")
    held: Spec | None = None


Outcome = Union[Rejected, Accepted, Undecided, None]
Check = Callable[[Case], Outcome]


def raising(exception: str, stage: str, *checks: Check) -> tuple[Check, ...]:
    """Return the checks with the exception class that one API raises, and its stage."""
    return tuple(_labelled(check, exception, stage) for check in checks)


def staged(stage: str, *checks: Check) -> tuple[Check, ...]:
    """Return the checks with their usual exceptions, at this stage."""
    return tuple(_labelled(check, None, stage) for check in checks)


def _labelled(check: Check, exception: str | None, stage: str) -> Check:
    def made(case: Case) -> Outcome:
        outcome = check(case)
        if not isinstance(outcome, Rejected):
            return outcome
        return replace(outcome, exception=exception or outcome.exception, stage=stage)

    return made


def judge(checks: tuple[Check, ...], case: Case) -> Verdict:
    """Run the checks in JAX's order; ``Accepted()`` when all pass.

    A rejection stands even when an earlier check is undecided, since the call raises either way; but the
    earlier check might raise first, so the class is then only known to be an Exception.
    """
    undecided: Undecided | None = None
    for check in checks:
        outcome = check(case)
        if isinstance(outcome, Undecided):
            undecided = undecided or outcome
        elif isinstance(outcome, Rejected):
            return outcome if undecided is None else replace(outcome, exception="Exception")
        elif outcome is not None:
            return undecided or outcome
    return undecided or Accepted()

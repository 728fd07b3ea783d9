"""Questions to JAX's history while one release is assumed; each notes where another answer begins.

An analysis holds for all releases that answer every question it asked alike: ``Evaluator.turns`` are
the releases from which on one of them is answered otherwise.
"""

from __future__ import annotations

from shardlint.inference.evaluator import Evaluator
from shardlint.laws import versions
from shardlint.laws.verdicts import Api, Rejected, Undecided, Verdict
from shardlint.uses import ArityUse, CallUse, ParameterUse, Placement, Use


def state_of(interpreter: Evaluator, name: str) -> versions.ApiState | None:
    """What the release has of a name or argument; None where the table says nothing of it."""
    interpreter.turns |= versions.turns(name)
    return versions.state_of(name, interpreter.settings.release)


def is_there(interpreter: Evaluator, name: str) -> bool | None:
    """Whether the release has a name or argument; None where the table says nothing of it."""
    state = state_of(interpreter, name)
    return None if state is None else state.there


def holds(interpreter: Evaluator, behaviour: str) -> bool:
    """Whether the release behaves so."""
    interpreter.turns |= versions.turns(behaviour)
    return versions.holds(behaviour, interpreter.settings.release)


def verdict_at(interpreter: Evaluator, use: Use) -> Verdict:
    """The release's verdict on a use where the newest one rejects it."""
    if not isinstance(use.verdict, Rejected):
        return use.verdict
    api = _api(use)
    interpreter.turns |= versions.turns_of_law(use.verdict, api)
    judged: Rejected | Undecided = versions.rejected_at(interpreter.settings.release, use.verdict, api)
    return judged


def _api(use: Use) -> str | None:
    """What is called, as the table of laws names it."""
    if isinstance(use, ParameterUse):
        return Api.NNX_PARAM if use.library == "nnx" else Api.LINEN_UNBOX
    if isinstance(use, CallUse):
        return use.function
    return use.api if isinstance(use, Placement | ArityUse) else None

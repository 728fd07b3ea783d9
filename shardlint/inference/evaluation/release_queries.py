"""Queries about JAX's releases while one release is assumed; each records where the answer changes.

An analysis is valid for all releases that give the same answers to its queries: ``Evaluator.turns`` are the
releases at which an answer changes.

A program queries releases too, by reading the version of JAX and comparing it. It reads the assumed release's
version, and a comparison is a query. Values computed from a version in other ways are unknown and marked as
such (`OF_VERSION`): neither branch of a test of one is certain in any release.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shardlint.inference.domain.values import Const, Tuple, Value
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.laws import versions
from shardlint.laws.core.values import Unknown
from shardlint.laws.core.verdicts import Api, Rejected, Undecided, Verdict
from shardlint.model.uses import ArityUse, CallUse, CarryUse, ParameterUse, Placement, Use

_TEXTS = frozenset(
    {"jax.__version__", "jax.version.__version__", "jaxlib.__version__", "jaxlib.version.__version__"}
)
_NUMBERS = frozenset({"jax.__version_info__", "jax.version.__version_info__"})
#: Distributions with JAX's version.
DISTRIBUTIONS = frozenset({"jax", "jaxlib"})
#: The reason of unknown values computed from a version.
OF_VERSION = "it depends on the version of JAX"


def version_named(interpreter: Evaluator, name: str) -> Value | None:
    """Return the version of JAX that a name of a library holds; None if it holds none."""
    if name in _TEXTS:
        return version_text(interpreter)
    return _numbers(interpreter) if name in _NUMBERS else None


def version_text(interpreter: Evaluator) -> Value:
    """Return the version of JAX as text."""
    interpreter.versions_read += 1
    return Const(str(interpreter.settings.release))


def _numbers(interpreter: Evaluator) -> Value:
    interpreter.versions_read += 1
    return Tuple(tuple(map(Const, interpreter.settings.release)))


def of_version(interpreter: Evaluator, value: Value, read_before: int) -> Value:
    """Return a value, marked if it is unknown and a version was read to compute it."""
    read = type(value) is Unknown and interpreter.versions_read != read_before
    return Unknown(OF_VERSION) if read else value


def is_of_version(value: Value | None) -> bool:
    """Return whether a value is unknown because it depends on a version."""
    return isinstance(value, Unknown) and value.reason == OF_VERSION


def note_comparison(interpreter: Evaluator, holds: Callable[[Any, Any], Any], left: Any, right: Any) -> None:
    """Record the releases at which a comparison changes its outcome, if one side is the version of JAX.

    Sides are numbers, tuples of them, and texts. One that merely looks like the version does no harm.
    """
    for form in _FORMS:
        ours = form(interpreter.settings.release)
        for other, swapped in ((right, False), (left, True)):
            if ours != (right if swapped else left) or type(ours) is not type(other):
                continue
            answers = [
                bool(holds(other, form(release)) if swapped else holds(form(release), other))
                for release in versions.RELEASES
            ]
            pairs = zip(versions.RELEASES[1:], answers, answers[1:], strict=False)
            interpreter.turns |= {release for release, before, after in pairs if before is not after}


#: The forms in which programs compare a version.
_FORMS: tuple[Callable[[versions.Release], Any], ...] = (
    str,
    lambda release: f"{release.major}.{release.minor}",
    tuple,
    # As `packaging.version` compares it.
    lambda release: (
        tuple(release) if release.patch else (release.major, release.minor)[: 2 if release.minor else 1]
    ),
    lambda release: (release.major, release.minor),
    lambda release: release.major,
    lambda release: release.minor,
    lambda release: release.patch,
)


def state_of(interpreter: Evaluator, name: str) -> versions.ApiState | None:
    """Return the state of a name or argument in the release; None if the table does not list it."""
    interpreter.turns |= versions.turns(name)
    return versions.state_of(name, interpreter.settings.release)


def is_there(interpreter: Evaluator, name: str) -> bool | None:
    """Return whether the release has a name or argument; None if the table does not list it."""
    state = state_of(interpreter, name)
    return None if state is None else state.there


def holds(interpreter: Evaluator, behaviour: str) -> bool:
    """Return whether the release has this behaviour."""
    interpreter.turns |= versions.turns(behaviour)
    return versions.holds(behaviour, interpreter.settings.release)


def verdict_at(interpreter: Evaluator, use: Use) -> Verdict:
    """Return the release's verdict on a use that the newest one rejects."""
    if not isinstance(use.verdict, Rejected):
        return use.verdict
    api = _api(use)
    interpreter.turns |= versions.turns_of_law(use.verdict, api)
    judged: Rejected | Undecided = versions.rejected_at(interpreter.settings.release, use.verdict, api)
    return judged


def _api(use: Use) -> str | None:
    """Return the name of the called API in the table of laws."""
    if isinstance(use, ParameterUse):
        return Api.NNX_PARAM if use.library == "nnx" else Api.LINEN_UNBOX
    if isinstance(use, CallUse | CarryUse):
        return use.function
    return use.api if isinstance(use, Placement | ArityUse) else None

"""Questions that JAX and a law both answer: fixed cases, the same on every machine and release.

`FAMILIES` makes them by subject. An answer is a short text: ``ok`` and the result where one is compared;
the exception's class and, after ``@``, the stage; or ``-`` and what the release lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import older_jax
import real_jax
from judging import REFUSALS, Case, contradiction, judge_drawn
from random_cases import Drawn, draw_cases, mode
from real_jax import Outcome
from spec_texts import read_spec, spec_text

from shardlint.laws.core.values import Spec
from shardlint.laws.core.verdicts import Accepted, Rejected, Returned, Undecided, Verdict
from shardlint.laws.versions import Release, rejected_at

#: How many random placements are asked: 65 an API.
PLACEMENTS, SEED = 65 * len(real_jax.PROGRAMS), 29


@dataclass(frozen=True)
class Question:
    """One case of a family: ``group`` is its API and mode, ``text`` says it in full.

    ``ask`` runs it in JAX. ``judge`` compares an answer with the law of a release: None where they agree,
    "undecided", or what is wrong and the law's verdict.
    """

    group: str
    text: str
    ask: Callable[[], str]
    judge: Callable[[str, Release], tuple[str, str] | None]


def law_at(release: Release, verdict: Any, api: str | None) -> Any:
    """Return what the law says of a release, where this is its verdict on the newest."""
    return rejected_at(release, verdict, api) if isinstance(verdict, Rejected) else verdict


def raised(call: Callable[[], Any]) -> str:
    """Run a call: the class of what it raises, or ``ok``."""
    try:
        call()
    except Exception as error:
        return type(error).__name__
    return "ok"


def compare(answer: str, verdict: Any) -> tuple[str, str] | None:
    """Compare an answer with a verdict; a law's result is written like JAX's."""
    if isinstance(verdict, Undecided):
        return "undecided", verdict.reason
    if isinstance(verdict, Rejected):
        said, _, stage = answer.partition(" @")
        if answer.startswith("ok"):
            return "JAX accepts", str(verdict)
        if verdict.exception not in (said, "Exception"):
            return "another exception", str(verdict)
        return ("another stage", str(verdict)) if stage and stage != verdict.stage else None
    if not answer.startswith("ok"):
        # The programs of the matrix return what they place from jit.
        outside = isinstance(verdict, Accepted) and verdict.returned is Returned.REFUSED
        return None if outside and answer.startswith(REFUSALS) else ("JAX rejects", str(verdict))
    claimed = verdict if isinstance(verdict, str) else ""
    return ("another result", claimed) if claimed and answer != f"ok {claimed}" else None


def placements() -> Iterator[Question]:
    """Yield the random cases of `tests/laws/random_cases.py`."""
    for case in draw_cases(PLACEMENTS, SEED):
        yield Question(f"{case.api.value}|{mode(case)}", _text(case), *_of_placement(case))


def _text(case: Drawn) -> str:
    spec = f"P({spec_text(case.spec, trim=False)})" if isinstance(case.spec, Spec) else str(case.spec)
    around = "raw" if case.raw else "under" if case.under else "alone"
    held = "" if case.held is None else f" held {spec_text(case.held)}"
    return f"{case.api.value} {spec} on {case.mesh} of {case.shape} {around}{held}"


def _of_placement(case: Drawn) -> tuple[Callable[[], str], Callable[..., tuple[str, str] | None]]:
    under = case.under or False

    def ask() -> str:
        lack = older_jax.answerable(case.api, case.mesh, len(case.shape), raw=case.raw, under=under)
        if lack is not None:
            return f"- {lack}"
        try:
            outcome = real_jax.attempt(
                case.api, case.mesh, case.spec, case.shape, raw=case.raw, under=under, held=case.held
            )
        except Exception:
            # What surrounds the call cannot be built: a mesh, or what the array holds before.
            return "- surroundings"
        if outcome.ok:
            return "ok" if outcome.spec is None else f"ok {spec_text(outcome.spec)}".strip() + "."
        return f"{outcome.exception} @{outcome.stage}"

    def judge(answer: str, release: Release) -> tuple[str, str] | None:
        verdict = placement_law(case, release)
        if isinstance(verdict, Undecided):
            return "undecided", verdict.reason
        wrong = contradiction(case, verdict, read_outcome(answer))
        return (wrong, str(verdict)) if wrong else None

    return ask, judge


def placement_law(case: Case, release: Release) -> Verdict:
    """Return the verdict on a placement in a release."""
    verdict: Verdict = law_at(release, judge_drawn(case), case.api)
    return verdict


def read_outcome(answer: str) -> Outcome:
    """Read an answer on a placement: ``ok x.`` has a result, ``ok`` has none that was looked at."""
    if answer.startswith("ok"):
        text = answer.removeprefix("ok").strip()
        return Outcome(True, spec=read_spec(text[:-1]) if text.endswith(".") else None)
    exception, _, stage = answer.partition(" @")
    return Outcome(False, exception, stage)


def accepted(rejections: list[Verdict]) -> Verdict:
    """Return the first verdict that does not accept."""
    return next((one for one in rejections if not isinstance(one, Accepted)), Accepted())


def families() -> dict[str, Callable[[], Iterator[Question]]]:
    """Return the families, by name."""
    import questions_of_bodies
    import questions_of_meshes
    import questions_of_types

    return {
        "placements": placements,
        "meshes": questions_of_meshes.meshes,
        "collectives": questions_of_bodies.collectives,
        "shard_map": questions_of_bodies.bodies,
        "carries": questions_of_types.carries,
        "propagation": questions_of_types.propagations,
    }

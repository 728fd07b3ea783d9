"""Set the laws beside the JAX that runs this: every cell of the matrix, and random cases.

usage: python tests/versions/ask_laws.py CASES [SEED]

Prints one JSON object: for each API and mode how many cases were asked, how many agree, how many the laws
leave open, how many this JAX cannot be asked (and why), and each disagreement in words.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import older_jax
import real_jax
from judging import Case, contradiction, judge_drawn
from random_cases import Drawn, draw_cases

from shardlint.laws.core.values import Mesh
from shardlint.laws.core.verdicts import Accepted, Rejected, Undecided, Verdict
from shardlint.laws.versions import Release, rejected_at
from shardlint.laws.versions.era import assuming

RELEASE = Release.parse(older_jax.jax.__version__)


def mode_of(case: Case) -> str:
    """Auto, Explicit, mixed, or no mesh."""
    types = {kind.value.lower() for kind in case.mesh.types} if isinstance(case.mesh, Mesh) else {"none"}
    return types.pop() if len(types) == 1 else "mixed"


@dataclass(frozen=True)
class Told:
    """What became of a case: ``lack`` is why JAX cannot be asked, ``wrong`` a disagreement in words."""

    key: str
    lack: str | None = None
    undecided: bool = False
    wrong: tuple[str, ...] | None = None


def told_of(case: Drawn) -> Told:
    """Set the verdict on a case beside JAX."""
    under = case.under or False
    key = f"{case.api.value}|{mode_of(case)}"
    lack = older_jax.answerable(case.api, case.mesh, len(case.shape), raw=case.raw, under=under)
    if lack is not None:
        return Told(key, lack)
    verdict = verdict_on(case)
    try:
        outcome = real_jax.attempt(
            case.api, case.mesh, case.spec, case.shape, raw=case.raw, under=under, held=case.held
        )
    except Exception:
        # What surrounds the call cannot be built: a mesh, or what the array holds before.
        return Told(key, "no such surroundings")
    wrong = contradiction(case, verdict, outcome)
    said = None if wrong is None else disagreement(case, verdict, wrong, str(outcome))
    return Told(key, undecided=isinstance(verdict, Undecided), wrong=said)


def verdict_on(case: Case) -> Verdict:
    """Return the law's verdict for the release."""
    with assuming(RELEASE):
        verdict = judge_drawn(case)
    return rejected_at(RELEASE, verdict, case.api) if isinstance(verdict, Rejected) else verdict


def disagreement(case: Case, verdict: Verdict, wrong: str, outcome: str) -> tuple[str, ...]:
    """Return a disagreement in words."""
    return wrong, case.api.value, mode_of(case), str(case), str(verdict), outcome


def died(case: Drawn) -> Told:
    """Return what to tell of a case on which XLA ends the process, which the law must not accept."""
    verdict, key = verdict_on(case), f"{case.api.value}|{mode_of(case)}"
    said = disagreement(case, verdict, "JAX ends", "dies") if isinstance(verdict, Accepted) else None
    return Told(key, undecided=isinstance(verdict, Undecided), wrong=said)


def answers(cases: Sequence[Drawn]) -> Iterator[Told]:
    """Yield what became of each case. A process asks for them, and after its end another for the rest."""
    done = 0
    while done < len(cases):
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            os.close(reader)
            with os.fdopen(writer, "w") as out:
                for case in cases[done:]:
                    print(json.dumps(asdict(told_of(case))), file=out, flush=True)
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as lines:
            for line in lines:
                yield Told(**json.loads(line))
                done += 1
        os.waitpid(child, 0)
        if done < len(cases):
            yield died(cases[done])
            done += 1


def ask(count: int, seed: int) -> dict[str, Any]:
    """Ask the random cases."""
    figures: dict[str, Counter[str]] = defaultdict(Counter)
    lacks: Counter[str] = Counter()
    disagreements = []
    for told in answers(list(draw_cases(count, seed))):
        tally = figures[told.key]
        if told.lack is not None:
            lacks[told.lack] += 1
            tally["not there"] += 1
            continue
        tally["asked"] += 1
        tally["undecided"] += told.undecided
        tally["agree"] += told.wrong is None
        if told.wrong is not None:
            disagreements.append(list(told.wrong))
    return {"jax": older_jax.jax.__version__, "figures": figures, "lacks": lacks, "wrong": disagreements}


if __name__ == "__main__":
    print(json.dumps(ask(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)))

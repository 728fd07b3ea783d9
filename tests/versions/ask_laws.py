"""Set the laws beside the JAX that runs this: every cell of the matrix, and random cases.

usage: python tests/versions/ask_laws.py CASES [SEED]

Prints one JSON object: for each API and mode how many cases were asked, how many agree, how many the laws
leave open, how many this JAX cannot be asked (and why), and each disagreement in words.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from typing import Any

import older_jax
import real_jax
from judging import Case, contradiction, judge_drawn
from random_cases import draw_cases

from shardlint.laws.core.values import Mesh
from shardlint.laws.core.verdicts import Rejected, Undecided
from shardlint.laws.versions import Release, rejected_at

RELEASE = Release.parse(older_jax.jax.__version__)


def mode_of(case: Case) -> str:
    """Auto, Explicit, mixed, or no mesh."""
    types = {kind.value.lower() for kind in case.mesh.types} if isinstance(case.mesh, Mesh) else {"none"}
    return types.pop() if len(types) == 1 else "mixed"


def ask(count: int, seed: int) -> dict[str, Any]:
    """Ask the random cases."""
    figures: dict[str, Counter[str]] = defaultdict(Counter)
    lacks: Counter[str] = Counter()
    disagreements = []
    for case in draw_cases(count, seed):
        under = case.under or False
        tally = figures[f"{case.api.value}|{mode_of(case)}"]
        lack = older_jax.answerable(case.api, case.mesh, len(case.shape), raw=case.raw, under=under)
        if lack is not None:
            lacks[lack] += 1
            tally["not there"] += 1
            continue
        verdict = judge_drawn(case)
        if isinstance(verdict, Rejected):
            verdict = rejected_at(RELEASE, verdict, case.api)
        try:
            outcome = real_jax.attempt(
                case.api, case.mesh, case.spec, case.shape, raw=case.raw, under=under, held=case.held
            )
        except Exception:
            # What surrounds the call cannot be built: a mesh, or what the array holds before.
            lacks["no such surroundings"] += 1
            tally["not there"] += 1
            continue
        tally["asked"] += 1
        tally["undecided"] += isinstance(verdict, Undecided)
        wrong = contradiction(case, verdict, outcome)
        tally["agree"] += wrong is None
        if wrong:
            disagreements.append(
                [wrong, case.api.value, mode_of(case), str(case), str(verdict), str(outcome)]
            )
    return {"jax": older_jax.jax.__version__, "figures": figures, "lacks": lacks, "wrong": disagreements}


if __name__ == "__main__":
    print(json.dumps(ask(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)))

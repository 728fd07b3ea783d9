"""How often the laws agree with JAX: ``python measure_propagation.py [CASES] [SEED] [KIND…]``."""

from __future__ import annotations

import random
import sys
from collections import Counter

from comparing import ask_jax, ask_law, disagreement, partly_symbolic
from drawing import MODES, Draw
from programs_of_primitives import KINDS

from shardlint.laws.core.verdicts import Rejected, Undecided


def measure(kind: str, cases: int, seed: int, mode: str = "plain") -> tuple[Counter[str], list[str]]:
    """Figures of one kind of program, and every disagreement in words."""
    figures: Counter[str] = Counter()
    wrong: list[str] = []
    for case in range(cases):
        rng = random.Random(f"{kind} {mode} {seed} {case}")
        draw = Draw(rng, mode)
        program = KINDS[kind](draw)
        truth = ask_jax(draw, program)
        figures["rejected"] += bool(truth.exception)
        for way, sizes in (("decided", None), ("symbolic", partly_symbolic(rng))):
            answer = ask_law(truth, program, sizes) if sizes else ask_law(truth, program)
            figures[way] += not isinstance(answer, Undecided)
            if isinstance(answer, Rejected) and way == "decided":
                figures[answer.cause] += 1
            trouble = disagreement(truth, answer)
            if trouble is not None:
                types = ", ".join(map(str, truth.operands))
                wrong.append(f"{kind} {mode} {seed} {case} {way}: {types} in {draw.context}\n{trouble}")
    return figures, wrong


def main() -> None:
    """Print a line a kind, and the first disagreements of each."""
    cases, seed = (int(text) for text in (*sys.argv[1:3], *("500", "0")[len(sys.argv[1:3]) :]))
    for kind in sys.argv[3:] or KINDS:
        for mode in MODES:
            figures, wrong = measure(kind, cases, seed, mode)
            shares = "  ".join(f"{name} {count / cases:.0%}" for name, count in sorted(figures.items()))
            print(f"{kind} {mode}: {cases} cases, {len(wrong)} disagree; {shares}")
            for trouble in wrong[:3]:
                print("   ", trouble.replace("\n", "\n    "))


if __name__ == "__main__":
    main()

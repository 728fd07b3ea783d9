"""Put random programs of Python's features to CPython and to shardlint.

    python tests/python/run_python.py [--seed S] [--count N] [--feature NAME…] [--jobs N] [--reduce N]

First each feature stands in programs of its own, then programs are made of several. Prints on how many of
each kind shardlint errs, and with ``--reduce`` the smallest programs on which it does: first of those in
which it knows each feature alone. Exits 1 if there are any.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from cpython_oracle import ended
from feature_catalogue import features
from feature_programs import Program, ProgramWriter, random_program
from program_reduction import reduced, shape_of
from shardlint_claims import Judged, judged

CHUNK = 100


@dataclass
class Failed:
    """A program on which shardlint errs."""

    seed: str
    program: Program
    verdict: Judged


@dataclass
class Totals:
    """What there was to count in some programs."""

    counts: Counter[str] = field(default_factory=Counter)
    failed: list[Failed] = field(default_factory=list)

    def add(self, other: Totals) -> None:
        """Add what was counted in others."""
        self.counts += other.counts
        self.failed += other.failed


def judge(programs: Iterable[tuple[str, Program]]) -> Totals:
    """Put programs to both, each with the seed that it is made from."""
    sys.setrecursionlimit(20_000)
    totals = Totals()
    for seed, program in programs:
        whole = ended(program.text)
        if whole is None:
            totals.counts["left out: CPython does not run them to their end"] += 1
            continue
        verdict = judged(whole)
        totals.counts["programs"] += 1
        totals.counts["calls of JAX in them"] += len(whole.ends)
        totals.counts["with false errors"] += bool(verdict.false)
        totals.counts["with wrong sizes"] += bool(verdict.wrong)
        totals.counts["with crashes"] += bool(verdict.crashed)
        totals.counts["rejected by JAX"] += verdict.rejected
        totals.counts["rejected by JAX, not found"] += verdict.rejected and not verdict.found
        totals.counts.update(f"errs at a call of kind {way}" for way in {way for _, way in verdict.at})
        if verdict.bad:
            totals.failed.append(Failed(seed, program, verdict))
    return totals


def composed(seed: str, numbers: range, names: tuple[str, ...] = ()) -> Totals:
    """Judge random programs by their numbers."""
    chosen = [features()[name] for name in names] or None
    seeds = [f"{seed} {number}" for number in numbers]
    return judge((one, random_program(one, chosen)) for one in seeds)


def alone(seed: str, names: Iterable[str]) -> Totals:
    """Judge each feature in programs of its own, at module level and in functions."""
    seeds = [(f"{seed} {name} {turn}", features()[name]) for name in names for turn in range(4)]
    return judge((one, ProgramWriter(one).alone(feature)) for one, feature in seeds)


def run(seed: str, count: int, names: tuple[str, ...] = (), jobs: int = 1) -> Iterator[Totals]:
    """Judge so many random programs; yield what was counted so far."""
    totals = Totals()
    chunks = [range(start, min(start + CHUNK, count)) for start in range(0, count, CHUNK)]
    work = partial(composed, seed, names=names)
    with contextlib.ExitStack() as stack:
        results: Iterable[Totals] = map(work, chunks)
        if jobs > 1:
            pool = stack.enter_context(multiprocessing.get_context("spawn").Pool(jobs, maxtasksperchild=100))
            results = pool.imap_unordered(work, chunks)
        for result in results:
            totals.add(result)
            yield totals


def smallest(failed: list[Failed], most: int) -> dict[str, tuple[Failed, str, int]]:
    """Return the smallest programs by their shapes, each with what it came from and how many came to it."""
    found: dict[str, tuple[Failed, str, int]] = {}
    for one in sorted(failed, key=lambda one: len(one.program.text))[:most]:
        places = one.verdict.at

        def errs(text: str, places: frozenset[tuple[int, str]] = places) -> bool:
            with contextlib.suppress(SyntaxError, ValueError):
                whole = ended(text)
                verdict = whole and judged(whole)
                return bool(verdict and (verdict.at & places or (verdict.crashed and not places)))
            return False

        if errs(one.program.text):  # else it depends on the time of day, say
            text = reduced(one.program.text, errs)
            known = found.get(shape_of(text))
            found[shape_of(text)] = (one, text, known[2] + 1 if known else 1)
    return found


def main() -> int:
    """Run, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seed", default="0", help="which programs")
    parser.add_argument("--count", type=int, default=2_000, help="how many programs")
    parser.add_argument("--feature", nargs="+", default=[], metavar="NAME", help="programs of these alone")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes")
    parser.add_argument("--reduce", type=int, default=0, metavar="N", help="reduce as many that failed")
    options = parser.parse_args()
    start = time.perf_counter()
    single = alone(options.seed, options.feature or features())
    known = {one.seed.split()[1] for one in single.failed}
    together = Totals()
    for together in run(options.seed, options.count, tuple(options.feature), options.jobs):
        if sys.stderr.isatty():
            counts = f"{together.counts['programs']} programs, {len(together.failed)} failed"
            print(f"\r{counts}", end="", file=sys.stderr)
    print(f"{len(features())} features, seed {options.seed}, {time.perf_counter() - start:.0f} s")
    print(f"It errs on {len(known)} alone: {' '.join(sorted(known))}")
    for what, totals in (("One feature a program", single), ("Several", together)):
        print(f"{what}:")
        for name, number in totals.counts.items():
            print(f"{number:8} {name}")
    new = [one for one in together.failed if not known.intersection(one.program.features)]
    print(f"It errs on {len(new)} programs of which it knows each feature alone")
    several = [*new, *single.failed, *(one for one in together.failed if one not in new)]
    for one, text, number in smallest(several[: options.reduce], options.reduce).values():
        print(f"\n# {number} time(s), first seed {one.seed!r}: {one.verdict.bad[0]}\n{text}", end="")
    return 1 if single.failed or together.failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""The mutation benchmark: right programs, broken one edit at a time, judged by shardlint and by JAX.

    python tests/mutation/run_mutations.py [--programs DIR…] [--limit N] [--seed S] [--kinds TEXT…] [--jobs N]

Every unit of a program that runs on eight fake CPU devices (a fixture's case, a notebook's cell, a top level)
is mutated by small edits of many kinds. Of the mutants that JAX refuses, at least 85 % must be found (a
finding of severity error in the unit that raises); of those that run, none may have one. Exits 1 where that
is not so.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
from collections.abc import Sequence
from pathlib import Path

import mutation_calls  # noqa: F401 - enters its kinds of edit
import mutation_edits  # noqa: F401 - enters its kinds of edit
from mutation_judging import Judge, Original, Verdict, Workers
from mutation_programs import find_programs, read_program
from mutation_text import Edit, edits_of

ROOT = Path(__file__).resolve().parents[2]
WANTED = 0.85


def main() -> int:
    """Run, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--programs", nargs="+", type=Path, default=[], metavar="DIR", help="besides the fixtures"
    )
    parser.add_argument("--no-fixtures", action="store_true", help="only what --programs names")
    parser.add_argument("--limit", type=int, help="at most so many mutants a program")
    parser.add_argument("--seed", type=int, default=0, help="which, where there are more")
    parser.add_argument(
        "--kinds", nargs="+", default=[], metavar="TEXT", help="only kinds that begin with these"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many run at once")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for one mutant")
    parser.add_argument("--verbose", action="store_true", help="list the originals that do not run, too")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every verdict there")
    options = parser.parse_args()
    folders = [*([] if options.no_fixtures else [ROOT / "fixtures"]), *options.programs]
    verdicts = []
    with Workers(options.jobs) as workers:
        judge = Judge(workers, options.timeout)
        for path in find_programs(folders):
            some = judged(judge, path, options.limit, options.seed, options.kinds, options.verbose)
            verdicts += some
            print(f"{path}: {summary(some)}", file=sys.stderr, flush=True)
            if options.json:
                options.json.write_text(json.dumps([v.record() for v in verdicts], indent=1))
    print(table(verdicts))
    return 0 if passes(verdicts) else 1


def judged(
    judge: Judge,
    path: Path,
    limit: int | None = None,
    seed: int = 0,
    kinds: Sequence[str] = (),
    verbose: bool = False,
) -> list[Verdict]:
    """Judge a program and its mutants; nothing where it does not run."""
    try:
        original = Original.of(read_program(path), judge.workers, 10 * judge.timeout)
    except (OSError, ValueError) as error:
        print(f"{path}: {error}", file=sys.stderr)
        return []
    if original.problem:
        if verbose:
            print(f"{path}: {original.problem}", file=sys.stderr)
        return []
    edits = [edit for edit in edits_of(original.program) if original.concerned(edit)]
    edits = [e for e in edits if not kinds or e.kind.startswith(tuple(kinds))]
    return [judge.original(original), *judge.mutants(original, sample(edits, limit, seed))]


def sample(edits: list[Edit], limit: int | None, seed: int) -> list[Edit]:
    """Some of the edits, of every kind about as many, in the order they stand in."""
    if limit is None or len(edits) <= limit:
        return edits
    rng = random.Random(seed)
    by_kind: dict[str, list[Edit]] = {}
    for edit in rng.sample(edits, len(edits)):
        by_kind.setdefault(edit.kind, []).append(edit)
    turn = [(number, rng.random(), edit) for some in by_kind.values() for number, edit in enumerate(some)]
    chosen = {id(edit) for _, _, edit in sorted(turn, key=lambda t: t[:2])[:limit]}
    return [edit for edit in edits if id(edit) in chosen]


def passes(verdicts: Sequence[Verdict]) -> bool:
    """Whether enough is found, and nothing that is not there."""
    raises = [v for v in verdicts if v.outcome == "raises"]
    return not any(v.false for v in verdicts) and sum(v.found for v in raises) >= WANTED * len(raises)


def summary(verdicts: Sequence[Verdict]) -> str:
    """One line of how many."""
    raises = [v for v in verdicts if v.outcome == "raises"]
    found, false = sum(v.found for v in raises), sum(bool(v.false) for v in verdicts)
    return f"{len(verdicts)} mutants, {len(raises)} raise, {found} found, {false} false"


def table(verdicts: Sequence[Verdict]) -> str:
    """Counts by kind of edit, then what was missed and what is not true, one a line."""
    kinds = sorted({v.edit.kind for v in verdicts if v.edit})
    rows = [["kind of edit", "mutants", "JAX raises", "found", "missed", "false"]]
    rows += [counts(kind, [v for v in verdicts if v.edit and v.edit.kind == kind]) for kind in kinds]
    rows += [counts("as it stands", [v for v in verdicts if not v.edit]), counts("all", verdicts)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for kind, *numbers in rows:
        cells = (number.rjust(width) for number, width in zip(numbers, widths[1:], strict=True))
        lines.append("  ".join([kind.ljust(widths[0]), *cells]))
    for title, chosen in (
        ("missed", [v for v in verdicts if v.outcome == "raises" and not v.found]),
        ("false alarms", [v for v in verdicts if v.false]),
    ):
        lines += ["", f"{title}: {len(chosen)}"]
        for v in chosen:
            said = "; ".join(v.false) if title != "missed" else v.exception
            lines.append(f"  {Path(v.program.path).name} {v.edit or 'as it stands'}\n      {said}")
    return "\n".join(lines)


def counts(kind: str, verdicts: Sequence[Verdict]) -> list[str]:
    """A row of the table."""
    raises = [v for v in verdicts if v.outcome == "raises"]
    found, false = sum(v.found for v in raises), sum(bool(v.false) for v in verdicts)
    share = f" ({found / len(raises):.0%})" if raises else ""
    numbers = (len(verdicts), len(raises), f"{found}{share}", len(raises) - found, false)
    return [kind, *map(str, numbers)]


if __name__ == "__main__":
    sys.exit(main())

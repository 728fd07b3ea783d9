"""Fuzz the whole path, from the command line to what it prints.

    python tests/fuzzing/run_fuzzing.py [--count N] [--seed S] [--files DIR…] [--keep DIR]

Each text is checked by a process that lives on from text to text: it may take ten seconds and one gigabyte,
must end with 0 or 1, may not report a crash of its own (SHL009), and must say the same of the same text a
second time. Texts are made of fixtures and of the Python files in ``--files``. Prints a table, keeps what
failed in ``--keep``, and exits 1 if anything did.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import multiprocessing
import os
import random
import resource
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from fuzz_texts import KINDS

ROOT = Path(__file__).resolve().parents[2]
SECONDS, MEGABYTES = 10.0, 1_000
#: A process forked from the caller's would be charged with the caller's memory.
PROCESSES = multiprocessing.get_context("forkserver")
FORMATS = ("full", "concise", "json", "sarif", "github", "gitlab", "junit")


@dataclass(frozen=True, slots=True)
class Failure:
    """A text that failed: its number, its kind, and how."""

    number: int
    kind: str
    how: str


def text_of(number: int, seed: int, kinds: Sequence[str], texts: Sequence[str]) -> tuple[str, str, bytes]:
    """The kind, the suffix and the bytes of a text: always the same ones for a number and a seed."""
    chance = random.Random(f"{seed} {number}")
    kind = kinds[number % len(kinds)]
    suffix, make = KINDS[kind]
    return kind, suffix, make(chance, texts)


def checked(path: str, output_format: str) -> tuple[int, str, str]:
    """What the command line says of a file: exit code, standard output and standard error."""
    from shardlint.cli.commands import main

    out, err = io.StringIO(), io.StringIO()
    flags = ["--no-cache", "--jobs", "1", "--devices", "8", "--output-format", output_format]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(["check", path, *flags])
    return code, out.getvalue(), err.getvalue()


def problem_of(path: str, output_format: str) -> str | None:
    """What is wrong with a check of a file, None if nothing is."""
    code, out, err = checked(path, output_format)
    if "SHL009" in out or "Traceback" in err:
        return f"it crashed: {out[:300]}{err[-300:]}"
    if code not in (0, 1):
        return f"exit code {code}: {err.strip()[-200:]}"
    if checked(path, output_format) != (code, out, err):
        return "it says something else the second time"
    return None


def _work(connection: Connection, folder: str, seed: int, kinds: Sequence[str], texts: Sequence[str]) -> None:
    """Check texts by their numbers until there are no more; tell the peak of memory with each."""
    os.chdir(folder)
    while (number := connection.recv()) is not None:
        _, suffix, data = text_of(number, seed, kinds, texts)
        path = Path(folder) / f"text{number}{suffix}"
        path.write_bytes(data)
        try:
            problem = problem_of(path.name, FORMATS[number % len(FORMATS)])
        except BaseException as error:
            problem = f"{type(error).__name__}: {error}"
        path.unlink()
        connection.send((problem, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


def fuzzed(
    count: int, seed: int, texts: Sequence[str], kinds: Sequence[str] = tuple(KINDS)
) -> tuple[list[Failure], float]:
    """Check so many texts; return what failed, and the most megabytes that a process took."""
    failures, most = [], 0.0
    worker: tuple[ForkServerProcess, Connection] | None = None
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            if worker is None:
                ours, theirs = PROCESSES.Pipe()
                process = PROCESSES.Process(target=_work, args=(theirs, folder, seed, kinds, texts))
                process.start()
                theirs.close()
                worker = process, ours
            process, connection = worker
            connection.send(number)
            problem: str | None = f"it takes more than {SECONDS:.0f} s"
            try:
                # Each text is checked twice, and the first one has everything to load.
                if connection.poll(3 * SECONDS):
                    problem, megabytes = connection.recv()
                    most = max(most, megabytes)
                    if megabytes > MEGABYTES:
                        problem, worker = f"it takes {megabytes:.0f} MB", None
                else:
                    worker = None
            except EOFError:
                process.join()
                problem, worker = f"its process died, exit code {process.exitcode}", None
            if problem is not None:
                failures.append(Failure(number, kinds[number % len(kinds)], problem))
            if worker is None:
                process.kill()
                process.join()
        if worker is not None:
            worker[1].send(None)
            worker[0].join()
    return failures, most


def texts_in(folders: Sequence[Path]) -> list[str]:
    """The Python files in folders, the large ones left out: each is copied thousands of times."""
    files = sorted(file for folder in folders for file in folder.rglob("*.py"))
    return [text for file in files if len(text := file.read_text(errors="replace")) < 60_000]


def main() -> int:
    """Run, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--count", type=int, default=2_000, help="how many texts")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    parser.add_argument(
        "--files", nargs="+", type=Path, default=[], metavar="DIR", help="besides the fixtures"
    )
    parser.add_argument("--kinds", nargs="+", choices=tuple(KINDS), default=list(KINDS))
    parser.add_argument("--keep", type=Path, metavar="DIR", help="write what failed there")
    options = parser.parse_args()
    texts = texts_in([ROOT / "fixtures", *options.files])
    failures, most = fuzzed(options.count, options.seed, texts, options.kinds)
    print(f"{options.count} texts, seed {options.seed}, at most {most:.0f} MB")
    for kind, failed in Counter(failure.kind for failure in failures).items():
        print(f"{kind:10} {failed} failed")
    for failure in failures:
        print(f"{failure.kind} {failure.number}: {failure.how}")
        if options.keep is not None:
            options.keep.mkdir(parents=True, exist_ok=True)
            _, suffix, data = text_of(failure.number, options.seed, options.kinds, texts)
            (options.keep / f"{failure.kind}{failure.number}{suffix}").write_bytes(data)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())

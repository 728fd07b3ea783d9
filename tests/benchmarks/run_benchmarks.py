"""Measure shardlint beside others, side by side in one run: ratios, since machines differ.

    python tests/benchmarks/run_benchmarks.py TREE [--beside] [--scale] [--exhaustive]

For a tree: the CPU time of `libcst.parse_module` over its files that mention sharding, that of a whole cold
check on one core, and their ratio; then the command line cold on all cores, with the most memory that all its
processes held together, and warm, with nothing changed. Then what ``--version``, and a run over files that do
not matter, cost above Python itself. ``--beside`` adds `ruff check` and `fixit lint` on the same files,
``--scale`` how a cold run grows with copies of the tree, and ``--exhaustive`` measures the check on one core
without its prefilter and without laziness.

Each measurement runs in processes of its own, one after the other, so that a busy machine slows all of them.
The parse and the check are measured five times, alternately, and the least of each counts.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
#: How often what takes milliseconds is measured; the least counts, as noise only adds.
_TIMES = 7
#: And what takes many seconds.
_PAIRS = 5


# -- in a process of its own ----------------------------------------------------------------------


def parse(tree: str, exhaustive: bool) -> dict[str, float]:
    """Parse with libcst each file that mentions sharding."""
    import libcst

    from shardlint.source.workspace.discovery import discover
    from shardlint.source.workspace.prefilter import mentions_sharding

    settings = _linter(tree, exhaustive=False).settings
    texts = [Path(file.path).read_bytes() for file in discover([tree], lambda folder: settings.filter)]
    texts = [text for text in texts if mentions_sharding(text)]
    start = time.process_time()
    for text in texts:
        try:
            libcst.parse_module(text)
        except (libcst.ParserSyntaxError, RecursionError):
            continue
    lines = sum(text.count(b"\n") for text in texts)
    return {"seconds": time.process_time() - start, "files": len(texts), "lines": lines}


def check(tree: str, exhaustive: bool) -> dict[str, float]:
    """Check a tree as the command line does, from the first import on."""
    start = time.process_time()
    report = _linter(tree, exhaustive).check_paths([tree])
    return {"seconds": time.process_time() - start, "files": report.files, "findings": len(report.findings)}


def _linter(tree: str, exhaustive: bool) -> Any:
    import dataclasses

    from shardlint.api import Linter, Settings

    return Linter(dataclasses.replace(Settings(), root=tree, exhaustive=exhaustive))


def measured(work: str, tree: str, exhaustive: bool) -> dict[str, float]:
    """Run one measurement in a process of its own."""
    command = [sys.executable, __file__, "--work", work, tree, *(["--exhaustive"] if exhaustive else [])]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


# -- commands -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """A command that ran: seconds on the wall, seconds of CPU, and the most megabytes at a time."""

    wall: float
    cpu: float
    megabytes: float


def run(command: Sequence[str], folder: str, watched: bool = False) -> Run:
    """Run a command; its memory, that of all its processes, is looked at if asked (on Linux)."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start, most = time.perf_counter(), 0.0
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        while watched and process.poll() is None:
            most = max(most, sum(map(_megabytes, _family(process.pid))))
            time.sleep(0.1)
        process.wait()
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(wall, cpu, most or after.ru_maxrss / 1024)


def _family(pid: int) -> Iterator[int]:
    """A process and those it started."""
    yield pid
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return
    for child in children:
        yield from _family(int(child))


def _megabytes(pid: int) -> float:
    """The memory of a process; of what it shares with others, its part."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)


def shardlint(*options: str) -> list[str]:
    return [sys.executable, "-m", "shardlint", *options]


def least(command: Sequence[str], folder: str) -> Run:
    """The fastest of several runs."""
    return min((run(command, folder) for _ in range(_TIMES)), key=lambda one: one.cpu)


# -- what is measured -----------------------------------------------------------------------------


def one_tree(tree: str, exhaustive: bool) -> None:
    """One core beside libcst; all cores; and with nothing changed."""
    pairs = [[measured(work, tree, exhaustive) for work in ("parse", "check")] for _ in range(_PAIRS)]
    parsed, checked = (min(found, key=lambda one: one["seconds"]) for found in zip(*pairs, strict=True))
    files, lines = parsed["files"], parsed["lines"]
    print(f"{tree}: {checked['files']:.0f} files; {files:.0f} mention sharding, with {lines:.0f} lines")
    print(f"  libcst.parse_module over those   {parsed['seconds']:8.2f} s CPU {parsed['megabytes']:6.0f} MB")
    ratio, *ratios = (
        of_check["seconds"] / max(of_parse["seconds"], 1e-3)
        for of_parse, of_check in [(parsed, checked), *pairs]
    )
    print(
        f"  a cold check, one core           {checked['seconds']:8.2f} s CPU {checked['megabytes']:6.0f} MB "
        f"  {ratio:.2f} × that; one after the other {', '.join(f'{one:.2f}' for one in ratios)}"
    )
    with tempfile.TemporaryDirectory() as cache:
        cold = run(shardlint("--cache-dir", cache, tree), ".", watched=True)
        print(f"  the command, cold, all cores     {cold.wall:8.2f} s     {cold.megabytes:6.0f} MB in all")
        first, warm = (
            run(shardlint("--cache-dir", cache, tree), "."),
            least(shardlint("--cache-dir", cache, tree), "."),
        )
        print(f"  again, nothing changed           {warm.wall:8.2f} s ({first.wall:.2f} s the first time)")
        size = sum(file.stat().st_size for file in Path(cache).iterdir())
        print(f"  what is stored                   {size / 2**20:8.1f} MB")


def start_up() -> None:
    """What is there to pay before any file matters."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "few").mkdir()
        for number in range(1500):
            text = "import os\n\n\ndef path(x):\n    return os.path.join(x, 'a')\n" * 20
            (Path(folder) / f"m{number}.py").write_text(text)
        for number in range(20):
            shutil.copy(Path(folder) / f"m{number}.py", Path(folder) / "few")
        bare = least([sys.executable, "-c", "pass"], folder)
        print(f"above bare Python ({bare.cpu * 1000:.0f} ms CPU):")
        for what, options in (
            ("--version", ["--version"]),
            ("20 files that do not matter", ["--no-cache", "few"]),
            ("1,500 of them", ["--no-cache", "."]),
            ("1,500 of them, again", ["."]),
        ):
            found = least(shardlint(*options), folder)
            print(f"  {what:30} {(found.cpu - bare.cpu) * 1000:6.0f} ms CPU")


def beside(tree: str) -> None:
    """Other linters on the same files, which look for other mistakes."""
    cold = run(shardlint("--no-cache", tree), ".")
    print(f"  shardlint --no-cache             {cold.wall:8.2f} s {cold.cpu:8.2f} s CPU")
    for name, command in (
        ("ruff check --no-cache", ["ruff", "check", "--no-cache", "-q", tree]),
        ("fixit lint", ["fixit", "lint", tree]),
    ):
        if shutil.which(command[0], path=_path()) is None:
            print(f"  {name:32} is not installed")
            continue
        command[0] = shutil.which(command[0], path=_path()) or command[0]
        found = run(command, ".")
        print(f"  {name:32} {found.wall:8.2f} s {found.cpu:8.2f} s CPU, {found.cpu / cold.cpu:.2f} × ours")


def _path() -> str:
    return os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])


def scale(tree: str) -> None:
    """Cold runs over more and more copies of the tree."""
    files = sorted(Path(tree).rglob("*.py"))
    first = None
    for wanted in (10_000, 100_000, 1_000_000):
        with tempfile.TemporaryDirectory() as folder:
            lines = copied = 0
            while lines < wanted:
                for file in files:
                    if lines >= wanted:
                        break
                    target = Path(folder) / f"copy{copied}" / file.relative_to(tree)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(file, target)
                    lines += file.read_bytes().count(b"\n")
                copied += 1
            found = run(shardlint("--no-cache", "."), folder, watched=True)
        rate = found.cpu / lines * 10_000
        first = first or rate
        print(
            f"  {lines:9} lines {found.wall:8.1f} s {found.cpu:8.1f} s CPU {found.megabytes:6.0f} MB, "
            f"a line {rate / first:.2f} × the first",
            flush=True,
        )


def main() -> None:
    """Measure what the command line names."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("trees", nargs="*", metavar="TREE")
    options.add_argument("--exhaustive", action="store_true")
    options.add_argument("--beside", action="store_true")
    options.add_argument("--scale", action="store_true")
    options.add_argument("--work", choices=("parse", "check"), help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.work:
        sys.path.insert(0, str(ROOT))
        found = {"parse": parse, "check": check}[given.work](given.trees[0], given.exhaustive)
        found["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps(found))
        return
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    for tree in given.trees:
        one_tree(os.path.abspath(tree), given.exhaustive)
        if given.beside:
            beside(os.path.abspath(tree))
        if given.scale:
            scale(os.path.abspath(tree))
    start_up()


if __name__ == "__main__":
    main()

"""Measure checks of real projects beside `ty check`, and what an edit costs a warm check and an editor.

    python tests/benchmarks/run_projects.py PROJECT... [--rounds 3]
    python tests/benchmarks/run_projects.py PROJECT --edit FILE...
    python tests/benchmarks/run_projects.py PROJECT --memory FILE [--open 10] [--edits 100]

PROJECT is a folder with a checked-out project; nothing is fetched, and nothing in it is changed. `ty` (from
PyPI) has to be installed beside Python, or on the PATH.

The first form runs `ty check` and `shardlint check --no-cache --jobs 1` on the same folder, alternating, and
prints the medians of their CPU times and their ratio. ``--edit`` copies the project, checks it with a cache,
then changes each FILE (a path in the project) four times, and checks again: a comment, an unused function,
the body of its first function, and a number that its import runs. ``--memory`` opens some importers of FILE
in one process as an editor does, changes FILE again and again, and prints the memory held.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import gc
import os
import re
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from run_benchmarks import ROOT, Run, run, shardlint


def ty() -> str | None:
    """The path of ty, None if it is not installed."""
    return shutil.which("ty", path=os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]]))


def beside(project: str, rounds: int) -> None:
    """Cold checks by ty and by shardlint, alternating."""
    program = ty()
    if program is None:
        sys.exit("ty is not installed: pip install ty")
    lines = sum(file.read_bytes().count(b"\n") for file in Path(project).rglob("*.py"))
    theirs: list[Run] = []
    ours: list[Run] = []
    for _ in range(rounds):
        theirs.append(run([program, "check", "--exit-zero", "-q", "."], project))
        ours.append(run(shardlint("check", "--no-cache", "--jobs", "1", "-q", "--exit-zero", "."), project))
    pairs = [our.cpu / max(their.cpu, 0.01) for our, their in zip(ours, theirs, strict=True)]
    print(
        f"{project}: {lines} lines; ty {statistics.median(one.cpu for one in theirs):.1f} s, shardlint "
        f"{statistics.median(one.cpu for one in ours):.1f} s of CPU, {statistics.median(pairs):.1f} times it "
        f"({', '.join(f'{one:.1f}' for one in pairs)}); {max(one.megabytes for one in ours):.0f} MB",
        flush=True,
    )


def edits(text: str) -> Iterator[tuple[str, str]]:
    """Kinds of edits of a module, each with the text after it."""
    yield "a comment", f"# An edit.\n{text}"
    yield "an unused function", f"{text}\n\ndef shardlint_benchmark_unused(x):\n    return x\n"
    tree = ast.parse(text)
    lines = text.split("\n")
    function = next((node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)), None)
    if function is not None:
        first = function.body[0]
        changed = [
            *lines[: first.lineno - 1],
            f"{' ' * first.col_offset}seen = 1",
            *lines[first.lineno - 1 :],
        ]
        yield f"the body of `{function.name}`", "\n".join(changed)
    yield "what its import runs", f"{text}\nshardlint_benchmark = len('an edit')\n"


def warm(project: str, files: list[str]) -> None:
    """Checks with a cache after an edit."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "project")
        shutil.copytree(project, copy, ignore=shutil.ignore_patterns(".git", ".shardlint_cache"))
        command = shardlint(
            "check", "--jobs", "1", "-q", "--exit-zero", "--cache-dir", f"{folder}/cache", "."
        )
        cold = run(command, str(copy))
        print(
            f"{project}: cold {cold.cpu:.1f} s of CPU, again {run(command, str(copy)).cpu:.1f} s", flush=True
        )
        for name in files:
            text = (copy / name).read_text(encoding="utf-8")
            for kind, after in edits(text):
                (copy / name).write_text(after, encoding="utf-8")
                seconds = run(command, str(copy)).cpu
                (copy / name).write_text(text, encoding="utf-8")
                print(f"  {name}, {kind}: {seconds:.1f} s, {seconds / cold.cpu:.2f} of cold", flush=True)


def held() -> float:
    """The resident memory of this process, in MB."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def memory(project: str, name: str, count: int, number: int) -> None:
    """The memory of an editor's session in which a module is edited whose importers are open."""
    from shardlint.api import Linter, load_settings, source_from_text
    from shardlint.ide.session import opened, rest, staying

    os.chdir(project)
    base = Path(name).resolve()
    word = re.compile(rf"^(?:from|import)\b.*\b{re.escape(base.stem)}\b", re.MULTILINE)
    importers = [
        path
        for path in sorted(Path().resolve().rglob("*.py"))
        if path != base and word.search(path.read_text(encoding="utf-8", errors="replace"))
    ][:count]
    text = base.read_text(encoding="utf-8")
    settings = dataclasses.replace(load_settings(str(base)), editing=True)
    linter = Linter(settings, analyzer=staying())
    sources = [source_from_text(str(path), path.read_text(encoding="utf-8")) for path in importers]
    kinds = [after for _, after in edits(text)]
    for edit in range(number + 1):
        # Each text is new: the kinds of edits in turn.
        after = f"{kinds[edit % len(kinds)]}\n# {edit}\n" if edit else text
        with opened({str(base): after.encode()}):
            for source in sources:
                linter.check_source(source)
        # The server does so when nobody has typed for two seconds.
        rest()
        if edit in (0, 1, 4) or edit % 10 == 0:
            print(f"  {len(sources)} files open, {edit:4} edits of {name}: {held():.0f} MB", flush=True)


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("projects", nargs="+", metavar="PROJECT")
    parser.add_argument("--edit", nargs="+", metavar="FILE", default=[])
    parser.add_argument("--memory", metavar="FILE")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--open", type=int, default=10)
    parser.add_argument("--edits", type=int, default=100)
    given = parser.parse_args()
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    for project in map(os.path.abspath, given.projects):
        if given.memory:
            memory(project, given.memory, given.open, given.edits)
        elif given.edit:
            warm(project, given.edit)
        else:
            beside(project, given.rounds)


if __name__ == "__main__":
    main()

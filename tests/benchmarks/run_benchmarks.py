"""Measure shardlint beside libcst's parser, side by side in one run.

    python tests/benchmarks/run_benchmarks.py TREE…

For each tree a line: how many of its files mention sharding, the CPU time of `libcst.parse_module` over
those, the CPU time of a whole cold check of the tree on one core, their ratio, and each one's peak memory.
Each measurement runs in a process of its own, and both in turn, so that a busy machine slows both.
``--exhaustive`` measures the check without its prefilter and without laziness.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def parse(tree: str, exhaustive: bool) -> dict[str, float]:
    """Parse with libcst each file that mentions sharding."""
    import libcst

    files = _linter(tree, exhaustive=False).read_paths([tree])[1]
    start = time.process_time()
    lines = 0
    for source in files:
        for cell in source.cells:
            lines += cell.text.count("\n")
            try:
                libcst.parse_module(cell.text)
            except (libcst.ParserSyntaxError, RecursionError):
                continue
    return {"seconds": time.process_time() - start, "files": len(files), "lines": lines}


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


def main() -> None:
    """Measure each tree of the command line."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("trees", nargs="+", metavar="TREE")
    options.add_argument("--exhaustive", action="store_true")
    options.add_argument("--work", choices=("parse", "check"), help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.work:
        sys.path.insert(0, str(ROOT))
        found = {"parse": parse, "check": check}[given.work](given.trees[0], given.exhaustive)
        found["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps(found))
        return
    print(f"{'tree':32} {'files':>6} {'lines':>8} {'parse s':>8} {'check s':>8} {'ratio':>6} {'MB':>12}")
    for tree in given.trees:
        a, b = (measured(work, tree, given.exhaustive) for work in ("parse", "check"))
        print(
            f"{Path(tree).name[:32]:32} {a['files']:6.0f} {a['lines']:8.0f} {a['seconds']:8.2f} "
            f"{b['seconds']:8.2f} {b['seconds'] / max(a['seconds'], 1e-3):6.2f} "
            f"{a['megabytes']:5.0f}/{b['megabytes']:.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()

"""Measure releases of JAX, compare them, and set the laws beside what was measured.

usage: python -m tests.versions.measure RELEASE... [--sections NAME,...] [--environments FOLDER]
       python -m tests.versions.measure --diff OLD NEW
       python -m tests.versions.measure --canary REPORT.md [RELEASE]
       python -m tests.versions.measure --check [RELEASE...] [--accept]

Measuring builds an environment for each release (a few hundred megabytes) where there is none yet, and writes
`tests/data/releases/<release>.json` and the public names in `shardlint/laws/versions`. ``--diff`` and
``--check`` read these files, and ask JAX nothing. ``--check`` exits 1 if laws contradict a release more often
than `tests/versions/known_differences.json` allows. ``--canary`` asks pip for releases that were not measured
(or takes RELEASE for one), measures them, reports what changed, and exits 3 if there are any.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT), *(str(ROOT / "tests" / name) for name in ("laws", "propagation"))]

import environments  # noqa: E402
import published  # noqa: E402
import release_files  # noqa: E402


def measure(release: str, folder: Path, sections: list[str]) -> dict[str, Any]:
    """Ask a release, section by section, and return all that is known of it then."""
    python = environments.interpreter(release, folder)
    found = release_files.read(release)
    for section in sections:
        begun = time.monotonic()
        if section in release_files.FAMILIES:
            found[section] = _answers(python, section)
        elif section == "pages":
            found[section] = _ask(python, section)
        else:
            found |= _ask(python, section)
        print(f"JAX {release}: {section} in {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
    return found


#: What JAX accepts is decided before machine code is made.
_AROUND = {
    **os.environ, "JAX_DISABLE_MOST_OPTIMIZATIONS": "1", "JAX_PLATFORMS": "cpu", "PYTHONHASHSEED": "0"
}  # fmt: skip


def _run(python: str, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    command = [python, str(HERE / "ask_release.py"), *words]
    return subprocess.run(command, input=given, capture_output=True, text=True, env=_AROUND)


def _ask(python: str, section: str) -> dict[str, Any]:
    answer = _run(python, section, given=json.dumps(_programs()) if section == "pages" else "")
    if answer.returncode:
        raise SystemExit(f"{section} failed under {python}:\n{answer.stderr[-3000:]}")
    found: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])
    return found


def _answers(python: str, family: str) -> dict[str, Any]:
    """Ask a family's questions: by group the answers, and a digest of the questions.

    Some kill the process; the answer is "dies" then, and another process goes on with the next.
    """
    answered: list[list[str]] = []
    while True:
        told = _run(python, family, str(len(answered)))
        # JAX may print as well.
        for line in (line for line in told.stdout.splitlines() if line.startswith(('["', '"'))):
            said = json.loads(line)
            if isinstance(said, list):
                answered.append([*said, "dies"])
            else:
                answered[-1][2] = said
        if told.returncode == 0:
            return release_files.grouped(answered)
        if told.returncode > 0 or not told.stdout:
            raise SystemExit(f"{family} failed under {python}:\n{told.stderr[-3000:]}")


def _programs() -> dict[str, str]:
    from shardlint.rules import all_rules

    return {f"{rule.code} {kind}": getattr(rule, kind) for rule in all_rules() for kind in ("bad", "good")}


def main() -> int:
    """Measure, compare or check."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("releases", nargs="*", metavar="RELEASE")
    parser.add_argument("--environments", type=Path, default=environments.default_folder(), metavar="FOLDER")
    parser.add_argument("--sections", default=",".join(release_files.SECTIONS))
    parser.add_argument("--diff", nargs=2, metavar=("OLD", "NEW"))
    parser.add_argument("--canary", type=Path, metavar="REPORT.md")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--accept", action="store_true", help="with --check: what is wrong now is known")
    parser.add_argument(
        "--examples", type=int, default=1, help="how many examples of a disagreement to print"
    )
    options = parser.parse_args()
    if options.diff:
        import release_differences

        print("\n".join(release_differences.report(*options.diff)))
        return 0
    if options.check:
        import law_checks

        if options.accept:
            law_checks.accept(options.releases or release_files.stored())
        return law_checks.run(options.releases or release_files.stored(), options.examples)
    if options.canary:
        import canary

        return canary.run(options.canary, options.environments, options.releases)
    for release in options.releases:
        try:
            measured = measure(release, options.environments, options.sections.split(","))
        except environments.NoInterpreter as error:
            print(f"skipped: {error}", file=sys.stderr)
            continue
        print(release_files.write(release, measured))
        published.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())

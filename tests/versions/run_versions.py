"""Set shardlint beside real releases of JAX: their names, the laws, and the worker that confirms.

usage: python tests/versions/run_versions.py [RELEASE...] [--cases N] [--seed N]

Builds a virtual environment for each release (a few hundred megabytes each) where there is none yet, in
``$SHARDLINT_ENVIRONMENTS`` or the user's cache folder, with the Flax that goes with it, and prints figures
and each disagreement. Without releases: one of each minor version. Exits 1 if anything disagrees.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from environments import default_folder, interpreter

from shardlint.api import Linter, Settings, read_source, source_from_text
from shardlint.confirm.confirmer import Confirmer
from shardlint.laws.versions import Release, Target
from shardlint.model.findings import Confirmation, Finding, Severity
from shardlint.rules import all_rules
from shardlint.source import Source

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
RELEASES = ("0.4.35", "0.5.3", "0.6.2", "0.7.2", "0.8.3", "0.9.2", "0.10.2", "0.11.2", "0.12.0.1")


def ask(python: str, script: str, *arguments: object) -> dict[str, Any]:
    """Run a script of this folder under a release, and return the object that it prints."""
    command = [python, str(HERE / script), *map(str, arguments)]
    answer = subprocess.run(command, capture_output=True, text=True)
    if answer.returncode:
        raise SystemExit(f"{script} failed under {python}:\n{answer.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])
    return found


def programs() -> list[Source]:
    """The broken programs of the rules' pages, and the fixtures."""
    pages = [source_from_text(f"{rule.code}.py", rule.bad) for rule in all_rules()]
    fixtures = sorted((ROOT / "fixtures").glob("*.py"))
    return [*pages, *(read_source(str(path)) for path in fixtures)]


def confirmed(python: str, release: str) -> tuple[Counter[str], list[str]]:
    """Have a release run the witness of each finding made for it; also what it refutes or breaks on."""
    told = Target(Release.parse(release), Release.parse(release))
    linter = Linter(Settings(root=str(ROOT), devices=8, target_jax=told))
    findings = [finding for source in programs() for finding in linter.check_source(source)]
    with Confirmer(python, timeout=120.0) as confirmer:
        answered = confirmer.confirm(findings)
        notes = confirmer.notes
    figures = Counter(finding.confirmation.value for finding in answered)
    refuted = [
        _line(after)
        for before, after in zip(findings, answered, strict=True)
        if after.confirmation is Confirmation.REFUTED and before.severity is Severity.ERROR
    ]
    return figures, [*refuted, *notes]


def _line(finding: Finding) -> str:
    at = f"{Path(finding.span.path).name}:{finding.span.line}"
    return f"{at} {finding.code} {finding.confirmed_by}: {finding.message}"


def print_laws(found: dict[str, Any]) -> None:
    """Print the figures of the laws, a line an API."""
    rows: dict[str, dict[str, Counter[str]]] = defaultdict(dict)
    for key, tally in found["figures"].items():
        api, _, mode = key.partition("|")
        rows[api][mode] = Counter(tally)
    for api, modes in rows.items():
        shown = (
            f"{mode} {tally['agree']}/{tally['asked']}"
            + (f" ({tally['undecided']} undecided)" if tally["undecided"] else "")
            for mode, tally in sorted(modes.items())
            if tally["asked"]
        )
        print(f"    {api:44} {', '.join(shown) or 'not there'}")
    print(f"    not asked: {dict(found['lacks'])}")
    for (kind, api, mode), count in Counter((w[0], w[1], w[2]) for w in found["wrong"]).most_common():
        example = next(w for w in found["wrong"] if (w[0], w[1], w[2]) == (kind, api, mode))
        print(f"    DISAGREES {count} times: {kind}, {api}, {mode}\n      " + "\n      ".join(example[3:]))


def main() -> int:
    """Run the releases asked for and print what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("releases", nargs="*", default=RELEASES, metavar="RELEASE")
    parser.add_argument("--cases", type=int, default=2600)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    disagreements = 0
    for release in options.releases:
        python = interpreter(release, default_folder())
        names = ask(python, "ask_names.py")
        laws = ask(python, "ask_laws.py", options.cases, options.seed)
        figures, problems = confirmed(python, release)
        total = Counter[str]()
        for tally in laws["figures"].values():
            total.update(tally)
        print(f"JAX {release}")
        print(f"  names: {names['asked']} asked, {len(names['wrong'])} wrong", *names["wrong"], sep="\n    ")
        print(f"  laws: {total['asked']} cases, {total['agree']} agree, {total['undecided']} undecided")
        print_laws(laws)
        print(f"  worker: {dict(figures)}", *problems, sep="\n    ", flush=True)
        disagreements += len(names["wrong"]) + len(laws["wrong"]) + len(problems)
    return bool(disagreements)


if __name__ == "__main__":
    sys.exit(main())

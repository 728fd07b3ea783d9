"""What releases of JAX say of the rules' examples: a table that is measured, never written by hand.

``python docs/tools/jax_says.py [CODE...] PYTHON...`` runs the examples, or those of some rules, under each
interpreter, and puts what each release of JAX says into ``jax_says.json``. ``tests/versions/run_versions.py``
builds such environments.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any, TypedDict

from shardlint.rules import all_rules

HERE = Path(__file__).parent
TABLE = HERE / "jax_says.json"


class Said(TypedDict):
    """The class of the exception that an example raises, and the first line of its message."""

    raises: str
    message: str


#: By release and code; None where JAX accepts the example.
Table = dict[str, dict[str, Said | None]]


def table() -> Table:
    """Return what was measured."""
    found: Table = json.loads(TABLE.read_text(encoding="utf-8"))
    return found


def asked(python: str, codes: Collection[str] = ()) -> tuple[str, dict[str, Said | None]]:
    """Run examples, all unless rules are named, under an interpreter: its release, and what it says."""
    programs = {rule.code: rule.bad for rule in all_rules() if not codes or rule.code in codes}
    answer = subprocess.run(
        [python, str(HERE / "run_examples.py")], input=json.dumps(programs), capture_output=True, text=True
    )
    if answer.returncode:
        raise SystemExit(f"{python}: {answer.stderr[-2000:]}")
    said: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])
    return said["jax"], {code: _said(outcome) for code, outcome in said["outcomes"].items()}


def _said(outcome: dict[str, Any] | None) -> Said | None:
    return None if outcome is None else {"raises": outcome["classes"][0], "message": outcome["message"]}


def _order(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


def main(arguments: list[str]) -> None:
    """Renew the table for the releases of some interpreters."""
    codes = [word for word in arguments if word.startswith("SHL")]
    known = table() if TABLE.exists() else {}
    for python in arguments:
        if python not in codes:
            release, said = asked(python, codes)
            known[release] = {**(known.get(release, {}) if codes else {}), **said}
    ordered = {
        release: {rule.code: known[release][rule.code] for rule in all_rules() if rule.code in known[release]}
        for release in sorted(known, key=_order)
    }
    TABLE.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

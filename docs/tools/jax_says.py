"""What releases of JAX say of the rules' examples: a table that is measured, never written by hand.

``python docs/tools/jax_says.py PYTHON...`` runs the examples under each interpreter, and puts what each
release of JAX says into ``jax_says.json``. ``tests/versions/run_versions.py`` builds such environments.
"""

from __future__ import annotations

import json
import subprocess
import sys
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


def asked(python: str) -> tuple[str, dict[str, Said | None]]:
    """Run the examples under an interpreter: its release of JAX, and what that says of each."""
    programs = {rule.code: rule.bad for rule in all_rules()}
    answer = subprocess.run(
        [python, str(HERE / "run_examples.py")], input=json.dumps(programs), capture_output=True, text=True
    )
    if answer.returncode:
        raise SystemExit(f"{python}: {answer.stderr[-2000:]}")
    said: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])
    return said["jax"], {code: _said(outcome) for code, outcome in said["outcomes"].items()}


def _said(outcome: dict[str, Any] | None) -> Said | None:
    return outcome and {"raises": outcome["classes"][0], "message": outcome["message"]}


def _order(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


def main(pythons: list[str]) -> None:
    """Renew the table for the releases of some interpreters."""
    known = {**(table() if TABLE.exists() else {}), **dict(map(asked, pythons))}
    ordered = {release: known[release] for release in sorted(known, key=_order)}
    TABLE.write_text(json.dumps(ordered, indent=1, sort_keys=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

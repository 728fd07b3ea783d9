"""What was measured of a release, in `tests/data/releases/`: sorted, with several facts a line."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from environments import numbers

FOLDER = Path(__file__).parents[1] / "data" / "releases"
SECTIONS = (
    "names",
    "matrix",
    "placements",
    "meshes",
    "collectives",
    "shard_map",
    "carries",
    "propagation",
    "pages",
)
FAMILIES = SECTIONS[2:8]
#: What stands between answers.
_BAR = " | "


def stored() -> list[str]:
    """Return the releases that were measured, oldest first."""
    return sorted((path.stem for path in FOLDER.glob("*.json")), key=numbers)


def read(release: str) -> dict[str, Any]:
    """Return what was measured of a release, ``{}`` if nothing."""
    path = FOLDER / f"{release}.json"
    if not path.exists():
        return {}
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    for group, outcomes in found.get("matrix", {}).items():
        found["matrix"][group] = {cell: said for said, cells in outcomes.items() for cell in cells.split()}
    for family in FAMILIES:
        for group in found.get(family, {}).values():
            group["answers"] = _BAR.join(group["answers"]).split(_BAR)
    return found


def write(release: str, measured: dict[str, Any]) -> Path:
    """Store what was measured; neighbouring answers share a line."""
    shown = {**measured, "matrix": {}}
    for group, cells in measured.get("matrix", {}).items():
        outcomes: dict[str, list[str]] = {}
        for cell, said in cells.items():
            outcomes.setdefault(said, []).append(cell)
        shown["matrix"][group] = {said: " ".join(sorted(together)) for said, together in outcomes.items()}
    for family in FAMILIES:
        shown[family] = {
            key: {**group, "answers": _packed(group["answers"])}
            for key, group in shown.get(family, {}).items()
        }
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{release}.json"
    path.write_text(json.dumps(shown, indent=0, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def grouped(answered: list[list[str]]) -> dict[str, Any]:
    """Return answers (group, question, answer) by group, with a digest of the questions."""
    groups: dict[str, dict[str, list[str]]] = {}
    for group, question, answer in answered:
        held = groups.setdefault(group, {"questions": [], "answers": []})
        held["questions"].append(question)
        held["answers"].append(answer)
    return {
        name: {"questions": digest(held["questions"]), "answers": held["answers"]}
        for name, held in sorted(groups.items())
    }


def digest(questions: list[str]) -> str:
    """Return what tells whether questions are still those that were asked."""
    return hashlib.sha256("\n".join(questions).encode()).hexdigest()[:8]


def _packed(answers: list[str]) -> list[str]:
    """Put ten answers on a line: a difference between two releases stays a difference of few lines."""
    return [_BAR.join(answers[start : start + 10]) for start in range(0, len(answers), 10)]

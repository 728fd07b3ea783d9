"""Questions to a JAX about the shapes of its functions, and its answers.

A question is the text of a call as data (see `inference.overlays.asked_functions`); an answer is data too, or
None where JAX refuses the call, or has no such function.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from shardlint.confirm.connection import WORKER
from shardlint.confirm.installed import Versions

if TYPE_CHECKING:
    from shardlint.confirm.confirmer import Confirmer


@cache
def askable() -> frozenset[str]:
    """Return the functions that can be asked about, by their canonical names."""
    table: dict[str, str] = json.loads((WORKER / "askable.json").read_text(encoding="utf-8"))
    return frozenset(f"{home}.{name}" for home, names in table.items() for name in names.split())


class ShapeAnswers:
    """Answers of one installation of JAX, as an analysis reads them; never changed.

    ``versions`` are the releases of the libraries that are asked, JAX's first. The text of an object names
    these and no answers: an analysis that had all its questions answered is valid for any other answers.
    """

    def __init__(self, versions: Versions, known: Mapping[str, Any]) -> None:
        self.versions = versions
        self.known = known

    @property
    def release(self) -> str:
        """Return the release of the JAX that is asked."""
        return dict(self.versions)["jax"]

    def covers(self, function: str) -> bool:
        """Return whether JAX can be asked about a function, given its canonical name."""
        return function in askable()

    def get(self, question: str) -> Any:
        """Return the answer to a question as data, None where there is none."""
        return self.known.get(question)

    def __repr__(self) -> str:
        return f"ShapeAnswers({self.versions})"


def answered(confirmer: Confirmer, questions: Iterable[str]) -> dict[str, Any]:
    """Ask the worker, and return the answers; those without are left out, since the worker was lost."""
    found: dict[str, Any] = {}
    for question in questions:
        name, args, kwargs, operands, mesh = json.loads(question)
        call = {"name": name, "args": args, "kwargs": kwargs, "operands": operands, "mesh": mesh}
        answer = confirmer.answer({"kind": "shapes", **call})
        if answer is not None:
            found[question] = answer["result"] if answer.get("ok") else None
    return found

"""Questions to JAX that an analysis leaves open: asked of the worker, and kept with the results."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Protocol

from shardlint.confirm.installed import Versions, asked_versions
from shardlint.laws.versions import Release, Target, only

if TYPE_CHECKING:
    from shardlint.confirm.confirmer import Confirmer
    from shardlint.confirm.shape_answers import ShapeAnswers

#: The answers that are kept at most; with more they begin anew.
_MOST = 50_000


class Store(Protocol):
    """A store of answers."""

    def get(self, key: bytes) -> bytes | None:
        """Return the value of a key, None where there is none."""

    def put(self, key: bytes, value: bytes) -> None:
        """Store a value."""


class Asking:
    """Asks the JAX that is at hand.

    Args:
        python: the interpreter that has JAX, None for the one that runs this.
        store: where answers are kept, None to keep none.
        timeout: the seconds that one answer may take.
        devices: how many fake devices the worker has.
        confirms: whether findings are confirmed, too, so that confirmation reports what is wrong with JAX.

    ``left_open`` is whether a question was asked in vain, since the worker was lost; ``met`` are the
    questions that came up. Close it, or use it in a ``with``.
    """

    def __init__(
        self,
        python: str | None = None,
        store: Store | None = None,
        timeout: float = 60.0,
        devices: int = 8,
        *,
        confirms: bool = False,
    ) -> None:
        self.left_open = False
        self.met: set[str] = set()
        self._python, self._store = python, store
        self._timeout, self._devices = timeout, devices
        self._confirms = confirms
        self._latest: ShapeAnswers | None = None

    def __enter__(self) -> Asking:
        return self

    def __exit__(self, *_: object) -> None:
        if "confirmer" in vars(self):
            self.confirmer.close()

    @cached_property
    def confirmer(self) -> Confirmer:
        """Return what has the worker, which the first question starts that nobody has asked before."""
        from shardlint.confirm.confirmer import Confirmer

        return Confirmer(self._python, self._timeout, self._devices)

    @cached_property
    def versions(self) -> Versions:
        """Return the releases of JAX and its libraries; empty if there is no JAX."""
        return asked_versions(self._python)

    @property
    def answers(self) -> ShapeAnswers | None:
        """Return the answers known so far, another object whenever there are more; None without a JAX."""
        from shardlint.confirm.shape_answers import ShapeAnswers

        if self._latest is None and self.versions:
            self._latest = ShapeAnswers(self.versions, self._stored())
        return self._latest

    @property
    def asked(self) -> Versions:
        """Return the releases that the results of this run depend on; empty if no JAX was asked about."""
        return () if self._latest is None else self.versions

    def answers_for(self, target: Target | None) -> ShapeAnswers | None:
        """Return the answers known so far; None if this JAX is none of those that a project names."""
        answers = self.answers
        return answers if answers is not None and _is_meant(answers.release, target) else None

    def notes_for(self, target: Target | None) -> list[str]:
        """Return why nothing could be asked, unless confirmation reports it."""
        if self._confirms:
            return []
        answers = self.answers
        if answers is None:
            return [f"ask-jax: {self._python or 'the interpreter that runs shardlint'} has no JAX to ask"]
        if not _is_meant(answers.release, target):
            return [f"ask-jax: JAX {answers.release} is not asked: the project means JAX {target}"]
        return list(self.confirmer.notes) if self.left_open else []

    def ask(self, questions: Iterable[str]) -> bool:
        """Ask what is not known yet; return whether there is any new answer."""
        from shardlint.confirm.shape_answers import ShapeAnswers, answered

        if (before := self.answers) is None:
            return False
        due = sorted(set(questions) - before.known.keys())
        new = answered(self.confirmer, due)
        self.left_open |= len(new) < len(due)
        if not new:
            return False
        known = {**before.known, **new} if len(before.known) < _MOST else new
        self._latest = ShapeAnswers(self.versions, known)
        if self._store is not None:
            self._store.put(self._key, json.dumps(known).encode())
        return True

    def is_open(self, questions: Iterable[str]) -> bool:
        """Return whether one of the questions has no answer yet."""
        answers = self.answers
        return answers is not None and not answers.known.keys() >= set(questions)

    def counts(self) -> list[tuple[str, int, int]]:
        """Return, for each function, in how many ways it was called, and how many of them JAX accepted.

        The most frequent come first.
        """
        known = {} if self.answers is None else self.answers.known
        functions = [(json.loads(question)[0], question) for question in self.met]
        called = Counter(function for function, _ in functions)
        told = Counter(function for function, question in functions if known.get(question) is not None)
        rows = [(function, count, told[function]) for function, count in called.items()]
        return sorted(rows, key=lambda row: (-row[1], row[0]))

    @property
    def _key(self) -> bytes:
        return b"asked" + blake2b(repr(self.versions).encode(), digest_size=20).digest()

    def _stored(self) -> dict[str, Any]:
        """Return the answers in the store. Anybody may have written it: they are data of any form."""
        stored = None if self._store is None else self._store.get(self._key)
        try:
            found = json.loads(stored or b"{}")
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}


def _is_meant(release: str, target: Target | None) -> bool:
    return target is None or only(Release.parse(release)).high in target

"""A worker's answers to witnesses, from the store: the worker starts where one is not stored."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

import pytest

from shardlint.confirm import confirmer
from shardlint.confirm.connection import WORKER, Connection
from support.jax_answers import answer


class StoredConnection:
    """A connection that opens when it is asked what is not stored."""

    def __init__(self, python: str, devices: int, *arguments: Any, **options: Any) -> None:
        self.devices = devices
        self._open = partial(Connection, python, devices, *arguments, **options)
        self._opened: Connection | None = None

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return what the worker answers a request."""
        program = json.dumps([self.devices, request], sort_keys=True)
        said: dict[str, Any] = answer(program, partial(self._ask, request), _worker())
        return said

    def close(self) -> None:
        """Stop the worker, if it was started."""
        if self._opened is not None:
            self._opened.close()

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._opened is None:
            self._opened = self._open()
        return self._opened.ask(request)


@contextmanager
def stored_confirmer() -> Iterator[confirmer.Confirmer]:
    """Yield a confirmer whose worker's answers are stored."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(confirmer, "Connection", StoredConnection)
        with confirmer.Confirmer() as made:
            yield made


@cache
def _worker() -> str:
    """Return the text of all that decides an answer."""
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(WORKER.glob("*.*")))

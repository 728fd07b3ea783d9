"""`real_jax.attempt` with stored answers: a case is run once for each release of JAX."""

from __future__ import annotations

from typing import Any

from real_jax import Outcome
from real_jax import attempt as run
from support.jax_answers import asks_jax

from shardlint.laws.core.values import Marker, Spec


def _written(outcome: Outcome) -> tuple[Any, ...]:
    """Return an outcome in Python's literals."""
    entries = None if outcome.spec is None else tuple(map(_entry, outcome.spec.entries))
    return outcome.ok, outcome.exception, outcome.stage, entries


def _entry(entry: Any) -> Any:
    return {"marker": entry.value} if isinstance(entry, Marker) else entry


def _read(written: tuple[Any, ...]) -> Outcome:
    ok, exception, stage, entries = written
    if entries is None:
        return Outcome(ok, exception, stage)
    marked = (Marker(entry["marker"]) if isinstance(entry, dict) else entry for entry in entries)
    return Outcome(ok, exception, stage, Spec(tuple(marked)))


attempt = asks_jax("laws", encode=_written, decode=_read)(run)

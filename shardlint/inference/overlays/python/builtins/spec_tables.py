"""Dicts of specs by name, as programs look names up in them: what is found, and what is left to a default."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from shardlint.inference.domain.values import ShardingValue, SpecValue, Value
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.model.spans import Place
from shardlint.model.uses import PatternUse

#: Tables with more names than this are not followed.
_LONGEST = 100


def note_lookup(
    interpreter: Evaluator, table: Mapping[Hashable, Value], wanted: Hashable, place: Place | None
) -> None:
    """Record that a name, None if not known, is looked up in a table of specs: the row that is found, or
    all rows if none is."""
    first = next(iter(table.values()), None)
    if not isinstance(first, SpecValue | ShardingValue) or len(table) > _LONGEST or place is None:
        return
    if not (wanted is None or isinstance(wanted, str)) or not interpreter.is_called:
        return
    rows = {wanted: table[wanted]} if wanted in table else table
    for name, spec in rows.items():
        if isinstance(name, str) and isinstance(spec, SpecValue | ShardingValue) and spec.origin is not None:
            interpreter.record(
                PatternUse(
                    place=spec.origin,
                    environment=interpreter.environment(),
                    method="get",
                    pattern=name,
                    subject=wanted,
                    matched=name == wanted,
                    anything=False,
                    site=place,
                )
            )

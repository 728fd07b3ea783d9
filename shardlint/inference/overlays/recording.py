"""Records of calls that are judged as a whole."""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.inference.domain.values import Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.witness_values import call_of
from shardlint.laws.core.verdicts import Verdict
from shardlint.laws.core.witness_data import Known
from shardlint.model.spans import Place
from shardlint.model.uses import CallUse, Fact


def record_call(
    call: Call,
    verdict: Verdict,
    *,
    place: Place | None = None,
    function: str | None = None,
    repaired: dict[int | str, Value] | None = None,
    silent: str | None = None,
    facts: Iterable[Fact] = (),
) -> None:
    """Record a call with its verdict. ``place`` is the wrong argument, if it is a single one.

    ``repaired`` holds, by position or keyword, other values with which JAX accepts the call.
    """
    name = function or call.name
    args, kwargs = list(call.args), dict(call.kwargs)
    given = None if call.opaque else call_of(name, args, kwargs)
    for key, value in (repaired or {}).items():
        if isinstance(key, int):
            args[key] = value
        else:
            kwargs[key] = value
    mended = call_of(name, args, kwargs) if given is not None and repaired is not None else None
    at = place or call.place
    record_of_value(call.interpreter, name, verdict, at, given, mended, facts=facts, silent=silent)


def record_of_value(
    interpreter: Evaluator,
    function: str,
    verdict: Verdict,
    place: Place,
    call: Known = None,
    repaired: Known = None,
    *,
    facts: Iterable[Fact] = (),
    silent: str | None = None,
) -> None:
    """Record an event that is judged as a whole; also an attribute, or the entry of a ``with`` block.

    ``call`` is a call that shows it, as data, and ``repaired`` one that JAX accepts; None if it is not wholly
    known.
    """
    interpreter.record(
        CallUse(
            place=place,
            environment=interpreter.environment(),
            verdict=verdict,
            facts=tuple(facts),
            function=function,
            call=call,
            repaired=repaired,
            silent=silent,
        )
    )

"""Recording calls that are judged as a whole."""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.inference.calls import Call
from shardlint.inference.evaluator import Evaluator
from shardlint.inference.overlays.printing import call_source
from shardlint.inference.values import Value
from shardlint.laws.verdicts import Verdict
from shardlint.spans import Place
from shardlint.uses import CallUse, Fact


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
    """Record a call with its verdict. ``place`` is the argument that is wrong, where it is one.

    ``repaired`` holds, by position or keyword, other values with which JAX accepts the call.
    """
    name = function or call.name
    args, kwargs = list(call.args), dict(call.kwargs)
    written = None if call.opaque else call_source(name, args, kwargs)
    for key, value in (repaired or {}).items():
        if isinstance(key, int):
            args[key] = value
        else:
            kwargs[key] = value
    mended = call_source(name, args, kwargs) if written is not None and repaired is not None else None
    call.interpreter.record(
        CallUse(
            place=place or call.place,
            environment=call.interpreter.environment(),
            verdict=verdict,
            facts=tuple(facts),
            function=name,
            call=written,
            repaired=mended,
            silent=silent,
        )
    )


def record_of_value(
    interpreter: Evaluator,
    function: str,
    verdict: Verdict,
    place: Place,
    call: str | None = None,
    repaired: str | None = None,
) -> None:
    """Record what is no call of a function with arguments: an attribute, the entry of a ``with`` block."""
    interpreter.record(
        CallUse(
            place=place,
            environment=interpreter.environment(),
            verdict=verdict,
            function=function,
            call=call,
            repaired=repaired,
        )
    )

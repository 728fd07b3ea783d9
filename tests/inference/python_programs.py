"""Programs of plain Python, run by Python and by us: what each `meet(place, value)` is given."""

from __future__ import annotations

import builtins
import random
import sys
import types
from collections import defaultdict
from contextlib import suppress

from support.evaluation import evaluate_module

from shardlint.inference.domain.lattice import options
from shardlint.inference.domain.values import Const
from shardlint.inference.evaluation.call import Call

#: By place: the numbers and texts that a value may be there; None where it may be anything.
Said = dict[object, set[object] | None]


def said(text: str) -> Said:
    """What we say that each `meet(place, value)` of a program may be given."""
    found: Said = {}

    def meet(call: Call) -> None:
        place, value = call.args
        assert isinstance(place, Const)
        known = found.setdefault(place.value, set())
        for option in options(value):
            if not isinstance(option, Const) or known is None:
                found[place.value] = None
                break
            known.add(option.value)

    evaluate_module(text, {"meet": meet})
    return found


def met(text: str, seed: int) -> dict[object, list[object]]:
    """What Python gives them, until the program ends or raises. It finds itself as `__main__`."""
    found: dict[object, list[object]] = defaultdict(list)
    module, main = types.ModuleType("__main__"), sys.modules["__main__"]
    module.meet = lambda place, value: found[place].append(value)  # type: ignore[attr-defined]
    before = dict(vars(builtins))
    random.seed(seed)
    sys.modules["__main__"] = module
    try:
        with suppress(Exception):
            exec(compile(text, "program.py", "exec"), vars(module))
    finally:
        sys.modules["__main__"] = main
        for name in vars(builtins).keys() - before.keys():
            delattr(builtins, name)
        for name, value in before.items():
            if vars(builtins)[name] is not value:
                setattr(builtins, name, value)
    return found

"""Parts of an object that functions out of sight hand on to each other: what they may change is not known,
and what they only read stays known.
"""

from __future__ import annotations

import itertools
import random

import pytest
from python_programs import met, said

_PROGRAM = """\
import dataclasses, random
@dataclasses.dataclass
class Rules:
    batch: str = "data"
    sizes: list = dataclasses.field(default_factory=lambda: [1])
    axes: tuple = ("a", "b")
class Grown(Rules):
    def grow(self): self.sizes.append(2); return self
    def me(self): return self
@dataclasses.dataclass
class Config:
    rules: Rules
    n: int = 3
cfg = Config({kind}())
held = [[5]]
{helpers}
try:
    random.choice([lambda name: {use}])("sizes")
except Exception: pass
meet(1, len(cfg.rules.sizes))
meet(2, cfg.rules.batch)
meet(3, cfg.n)
meet(4, len(held[0]))
def inside():
    return len(cfg.rules.sizes) + cfg.n
meet(5, inside())
"""
#: What a function does with the first of its parameters.
_INNERMOST = {
    "get attribute": "return getattr(x, y)",
    "get attribute or": "return getattr(x, 'none', x)",
    "append": "getattr(x, y).append(1)",
    "attribute": "x.sizes.append(1)",
    "local": "z = x; w = z.sizes; w.append(1)",
    "loop": "for z in [x]: z.sizes += [1]",
    "display": "(y, x)[1].sizes.append(1)",
    "set": "x.batch = 'model'",
    "setattr": "setattr(x, 'sizes', [])",
    "read": "return len(x.sizes), x.batch",
    "returned": "return x.sizes",
    "method": "return x.grow() if hasattr(x, 'grow') else x",
    "nothing": "return x",
    "closure": "return (lambda: x.sizes.append(1))()",
    "vars": "vars(x)['sizes'].append(1)",
    "item": "[x][0].sizes.append(1)",
}
#: How a helper hands its parameters on.
_ON = (
    "inner(x, y)", "inner(y=y, x=x)", "inner(*[x, y])", "inner(**{'x': x, 'y': y})", "inner([x][0], y)",
    "[inner(z, y) for z in (x,)]", "(lambda z: inner(z, y))(x)", "inner(x, y) or inner(Rules(), y)",
    "inner(Config(x).rules, y)",
)  # fmt: skip
#: What the unseen function does, and what it does with the result.
_USES = (
    "outer(cfg.rules, name)", "outer(x=cfg.rules, y=name)", "(outer(cfg.rules, name), cfg.n)",
    "outer((lambda: cfg.rules)(), name)", "outer(getattr(cfg, 'rules'), name)",
)  # fmt: skip
_RESULTS = (
    "X", "getattr(X, 'append', print)(1)", "getattr(getattr(X, 'sizes', []), 'append', print)(1)",
    "setattr(X, 'batch', 'm') if isinstance(X, Rules) else 1",
)  # fmt: skip


def _program(kind: str, innermost: str, on: str, use: str, result: str) -> str:
    helpers = f"def inner(x, y):\n    {innermost}\ndef outer(x, y):\n    return {on}"
    return _PROGRAM.format(kind=kind, helpers=helpers, use=result.replace("X", use))


def _false(program: str) -> bool:
    found, claimed = met(program, 0), said(program)
    return any(known is not None and not set(found[place]) <= known for place, known in claimed.items())


@pytest.mark.parametrize("innermost", _INNERMOST.values(), ids=_INNERMOST)
def test_parts_that_may_change_are_unknown(innermost: str) -> None:
    every = [*itertools.product(("Rules", "Grown"), _ON, _USES, _RESULTS)]
    for kind, on, use, result in random.Random(innermost).sample(every, 12):
        program = _program(kind, innermost, on, use, result)
        assert met(program, 0), program
        assert not _false(program), program


@pytest.mark.parametrize("innermost", ["get attribute", "read", "returned"])
@pytest.mark.parametrize("on", _ON[:2])
def test_what_is_only_read_stays_known(innermost: str, on: str) -> None:
    claimed = said(_program("Rules", _INNERMOST[innermost], on, _USES[0], "X"))
    assert (claimed[2], claimed[3], claimed[4]) == ({"data"}, {3}, {1})

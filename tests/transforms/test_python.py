"""Python's own functions and methods on random arguments: what we say beside what CPython computes."""

from __future__ import annotations

import ast
import copy
import dataclasses
import fnmatch
import functools
import itertools
import json
import math
import operator
import random
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from probing import SCALE, Tally, compare, evaluate

from shardlint.inference.domain.values import Const, DictValue, ListValue, SetValue, Tuple, Value

ROUNDS = max(1, round(SCALE))
PRELUDE = """\
import ast, copy, dataclasses, fnmatch, functools, itertools, json, math, operator, tomllib, yaml

@dataclasses.dataclass
class Config:
    width: int
    depth: int = 2
    sizes: list = dataclasses.field(default_factory=list)
    name: str = dataclasses.field(default="n")

@dataclasses.dataclass(frozen=True)
class Frozen:
    width: int
    half: object = dataclasses.field(init=False)
    def __post_init__(self):
        object.__setattr__(self, "half", (self.width // 2, type(self).__name__))

class Checked(Frozen):
    @property
    def area(self):
        return self.half * 2

@dataclasses.dataclass
class Wide(Config):
    extra: tuple = (1, 2)
"""
EXPRESSIONS = 60

INTS = ("0", "1", "2", "-3", "7", "True", "10**3", "len('ab')")
FLOATS = ("0.5", "2.0", "-1.5", "1e3")
STRINGS = ("''", "'a'", "'b c'", "'12'", "' x,y '", "'model'", "'data,model'")
LISTS = (
    "[]",
    "[3, 1, 2]",
    "['b', 'a']",
    "[('k', 1), ('a', 2)]",
    "[1, 'a']",
    "[[1], [2, 3]]",
    "[0, None, 1.5]",
)
TUPLES = ("()", "(1,)", "(4, 2, 4)", "('x', 'y')", "((1, 2), 3)")
DICTS = ("{}", "{'a': 1, 'b': 2}", "{1: 'x', (1, 2): None}", "{'b': [1], 'a': (2,)}")
SETS = ("set()", "{1, 2}", "frozenset({'x'})")
OTHERS = ("None", "...", "Config(3)", "list(range(5, 0, -2))")
FUNCTIONS = (
    "lambda v: v",
    "lambda v: v + 1",
    "len",
    "lambda v, w=1: (v, w)",
    "str",
    "lambda v: v > 1",
    "None",
    "int",
)

#: X, Y, Z are any values, N an integer, S a string, L a sequence, D a dict, F a function.
TEMPLATES = """\
len(X) | range(N) | list(range(N, N)) | list(range(N, N, N)) | zip(L, L) | list(zip(L, L, L))
list(enumerate(L)) | list(enumerate(L, N)) | list(enumerate(L, start=N)) | list(map(F, L))
list(map(F, L, L)) | list(filter(F, L)) | tuple(X) | list(X) | set(X) | frozenset(X) | dict(X) | dict(L)
dict(D, z=N) | dict(a=X) | int(X) | int(S, N) | float(X) | str(X) | bool(X) | sum(L) | sum(L, N)
sum(L, start=N) | min(L) | max(L) | min(N, N) | max(N, N, N) | max(L, default=N) | min(L, key=F) | abs(X)
sorted(X) | sorted(L, reverse=True) | sorted(L, key=F) | list(reversed(L)) | any(L) | all(L)
isinstance(X, int) | isinstance(X, (str, tuple)) | isinstance(X, list) | isinstance(X, float)
isinstance(X, dict) | isinstance(X, bool) | isinstance(X, set) | isinstance(X, object)
isinstance(X, Config) | getattr(X, S) | getattr(X, S, N) | getattr(Config(N), 'width')
hasattr(Config(N), 'depth') | hasattr(X, 'append') | divmod(N, N) | divmod(X, N) | round(X) | round(X, N)
list(X)[slice(N, N)] | L[slice(N)] | next(iter(L)) | next(iter(L), N) | callable(X) | callable(F) | iter(L)
[*X] | (*L, *X) | L.index(X) | L.count(X) | (lambda v: (v.append(X), v))(L)
(lambda v: (v.extend(X), v))(L) | (lambda v: (v.insert(N, X), v))(L) | (lambda v: (v.pop(), v))(L)
(lambda v: (v.pop(N), v))(L) | (lambda v: (v.remove(X), v))(L) | (lambda v: (v.sort(), v))(L)
(lambda v: (v.reverse(), v))(L) | (lambda v: (v.clear(), v))(X) | L.copy() | D.copy() | D.get(X)
D.get(X, N) | list(D.items()) | list(D.keys()) | list(D.values()) | tuple(D) | D[X] | D['a']
(lambda v: (v.update(X), v))(D) | (lambda v: (v.update(z=N), v))(D) | (lambda v: (v.update(D, z=N), v))(D)
(lambda v: (v.setdefault(X, N), v))(D) | (lambda v: (v.pop(X), v))(D) | (lambda v: (v.pop('a', N), v))(D)
(lambda v: (v.popitem(), v))(D) | S.split() | S.split(S) | S.split(',') | S.split(',', N) | S.rsplit(',', 1)
S.strip() | S.lower() | S.upper() | S.replace(S, S) | S.startswith(S) | S.endswith(S) | S.removeprefix(S)
S.partition(',') | S.isdigit() | S.find(S) | S.title() | S.capitalize() | S.zfill(N) | S.join(L)
','.join(L) | S.format(N) | S.encode() | S.splitlines() | S.count(S) | S.index(S) | S.startswith((S, S))
S * N | S + S | L * N | L + L | X in L | X in D | S in S | X == Y | X < Y | X is None | not X | X and Y
functools.partial(F, X)() | functools.partial(max, N)(N) | functools.reduce(lambda a, b: a + b, L)
functools.reduce(F, L) | functools.reduce(lambda a, b: (a, b), L, N) | math.prod(L) | math.prod(L, start=N)
math.sqrt(X) | math.ceil(X) | math.floor(X) | math.log2(X) | math.gcd(N, N) | math.lcm(N, N, N)
math.isqrt(X) | math.pow(N, N) | math.log(X, N) | math.exp(X) | math.fabs(X) | math.trunc(X)
operator.add(X, Y) | operator.mul(X, N) | operator.sub(N, N) | operator.floordiv(N, N) | operator.mod(N, N)
list(itertools.product(L, L)) | list(itertools.product(L, repeat=2)) | list(itertools.chain(L, L))
list(itertools.chain(X, Y)) | copy.copy(X) | copy.deepcopy(X) | (lambda v: (copy.copy(v).append(9), v))(L)
(lambda v: (copy.deepcopy(v)[0].append(9), v))([[1], 2])
(lambda v: (copy.copy(v)[0].append(9), v))([[1], 2]) | Config(N).area if X else N | Config(N).width
Config(width=X).sizes | Config(N, N).depth | Config().width | Wide(N).extra | Wide(N, extra=X).extra
dataclasses.replace(Config(N), width=X).width | dataclasses.replace(Config(N), depth=N).width
dataclasses.replace(Wide(N), extra=X).extra | dataclasses.asdict(Config(N, N, L))
dataclasses.asdict(Config(Config(N))) | dataclasses.replace(X, width=1) | dataclasses.asdict(X)
(lambda c: (c.sizes.append(N), c.sizes))(Config(N))
(lambda c: (setattr(c, 'width', X), c.width))(Config(N)) | (lambda c: c.width)(Config(*L))
(lambda: [setattr(Wide(N), 'width', 1)])() | len(dataclasses.asdict(Wide(N))) | Config(N) == Config(N)
Config(N).name.upper() | ast.literal_eval(repr(X)) | ast.literal_eval(S)
ast.literal_eval("{'a': [1, (2,)]}") | json.loads('{"a": [1, null, 2.5], "b": {"c": true}}')
json.loads('[1, "x"]') | json.loads(S) | json.loads('[1,') | json.loads('{"a": 1}')['a']
(lambda v: (v.append(N), v))(json.loads('[1]'))
Frozen(N).half | Checked(N).area | Frozen(X).half | type(Wide(N)) is Wide | type(Wide(N)) is Config
type(Config(N))(X).width | type(Wide(N)).__name__
(lambda c: (object.__setattr__(c, S, X), c.width))(Wide(N)) | fnmatch.fnmatch('a/kernel', '*/kernel')
fnmatch.fnmatch(S, S) | fnmatch.fnmatchcase(S, '[a-m]*') | fnmatch.fnmatch(S, '?*') | fnmatch.fnmatch(S, X)
(lambda c: (object.__setattr__(c, 'width', X), c.width, c.half))(Frozen(N)) | type(X) is Config
list(Wide.__dataclass_fields__) | {k: v for k, v in D.items() if k not in Config(N).__dataclass_fields__}
Config(**{k: v for k, v in {'width': N, 'b': 2}.items() if k in Config.__dataclass_fields__}).width
[f.name for f in dataclasses.fields(Wide)] | S in Config.__dataclass_fields__ | yaml.safe_load(S)
yaml.safe_load('a: [1, 2]\\nb: {c: x, d: 0x10, e: 1e3}\\n3: ~') | yaml.safe_load('- 1\\n- yes\\n- 2001-01-01')
yaml.safe_load('a: &b [1]\\nc: *b') | yaml.load('a: {b: 1}', Loader=yaml.SafeLoader) | yaml.safe_load('a: [')
yaml.safe_load('a: |\\n  b\\n  c\\nd: "e"') | yaml.full_load('a: !!python/tuple [1, 2]') | yaml.safe_load('')
tomllib.loads('a = 1\\n[b]\\nc = [1, "x"]') | tomllib.loads('a = ') | tomllib.loads('a = 2001-01-01')
ast.literal_eval('[' * 300) | json.loads('[' * 1999) | ast.literal_eval('-' * 1998 + '1')
"""
REAL: dict[str, Any] = {
    "ast": ast,
    "json": json,
    "copy": copy,
    "dataclasses": dataclasses,
    "fnmatch": fnmatch,
    "functools": functools,
    "itertools": itertools,
    "math": math,
    "operator": operator,
    "tomllib": tomllib,
    "yaml": yaml,
}


def expression(rng: random.Random) -> str:
    """One of the templates with its letters filled in."""
    sequences = (*LISTS, *TUPLES)
    pools = {"N": (*INTS, "3", "4"), "S": STRINGS, "L": sequences, "D": DICTS, "F": FUNCTIONS}
    anything = (*INTS, *FLOATS, *STRINGS, *sequences, *DICTS, *SETS, *OTHERS)
    template = rng.choice([part.strip() for line in TEMPLATES.splitlines() for part in line.split(" | ")])
    words = []
    for i, letter in enumerate(template):
        alone = not (template[i - 1 : i].isalnum() or template[i + 1 : i + 2].isalnum())
        if alone and letter in "NSLDFXYZ":
            chosen = rng.choice(pools.get(letter, anything))
            # A number before a dot, or a function before an argument, needs its own brackets.
            words.append(f"({chosen})" if letter in "NF" or chosen[0] not in "[({'" else chosen)
        else:
            words.append(letter)
    return "".join(words)


def real_value(text: str) -> tuple[bool, Any]:
    """Whether CPython computes the expression, and what it gives."""
    try:
        return True, listed(eval(text, dict(REAL)))
    except Exception:
        return False, None


def is_known(value: Value) -> bool:
    """Whether every part of a value is definite."""
    if isinstance(value, Tuple | ListValue):
        return value.items is not None and all(map(is_known, value.items))
    if isinstance(value, DictValue):
        return value.items is not None and all(map(is_known, value.items.values()))
    return isinstance(value, Const) or (isinstance(value, SetValue) and value.items is not None)


def listed(real: Any) -> Any:
    """Iterators and ranges as the lists that the evaluator takes them for."""
    return list(real) if isinstance(real, range | Iterator) else real


@pytest.mark.parametrize("batch", range(10))
def test_python_agrees(batch: int) -> None:
    exec(PRELUDE, REAL)
    tally, definite = Tally(), 0
    for round_ in range(ROUNDS):
        rng = random.Random(f"{batch} {round_}")
        texts = [expression(rng) for _ in range(EXPRESSIONS)]
        lines = [f"probe({i}, {text})" for i, text in enumerate(texts)]
        found = evaluate(PRELUDE + "\n".join(lines) + "\n").probes
        for i, text in enumerate(texts):
            runs, real = real_value(text)
            if not runs:
                assert not is_known(found[i]), f"{text} raises, but we say {found[i]}"
                continue
            definite += is_known(found[i])
            try:
                compare(found[i], real, {}, tally)
            except AssertionError as error:
                raise AssertionError(f"{text}: {error}") from None
    assert definite > 0.3 * EXPRESSIONS * ROUNDS

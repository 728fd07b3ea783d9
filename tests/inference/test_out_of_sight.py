"""Objects and functions out of sight, and what calling them changes: it is not taken for known."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest
from python_programs import met, said

from shardlint.api import Linter, Settings
from shardlint.source.sources import read_source

_START = """\
import ast, collections, contextlib, copy, functools, itertools, json, operator, random, threading, types
some = random.randint(1, 1)
log, table, count, kept = [], {{}}, 0, [0]
class Box:
    n = 0
    def step(self): self.n += 1
box = Box()
class Kind:
    total = 0
def change():
    {effect}
    return 1
{definitions}
{use}
meet(1, {seen})
{use}
meet(2, {seen})
def inside():
    return {seen}
meet(3, inside())
"""
#: What a function changes, and an expression that tells.
_EFFECTS = {
    "append": ("log.append(1)", "len(log)"),
    "alias": ("mine = log; mine.append(1)", "len(log)"),
    "loop": ("for one in [log]: one.append(1)", "len(log)"),
    "helper": ("(lambda some: some.append(1))(log)", "len(log)"),
    "global": ("global count; count += 1", "count"),
    "rebound": ("global log; log = log + [1]", "len(log)"),
    "item": ("table['n'] = table.get('n', 0) + 1", "table.get('n', 0)"),
    "slice": ("kept[:] = [kept[0] + 1]", "kept[0]"),
    "attribute": ("box.n += 1", "box.n"),
    "method": ("box.step()", "box.n"),
    "class": ("Kind.total += 1", "Kind.total"),
    "setattr": ("setattr(Kind, 'total', Kind.total + 1)", "Kind.total"),
    "globals": ("globals()['count'] = count + 1", "count"),
}
#: Expressions for an object of the class `H` that is not known.
_OBJECTS = {
    "choice": "random.choice([H()])",
    "list of unknown length": "[H() for _ in range(some)][0]",
    "unknown key": "{random.choice('a'): H()}['a']",
    "copy": "copy.copy(random.choice([H()]))",
    "class": "random.choice([H])()",
    "class under an unknown key": "{'a': H}[random.choice('a')]()",
    "unknown attribute": "getattr(types.SimpleNamespace(h=H()), random.choice('h'))",
    "unknown variable": "globals()[random.choice(['H'])]()",
    "class of an object": "type(random.choice([H()]))()",
    "derived class": "type('T', (H,), {{}})()".replace("{{}}", "{}"),
    "reduce": "functools.reduce(lambda a, b: a, [H()] * some)",
    "method": "types.SimpleNamespace(get=random.choice([H().get]), __iter__=0)",
}
#: Uses of such an object, and the method of `H` that they run.
_USES = {
    "method": ("X.get()", "get(self): return change()"),
    "bound": ("m = X.get; m()", "get(self): return change()"),
    "getattr": ("getattr(X, 'get')()", "get(self): return change()"),
    "methodcaller": ("operator.methodcaller('get')(X)", "get(self): return change()"),
    "parameter": ("def p(h): return h.get()\np(X)", "get(self): return change()"),
    "in a loop": ("for h in [X] * some: h.get()", "get(self): return change()"),
    "unbound": ("H.get(X)", "get(self): return change()"),
    "property": ("X.size", "size(self): return change()"),
    "missing attribute": ("X.other", "__getattr__(self, name): return change()"),
    "for": ("for _ in X: pass", "__iter__(self): return iter([change()])"),
    "list": ("list(X)", "__iter__(self): return iter([change()])"),
    "unpacking": ("a, = X", "__iter__(self): return iter([change()])"),
    "generator": ("list(X)", "__iter__(self): yield change()"),
    "item": ("X[0]", "__getitem__(self, k): return change()"),
    "set item": ("X[0] = 1", "__setitem__(self, k, v): change()"),
    "set attribute": ("X.a = 1", "__setattr__(self, k, v): change()"),
    "call": ("X()", "__call__(self): return change()"),
    "with": ("with contextlib.ExitStack() as s: s.enter_context(X)", "__enter__(self): change()"),
    "add": ("X + 1", "__add__(self, other): return change()"),
    "radd": ("1 + X", "__radd__(self, other): return change()"),
    "class method": ("X.make()", "make(cls): return change()"),
}
_CLASS = """\
class H:
    {decorator}
    def {method}
    def get(self): return change()
    def __exit__(self, *a): pass
"""
_DECORATORS = {"property": "@property", "class method": "@classmethod"}
_FUNCTIONS = """\
def f(*a, **k): return change()
def gen(): yield change()
def outer():
    def inner(*a): return change()
    return inner
class H:
    def get(self, *a): return change()
    @property
    def size(self): return change()
    def __iter__(self): return iter([change()])
    def __getitem__(self, k): return change()
    def __call__(self): return change()
class N:
    def __init__(self): change()
"""
#: Ways by which functions and methods come to be called where that is not seen.
_CALLS = {
    "choice": "random.choice([f])()",
    "unknown key": "{'a': f}[random.choice('a')]()",
    "list": "[f for _ in range(some)][0]()",
    "inner": "random.choice([outer()])()",
    "returned": "random.choice([outer])()()",
    "lambda": "random.choice([lambda: change()])()",
    "bound": "random.choice([H().get])()",
    "constructor": "random.choice([N])()",
    "generator": "list(random.choice([gen()]))",
    "partial": "random.choice([functools.partial(f, 1)])()",
    "wraps": "q = functools.wraps(f)(lambda: change()); random.choice([q])()",
    "default": "def dd(g=f): return g()\nrandom.choice([dd])()",
    "closure": "def mk(g):\n    def h(): return g()\n    return h\nrandom.choice([mk(f)])()",
    "class attribute": "class K:\n    a = [f]\nrandom.choice([K]).a[0]()",
    "attribute": "b = Box(); b.cb = f; random.choice([b]).cb()",
    "attribute set later": "b = Box()\nu = random.choice([b])\nb.h = H()\nu.h.get()",
    "item set later": "xs = []\nu = random.choice([xs])\nxs.append(f)\nu[0]()",
    "method set later": "class U: pass\nu = random.choice([U()])\nU.get = f\nu.get()",
    "bound later": "def late(): return later()\nu = random.choice([late])\ndef later(): return change()\nu()",
    "vectorize": "import numpy as np\nnp.vectorize(f)([1])",
    "json": "json.dumps(Kind, default=f)",
    "encoder": (
        "class E(json.JSONEncoder):\n    def default(self, o): return change()\n"
        "json.dumps(Box(), cls=E)"
    ),
    "reduce": "functools.reduce(random.choice([f]), [1, 2])",
    "map": "list(map(random.choice([f]), [1]))",
    "defaultdict": "d = collections.defaultdict(f); d[random.random()]",
    "visitor": "class V(ast.NodeVisitor):\n    def visit_Name(self, n): change()\nV().visit(ast.parse('a'))",
    "constructor of a library": (
        "class U(collections.UserDict):\n    def __setitem__(self, k, v): change()\nU({1: 2})"
    ),
    "thread": "t = threading.Thread(target=f); t.start(); t.join()",
    "exception": (
        "class X(Exception):\n    def get(self): change()\ntry: raise X()\n"
        "except Exception as e: e.get()"
    ),
    "member": (
        "import enum\nclass U(enum.Enum):\n    A = 1\n    def get(self): change()\n"
        "random.choice([U.A]).get()"
    ),
    "named tuple": (
        "class U(collections.namedtuple('U', 'a')):\n    def get(self): change()\nrandom.choice([U(1)]).get()"
    ),
    "too deep": "def rec(n, h):\n    return h.get() if n == 0 else rec(n - 1, h)\nrec(40, H())",
    "too deep, made there": "def rec(n):\n    return H().get() if n == 0 else rec(n - 1)\nrec(40)",
    "too deep, by a variable": (
        "hh = H()\ndef rec(n):\n    return hh.get() if n == 0 else rec(n - 1)\n"
        "rec(40)"
    ),
    "unknown variable": "globals()[random.choice(['f'])]()",
    "coroutine": "import asyncio\nasync def co(): change()\nasyncio.run(random.choice([co])())",
    "descriptor": (
        "class D:\n    def __get__(self, o, t): return change()\n"
        "class U:\n    a = D()\nrandom.choice([U()]).a"
    ),
} | {
    f"{name} in a special method": (
        "class S:\n    def __init__(self): self.helper = H()\n"
        f"    def __str__(self):\n        {body}\n        return ''\nstr(S())"
    )
    for name, body in {
        "method": "self.helper.get()",
        "property": "self.helper.size",
        "loop": "for _ in self.helper: pass",
        "item": "self.helper[0]",
        "call": "self.helper()",
        "object of its own": "H().get()",
    }.items()
}  # fmt: skip


def _program(effect: str, definitions: str, use: str) -> str:
    change, seen = _EFFECTS[effect]
    return _START.format(effect=change, seen=seen, definitions=definitions, use=use)


def _with_object(way: str, use: str, effect: str) -> str:
    text, method = _USES[use]
    definitions = _CLASS.format(decorator=_DECORATORS.get(use, ""), method=method)
    return _program(effect, definitions, text.replace("X", _OBJECTS[way]))


def _false(program: str) -> bool:
    """Return whether something else is claimed than Python meets; it must meet something."""
    found, claimed = met(program, 0), said(program)
    return any(known is not None and not set(found[place]) <= known for place, known in claimed.items())


@pytest.mark.parametrize("way", _CALLS)
def test_what_functions_out_of_sight_change_is_unknown(way: str) -> None:
    for effect in _EFFECTS:
        program = _program(effect, _FUNCTIONS, _CALLS[way])
        assert len(met(program, 0)) == 3, program
        assert not _false(program), program


@pytest.mark.parametrize("use", _USES)
def test_what_unknown_objects_change_is_unknown(use: str) -> None:
    effects = itertools.cycle(_EFFECTS)
    for way in _OBJECTS:
        program = _with_object(way, use, next(effects))
        assert not _false(program), program


@pytest.mark.parametrize("part", range(4))
def test_random_objects_out_of_sight(part: int) -> None:
    chance = random.Random(f"out of sight {part}")
    for way, use, effect in chance.sample([*itertools.product(_OBJECTS, _USES, _EFFECTS)], 40):
        program = _with_object(way, use, effect)
        assert not _false(program), program


@pytest.mark.parametrize("part", range(4))
def test_random_compositions(part: int) -> None:
    """Two ways one after the other, in a function that is called twice: what is remembered counts."""
    chance = random.Random(f"compositions {part}")
    for _ in range(20):
        one, other = chance.choice([*_CALLS.values()]), chance.choice([*_USES.values()])[0].replace("X", "o")
        effect = chance.choice([*_EFFECTS])
        body = "\n".join(f"    {line}" for line in f"o = random.choice([H()])\n{one}\n{other}".splitlines())
        program = _program(
            effect, f"{_FUNCTIONS}\ndef main(n):\n{body}\n", "try: main(1)\nexcept Exception: pass"
        )
        assert not _false(program), program


#: Functions that change nothing that is asked for, though they are called unseen.
_READS = {
    "length": "return len(log)",
    "attribute": "return box.n + 1",
    "item": "return table.get('n', count)",
    "copy": "mine = list(log); mine.append(1)",
    "its own": "mine = []; mine.append(count)",
    "test": "return 1 if log and count else 2",
    "its own attribute": "f.calls = 1",
    "parameter": "a[0].append(1) if a else None",
}


@pytest.mark.parametrize("body", _READS.values(), ids=_READS)
def test_what_is_only_read_stays_known(body: str) -> None:
    program = _program("append", f"def f(*a):\n    {body}\nclass H:\n    def get(self): return f()\n", "")
    program = program.replace("\n\nmeet(1", "\nrandom.choice([f])()\nrandom.choice([H()]).get()\nmeet(1")
    for seen in ("len(log)", "count", "box.n", "len(table)"):
        text = program.replace("len(log))", f"{seen})")
        assert said(text) == {place: set(values) for place, values in met(text, 0).items()}, text


def test_modules_may_import_each_other(tmp_path: Path) -> None:
    modules = {
        "one.py": "import two\n\ndef f():\n    return two.one.two.size\n",
        "two.py": "import one\n\nsize = 6\n",
        "main.py": "import somewhere\nimport one\nimport two\nsomewhere.call(one.f)\n"
        "import jax, jax.numpy as jnp\nfrom jax.sharding import PartitionSpec as P, NamedSharding\n"
        'mesh = jax.make_mesh((8,), ("x",))\n'
        'jax.device_put(jnp.ones(two.size), NamedSharding(mesh, P("x")))\n',
    }
    for name, text in modules.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    findings = Linter(Settings(devices=8)).check_source(read_source(str(tmp_path / "main.py")))
    assert [finding.code for finding in findings] == ["SHL202"]

"""Random programs that make iterators, take items from them and change what these are of, beside CPython.

What we say of a value is what Python computes. Each program mixes makers, takers and changes of the language
and the library; some of what they do happens on branches that are not decided.
"""

from __future__ import annotations

import os
import random

import pytest
from differential import compare
from support.sizes import size

pytestmark = pytest.mark.slow

#: Programs; the environment may ask for more, from another seed on.
PROGRAMS = size("SHARDLINT_ITERATOR_PROGRAMS", 200, 2400)
FIRST = int(os.environ.get("SHARDLINT_ITERATOR_SEED", "0"))
PARTS = 4

HEADER = """
import collections, functools, itertools
k = 2
log = []
xs = [3, 1, 4, 1, 5]
ys = [2, 7]
d = {"a": 1, "b": 2, "c": 3}

def f(v):
    log.append(v)
    return v + k

def big(v):
    return v > 2

def gen(n):
    for i in range(n):
        yield i + k

def through(it):
    for v in it:
        yield v + 1

def logged(it):
    log.append(0)
    for v in it:
        log.append(v)
        yield v

def first_of(it):
    for v in it:
        return v

def total(*args):
    return sum(args)

class Held:
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        return iter(self.items)

    def made(self):
        for item in self.items:
            yield item * k

held = Held(xs)
"""

#: Iterables of numbers that are no iterators; and iterators of numbers, made of such and of iterators.
PLAIN = (
    "xs", "ys", "range(4)", "(5, 6, 7)", "d.values()", "[q * k for q in xs]", "held", "sorted(xs)",
    "xs[1:]",
)  # fmt: skip
MAKERS = (
    "iter({i})", "map(f, {i})", "map(lambda v: v * k, {i})", "filter(big, {i})", "filter(None, {i})",
    "(v + k for v in {i})", "(v for v in {i} if v > k)", "(v + w for v in {i} for w in {j})",
    "reversed(xs)", "reversed(sorted({i}))", "gen(3)", "through({i})", "logged({i})", "held.made()",
    "(f(v) for v in {i})", "itertools.chain({i}, {j})", "itertools.chain.from_iterable([{i}, {j}])",
    "itertools.islice({i}, 2)", "itertools.islice({i}, 1, None)", "itertools.islice({i}, 1, 4, 2)",
    "itertools.takewhile(big, {i})", "itertools.dropwhile(big, {i})", "itertools.accumulate({i})",
    "itertools.filterfalse(big, {i})", "map(sum, zip({i}, {j}))", "(v * i for i, v in enumerate({i}))",
    "itertools.starmap(total, zip({i}, {j}))", "map(sum, itertools.zip_longest({i}, {j}, fillvalue=0))",
    "map(sum, itertools.pairwise({i}))", "itertools.islice(itertools.cycle({i}), 5)",
    "itertools.islice(itertools.count(k), 3)", "itertools.islice(itertools.repeat(k), 2)",
    "itertools.tee({i})[0]", "map(sum, itertools.product({i}, {j}))", "map(total, {i}, {j})",
    "(len(q) + v for q, v in d.items())", "map(d.get, d)", "map(len, d.keys())",
    "filter(lambda v: v % 2, {i})", "iter(ys.pop, 9)", "map(xs.index, {i})", "iter({i} if k > 1 else {j})",
    "map(sum, itertools.combinations({i}, 2))", "iter(tuple({i}))", "iter(held)",
    "(opaque() or v for v in {i})", "filter(lambda v: opaque(), {i})",
    "itertools.takewhile(lambda v: v < 5, map(f, {i}))",
)  # fmt: skip
TAKERS = (
    "list({i})", "tuple({i})", "sum({i})", "max({i}, default=0)", "min(map(lambda v: -v, {i}), default=9)",
    "any(v > 2 for v in {i})", "all(v > 2 for v in {i})", "any({i})", "4 in {i}", "3 not in {i}",
    "next({i}, None)", "sorted({i})", "set({i})", "frozenset({i}) == {{3}}", "dict(enumerate({i}))",
    "dict(zip({i}, {j}))", "','.join(str(v) for v in {i})", "[*{i}]", "(*{i}, *{j})", "total(*{i})",
    "len(list(zip({i}, {i})))", "list(zip({i}, range(2)))", "list(zip(range(2), {i}))", "[v for v in {i}]",
    "{{v: 1 for v in {i}}}", "{{v for v in {i}}}", "collections.Counter({i})",
    "list(collections.deque({i}))", "functools.reduce(lambda a, b: a + b, {i}, 0)", "first_of({i})",
    "sum(1 for _ in {i})", "list(map(lambda v, w: v * w, {i}, {j}))", "list(enumerate({i}, k))",
    "list(itertools.islice({i}, k))", "[[v, w] for v in {i} for w in {j}]", "list({i})[:1]", "bool({i})",
    "list(reversed(list({i})))", "next(v for v in {i})", "max(xs, key=lambda v: f(v))", "list(d.items())",
    "len(d.keys())", "list(dict.fromkeys({i}))", "list(itertools.takewhile(big, {i}))", "{i}.__next__()",
    "[next({i}, 0) for _ in range(2)]", "(next({i}, 0), next({i}, 0))", "len(log)", "list(xs)", "list(log)",
    "(k, len(xs), len(d))", "sum(map(f, {i}))", "[w for v in [{i}] for w in v]",
    "isinstance({i}, list)",    "sorted({i}, key=lambda v: -v)",
)  # fmt: skip
CHANGES = (
    "k = 3", "k += 1", "xs.append(k)", "xs.insert(0, 9)", "xs.pop()", "xs.remove(max(xs))",
    "xs.extend(itertools.islice({i}, 3))", "xs[1:2] = {i}", "xs += itertools.islice({i}, 2)",
    "ys.append(9)", "xs = [8, 6]", "d['e'] = k", "d['a'] = 7", "d.update(zip('xy', {i}))",
    "d.pop('a', None)", "held.items = ys", "xs.clear()", "log.clear()", "xs.sort()", "xs.reverse()",
    "del xs[:1]", "next({i}, None)", "xs.extend(ys)", "held.items.append(6)", "xs = list({i})", "hide({i})",
    "xs[0] = 2",
)  # fmt: skip
LOOPS = (
    "for v in {i}:\n    n += v", "for v in {i}:\n    n += v\n    if v > 2:\n        break",
    "for v in {i}:\n    if v == 4:\n        break\nelse:\n    n = 50",
    "for v in xs:\n    if v < 4:\n        xs.remove(v)",
    "for v in xs:\n    if len(xs) < 8:\n        xs.append(v)", "for v in {i}:\n    n += next({i}, 0)",
    "for v in {i}:\n    xs.append(v)\n    if len(xs) > 9:\n        break",
    "for q in d:\n    d[q] = n\n    n += 1", "for v, w in zip({i}, {j}):\n    n += v * w",
    "for i, v in enumerate({i}):\n    n += i * v", "for q in list(d):\n    d.pop(q)\n    n += 1",
    "for v in {i}:\n    for w in {j}:\n        n += v + w",
    "for v in {i}:\n    if opaque():\n        break\n    n += v",
    "while n < 60 and (v := next({i}, None)):\n    n += v", "for v in {i}:\n    k += 1\n    n += v",
    "if opaque():\n    n = sum({i})", "if opaque():\n    next({i}, None)\n    next({j}, 0)",
    "try:\n    n = next({i})\nexcept StopIteration:\n    n = 0", "for _ in range(2):\n    n += sum({i})",
    "for q in d:\n    d['new'] = 1", "while again():\n    next({i}, None)",
    "for v in xs:\n    {c}\n    n += v\n    if len(xs) > 20:\n        break",
    "for v in {i}:\n    {c}\n    n += v\n    if n > 40 or len(xs) > 20:\n        break",
    "def inner():\n    return list({i})\nn = len(inner())", "a, *rest = {i}\nn = len(rest)",
    "n = sum(v for v in {i} if (k := k + 1) > 3)", "for v in held:\n    xs.pop()",
    "def inner(it):\n    return (v + k for v in it)\nit0 = inner({i})\nk = 5",
    "for v in [{i}, {j}]:\n    n += sum(v)",
)  # fmt: skip


class Program:
    """A random program: statements on iterators that have names."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.names: list[str] = []
        self.probes = 0

    def iterable(self, depth: int = 1) -> str:
        """An expression that gives numbers: often an iterator from which something may be taken already."""
        chance = self.draw.random()
        if self.names and chance < 0.6:
            return self.draw.choice(self.names)
        return self.draw.choice(PLAIN) if depth == 0 or chance < 0.8 else self.maker(depth - 1)

    def maker(self, depth: int = 1) -> str:
        return self.filled(self.draw.choice(MAKERS), depth)

    def filled(self, pattern: str, depth: int = 1) -> str:
        return pattern.format(i=self.iterable(depth), j=self.iterable(depth), c=self.draw.choice(CHANGES[:6]))

    def probe(self, value: str) -> str:
        self.probes += 1
        return f"probe({self.probes}, [{value}])"

    def statements(self) -> list[str]:
        kind = self.draw.choice(("make", "make", "take", "take", "change", "loop"))
        if kind == "make":
            value, name = self.maker(2), f"it{len(self.names)}"
            self.names.append(name)
            return [f"{name} = {value}"]
        if kind == "take":
            return [self.probe(self.filled(self.draw.choice(TAKERS)))]
        if kind == "change":
            return [self.filled(self.draw.choice(CHANGES))]
        loop = self.filled(self.draw.choice(LOOPS))
        return ["n = 0", *loop.split("\n"), self.probe("n")]

    def text(self) -> str:
        lines = [f"it0 = {self.maker()}"]
        self.names.append("it0")
        for _ in range(self.draw.randint(3, 7)):
            lines += self.statements()
        rest = ", ".join(f"list({name})" for name in self.names)
        lines += [self.probe("(k, len(log), len(xs), len(d))"), self.probe(f"({rest},)")]
        if self.draw.random() < 0.3:
            # In a function, whose variables are its own.
            body = "\n    ".join(lines)
            return f"{HEADER}\ndef main():\n    global k, xs, ys, d\n    {body}\n\nmain()\n"
        return HEADER + "\n".join(lines) + "\n"


@pytest.mark.parametrize("part", range(PARTS))
def test_what_we_say_is_what_python_computes(part: int) -> None:
    definite = 0
    for seed in range(FIRST + part, FIRST + PROGRAMS, PARTS):
        definite += compare(Program(seed).text(), runs=2)
    assert definite > PROGRAMS // PARTS

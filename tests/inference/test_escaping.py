"""Objects that go out of sight and are changed there: what they held before is no longer taken for known."""

from __future__ import annotations

import itertools
import random

import pytest
from python_programs import met, said

_START = """\
import collections, copy, itertools, random
lost = []
random.choice([lost, lost])
lostd = {}
random.choice([lostd, lostd])
some = random.randint(1, 2)
class O:
    def __init__(self, a=None): self.a = a
    def keep(self, a): self.a = a
o = random.choice([O()])
def first(c):
    return next(iter(c.values())) if isinstance(c, dict) else next(iter(c))
"""
#: How an object goes out of sight, and an expression that finds it again.
_WAYS = {
    "append": ("lost.append(XS)", "lost[0]"),
    "appendleft": ("q = collections.deque(lost); q.appendleft(XS)", "q[0]"),
    "extend": ("lost.extend([XS])", "lost[0]"),
    "extend by what is unknown": ("a = [XS]; a.extend(range(some))", "a[0]"),
    "insert": ("lost.insert(0, XS)", "lost[0]"),
    "insert somewhere": ("a = []; a.insert(random.randint(0, 1), XS)", "a[0]"),
    "+=": ("lost += [XS]", "lost[0]"),
    "+= on a branch": ("a = []\nif some: a += [XS]", "a[0]"),
    "append on a branch": ("a = []\nif some: a.append(XS)", "a[0]"),
    "item": ("lostd['a'] = XS", "lostd['a']"),
    "item of an unknown object": ("d = random.choice([{}]); d['a'] = XS", "d['a']"),
    "update": ("lostd.update({'a': XS})", "lostd['a']"),
    "update by name": ("lostd.update(a=XS)", "lostd['a']"),
    "update by rows": ("lostd.update([('a', XS)])", "lostd['a']"),
    "update by what is unknown": ("d = {'a': XS}; d.update(lostd)", "d['a']"),
    "setdefault": ("d = lostd.setdefault('a', XS)", "d"),
    "|=": ("lostd |= {'a': XS}", "lostd['a']"),
    "|": ("d = lostd | {'a': XS}", "d['a']"),
    "slice": ("lost[:] = [XS]", "lost[0]"),
    "unknown slice": ("a = [0]; a[0:random.randint(0, 1)] = [XS]", "a[0]"),
    "unknown key": ("d = {}; d[random.choice('ab')] = XS", "first(d)"),
    "unknown key again": ("d = {'a': 0}; k = random.choice('ab'); d[k] = XS", "d[k]"),
    "unknown index": ("d = [0, 0]; k = random.choice([0, 1]); d[k] = XS", "d[k]"),
    "item on a branch": ("d = {}\nif some: d['a'] = XS", "d['a']"),
    "defaultdict": ("d = collections.defaultdict(list); d[random.choice('ab')] = XS", "first(d)"),
    "length": ("d = [0]; d *= some; d[0] = XS", "d[0]"),
    "times": ("s = [XS] * some", "s[0]"),
    "list": ("s = [XS for _ in range(some)]", "s[0]"),
    "generator": ("s = tuple(XS for _ in range(some))", "s[0]"),
    "dict": ("s = {i: XS for i in range(some)}", "s[0]"),
    "list of objects": ("s = [O(XS) for _ in range(some)]", "s[0].a"),
    "dict of objects": ("s = {i: O(XS) for i in range(some)}", "s[0].a"),
    "+": ("s = lost + [XS]", "s[0]"),
    "display": ("s = [*lost, XS]", "s[0]"),
    "tuple": ("s = (XS, *lost)", "s[0]"),
    "dict display": ("s = {**lostd, 'a': XS}", "s['a']"),
    "dict display of an unknown key": ("s = {random.choice('ab'): XS}", "first(s)"),
    "dict()": ("s = dict(lostd, a=XS)", "s['a']"),
    "fromkeys": ("s = dict.fromkeys(range(some), XS)", "s[0]"),
    "get": ("s = lostd.get('a', XS)", "s"),
    "pop": ("s = lostd.pop('a', XS)", "s"),
    "get by an unknown key": ("d = {'a': XS}; s = d.get(random.choice('a'))", "s"),
    "pop by an unknown key": ("d = {'a': XS}; s = d.pop(random.choice('a'))", "s"),
    "pop somewhere": ("a = [XS]; s = a.pop(random.randint(-1, 0))", "s"),
    "by an unknown key": ("d = {'a': XS}", "d[random.choice('a')]"),
    "unknown part": ("s = [XS][random.randint(0, 0):]", "s[0]"),
    "sorted": ("s = sorted([XS], key=lambda v: random.random())", "s[0]"),
    "sort": ("s = [XS]; s.sort(key=lambda v: random.random())", "s[0]"),
    "max": ("s = max([XS, XS], key=lambda v: random.random())", "s"),
    "next": ("s = next(iter(lost), XS)", "s"),
    "getattr": ("s = getattr(random.choice([1]), 'none', XS)", "s"),
    "zip": ("s = list(zip([XS], range(some)))", "s[0][0]"),
    "map": ("s = list(map(lambda i: XS, range(some)))", "s[0]"),
    "filter": ("s = list(filter(lambda i: random.random() < 2, [XS, XS]))", "s[0]"),
    "chain": ("s = list(itertools.chain(lost, [XS]))", "s[0]"),
    "islice": ("s = list(itertools.islice([XS], some))", "s[0]"),
    "product": ("s = list(itertools.product([XS], range(some)))", "s[0][0]"),
    "deque": ("q = collections.deque([XS], some)", "q[0]"),
    "deque of what is unknown": ("q = collections.deque(lost); q.append(XS)", "q[0]"),
    "ChainMap": ("c = collections.ChainMap(lostd, {'a': XS})", "c['a']"),
    "keywords": ("def f(**a): return a[random.choice('a')]\ns = f(a=XS)", "s"),
    "hidden argument": ("def f(*a): return a[-1]\ns = f(*lost, XS)", "s"),
    "loop": ("for s in [XS] * some: pass", "s"),
    "unpacking": ("s, *_ = [XS] * some", "s"),
    "views": ("for k, s in lostd.items() or {'a': XS}.items(): pass", "s"),
    "attribute": ("o.items = XS", "o.items"),
    "attribute of one of them": ("os = [O(), O(), 3][:some]\nfor v in os[:1]: v.b = XS", "os[0].b"),
    "method": ("o.keep(XS)", "o.a"),
    "attribute of a function": ("def f(): pass\nf.held = XS", "f.held"),
    "setattr": ("p = O(); k = random.choice('ab'); setattr(p, k, XS)", "getattr(p, k)"),
    "__dict__": ("p = O(); p.__dict__[k := random.choice('bc')] = XS", "getattr(p, k)"),
    "method by an unknown name": ("", "(lambda: getattr(XS, random.choice(['append'])))().__self__"),
    "copy": ("s = copy.copy([XS])", "s[0]"),
}
#: What goes out of sight: an expression for it, and how to come from it to the list that is asked about.
_WHAT = {
    "itself": ("xs", "FOUND"),
    "list": ("[xs]", "FOUND[0]"),
    "tuple": ("(xs, 1)", "FOUND[0]"),
    "dict": ("{'x': xs}", "FOUND['x']"),
    "object": ("O(xs)", "FOUND.a"),
}
_CHANGES = (
    "FOUND.append(1)",
    "FOUND += [1]",
    "FOUND[:] = [1]",
    "FOUND.extend(range(some))",
    "FOUND.insert(0, 1)",
)


def _program(way: str, what: str, change: str) -> str:
    """Return a program in which `xs` goes out of sight, is changed there, and is asked for its length."""
    store, found = _WAYS[way]
    held, reached = _WHAT[what]
    if way == "method by an unknown name":
        held, reached = _WHAT["itself"]
    store, found = store.replace("XS", held), found.replace("XS", held)
    lines = (store, f"found = {reached.replace('FOUND', found)}", change.replace("FOUND", "found"))
    return "\n".join((_START, "xs = []", *lines, "meet(1, len(xs))\n"))


def _false(program: str, seed: int = 0) -> bool:
    """Return whether something else is claimed than Python meets; it must meet something."""
    found, claimed = met(program, seed), said(program)
    assert found, program
    return any(known is not None and not set(found[place]) <= known for place, known in claimed.items())


@pytest.mark.parametrize("way", _WAYS)
def test_what_is_changed_out_of_sight_is_unknown(way: str) -> None:
    program = _program(way, "itself", _CHANGES[0])
    assert not _false(program), program


@pytest.mark.parametrize("part", range(8))
def test_random_ways_out_of_sight(part: int) -> None:
    chance = random.Random(f"escaping {part}")
    every = list(itertools.product(_WAYS, _WHAT, _CHANGES))
    for way, what, change in chance.sample(every, 25):
        program = _program(way, what, change)
        assert not _false(program), program


@pytest.mark.parametrize(
    "text",
    [
        "held = [xs]; held[0].append(1)",
        "held = {'a': xs}; held['a'].append(1)",
        "held = {}; held['a'] = xs; held['a'].append(1)",
        "held = [[0], xs]; held[random.randint(1, 1)]",
        "held = [*[xs], 1]; held[0].append(1)",
        "held = [xs for _ in range(2)]; held[1].append(1)",
        "held = {**{'a': xs}, 'b': 1}; held['a'].append(1)",
        "p = O(); p.b = xs; p.b.append(1)",
        "p = O(); setattr(p, 'b', xs); p.b.append(1)",
        "[len(xs)] + lost; xs.append(1)",
        "xs + lost; xs.append(1)",
        "list(xs * some); xs.append(1)",
        "d = {'a': 1, 'b': 2}; d[random.choice('ab')]; xs.append(len(d))",
        "p = O(3); getattr(p, random.choice('a')); xs.append(p.a)",
    ],
)
def test_what_stays_in_sight_is_known(text: str) -> None:
    program = f"{_START}\nxs = []\n{text}\nmeet(1, len(xs))\n"
    found, claimed = met(program, 0), said(program)
    assert claimed == {1: set(found[1])}

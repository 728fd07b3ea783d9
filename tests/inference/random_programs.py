"""Random small Python programs that compute with integers, containers, functions and objects.

`opaque()` is a coin nobody can foresee, `hide(x)` returns its argument, `meddle(x)` may change it,
`risky()` may raise: the evaluator knows none of them. `probe(number, [value])` is where what the
evaluator says is compared with what Python computes.
"""

from __future__ import annotations

import random

PRELUDE = """\
import contextlib
import dataclasses
import functools
from typing import NamedTuple

a, b, c, d = 1, 2, 3, 4
xs, ys, m, s, t = [1, 2], [3], {"a": 1, "b": 2}, {1, 2}, (1, 2, 3)

class Base:
    n = 1
    items = [0]
    def __init__(self, n=2):
        self.k = n
    def get(self):
        return self.n + self.k
    def grow(self, by=1):
        self.k += by
        return self
    @property
    def twice(self):
        return self.k * 2
    @twice.setter
    def twice(self, value):
        self.k = value
    @classmethod
    def make(cls, n):
        return cls(n)
    @staticmethod
    def plain(n):
        return n + 1

class Left(Base):
    n = 5
    def get(self):
        return super().get() * 2

class Right(Base):
    n = 7
    def get(self):
        return super().get() + 3

class Both(Left, Right):
    def __init__(self):
        super().__init__(4)

@dataclasses.dataclass
class Config:
    width: int = 4
    depth: int = 2
    sizes: list = dataclasses.field(default_factory=list)
    def area(self):
        return self.width * self.depth

@dataclasses.dataclass
class Wide(Config):
    depth: int = 6
    hidden: int = dataclasses.field(init=False, default=9)
    extra: int = 1
    def __post_init__(self):
        self.extra += self.width

class Point(NamedTuple):
    left: int
    right: int = 5

class Keeper:
    def __init__(self, n):
        self.n = n
    def __enter__(self):
        self.n += 1
        return self.n
    def __exit__(self, *exc):
        self.n += 10
        return True

def append_to(n, into=[]):
    into.append(n)
    return into

def spread(first, *rest, key=0, **more):
    return (first, len(rest), key, len(more))

o, p, q = Base(), Both(), Config()
"""
INTS, LISTS, OBJECTS = ("a", "b", "c", "d"), ("xs", "ys"), ("o", "p")


class ProgramMaker:
    """Writes one program from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.probes = 0
        self.names = 0
        self.quiet = 0
        self.functions: list[str] = []

    def program(self, statements: int = 14) -> str:
        """Return the text of a program."""
        for _ in range(statements):
            self.statement("", 0)
            if self.random.random() < 0.5:
                self.probe("")
        for name in (*INTS, *LISTS, *OBJECTS, "m", "s", "t", "q", "Base.n"):
            self.probe("", name)
        return PRELUDE + "\n".join(self.lines) + "\n"

    # -- pieces --------------------------------------------------------------------------------

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def name(self, stem: str) -> str:
        self.names += 1
        return f"{stem}{self.names}"

    def add(self, indent: str, text: str) -> None:
        self.lines += [indent + line for line in text.split("\n")]

    def probe(self, indent: str, what: str | None = None) -> None:
        if self.quiet:
            self.add(indent, "pass")
            return
        self.probes += 1
        self.add(indent, f"probe({self.probes}, [{what or self.value()}])")

    def value(self) -> str:
        return self.pick(self.integer(1), self.integer(2), self.sequence(), *INTS, "xs", "o", "m", "s", "t")

    def integer(self, depth: int = 0) -> str:
        """An expression whose value is an int."""
        if depth > 2 or self.random.random() < 0.3:
            return self.pick(*INTS, "1", "2", "5")
        x, y, z = self.integer(depth + 1), self.integer(depth + 1), self.pick(*INTS)
        i, xs, o = self.name("i"), self.pick(*LISTS), self.pick(*OBJECTS)
        choices = [
            f"({x} + {y})", f"({x} * {y}) % 97", f"({x} - {y})", f"({x} // 3)", f"(-{x})",
            f"({x} if {self.test()} else {y})", f"({x} and {y})", f"({x} or {y})", f"({z} := {x})",
            f"(opaque() and ({z} := {x}) or {y})", f"(opaque() or {y} < ({z} := {x})) * 1", f"len({xs})",
            f"sum({xs})", f"max({x}, {y})", f"({xs} or [7])[-1]", "len(s) + len(m)", f"m.get('a', {x})",
            f"m.setdefault('{self.pick('a', 'z')}', {x})", f"m.pop('z', {x})",
            f"({xs}.pop() if {xs} else {x})", f"sum({i} + {x} for {i} in {xs})",
            f"sum([{i} for {i} in {xs} if {self.test(i)}])", f"len([{z} := {i} for {i} in {xs}])",
            f"[lambda: {i} for {i} in range(3)][0]()", f"(lambda {i}={x}: {i} + {z})()", f"{o}.k", f"{o}.n",
            f"{o}.get() % 97", f"{o}.twice", f"{o}.grow({x}).k % 97", f"Base.plain({x})",
            f"type({o}).make({x}).k" if o == "o" else f"{o}.k", "Base.n", "len(Base.items)", "p.get() % 97",
            f"Config({x}).area() % 97", f"Wide({x}, {y}).extra % 97", f"Wide({x}, 2, [], {y}).hidden",
            "dataclasses.replace(q, width=3).area() % 97", "q.width", "len(q.sizes)", f"Point({x}).right",
            f"Point({x}, {y})[0]", f"t[{self.pick('0', '1', '-1')}]", f"len(append_to({x}))",
            f"spread({x}, *{xs}, key={y})[1]", f"spread(*hide({xs}), {x})[0] * 1",
            f"functools.partial(spread, {x}, key={y})()[2]", f"hide({x})",
            f"int(str({x % 10 if isinstance(x, int) else z}))", f"len(f'{{{{{z}}}}}')",
            f"next(iter({xs}), {x})", f"divmod({x}, 3)[1]", f"bool({x}) + 0",
        ]  # fmt: skip
        choices += [f"{f}({x})" for f in self.functions[-3:]] * 3
        return self.random.choice(choices)

    def test(self, name: str | None = None) -> str:
        """An expression used as a condition."""
        x = name or self.pick(*INTS)
        return self.pick(
            "opaque()", "opaque()", "opaque()", f"{x} > 2", f"{x} % 2 == 0", f"{x} in xs", "xs", "not ys",
            f"opaque() and {x} > 1", f"opaque() or {x} == 1", f"1 < {x} < 4", "len(s) > 2", "'z' in m",
            "xs is ys", "xs == ys", f"isinstance({x}, int)", "o.k > 2",
        )  # fmt: skip

    def sequence(self) -> str:
        """An expression whose value is a list of ints."""
        x, xs, i = self.integer(1), self.pick(*LISTS), self.name("i")
        return self.pick(
            f"[{x}, {self.pick(*INTS)}]", f"{xs} + [{x}]", f"list({xs})", f"{xs}[:]", f"{xs}[1:]",
            f"sorted({xs})", f"[{i} * 2 for {i} in {xs}]", "list(range(3))",
            f"({xs} if {self.test()} else {self.pick(*LISTS)})", f"hide({xs})", f"[*{xs}, {x}]",
            "[*m.values()]", f"list(map(lambda v: v + {self.pick(*INTS)}, {xs}))",
            f"[y for {i}, y in zip({xs}, t)]", "list(t)", f"append_to({x})", f"{xs} * 2", "o.items",
            "q.sizes", f"[{x}]",
        )  # fmt: skip

    def mutation(self) -> str:
        """A statement that changes an object in place."""
        x, xs, o = self.integer(1), self.pick(*LISTS), self.pick(*OBJECTS)
        return self.pick(
            f"{xs}.append({x})", f"{xs} += [{x}]", f"{xs}.extend({self.pick(*LISTS)}[:2])",
            f"{xs}[:1] = [{x}]", f"{xs}.insert(0, {x})", f"{xs}.clear()", f"del {xs}[:1]", f"{xs}.sort()",
            f"m['{self.pick('a', 'q')}'] = {x}", f"m.update(a={x})", "m.clear()", "m |= {'w': 3}",
            f"s.add({x})", f"s |= {{{x}}}", "s.discard(1)", f"{o}.k = {x}", f"{o}.k += 1", f"{o}.n = {x}",
            f"Base.n = {x}", f"{o}.twice = {x}", f"setattr({o}, 'k', {x})", f"{o}.items.append({x})",
            f"q.width = {x}", "q.sizes.append(1)", f"meddle({xs})", "meddle(o)", "meddle(q)",
            f"vars({o})['k'] = {x}", f"{o}.__dict__['k'] = {x}", f"object.__setattr__({o}, 'k', {x})",
            f"(xs if opaque() else ys).append({x})", f"(o if opaque() else p).k = {x}",
            f"{xs}.append({x} if opaque() else 3)", f"hide({xs}).append({x})", f"[{xs}][0].append({x})",
            f"{{'k': {xs}}}['k'].append({x})", f"[{xs}.append({x}) for _ in hide([1])]",
        )  # fmt: skip

    # -- statements ----------------------------------------------------------------------------

    def block(self, indent: str, depth: int, extra: tuple[str, ...] = ()) -> None:
        """One to three statements, some of them from ``extra`` (``break``, ``return``)."""
        for _ in range(self.random.randint(1, 3)):
            if extra and self.random.random() < 0.3:
                self.add(indent, f"if {self.test()}:\n    {self.random.choice(extra)}")
            else:
                self.statement(indent, depth, extra)
        if self.random.random() < 0.3:
            self.probe(indent)

    def statement(self, indent: str, depth: int, extra: tuple[str, ...] = ()) -> None:
        """One statement, simple or compound."""
        compound = [self.branch, self.loop, self.endless, self.trial, self.context, self.match, self.function]
        if depth == 0:
            compound += [self.function, self.function, self.generator, self.recursion, self.klass]
        if depth < 3 and self.random.random() < 0.5:
            self.random.choice(compound)(indent, depth, extra)
        else:
            self.simple(indent)

    def simple(self, indent: str) -> None:
        x, name = self.integer(), self.pick(*INTS)
        self.add(indent, self.pick(
            f"{name} = {x}", f"{name} = {x}", f"{name} += {self.integer(2)}",
            f"{name} = {self.pick(*INTS)} = {x}", f"{name}, {self.pick(*INTS)} = {x}, {self.integer(1)}",
            f"{name}, *ys = {self.sequence()} or [1]", f"(a, b), c = (1, {x}), 3",
            f"t = ({x}, {self.pick(*INTS)}, 2)", "xs = ys", "ys = xs",
            f"{self.pick(*LISTS)} = {self.sequence()}", f"m = {{'a': {x}, **m}}", "s = {*xs}", "o = p",
            "o = Base(3)", f"q = Config({x}, sizes=xs)", "p = Both()", f"assert {name} == {name}",
            self.mutation(), self.mutation(), self.mutation(), self.mutation(),
            f"{name} = {name}; del {name}; {name} = 2",
        ))  # fmt: skip

    def branch(self, indent: str, depth: int, extra: tuple[str, ...]) -> None:
        self.add(indent, f"if {self.test()}:")
        self.block(indent + "    ", depth + 1, extra)
        if self.random.random() < 0.6:
            self.add(indent, self.pick("else:", f"elif {self.test()}:"))
            self.block(indent + "    ", depth + 1, extra)

    def loop(self, indent: str, depth: int, extra: tuple[str, ...]) -> None:
        kept = tuple(line for line in extra if line.startswith("return"))
        over = self.pick(
            "range(3)", "list(xs)", "t", "hide([1, 2, 3])", "range(hide(2))", "zip(t, t)", "dict(m)", "xs[:3]"
        )
        name = "_" if over in ("zip(t, t)", "dict(m)") else self.pick(*INTS)
        self.add(indent, f"for {name} in {over}:")
        self.block(indent + "    ", depth + 1, ("break", "continue", *kept))
        if self.random.random() < 0.3:
            self.add(indent, "else:")
            self.block(indent + "    ", depth + 1, extra)

    def endless(self, indent: str, depth: int, extra: tuple[str, ...]) -> None:
        kept = tuple(line for line in extra if line.startswith("return"))
        self.add(indent, f"while {self.pick('again()', 'again()', f'again() and {self.test()}')}:")
        self.block(indent + "    ", depth + 1, ("break", "continue", *kept))
        if self.random.random() < 0.3:
            self.add(indent, "else:")
            self.block(indent + "    ", depth + 1, extra)

    def trial(self, indent: str, depth: int, extra: tuple[str, ...]) -> None:
        self.add(indent, "try:")
        self.block(indent + "    ", depth + 1, (*extra, "raise ValueError", "risky()", "risky()"))
        self.add(indent + "    ", "risky()")
        self.block(indent + "    ", depth + 1, extra)
        handlers = self.random.random() < 0.8
        if handlers:
            self.add(indent, self.pick("except Exception:", "except (ValueError, TypeError):"))
            self.block(indent + "    ", depth + 1, extra)
            if self.random.random() < 0.3:
                self.add(indent, "else:")
                self.block(indent + "    ", depth + 1, extra)
        if not handlers or self.random.random() < 0.4:
            self.add(indent, "finally:")
            # What runs while an exception is on its way is followed, but nothing is said of it.
            self.quiet += 1
            self.block(indent + "    ", depth + 1)
            self.quiet -= 1

    def context(self, indent: str, depth: int, extra: tuple[str, ...]) -> None:
        manager = self.pick(
            "contextlib.suppress(Exception)",
            "Keeper(a) as b",
            "contextlib.nullcontext()",
            "hide(contextlib.nullcontext())",
        )
        self.add(indent, f"with {manager}:")
        risk = ("risky()", "raise ValueError") if manager.startswith(("contextlib.s", "Keeper")) else ()
        self.block(indent + "    ", depth + 1, (*extra, *risk))

    def match(self, indent: str, depth: int, extra: tuple[str, ...]) -> None:
        self.add(indent, f"match {self.pick('xs', 't', 'm', 'hide(xs)', 'a')}:")
        for pattern in ("[a, *ys]", "{'a': b, **m}", "1 | 2 as c", "_"):
            if self.random.random() < 0.6 or pattern == "_":
                self.add(indent + "    ", f"case {pattern}:")
                self.block(indent + "        ", depth + 2, extra)

    def function(self, indent: str, depth: int, extra: tuple[str, ...]) -> None:
        """A function, with what it declares, and perhaps a call; locals stay apart from the outer names."""
        name, x = self.name("f"), self.pick(*INTS)
        self.add(indent, f"def {name}({x}={self.integer(1)}, xs=None):")
        inside = indent + "    "
        others = [n for n in INTS if n != x]
        declared = "global" if not indent or self.random.random() < 0.4 else "nonlocal"
        # Names that enclosing functions do not bind cannot be nonlocal, so global everywhere is safe.
        declared = "global"
        self.add(inside, f"{declared} {', '.join(n for n in (*others, 'ys', 'm', 's', 't', 'o', 'p', 'q'))}")
        self.add(inside, f"xs = {self.pick('ys', '[1, 2]', 'xs or [4]')}")
        returns = (f"return {self.integer(1)}", f"return {x}")
        self.block(inside, depth + 1, returns)
        kind = self.random.random()
        if kind < 0.3:
            self.closure(inside, x)
        else:
            self.block(inside, depth + 1, returns)
            self.add(inside, f"return {self.integer(1)}")
        if kind < 0.3 or self.random.random() < 0.5:
            call = f"{name}({self.integer(1)})"
            self.add(
                indent, f"{self.pick(*INTS)} = {call}()" if kind < 0.3 else f"{self.pick(*INTS)} = {call}"
            )
        if kind < 0.3:
            self.add(indent, f"{name} = {name}({self.integer(1)})\n_ = {name}() + {name}()")
            self.probe(indent, f"{name}()")
        elif not indent:
            self.functions.append(name)

    def closure(self, indent: str, x: str) -> None:
        """The end of a function that returns closures over its variable, at several places."""
        inner = self.name("g")
        self.add(
            indent,
            f"def {inner}(n=1):\n    nonlocal {x}\n    if {self.test()}:\n        {x} += n\n    return {x}",
        )
        self.add(indent, f"if {self.test()}:\n    {x} = {self.integer(1)}\n    return lambda: {x}")
        self.add(
            indent, f"{x} = {self.integer(1)}\n{inner}(3)\nreturn {self.pick(inner, f'lambda: {x} + 1')}"
        )

    def generator(self, indent: str, depth: int, extra: tuple[str, ...]) -> None:
        name = self.name("gen")
        self.add(indent, f"def {name}():\n    global a, b, c, d, ys, m, s, t, o, p, q\n    xs = ys")
        self.block(indent + "    ", depth + 1)
        self.add(indent, f"    yield a\n    {self.mutation()}\n    b = 5\n    yield 2")
        # Its body is evaluated where it is called, so its items are taken there or never.
        self.add(indent, f"{self.pick('ys = list', 'it = ')}({name}())")

    def recursion(self, indent: str, depth: int, extra: tuple[str, ...]) -> None:
        name = self.name("rec")
        self.add(indent, f"def {name}(n, xs):\n    global a, b\n    if n <= 0:\n        return 0")
        # Deep calls are not followed: nothing is said of what happens there.
        known, self.functions = self.functions, []
        self.simple(indent + "    ")
        self.functions = known
        self.add(indent, f"    a = n\n    xs.append(n)\n    return {name}(n - 1, xs) + 1")
        self.add(
            indent, f"{self.pick(*INTS)} = {name}({self.pick('1', '2', '4', '15')}, {self.pick(*LISTS)})"
        )

    def klass(self, indent: str, depth: int, extra: tuple[str, ...]) -> None:
        name, base = self.name("K"), self.pick("Base", "Left", "Right", "Both", "Config", "Left, Right")
        self.add(indent, f"class {name}({base}):")
        self.add(indent, f"    n = {self.integer(1).replace(':=', '+')}\n    total = [n for _ in range(2)]")
        value = f"super().get() + 1 if hasattr(self, 'k') else {self.integer(1)}"
        self.add(indent, f"    def get(self):\n        return {value}")
        body = self.mutation().replace("xs ", "self.items ").replace("ys ", "self.items ")
        grow = f"    def grow(self, by=2):\n        {body}\n        self.last = by\n        return self"
        self.add(indent, grow)
        self.add(indent, f"{self.pick('o', 'z')} = {name}()")
        self.probe(indent, self.pick(f"{name}.n", f"{name}().get()", f"{name}.total", "o.get()"))

"""Special methods that Python calls where no call is written: what they change is not taken for known."""

from __future__ import annotations

import itertools

import pytest
from python_programs import met, said

#: What may stand in a method, with the program's own set-up and the number that tells how often it ran.
_EFFECTS = {
    "append": ("", "log.append(1)", "len(log)"),
    "global": ("", "global count; count += 1", "count"),
    "item": ("", "table['n'] = table.get('n', 0) + 1", "table.get('n', 0)"),
    "attribute": ("", "self.n += 1", "x.n"),
    "list of its own": ("", "self.log.append(1)", "len(x.log)"),
    "list that is shared": ("", "self.shared.append(1)", "len(log)"),
    "class attribute": ("", "C.total += 1", "C.total"),
    "class of itself": ("", "type(self).total += 1", "C.total"),
    "its own __class__": ("", "self.__class__.total += 1", "x.total"),
    "helper": ("def helper():\n    log.append(1)\n", "helper()", "len(log)"),
    "helper on itself": ("def helper(obj):\n    obj.n += 1\n", "helper(self)", "x.n"),
    "method": ("", "self.step()", "len(log)"),
    "property": ("", "self.stepped", "len(log)"),
    "alias": ("", "other = self.log; other.append(1)", "len(x.log)"),
    "alias of a global": ("", "other = log; other += [1]", "len(log)"),
    "object": ("", "box.n = box.n + 1", "box.n"),
    "object through an attribute": ("", "self.box.n += 1", "box.n"),
    "object's method": ("", "box.step()", "box.n"),
    "setattr": ("", "setattr(self, 'n', self.n + 1)", "x.n"),
    "object.__setattr__": ("", "object.__setattr__(self, 'n', self.n + 1)", "x.n"),
    "__dict__": ("", "self.__dict__['n'] = self.n + 1", "x.n"),
    "globals": ("", "globals()['count'] = count + 1", "count"),
    "operator": ("import operator\n", "operator.setitem(full, 0, 5)", "full[0]"),
    "setattr of a class": ("", "setattr(C, 'total', C.total + 1)", "C.total"),
    "operator by name": (
        "import functools\nfrom operator import iadd\n",
        "functools.reduce(iadd, [log, [1]])",
        "len(log)",
    ),
    "operator as a value": (
        "import functools, operator\n",
        "functools.reduce(operator.iadd, [log, [1]])",
        "len(log)",
    ),
    "builtins": ("import builtins\n", "builtins.setattr(C, 'total', C.total + 1)", "C.total"),
    "mutator as a value": ("", "list(map(log.append, [1]))", "len(log)"),
    "iterator": ("", "next(numbers)", "next(numbers)"),
    "iterator in a loop": ("", "any(n > 2 for n in numbers)", "next(numbers, 7)"),
    "callback": ("", "self.callback()", "len(log)"),
    "default": ("", "self.grow()", "len(log)"),
    "lambda": ("", "(lambda: log.append(1))()", "len(log)"),
    "later branch": ("", "count2 = len(log); log.append(1) if count2 < 9 else None", "len(log)"),
    "unpacking": ("", "self.n, other = self.n + 1, 0", "x.n"),
    "loop target": ("", "for self.n in range(3): pass", "x.n"),
    "walrus": ("", "log.append(m := 1)", "len(log)"),
    "del": ("", "del full[0]", "len(full)"),
    "slice": ("", "full[:] = full[1:]", "len(full)"),
    "rebound": ("", "global log\n        log = log + [1]", "len(log)"),
}
#: By method: what it returns, and what makes Python call it.
_CALLS = {
    "__bool__(self)": ("True", ["if x: pass", "not x", "x and 1", "x or 1", "bool(x)", "1 if x else 2",
                               "any([x])", "assert x", "list(filter(None, [x]))", "[1 for _ in 'a' if x]"]),
    "__len__(self)": ("2", ["if x: pass", "bool(x)", "while x: break"]),
    "__neg__(self)": ("1", ["-x"]),
    "__pos__(self)": ("1", ["+x"]),
    "__invert__(self)": ("1", ["~x"]),
    "__abs__(self)": ("1", ["abs(x)"]),
    "__int__(self)": ("1", ["int(x)"]),
    "__float__(self)": ("1.0", ["float(x)"]),
    "__index__(self)": ("1", ["[1, 2, 3][x]", "range(x)", "hex(x)", "'a' * x if False else [0] * x"]),
    "__str__(self)": ("'s'", ["str(x)", "f'{x}'", "'%s' % x", "'{}'.format(x)", "print(x, file=sink)"]),
    "__repr__(self)": ("'r'", ["repr(x)", "f'{x!r}'", "str(x)", "str([x])"]),
    "__format__(self, spec)": ("'f'", ["f'{x}'", "format(x)", "'{:>3}'.format(x)"]),
    "__hash__(self)": ("1", ["{x}", "{x: 1}", "hash(x)", "x in {1, 2}", "set([x])"]),
    "__eq__(self, other)": ("True", ["[1].count(x)", "(1, x) == (1, 2)", "1 in (x,)", "[x].index(1)"]),
    "__lt__(self, other)": ("True", ["sorted([x, x])", "(x, 1) < (x, 2)", "max([x, x], default=0)"]),
    "__round__(self, n=None)": ("1", ["round(x)"]),
    "__trunc__(self)": ("1", ["import math; math.trunc(x)"]),
    "__floor__(self)": ("1", ["import math; math.floor(x)"]),
    "__divmod__(self, other)": ("(1, 1)", ["divmod(x, 2)"]),
    "__reversed__(self)": ("iter(())", ["reversed(x)"]),
    "__bytes__(self)": ("b''", ["bytes(x)"]),
    "__complex__(self)": ("1j", ["complex(x)"]),
    "__dir__(self)": ("[]", ["dir(x)"]),
    "__sizeof__(self)": ("1", ["import sys; sys.getsizeof(x)"]),
    "__fspath__(self)": ("'p'", ["import os; os.fspath(x)"]),
    "__copy__(self)": ("self", ["import copy; copy.copy(x)"]),
    "__contains__(self, item)": ("True", ["import operator; operator.contains(x, 1)"]),
    "__length_hint__(self)": ("1", ["import operator; operator.length_hint(x)"]),
}  # fmt: skip

_PROGRAM = """
import io
sink = io.StringIO()
log, table, full, count = [], {{}}, [1] * 9, 0
numbers = iter(range(50))
class Box:
    n = 0
    def step(self):
        self.n += 1
box = Box()
{helpers}
class C:
    total = 0
    def __init__(self):
        self.n, self.log, self.shared, self.box, self.callback = 0, [], log, box, lambda: log.append(1)
    def step(self):
        log.append(1)
    @property
    def stepped(self):
        log.append(1)
    def grow(self, where=log):
        where.append(1)
    def {method}:
        {effect}
        return {returned}
x = C()
{use}
meet(1, {result})
def inside():
    y = C()
    return {result}
meet(2, inside())
"""


def _programs() -> list[tuple[str, str]]:
    calls = [(method, returned, use) for method, (returned, uses) in _CALLS.items() for use in uses]
    # Every effect beside every use would be many: each use meets three effects, each effect several uses.
    names = itertools.cycle(_EFFECTS)
    found = []
    for method, returned, use in calls:
        for name in itertools.islice(names, 5):
            helpers, effect, result = _EFFECTS[name]
            text = _PROGRAM.format(
                helpers=helpers, method=method, effect=effect, returned=returned, use=use, result=result
            )
            found.append((f"{use}, {name}", text))
    return found


_PROGRAMS = _programs()


@pytest.mark.parametrize("text", [text for _, text in _PROGRAMS], ids=[name for name, _ in _PROGRAMS])
def test_what_they_change_is_not_taken_for_known(text: str) -> None:
    """Whatever Python finds is what we hold possible."""
    claims = said(text)
    for place, values in met(text, 0).items():
        possible = claims.get(place)
        if possible is not None:
            assert set(values) <= possible, (place, values, possible)


#: Ways by which an object comes to be, with what makes Python call a method of its class.
_KINDS = {
    "metaclass": """
class M(type):
    def __bool__(cls):
        log.append(1)
        return True
class C(metaclass=M):
    pass
if C: pass
""",
    "named tuple": """
import typing
class C(typing.NamedTuple):
    n: int
    def __bool__(self):
        log.append(1)
        return True
x = C(3)
if x: pass
""",
    "dataclass": """
import dataclasses
@dataclasses.dataclass
class C:
    n: int
    def __bool__(self):
        log.append(1)
        return True
x = C(3)
if x: pass
""",
    "enumeration": """
import enum
class C(enum.Enum):
    A = 1
    def __bool__(self):
        log.append(1)
        return True
if C.A: pass
""",
    "base": """
class B:
    def __bool__(self):
        log.append(1)
        return True
class C(B):
    pass
if C(): pass
""",
    "overridden, but called": """
class B:
    def __bool__(self):
        log.append(1)
        return True
class C(B):
    def __bool__(self):
        return super().__bool__()
if C(): pass
""",
    "__new__": """
class C:
    def __new__(cls):
        return object.__new__(cls)
    def __bool__(self):
        log.append(1)
        return True
if C(): pass
""",
    "object.__new__": """
class C:
    def __bool__(self):
        log.append(1)
        return True
if C.__new__(C): pass
""",
    "set later": """
class C:
    pass
def step(self):
    log.append(1)
    return True
C.__bool__ = step
if C(): pass
""",
    "set after the object is made": """
class C:
    pass
x = C()
C.__bool__ = lambda self: log.append(1) or True
if x: pass
""",
    "deleted": """
class C:
    def __del__(self):
        log.append(1)
x = C()
x = None
""",
    "subclass of a list": """
class C(list):
    def __len__(self):
        log.append(1)
        return 3
if C([1]): pass
""",
    "wrapped": """
import functools
def twice(f):
    @functools.wraps(f)
    def run(*args):
        log.append(1)
        return f(*args)
    return run
class C:
    @twice
    def __bool__(self):
        return True
if C(): pass
""",
    "variable of the class with the same name": """
class C:
    log = 3
    def __bool__(self):
        log.append(1)
        return True
if C(): pass
""",
    "thread": """
import threading
class C(threading.Thread):
    def run(self):
        log.append(1)
x = C()
x.start()
x.join()
""",
    "thread that sets what it holds": """
import threading
class C(threading.Thread):
    n = 0
    def run(self):
        self.work()
    def work(self):
        self.n = self.n + 1
x = C()
x.start()
x.join()
meet(0, x.n)
""",
    "that holds a generator": """
numbers = (1 for _ in 'a')
class C:
    def __int__(self):
        log.append(next(numbers))
        return 1
int(C())
""",
    "whose attribute is deleted in a generator": """
class C:
    pass
x = C()
def run():
    x.extra = 1
    delattr(x, 'extra')
    yield hasattr(x, 'extra')
meet(0, next(run()))
""",
    "variable bound later": """
class C:
    def __bool__(self):
        late.append(1)
        return True
x = C()
late = log
if x: pass
""",
    "function around": """
def run():
    mine = []
    class C:
        def __bool__(self):
            mine.append(1)
            return True
    if C(): pass
    return len(mine)
meet(0, run())
""",
    "nonlocal": """
def run():
    mine = 0
    class C:
        def __bool__(self):
            nonlocal mine
            mine += 1
            return True
    if C(): pass
    return mine
meet(0, run())
""",
}


@pytest.mark.parametrize("program", _KINDS.values(), ids=_KINDS)
def test_whatever_makes_the_object(program: str) -> None:
    """What a method changes is not taken for known, by whatever way an object came to be."""
    text = f"log = []\n{program}\nmeet(1, len(log))\n"
    claims = said(text)
    for place, values in met(text, 0).items():
        possible = claims.get(place)
        assert possible is None or set(values) <= possible


#: What such methods do in programs as people write them: it changes nothing.
_HARMLESS = (
    ("return f'C({self.n}, {len(self.log)})'",),
    ("return str(tuple(self.log) + (self.n, len(log)))",),
    (
        "parts = [f'{name}={value!r}' for name, value in table.items()]",
        "parts.append('end')",
        "return ', '.join(parts)",
    ),
    ("out = ''", "for item in self.log:", "    out += str(item)", "return out"),
    ("return repr(sorted(log)) + table.get('a', '') + self.title()",),
    ("return super().__repr__()",),
    ("found = {}", "found['n'] = self.n", "for key in table:", "    found[key] = 1", "return str(found)"),
    ("return str(hash((self.n, type(self).__name__, isinstance(self, C))))",),
    ("h = 7", "h = h * 31 + self.n", "h += len(self.log)", "return str(h)"),
    ("if not isinstance(self, C):", "    raise TypeError(f'{self}')", "return json.dumps(table)"),
)


@pytest.mark.parametrize("lines", _HARMLESS)
def test_methods_that_change_nothing_cost_nothing(lines: tuple[str, ...]) -> None:
    """What the program holds stays known where its special methods only read."""
    body = "\n        ".join(lines)
    text = f"""
import json
log, table = [1], {{'a': '1'}}
class C:
    def __init__(self):
        self.n, self.log = 3, [1, 2]
    def title(self):
        return 'C'
    def __repr__(self):
        {body}
x = C()
str(x)
meet(1, len(log))
meet(2, x.n)
meet(3, len(x.log))
meet(4, len(table))
"""
    assert said(text) == {1: {1}, 2: {3}, 3: {2}, 4: {1}}

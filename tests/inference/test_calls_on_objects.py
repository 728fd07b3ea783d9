# ruff: noqa: E501
"""Methods called again on objects that differ: each call gives what it gives without memory."""

from __future__ import annotations

import dataclasses

import pytest
from following import EDITS, follow, told
from programs import SETUP
from test_calls_again import agree

from shardlint.api import Linter, source_from_text
from shardlint.config import Settings
from shardlint.engine.analyzer import Analyzer
from shardlint.engine.open_programs import Programs

#: A class whose objects differ in ``extra``, and what is done with two of them. 8 divides, 6 does not.
MADE = "import copy\nclass A:\n    n = 8\n    def __init__(self, extra=None, *more):\n        self.extra, self.more = extra, [*more]\n        self.me = self\n"
OBJECTS = {
    "nobody looks": "    def size(self):\n        return self.n - 2\nfor a in (A(1), A(2)):\n    put(jnp.zeros(a.size()), 'model')",
    "it looks": "    def size(self):\n        return self.extra\nfor a in (A(8), A(6)):\n    put(jnp.zeros(a.size()), 'model')",
    "another method looks": "    def rows(self):\n        return self.extra\n    def size(self):\n        return self.rows()\nfor a in (A(8), A(6)):\n    put(jnp.zeros(a.size()), 'model')",
    "by a name": "    def size(self):\n        return getattr(self, 'ext' + 'ra')\nfor a in (A(8), A(6)):\n    put(jnp.zeros(a.size()), 'model')",
    "at all": "    def size(self):\n        return copy.copy(self).extra\nfor a in (A(8), A(6)):\n    put(jnp.zeros(a.size()), 'model')",
    "whether it is there": "    def size(self):\n        return 6 if hasattr(self, 'other') else 8\na, b = A(), A()\nb.other = 1\nput(jnp.zeros(a.size()), 'model')\nput(jnp.zeros(b.size()), 'model')",
    "with a default": "    def size(self):\n        return getattr(self, 'other', 8)\na, b = A(), A()\nb.other = 6\nput(jnp.zeros(a.size()), 'model')\nput(jnp.zeros(b.size()), 'model')",
    "an attribute of the class": "    def size(self):\n        return self.n\na, b = A(), A()\nb.n = 6\nput(jnp.zeros(a.size()), 'model')\nput(jnp.zeros(b.size()), 'model')",
    "itself": "    def size(self):\n        return self.me.extra\nfor a in (A(8), A(6)):\n    put(jnp.zeros(a.size()), 'model')",
    "given back": "    def same(self):\n        return self\na, b = A(8), A(6)\nput(jnp.zeros(a.same().extra), 'model')\nput(jnp.zeros(b.same().extra), 'model')",
    "given back in a list": "    def same(self):\n        return [self.me, self.n]\na, b = A(8), A(6)\na.same()\nb.same()[0].extra = 4\nput(jnp.zeros(a.extra), 'model')\nput(jnp.zeros(b.extra - 2), 'model')",
    "a list that it holds": "    def all(self):\n        return self.more\na, b = A(1, 8), A(2, 8)\na.all()\nb.all()[0] = 6\nput(jnp.zeros(a.more[0]), 'model')\nput(jnp.zeros(b.more[0]), 'model')",
    "handed on": "    def size(self):\n        return size_of(self)\ndef size_of(a):\n    return a.extra\nfor a in (A(8), A(6)):\n    put(jnp.zeros(a.size()), 'model')",
    "handed on as another": "    def size(self, other):\n        return other.extra\nb = A(1)\nfor a in (A(8), A(6)):\n    put(jnp.zeros(b.size(a)), 'model')",
    "as another of itself": "    def size(self, other):\n        return other.extra\nfor a in (A(8), A(6)):\n    put(jnp.zeros(a.size(a)), 'model')",
    "is it the other": "    def is_(self, other):\n        return 6 if self is other else 8\na, b = A(1), A(2)\nput(jnp.zeros(a.is_(b)), 'model')\nput(jnp.zeros(b.is_(b)), 'model')",
    "a function inside": "    def size(self):\n        def rows():\n            return self.extra\n        return rows()\nfor a in (A(8), A(6)):\n    put(jnp.zeros(a.size()), 'model')",
    "a function inside, again": "    def size(self):\n        def rows():\n            return self.extra\n        return rows() and rows()\nfor a in (A(8), A(6)):\n    put(jnp.zeros(a.size()), 'model')",
    "a function given back": "    def sizes(self):\n        return lambda: self.extra\nfor a in (A(8), A(6)):\n    put(jnp.zeros(a.sizes()()), 'model')",
    "a property": "    @property\n    def size(self):\n        return self.extra\nfor a in (A(8), A(6)):\n    put(jnp.zeros(a.size), 'model')",
    "a transformed method": "    def f(self, x):\n        return jnp.zeros((self.extra, *x.shape))\n    def size(self):\n        return jax.jit(self.f)(jnp.zeros(3)).shape[0]\nfor a in (A(8), A(6)):\n    put(jnp.zeros(a.size()), 'model')",
    "a method that sets": "    def size(self):\n        self.extra, was = 6, self.extra\n        return was\na, b = A(8), A(7)\na.size()\nput(jnp.zeros(a.extra), 'model')\nput(jnp.zeros(b.extra + 1), 'model')\nput(jnp.zeros(b.size() + 1), 'model')",
    "an object that it holds": "    def size(self):\n        return self.extra.extra\nfor n in (8, 6):\n    put(jnp.zeros(A(A(n)).size()), 'model')",
    "an object that holds it": "    def size(self):\n        return self.extra.extra\nfor n in (8, 6):\n    a = A(n)\n    b = A(a)\n    a.parent = b\n    put(jnp.zeros(b.size()), 'model')",
    "by a hook": "    def __getattr__(self, name):\n        return self.extra\n    def size(self):\n        return self.other\nfor a in (A(8), A(6)):\n    put(jnp.zeros(a.size()), 'model')",
    "a pattern": "    def size(self):\n        match self:\n            case A(extra=8):\n                return 8\n        return 6\nfor a in (A(8), A(1)):\n    put(jnp.zeros(a.size()), 'model')",
    "a copy": "    def copy(self):\n        import copy\n        return copy.copy(self)\nfor a in (A(8), A(6)):\n    put(jnp.zeros(a.copy().extra), 'model')",
    "what was known looks": "    def rows(self):\n        return self.extra\n    def size(self, k):\n        return self.rows() + k\na, k = A(8), 4\nfor a, k in ((a, 0), (a, k), (A(6), k)):\n    put(jnp.zeros(a.size(k)), 'model')",
    "what was known of an equal one looks": "    def rows(self):\n        return self.extra\n    def size(self, k):\n        return self.rows() + k\nn, k = 8, 4\nfor a, k in ((A(n), 0), (A(n), k), (A(6), k)):\n    put(jnp.zeros(a.size(k)), 'model')",
    "it is no object": "    def size(self):\n        return self.n - 2\nput(jnp.zeros(A().size()), 'model')\nfor a in (A, 1, None):\n    A.size(a)\nput(jnp.zeros(A.size(A)), 'model')",
    "fewer are needed by an entry": "    def size(self):\n        return put(jnp.zeros(self.n - 2), 'model')\ndef entry(argument):\n    return A(argument).size()",
    "an entry does not know": "    def rows(self):\n        return 8 if hasattr(self, 'other') else 6\n    def size(self):\n        return put(jnp.zeros(self.rows()), 'model')\ndef entry(argument):\n    return A(argument).size()",
}  # fmt: skip


@pytest.mark.parametrize("name", OBJECTS)
def test_objects_that_differ(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = agree(source_from_text("program.py", f"{SETUP}{MADE}{OBJECTS[name]}\n"), monkeypatch)
    assert found, "there is nothing to be found"


@pytest.mark.parametrize("name", [name for name, text in OBJECTS.items() if "\nfor a in " in text])
def test_objects_that_differ_in_entries(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    methods, _, use = OBJECTS[name].partition("\nfor a in ")
    body = "".join(f"    {line}\n" for line in f"for a in {use}".splitlines())
    program = f"{SETUP}{MADE}{methods}\ndef entry(argument):\n    a = A(argument)\n    a.extra\n{body}"
    agree(source_from_text("program.py", program), monkeypatch)


#: Two objects of one class, of which the second alone has something else to add.
LAYERS = """
import copy
import jax, jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("data", "model"))
WIDTH = 8

class Layer:
    def __init__(self, width, more, names):
        self.width, self.more, self.names = width, more, names
        self.parts = [more]

    def rows(self):
        return self.width + 0

    def shape(self):
        return (self.rows(), 8)

    def put(self):
        x = jnp.zeros(self.shape())
        return jax.device_put(x, NamedSharding(mesh, P("data")))

def one():
    return Layer(WIDTH, 0, None).put()

def other():
    return Layer(WIDTH, 2, "data").put()

def both(argument):
    return [layer.put() for layer in (Layer(WIDTH, 0, argument), Layer(WIDTH, 4, argument))]
"""


@pytest.mark.parametrize(
    ("after", "found"),
    [
        ("self.width + self.more", 1),
        ("self.width + 2", 1),
        ("self.width + (self.names is not None) * 2", 1),
        ("self.width + self.parts[0]", 1),
        ('self.width + getattr(self, "more")', 1),
        ("self.width + copy.copy(self).more", 1),
        ("self.width + 0 * self.more", 0),
        ("self.width + (0 if hasattr(self, 'missing') else 2)", 1),
        ("self.width + len(self.missing)", 0),
    ],
)
def test_a_method_that_reads_more_after_an_edit(after: str, found: int) -> None:
    text = LAYERS.replace("self.width + 0", after)
    assert agree_at_each_step([LAYERS, text, LAYERS, text, text.replace(" 8)", " 7)"), text]) == found


def agree_at_each_step(steps: list[str]) -> int:
    """Compare a program that is edited with one that is made anew; returns how much is found at last."""
    settings = dataclasses.replace(Settings(devices=8), editing=True)
    staying, found = Linter(settings, analyzer=Analyzer(programs=Programs())), 0
    for step in steps:
        source = source_from_text("layers.py", step)
        findings = staying.check_source(source)
        assert told(findings) == told(Linter(settings).check_source(source))
        found = len(findings)
    return found


NOTE = "note = 1\n        "


def test_a_method_that_reads_more_after_two_edits() -> None:
    noted = LAYERS.replace("return (self.rows()", f"{NOTE}return (self.rows()")
    assert agree_at_each_step([LAYERS, noted, noted.replace("+ 0", "+ self.more")]) == 1


def test_callers_of_a_method_that_reads_more_after_an_edit() -> None:
    layer, both = LAYERS.partition("def one")[0], LAYERS.partition("def both")[2]
    alone = f"{layer}def both{both}".replace(", Layer(WIDTH, 4, argument)", ",")
    further = alone.replace("+ 0", "+ self.more")
    noted = further.replace("x = jnp", f"{NOTE}x = jnp")
    both = noted.replace("argument),)", "argument), Layer(WIDTH, 2, argument))")
    assert agree_at_each_step([alone, further, noted, both]) == 1


@pytest.mark.parametrize("seed", range(4))
def test_edits_of_objects_that_differ(seed: int) -> None:
    follow("layers.py", LAYERS, 3 * EDITS, str(seed))

"""Edits of functions that are defined in others: those around them run again only where that matters."""

from __future__ import annotations

import dataclasses

import libcst as cst
import pytest
from following import EDITS, follow, programs_made, told

from shardlint.api import Linter, source_from_text
from shardlint.config import Settings
from shardlint.engine.analyzer import Analyzer
from shardlint.engine.open_programs import Programs
from shardlint.inference.interpreter import functions
from shardlint.inference.interpreter.interpreter import Interpreter
from shardlint.inference.machine.code import Code
from shardlint.inference.syntax.node_fields import walk
from shardlint.inference.syntax.units import BrokenText, Unit

#: Functions in functions, in blocks, of one name, decorated, made at the top level, and ones that see
#: variables which change later.
NESTED = """
import functools
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("data", "model"))

def put(x, *names):
    return jax.device_put(x, NamedSharding(mesh, P(*names)))

def factory(rows):
    def step(x):
        def scale(y):
            return y * rows
        return put(scale(x) + jnp.zeros((rows, 4)), "data", "model")

    @functools.partial(jax.jit, static_argnames="n")
    def traced(x, n=6):
        return put(jnp.zeros((n, rows)), None, "data")

    return step, traced

step, traced = factory(6)

def loop(x, flag):
    n = 4
    size = 6
    def body(carry, _):
        return carry + size, put(jnp.zeros((n, 2)), "data")
    out = jax.lax.scan(body, x, None, length=3)
    n = 6
    if flag:
        def body(carry, _):
            return carry * 2, put(jnp.zeros((n, 2)), "data")
        out = jax.lax.scan(body, x, None, length=3)
    for k in range(2):
        def inner(y):
            nonlocal size
            size = 8
            return put(y, "model") if k else count(y, 3)
        inner(jnp.zeros((size, 6)))
    with jax.named_scope("late"):
        def late(y):
            return jax.vmap(lambda row: row + n)(put(y, "data", None))
    def count(y, depth):
        return y if depth == 0 else count(put(y, "data"), depth - 1)
    return late(jnp.zeros((size, n))), out

def train(x):
    def loss(w):
        logits = w @ x.T
        return logits.mean(), logits
    def update(w):
        (value, aux), grads = jax.value_and_grad(loss, has_aux=True)(w)
        return put(w - grads, "data", "model"), put(aux, "model")
    return update(jnp.zeros((6, 8)))

def batches(rows):
    size = 4
    def shapes():
        for n in range(2):
            yield put((jnp.zeros((size + n * 4, rows))), "data")
    for shape in shapes():
        yield shape
    yield put(jnp.zeros((rows, rows)), "model")

def consume():
    first, *rest = batches(6)
    return put(first, None, "model"), [put(one, "data") for one in batches(8)]

def main():
    train(jnp.ones((4, 8)))
    return loop(jnp.zeros(()), True)
"""


@pytest.mark.parametrize("seed", range(6))
def test_edits_inside_functions(seed: int) -> None:
    made, asked = follow("nested.py", NESTED, 4 * EDITS, str(seed))
    assert made < asked, "no program was resumed"


EDITING = dataclasses.replace(Settings(devices=8), editing=True)


class Editor:
    """A program that stays; ``ran`` are the functions that ran for the last answer, ``made`` programs."""

    def __init__(self, text: str, patch: pytest.MonkeyPatch) -> None:
        self.text = text
        self.ran: list[str] = []
        self.made = programs_made(patch)
        self._linter = Linter(EDITING, analyzer=Analyzer(programs=Programs()))
        run = functions.run_function

        def running(interpreter: object, function: object, *arguments: object) -> object:
            self.ran.append(function.name)  # type: ignore[attr-defined]
            return run(interpreter, function, *arguments)  # type: ignore[arg-type]

        patch.setattr(Interpreter, "run_function", running)
        self.edit("", "")

    def edit(self, before: str, after: str) -> list[str]:
        """The codes of what is found after an edit, which must be what a check from nothing finds."""
        assert before in self.text
        self.text = self.text.replace(before, after, 1)
        source = source_from_text("nested.py", self.text)
        self.ran = []
        self.made.clear()
        found = self._linter.check_source(source)
        ran = list(self.ran)
        assert told(found) == told(Linter(EDITING).check_source(source))
        self.ran = ran
        return [str(one.code) for one in found]


def test_a_function_around_one_that_gives_what_it_gave_does_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    editor = Editor(NESTED, monkeypatch)
    editor.edit("return logits.mean(), logits", "note = 1\n        return logits.mean(), logits")
    assert (set(editor.ran), editor.made) == ({"loss"}, [])
    editor.edit("logits = w @ x.T", "logits = w @ x.T * note")
    assert {"loss", "update", "train"} <= set(editor.ran)


def test_what_the_top_level_made_stays_if_functions_in_it_are_edited(monkeypatch: pytest.MonkeyPatch) -> None:
    editor = Editor(NESTED, monkeypatch)
    editor.edit("jnp.zeros((n, rows))", "jnp.zeros((rows, n))")
    assert not editor.made
    editor.edit("return step, traced", "rows = 2\n    return step, traced")
    assert len(editor.made) == 1


def test_a_variable_is_read_as_it_was_when_the_function_ran(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the code around sets later was not there yet."""
    text = """
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("data", "model"))

def outer():
    m, n = 8, 6
    def rows():
        return m
    x = jax.device_put(jnp.zeros((rows(), 2)), NamedSharding(mesh, P("data")))
    n = m
    return x
"""
    editor = Editor(text, monkeypatch)
    assert editor.edit("return m", "return n") == ["SHL202"]


READING = """
import math
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("data", "model"))
ROWS = 8

class Model:
    def rows(self):
        return 8

    def middle(self):
        def inside():
            return self.rows() + 0
        return inside() + 1

    def outer(self, n):
        return jax.device_put(jnp.zeros((self.middle() - 1, n)), NamedSharding(mesh, P("data")))

def use(model: Model):
    return model.middle(), [model.rows() for _ in range(3)], model.outer(3)
"""


@pytest.mark.parametrize(
    "read", ["note = math", "note = jnp.zeros", "print(len)", "note = nowhere", "note = ROWS"]
)
def test_who_reads_more_of_modules_and_gives_the_same_stands(
    monkeypatch: pytest.MonkeyPatch, read: str
) -> None:
    editor = Editor(READING, monkeypatch)
    assert editor.edit("return 8", f"{read}\n        return 8") == []
    assert set(editor.ran) == {"rows"}
    # And what the functions around it depend on now is known.
    editor.edit(f"        {read}\n", "        return ROWS\n")
    assert editor.edit("ROWS = 8", "ROWS = 6") == ["SHL202"]


def test_runs_around_depend_on_what_is_read_now(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that stood because a function gave the same does not stand where what that reads is another."""
    head = READING[: READING.index("ROWS")]
    text = """
ROWS = 6

def use(n):
    return outer(n)

def outer(n):
    return jax.device_put(jnp.zeros((middle(), n)), NamedSharding(mesh, P("data")))

def middle():
    return rows() + 0

def rows():
    return 6
"""
    editor = Editor(head + text, monkeypatch)
    assert editor.edit("return 6", "return ROWS") == ["SHL202"]
    assert {"outer", "use"}.isdisjoint(editor.ran)
    assert editor.edit("    return outer", "    global ROWS\n    ROWS = 8\n    return outer") == []


def test_what_an_entry_changes_is_read_where_it_did(monkeypatch: pytest.MonkeyPatch) -> None:
    """A function that begins to read a variable which who calls it has set is run where that is so."""
    entry = """
def rows():
    return 8

def entry(n):
    global ROWS
    ROWS = 6
    return jax.device_put(jnp.zeros((rows(), n)), NamedSharding(mesh, P("data")))
"""
    editor = Editor(READING + entry, monkeypatch)
    assert editor.edit("def rows():\n    return 8", "def rows():\n    return ROWS") == ["SHL202"]


def _keys_of(unit: Unit) -> dict[str, object]:
    """The keys of the functions in a unit, by their names."""
    found: dict[str, object] = {}
    for node in (node for statement in unit.body for node in walk(statement)):
        if isinstance(node, cst.FunctionDef):
            found[node.name.value] = Code(node.name.value, unit, node, None).key
    return found


def test_which_functions_an_edit_changes() -> None:
    text = "def f():\n  def g(a):\n    def h():\n      return 1\n    return h()\n  return g(2)\n"
    unit = Unit("a.py", None, text, 1, indented=False)
    keys = _keys_of(unit)
    assert unit.rewrite(text.replace("return 1", "return 3")) == {keys["h"]}
    assert _keys_of(unit) == keys
    assert unit.rewrite(unit.text.replace("return h()", "return h")) == {keys["g"]}
    assert unit.rewrite(unit.text.replace("g(2)", "g(1)").replace("return 3", "x")) == {id(unit), keys["h"]}
    # Another signature makes another function.
    assert unit.rewrite(unit.text.replace("def g(a)", "def g(b)")) == {id(unit)}
    others = _keys_of(unit)
    assert others["f"] == keys["f"]
    assert others["g"] != keys["g"]
    assert unit.rewrite("def f(:\n") == {id(unit)}
    with pytest.raises(BrokenText):
        _ = unit.body
    assert unit.rewrite(text.replace("def g(a)", "def g(b)")) == {id(unit), others["g"], others["h"]}
    assert _keys_of(unit) == others

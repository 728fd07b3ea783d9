"""Misspelt names are read as what is meant, and only names that Python itself does not find."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import random
import re
from pathlib import Path
from typing import Any

import libcst as cst
import pytest
from support.checking import check
from support.sizes import FULL

from shardlint.inference.syntax.file_parts import split, whole_units
from shardlint.inference.syntax.node_fields import walk
from shardlint.inference.syntax.typos import Names
from shardlint.laws.versions.public_names import PUBLISHED

ROOT = Path(__file__).parents[2]

#: All of it runs, each name is used in every scope that sees it, and some are a letter off others.
PROGRAM = """
import math as maths
scale, axis = 2, 0
total = 0
def count(items, start=scale):
    total = start
    for item in items:
        total += item
    def inner(items):
        values = [value * scale for value in items if value > axis]
        pairs = {key: len(values) for key in values}
        add = lambda one, two=axis: one + two + start + maths.floor(scale)
        return add(sum(pairs.values())) + (lambda: max(values))() + sum(v for v in values)
    first, *others = items
    with open('/dev/null') as file:
        found = [file.read(), first, others]
    try:
        result = inner(items) + len(found) + int(total)
        result = int('two')
    except ValueError as error:
        result = len(str(error))
    return result + total
class Model:
    width: int = scale
    size = width + 1
    def run(self, mark='é🧪'):
        def deep(): return [mark, self.size, total]
        return deep(), count([1, 2, 3], start=axis)
Model().run()
count((3, 4))
"""


def read(text: str) -> str:
    names = Names.of(text, ast.parse(text))
    assert names is not None
    meant = names.meant(text, indented=False)
    assert meant is not None
    return meant.text


def ran(text: str) -> BaseException | None:
    """What a program raises."""
    scope: dict[str, Any] = {"__name__": "program"}
    try:
        exec(compile(text, "program", "exec"), scope)
    except Exception as error:
        return error
    return None


@pytest.mark.parametrize("seed", range(4))
def test_what_is_read_otherwise_is_what_python_does_not_find(seed: int) -> None:
    """Python raises NameError for each program that is read otherwise, and none for what is read."""
    chance, changed, same = random.Random(seed), 0, 0
    assert ran(PROGRAM) is None
    words = list(re.finditer(r"[^\W\d]\w*", PROGRAM))
    for _ in range(150):
        word = chance.choice(words)
        at = chance.randrange(word.start(), word.end())
        letter = chance.choice((PROGRAM[at] * 2, "", f"{PROGRAM[at]}q"))
        text = PROGRAM[:at] + letter + PROGRAM[at + 1 :]
        try:
            compile(text, "program", "exec")
        except SyntaxError:
            continue
        meant = read(text)
        if meant == text:
            same += 1
            continue
        changed += 1
        # A parameter may be what is misspelt.
        assert isinstance(ran(text), NameError | TypeError), text
        assert not isinstance(ran(meant), NameError), meant
    assert changed > 40
    assert same > 10


def test_nothing_that_runs_is_read_otherwise() -> None:
    """Real code, all of which Python finds the names of."""
    files = [file for folder in ("shardlint", "server", "tests") for file in (ROOT / folder).rglob("*.py")]
    looked = 0
    for file in files if FULL else files[::4]:
        text = file.read_text(encoding="utf-8")
        if (names := Names.of(text, ast.parse(text))) is None:
            continue
        meant = names.meant(text, indented=False)
        assert meant is not None
        assert not meant.moved, file
        looked += 1
    assert looked > 200


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("mesh = 1\nf(mmesh, mesh2)\n", "mesh = 1\nf(mesh, mesh)\n"),
        ("mesh = 1\nf(hsem, xmeshx)\n", None),
        # Several names are near.
        ("axis_a = axis_b = 1\nf(axis_)\n", None),
        ("axis = 1\ndef f(axes): return axs\n", None),
        ("axis = 1\ndef f(axes): return axess\n", "axis = 1\ndef f(axes): return axes\n"),
        ("axis = 1\ndef f(axes): return axi\n", "axis = 1\ndef f(axes): return axis\n"),
        # A builtin is meant only if nothing else is.
        ("rang = 1\nrrang\nrangee\n", "rang = 1\nrang\nrange\n"),
        # A function may return what stands in parentheses.
        ("def f(a):\n  retur (a, f)\n", "def f(a):\n  return (a, f)\n"),
        ("def f(a): returnn(a)\n", "def f(a): return(a)\n"),
        ("def f(a): return retur(a), [retur(b) for b in a]\n", None),
        ("def f(a): retur(a=1); retur(a).b; retur(*a); retur\n", None),
        ("retur(1)\n", None),
        # What is bound and never read is misspelt, if it is written less often.
        ("def f():\n  sizee = 1\n  return size, size\n", "def f():\n  size = 1\n  return size, size\n"),
        ("def f():\n  size = 1\n  return sizee\n", "def f():\n  size = 1\n  return size\n"),
        # Where both are written as often, the word tells that nothing else has.
        (
            "def f(part_b):\n  paart_a = part_b\n  return part_a\n",
            "def f(part_b):\n  part_a = part_b\n  return part_a\n",
        ),
        (
            "def f(part_b):\n  part_a = part_b\n  return paart_a\n",
            "def f(part_b):\n  part_a = part_b\n  return part_a\n",
        ),
        (
            "def f(part_b):\n  par_t_a = part_b\n  return part_a\n",
            "def f(part_b):\n  par_t_a = part_b\n  return par_t_a\n",
        ),
        ("def f(sizee):\n  return size, size\n", "def f(sizee):\n  return sizee, sizee\n"),
        ("def f():\n  sizee = sizee = 1\n  return size\n", "def f():\n  sizee = sizee = 1\n  return sizee\n"),
        # Functions do not see what classes bind, nor what other functions do.
        ("class A:\n  mesh = 1\n  def f(self): return mmesh\n", None),
        ("def f():\n  mesh = 1\ndef g(): return mmesh\n", None),
        ("class A:\n  mesh = 1\n  def f(self): return mesh\nmmesh = 1\n", None),
        # Of a scope that binds it, a name is left alone.
        ("mesh = 1\ndef f(mmesh): mmesh\nmmesh\n", "mesh = 1\ndef f(mmesh): mmesh\nmesh\n"),
        # Annotations need not be evaluated, and Python 3.11 does not tell where names in f-strings stand.
        ("mesh = 1\ndef f(x: mmesh) -> mmesh: y: mmesh = x\nf'{mmesh}'\n", None),
        # Something may bind it.
        ("mesh = 1\ndef f():\n  global mmesh\n  mmesh = 1\nmmesh\n", None),
        # Two lambdas of one line have to agree.
        ("mesh = 1\nf(lambda mmesh: mmesh, lambda: mmesh)\n", None),
        ("mesh = 1\nf(lambda: mmesh, lambda: mmesh)\n", "mesh = 1\nf(lambda: mesh, lambda: mesh)\n"),
    ],
)
def test_what_is_meant(written: str, meant: str | None) -> None:
    assert read(written) == (meant or written)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (
            "import jax\njax.devicees(), jax.lax.raggged_dot\n",
            "import jax\njax.devices(), jax.lax.ragged_dot\n",
        ),
        ("import jax.numpy as np\nnp.concatnate\n", "import jax.numpy as np\nnp.concatenate\n"),
        (
            "from jax import lax, nn as n\nlax.pssum; n.softmmax\n",
            "from jax import lax, nn as n\nlax.pssum; n.softmax\n",
        ),
        (
            "import jax\ndef f(): return (jax\n  .devicees('é', jax.devicees))\n",
            "import jax\ndef f(): return (jax\n  .devices('é', jax.devices))\n",
        ),
        # The first and the last letter, and short names, tell other functions apart.
        ("import jax\njax.xdevices, jax.devicesx, jax.numpy.siin, jax.numpy.float16x\n", None),
        # It is a module of JAX in every scope of the lines, and nobody asks whether it has that.
        ("import jax\njax = 1\njax.devicees\n", None),
        ("import jax\ndef f(jax): return jax.devicees\n", None),
        ("import jax\nclass A:\n  jax = 1\n  jax.devicees\n", None),
        ("import other as jax\njax.devicees\n", None),
        ("import jax\nif hasattr(jax, 'devicees'): jax.devicees\n", None),
        ("import jax\ntry: jax.devicees\nexcept AttributeError: pass\n", None),
        ("import jax\n'jax.devicees', my.jax.devicees\n", None),
    ],
)
def test_what_is_meant_by_attributes(written: str, meant: str | None) -> None:
    assert read(written) == (meant or written)


@pytest.mark.parametrize("module", PUBLISHED)
def test_every_name_of_jax_is_known(module: str) -> None:
    there = importlib.import_module(module)
    inside = (one.name for one in pkgutil.iter_modules(getattr(there, "__path__", ())))
    names = {name for name in (*dir(there), *inside) if not name.startswith("_")}
    assert len(names) > 10
    assert names <= PUBLISHED[module]


@pytest.mark.parametrize(
    "line",
    [
        "from os import *", "exec('mmesh = 1')", "globals()['mmesh'] = 1", "vars()['mmesh'] = 1",
        "import builtins", "try: mmesh\nexcept NameError: pass", "import sys; m = sys.modules[__name__]",
    ],
)  # fmt: skip
def test_where_names_may_be_bound_unseen_nothing_is_read_otherwise(line: str) -> None:
    text = f"mesh = 1\n{line}\nmmesh\n"
    assert Names.of(text, ast.parse(text)) is None


def test_letters_that_python_reads_as_others_stay() -> None:
    assert read("mesh = 1\nf(ℳesh, Mmesh)\nMesh = 1\n") == "mesh = 1\nf(ℳesh, Mmesh)\nMesh = 1\n"


@pytest.mark.parametrize("seed", range(3))
def test_every_node_stands_where_it_is_written(seed: int) -> None:
    """The nodes of a text that is read otherwise stand where `ast` says what is written stands."""
    chance, moved = random.Random(seed), 0
    for _ in range(40):
        text = PROGRAM
        for word in chance.sample(list(re.finditer(r"[^\W\d]\w*", PROGRAM))[20:], 2):
            text = text[: word.start()] + word[0][0] + text[word.start() :]
        try:
            tree = ast.parse(text)
        except SyntaxError:
            continue
        lines = text.splitlines()
        wanted = {
            (node.lineno, node.end_lineno, *(_column(lines, *place) for place in _ends(node)))
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
        }
        units = list(whole_units(split("a.py", None, text).parts))
        moved += sum(bool(unit.moved) for unit in units)
        found = set()
        for unit in units:
            for node in (node for statement in unit.body for node in walk(statement)):
                if not isinstance(node, cst.Call):
                    continue
                span = unit.span(node)
                found.add((span.line, span.end_line, span.column - 1, span.end_column - 1))
        assert found == wanted, text
    assert moved > 10


def _ends(node: ast.Call) -> list[tuple[int, int]]:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return [(node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)]


def _column(lines: list[str], line: int, column: int) -> int:
    return len(lines[line - 1].encode()[:column].decode())


def test_findings_of_a_misspelt_text_stand_where_it_is_written() -> None:
    text = (
        "import jax, jax.numpy as jnp\nfrom jax.sharding import NamedSharding, PartitionSpec as P\n"
        "mesh = jax.make_mesh((4, 2), ('data', 'model'))\nweight = jnp.zeros((8, 8))\n"
        "x = ['🧪', jax.device_put(weightt, NamedSharding(mesh, P(None, 'data', 'model')))]\n"
    )
    (finding,) = check(text, "a.py", devices=None)
    assert (finding.code, finding.span.line) == ("SHL201", 5)
    line = text.splitlines()[4]
    assert line[finding.span.column - 1 :].startswith("'model')))]")

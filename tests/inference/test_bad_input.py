# ruff: noqa: E501
"""Text that is broken, extreme or newer than this Python: a message at most, and the rest is still checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from shardlint.api import source_from_text
from shardlint.inference import InferenceSettings, analyze
from shardlint.laws.core.values import Spec
from shardlint.model.uses import FileProblem, ShardingUse, Use
from shardlint.source.sources import read_source

HEAD = "import jax\nfrom jax.sharding import PartitionSpec as P, NamedSharding\n"
MESH = HEAD + "mesh = jax.sharding.Mesh(jax.devices(), ('data',))\n"
#: A mistake that every reading of the text must find.
WRONG = "wrong = NamedSharding(mesh, P('dato'))\n"


def uses_of(text: str) -> tuple[list[Use], list[FileProblem]]:
    """Return the uses and the problems of a file with this text."""
    found = analyze([source_from_text("program.py", text)], InferenceSettings(devices=8))
    return [f for f in found if isinstance(f, Use)], [f for f in found if isinstance(f, FileProblem)]


def sharding_lines(uses: list[Use]) -> list[int]:
    return [use.place.resolve().line for use in uses if isinstance(use, ShardingUse)]


@pytest.mark.parametrize(
    "broken",
    [
        "def f(:\n    pass\n",
        "x = (1,\ny = 2\n",
        "x = = 3\n",
        "if True\n    x = 1\n",
        "x = 'open\n",
        "class :\n    x = 1\n",
    ],
)
def test_the_rest_of_a_broken_file_is_checked(broken: str) -> None:
    uses, problems = uses_of(MESH + WRONG + broken)
    assert sharding_lines(uses) == [4]
    assert [problem.kind for problem in problems] == ["syntax"]
    assert problems[0].place.resolve().line >= 5


def test_names_that_broken_text_binds_are_unknown() -> None:
    uses, problems = uses_of(MESH + "mesh = Mesh((\n" + WRONG)
    assert problems
    assert all(not isinstance(use, ShardingUse) or isinstance(use.mesh, object) for use in uses)


@pytest.mark.parametrize(
    "text",
    [
        "", "\n", "# nothing\n", "\ufeff" + MESH + WRONG, MESH.replace("\n", "\r\n") + WRONG.replace("\n", "\r\n"),
        MESH + "\x0c\n" + WRONG, MESH + "if True:\n\tx = 1\n\tif x:\n\t\ty = 2\n" + WRONG, MESH + WRONG.rstrip("\n"),
        MESH + "x = 1;y = 2\n" + WRONG, MESH + "x = \\\n  1\n" + WRONG, MESH + "s = '''\ndef f(:\n'''\n" + WRONG,
    ],
)  # fmt: skip
def test_unusual_text_is_read_as_python_reads_it(text: str) -> None:
    uses, problems = uses_of(text)
    assert not problems
    expected = [i for i, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1) if "dato" in line]
    assert sharding_lines(uses) == expected


@pytest.mark.parametrize(
    "text",
    [
        "type Shape = tuple[int, ...]\n", "def f[T](x: T) -> T:\n    return x\n", "class A[T]:\n    x: T\n",
        "x = f'{'a' + f'{1}'}'\n",
    ],
)  # fmt: skip
def test_newer_syntax_does_not_stop_the_rest(text: str) -> None:
    uses, _ = uses_of(MESH + text + WRONG)
    assert len(sharding_lines(uses)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * 2_000 + "]" * 2_000 + "\n", "x = " + " + ".join(["1"] * 10_000) + "\n",
        "x = " + "(" * 150 + "1" + ")" * 150 + "\n", "x = a" + ".b" * 3_000 + "\n", "x = f" + "(1)" * 1_500 + "\n",
        "x = " + "not " * 1_500 + "1\n", "x = " + "-" * 1_500 + "1\n", "x = " + "lambda: " * 500 + "1\n",
        "x = " + "1 if y else " * 800 + "2\n", "".join("    " * i + "if x:\n" for i in range(40)) + "    " * 40 + "y = 1\n",
        "if x == 0:\n    y = 0\n" + "".join(f"elif x == {i}:\n    y = {i}\n" for i in range(1, 500)),
        "x = 9 ** 9 ** 9\n", "x = 'a' * 10 ** 12\n", "x = 1 << 10 ** 9\n", "x = range(10 ** 30)\nfor i in x:\n    pass\n",
        "x = (10 ** 200) ** 200\ny = f'{x}'\nz = str(x)\n", "t = (1,)\nfor i in range(60):\n    t = t + t\n",
        "t = 'ab'\nfor i in range(60):\n    t = t + t\n", "t = [1]\nfor i in range(60):\n    t = t + t\n",
        "t = u = ()\nfor i in range(60):\n    t = (t, t)\n    u = (u, u)\nx = t == u\ny = {t: 1}\nz = t is u\nw = hash(t)\n",
        "t = u = []\nfor i in range(60):\n    t = [t, t]\n    u = [u, u]\nx = t == u\nfor y in unknown:\n    t = u\n",
        "x = []\nx.append(x)\ny = []\ny.append(y)\nz = x == y\nif unknown:\n    x = y\nx = x + x\n",
        "x = {}\nx['x'] = x\ny = unknown(x)\n", "def f(n):\n    return f(n - 1)\nf(1)\n",
        "def f(n):\n    return g(n)\ndef g(n):\n    return f(n) + f(n)\nf(1)\n", "while True:\n    x = 1\n",
        "for a in range(60):\n    for b in range(60):\n        for c in range(60):\n            x = a\n",
        "x = [a for a in range(60) for b in range(60) for c in range(60)]\n",
        "".join(f"def f{i}(): return f{i + 1}() + f{i + 1}()\n" for i in range(40)) + "f0()\n",
        "".join(f"if c{i}():\n    x{i} = {i}\n" for i in range(200)), "class A(A):\n    pass\nclass B(B, B):\n    pass\nB()\n",
        "class A: pass\nclass B(A): pass\nclass C(A, B): pass\nC().x\n", "x = '0'.zfill(10 ** 12)\n", "x = [0] * -1\n",
        "s = '{}'.join(['a'] * 60)\nfor i in range(60):\n    s = s.join([s, s])\n", "x = '\\ud800'\nprint(f'{x}')\n",
        "import program\nfrom program import *\n",
        "from . import x\nfrom .. import y\nfrom ....a import z\nfrom ... import *\n", "x = 1e999\ny = int(x)\nz = round(1e999)\n", "x = -7 % 0\n", "del x\n",
        "return 1\nbreak\ncontinue\nyield 2\nawait x\n", "nonlocal x\nglobal y\n", "x: int\n*a, *b = 1, 2\n(yield) = 1\n",
        "match x:\n    case {'a': [b, *_], **rest} if b:\n        pass\n    case A(b=1) | None:\n        pass\n",
        "async def f():\n    async with a as b:\n        async for c in d:\n            await e\nf()\n",
        "@x\n@y.z\n@w(1)\nclass A(metaclass=B, c=1):\n    @property\n    def x(self): return self.x\nA().x\n",
    ],
)  # fmt: skip
def test_extreme_text_neither_stops_nor_crashes(text: str) -> None:
    uses, problems = uses_of(MESH + WRONG + text)
    # Text that would exhaust the parser is refused whole; all other text leaves what stands before it.
    assert sharding_lines(uses) == [4] or any(problem.kind != "syntax" for problem in problems)


def test_files_that_import_each_other(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(
        MESH + "import two\nfrom two import axis\n" + WRONG.replace("'dato'", "axis")
    )
    (tmp_path / "two.py").write_text("import one\nfrom one import mesh\naxis = 'dato'\n")
    sources = [read_source(str(tmp_path / name)) for name in ("one.py", "two.py")]
    uses = [use for use in analyze(sources, InferenceSettings(devices=8)) if isinstance(use, ShardingUse)]
    assert [use.spec.entries for use in uses if isinstance(use.spec, Spec)] == [("dato",)]

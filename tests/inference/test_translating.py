"""Trees translated from `ast` are those of libcst's parser."""

from __future__ import annotations

import ast
import random
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

import libcst as cst
import pytest
from support.sizes import FULL

from shardlint.inference.syntax.file_parts import split, units_of
from shardlint.inference.syntax.front_end import Untranslated, translate
from shardlint.inference.syntax.front_end.file_tree import Origin
from shardlint.inference.syntax.node_fields import FIELDS, WRITING, fields, structure, walk
from shardlint.inference.syntax.units import BrokenText, Unit

ROOT = Path(__file__).parents[2]
_INSTALLED, _STANDARD = (Path(sysconfig.get_path(name)) for name in ("purelib", "stdlib"))
#: Real code of many hands. Python's own tests are full of what nobody writes.
FOLDERS = {
    "shardlint": ROOT / "shardlint",
    "fixtures": ROOT / "fixtures",
    "flax": _INSTALLED / "flax",
    "jax": _INSTALLED / "jax/_src",
    "numpy": _INSTALLED / "numpy/lib",
    "stdlib": _STANDARD,
}
#: Every n-th file of them, so that each takes some seconds.
STEPS = (
    {"shardlint": 3, "jax": 6, "numpy": 3, "stdlib": 60}
    if FULL
    else {"shardlint": 24, "flax": 8, "jax": 24, "numpy": 3, "stdlib": 240}
)
#: Every n-th file of those whose units are compared.
UNIT_STEPS = {"fixtures": 3, "flax": 4, "numpy": 4} if FULL else {"fixtures": 3, "flax": 11, "numpy": 9}
#: Fields that tell nothing that is not told by others, or only how something is written.
_ASIDE = {
    "default_indent",
    "default_newline",
    "has_trailing_newline",
    "encoding",
    "posonly_ind",
    "start",
    "end",
    "dot",
    "colon",
    "first_colon",
    "second_colon",
}
#: Of syntax that `ast` leaves to libcst.
_ASIDE |= {"type_parameters"}

TRANSLATED = [
    "",
    "x[1,] = x[1, 2,] = x[(1, 2)] = x[(1), (2)] = x[(1, 2), 3] = x[((1), 2)] = x[()] = x[1:2, ::3, ...]\n",
    "x[*y] = x[*y, 1]\n",
    "f(a, *b, c=1, *d, **e)\nf(*a, **b)\nf(x for x in y)\nf((x for x in y), 1)\n",
    "def f(a, b: int, /, c=1, d: str = 'x', *args: int, e, g=2, **kw: int) -> None: ...\n",
    "def f(*, a, b=1): pass\ndef f(a, /): pass\ndef f(*a): pass\nf = lambda a, *b, c=1: a\nf = lambda: 0\n",
    "x = 1; y = 2\nif x: y = 1; z = 2\nelif y: pass\nelse: z = '''a\nb'''; w = 1\n",
    "if x:\n  pass\nelif y:\n  pass\nelse:\n  if z:\n    pass\n",
    "class A(B, *C, metaclass=D, **E):\n  x: int\n  y: int = 1; z = 2\nclass F: pass\nclass G(): pass\n",
    "@a.b\n@c(1)\nclass A:\n  @d\n  async def f(self): await x; return\n",
    "for x, *y in z: break\nelse: pass\nwhile 1: continue\nelse: pass\nasync def f():\n async for x in y: 1",
    "with a as b, (c) as (d, e): pass\nwith (a as b, c): pass\nasync def f():\n  async with a: pass\n",
    "try: pass\nexcept A as e: raise\nexcept (B, C): raise x from y\nexcept: 1\nelse: 2\nfinally: 3\n",
    "try: pass\nexcept* A as e: pass\n",
    "del a\ndel a, b\ndel (a, b)\ndel a[0], b.c\nglobal g, h\n",
    "import a, b.c.d as e\nfrom . import a\nfrom ..b.c import d as e, f\nfrom a import *\nfrom a import (b,)",
    "x += 1; x @= y; x //= 2; x **= 3\nx >>= 1; x <<= 1; x &= 1; x |= 1\n",
    "x ^= 1; x -= 1; x *= 1; x /= 1; x %= 1",
    "a and b and (c and d) or not e\na < b <= c != d is not e not in f in g is h == i > j >= k\n",
    "a + b - c * d @ e / f // g % h ** -i << +j >> ~k & l | m ^ (n + o) + p\n",
    "0x1F + 1_000 + 0b1 + 1.5e3 + .5 + 2j + 10**400\nTrue, False, None, ...\n",
    "'a' \"b\" 'c'\n('a'\n 'b')\nrb'\\x00' b''\nu'x' '''y''' \"\"\"z\"\"\" 'it\\'s' '''it\\'''s'''\n",
    "f'{a}' f'{a!r}{b.c:>10}{{}}{d:{e}}' 'x' f'{f(1)} {g[\"k\"]}'\n",
    "f'{a:}' f'{len(a.b)} {c[d]!s} {e + f(g):x}' f'{h(*i)}{j(k=l)}' f'{m[n, o]}{(p, q)}{r == s}'\n",
    "('a' # 'b'\n f'{c}' \\\n r'\\d' F\"{{}}{e!r:>{f}}\" 'g')\nf'' f'{a}' ''\nb'a' B'b'\n",
    "f'{a=}' f'{ a = !s:^4}' f'a\\n{b}' rf'{c}\\d'\n",
    "f'''{\na}\n{b}'''\nf''\nF'x'\n",
    "[x for y in z for x in y if x if y]\n{x: y for x, y in z}\n{x for x in y}\n[x async for x in y]\n",
    "{'a': 1, **b, c: d}\n{1, *b}\n[*a, b]\n(*a, b)\n{}\n[]\n()\n*a, b = c\n",
    "x = yield\nx = yield y\nx = yield from y\n(y := 1)\nx = a if b else c\nx: int\nx: int = 1\nx.y: int = 2",
    "assert a\nassert a, b\nraise\nraise A\nreturn\nreturn a, b\nexpr\n",
    "é = '😀'; z = é['é', 1] + 'ü' 'x' + f'{é}'\n",
    "if 1:\r\n\tx = '''a\r\nb'''\r\n\ty = 1\r\n",
    "x = (  # one\n  1 + 2\n  # two\n)\n",
    "if x:\n  pass\n# end\n",
]
#: What `ast` does not tell, or tells otherwise.
LEFT_TO_LIBCST = [
    "match x:\n  case 1: pass\n",
    "x = 1; \\\ny = 2\n",
    "if x: \\\n  y = 1\n",
    "x[(a  # )\n), b]\n",
    "def f(*args: *Ts): pass\n",
    "x = \0",
    "x = 1\n\x0cy = 'z'\n",
    "x = (",
    "x = " + "(" * 500 + ")" * 500,
    "x = " + "-" * 5000 + "1",
]


@pytest.mark.parametrize("text", TRANSLATED)
def test_the_tree_is_that_of_libcst(text: str) -> None:
    assert structure(translate(text).body) == structure(cst.parse_module(text).body)


@pytest.mark.parametrize("text", LEFT_TO_LIBCST)
def test_what_ast_does_not_tell_is_left_to_libcst(text: str) -> None:
    with pytest.raises(Untranslated):
        translate(text)


@pytest.mark.parametrize("folder", FOLDERS)
def test_real_code_is_translated(folder: str) -> None:
    compared = 0
    for path in sorted(FOLDERS[folder].rglob("*.py"))[:: STEPS.get(folder, 1)]:
        try:
            with path.open(encoding="utf-8", newline="") as file:
                text = file.read()
            found = structure(translate(text).body)
        except (UnicodeDecodeError, Untranslated):
            continue
        assert found == structure(cst.parse_module(text).body), path
        compared += 1
    assert compared > 10


@pytest.mark.parametrize("folder", ["fixtures", "flax", "numpy"])
def test_units_are_translated_from_the_tree_that_their_file_was_split_by(folder: str) -> None:
    """As if each were parsed by itself, also where its nodes stand."""
    compared = 0
    for path in sorted(FOLDERS[folder].rglob("*.py"))[:: UNIT_STEPS[folder]]:
        text = path.read_text(encoding="utf-8")
        for unit in units_of(split(str(path), None, text).parts):
            # Units of the same text share its tree.
            alone = Unit(unit.path, None, f"{unit.text}\n", unit.first_line, unit.indented)
            assert structure(unit.body) == structure(alone.body)
            for one, other in zip(unit.body, alone.body, strict=True):
                for node, same in zip(walk(one), walk(other), strict=True):
                    assert unit.span(node) == alone.span(same)
            compared += 1
    assert compared > 100


@pytest.mark.parametrize("folder", ["fixtures", "flax", "numpy"])
def test_statements_that_stay_keep_their_nodes(folder: str) -> None:
    """And a text that was rewritten is read, and stands, as one that is new."""
    chance, compared, kept = random.Random(0), 0, 0
    for path in sorted(FOLDERS[folder].rglob("*.py"))[:: UNIT_STEPS[folder]]:
        for unit in units_of(split(str(path), None, path.read_text(encoding="utf-8")).parts):
            before = {id(node) for statement in unit.body for node in walk(statement)}
            lines = unit.text.splitlines(keepends=True)
            at = chance.randrange(len(lines))
            lines[at : at + chance.randrange(3)] = chance.choices(lines, k=chance.randrange(3))
            unit.rewrite("".join(lines))
            # Units of the same text share its tree.
            new = Unit(unit.path, None, f"{unit.text}\n", unit.first_line, unit.indented)
            try:
                assert structure(unit.body) == structure(new.body)
            except BrokenText:
                continue
            nodes = [node for statement in unit.body for node in walk(statement)]
            others = [node for statement in new.body for node in walk(statement)]
            for node, other in zip(nodes, others, strict=True):
                assert unit.span(node) == new.span(other)
            statements = [id(node) for node in nodes if isinstance(node, cst.BaseSmallStatement)]
            assert len(set(statements)) == len(statements)
            kept += len(before.intersection(statements))
            compared += 1
    assert compared > 100
    assert kept > 2 * compared


def test_what_is_written_twice_stays_in_order() -> None:
    unit = Unit("a.py", None, "def f():\n  x = g()\n  if x:\n    x = g()\n  return x\n", 1, indented=False)

    def statements() -> Sequence[cst.CSTNode]:
        kinds = cst.Assign | cst.If | cst.Return
        return [n for s in unit.body for n in walk(s) if isinstance(n, kinds)][::-1]

    before = statements()
    unit.rewrite(unit.text.replace("  return", "  y = 1\n  return"))
    assert [node for node in statements() if node in before] == before
    unit.rewrite("def f(:\n")
    with pytest.raises(BrokenText):
        _ = unit.body
    unit.rewrite("def f():\n  x = g()\n  if x:\n    x = h()\n  return x\n")
    assert [node in before for node in statements()] == [True, False, False, True]


def test_trees_of_files_are_forgotten() -> None:
    origins = []
    for number in range(6):
        origins.append(Origin("x = 1\n"))
        origins[-1].note("x = 1\n", ast.parse("x = 1\n").body)
        assert origins[-1].translate("x = 1\n", indented=False) is not None, number
    kept = [origin.translate("x = 1\n", indented=False) is not None for origin in origins]
    assert kept == [False, False, True, True, True, True]
    assert origins[-1].translate("x = 2\n", indented=False) is None


def test_what_libcst_refuses_is_left_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that it says where: fields that show what is written in them are its own."""

    def refuse(text: str) -> cst.BaseExpression:
        raise cst.ParserSyntaxError("no", lines=[text], raw_line=1, raw_column=0)

    monkeypatch.setattr(cst, "parse_expression", refuse)
    assert translate("x = 'a' 'b' f'{c}'\n").body
    with pytest.raises(Untranslated):
        translate("x = f'{a=}'\n")


def test_fields_are_of_libcst() -> None:
    """Every class of nodes has the fields that `FIELDS` names, and no others that mean something."""
    for kind in FIELDS:
        known = [field for field in kind.__dataclass_fields__ if field != "__slots__"]
        assert set(FIELDS[kind]) <= set(known), kind
        unknown = set(known) - set(FIELDS[kind]) - _ASIDE
        told = {name for name in unknown if not name.startswith(WRITING)}
        assert not told, (kind, told)
    assert fields(cst.MatchAs) == ("pattern", "name")


def test_other_releases_of_python_are_left_to_libcst() -> None:
    text = "def f[T](x: T): pass\n"
    if sys.version_info >= (3, 12):
        with pytest.raises(Untranslated):
            translate(text)
    assert cst.parse_module(text).body


def test_expressions_of_an_edited_statement_keep_their_nodes() -> None:
    unit = Unit("a.py", None, "y = f(g(1), g(1), h)\nz = 1\n", 1, indented=False)
    before = {id(node) for statement in unit.body for node in walk(statement)}
    unit.rewrite("yy = f(g(1), g(1), h)\nz = 1\nw = g(1)\n")
    kept = [
        node
        for statement in unit.body
        for node in walk(statement)
        if isinstance(node, cst.Call) and id(node) in before
    ]
    # The call of ``f`` as a whole; so its arguments are not taken once more.
    assert len(kept) == 3
    assert [unit.written(node) for node in kept] == ["f(g(1), g(1), h)", "g(1)", "g(1)"]

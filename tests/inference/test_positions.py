"""Where nodes stand: as libcst's own provider says, for every node."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import libcst as cst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider
from support.sizes import FULL

from shardlint.inference.syntax.front_end import Former, Translated, Untranslated, translate
from shardlint.inference.syntax.node_fields import fields, walk
from shardlint.inference.syntax.positions import Positions

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
FILES = sorted([*ROOT.glob("shardlint/inference/*/*.py"), *ROOT.glob("fixtures/*.py")])[:: 1 if FULL else 3]
TEXTS = [
    "",
    "x = 1",
    "x = (\n    1,  # one\n)\r\ny = [\r\n  2]\r\n",
    "if 1:\n\tx = '''a\nb'''\n\ty = f'{x!r:>{10}}'  # é😀\n",
    "é = '😀'; z = é + '\\\n'\n",
    "\ufeffx = 1\n",
    "@a\n@b(c)\nasync def f(x, /, y=1, *, z: int = 2) -> int:\n\n    # lost\n    return await x\n\n\n# end",
    # Python composes the letter, which is longer in the text.
    "def f(x, O\u0302, *, é=O\u0302): return f(é, O\u0302=1)\n",
    "with (a as b, c): pass\ntry: pass\nexcept* E as e: raise\nmatch x:\n  case {'a': [1, *_]} if y: pass\n",
]


def _shapes(tree: ast.AST) -> set[tuple[str, str, str, bool]]:
    """Return which kinds of nodes stand in which fields of which others, and whether they have siblings."""
    found = set()
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            several = isinstance(value, list)
            for inner in value if several else (value,):
                if isinstance(inner, ast.AST):
                    found.add((type(node).__name__, field, type(inner).__name__, several and len(value) > 1))
    return found


def _showing_more(texts: Iterable[str]) -> Iterator[str]:
    """Yield of each text the statements that show what none before them has, with the comments above."""
    seen: set[tuple[str, str, str, bool]] = set()
    for text in texts:
        lines, parts, end = text.splitlines(keepends=True), [], 0
        for statement in ast.parse(text).body:
            shapes = _shapes(statement)
            if FULL or not shapes <= seen:
                parts += lines[end : statement.end_lineno]
                seen |= shapes
            end = statement.end_lineno or end
        if parts:
            yield "".join(parts)


@pytest.mark.parametrize("text", [*TEXTS, *_showing_more(path.read_text() for path in FILES)])
def test_every_node_stands_where_libcst_says(text: str) -> None:
    module = cst.parse_module(text)
    found = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    for body, expressions, noted, _ in (Translated(module.body, ()), *_translated(text)):
        positions = Positions(text, body, expressions, noted)
        for mine, node in zip(_nodes(body), _nodes(module.body), strict=True):
            # Those without parts are shared: they stand in many places.
            if fields(type(mine)) and not isinstance(mine, cst.NotEqual):
                start, end = found[node].start, found[node].end
                assert positions.of(mine) == (start.line, start.column, end.line, end.column), node


def _translated(text: str) -> list[Translated]:
    """A translation, and one that has the nodes of a former text, whose lines stood elsewhere."""
    try:
        former = translate(f"one = 1\n\n{text}\ntwo = 2\n")
        return [translate(text), translate(text, Former(former.noted, former.expressions))]
    except Untranslated:
        return []


def _nodes(body: Sequence[cst.CSTNode]) -> list[cst.CSTNode]:
    return [node for statement in body for node in walk(statement)]


def test_most_expressions_stand_where_ast_says() -> None:
    """Where libcst need not be asked, as for specs and calls."""
    text = "x = f(P(None, ('a', 'b')), *y, z=[a.b[0], -c], é='😀', w=lambda ü, *v: 1)\n"
    body, made, noted, _ = translate(text)
    positions = Positions(text, body, made, noted)
    expressions = [node for node in _nodes(body) if isinstance(node, cst.BaseExpression)]
    untold = [node for node in expressions if positions._told(node) is None]
    # The attribute's.
    assert [cst.ensure_type(node, cst.Name).value for node in untold] == ["b"]
    assert len(expressions) > 15


def test_nothing_is_said_of_what_nests_too_deep() -> None:
    text = "x = " + "-" * 900 + "1\n"
    module = cst.parse_module(text)
    assert Positions(text, module.body).of(module.body[0]) is not None
    assert Positions("", []).of(module) is None


def test_text_that_only_ast_can_parse_has_places_of_expressions() -> None:
    text = "1\n"
    body, made, noted, _ = translate(text)
    line, _, number = walk(body[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cst, "parse_module", _refusing)
        positions = Positions(text, body, made, noted)
        assert positions.of(line) is None
        assert positions.of(number) == (1, 0, 1, 1)


def _refusing(text: str) -> cst.Module:
    raise cst.ParserSyntaxError("no", lines=[text], raw_line=1, raw_column=0)

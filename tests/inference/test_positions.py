"""Where nodes stand: as libcst's own provider says, for every node."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import libcst as cst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider

from shardlint.inference.syntax.front_end import Former, Translated, Untranslated, translate
from shardlint.inference.syntax.node_fields import fields, walk
from shardlint.inference.syntax.positions import Positions

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
FILES = sorted([*ROOT.glob("shardlint/inference/*/*.py"), *ROOT.glob("fixtures/*.py")])
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


@pytest.mark.parametrize("text", [*TEXTS, *(path.read_text() for path in FILES)])
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

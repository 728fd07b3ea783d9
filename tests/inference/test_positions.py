"""Where nodes stand: as libcst's own provider says, for every node."""

from __future__ import annotations

from pathlib import Path

import libcst as cst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider

from shardlint.inference.positions import Positions

ROOT = Path(__file__).parents[2]
FILES = sorted([*ROOT.glob("shardlint/inference/*.py"), *ROOT.glob("fixtures/*.py")])
TEXTS = [
    "",
    "x = 1",
    "x = (\n    1,  # one\n)\r\ny = [\r\n  2]\r\n",
    "if 1:\n\tx = '''a\nb'''\n\ty = f'{x!r:>{10}}'  # é😀\n",
    "é = '😀'; z = é + '\\\n'\n",
    "\ufeffx = 1\n",
    "@a\n@b(c)\nasync def f(x, /, y=1, *, z: int = 2) -> int:\n\n    # lost\n    return await x\n\n\n# end",
    "with (a as b, c): pass\ntry: pass\nexcept* E as e: raise\nmatch x:\n  case {'a': [1, *_]} if y: pass\n",
]


@pytest.mark.parametrize("text", [*TEXTS, *(path.read_text() for path in FILES)])
def test_every_node_stands_where_libcst_says(text: str) -> None:
    module = cst.parse_module(text)
    positions = Positions(module)
    for node, found in MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider).items():
        start, end = found.start, found.end
        assert positions.of(node) == (start.line, start.column, end.line, end.column), node


def test_nothing_is_said_of_what_nests_too_deep() -> None:
    module = cst.parse_module("x = " + "-" * 900 + "1\n")
    assert Positions(module).of(module.body[0]) is not None
    assert Positions(cst.Module([])).of(module) is None

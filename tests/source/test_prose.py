"""What a text says in docstrings and comments is no code."""

from __future__ import annotations

import ast
import random

import pytest

from shardlint.source.lexing import without_prose
from shardlint.source.workspace.prefilter import code_mentions_sharding, mentions_sharding

PROSE = {
    "a module's docstring": '"""About psum."""\nimport os\n',
    "one behind comments": "#!/usr/bin/python\n# psum\n\n'''About psum.'''\nimport os\n",
    "a function's": 'def f(x):\n    """Like psum.\n\n    >>> psum(x)\n    """\n    return x\n',
    "one of many lines, with quotes": 'class A:\n\n  r"""Like "psum", or \\""" psum."""\n  x = 1\n',
    "behind a comment": "def f(x):  # it sums\n    # all of it\n    '''psum'''\n",
    "in a file of DOS": '"""psum"""\r\ndef f(x):\r\n    """psum"""\r\n    return x\r\n',
    "a comment": "x = 1\n    # psum(x)\n",
}
CODE = {
    "a call": '"""Sums."""\ny = psum(x)\n',
    "a string": 'NAME = """psum"""\n',
    "behind a string that ends as a docstring begins": 'x = """psum:\n"""\ny = psum(1)\nz = """a"""\n',
    "an argument": 'f(\n    """psum"""\n)\n',
    "behind a docstring": '"""Sums."""; psum(x)\n',
    "between two docstrings": 'def f():\n    """a"""\n    psum(x)\n\n\ndef g():\n    """b"""\n',
    "a comment to shardlint": "x = 1\n# shardlint: ignore-file\n",
    "an expectation": "x = 1\n# expect: SHL202\n",
}


@pytest.mark.parametrize("text", PROSE.values(), ids=PROSE)
def test_prose_does_not_count(text: str) -> None:
    assert mentions_sharding(text.encode())
    assert not code_mentions_sharding(text.encode())


@pytest.mark.parametrize("text", CODE.values(), ids=CODE)
def test_code_does(text: str) -> None:
    assert code_mentions_sharding(text.encode())


def test_code_stays_as_it_is() -> None:
    """Random programs: all names that Python's own parser finds outside of docstrings are still there."""
    rng = random.Random(5)
    pieces = [
        '"""a ""b"" psum"""\n', "'''it's'''\n", "# psum '''\n", "x = '''psum\n# y\n'''\n", "y = psum(1)\n",
        "z = {'a':\n  b}\n", 's = "#"  # psum """\n', "t = '\"\"\"'\n", "u = f(x,\n  # c\n  w)\n",
        "v = '''a:\n'''\n",
    ]  # fmt: skip
    for _ in range(400):
        text = ""
        for _ in range(rng.randrange(1, 4)):
            body = rng.choices(pieces, k=rng.randrange(1, 5))
            inside = "".join(f"    {line}" for piece in body for line in piece.splitlines(keepends=True))
            text += rng.choice(["", *pieces]) + f"def f(x):\n{inside}    pass\n"
        left = without_prose(text)
        names = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
        assert all(left.count(name) for name in names), text
        assert left.count("psum(1)") == text.count("psum(1)"), text

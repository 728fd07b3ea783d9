"""Text that would crash the parser is refused; everything else is let through."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable

import pytest

from shardlint.source import parse_guard

#: Ways to nest, as functions of how deep. Each crashes or exhausts libcst when it is deep enough.
DEEP = {
    "parentheses": lambda n: "(" * n + "1" + ")" * n,
    "lists": lambda n: "[" * n + "1" + "]" * n,
    "never closed": lambda n: "x = " + "{" * n,
    "calls": lambda n: "f(" * n + "1" + ")" * n,
    "sum": lambda n: "+".join(["1"] * n),
    "sum over lines": lambda n: "(\n" + "\n+ ".join(["1"] * n) + ")",
    "sum with continuations": lambda n: "x = " + " \\\n+ ".join(["1"] * n),
    "and": lambda n: " and ".join(["x"] * n),
    "attributes": lambda n: "x" + ".a" * n,
    "repeated calls": lambda n: "x" + "()" * n,
    "subscripts": lambda n: "x" + "[0]" * n,
    "not": lambda n: "not " * n + "x",
    "minus": lambda n: "-" * n + "x",
    "lambda": lambda n: "lambda: " * n + "1",
    "lambda with parameters": lambda n: "lambda a, b=1: " * n + "1",
    "conditional": lambda n: "a if b else " * n + "1",
    "strings": lambda n: '"a" ' * n,
    "elif": lambda n: "if x:\n pass\n" + "elif y:\n pass\n" * n,
    "import": lambda n: "import " + "a." * n + "b",
    "f-string": lambda n: "f'{" + "(" * n + "1" + ")" * n + "}'",
    "loops": lambda n: "[" + "x " + "for x in y " * n + "]",
    "mixed": lambda n: "(-a.b + f(" * (n // 5) + "1" + "))" * (n // 5),
    "after a string": lambda n: "s = '('\n" + "(" * n + ")" * n,
}
#: The same amount of text, but flat.
FLAT = {
    "statements": lambda n: "x = (1 + 2)\n" * n,
    "one-line statements": lambda n: "x=-1;" * n,
    "elements": lambda n: "[" + "-1, " * n + "]",
    "pairs": lambda n: "{" + "'a': f(1.5), " * n + "}",
    "lambdas": lambda n: "[" + "lambda a, b: a + b, " * n + "]",
    "arguments": lambda n: "f(" + "a.b[0], " * n + ")",
    "brackets in a string": lambda n: "s = '" + "(" * n + "'",
    "brackets in a long string": lambda n: 's = """' + "(\n" * n + '"""',
    "brackets in a comment": lambda n: "# " + "(" * n,
    "operators in a comment": lambda n: "# " + "+ " * n,
    "many chains": lambda n: "if x:\n pass\nelif y:\n pass\n" * n,
    "escaped quotes": lambda n: "s = '\\'" + "(" * n + "'",
}


@pytest.mark.parametrize("kind", DEEP)
@pytest.mark.parametrize("depth", [2_000, 10_000])
def test_deep_text_is_refused(kind: str, depth: int) -> None:
    assert parse_guard.find(DEEP[kind](depth)) is not None


@pytest.mark.parametrize("kind", DEEP)
def test_what_people_write_is_not_refused(kind: str) -> None:
    assert parse_guard.find(DEEP[kind](100)) is None


@pytest.mark.parametrize("kind", FLAT)
def test_long_text_is_not_refused(kind: str) -> None:
    assert parse_guard.find(FLAT[kind](5_000)) is None


def test_the_line_is_where_the_limit_is_passed() -> None:
    found = parse_guard.find("x = 1\n" * 6 + "y = (\n" + "(" * 2_000)
    assert found is not None
    assert found.line == 8


def test_a_megabyte_of_one_expression_is_scanned_without_recursion() -> None:
    assert parse_guard.find("(" * 500_000 + ")" * 500_000) is not None


def test_the_deepest_text_let_through_does_not_crash_the_parser() -> None:
    """Each kind at the greatest depth that is not refused, parsed in a process of its own."""
    texts = [make(deepest(make)) for make in DEEP.values()]
    code = (
        "import sys, json, libcst\nsys.setrecursionlimit(20_000)\n"
        "for text in json.load(sys.stdin):\n"
        "    try: libcst.parse_module(text).code\n"
        "    except libcst.ParserSyntaxError: pass\n"
    )
    import json

    done = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(texts), text=True, capture_output=True
    )
    assert done.returncode == 0, done.stderr[-2000:]


SOUP = [
    *"((([[{{)]},:;'#.-+x ",
    '"',
    "\n",
    "\n",
    "\n",
    "\\\n",
    "f'{x",
    "'''",
    '"""',
    "not ",
    "lambda ",
    "rf'",
]


@pytest.mark.parametrize("seed", range(20))
def test_what_is_not_scanned_in_full_holds_nothing_deep(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With low limits, so that random text passes them."""
    monkeypatch.setattr(parse_guard, "MAX_BRACKETS", 5)
    monkeypatch.setattr(parse_guard, "MAX_LINKS", 24)
    monkeypatch.setattr(parse_guard, "_SHORT", 5)
    rng, refused, let_through = random.Random(seed), 0, 0
    for _ in range(500):
        text = readable("".join(rng.choices(SOUP, k=rng.randint(5, 120))))
        deep = parse_guard.find(text) is not None
        with monkeypatch.context() as patched:
            patched.setattr(parse_guard, "_may_be_deep", bool)
            assert deep == (parse_guard.find(text) is not None), text
        refused += deep
        let_through += not deep
    assert refused > 25 and let_through > 25, (refused, let_through)


def readable(text: str) -> str:
    """A text up to the first bracket that nobody opened: no parser goes farther."""
    depth = 0
    for found in parse_guard._SCAN.finditer(text):
        depth += {"open": 1, "close": -1}.get(found.lastgroup or "", 0)
        if depth < 0:
            return text[: found.start()]
    return text


def deepest(make: Callable[[int], str]) -> int:
    low, high = 1, 10_000
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if parse_guard.find(make(middle)) is None else (low, middle)
    return low

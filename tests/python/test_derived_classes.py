"""Classes that derive from Python's: each method overridden, each way to use an object, beside CPython.

`derived_classes.txt` has, by base, how an object ``x`` of a class ``K`` is made, expressions that use it, and
methods that the class may have.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest
from cpython_oracle import ended
from shardlint_claims import judged

IMPORTS = "from collections import ChainMap, Counter, UserDict, UserList, deque\n"


@cache
def rows() -> dict[str, dict[str, list[str]]]:
    """Return the lines of the file by base and first word."""
    found: dict[str, dict[str, list[str]]] = {}
    for line in Path(__file__).with_suffix("").with_name("derived_classes.txt").read_text().splitlines():
        word, rest = line.split(" ", 1)
        if word == "##":
            base, made = rest.split(": ", 1)
            found[base] = defaultdict(list, made=[made])
        else:
            found[base][word].append(rest)
    return found


def head(base: str, method: str) -> str:
    """Return a program that makes an object of a class with this method, or without any."""
    ahead, _, body = method.partition(": ")
    own = f"    def {ahead}:\n        {body}\n" if method else ""
    body = f"{own}    def own(self):\n        return 5\n"
    return f"{IMPORTS}class K({base}):\n{body}x = {rows()[base]['made'][0]}\n"


def used(base: str, method: str) -> str:
    """Return a program with all uses that do not raise, each with a probe of its result."""
    text, space = head(base, method), dict[str, object]()
    exec(text, space)
    for number, use in enumerate(rows()[base]["use"], 1):
        with contextlib.suppress(Exception):
            exec(use, space)
            # What is rejected ends a program, and numbers that are even are not.
            text += f"n{number} = {use}\n_probe({2 * number}, 'same', n{number})\n"
    return text


@pytest.mark.parametrize("base", rows())
def test_a_class_that_overrides_one_method(base: str) -> None:
    for method in ("", *rows()[base]["def"]):
        whole = ended(used(base, method))
        assert whole is not None, method
        verdict = judged(whole)
        assert not verdict.bad, f"{verdict.bad}\n{whole.text}"


@pytest.mark.parametrize("base", rows())
def test_much_is_known_of_a_class_without_such_methods(base: str) -> None:
    texts = [f"{head(base, '')}n = {use}\n_probe(1, 'same', n)\n" for use in rows()[base]["use"][::3]]
    verdicts = [judged(whole) for text in texts if (whole := ended(text)) is not None]
    known, rejected = sum(one.found for one in verdicts), sum(one.rejected for one in verdicts)
    # In which order a set has its items is not known.
    least = 0.4 if base in ("set", "frozenset") else 0.6
    assert known >= rejected * least, f"{known} of {rejected}"

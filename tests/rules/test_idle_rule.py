"""Patterns that decide about no name, beside what `re` says of the names that are tried."""

from __future__ import annotations

import re

import pytest
from support.checking import check

NAMES = ("attn/kernel", "mlp/kernel", "mlp/bias", "head/kernel")
#: Tables, the method that they are tried with, and the patterns that are reported.
TABLES: dict[tuple[str, str], tuple[str, ...]] = {
    ("('kernel', P()), ('attn/kernel', P('x')), ('.*', P())", "search"): ("attn/kernel",),
    ("('attn/kernel', P('x')), ('kernel', P()), ('.*', P())", "search"): (),
    ("('kernel', P('x')), ('attn/kernel', P('x')), ('.*', P())", "search"): (),
    ("('attn/kernel', P('x')), ('attn/.*', P('y')), ('.*', P())", "search"): (),
    ("('kernel', P()), ('attn/kernel', P('x')), ('.*', P())", "match"): (),
    ("('.*kernel', P()), ('attn/kern', P('x')), ('mlp/.*l', P('y')), ('.*', P())", "fullmatch"): ("mlp/.*l",),
    ("('attn/kernel', P('x')), ('ffn/kernel', P('y'))", "search"): ("ffn/kernel",),
    ("('attn/kernel', P('x')), ('ffn/kernel', P())", "search"): (),
    ("('attn/kernel', P('x')), ('mlp|head', P('y')), ('ffn/kernel', P('y'))", "search"): (),
    ("('attn/kernel', P('x')), ('ffn/scale', P('y'))", "search"): (),
    ("('q/kernel', P('x')), ('ffn/kernel', P('y'))", "search"): (),  # SHL603
}  # fmt: skip


@pytest.mark.parametrize(("table", "method"), TABLES)
def test_reported_are_patterns_that_decide_about_no_name(table: str, method: str) -> None:
    rows = ",\n    ".join(re.findall(r"\('[^']+', P\([^)]*\)\)", table))
    text = f"""
import re
from jax.sharding import PartitionSpec as P
RULES = [
    {rows},
]
def pick(name):
    for pattern, spec in RULES:
        if re.{method}(pattern, name):
            return spec
    return P()
specs = {{name: pick(name) for name in {NAMES}}}
"""
    found = [f for f in check(text, "p.py") if f.code == "SHL612"]
    lines = text.splitlines()
    assert tuple(re.findall("'([^']+)'", lines[f.span.line - 1])[0] for f in found) == TABLES[table, method]
    patterns = re.findall(r"\('([^']+)'", rows)
    first = [next((p for p in patterns if getattr(re, method)(p, name)), None) for name in NAMES]
    assert not {*TABLES[table, method]} & {*first}

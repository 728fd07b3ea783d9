"""Tables of patterns that match nothing, beside what `re` says of the names that are tried."""

from __future__ import annotations

import re

import pytest
from support.checking import check

PRELUDE = """
import re
from fnmatch import fnmatch
from jax.sharding import PartitionSpec as P

class Table:
    def __init__(self, rows, default=P()):
        self.rows, self.default = [(re.compile(pattern), spec) for pattern, spec in rows], default

    def __getitem__(self, name):
        return next((spec for pattern, spec in self.rows if pattern.search(name)), self.default)

def pick(rules, name):
    for pattern, spec in rules:
        if re.search(pattern, name) is not None:
            return spec
    return P()
"""
NAMES = "['a/kernel', 'b/kernel', 'b/bias']"

#: Programs, and whether their table is reported.
PROGRAMS: dict[str, bool] = {
    "RULES = [('a.kernel', P('x')), ('c/kernel', P('y'))]\n[pick(RULES, n) for n in NAMES]": False,
    "RULES = [('c/kernel', P('y')), ('k/bias', P('x'))]\n[pick(RULES, n) for n in NAMES]": True,
    "RULES = [('c/kernel', P('y')), ('b$', P('x'))]\nfor n in NAMES:\n    pick(RULES, name=n)": True,
    "RULES = [\n    (\n        'c/kernel',\n        P('y')\n    )\n]\n[pick(RULES, n) for n in NAMES]": True,
    "RULES = [('c/kernel', P('y')), ('.*', P())]\n[pick(RULES, n) for n in NAMES]": True,
    "RULES = [('c/kernel', P()), ('k/bias', P(None))]\n[pick(RULES, n) for n in NAMES]": False,
    "RULES = [('c/kernel', 1), ('k/bias', 2)]\n[pick(RULES, n) for n in NAMES]": False,
    "RULES = [('c/kernel', P('x'))]\npick(RULES, NAMES[0])": False,
    "RULES = [('c/kernel', P('x'))]\n[pick(RULES, n) for n in (*NAMES, input())]": False,
    "RULES = [('c/kernel', P('x'))]\ndef run(names):\n    return [pick(RULES, n) for n in names]": False,
    "RULES = [('c/kernel', P('x'))]\ndef run(names):\n    return [pick(RULES, n) for n in names]\n"
    "run(NAMES)": True,
    "RULES = [('c/*', P('x'))]\n[fnmatch(n, p) for n in NAMES for p, s in RULES]": True,
    "RULES = [('c/*', P('x')), ('*', P())]\n[fnmatch(n, p) for n in NAMES for p, s in RULES]": True,
    "RULES = [('a/*', P('x'))]\n[fnmatch(n, p) for n in NAMES for p, s in RULES]": False,
    "import jax, outside\nRULES = [('c/kernel', P('x'))]\nTREE = {'a': outside.model(), 'b': 1., 'c': [2.]}\n"
    "jax.tree_util.tree_map_with_path(lambda p, x: pick(RULES, jax.tree_util.keystr(p)), TREE)": False,
    "TABLE = Table([('A', P('x')), ('B', P('y'))])\n[TABLE[n] for n in NAMES]": True,
    "TABLE = Table([('A', P('x')), ('a', P('y'))])\n[TABLE[n] for n in NAMES]": False,
    "RULES = {'c/kernel': P('y'), 'b$': P('x')}\n[pick(RULES.items(), n) for n in NAMES]": True,
    "RULES = {'c/kernel': P('y'), '.*': P()}\nfor n in NAMES:\n    "
    "next((P for p in RULES.keys() if re.match(p, n)), None)": True,
    "RULES = {'c/kernel': P('y'), 'b/': P('x')}\n[pick(RULES.items(), n) for n in NAMES]": False,
    "DENSE = [('c/kernel', P('x'))]\nSPARSE = [('a/', P('y'))]\n"
    "for rules in (DENSE, SPARSE):\n    [pick(rules, n) for n in NAMES]": False,
}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_table_is_reported_if_re_finds_nothing(program: str) -> None:
    text = f"{PRELUDE}\nNAMES = {NAMES}\n{program}\n"
    found = [f for f in check(text, "p.py", devices=None) if f.code == "SHL603"]
    assert len(found) == PROGRAMS[program]
    if not found:
        return
    patterns = re.findall(r"'([^']+)'[,:]\s*P\(", program)
    matching = [p for p in patterns if "*" not in p and any(re.search(p, name) for name in eval(NAMES))]
    assert not matching
    assert text.splitlines()[found[0].span.line - 1].strip().startswith(("RULES", "TABLE", "'c/kernel'"))

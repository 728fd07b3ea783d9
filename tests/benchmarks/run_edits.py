"""What an edit costs: fresh findings after it, beside libcst's parse of the file, in CPU time of one run.

    python tests/benchmarks/run_edits.py [FILE] [--edits N] [--seed S] [--compare]

Without a file a class of 165 methods is made, of 2,800 lines, whose arrays lie on one mesh. Each edit changes
one line of one function of the same text, whose findings are known; every tenth one changes the line that
makes the mesh, if the file has one. With ``--compare`` the findings after each edit are compared with those
of a program that is made anew, and the exit code is 1 if they differ.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import gc
import random
import re
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import libcst

from shardlint.api import Linter, load_settings, source_from_text
from shardlint.ide.session import staying
from shardlint.model.findings import Finding

HEAD = """import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("data", "model"))


class Model:
    '''One large class.'''

    def __init__(self, width=1024):
        self.width = width
"""
METHOD = """
    def layer_{number}(self, x, scale: float = {number}.0):
        '''Layer {number}.'''
        w = jnp.zeros(({rows}, {columns}))
        w = jax.device_put(w, NamedSharding(mesh, P("data", "model")))
        b = jnp.zeros(({columns},))
        b = jax.lax.with_sharding_constraint(b, NamedSharding(mesh, P("model")))
        if scale > 1:
            y = w * scale
        else:
            y = w + b
        total = 0
        for step in range(3):
            total = total + step
        h = jnp.einsum("ij,jk->ik", y, jnp.ones((y.shape[1], 32)))
        h = jax.lax.with_sharding_constraint(jax.nn.gelu(h), NamedSharding(mesh, P("data", None)))
        return h.sum() + total + self.width
"""
_MESH = re.compile(r"^(\w*mesh\w* = .*)$", re.MULTILINE)


def large_class() -> str:
    """A file with one large class."""
    numbers = range(165)
    methods = (
        METHOD.format(number=number, rows=128 * (number % 7 + 1), columns=64 * (number % 5 + 1))
        for number in numbers
    )
    return HEAD + "".join(methods)


def spent(action: Callable[[], object]) -> float:
    """The CPU seconds of an action."""
    start = time.process_time()
    action()
    return time.process_time() - start


def edit(text: str, functions: list[ast.FunctionDef], number: int, chance: random.Random) -> tuple[str, str]:
    """A kind of edit, and the text after it; it still parses."""
    if number % 10 == 9 and (found := _MESH.search(text)) is not None:
        return "mesh", text.replace(found[1], found[1] + "  #" if number % 20 == 9 else f"{found[1]}\n", 1)
    lines = text.split("\n")
    line = chance.choice(chance.choice(functions).body).lineno - 1
    before, indent = lines[line], re.match(r"\s*", lines[line])[0]  # type: ignore[index]
    kind = chance.choice(("statement", "comment", "letter"))
    if kind == "statement":
        lines.insert(line, f"{indent}seen = {number}")
    elif kind == "comment":
        lines[line] += "  # seen"
    else:
        places = [place for place, letter in enumerate(before) if letter.isalnum()]
        place = chance.choice(places) if places else 0
        lines[line] = before[:place] + before[place : place + 1] + before[place:]
    after = "\n".join(lines)
    try:
        ast.parse(after)
    except SyntaxError:
        return edit(text, functions, number, chance)
    return kind, after


def told(findings: list[Finding]) -> list[str]:
    """Findings without the addresses of objects."""
    return [re.sub(r" at 0x\w+|id=\d+", "", repr(finding)) for finding in findings]


def main() -> int:
    """Run, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--compare", action="store_true")
    options = parser.parse_args()
    path = str(options.file or "model.py")
    text = options.file.read_text(encoding="utf-8") if options.file else large_class()
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    settings = dataclasses.replace(load_settings(path, devices=8), editing=True)
    linter, chance = Linter(settings, analyzer=staying()), random.Random(options.seed)
    first = spent(lambda: linter.check_source(source_from_text(path, text)))
    parses: list[float] = []
    costs: dict[str, list[float]] = {}
    different = 0
    for number in range(options.edits):
        # The trees that are made here would count as objects that grow old, and bring a full collection near.
        gc.disable()
        kind, after = edit(text, functions, number, chance)
        gc.enable()
        if number % 10 == 0:
            parses.append(spent(lambda: libcst.parse_module(text)))
            # Else the next check would collect what the parser has left; a server does so while nobody waits.
            gc.collect()
        findings: list[Finding] = []
        linter.check_source(source_from_text(path, text))
        cost = spent(lambda: findings.extend(linter.check_source(source_from_text(path, after))))  # noqa: B023
        costs.setdefault(kind, []).append(cost)
        if options.compare and told(findings) != told(
            Linter(settings).check_source(source_from_text(path, after))
        ):
            different += 1
            print(f"edit {number} ({kind}) gives other findings than a program that is made anew")
    parse = statistics.median(parses)
    print(f"{path}: {text.count(chr(10))} lines; libcst parses it in {parse * 1000:.0f} ms")
    print(f"first findings {first * 1000:.0f} ms, {first / parse:.1f} parses")
    for kind, found in sorted([*costs.items(), ("all", [cost for one in costs.values() for cost in one])]):
        median, worst = statistics.median(found), max(found)
        print(
            f"{kind:10} {len(found):4} edits: median {median / parse:.2f} parses, worst {worst / parse:.2f}"
        )
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())

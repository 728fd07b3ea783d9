"""Programs of which less is known: expressions are replaced by what nobody sees.

What stood there may be what is not seen now: a program that runs has no error once it is forgotten in part.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator

#: Imports a name from a module that is not there.
HEADER = "from not_seen_anywhere import forgotten"


def candidates(text: str) -> Iterator[ast.expr]:
    """The expressions of a program that may be replaced: of one line, read, and no part of a pattern.

    Those that bind names of their own are left out, with what is in them.
    """
    tree = ast.parse(text)
    left_out: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr | ast.match_case | ast.Lambda | ast.comprehension | ast.NamedExpr):
            left_out.update(id(inner) for inner in ast.walk(node))
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            left_out.update(id(inner) for inner in ast.walk(node))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            left_out.add(id(node.value))
        if isinstance(node, ast.Call):
            left_out.add(id(node.func))
    for node in ast.walk(tree):
        if not isinstance(node, ast.expr) or id(node) in left_out or node.lineno != node.end_lineno:
            continue
        if isinstance(getattr(node, "ctx", ast.Load()), ast.Load) and not isinstance(
            node, ast.Starred | ast.Slice
        ):
            yield node


def partly_forgotten(text: str, chance: random.Random, most: int = 3) -> str:
    """The program with some expressions replaced."""
    found = list(candidates(text))
    chosen = chance.sample(found, min(len(found), chance.randint(1, most)))
    lines = text.split("\n")
    for node in sorted(chosen, key=lambda node: (node.lineno, node.col_offset), reverse=True):
        line = lines[node.lineno - 1].encode()
        if any(node is not other and _holds(other, node) for other in chosen):
            continue
        after = line[: node.col_offset] + _unseen(node).encode() + line[node.end_col_offset :]
        lines[node.lineno - 1] = after.decode()
    return _with_header("\n".join(lines))


def _unseen(node: ast.expr) -> str:
    """What takes the place of an expression: it still depends on what that reads."""
    names = sorted({inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)})
    return f"forgotten({', '.join(names)})" if names else "forgotten"


def _with_header(text: str) -> str:
    """The program with the import, behind a docstring and imports from the future."""
    tree = ast.parse(text)
    first = next(
        node
        for node in tree.body
        if not (isinstance(node, ast.ImportFrom) and node.module == "__future__")
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    )
    lines = text.split("\n")
    line = min([first.lineno, *(d.lineno for d in getattr(first, "decorator_list", ()))]) - 1
    return "\n".join([*lines[:line], HEADER, *lines[line:]])


def _holds(outer: ast.expr, inner: ast.expr) -> bool:
    return any(node is inner for node in ast.walk(outer))

"""Makes a program with probes as small as can be while it stays what it is: delta debugging on its tree."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

_NUMBERED = re.compile(r"(?<![\w.])([A-Za-z]+)\d+\b")


def reduced(text: str, stays: Callable[[str], bool], most: int = 3_000) -> str:
    """Return a program from which nothing can go, or be made simpler, without ``stays`` being false of it."""
    tries = 0
    smaller = True
    while smaller and tries < most:
        smaller = False
        for candidate in _simpler(text):
            tries += 1
            if tries >= most:
                break
            if stays(candidate):
                text, smaller = candidate, True
                break
    return text


def shape_of(text: str) -> str:
    """Return a text that is the same for programs which differ in the numbers of names and probes alone."""
    names: dict[str, str] = {}
    return _NUMBERED.sub(
        lambda name: names.setdefault(name[0], f"{name[1]}_{len(names)}"),
        re.sub(r"_probe\(\d+", "_probe(0", text),
    )


def _simpler(text: str) -> Iterator[str]:
    """Programs that are simpler than one in a single place, the boldest first."""
    count = len(list(_places(ast.parse(text))))
    for change in (_without, _unwrapped, _with_less):
        for place in range(count):
            for turn in range(12):
                tree = ast.parse(text)
                owner, name, at = list(_places(tree))[place]
                if not change(owner, name, at, turn):
                    break
                try:
                    candidate = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
                except (ValueError, RecursionError):
                    continue
                if candidate != text:
                    yield candidate


def _places(tree: ast.AST) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Where nodes stand: their owner, its field, and the index in it."""
    for owner in ast.walk(tree):
        for name, value in ast.iter_fields(owner):
            if isinstance(value, list):
                yield from ((owner, name, at) for at, one in enumerate(value) if isinstance(one, ast.AST))
            elif isinstance(value, ast.AST):
                yield owner, name, None


def _node(owner: ast.AST, name: str, at: int | None) -> ast.AST:
    value = getattr(owner, name)
    return value if at is None else value[at]


def _put(owner: ast.AST, name: str, at: int | None, new: list[ast.AST]) -> bool:
    if at is None:
        if len(new) != 1:
            return False
        setattr(owner, name, new[0])
        return True
    getattr(owner, name)[at : at + 1] = new
    return True


def _without(owner: ast.AST, name: str, at: int | None, turn: int) -> bool:
    """Leave out a statement, or several that follow each other."""
    node = _node(owner, name, at)
    several = (16, 8, 4, 2, 1)
    if turn >= len(several) or at is None or not isinstance(node, ast.stmt):
        return False
    block = getattr(owner, name)
    del block[at : at + several[turn]]
    if not block and name == "body":
        block.append(ast.Pass())
    return True


def _unwrapped(owner: ast.AST, name: str, at: int | None, turn: int) -> bool:
    """Put the body of a compound statement in its place."""
    node = _node(owner, name, at)
    if turn or not isinstance(node, ast.If | ast.For | ast.While | ast.Try | ast.With | ast.FunctionDef):
        return False
    return _put(owner, name, at, list(node.body))


def _with_less(owner: ast.AST, name: str, at: int | None, turn: int) -> bool:
    """Put a constant, or a part of it, in the place of an expression; leave out an argument or item."""
    node = _node(owner, name, at)
    if isinstance(node, ast.keyword | ast.excepthandler | ast.match_case) and turn == 0 and at is not None:
        return _put(owner, name, at, [])
    if not isinstance(node, ast.expr) or isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
        return False
    if (isinstance(owner, ast.Call) and name == "func") or isinstance(node, ast.Constant):
        return False
    options: list[list[ast.AST]] = [[ast.Constant(1)], [ast.Constant("a")], [ast.List([], ast.Load())]]
    options = [option for option in options if ast.dump(option[0]) != ast.dump(node)]
    options += [[inner] for inner in ast.iter_child_nodes(node) if isinstance(inner, ast.expr)]
    if at is not None:
        options.insert(0, [])
    if turn >= len(options):
        return False
    return _put(owner, name, at, options[turn])

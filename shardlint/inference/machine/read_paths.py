"""Paths that an expression reads, from names to their attributes and items: ``x.shape[0]``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from shardlint.inference.syntax.node_fields import parts, structure

_LITERALS = (cst.Integer, cst.Float, cst.SimpleString)


class Path(NamedTuple):
    """The name that a path begins with, and a text for the rest; ``calls`` is true if that has a call."""

    name: str
    steps: str = ""
    calls: bool = False


def path_of(node: cst.CSTNode) -> Path | None:
    """Return the path of a name, and of what is reached from one by attributes, items and calls whose
    arguments are literals; None for other expressions."""
    if type(node) is cst.Name:
        return Path(node.value)
    if type(node) is cst.Attribute:
        inner, step = node.value, f".{node.attr.value}"
    elif type(node) is cst.Subscript and all(_is_literal(one.slice) for one in node.slice):
        inner, step = node.value, f"[{structure(node.slice)}]"
    elif type(node) is cst.Call and all(isinstance(one.value, _LITERALS) for one in node.args):
        inner, step = node.func, f".({structure(node.args)})"
    else:
        return None
    start = path_of(inner)
    return start and Path(start.name, start.steps + step, start.calls or type(node) is cst.Call)


def _is_literal(index: cst.BaseSlice) -> bool:
    return isinstance(index, cst.Index) and isinstance(index.value, _LITERALS)


def paths_read(node: cst.CSTNode) -> Iterator[Path]:
    """Yield the longest paths that an expression reads; those of a call's function without its last
    attribute."""
    path = path_of(node)
    if path is not None:
        yield path
    elif type(node) is cst.Call:
        yield from paths_read(node.func.value if type(node.func) is cst.Attribute else node.func)
        for argument in node.args:
            yield from paths_read(argument.value)
    elif type(node) is cst.Attribute:
        yield from paths_read(node.value)
    else:
        for part in parts(node):
            yield from paths_read(part)

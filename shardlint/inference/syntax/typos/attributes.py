"""Attributes of JAX's modules that these lack."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from shardlint.inference.syntax.typos.distance import near
from shardlint.laws.versions.public_names import PUBLISHED

#: Attributes of so few letters are left alone: some are a letter off others.
_SHORT = 5
_ATTRIBUTES = r"\.([^\W\d][\w.]*)"


def modules(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The modules of JAX that a file imports at its top, behind the names that they have in it."""
    for statement in tree.body:
        if isinstance(statement, ast.Import):
            for one in statement.names:
                name, module = (one.asname, one.name) if one.asname else (root_of(one.name),) * 2
                if module in PUBLISHED:
                    yield name, module
        elif isinstance(statement, ast.ImportFrom) and not statement.level:
            for one in statement.names:
                if (module := f"{statement.module}.{one.name}") in PUBLISHED:
                    yield one.asname or one.name, module


def lacking(modules: Sequence[tuple[str, str]], text: str) -> dict[str, str]:
    """Attributes of modules that these lack, as they are written with the module, and what is meant.

    ``modules`` are behind the names that they have in the text.
    """
    found: dict[str, str] = {}
    for name, module in modules:
        for match in re.finditer(name + _ATTRIBUTES, text):
            before = text[match.start() - 1 : match.start()]
            if before != "." and not before.isidentifier():
                found |= _lacking(name, module, match[1].split("."))
    return found


def _lacking(written: str, module: str, attributes: Sequence[str]) -> dict[str, str]:
    """The first of the attributes behind a module that is none of it, or of the module that it leads to."""
    for attribute in attributes:
        written = f"{written}.{attribute}"
        if attribute not in PUBLISHED[module]:
            meant = _inside(attribute, module)
            return {written: meant.pop()} if len(meant) == 1 else {}
        module = f"{module}.{attribute}"
        if module not in PUBLISHED:
            break
    return {}


def _inside(name: str, module: str) -> set[str]:
    """The names in a module that have a letter more or less inside, of names that are long enough."""
    found = near(name, PUBLISHED[module]) if len(name) > _SHORT else set()
    return {other for other in found if (other[0], other[-1]) == (name[0], name[-1])}


def root_of(dotted: str) -> str:
    """The name that an attribute is written behind."""
    return dotted.partition(".")[0]


def dotted(node: ast.expr) -> str:
    """An attribute as it is written behind a name; empty if it is of something else."""
    attributes = []
    while isinstance(node, ast.Attribute):
        attributes.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(attributes)]) if isinstance(node, ast.Name) else ""

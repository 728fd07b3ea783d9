"""Missing attributes of JAX's modules."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from shardlint.inference.syntax.typos.distance import near
from shardlint.laws.versions.public_names import PUBLISHED

#: Shorter attributes are left alone, since some differ by one letter from others.
_SHORT = 5
_ATTRIBUTES = r"\.([^\W\d][\w.]*)"


def modules(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the modules of JAX that a file imports at its top, with their names in it."""
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
    """Return missing attributes of modules, as written with the module, and the intended ones.

    ``modules`` are those imported, with their names in the text.
    """
    found: dict[str, str] = {}
    for name, module in modules:
        for match in re.finditer(name + _ATTRIBUTES, text):
            before = text[match.start() - 1 : match.start()]
            if before != "." and not before.isidentifier():
                found |= _lacking(name, module, match[1].split("."))
    return found


def _lacking(written: str, module: str, attributes: Sequence[str]) -> dict[str, str]:
    """Return the first missing attribute after a module, or after a module that it leads to."""
    for attribute in attributes:
        written = f"{written}.{attribute}"
        if attribute not in PUBLISHED[module]:
            corrected = _inside(attribute, module)
            return {written: corrected.pop()} if len(corrected) == 1 else {}
        module = f"{module}.{attribute}"
        if module not in PUBLISHED:
            break
    return {}


def _inside(name: str, module: str) -> set[str]:
    """Return the names in a module with a letter more or less inside, if they are long enough."""
    found = near(name, PUBLISHED[module]) if len(name) > _SHORT else set()
    return {other for other in found if (other[0], other[-1]) == (name[0], name[-1])}


def root_of(dotted: str) -> str:
    """Return the name before the first dot."""
    return dotted.partition(".")[0]


def dotted(node: ast.expr) -> str:
    """Return the dotted text of an attribute of a name; empty for other expressions."""
    attributes = []
    while isinstance(node, ast.Attribute):
        attributes.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(attributes)]) if isinstance(node, ast.Name) else ""

"""Mentions of mesh axes in the text of a program: code that was not evaluated may use these axes."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from shardlint.inference.syntax.file_parts import Part, whole_units
from shardlint.inference.syntax.text_cache import of_texts
from shardlint.inference.syntax.units import Unit
from shardlint.model.uses import FileProblem, MeshUse, Use

#: Attributes of a mesh that return all its axes.
_GENERIC = frozenset({"axis_names", "axis_sizes", "shape_tuple"})
#: A string with more words than this is prose.
_WORDS = 6


def with_mentions(uses: Iterable[Use], modules: Iterable[Sequence[Part]] | None) -> list[Use]:
    """Record for each mesh which of its axes the modules mention again, besides at its construction.

    Without modules the mentions are unknown.
    """
    found = list(uses)
    words = telling(found)
    if modules is None or not words:
        return found
    # Texts that mention no axis need not be parsed.
    units = (unit for parts in modules for unit in whole_units(parts))
    counts = _counted(unit for unit in units if any(word in unit.glance for word in words))
    return [_told(use, counts) if isinstance(use, MeshUse) else use for use in found]


def telling(uses: Iterable[Use | FileProblem]) -> frozenset[str]:
    """Return the words of which a text has to contain one to mention an axis of these meshes."""
    axes = {
        name
        for use in uses
        if isinstance(use, MeshUse) and isinstance(use.names, tuple)
        for name in use.names
    }
    return frozenset((*axes, *_GENERIC)) if axes else frozenset()


def _told(use: MeshUse, counts: Counter[str] | None) -> MeshUse:
    if counts is None or not isinstance(use.names, tuple):
        return use
    return replace(use, mentioned=frozenset(name for name in use.names if counts[name] != 1))


def _counted(units: Iterable[Unit]) -> Counter[str] | None:
    """Return how often each word occurs in a string that is not prose; None if unknown.

    It is unknown if a text cannot be parsed, or reads the axes from a mesh.
    """
    counts: Counter[str] = Counter()
    for unit in units:
        found = _words(unit.text, unit.indented)
        if found is None:
            return None
        counts.update(found)
    return counts


@of_texts
def _words(text: str, indented: bool) -> Counter[str] | None:
    """Return the same for one text."""
    counts: Counter[str] = Counter()
    try:
        tree = ast.parse(f"if 1:\n{text}" if indented else text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in _GENERIC:
            return None
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            words = re.findall(r"\w+", node.value)
            counts.update(words if len(words) <= _WORDS else ())
    return counts

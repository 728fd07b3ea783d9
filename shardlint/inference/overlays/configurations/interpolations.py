"""Interpolations: ``${model.width}`` in a configuration stands for what another key holds."""

from __future__ import annotations

import re
from collections.abc import Hashable

from shardlint.inference.domain.values import Const, Unknown
from shardlint.inference.overlays.configurations.trees import (
    Interpolation,
    Map,
    Node,
    Seq,
    is_missing,
    typed,
)
from shardlint.model.origins import Origins, origins_of, remembering

#: One reference to a key; resolvers (``${oc.env:HOME}``), nested ones and escapes are not followed.
_REFERENCE = re.compile(r"\$\{\s*(\.*)([A-Za-z_][\w-]*(?:\.[\w-]+|\[[\w-]+\])*)\s*\}")
_STEP = re.compile(r"[\w-]+")
_PLAIN = (int, float, str, bool, type(None))
_UNKNOWN = Unknown("an interpolation that is not followed")
Path = tuple[Hashable, ...]


class Resolution:
    """The interpolations of a tree, each resolved where it stands."""

    def __init__(self, root: Node) -> None:
        self._root = root
        self._running: set[Path] = set()

    def node(self, path: Path) -> Node:
        """Return what stands at a path; if that is an interpolation, what it stands for."""
        node: Node = self._root
        annotation: str | None = None
        done: Path = ()
        for step in path:
            if isinstance(node, Interpolation):
                node = self.resolved(node, done, annotation)
            if isinstance(node, Map) and step in node.items:
                annotation = None if node.types is None else node.types.get(str(step))
                node = node.items[step]
            elif isinstance(node, Seq) and str(step).isdigit() and int(str(step)) < len(node.items):
                annotation, node = None, node.items[int(str(step))]
            else:
                return _UNKNOWN
            done = (*done, step)
        return self.resolved(node, path, annotation) if isinstance(node, Interpolation) else node

    def resolved(self, node: Interpolation, path: Path, annotation: str | None = None) -> Node:
        """Return what an interpolation at a path stands for."""
        if path in self._running or "\\" in node.text:
            return _UNKNOWN
        self._running.add(path)
        try:
            return typed(self._text(node.text, path), annotation)
        finally:
            self._running.discard(path)

    def _text(self, text: str, path: Path) -> Node:
        whole = _REFERENCE.fullmatch(text)
        if whole is not None:
            found = self._reference(whole, path)
            return _UNKNOWN if is_missing(found) else found
        written, end = "", 0
        origins: Origins = ()
        for match in _REFERENCE.finditer(text):
            found = self._reference(match, path)
            if not isinstance(found, Const) or not isinstance(found.value, _PLAIN) or is_missing(found):
                return _UNKNOWN
            written += text[end : match.start()] + str(found.value)
            origins += origins_of(found.value)
            end = match.end()
        written += text[end:]
        if "${" in text[end:] or "${" in _REFERENCE.sub("", text):
            return _UNKNOWN
        return Const(remembering(written, tuple(dict.fromkeys(origins))))

    def _reference(self, match: re.Match[str], path: Path) -> Node:
        dots, keys = match.groups()
        if len(dots) > len(path):
            return _UNKNOWN
        base = path[: len(path) - len(dots)] if dots else ()
        return self.node((*base, *_STEP.findall(keys)))

"""YAML as OmegaConf reads it, as trees whose values know where they are written."""

from __future__ import annotations

import re
from collections.abc import Hashable
from functools import lru_cache
from typing import Any

from shardlint.inference.domain.values import Const
from shardlint.inference.overlays.configurations.trees import Interpolation, Map, Node, Seq
from shardlint.model.spans import Span

_PREFIX = "tag:yaml.org,2002:"
#: OmegaConf's own expression of floats: with it, ``1e3`` is one.
_FLOAT = re.compile(
    r"""^(?:
     [-+]?[0-9]+(?:_[0-9]+)*\.[0-9_]*(?:[eE][-+]?[0-9]+)?
    |[-+]?[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+)
    |\.[0-9]+(?:_[0-9]+)*(?:[eE][-+][0-9]+)?
    |[-+]?[0-9]+(?:_[0-9]+)*(?::[0-5]?[0-9])+\.[0-9_]*
    |[-+]?\.(?:inf|Inf|INF)
    |\.(?:nan|NaN|NAN))$""",
    re.X,
)
_PLAIN = (str, bool, int, float, type(None))
#: The header of a file of hydra's that says where its contents belong.
_HEADER = re.compile(r"#\s*@package\s+(\S+)\s*$")
_MOST_DEPTH = 50


class NotPlain(ValueError):
    """A text that is no YAML, or more than dicts, lists and plain values."""


@lru_cache(maxsize=256)
def read_tree(text: str, path: str | None) -> Node:
    """Return what a YAML text holds; an empty one, an empty dict. ``path`` is its file. Raises NotPlain."""
    import yaml

    try:
        loader = _loader()(text)
        node = loader.get_single_node()
        return Map() if node is None else _tree(node, loader, path, 0)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError, OverflowError) as error:
        raise NotPlain(str(error)) from None


@lru_cache(maxsize=1)
def _loader() -> Any:
    import yaml

    class Loader(yaml.SafeLoader):
        """PyYAML's safe loader with OmegaConf's floats, without dates, and without anchors."""

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent) or getattr(self.peek_event(), "anchor", None):
                raise NotPlain("parts that are used again")
            return super().compose_node(parent, index)

    Loader.add_implicit_resolver(f"{_PREFIX}float", _FLOAT, list("-+0123456789."))
    Loader.yaml_implicit_resolvers = {
        first: [(tag, one) for tag, one in known if tag != f"{_PREFIX}timestamp"]
        for first, known in Loader.yaml_implicit_resolvers.items()
    }
    return Loader


def _tree(node: Any, loader: Any, path: str | None, depth: int) -> Node:
    import yaml

    if depth > _MOST_DEPTH:
        raise NotPlain("nested too deep")
    if isinstance(node, yaml.MappingNode) and node.tag == f"{_PREFIX}map":
        items: dict[Hashable, Node] = {}
        for key_node, value in node.value:
            key = loader.construct_object(key_node)
            if not isinstance(key, str | int | float) or key in items or key_node.tag == f"{_PREFIX}merge":
                raise NotPlain("a key of another kind, or twice")
            items[key] = _tree(value, loader, path, depth + 1)
        return Map(items)
    if isinstance(node, yaml.SequenceNode) and node.tag == f"{_PREFIX}seq":
        return Seq([_tree(item, loader, path, depth + 1) for item in node.value])
    if not isinstance(node, yaml.ScalarNode):
        raise NotPlain("something else than dicts and lists")
    value = loader.construct_object(node)
    if not isinstance(value, _PLAIN):
        raise NotPlain("no plain value")
    place = None if path is None else _span(path, node)
    if isinstance(value, str) and "${" in value:
        return Interpolation(value, place)
    return Const(value, place)


def _span(path: str, node: Any) -> Span:
    start, end = node.start_mark, node.end_mark
    return Span(path, start.line + 1, start.column + 1, end.line + 1, end.column + 1)


def package_header(text: str) -> str | None:
    """Return the package that comments at the beginning of a file of hydra's name, None if there is none."""
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            break
        found = _HEADER.match(line)
        if found:
            return found[1]
    return None

"""Hydra's composition: the files that a list of defaults names, each under its package, merged in order.

As hydra 1.3 does (`hydra/_internal/defaults_list.py`), without a command line. What is not followed makes the
whole configuration unknown: overrides of groups, ``_here_``, interpolations in lists of defaults.
"""

from __future__ import annotations

from collections.abc import Callable

from shardlint.inference.domain.values import Const, is_none
from shardlint.inference.overlays.configurations.trees import Interpolation, Map, Node, Seq, merged, under
from shardlint.support.lazy_dataclass import dataclass

_SELF = "_self_"
_GLOBAL = "_global_"
_KEYWORDS = ("_here_", "_name_", "_group_", "${")
#: How deep lists of defaults lead from file to file.
_DEEPEST = 12


class NotFollowed(Exception):
    """The configuration is not known: hydra may refuse it, or do what is not modelled."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A configuration as a file or `ConfigStore` has it, and the package that its header names."""

    tree: Map
    header: str | None = None


#: Returns a configuration by its path in the search path (``db/mysql``), None if there is none.
Load = Callable[[str], Loaded | None]


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry of a list of defaults: a group of configurations (None for a path of one), and its options."""

    group: str | None
    options: tuple[str, ...]
    package: str | None = None
    optional: bool = False


def composed(load: Load, name: str) -> Map:
    """Return the configuration that hydra gives a program. Raises NotFollowed."""
    found = _composed(load, name.removesuffix(".yaml"), "", None, 0, primary=True)
    if not isinstance(found, Map):
        raise NotFollowed
    return Map({key: item for key, item in found.items.items() if key != "hydra"}, found.types)


def _composed(
    load: Load, path: str, parent: str, package: str | None, depth: int, primary: bool = False,
    optional: bool = False, onto: Node | None = None, own: str = "",
) -> Node:  # fmt: skip
    """Return what a configuration and its defaults merge onto a tree.

    Args:
        path: where it is in the search path.
        parent: the package of the configuration whose list names it.
        package: what that list says of its package, if it does.
        own: its package without any such word.
    """
    onto = Map() if onto is None else onto
    loaded = load(path) if depth <= _DEEPEST else None
    if loaded is None:
        if optional:
            return onto
        raise NotFollowed
    header = _absolute(loaded.header)
    chosen = package if package is not None else header
    if chosen is None:
        chosen = "" if primary else own
    final = _final(parent, chosen)
    items = dict(loaded.tree.items)
    entries = _entries(items.pop("defaults", None))
    types = loaded.tree.types
    if types is not None:
        types = {name: text for name, text in types.items() if name != "defaults"}
    base = path.rpartition("/")[0]
    for entry in entries:
        if entry is None:
            onto = merged(onto, under(final.split(".") if final else [], Map(items, types)))
            continue
        group, prefix = entry.group, entry.package
        for option in entry.options:
            relative = option if group is None else f"{group}/{option}"
            where = relative[1:] if relative.startswith("/") else f"{base}/{relative}" if base else relative
            below = relative.lstrip("/").rpartition("/")[0].replace("/", ".")
            onto = _composed(
                load, where, final, prefix, depth + 1, optional=entry.optional, onto=onto, own=below
            )
    return onto


def _absolute(header: str | None) -> str | None:
    """Return a header's package, which is always absolute."""
    if header is None:
        return None
    if any(word in header for word in _KEYWORDS):
        raise NotFollowed
    return header if header == _GLOBAL or header.startswith(f"{_GLOBAL}.") else f"{_GLOBAL}.{header}"


def _final(parent: str, package: str) -> str:
    """Return a package with that of the configuration which names it in front, unless it is absolute."""
    whole = ".".join(part for part in (parent, package) if part)
    _, word, after = whole.rpartition(_GLOBAL)
    return after.strip(".") if word else whole


def _entries(given: Node | None) -> list[_Entry | None]:
    """Return the entries of a list of defaults; None for the configuration itself, last if not named."""
    if given is None:
        return [None]
    if not isinstance(given, Seq):
        raise NotFollowed
    found = [one for item in given.items for one in _entry(item)]
    if any(isinstance(item, Const) and item.value == _SELF for item in given.items):
        return found
    return [*found, None]


def _entry(item: Node) -> list[_Entry | None]:
    if isinstance(item, Const) and isinstance(item.value, str):
        if item.value == _SELF:
            return [None]
        name, package = _split(item.value)
        return [_Entry(None, (name,), package)]
    if not isinstance(item, Map) or len(item.items) != 1:
        raise NotFollowed
    (key, option), *_ = item.items.items()
    words = str(key).split()
    if "override" in words[:-1]:
        if words[-1].startswith(("hydra/", "/hydra/")):
            return []
        raise NotFollowed
    group, package = _split(words[-1])
    if group.lstrip("/").startswith("hydra/"):
        return []
    options = option.items if isinstance(option, Seq) else [option]
    if not isinstance(option, Seq) and _is_null(option):
        return []
    names = [one.value for one in options if isinstance(one, Const) and isinstance(one.value, str)]
    if len(names) < len(options) or "???" in names or any("${" in name for name in names):
        raise NotFollowed
    known = tuple(name.removesuffix(".yaml") for name in map(str, names))
    return [_Entry(group, known, package, "optional" in words[:-1])]


def _is_null(node: Node) -> bool:
    return not isinstance(node, Map | Seq | Interpolation) and is_none(node)


def _split(text: str) -> tuple[str, str | None]:
    """Return the name and the package of ``name@package``."""
    if any(word in text for word in _KEYWORDS) or ":" in text:
        raise NotFollowed
    name, at, package = text.partition("@")
    return name.removesuffix(".yaml"), package if at else None

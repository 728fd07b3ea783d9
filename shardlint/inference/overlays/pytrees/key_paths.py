"""Keys of paths in pytrees, as texts: their fields and forms are those of JAX 0.10.2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shardlint.inference.domain.values import Array, Const, LibraryObject, Value

UTIL = "jax.tree_util."
#: The field of each class of keys, and its form in `keystr` and `str`.
KEYS: dict[str, tuple[str, str]] = {
    f"{UTIL}DictKey": ("key", "[{!r}]"),
    f"{UTIL}SequenceKey": ("idx", "[{!r}]"),
    f"{UTIL}GetAttrKey": ("name", ".{!s}"),
    f"{UTIL}FlattenedIndexKey": ("key", "[<flat index {!r}>]"),
}


def key_text(key: Value, simple: bool = False) -> str | None:
    """Return ``str(key)``, or ``keystr((key,), simple=True)``; None if it is unknown."""
    if not isinstance(key, LibraryObject) or key.kind not in KEYS:
        return None
    field, form = KEYS[key.kind]
    value = key.fields[field]
    if not isinstance(value, Const) or not isinstance(value.value, str | int | float | None):
        return None
    return str(value.value) if simple else form.format(value.value)


def at_path(leaf: Value, keys: Sequence[Value], root: str | None) -> Value:
    """Return a leaf by the name of its path in the tree ``root``, which tells it from its siblings."""
    texts = [key_text(key) for key in keys]
    return leaf if None in texts else named(leaf, "".join(text or "" for text in texts), root)


def named(leaf: Value, path: str, root: str | None) -> Value:
    """Return an array by the name of its path in the tree ``root``."""
    return replace(leaf, name=f"{root or ''}{path}") if isinstance(leaf, Array) and path else leaf

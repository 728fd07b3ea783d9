"""Name mangling: ``__x`` in a class ``C``, or in a function there, means ``_C__x``."""

from __future__ import annotations


def is_private(name: str) -> bool:
    """Return whether a name is mangled inside a class."""
    return name[:2] == "__" and name[-2:] != "__"


def mangled(name: str, cls: str) -> str:
    """Return the mangled form of a name written in a class."""
    stem = cls.lstrip("_")
    return f"_{stem}{name}" if stem and is_private(name) else name

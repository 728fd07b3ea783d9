"""Private names: what is written ``__x`` in a class ``C``, or in a function there, is ``_C__x``."""

from __future__ import annotations


def is_private(name: str) -> bool:
    """Whether a name is another one inside a class."""
    return name[:2] == "__" and name[-2:] != "__"


def mangled(name: str, cls: str) -> str:
    """Return the name that one written in the class of this name stands for."""
    stem = cls.lstrip("_")
    return f"_{stem}{name}" if stem and is_private(name) else name

"""An exception of JAX as data, for answers that are stored."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Any


@dataclass(frozen=True)
class Raised:
    """An exception: the names of its classes, the most derived first, and the beginning of its message."""

    classes: tuple[str, ...]
    message: str

    @property
    def name(self) -> str:
        """The name of its class."""
        return self.classes[0]


def raised(error: Exception | None) -> Raised | None:
    """Return an exception as data."""
    if error is None:
        return None
    return Raised(tuple(cls.__name__ for cls in type(error).__mro__), str(error)[:120])


def written(ending: tuple[Any, Raised | None]) -> tuple[Any, Any]:
    """Return what was seen and how it ended, in literals."""
    seen, error = ending
    return seen, error and astuple(error)


def read(ending: tuple[Any, Any]) -> tuple[Any, Raised | None]:
    """Return what `written` wrote."""
    seen, error = ending
    return seen, error and Raised(*error)

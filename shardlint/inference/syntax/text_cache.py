"""Bounded caches of results computed from texts, which do not keep every text of a file being typed."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from typing import Generic, ParamSpec, TypeVar, cast

from shardlint.source.lexing import without_prose

T = TypeVar("T")
P = ParamSpec("P")
#: The total length of the texts for which a function caches results.
_MOST = 4_000_000


class Latest(Generic[T]):
    """A function of a file's path, a cell and its text, whose results are cached.

    For each of ``cells`` cells, the results of the ``texts`` latest texts are kept.
    """

    def __init__(self, function: Callable[[str, int | None, str], T], cells: int, texts: int) -> None:
        self._function = function
        self._cells, self._texts = cells, texts
        self._kept: OrderedDict[tuple[str, int | None], OrderedDict[str, T]] = OrderedDict()

    def __call__(self, path: str, cell: int | None, text: str) -> T:
        """Return the function's result."""
        key = (path, cell)
        texts = self._kept.pop(key, None)
        texts = self._kept[key] = OrderedDict() if texts is None else texts
        if len(self._kept) > self._cells:
            self._kept.popitem(last=False)
        if text in texts:
            texts.move_to_end(text)
            return texts[text]
        result = texts[text] = self._function(path, cell, text)
        if len(texts) > self._texts:
            texts.popitem(last=False)
        return result

    def cache_clear(self) -> None:
        """Drop all results."""
        self._kept.clear()


def latest(cells: int, texts: int) -> Callable[[Callable[[str, int | None, str], T]], Latest[T]]:
    """Cache the results of a function (see `Latest`)."""
    return lambda function: Latest(function, cells, texts)


def of_texts(function: Callable[P, T]) -> Callable[P, T]:
    """Cache a function's results for texts, until their total length is too large: then the cache is cleared.

    Each keystroke in a long function leaves another text.
    """
    held = 0

    @cache
    def remembering(*given: object) -> T:
        nonlocal held
        size = sum(len(one) for one in given if isinstance(one, str))
        held += size
        if held > _MOST:
            remembering.cache_clear()
            held = size
        return function(*given)  # type: ignore[arg-type, call-arg]

    return cast("Callable[P, T]", remembering)


#: The text without docstrings and comments: what a question about a text is asked of, so that no answer
#: depends on prose.
bare = of_texts(without_prose)

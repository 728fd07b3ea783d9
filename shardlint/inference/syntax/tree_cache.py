"""The trees of texts: of each text one, as long as somebody needs it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import cached_property
from weakref import WeakValueDictionary

import libcst as cst

from shardlint.inference.syntax.front_end import Former, Translated, Untranslated, translate
from shardlint.inference.syntax.positions import Positions


class Tree:
    """A text as nodes: programs that read one file share it. Raises ParserSyntaxError."""

    def __init__(self, text: str, told: Translated | None, former: Former | None = None) -> None:
        self._text = text
        try:
            self.body, self._expressions, self._noted, self.again = told or translate(text, former)
        except Untranslated:
            self.body, self._expressions, self._noted, self.again = _module(text).body, (), (), ()

    def as_former(self) -> Former:
        """The statements, for a text that may have them too."""
        return Former(self._noted, self._expressions)

    @cached_property
    def positions(self) -> Positions:
        """Where all nodes stand: found only if somebody asks."""
        return Positions(self._text, self.body, self._expressions, self._noted)


#: What libcst refused last: while somebody types, the same text is asked for again and again.
_refused: deque[tuple[str, cst.ParserSyntaxError]] = deque(maxlen=4)


def _module(text: str) -> cst.Module:
    """What libcst makes of a text. Raises ParserSyntaxError."""
    for refused, error in tuple(_refused):
        if refused == text:
            raise error.with_traceback(None)
    try:
        return cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        _refused.append((text, error))
        raise


#: The trees that are in use, by their text.
_trees: WeakValueDictionary[str, Tree] = WeakValueDictionary()


def tree_of(text: str, told: Callable[[], Translated | None]) -> Tree:
    """Parse a text, unless somebody has, or what it is can be told. Raises ParserSyntaxError."""
    tree = _trees.get(text)
    if tree is None:
        tree = _trees[text] = Tree(text, told())
    return tree


def tree_after(text: str, former: Former) -> Tree:
    """Parse a text that stands in place of a former one. Raises ParserSyntaxError."""
    tree = _trees[text] = Tree(text, None, former)
    return tree

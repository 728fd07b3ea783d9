"""A cache of trees: one for each text, as long as it is in use."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import cached_property
from weakref import WeakValueDictionary

import libcst as cst

from shardlint.inference.syntax.front_end import Former, Translated, Untranslated, translate
from shardlint.inference.syntax.positions import Positions


class Tree:
    """A text as nodes, shared by the programs that read the file. Raises ParserSyntaxError."""

    def __init__(self, text: str, told: Translated | None, former: Former | None = None) -> None:
        self._text = text
        try:
            self.body, self._expressions, self._noted, self.again = told or translate(text, former)
        except Untranslated:
            self.body, self._expressions, self._noted, self.again = _module(text).body, (), (), ()

    def as_former(self) -> Former:
        """Return the statements, for reuse in a text that may contain them too."""
        return Former(self._noted, self._expressions)

    @cached_property
    def positions(self) -> Positions:
        """Return the positions of all nodes, computed on demand."""
        return Positions(self._text, self.body, self._expressions, self._noted)


#: The texts that libcst rejected last: during typing the same text is requested repeatedly.
_refused: deque[tuple[str, cst.ParserSyntaxError]] = deque(maxlen=4)


def _module(text: str) -> cst.Module:
    """Return libcst's module for a text. Raises ParserSyntaxError."""
    for refused, error in tuple(_refused):
        if refused == text:
            raise error.with_traceback(None)
    try:
        return cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        _refused.append((text, error))
        raise


#: The trees in use, by text.
_trees: WeakValueDictionary[str, Tree] = WeakValueDictionary()


def tree_of(text: str, told: Callable[[], Translated | None]) -> Tree:
    """Return the tree of a text: cached, translated by ``told``, or parsed. Raises ParserSyntaxError."""
    tree = _trees.get(text)
    if tree is None:
        tree = _trees[text] = Tree(text, told())
    return tree


def tree_after(text: str, former: Former) -> Tree:
    """Return the tree of a text that replaces a former one. Raises ParserSyntaxError."""
    tree = _trees[text] = Tree(text, None, former)
    return tree

"""The trees of the texts split last, from which units are translated without parsing."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Sequence

import libcst as cst

from shardlint.inference.syntax.front_end import Translated, Untranslated
from shardlint.inference.syntax.front_end.node_factory import MAKE
from shardlint.inference.syntax.front_end.node_reuse import Noting


class Origin:
    """The tree of a text, until some others have been split."""

    __slots__ = ("_held",)

    def __init__(self, text: str) -> None:
        statements: dict[str, Sequence[ast.stmt]] = {}
        #: Read and replaced in one step, since other threads may split other texts.
        self._held: tuple[Noting, dict[str, Sequence[ast.stmt]]] | None = Noting(text), statements
        _latest.append(self)
        while len(_latest) > _MOST:
            _latest.popleft().forget()

    def note(self, text: str, statements: Sequence[ast.stmt]) -> None:
        """Record the statements in the lines of a unit."""
        if self._held is not None:
            self._held[1][text] = statements

    def forget(self) -> None:
        """Drop the tree."""
        self._held = None

    def translate(self, text: str, indented: bool) -> Translated | None:
        """Return the translated unit of these lines, wrapped if they are indented; None if it is not
        recorded."""
        held = self._held
        if held is None or text not in held[1]:
            return None
        translator, statements = held[0].beginning(), held[1][text]
        if indented:
            translator.made.append(MAKE[cst.Integer]("1"))
        try:
            body = translator.block(statements)
        except (Untranslated, RecursionError):
            return None
        if indented:
            body = [MAKE[cst.If](translator.made[0], MAKE[cst.IndentedBlock](body), None)]
        return Translated(body, translator.made, translator.noted)


_latest: deque[Origin] = deque()
#: The number of texts whose trees are kept: a tree takes ten times the memory of its text.
_MOST = 4

"""The trees of the texts that were split last: units of these are not parsed again."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Sequence

import libcst as cst

from shardlint.inference.syntax.front_end import Translated, Untranslated
from shardlint.inference.syntax.front_end.node_factory import MAKE
from shardlint.inference.syntax.front_end.node_reuse import Noting


class Origin:
    """The tree of a text, until some others were split."""

    __slots__ = ("_held",)

    def __init__(self, text: str) -> None:
        statements: dict[str, Sequence[ast.stmt]] = {}
        #: Read and replaced as one, since other threads may split other texts.
        self._held: tuple[Noting, dict[str, Sequence[ast.stmt]]] | None = Noting(text), statements
        _latest.append(self)
        while len(_latest) > _MOST:
            _latest.popleft().forget()

    def note(self, text: str, statements: Sequence[ast.stmt]) -> None:
        """Note of which statements the lines of a unit consist."""
        if self._held is not None:
            self._held[1][text] = statements

    def forget(self) -> None:
        """Keep nothing."""
        self._held = None

    def translate(self, text: str, indented: bool) -> Translated | None:
        """The unit of these lines, wrapped if they are indented; None if it is not known."""
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
#: Of so many texts trees are kept: they take ten times the room of the text.
_MOST = 4

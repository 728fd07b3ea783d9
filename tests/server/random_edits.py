"""Random edits of texts, as an editor makes them: small and large, alone and together, many of them wrong."""

from __future__ import annotations

import random
import re

from lsprotocol import types

#: What is typed or pasted.
SCRAPS = (
    "x", "_", "1", "16", "0", " ", "    ", "\t", "\n", "\r\n", "\n\n", "(", ")", "[", "]", "{", "}", ",",
    ":", "=", ".", '"', "'", "#", "\\", "\\\n", "🧪", "é", "\u2028", "\x0c", "P(", "None", "None, ",
    '"model"', '"data", ', '"modle"', "P(None, 'model')", "mesh", "jax", "def f(x):\n    return x\n",
    "if True:\n", "return ", "@jax.jit\n", "# shardlint: ignore[SHL202]", "# expect: SHL103\n",
    "import os\n", "from jax.sharding import Mesh\n", 'mark = "🧪🧪"\n', "del mesh\n",
    "class A:\n\tb = 1\n", "lambda: ", "*", "**", "for i in range(3):\n    pass\n",
)  # fmt: skip
_WORD = re.compile(r"[\w🧪]+")
_LINE_END = re.compile(r"\r\n|\n|\r")
Change = types.TextDocumentContentChangePartial | types.TextDocumentContentChangeWholeDocument


class RandomEdits:
    """Edits a text again and again. ``text`` is what a client has after them.

    Now and then the text becomes what it was at first, with other line ends perhaps, so that it is not all
    ruins.
    """

    def __init__(self, text: str, seed: int) -> None:
        self._original = text
        self._random = random.Random(seed)
        self.text = text

    def next(self) -> list[Change]:
        """Make the next edit: one change of the text, or several, each of the text after the one before."""
        if self._random.random() < 0.12:
            self.text = self._original
            if self._random.random() < 0.2:
                self.text = self.text.replace("\n", self._random.choice(("\r\n", "\r", "\n")))
            return [types.TextDocumentContentChangeWholeDocument(text=self.text)]
        several = 1 if self._random.random() < 0.8 else self._random.randint(2, 4)
        return [self._change() for _ in range(several)]

    def _change(self) -> Change:
        start, stop, new = self._chosen()
        # An editor has no place between the two characters that end a line, nor makes one of two line ends.
        start, stop = self._outside(start), self._outside(stop)
        place = types.Range(position(self.text, start), position(self.text, stop))
        self.text = self.text[:start] + new + self.text[stop:]
        return types.TextDocumentContentChangePartial(range=place, text=new)

    def _chosen(self) -> tuple[int, int, str]:
        """From where to where to write what."""
        text, random = self.text, self._random
        at = random.randint(0, len(text))
        match random.randrange(7):
            case 6 if words := list(_WORD.finditer(text)):
                # A key that is hit twice, or missed.
                word = random.choice(words)
                at = random.randrange(word.start(), word.end())
                return at, at + 1, random.choice((text[at] * 2, ""))
            case 0 | 1:
                return at, at, random.choice(SCRAPS)
            case 2:
                return at, min(len(text), at + random.choice((1, 1, 1, 3, 10, 60))), ""
            case 3 if words := list(_WORD.finditer(text)):
                word = random.choice(words)
                other = random.choice((random.choice(words)[0], random.choice(SCRAPS), ""))
                return word.start(), word.end(), other
            case 4:
                lines = text.splitlines(keepends=True) or [""]
                number = random.randrange(len(lines))
                start = sum(map(len, lines[:number]))
                return start, start + len(lines[number]), random.choice(("", lines[number] * 2))
            case _:
                stop = min(len(text), at + random.randint(0, 80))
                return at, stop, text[at:stop][::-1] if random.random() < 0.3 else random.choice(SCRAPS)

    def _outside(self, at: int) -> int:
        return at + 1 if self.text[at - 1 : at + 1] == "\r\n" and at else at


def position(text: str, at: int) -> types.Position:
    """A place in a text as the protocol has it: in code units of UTF-16."""
    line, start = 0, 0
    for end in _LINE_END.finditer(text):
        if end.end() > at:
            break
        line, start = line + 1, end.end()
    return types.Position(line=line, character=len(text[start:at].encode("utf-16-le")) // 2)

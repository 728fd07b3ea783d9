"""Comments that state facts which cannot be inferred, or ask what was: ``# shardlint: x: (batch, 4096)``.

A comment holds items separated by commas:

- ``mesh=v5e-256`` names a configured mesh, ``mesh=(data=2, model=4)`` writes one out;
- ``x: (batch, t, 4*d)`` is the shape of an array, ``x: bf16(8, _)`` and ``x: f32[...]`` also its dtype: a
  size is a whole number, a name or a product or sum of them, ``_`` any size, ``...`` any number of them;
- ``reveal`` asks what is known.

``devices=8`` and ``ignore[...]`` are read by `suppressions`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from shardlint.source.lexing import Comment, comments, next_code_line
from shardlint.support.lazy_dataclass import dataclass

_COMMENT = re.compile(r"#\s*shardlint:")
_SUPPRESSION = re.compile(r"\s*(?:ignore-file|ignore|disable|enable)\b(?!-)")
#: The beginning of another directive after the facts in a comment.
_BEHIND = re.compile(r"\s#")
_DEVICES = re.compile(r"devices\s*=\s*\d+\b")
_NAME = r"[^\W\d]\w*"
_DOTTED = rf"{_NAME}(?:\.{_NAME})*"
_MESH = re.compile(r"mesh\s*=\s*(?:\((?P<axes>[^()]*)\)|(?P<name>[\w.-]+))$")
_AXIS = re.compile(rf"\s*(?P<name>{_NAME})\s*=\s*(?P<size>[1-9]\d*)\s*")
_SHAPE = re.compile(
    rf"(?P<name>{_DOTTED})\s*:\s*(?P<dtype>\w*)\s*(?:\((?P<round>[^()\[\]]*)\)|\[(?P<square>[^()\[\]]*)\])$"
)
_FACTOR = rf"(?:\d+|{_DOTTED})"
_SIZE = re.compile(rf"_|\.\.\.|{_FACTOR}(?:\s*(?://|[-+*%])\s*{_FACTOR})*")
_SHORT_DTYPE = re.compile(r"(?P<kind>bf|[fiuc])(?P<bits>\d+)(?P<rest>_\w+)?")
_KINDS = {"bf": "bfloat", "f": "float", "i": "int", "u": "uint", "c": "complex"}
_DTYPES = frozenset(
    "bool bfloat16 float8_e4m3fn float8_e5m2 float16 float32 float64 int4 int8 int16 int32 int64 uint4 uint8 "
    "uint16 uint32 uint64 complex64 complex128".split()
)


@dataclass(frozen=True, slots=True)
class MeshFact:
    """A mesh by its configured ``name``, or (then that is None) by its axes."""

    name: str | None
    axes: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class ShapeFact:
    """The sizes of an array as written, and its numpy-style dtype if the comment states one."""

    name: str
    sizes: tuple[str, ...]
    dtype: str | None = None


@dataclass(frozen=True, slots=True)
class RevealRequest:
    """A request to report what is known on the line."""


@dataclass(frozen=True, slots=True)
class BrokenFact:
    """An item that cannot be read, with the reason."""

    message: str


@dataclass(frozen=True, slots=True)
class Note:
    """One item of a comment: it applies to the statement on ``code_line``; the other fields are its own
    place.
    """

    item: MeshFact | ShapeFact | RevealRequest | BrokenFact
    code_line: int
    line: int
    column: int
    end_column: int


def read_notes(text: str) -> tuple[Note, ...]:
    """Return the facts and requests in the comments of a file or cell, in order.

    A comment on a line of its own applies to the next line of code.
    """
    if "shardlint:" not in text:
        return ()
    return tuple(note for comment in comments(text) for note in _notes(text, comment))


def _notes(text: str, comment: Comment) -> Iterator[Note]:
    begin = _COMMENT.match(comment.text)
    if begin is None or _SUPPRESSION.match(comment.text, begin.end()):
        return
    line = next_code_line(text, comment.line) if comment.alone else comment.line
    statement = _BEHIND.split(comment.text, maxsplit=1)[0]
    for start, stop in _items(statement, begin.end()):
        written = statement[start:stop]
        if not _DEVICES.match(written):
            column = comment.column + start
            yield Note(_item(written), line, comment.line, column, column + len(written))


def _items(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Yield the stretches between top-level commas, without surrounding blanks."""
    depth, begin = 0, start
    for at in range(start, len(text) + 1):
        char = text[at] if at < len(text) else ","
        depth += (char in "([") - (char in ")]")
        if at == len(text) or (char == "," and depth <= 0):
            written = text[begin:at]
            left = len(written) - len(written.lstrip())
            if written.strip() or at < len(text) or begin == start:
                yield begin + left, begin + max(left, len(written.rstrip()))
            begin = at + 1


def _item(written: str) -> MeshFact | ShapeFact | RevealRequest | BrokenFact:
    if written == "reveal":
        return RevealRequest()
    if (mesh := _MESH.match(written)) is not None:
        return MeshFact(mesh["name"]) if mesh["name"] else _axes(mesh["axes"])
    if (shape := _SHAPE.match(written)) is not None:
        return _shape(shape["name"], shape["dtype"], shape["round"] or shape["square"] or "")
    return BrokenFact(_unread(written))


def _unread(written: str) -> str:
    forms = "`mesh=NAME`, `mesh=(data=2, model=4)`, `x: (batch, 4096)`, `x: f32[8, 16]`, `reveal`"
    word = re.match(r"[\w-]*", written)
    close = difflib.get_close_matches(word[0] if word else "", _WORDS, n=1, cutoff=0.6)
    if close and word is not None and word[0] != close[0]:
        return f"shardlint does not know `{word[0]}`; did you mean `{close[0]}`?"
    if re.match(r"mesh\s*=", written):
        return f"`{written}` is no mesh: write `mesh=NAME` or `mesh=(data=2, model=4)`"
    if re.match(rf"{_DOTTED}\s*:", written):
        name = written.partition(":")[0]
        return f"`{written}` is no fact: write `{name}: (batch, 4096)` or `{name}: f32[8, 16]`"
    what = f"cannot read `{written}`" if written else "nothing is told here"
    return f"{what}: shardlint reads {forms}, `ignore[CODE]` and `devices=8`"


_WORDS = ("mesh", "reveal", "ignore", "ignore-file", "disable", "enable", "devices")


def _axes(text: str) -> MeshFact | BrokenFact:
    axes: dict[str, int] = {}
    for part in text.split(","):
        match = _AXIS.fullmatch(part)
        if match is None:
            return BrokenFact(f"`{part.strip()}` is no mesh axis: write its name and its size, `data=2`")
        if match["name"] in axes:
            return BrokenFact(f"the mesh axis `{match['name']}` is given twice")
        axes[match["name"]] = int(match["size"])
    return MeshFact(None, tuple(axes.items()))


def _shape(name: str, dtype: str, text: str) -> ShapeFact | BrokenFact:
    sizes = tuple(part.strip() for part in text.split(","))
    if sizes and not sizes[-1]:
        sizes = sizes[:-1]
    for size in sizes:
        if _SIZE.fullmatch(size) is None:
            wanted = "a whole number, a name, a product such as `4*d`, `_` or `...`"
            return BrokenFact(f"`{size}` is no size of `{name}`: write {wanted}")
    known = _dtype(dtype) if dtype else None
    if dtype and known is None:
        close = difflib.get_close_matches(dtype, (*_DTYPES, "f32", "bf16", "f16", "i32", "u8"), n=1)
        hint = f"; did you mean `{close[0]}`?" if close else ""
        return BrokenFact(f"`{dtype}` is no dtype{hint}")
    return ShapeFact(name, sizes, known)


def _dtype(text: str) -> str | None:
    """Return the numpy-style name of a dtype, which may be abbreviated as in JAX (``f32``)."""
    match = _SHORT_DTYPE.fullmatch(text)
    name = f"{_KINDS[match['kind']]}{match['bits']}{match['rest'] or ''}" if match else text
    return name if name in _DTYPES else None

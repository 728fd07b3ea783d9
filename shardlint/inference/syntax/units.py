"""Units: stretches of lines that are parsed into nodes when first needed.

A unit is parsed with `ast` and translated (see `front_end`); libcst parses it only where that is not
possible. A unit keeps its indentation and is wrapped in ``if 1:``, so columns need no correction except for
misspelt names (see `typos`).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from typing import TypeVar, cast

import libcst as cst

from shardlint.inference.syntax.front_end import Former, Translated, changed
from shardlint.inference.syntax.front_end.file_tree import Origin
from shardlint.inference.syntax.tree_cache import Tree, tree_after, tree_of
from shardlint.inference.syntax.typos import Moved, Names, ReadText, written_at
from shardlint.model.spans import Place, Span
from shardlint.source.comments.facts import Note
from shardlint.source.workspace.file_access import note_function
from shardlint.support.lazy_dataclass import dataclass


class BrokenText(Exception):
    """Raised for text that is not Python: ``line`` and ``column`` are 1-based."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.message, self.line, self.column = message, line, column


Node = TypeVar("Node", bound=cst.CSTNode)
#: The longest expression that names an array in a message.
_LONGEST_WRITTEN = 40
_NO_NODES: dict[cst.CSTNode, cst.CSTNode] = {}


class Unit:
    """A stretch of whole lines of one file or notebook cell, parsed when first asked.

    ``first_line`` is 1-based. ``indented`` units are wrapped to parse.
    """

    __slots__ = (
        *("_first", "_former", "_latest", "_origin", "_spans", "_text", "_tree"),
        *("cell", "first_line", "indented", "moved", "names", "noted", "notes", "path"),
    )

    def __init__(
        self,
        path: str,
        cell: int | None,
        text: str,
        first_line: int,
        indented: bool,
        origin: Origin | None = None,
        names: Names | None = None,
        moved: tuple[Moved, ...] = (),
    ) -> None:
        self.path, self.cell, self._text = path, cell, text
        self.first_line, self.indented = first_line, indented
        #: The names of the file, if certain, and the places where the text differs from the written one.
        self.names, self.moved = names, moved
        #: The facts and requests in comments on these lines.
        self.notes: tuple[Note, ...] = ()
        #: Whether it is a function, of which is recorded whether it was read.
        self.noted = False
        self._tree: Tree | None = None
        #: The text from which this unit was split.
        self._origin = origin
        #: The former statements, whose nodes are reused for unchanged ones.
        self._former: Former | None = None
        self._spans: dict[cst.CSTNode, Span] = {}
        #: For functions with other bodies than before: the first node by every node, the latest by the first.
        self._first = self._latest = _NO_NODES

    @property
    def text(self) -> str:
        """Return the lines; what reads them depends on them (see `glance`)."""
        self.note_read()
        return self._text

    @property
    def glance(self) -> str:
        """Return the lines for a question whose answer depends on little of them.

        See `module_changes`, which knows all such questions.
        """
        return self._text

    def note_read(self) -> None:
        """Record that the lines matter, if they are a function's: the others always do."""
        if self.noted:
            note_function(self.path, self.first_line)

    def rewrite(self, text: str, moved: tuple[Moved, ...] = ()) -> frozenset[Hashable]:
        """Replace the lines of the unit.

        Return the keys of the functions whose own statements changed, not counting functions inside them (see
        `Code.key`); the key of the unit if the changes are unknown.
        """
        before, self._text, self.moved, self._tree = self._tree, text, moved, None
        if before is not None:
            self._former = before.as_former()
        self._spans.clear()
        if self._former is None:
            return frozenset((id(self),))
        try:
            again = self._parsed().again
        except BrokenText:
            return frozenset((id(self),))
        others = [old for old, _ in changed(again)]
        firsts = {new: self.first(old) for old, new in again}
        self._first = self._first | firsts
        self._latest = self._latest | {first: new for new, first in firsts.items()}
        # The unit's own function is identified by the unit.
        found = {id(self) if old is again[-1][0] else self.key_of(old) for old in others}
        return frozenset(found if before is not None and again else {id(self), *found})

    def key_of(self, node: cst.CSTNode) -> Hashable:
        """Return the identity of a function in this unit, independent of its body."""
        return id(self), id(self.first(node))

    def first(self, node: Node) -> Node:
        """Return the first node of a function, by which it is identified; other nodes are returned as they
        are."""
        return cast(Node, self._first.get(node, node)) if self._first else node

    def latest(self, node: Node) -> Node:
        """Return the latest node of a function; other nodes are returned as they are."""
        return cast(Node, self._latest.get(self.first(node), node)) if self._latest else node

    def move_to(self, line: int) -> None:
        """Move the unit to another first line."""
        if line != self.first_line:
            self.first_line = line
            self._spans.clear()

    @property
    def read_text(self) -> ReadText:
        """Return the lines as read."""
        return ReadText(self._text, self.moved)

    def replace_text(self, read: ReadText) -> None:
        """Replace the lines by equivalent ones: no node depends on the difference."""
        self._text = read.text
        if read.moved != self.moved:
            self.moved = read.moved
            self._spans.clear()

    @property
    def stands(self) -> tuple[int, str, tuple[Moved, ...]]:
        """Return everything on which the spans of nodes depend."""
        return self.first_line, self._text, self.moved

    def fresh(self) -> Unit:
        """Return the same lines in their initial state, unparsed."""
        place = self.path, self.cell, self._text, self.first_line, self.indented
        unit = Unit(*place, self._origin, self.names, self.moved)
        unit.noted = self.noted
        return unit

    def _parsed(self) -> Tree:
        self.note_read()
        if self._tree is None:
            text = f"if 1:\n{self._text}" if self.indented else self._text
            try:
                if self._former is None:
                    self._tree = tree_of(text, self._told)
                else:
                    self._tree = tree_after(text, self._former)
                    self._former = None
            except cst.ParserSyntaxError as error:
                line = error.raw_line - self.indented + self.first_line - 1
                raise BrokenText(error.message, max(line, 1), error.raw_column + 1) from None
        return self._tree

    def _told(self) -> Translated | None:
        """Return the translation that is known without parsing."""
        return None if self._origin is None else self._origin.translate(self._text, self.indented)

    @property
    def body(self) -> Sequence[cst.BaseStatement | cst.BaseSmallStatement]:
        """Return the statements of the unit. Raises BrokenText."""
        body = self._parsed().body
        if not self.indented:
            return body
        wrapper = body[0]
        assert isinstance(wrapper, cst.If)
        return wrapper.body.body

    def written(self, node: cst.CSTNode) -> str:
        """Return the text of a node of this unit as read, without parentheses around it."""
        first, start, last, end = self._read_at(node)
        lines = self._text.splitlines(keepends=True)[first : last + 1]
        lines[-1:] = [line[:end] for line in lines[-1:]]
        return "".join(lines)[start:]

    def span(self, node: cst.CSTNode) -> Span:
        """Return the span of a node of this unit."""
        span = self._spans.get(node)
        if span is None:
            first, start, last, end = self._read_at(node)
            if self.moved:
                start, end = written_at(self.moved, first, start), written_at(self.moved, last, end)
            line, end_line = first + self.first_line, last + self.first_line
            span = self._spans[node] = Span(self.path, line, start + 1, end_line, end + 1, self.cell)
        return span

    def _read_at(self, node: cst.CSTNode) -> tuple[int, int, int, int]:
        """Return the line in the unit and the column at which a node begins, and those of its end, from 0."""
        found = self._parsed().positions.of(self.latest(node))
        if found is None:
            return 0, 0, 0, 0
        first, start, last, end = found
        return first - 1 - self.indented, start, last - 1 - self.indented, end


@dataclass(slots=True, repr=False)
class NodePlace:
    """The place of a node; its span is computed on demand. A frozen dataclass would cost twice as much."""

    unit: Unit
    node: cst.CSTNode

    def __hash__(self) -> int:
        # libcst's nodes hash by identity too, but in Python.
        return object.__hash__(self.node)

    @property
    def path(self) -> str:
        """Return the path of the file, which is known without computing the span."""
        return self.unit.path

    def resolve(self) -> Span:
        """Return the span."""
        return self.unit.span(self.node)


def text_at(place: Place) -> str | None:
    """Return the text at a place, if it is a name, an attribute or an item: ``params["kernel"]``."""
    return _text(place.unit, place.node) if isinstance(place, NodePlace) else None


def texts_at(place: Place, functions: Set[str]) -> tuple[str | None, ...]:
    """Return such texts of the items of a tuple or list at a place, or of the arguments of a call of one of
    these functions or methods: of the items of the first that is a tuple or list, if there is one."""
    if not isinstance(place, NodePlace):
        return ()
    node = place.node
    items: tuple[str | None, ...] = ()
    if isinstance(node, cst.Call):
        name = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
        if not isinstance(name, cst.Name) or name.value not in functions:
            return ()
        given = [arg.value for arg in node.args]
        node = next((one for one in given if isinstance(one, cst.Tuple | cst.List)), node)
        items = tuple(_text(place.unit, one) for one in given)
    if isinstance(node, cst.Tuple | cst.List):
        items = tuple(_text(place.unit, item.value) for item in node.elements)
    return items


def _text(unit: Unit, node: cst.CSTNode) -> str | None:
    if not isinstance(node, cst.Name | cst.Attribute | cst.Subscript):
        return None
    text = unit.written(node)
    return text if len(text) <= _LONGEST_WRITTEN and "\n" not in text else None


def is_computed(place: Place | None) -> bool:
    """Return whether the expression at a place is not a literal."""
    if not isinstance(place, NodePlace):
        return False
    constant = isinstance(node := place.node, cst.Name) and node.value in ("False", "None")
    return not constant and not isinstance(node, cst.BaseNumber | cst.BaseString | cst.Tuple | cst.List)

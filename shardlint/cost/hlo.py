"""HLO modules as XLA writes them to text: computations, their instructions, and the stack frames behind them.

XLA writes one instruction a line. Only what the cost of a program needs is read: names, shapes, operands,
attributes as text, and the metadata that leads to the program's source.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import cached_property

from shardlint.support.lazy_dataclass import dataclass

_HEAD = re.compile(r"^(?:(ENTRY) )?%?([^\s(]+) \(.*\) -> .*\{$")
_NAME = re.compile(r"^\s+(ROOT )?%?(\S+) = ")
_OPCODE = re.compile(r"\s*([\w-]+)\(")
_OPERAND = re.compile(r"%([^\s,()#]+)(?:#(\d+))?")
_BRACKET = re.compile(r"[()]")
_OP_NAME = re.compile(r'op_name="((?:[^"\\]|\\.)*)"')
_FRAME = re.compile(r"stack_frame_id=(\d+)")
_ARRAY = re.compile(r"\b([a-z]\w*)\[([\d,<=]*)\]")
_TABLE = re.compile(r"^(FileNames|FunctionNames|FileLocations|StackFrames)$")
_NUMBERED = re.compile(r"^(\d+) (.*)$")
_ESCAPE = re.compile(r"\\([0-7]{1,3}|.)")
_LETTERS = {"n": "\n", "t": "\t", "r": "\r"}
_FIELD = re.compile(r"(\w+)=(\d+)")

#: Bits of the types whose names do not end in their number.
_BITS = {"pred": 8, "token": 0, "opaque": 0, "c64": 64, "c128": 128}


@dataclass(frozen=True, slots=True)
class Frame:
    """A line of a function in a file of the program, or of a library that it calls."""

    file: str
    function: str
    line: int


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction. ``operands`` are the names of others in its computation, each with the element of a
    tuple that it takes, or None. ``frame`` is the number of its stack frame, 0 for none.
    """

    name: str
    shape: str
    opcode: str
    operands: tuple[tuple[str, int | None], ...]
    arguments: str
    attributes: str
    is_root: bool = False
    op_name: str = ""
    frame: int = 0

    def called(self, attribute: str) -> str | None:
        """Return the name of the computation that an attribute names (``body``, ``to_apply``)."""
        found = re.search(rf"\b{attribute}=%?([^\s,}}]+)", self.attributes)
        return found[1] if found else None


class Computation:
    """A computation's instructions in order, and by name."""

    def __init__(self, name: str, instructions: list[Instruction]) -> None:
        self.name, self.instructions = name, instructions

    @cached_property
    def by_name(self) -> dict[str, Instruction]:
        """Return the instructions by name."""
        return {one.name: one for one in self.instructions}

    @cached_property
    def users(self) -> dict[str, list[Instruction]]:
        """Return for each instruction those that take it as an operand."""
        found: dict[str, list[Instruction]] = {}
        for one in self.instructions:
            for name in dict(one.operands):
                found.setdefault(name, []).append(one)
        return found

    @property
    def root(self) -> Instruction | None:
        """Return the instruction whose value the computation returns."""
        return next((one for one in self.instructions if one.is_root), None)


class Module:
    """A module: ``entry`` is the name of the computation where it starts, ``head`` its first line."""

    def __init__(
        self, head: str, entry: str, computations: dict[str, Computation], frames: dict[int, list[Frame]]
    ) -> None:
        self.head, self.entry, self.computations, self._frames = head, entry, computations, frames

    @property
    def name(self) -> str:
        """Return the module's name, ``jit_step``."""
        return self.head.removeprefix("HloModule ").partition(",")[0].strip()

    @property
    def partitions(self) -> int:
        """Return the number of devices that the program is partitioned for."""
        return int(found[1]) if (found := re.search(r"\bnum_partitions=(\d+)", self.head)) else 1

    def stack(self, frame: int) -> list[Frame]:
        """Return the stack behind an instruction's frame, outermost first."""
        return self._frames.get(frame, [])


def parse_module(text: str) -> Module:
    """Return the module that a text holds. What is no HLO is an empty module."""
    lines = text.split("\n")
    computations: dict[str, Computation] = {}
    entry = ""
    inside: list[Instruction] | None = None
    for line in lines:
        if inside is None:
            if line.endswith("{") and (head := _HEAD.match(line)):
                inside = []
                computations[head[2]] = Computation(head[2], inside)
                entry = head[2] if head[1] else entry
        elif line.startswith("}"):
            inside = None
        elif (found := _instruction(line)) is not None:
            inside.append(found)
    return Module(lines[0], entry, computations, _stacks(lines))


def _instruction(line: str) -> Instruction | None:
    name = _NAME.match(line)
    if name is None:
        return None
    start = name.end()
    end = _closing(line, start) if line.startswith("(", start) else line.find(" ", start)
    opcode = _OPCODE.match(line, end) if end > 0 else None
    if opcode is None:
        return None
    close = _closing(line, opcode.end() - 1)
    arguments, attributes = line[opcode.end() : close - 1], line[close:]
    named = () if opcode[1] in ("constant", "parameter") else _OPERAND.findall(arguments)
    operands = tuple((one, int(number) if number else None) for one, number in named)
    op_name, frame = _OP_NAME.search(attributes), _FRAME.search(attributes)
    return Instruction(
        name[2],
        line[start:end],
        opcode[1],
        operands,
        arguments,
        attributes,
        is_root=name[1] is not None,
        op_name=unescaped(op_name[1]) if op_name else "",
        frame=int(frame[1]) if frame else 0,
    )


def unescaped(text: str) -> str:
    """Return a string as it was before XLA escaped it as C does: quotes, and octal bytes of UTF-8."""
    if "\\" not in text:
        return text
    raw = _ESCAPE.sub(lambda one: _byte(one[1]), text.encode("utf-8").decode("latin-1"))
    return raw.encode("latin-1").decode("utf-8", errors="replace")


def _byte(escaped: str) -> str:
    return chr(int(escaped, 8) & 0xFF) if escaped.isdigit() else _LETTERS.get(escaped, escaped)


def _closing(line: str, start: int) -> int:
    """Return the position behind the bracket that closes the one at ``start``."""
    depth = 0
    for bracket in _BRACKET.finditer(line, start):
        depth += 1 if bracket[0] == "(" else -1
        if depth == 0:
            return bracket.end()
    return len(line)


def _stacks(lines: list[str]) -> dict[int, list[Frame]]:
    """Return the stack of each frame in the module's tables."""
    tables: dict[str, dict[int, str]] = {}
    table: dict[int, str] | None = None
    for line in lines:
        if head := _TABLE.match(line):
            table = tables.setdefault(head[1], {})
        elif table is not None and (numbered := _NUMBERED.match(line)):
            table[int(numbered[1])] = numbered[2]
        else:
            table = None
    files, functions = ({n: unescaped(s.strip('"')) for n, s in tables.get(t, {}).items()} for t in _NAMES)
    rows = {n: dict(_FIELD.findall(text)) for n, text in tables.get("StackFrames", {}).items()}
    places = {n: dict(_FIELD.findall(text)) for n, text in tables.get("FileLocations", {}).items()}
    # XLA writes a parent's number plus one: the first frame, which has none, seems to be its own.
    ahead = 1 if rows.get(1, {}).get("parent_frame_id") == "1" else 0
    stacks: dict[int, list[Frame]] = {}
    for number, row in rows.items():
        place = places.get(int(row.get("file_location_id", 0)), {})
        frame = Frame(
            files.get(int(place.get("file_name_id", 0)), ""),
            functions.get(int(place.get("function_name_id", 0)), ""),
            int(place.get("line", 0)),
        )
        stacks[number] = [*stacks.get(int(row.get("parent_frame_id", 0)) - ahead, ()), frame]
    return stacks


_NAMES = ("FileNames", "FunctionNames")


def arrays_of(shape: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the dtype and the dimensions of each array in a shape, those of a tuple in order."""
    for dtype, sizes in _ARRAY.findall(re.sub(r"\{[^}]*\}", "", shape)):
        yield dtype, tuple(int(size.lstrip("<=")) for size in sizes.split(",") if size)


def element_of(shape: str, number: int) -> str:
    """Return the shape of an element of a tuple of arrays."""
    found = list(arrays_of(shape))
    if number >= len(found):
        return shape
    dtype, sizes = found[number]
    return f"{dtype}[{','.join(map(str, sizes))}]"


def bytes_of(shape: str) -> int:
    """Return the bytes of a shape, ``bf16[32,256]{1,0}`` or a tuple of such."""
    return sum(math.ceil(math.prod(sizes) * _bits(dtype) / 8) for dtype, sizes in arrays_of(shape))


def _bits(dtype: str) -> int:
    if dtype in _BITS:
        return _BITS[dtype]
    digits = re.match(r"[a-z]+(\d+)", dtype)  # f8e4m3fn, bf16, s4
    return int(digits[1]) if digits else 0

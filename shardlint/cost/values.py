"""The compiler's output for a program, as values: its collectives and its memory, at the user's lines."""

from __future__ import annotations

from enum import StrEnum

from shardlint.cost.chips import Slice
from shardlint.laws.core.values import Spec
from shardlint.support.lazy_dataclass import dataclass


class Kind(StrEnum):
    """The kinds of collectives."""

    ALL_GATHER = "all-gather"
    ALL_REDUCE = "all-reduce"
    REDUCE_SCATTER = "reduce-scatter"
    ALL_TO_ALL = "all-to-all"
    COLLECTIVE_PERMUTE = "collective-permute"


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file; ``cell`` as in `Span`."""

    path: str
    line: int
    cell: int | None = None

    def __str__(self) -> str:
        return f"{self.path}:{self.line}" if self.cell is None else f"{self.path}[{self.cell}]:{self.line}"


@dataclass(frozen=True, slots=True)
class Collective:
    """A collective of a program. ``op`` is the operation that needs it, as JAX names it in the module.

    ``bytes`` are what each device sends, and as many it receives, each of the ``count`` times that it runs;
    ``count`` is None in a loop whose turns are not known. ``shape`` is the array on each device: of a gather
    the result, else the operand. ``ways`` is the number of devices in a group. ``weight`` is the argument
    (``params['kernel']``) of which a gather makes the whole on every device, ``result`` its bytes. ``before``
    is the layout that the value had, and ``after`` the one that was asked for; None where it is not known.
    """

    program: str
    place: Place | None
    kind: Kind
    axes: tuple[str, ...]
    bytes: int
    count: int | None
    op: str
    shape: str
    ways: int
    weight: str = ""
    result: int = 0
    before: Spec | None = None
    after: Spec | None = None

    @property
    def total(self) -> int:
        """Return the bytes of all times that it runs; of one, where their number is not known."""
        return self.bytes * (1 if self.count is None else self.count)


@dataclass(frozen=True, slots=True)
class Buffer:
    """A large buffer on each device: an ``argument``, ``result`` or ``temporary`` (``role``)."""

    role: str
    name: str
    shape: str
    bytes: int
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes on each device. ``peak`` is what must fit: the three together, what they share counted once."""

    arguments: int
    results: int
    temporaries: int
    peak: int
    buffers: tuple[Buffer, ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """A compiled function, where it is defined; an operation outside of jit, where it is called.

    ``case`` is the name of the part of the fixture that compiled it. ``devices`` is how many it runs on,
    ``mesh`` their axes with sizes.
    """

    name: str
    place: Place | None
    case: str
    devices: int
    mesh: tuple[tuple[str, int], ...]
    memory: Memory | None
    collectives: tuple[Collective, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a fixture, with its first and last line: its ``top level``, a ``case_…``, a ``cell 3``."""

    name: str
    first: int
    last: int
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Compilation:
    """The programs that a fixture compiled. ``failures`` are parts that did not run to their end.

    ``slice`` is the TPU slice that it was compiled for; None stands for fake CPU devices.
    """

    path: str
    programs: tuple[Program, ...]
    parts: tuple[Part, ...] = ()
    failures: tuple[str, ...] = ()
    jax: str | None = None
    slice: Slice | None = None

    @property
    def collectives(self) -> tuple[Collective, ...]:
        """Return the collectives of all programs."""
        return tuple(one for program in self.programs for one in program.collectives)

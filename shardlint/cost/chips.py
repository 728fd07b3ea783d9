"""TPU chips and slices: their names, their memory and the speed of their links, as published.

Memory and links are those of Google's pages on each generation (Cloud TPU, system architecture): of the
bidirectional bandwidth of a chip, which the links share, one link has a quarter (v5e, v6e: a torus of two
dimensions) or a sixth (v5p: of three).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from shardlint.support.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Chip:
    """A chip: its memory in bytes, and the bytes a second of one link, both directions together.

    ``cores`` are those by which slices are counted; ``shapes`` are slices by their number of chips.
    """

    name: str
    hbm: int
    link: float
    cores: int
    shapes: Mapping[int, tuple[int, ...]]


_FLAT = {1: (1, 1), 4: (2, 2), 8: (2, 4), 16: (4, 4), 32: (4, 8), 64: (8, 8), 128: (8, 16), 256: (16, 16)}
_CUBES = {
    4: (2, 2, 1), 8: (2, 2, 2), 16: (2, 2, 4), 32: (2, 4, 4), 64: (4, 4, 4), 128: (4, 4, 8), 256: (4, 8, 8),
    512: (8, 8, 8), 1024: (8, 8, 16), 2048: (8, 16, 16), 4096: (16, 16, 16), 6144: (16, 16, 24),
}  # fmt: skip

CHIPS = (
    Chip("v5e", 16 << 30, 400e9 / 4, 1, _FLAT),
    Chip("v6e", 32 << 30, 800e9 / 4, 1, _FLAT),
    Chip("v5p", 95 << 30, 1200e9 / 6, 2, _CUBES),
)

_SLICE = re.compile(r"(v\d+[a-z]*)[-:](\d+(?:x\d+)*)")


@dataclass(frozen=True, slots=True)
class Slice:
    """A slice of chips of one kind, in a torus of this shape."""

    name: str
    chip: Chip
    shape: tuple[int, ...]

    @property
    def devices(self) -> int:
        """Return the number of devices, which is that of its chips."""
        return math.prod(self.shape)

    @property
    def topology(self) -> str:
        """Return its name for JAX: ``v5e:4x4``."""
        return f"{self.chip.name}:{'x'.join(map(str, self.shape))}"


def parse_slice(name: str) -> Slice:
    """Return the slice that ``v5e-256``, ``v5p-128`` (counted in cores) or ``v5e:4x4`` names.

    Raises ValueError, with what there is.
    """
    found = _SLICE.fullmatch(name)
    chip = next((one for one in CHIPS if found and one.name == found[1]), None)
    if found is None or chip is None:
        raise ValueError(f"there is no topology {name}; there are {', '.join(_examples())}")
    if ":" in name:
        shape = tuple(map(int, found[2].split("x")))
        if len(shape) == len(next(iter(chip.shapes.values()))) and 0 < math.prod(shape) <= 1 << 14:
            return Slice(name, chip, shape)
        raise ValueError(f"a {chip.name} has no topology {found[2]}: one is {_by_x(chip.shapes[16])}")
    count = int(found[2]) if found[2].isdigit() else 0
    if count % chip.cores or count // chip.cores not in chip.shapes:
        sizes = ", ".join(str(n * chip.cores) for n in chip.shapes)
        raise ValueError(f"there is no {name}; {chip.name} has slices of {sizes}")
    return Slice(name, chip, chip.shapes[count // chip.cores])


def _examples() -> list[str]:
    return [f"{chip.name}-{n * chip.cores}" for chip in CHIPS for n in (16, 64)]


def _by_x(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))


def seconds(sent: float, chip: Chip) -> float:
    """Return an estimate of the time in which each device of a ring sends this many bytes.

    Both neighbours are used: bytes / (both directions of one link). Latency, other traffic on the links, axes
    that a slice cuts, and what overlaps with computation are not in it.
    """
    return sent / chip.link


def time_text(duration: float) -> str:
    """Return a duration: ``3.1 ms``, ``12 µs``."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if duration >= size:
            return (
                f"{duration / size:.2g} {unit}" if duration < 10 * size else f"{duration / size:.0f} {unit}"
            )
    micro = duration * 1e6
    return f"{micro:.0f} µs" if micro >= 10 else f"{micro:.2g} µs"

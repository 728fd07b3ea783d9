"""The frozen values of the laws: meshes, specs, and unknowns."""

from __future__ import annotations

from enum import StrEnum
from typing import Union

from shardlint.laws.core.dims import Dim, product
from shardlint.support.lazy_dataclass import dataclass


class AxisType(StrEnum):
    """The type of a mesh axis, which decides how sharding along it is determined
    (`jax.sharding.AxisType`).
    """

    AUTO = "Auto"
    EXPLICIT = "Explicit"
    MANUAL = "Manual"


@dataclass(frozen=True, slots=True)
class Unknown:
    """Something that could not be inferred, and the reason. Nothing is ever claimed about it."""

    reason: str


@dataclass(frozen=True, slots=True)
class Failed(Unknown):
    """The result of a call that JAX rejects: nothing may be assumed about it."""


@dataclass(frozen=True, slots=True)
class Mesh:
    """Named axes over devices. ``sizes`` may hold symbolic dimensions; names may repeat, as in JAX.

    ``abstract`` is `jax.sharding.AbstractMesh`, which has no devices.
    """

    names: tuple[str, ...]
    sizes: tuple[Dim, ...]
    types: tuple[AxisType, ...]
    abstract: bool = False

    def size_of(self, name: str) -> Dim:
        """Return the number of devices along an axis. Raises KeyError for an axis it lacks."""
        try:
            return self.sizes[self.names.index(name)]
        except ValueError:
            raise KeyError(name) from None

    def type_of(self, name: str) -> AxisType:
        """Return an axis's type. Raises KeyError for an axis it lacks."""
        try:
            return self.types[self.names.index(name)]
        except ValueError:
            raise KeyError(name) from None

    @property
    def device_count(self) -> Dim:
        """Return the number of devices: the product of the axis sizes."""
        return product(self.sizes)

    def with_types(self, types: dict[str, AxisType]) -> Mesh:
        """Return the mesh with other types for the named axes, as inside `jax.shard_map`."""
        kinds = tuple(types.get(n, t) for n, t in zip(self.names, self.types, strict=True))
        return Mesh(self.names, self.sizes, kinds, self.abstract)

    def __str__(self) -> str:
        axes = ", ".join(f"{n}={s}" for n, s in zip(self.names, self.sizes, strict=True))
        return f"({axes})"


class Marker(StrEnum):
    """Entries of a spec that are neither a name nor a tuple of names."""

    UNCONSTRAINED = "UNCONSTRAINED"


#: A value or a call as data: itself, or a tuple that begins with its tag (see `laws.core.witness_data`).
Data = Union[bool, int, float, str, tuple]


@dataclass(frozen=True, slots=True)
class Junk:
    """A value that is invalid in a spec: ``text`` as Python writes it, ``type`` its class.

    ``hashable`` and ``falsy`` matter to JAX: ``P({"x"})`` raises, ``P(0)`` becomes ``P(None)``. ``data`` is
    the value itself, None where it is not completely known.
    """

    text: str
    type: str
    hashable: bool = True
    falsy: bool = False
    data: Data | None = None

    def __str__(self) -> str:
        return self.text


#: One element of an entry. JAX accepts anything in a tuple entry until the mesh is consulted.
Name = Union[str, None, Marker, Junk, Unknown, tuple]
#: One dimension's entry: an axis, several axes, None, a marker, junk, or unknown.
Entry = Union[str, None, Marker, Junk, Unknown, tuple[Name, ...]]


@dataclass(frozen=True, slots=True)
class Spec:
    """A `jax.sharding.PartitionSpec` as written: one entry for each dimension, lists already tuples."""

    entries: tuple[Entry, ...] = ()
    unreduced: frozenset[str] = frozenset()
    reduced: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.entries)

    def __str__(self) -> str:
        marked = (("unreduced", self.unreduced), ("reduced", self.reduced))
        sets = [f"{name}={{{', '.join(map(entry_text, sorted(axes)))}}}" for name, axes in marked if axes]
        return f"P({', '.join([*map(entry_text, self.entries), *sets])})"


def entry_text(entry: object) -> str:
    """Write an entry as a user would: ``"model"``, ``("data", "model")``, ``None``, ``?``."""
    if isinstance(entry, str) and not isinstance(entry, Marker):
        plain = entry.isprintable() and '"' not in entry and "\\" not in entry
        return f'"{entry}"' if plain else repr(entry)
    if isinstance(entry, Marker):
        return f"P.{entry.value}"
    if isinstance(entry, Junk):
        return entry.text
    if isinstance(entry, Unknown):
        return "?"
    if isinstance(entry, tuple):
        inner = ", ".join(entry_text(part) for part in entry)
        return f"({inner},)" if len(entry) == 1 else f"({inner})"
    return str(entry)


def entry_axes(entry: Entry) -> tuple[str, ...]:
    """Return the mesh axes an entry names, in order."""
    parts = entry if isinstance(entry, tuple) else (entry,)
    return tuple(p for p in parts if isinstance(p, str) and not isinstance(p, Marker) and p)


def nearest_sizes(size: int, ways: int) -> tuple[int, ...]:
    """Return the multiples of ``ways`` around ``size``, for "8 or 12 would"."""
    below = size // ways * ways
    return tuple(n for n in (below, below + ways) if n > 0)

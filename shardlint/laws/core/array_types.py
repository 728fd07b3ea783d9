"""The type of an array as `jax.typeof` returns it, as far as known: shape, dtype, sharding, varying axes."""

from __future__ import annotations

from shardlint.laws.core.dims import Shape
from shardlint.laws.core.values import Entry, Mesh, Spec, entry_axes
from shardlint.support.lazy_dataclass import dataclass

_SHORT = {"bool": "bool", "bfloat16": "bf16", "complex64": "c64", "complex128": "c128"}
_PREFIXES = {"float": "f", "int": "i", "uint": "u"}


@dataclass(frozen=True, slots=True)
class TypeSharding:
    """The sharding in an array's type (``jax.typeof(x).sharding``, `core.ShapedArray.sharding`).

    ``mesh`` is None where the type has none: the array was created without any mesh. ``spec`` holds one entry
    for each dimension and names Explicit axes only: sharding along Auto axes is up to the compiler.
    """

    mesh: Mesh | None
    spec: Spec


@dataclass(frozen=True, slots=True)
class ArrayType:
    """An array's type; unknown fields are None. ``varying`` are the Manual axes it varies over."""

    shape: Shape | None
    dtype: str | None = None
    sharding: TypeSharding | None = None
    varying: frozenset[str] | None = None

    def __str__(self) -> str:
        return f"{short_dtype(self.dtype)}[{', '.join(self._dimensions())}]{self._over_devices()}"

    def _dimensions(self) -> list[str]:
        if self.shape is None:
            return ["..."]
        entries: tuple[Entry, ...] = self.sharding.spec.entries if self.sharding is not None else ()
        width = len(self.shape)
        padded = (*entries, *(None,) * (width - len(entries)))[:width]
        return [f"{size}{_along(entry)}" for size, entry in zip(self.shape, padded, strict=True)]

    def _over_devices(self) -> str:
        """Return its variation over devices, as JAX writes it (`core._vma_ur_str`)."""
        spec = self.sharding.spec if self.sharding is not None else Spec()
        kinds = {"V": self.varying, "U": spec.unreduced, "R": spec.reduced}
        parts = [f"{kind}:{_listed(tuple(sorted(axes)))}" for kind, axes in kinds.items() if axes]
        return f"{{{', '.join(parts)}}}" if parts else ""


def _listed(axes: tuple[str, ...]) -> str:
    return axes[0] if len(axes) == 1 else f"({', '.join(axes)})"


def _along(entry: Entry) -> str:
    axes = entry_axes(entry)
    return f"@{_listed(axes)}" if axes else ""


def short_dtype(dtype: str | None) -> str:
    """Return JAX's abbreviation of a dtype (`dtypes.short_dtype_name`): ``f32``, ``bf16``, ``i8``."""
    if dtype is None:
        return "?"
    if dtype in _SHORT:
        return _SHORT[dtype]
    kind = dtype.rstrip("0123456789")
    return f"{_PREFIXES[kind]}{dtype[len(kind) :]}" if kind in _PREFIXES else dtype

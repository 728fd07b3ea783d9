"""Sizes as people write them in comments and annotations: ``4096``, ``4*d``, ``n//2 + 1``."""

from __future__ import annotations

import ast
from collections.abc import Callable

from shardlint.laws.core.dims import Dim, floordiv, mod
from shardlint.support.lazy_dataclass import dataclass

_OPERATORS: dict[type, Callable[[Dim, Dim], Dim]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: floordiv,
    ast.Mod: mod,
}


def written_size(text: str, size_of: Callable[[str], Dim]) -> Dim | None:
    """Return the size that an expression denotes; ``size_of`` returns the size of a name, which may be
    dotted.

    None for text that is not arithmetic of integers and names, or divides by zero.
    """
    try:
        return _value(ast.parse(text.strip(), mode="eval").body, size_of)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
        return None


def _value(node: ast.expr, size_of: Callable[[str], Dim]) -> Dim:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.Name | ast.Attribute):
        return size_of(_dotted(node))
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = _value(node.left, size_of), _value(node.right, size_of)
        return _OPERATORS[type(node.op)](left, right)
    raise ValueError(ast.unparse(node))


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    if isinstance(node, ast.Name):
        return node.id
    raise ValueError(ast.unparse(node))


def configured(sizes: tuple[tuple[str, int], ...], name: str) -> int | None:
    """Return the configured size of a name by its last parts: ``d_model`` matches ``cfg.d_model``.

    The longest matching key wins.
    """
    fitting = [(len(key), size) for key, size in sizes if name == key or name.endswith(f".{key}")]
    return max(fitting)[1] if fitting else None


@dataclass(frozen=True, slots=True)
class ArrayPattern:
    """The written shape of an array: its sizes, ``_`` for any one and ``...`` for any number of them.

    ``dtype`` is a numpy-style name, None where it is open; ``numpy`` is true for a numpy array.
    """

    sizes: tuple[str, ...]
    dtype: str | None = None
    numpy: bool = False

    def of_rank(self, rank: int) -> list[tuple[int, str]] | None:
        """Pair the dimensions of an array of this rank with their sizes; None where the rank does not fit."""
        if "..." not in self.sizes:
            return list(enumerate(self.sizes)) if rank == len(self.sizes) else None
        at = self.sizes.index("...")
        head, tail = self.sizes[:at], self.sizes[at + 1 :]
        if len(head) + len(tail) > rank:
            return None
        return [*enumerate(head), *enumerate(tail, rank - len(tail))]

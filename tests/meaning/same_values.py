"""Whether two ways to compute something end in the same numbers."""

from __future__ import annotations

from consequences import value


def is_close(program: str, meant: str) -> bool:
    """Run a program, and return whether its ``one`` is close to an expression of its variables."""
    same = "one.shape == other.shape and bool(np.allclose(one, other, atol=1e-4))"
    return bool(value(f"{program}other = {meant}\n", same))

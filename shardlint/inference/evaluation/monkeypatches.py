"""Names of libraries that a program sets: from then on nothing is known of what stands there.

Programs give JAX the names of other releases (``jax.shard_map = shard_map``); tests replace its functions.
"""

from __future__ import annotations

from shardlint.inference.evaluation.evaluator import Evaluator

_SETS = "sets "


def set_library_name(interpreter: Evaluator, name: str) -> None:
    """Record that the program sets a library's name: all later code may depend on it."""
    interpreter.switches.add(_SETS + name)


def library_set_by(switch: str) -> str | None:
    """Return the library whose name a switch tells to be set, or None."""
    return switch.removeprefix(_SETS).partition(".")[0] if switch.startswith(_SETS) else None


def is_set(interpreter: Evaluator, name: str) -> bool:
    """Return whether the program has set a library's name, or an unknown name of its module."""
    if not interpreter.switches:
        return False
    every = f"{_SETS}{name.rpartition('.')[0]}.*"
    return _SETS + name in interpreter.switches or every in interpreter.switches

"""Names of libraries that a program sets: from then on nothing is known of what stands there.

Programs give JAX the names of other releases (``jax.shard_map = shard_map``); tests replace its functions.
"""

from __future__ import annotations

from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.laws.core.values import Unknown

_SETS = "sets "
#: ``__name__`` in a module that is imported, by whatever name.
MODULE_NAME = Unknown("a module's name")


def set_library_name(interpreter: Evaluator, name: str) -> None:
    """Note that the program sets ``name``, in full: all that runs later may depend on it."""
    interpreter.switches.add(_SETS + name)


def is_set(interpreter: Evaluator, name: str) -> bool:
    """Whether the program has set a library's name, or one of its module that is not known."""
    if not interpreter.switches:
        return False
    every = f"{_SETS}{name.rpartition('.')[0]}.*"
    return _SETS + name in interpreter.switches or every in interpreter.switches

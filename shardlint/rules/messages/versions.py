"""Words for names of other JAX versions, which several rules share."""

from __future__ import annotations

import re

from shardlint.laws.core.exceptions import is_caught
from shardlint.model.uses import ApiReference

#: Options of JAX are attributes of this object.
OPTION = "jax.config.jax_"
#: What an import of a name, an import of a module and an attribute raise; a use does not tell them apart.
_RAISED = ("ImportError", "ModuleNotFoundError", "AttributeError")


def described(name: str) -> str:
    """Return a name as users know it: `` `with mesh:` ``, or `` `check_rep=` of `jax.shard_map` ``."""
    if name.startswith(OPTION):
        return f"the option `{name.removeprefix('jax.config.')}`"
    function, _, argument = name.partition("(")
    if argument.endswith("=)"):
        return f"`{argument.rstrip(')')}` of `{function}`"
    return "`with mesh:`" if name.endswith(".__enter__") else f"`{name}`"


def first_name(instead: str) -> str:
    """Return the name with which the description of a replacement begins."""
    found = re.match(r"[\w.]+", instead)
    return found[0] if found else ""


def is_argument(name: str) -> bool:
    """Return whether it names an argument of a function."""
    return name.endswith("=)")


def is_guarded(use: ApiReference) -> bool:
    """Return whether an enclosing ``try`` catches the exception of a missing name."""
    return any(is_caught(exception, use.environment.caught) for exception in _RAISED)

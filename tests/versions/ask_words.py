"""Print what the JAX that runs this says about each name and option of the table, as one JSON object.

Nothing is printed of names that are there without a warning.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import warnings
from pathlib import Path
from typing import Any

os.environ["JAX_PLATFORMS"] = "cpu"
sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parent)]

import jax  # noqa: E402
from ask_names import look_up  # noqa: E402

from shardlint.laws.versions.equivalents import EQUIVALENT  # noqa: E402
from shardlint.laws.versions.queries import subjects  # noqa: E402

OPTION, ARRAY = "jax.config.jax_", "jax.Array."


def said(name: str) -> str | None:
    """Return the class and the message of what using a name raises or warns, None where it does neither."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            use(name)
        except Exception as error:
            lines = str(error).strip().splitlines()
            return f"{type(error).__name__}: {lines[0] if lines else ''}"
    told = [one for one in caught if issubclass(one.category, DeprecationWarning)]
    return f"DeprecationWarning: {str(told[0].message).splitlines()[0]}" if told else None


def use(name: str) -> Any:
    """Use a name: read it, set the option, or ask an array for its member."""
    if name.startswith(OPTION):
        return jax.config.update(name.rpartition(".")[2], getattr(jax.config, name.rpartition(".")[2], None))
    if name.startswith(ARRAY):
        member = getattr(jax.numpy.ones(2), name.removeprefix(ARRAY).removesuffix("()"))
        return member() if name.endswith("()") else member
    holder, _, last = name.rpartition(".")
    held = look_up(holder)
    try:
        return getattr(held, last)
    except AttributeError as error:
        try:
            return importlib.import_module(name)
        except ImportError:
            # What the module says of it tells more than that there is no such module.
            raise error from None


def main() -> None:
    """Ask all names."""
    asked = (*subjects(), *EQUIVALENT.values())
    names = sorted({name for name in asked if not any(part in name for part in (":", "=", "__enter__"))})
    words = {name: told for name in names if (told := said(name)) is not None}
    print(json.dumps({"jax": jax.__version__, "words": words}))


if __name__ == "__main__":
    main()

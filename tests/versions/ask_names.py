"""Set the table of names, arguments and behaviours beside the JAX that runs this.

Prints one JSON object: how many rows were asked, and each disagreement in words.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import sys
import warnings
from pathlib import Path
from typing import Any

os.environ["JAX_PLATFORMS"] = "cpu"
sys.path.insert(0, str(Path(__file__).parents[2]))

import jax
from jax.sharding import PartitionSpec

from shardlint.laws.versions import Release, is_removed, state_of
from shardlint.laws.versions.api_changes import (
    EXPLICIT_ABSTRACT_MESH,
    EXPLICIT_BY_DEFAULT,
    FALSY_IS_NONE,
    GRADIENTS_ARE_SUMMED,
    SPEC_EQUALS_TUPLE,
    SPEC_IS_TUPLE,
    WARNS_OF_DEFAULT,
)
from shardlint.laws.versions.queries import subjects

RELEASE = Release.parse(jax.__version__)


def look_up(name: str) -> Any:
    """Reach for a qualified name, importing the modules on its way. Raises ImportError or AttributeError."""
    parts = name.split(".")
    found: Any = importlib.import_module(parts[0])
    for position, part in enumerate(parts[1:], 2):
        try:
            found = getattr(found, part)
        except AttributeError:
            if not inspect.ismodule(found):
                raise
            found = importlib.import_module(".".join(parts[:position]))
    return found


def warned(act: Any) -> tuple[Any, bool]:
    """What an act gives, and whether JAX says meanwhile that something is deprecated."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = act()
    return made, any(issubclass(warning.category, DeprecationWarning) for warning in caught)


def has(name: str) -> tuple[bool, bool]:
    """Whether a name is there, and whether its use warns."""
    try:
        found, warns = warned(lambda: look_up(name))
    except (ImportError, AttributeError):
        return False, False
    if name.endswith(".__enter__"):
        mesh = _mesh()
        warns = warned(mesh.__enter__)[1]
        mesh.__exit__(None, None, None)
    return found is not None, warns


def _mesh() -> Any:
    return jax.sharding.Mesh(jax.devices()[:1], ("x",))


def takes(subject: str) -> bool | None:
    """Whether a function takes an argument; None where the function is not there or does not tell."""
    function, _, argument = subject.removesuffix("=)").partition("(")
    if is_removed(function, RELEASE):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = look_up(function)
        parameters = inspect.signature(found).parameters
    except ValueError:
        # Written in C++, or behind a metaclass: its call tells.
        return _call_takes(found, argument)
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values()):
        return _call_takes(found, argument)
    return argument in parameters


def _call_takes(function: Any, argument: str) -> bool:
    try:
        function(**{argument: frozenset()})
    except TypeError as error:
        return argument not in str(error)
    except ValueError:
        pass
    return True


def _falsy() -> bool:
    try:
        jax.sharding.NamedSharding(_mesh(), PartitionSpec(""))
    except ValueError:
        return False
    return True


def _explicit() -> bool:
    mesh = jax.make_mesh((1,), ("x",))
    return "Explicit" in str(getattr(mesh, "axis_types", ""))


def _explicit_abstract() -> bool:
    try:
        mesh = jax.sharding.AbstractMesh((1,), ("x",))
    except Exception:
        return False
    return "Explicit" in str(getattr(mesh, "axis_types", ""))


def _summed() -> bool:
    """Whether the second of two sums is of what is summed already: over one device its type tells."""
    try:
        from jax import shard_map
    except ImportError:
        return False

    def body(x: Any) -> Any:
        return jax.grad(lambda w: (w * x).sum())(1.0)

    try:
        jax.eval_shape(
            shard_map(body, mesh=_mesh(), in_specs=PartitionSpec("x"), out_specs=PartitionSpec()),
            jax.ShapeDtypeStruct((1,), "float32"),
        )
    except (TypeError, ValueError):
        return False
    return True


BEHAVIOURS = {
    EXPLICIT_BY_DEFAULT: _explicit,
    EXPLICIT_ABSTRACT_MESH: _explicit_abstract,
    WARNS_OF_DEFAULT: lambda: warned(lambda: jax.make_mesh((1,), ("x",)))[1],
    SPEC_IS_TUPLE: lambda: isinstance(PartitionSpec("x"), tuple),
    SPEC_EQUALS_TUPLE: lambda: bool(PartitionSpec("x") == ("x",)),
    FALSY_IS_NONE: _falsy,
    GRADIENTS_ARE_SUMMED: _summed,
}


def main() -> None:
    """Ask every subject of the table."""
    asked, wrong = 0, []
    for subject in subjects():
        state = state_of(subject, RELEASE)
        assert state is not None
        said = (state.there, state.deprecated)
        if subject in BEHAVIOURS:
            real: tuple[bool, bool] | None = (BEHAVIOURS[subject](), False)
        elif subject.endswith("=)"):
            taken = takes(subject)
            real = None if taken is None else (taken, False)
        else:
            real = has(subject)
        asked += real is not None
        if real is not None and real != said:
            wrong.append(f"{subject}: the table says {said}, JAX {real}")
    print(json.dumps({"jax": jax.__version__, "asked": asked, "wrong": wrong}))


if __name__ == "__main__":
    main()

"""The public names and signatures of the modules that sharding has to do with, in the JAX that runs this."""

from __future__ import annotations

import enum
import importlib
import inspect
import pkgutil
import warnings
from typing import Any

MODULES = """
    jax jax.ad_checkpoint jax.core jax.debug jax.distributed jax.dtypes jax.errors jax.experimental
    jax.experimental.array_serialization.serialization jax.experimental.compute_on
    jax.experimental.custom_partitioning jax.experimental.layout jax.experimental.maps
    jax.experimental.mesh_utils jax.experimental.multihost_utils jax.experimental.pjit jax.experimental.shard
    jax.experimental.shard_alike jax.experimental.shard_map jax.extend.core jax.extend.sharding
    jax.interpreters.mlir jax.interpreters.pxla jax.interpreters.xla jax.lax jax.lax.linalg jax.memory jax.nn
    jax.numpy jax.numpy.linalg jax.random jax.sharding jax.stages jax.tree jax.tree_util jax.typing
    flax.core flax.core.meta flax.jax_utils flax.linen flax.linen.spmd flax.nnx flax.nnx.bridge
    flax.nnx.spmd flax.struct flax.training.common_utils flax.training.train_state
""".split()
#: Modules of which every name is wanted, also that of a module inside that nobody imported: `public_names`.
WHOLE = frozenset(
    "jax jax.lax jax.nn jax.numpy jax.random jax.sharding jax.tree jax.tree_util".split()
)  # fmt: skip
#: Classes whose members users meet.
CLASSES = """
    jax.Array jax.ShapeDtypeStruct jax.sharding.AbstractMesh jax.sharding.AxisType jax.sharding.Mesh
    jax.sharding.NamedSharding jax.sharding.PartitionSpec jax.sharding.Sharding jax.stages.Lowered
    jax.stages.Traced jax.stages.Compiled flax.linen.Partitioned flax.linen.LogicallyPartitioned
    flax.nnx.Param flax.nnx.Module
""".split()


def surface() -> dict[str, dict[str, str]]:
    """Return, by module or class, the signature of each public name: ``""`` for what has none.

    A name whose use warns begins with ``!``; one that raises is ``!`` and the class of the exception.
    """
    found = {name: _module(name) for name in MODULES}
    found |= {name: _members(name) for name in CLASSES}
    found["jax.config"] = dict.fromkeys(_options(), "")
    return {name: names for name, names in found.items() if names is not None}


def look_up(name: str) -> Any:
    """Return the object of a qualified name, importing the modules on its way."""
    parts = name.split(".")
    found: Any = importlib.import_module(parts[0])
    for position, part in enumerate(parts[1:], 2):
        try:
            found = getattr(found, part)
        except AttributeError:
            found = importlib.import_module(".".join(parts[:position]))
    return found


def _module(name: str) -> dict[str, str] | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            module = importlib.import_module(name)
        except (ImportError, AttributeError):
            return None
    # A deprecated name is not listed by dir().
    listed = {*dir(module), *getattr(module, "_deprecations", ())}
    found = {one: _state(module, one) for one in sorted(listed) if _public(module, one)}
    inside = pkgutil.iter_modules(getattr(module, "__path__", ())) if name in WHOLE else ()
    return {**{one.name: "" for one in inside if not one.name.startswith("_")}, **found}


def _members(name: str) -> dict[str, str] | None:
    try:
        cls = look_up(name)
    except (ImportError, AttributeError):
        return None
    return {one: _state(cls, one) for one in sorted(dir(cls)) if not one.startswith("_")}


def _public(module: Any, name: str) -> bool:
    if name.startswith("_") or name in ("annotations", "TYPE_CHECKING"):
        return False
    found = vars(module).get(name)
    if module.__name__ in WHOLE:
        return True
    if inspect.ismodule(found):
        # What is imported depends on what was imported before.
        return False
    return getattr(found, "__module__", None) not in ("typing", "collections.abc", "functools", "warnings")


def _state(holder: Any, name: str) -> str:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = getattr(holder, name)
        except Exception as error:
            return f"!{type(error).__name__}"
    warns = any(issubclass(one.category, DeprecationWarning) for one in caught)
    return "!" * warns + signature(found)


def signature(found: Any) -> str:
    """Write parameters as ``(a, b=, *args, c*=, **kwargs)``: ``=`` is a default, ``*`` by keyword only."""
    if not callable(found) or inspect.ismodule(found):
        return ""
    if isinstance(found, type) and issubclass(found, enum.Enum):
        # It is Python's.
        return "(?)"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parameters = inspect.signature(found).parameters.values()
    except (ValueError, TypeError):
        return "(?)"
    return f"({', '.join(map(_parameter, parameters))})"


_MARKS: dict[Any, tuple[str, str]] = {
    inspect.Parameter.POSITIONAL_ONLY: ("", "/"),
    inspect.Parameter.VAR_POSITIONAL: ("*", ""),
    inspect.Parameter.VAR_KEYWORD: ("**", ""),
    inspect.Parameter.KEYWORD_ONLY: ("", "*"),
}


def _parameter(parameter: inspect.Parameter) -> str:
    before, after = _MARKS.get(parameter.kind, ("", ""))
    default = "=" if parameter.default is not inspect.Parameter.empty else ""
    return f"{before}{parameter.name}{after}{default}"


def _options() -> list[str]:
    import jax

    holders = getattr(jax.config, "_value_holders", None) or getattr(jax.config, "values", {})
    return sorted(holders)

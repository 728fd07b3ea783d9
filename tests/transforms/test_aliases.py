"""Names of overlays beside the installed libraries: they exist, and take the arguments we know of."""

from __future__ import annotations

import importlib
import inspect
from types import ModuleType
from typing import Any

import pytest

from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays import aliases
from shardlint.inference.overlays.jax.lax import control_flow
from shardlint.inference.overlays.jax.shard_map import collectives
from shardlint.inference.overlays.jax.sharding import meshes, placement, shardings
from shardlint.inference.overlays.registry import load_mentioned, merged
from shardlint.laws.versions import is_removed
from shardlint.model.spans import Span

pytestmark = pytest.mark.slow

load_mentioned("einops equinox flax optax")
NAMES = sorted(name for name in merged("TABLE") if name.startswith(("jax.", "flax.", "numpy.")))
PAIRS = sorted({**aliases.NAMES, **merged("ALIASES")}.items())
#: Names of older releases, of which `laws.versions` tells nothing: programs still use them.
OLDER = frozenset({"jax.tree_map", "jax.ad_checkpoint.checkpoint"})
#: Modules of Flax between which names have moved: the overlays know each name in all of them.
SHUFFLED = (
    "flax.core.meta.",
    "flax.linen.meta.",
    "flax.linen.spmd.",
    "flax.linen.partitioning.",
    "flax.nnx.spmd.",
)


def find(name: str) -> Any:
    """The object of a dotted name. Raises ImportError or AttributeError."""
    parts = name.split(".")
    found: Any = importlib.import_module(parts[0])
    for i, part in enumerate(parts[1:], 2):
        try:
            found = getattr(found, part)
        except AttributeError:
            found = importlib.import_module(".".join(parts[:i]))
    return found


def exists(name: str) -> bool:
    try:
        find(name)
    except (ImportError, AttributeError):
        return False
    return True


@pytest.mark.parametrize(("alias", "name"), PAIRS)
def test_an_alias_is_the_same_object(alias: str, name: str) -> None:
    if is_removed(alias) or alias in OLDER:
        assert not exists(alias)
    else:
        assert find(alias) is find(name)


@pytest.mark.parametrize(("alias", "name"), sorted(aliases.MODULES.items()))
def test_a_module_holds_the_same_objects(alias: str, name: str) -> None:
    held = [other.removeprefix(f"{name}.") for other in NAMES if other.startswith(f"{name}.")]
    shared = [part for part in held if "." not in part]
    assert shared
    assert all(find(f"{alias}.{part}") is find(f"{name}.{part}") for part in shared)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_exists_unless_it_was_removed(name: str) -> None:
    if name.startswith(SHUFFLED):
        last = name.rpartition(".")[2]
        assert any(
            exists(f"{home}.{last}")
            for home in ("flax.linen", "flax.nnx", "flax.linen.partitioning", "flax.core.meta")
        )
    else:
        assert exists(name) != (is_removed(name) or name in OLDER)


class Signature(Exception):
    """The parameter names that an overlay binds."""


class Asking(Call):
    """A call whose binding tells the signature."""

    def bind(self, *names: str, **defaults: Any) -> list[Any]:
        raise Signature(*names, *defaults)


def bound_names(name: str) -> set[str] | None:
    """The parameters an overlay knows, None if it reads its arguments in another way."""
    try:
        merged("TABLE")[name](Asking(None, name, [], {}, Span("case.py", 1, 1, 1, 2)))  # type: ignore[arg-type]
    except Signature as signature:
        return set(signature.args)
    except (AttributeError, IndexError, TypeError):
        return None
    return None


def keywords(name: str) -> set[str]:
    """The parameters that the library's function takes by keyword, none where it does not tell them."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    try:
        found = inspect.signature(find(name)).parameters.values()
    except ValueError:
        return set()
    return {p.name for p in found if p.kind in kinds and not p.name.startswith("_")}


@pytest.mark.parametrize(
    "module",
    [collectives, control_flow, meshes, placement, shardings],
    ids=lambda m: m.__name__,
)
def test_every_keyword_is_known(module: ModuleType) -> None:
    asked = 0
    for name in module.TABLE:
        bound = None if is_removed(name) or not exists(name) else bound_names(name)
        if bound is not None:
            asked += 1
            # It is renamed before the others are read.
            renamed = {"axis_sizes"} if name == "jax.make_mesh" else set()
            assert keywords(name) - renamed <= bound, (name, keywords(name) - bound)
    assert asked

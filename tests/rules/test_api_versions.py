"""The table of API changes agrees with the JAX that is installed."""

from __future__ import annotations

import importlib
import warnings

import pytest

from shardlint.laws.versions import CHANGES, ApiChange, find_change


def look_up(name: str) -> object:
    """Import the longest module of a qualified name and reach for the rest."""
    parts, found = name.split("."), None
    for position in range(len(parts)):
        try:
            found = importlib.import_module(".".join(parts[: position + 1]))
        except ImportError:
            for part in parts[position:]:
                found = getattr(found, part)
            return found
    return found


@pytest.mark.parametrize("change", CHANGES.values(), ids=lambda change: change.name)
def test_jax_has_what_is_deprecated_and_lacks_what_is_removed(change: ApiChange) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if change.removed:
            with pytest.raises((AttributeError, ImportError)):
                look_up(change.name)
        else:
            look_up(change.name)
            assert any(w.category is DeprecationWarning and "deprecated" in str(w.message) for w in caught)


@pytest.mark.parametrize("change", CHANGES.values(), ids=lambda change: change.name)
def test_what_replaces_a_name_exists(change: ApiChange) -> None:
    first = change.instead.split(" ")[0].partition("(")[0]
    if first.startswith("jax."):
        assert look_up(first) is not None


def test_a_name_inside_a_removed_module_is_removed() -> None:
    assert find_change("jax.experimental.maps.thread_resources") is CHANGES["jax.experimental.maps"]
    assert find_change("jax.sharding.NamedSharding") is None

"""The table of API changes agrees with the JAX that is installed."""

from __future__ import annotations

import importlib
import inspect
import warnings
from typing import Any

import jax
import pytest

from shardlint.laws.versions import RELEASES, Release, is_removed, state_of
from shardlint.laws.versions.api_changes import ARGUMENTS, NAMES, Row

INSTALLED = Release.parse(jax.__version__)
SUBJECTS = sorted({row.subject for row in NAMES})


def forget_warnings(module: Any) -> None:
    """Let a deprecated name warn again: ``deprecation_getattr`` caches, so it warns once."""
    cached: Any = getattr(module, "__getattr__", None)
    if hasattr(cached, "cache_clear"):
        cached.cache_clear()


def look_up(name: str) -> Any:
    """Import the longest module of a qualified name and reach for the rest."""
    parts = name.split(".")
    found: Any = None
    for position in range(len(parts)):
        try:
            found = importlib.import_module(".".join(parts[: position + 1]))
        except ImportError:
            forget_warnings(found)
            for part in parts[position:]:
                found = getattr(found, part)
            return found
    return found


@pytest.mark.parametrize("name", SUBJECTS)
def test_jax_has_what_the_table_says(name: str) -> None:
    state = state_of(name, INSTALLED)
    assert state is not None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if not state.there:
            with pytest.raises((AttributeError, ImportError)):
                look_up(name)
            return
        found = look_up(name)
        if name.endswith(".__enter__"):
            with jax.make_mesh((1,), ("x",)):
                assert callable(found)
    assert any(w.category is DeprecationWarning for w in caught) == state.deprecated


@pytest.mark.parametrize("argument", sorted({row.subject for row in ARGUMENTS}))
def test_functions_take_the_arguments_that_the_table_says(argument: str) -> None:
    function, _, keyword = argument.removesuffix("=)").partition("(")
    state = state_of(argument, INSTALLED)
    assert state is not None
    there = not is_removed(function, INSTALLED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        taken = there and keyword in inspect.signature(look_up(function)).parameters
    assert taken == (there and state.there)


@pytest.mark.parametrize("row", (*NAMES, *ARGUMENTS), ids=lambda row: f"{row.subject} {row.since}")
def test_what_replaces_a_name_exists(row: Row) -> None:
    first = row.instead.split(" ")[0].partition("(")[0]
    if first.startswith("jax."):
        assert look_up(first) is not None


def test_a_name_inside_a_removed_module_is_removed() -> None:
    state = state_of("jax.experimental.maps.thread_resources")
    assert state is not None
    assert state.name == "jax.experimental.maps"
    assert state_of("jax.sharding.NamedSharding") is None


@pytest.mark.parametrize("row", [*NAMES, *ARGUMENTS], ids=lambda row: f"{row.subject} {row.since}")
def test_a_row_is_of_a_release_that_is_known_or_older(row: Row) -> None:
    assert row.since is None or row.since in RELEASES or row.since < RELEASES[0]

"""What tests need before JAX is imported, and so do the processes that they start."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from support.fast import Watch, is_fast
from support.jax_answers import jax_raises

os.environ["JAX_PLATFORMS"] = "cpu"
# The oracle's release is the one that is judged, unless a test names another.
os.environ["SHARDLINT_JAX"] = version("jax")
# What JAX accepts is decided before machine code is made; that this is slow is no matter, made fast it is.
os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] = "1"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
# Where the environment forbids to keep compiled modules, each process that tests start compiles all of ours.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.fixture(scope="session")
def ask_jax() -> Callable[[Mapping[str, str]], dict[str, Any]]:
    """Runs programs by their names, each by itself, and tells what JAX raised: None where it ran."""
    return jax_raises


def _only_fast(config: pytest.Config) -> bool:
    return config.option.markexpr == "fast"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With ``-m fast`` a slow module is not even imported: its head may import JAX."""
    is_test = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
    return True if _only_fast(config) and is_test and not is_fast(collection_path) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if is_fast(item.path):
            item.add_marker(pytest.mark.fast)


@pytest.fixture(scope="session")
def _watch() -> Watch:
    return Watch()


@pytest.fixture(autouse=True)
def _fast_tests_are_fast(request: pytest.FixtureRequest) -> Iterator[None]:
    """With ``-m fast``, a test fails that imports JAX or starts a process."""
    if not _only_fast(request.config):
        yield
        return
    watch: Watch = request.getfixturevalue("_watch")
    with watch.over(request.node.nodeid):
        yield

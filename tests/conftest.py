"""Which tests there are: program documents too, and with ``-m fast`` only what is fast.

Importing `support` comes first: it sets the environment that JAX needs.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from support import jax_answers
from support.document_tests import DocumentFile
from support.fast import Watch, is_fast
from support.jax_answers import jax_raises

from shardlint.support import gc_policy

# How long an example takes says nothing on a busy machine.
hypothesis.settings.register_profile("patient", deadline=None)
hypothesis.settings.load_profile("patient")


@pytest.fixture(scope="session")
def ask_jax() -> Callable[[Mapping[str, str]], dict[str, Any]]:
    """Runs programs by their names, each by itself, and tells what JAX raised: None where it ran."""
    return jax_raises


@pytest.fixture(scope="module")
def forked_workers() -> Iterator[None]:
    """Lets JAX workers be forked from a process that has imported JAX, in tests of what they answer."""
    from support.forked_workers import forked_workers

    with forked_workers():
        yield


def _only_fast(config: pytest.Config) -> bool:
    return config.option.markexpr == "fast"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With ``-m fast`` a slow module is not even imported: its head may import JAX."""
    is_test = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
    return True if _only_fast(config) and is_test and not is_fast(collection_path) else None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> DocumentFile | None:
    """The programs in a Markdown document are tests."""
    is_document = file_path.suffix == ".md" and file_path.name != "README.md"
    return DocumentFile.from_parent(parent, path=file_path) if is_document else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if is_fast(item.path):
            item.add_marker(pytest.mark.fast)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Store what is to be stored; tell the process that started this one how often JAX was asked."""
    jax_answers.flush()
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["asked"] = jax_answers.asked_of


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    jax_answers.asked_of += getattr(node, "workeroutput", {}).get("asked", 0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many questions JAX was asked whose answers could be stored."""
    if jax_answers.asked_of:
        count, setting = jax_answers.asked_of, f"{jax_answers.ANEW}=new"
        terminalreporter.write_line(f"JAX was asked {count} questions; {setting} stores what it says")


def pytest_collection_finish() -> None:
    """Collect garbage seldom: most of what there is by now stays, and was a seventh of the time."""
    gc_policy.freeze()
    gc.set_threshold(50_000, 20, 100)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Collect what a module's tests left, and no more: full collections of all that is left take seconds."""
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc_policy.freeze()


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

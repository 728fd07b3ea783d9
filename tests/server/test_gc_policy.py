"""When garbage is collected: not while somebody waits, unless there is very much of it."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from shardlint.support import gc_policy
from shardlint.support.cancellation import Stop, stoppable


@pytest.fixture
def collections(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The generations that were collected, with few objects counted as many."""
    found: list[int] = []

    def note(phase: str, about: dict[str, int]) -> None:
        if phase == "start":
            found.append(about["generation"])

    monkeypatch.setattr(gc_policy, "_MANY", 50_000)
    monkeypatch.setattr(gc_policy, "_TOO_MANY", 100_000)
    monkeypatch.setattr(gc_policy, "_SOME", 80_000)
    monkeypatch.setattr(gc_policy, "_collector", gc_policy._Collector())
    # What other tests made stays exempt, since collecting it takes seconds.
    monkeypatch.setattr(gc, "unfreeze", lambda: None)
    gc.collect()
    gc.callbacks.append(note)
    yield found
    gc.callbacks.remove(note)


def _allocate(stop: Stop, count: int, asked: bool = False) -> list[list[None]]:
    with stoppable(stop), gc_policy.collecting_seldom():
        if asked:
            stop.ask()
        return [[] for _ in range(count)]


def test_many_objects_are_collected_at_the_end(collections: list[int]) -> None:
    kept = _allocate(Stop(), 60_000)
    assert collections, len(kept)


@pytest.mark.parametrize("asked", [False, True])
def test_nothing_is_collected_while_somebody_waits(collections: list[int], asked: bool) -> None:
    kept = _allocate(Stop(awaited=not asked), 60_000, asked)
    assert not collections, len(kept)
    gc_policy._collector.rest()
    assert not collections, "there are too few to be worth it"


def test_very_many_objects_are_collected_all_the_same(collections: list[int]) -> None:
    kept = [_allocate(Stop(awaited=True), 60_000) for _ in range(2)]
    assert 2 in collections, len(kept)

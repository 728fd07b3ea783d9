"""Who has the thread that analyses: the most urgent work, and nothing that nobody wants any more."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable

import pytest
import pytest_asyncio

from shardlint.api import editing
from shardlint_server.analysis.worker import Superseded, Urgency, Worker


class Long:
    """Work that goes on until it is stopped, or `enough` is set."""

    def __init__(self) -> None:
        self.begun = 0
        self.enough = threading.Event()

    def begin(self) -> Callable[[], int]:
        def work() -> int:
            self.begun += 1
            deadline = time.monotonic() + 60
            while not self.enough.is_set() and time.monotonic() < deadline:
                editing.look()
                time.sleep(0.001)
            return self.begun

        return work


@pytest_asyncio.fixture
async def worker() -> AsyncIterator[Worker]:
    worker = Worker()
    yield worker
    worker.close()


async def running(long: Long) -> None:
    async with asyncio.timeout(60):
        while not long.begun:
            await asyncio.sleep(0.001)


async def test_what_is_less_urgent_makes_way_and_is_begun_anew(worker: Worker) -> None:
    long = Long()
    slow = worker.submit(long.begin, Urgency.WORKSPACE)
    await running(long)
    order = []
    for urgency in (Urgency.OPEN, Urgency.TYPED):
        one = worker.submit(lambda urgency=urgency: lambda: order.append(urgency), urgency)  # type: ignore[misc]
    await one
    assert not slow.done()
    long.enough.set()
    assert await slow == 2
    assert order == [Urgency.TYPED, Urgency.OPEN]


async def test_what_is_as_urgent_waits_for_its_turn(worker: Worker) -> None:
    long = Long()
    first = worker.submit(long.begin, Urgency.OPEN)
    await running(long)
    second = worker.submit(lambda: lambda: "second", Urgency.OPEN)
    await asyncio.sleep(0.05)
    assert not second.done()
    long.enough.set()
    assert (await first, await second) == (1, "second")


async def test_what_a_user_points_at_goes_before_an_analysis_that_runs(worker: Worker) -> None:
    long = Long()
    slow = worker.submit(long.begin, Urgency.OPEN)
    await running(long)
    other = worker.submit(lambda: lambda: "other", Urgency.OPEN)
    asked = worker.submit(lambda: lambda: "asked", Urgency.OPEN)
    worker.hurry(asked)
    assert await asked == "asked"
    assert not slow.done() and not other.done()
    long.enough.set()
    assert (await slow, await other) == (2, "other")


async def test_what_nobody_wants_any_more_is_stopped(worker: Worker) -> None:
    long, stale = Long(), False
    first = worker.submit(long.begin, Urgency.OPEN, lambda: stale)
    await running(long)
    stale = True
    worker.look()
    with pytest.raises(Superseded):
        await first
    assert await worker.submit(lambda: lambda: "next", Urgency.OPEN) == "next"


async def test_who_goes_away_takes_the_work_along(worker: Worker) -> None:
    long = Long()
    first = worker.submit(long.begin, Urgency.OPEN)
    await running(long)
    first.cancel()
    worker.look()
    assert await worker.submit(lambda: lambda: "next", Urgency.OPEN) == "next"
    assert long.begun == 1


async def test_an_error_is_that_of_its_work_alone(worker: Worker) -> None:
    def fail() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        await worker.submit(lambda: fail, Urgency.OPEN)
    assert await worker.submit(lambda: lambda: "next", Urgency.OPEN) == "next"


async def test_garbage_is_collected_when_nobody_waits(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    rested = threading.Event()
    monkeypatch.setattr(editing, "rest", rested.set)
    monkeypatch.setattr("shardlint_server.analysis.worker._WHILE", 0.05)
    long = Long()
    slow = worker.submit(long.begin, Urgency.OPEN)
    await running(long)
    await asyncio.sleep(0.2)
    assert not rested.is_set()
    long.enough.set()
    await slow
    assert await asyncio.to_thread(rested.wait, 60)

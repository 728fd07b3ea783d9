"""One thread for analyses: the most urgent first, interrupting less urgent ones."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field
from enum import IntEnum
from typing import Any, Generic, TypeVar

from shardlint.api import editing
from shardlint.support.lazy_dataclass import dataclass

T = TypeVar("T")


class Urgency(IntEnum):
    """The urgency of work: for a user who points at something, for one who types, for one who views an open
    file, for a request about the whole project, or for no one.
    """

    ASKED = 0
    TYPED = 1
    OPEN = 2
    PROJECT = 3
    WORKSPACE = 4


class Superseded(Exception):
    """The work is no longer needed."""


#: Seconds after the last work until the worker counts as idle.
_WHILE = 2.0
Begin = Callable[[], Callable[[], T]]
"""Called on the event loop when the work's turn has come; the returned function runs in the thread."""


@dataclass(eq=False, slots=True)
class Job(Generic[T]):
    """Waiting or running work; ``stale`` returns whether it is no longer needed."""

    urgency: Urgency
    number: int
    begin: Begin[T]
    stale: Callable[[], bool]
    future: asyncio.Future[T]
    stop: editing.Stop = field(default_factory=editing.Stop)

    def __lt__(self, other: Job[Any]) -> bool:
        return (self.urgency, self.number) < (other.urgency, other.number)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The outcome of work: a result, an error, or an interruption."""

    result: Any = None
    error: BaseException | None = None
    stopped: bool = False


class Worker:
    """Runs work in a thread, one piece at a time."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="analysis")
        self._waiting: list[Job[Any]] = []
        self._running: Job[Any] | None = None
        self._numbers = itertools.count()
        self._closed = False
        self._resting: asyncio.TimerHandle | None = None

    def submit(
        self, begin: Begin[T], urgency: Urgency, stale: Callable[[], bool] = lambda: False
    ) -> asyncio.Future[T]:
        """Run work when its turn comes; the future raises Superseded if that never happens."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        job = Job(urgency, next(self._numbers), begin, stale, future)
        heapq.heappush(self._waiting, job)
        if self._running is not None and urgency < self._running.urgency:
            self._running.stop.ask()  # it starts again when its turn comes
        self._stay_awake()
        self._pump()
        return future

    def hurry(self, future: asyncio.Future[Any]) -> None:
        """Do waiting work next: its user points at something, and waits."""
        job = next((job for job in self._waiting if job.future is future), None)
        if job is None or job.urgency is Urgency.ASKED:
            return
        job.urgency = Urgency.ASKED
        heapq.heapify(self._waiting)
        if self._running is not None and self._running.urgency > Urgency.ASKED:
            self._running.stop.ask()

    def look(self) -> None:
        """Stop the running work if it is no longer needed."""
        if self._running is not None and _is_vain(self._running):
            self._running.stop.ask()

    def close(self) -> None:
        """Stop all work."""
        self._closed = True
        self._stay_awake()
        if self._running is not None:
            self._running.stop.ask()
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _pump(self) -> None:
        while self._running is None and self._waiting and not self._closed:
            job = heapq.heappop(self._waiting)
            if job.future.done():
                continue
            if job.stale():
                job.future.set_exception(Superseded())
                continue
            job.stop = editing.Stop(awaited=job.urgency < Urgency.PROJECT)
            self._running = job
            work = asyncio.get_running_loop().run_in_executor(self._executor, _run, job.begin(), job.stop)
            work.add_done_callback(lambda done, job=job: self._finished(job, done))  # type: ignore[misc]

    def _rest_later(self) -> None:
        """Schedule slow housekeeping for when the worker has been idle for a while."""
        self._stay_awake()
        if self._running is None and not self._closed:
            loop = asyncio.get_running_loop()
            self._resting = loop.call_later(_WHILE, self._executor.submit, editing.rest)

    def _stay_awake(self) -> None:
        if self._resting is not None:
            self._resting.cancel()
            self._resting = None

    def _finished(self, job: Job[Any], done: asyncio.Future[_Outcome]) -> None:
        self._running = None
        outcome = _Outcome(stopped=True) if done.cancelled() else done.result()
        if job.future.done():
            pass
        elif outcome.error is not None:
            job.future.set_exception(outcome.error)
        elif not outcome.stopped:
            job.future.set_result(outcome.result)
        elif self._closed or job.stale():
            job.future.set_exception(Superseded())
        else:
            heapq.heappush(self._waiting, job)
        self._pump()
        self._rest_later()


def _is_vain(job: Job[Any]) -> bool:
    return job.future.done() or job.stale()


def _run(work: Callable[[], Any], stop: editing.Stop) -> _Outcome:
    try:
        with editing.stoppable(stop):
            return _Outcome(work())
    except editing.Stopped:
        return _Outcome(stopped=True)
    except Exception as error:
        return _Outcome(error=error)
    except BaseException as panic:
        # A panic in libcst's native parser is no Exception, and would end the event loop.
        return _Outcome(error=RuntimeError(f"the analysis broke off: {panic!r}"))

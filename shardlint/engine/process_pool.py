"""Work on sources in several processes, any of which may die without ending the run."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time
import warnings
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Any

from shardlint.engine.work_item import Work, failed, work_on
from shardlint.source import Source
from shardlint.source.workspace import file_access
from shardlint.support import gc_policy
from shardlint.support.cancellation import NOW, Stop, stoppable
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.inference import InferenceSettings

#: Chunks for each process, so that none finishes long before the others.
_CHUNKS = 6
#: Seconds between two looks at whether the analysis is to end early.
_POLL = 0.2
#: Seconds for which the files in work are waited for after a stop.
_GRACE = 3.0


def chunked(numbers: Sequence[int], size: Mapping[int, int], jobs: int) -> list[list[int]]:
    """Split sources into chunks of similar size, the largest first.

    They keep their order: files in one folder share imports, which a process reads once.
    """
    most = sum(size[number] for number in numbers) / (jobs * _CHUNKS)
    chunks: list[list[int]] = []
    room = 0.0
    for number in numbers:
        if not chunks or room < size[number]:
            chunks.append([])
            room = most
        chunks[-1].append(number)
        room -= size[number]
    return sorted(chunks, key=lambda chunk: -sum(size[number] for number in chunk))


@dataclass(slots=True)
class _Worker:
    process: BaseProcess
    connection: Connection
    doing: list[int]


def in_processes(
    sources: Sequence[Source], settings: InferenceSettings, chunks: Sequence[Sequence[int]], jobs: int
) -> Iterator[tuple[int, Work]]:
    """Analyze chunks of sources, given by index, in several processes; yield results as they finish.

    The source that a process died on is retried in another one; if that dies too, it is the file's problem.
    After a gentle stop, what is in work is waited for, briefly.
    """
    waiting = deque(list(chunk) for chunk in chunks)
    workers: list[_Worker] = []
    killed: Counter[int] = Counter()
    until: float | None = None
    try:
        while waiting or workers:
            while waiting and len(workers) < jobs:
                workers.append(_started(sources, settings, workers))
                _send(workers[-1], waiting.popleft())
            if NOW.stop.asked:
                # Each worker ends with the file in work.
                waiting.clear()
                for worker in workers:
                    worker.process.terminate()
                until = until or time.monotonic() + _GRACE
                if time.monotonic() > until:
                    return
            for connection in wait([worker.connection for worker in workers], _POLL):
                worker = next(one for one in workers if one.connection is connection)
                try:
                    message = worker.connection.recv()
                except (EOFError, OSError):
                    _stop(worker)
                    workers.remove(worker)
                    if worker.doing and until is None:
                        guilty, *others = worker.doing
                        killed[guilty] += 1
                        waiting.extendleft([others] if others else [])
                        if killed[guilty] > 1:
                            yield guilty, failed(sources[guilty], _Died(worker.process.exitcode))
                        else:
                            waiting.appendleft([guilty])
                    continue
                if message is not None:
                    number, work = message
                    worker.doing.remove(number)
                    yield number, work
                elif waiting:
                    _send(worker, waiting.popleft())
                else:
                    _stop(worker)
                    workers.remove(worker)
    finally:
        for worker in workers:
            worker.process.kill()
            _stop(worker)


class _Died(Exception):
    """The death of a process: its exit code, or the signal that killed it."""

    def __str__(self) -> str:
        return f"its process died, exit code {self.args[0]}"


def _started(sources: Sequence[Source], settings: InferenceSettings, others: Sequence[_Worker]) -> _Worker:
    # A fork inherits loaded modules and evaluated programs; but threads do not survive it.
    forks = sys.platform == "linux" and threading.active_count() == 1
    context: Any = multiprocessing.get_context("fork" if forks else "spawn")
    ours, theirs = context.Pipe()
    texts = dict(file_access.open_texts())
    inherited = [ours, *(worker.connection for worker in others)] if forks else []
    if forks:
        gc_policy.freeze()
    process = context.Process(target=_work, args=(theirs, inherited, sources, settings, texts), daemon=True)
    with _importing_nothing_from_here():
        process.start()
    theirs.close()
    return _Worker(process, ours, [])


@contextlib.contextmanager
def _importing_nothing_from_here() -> Iterator[None]:
    """Keep started processes from importing a `multiprocessing.py` of the working directory.

    "spawn" runs `python -c`, which searches the current folder for modules first.
    """
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


def _send(worker: _Worker, chunk: list[int]) -> None:
    worker.doing = list(chunk)
    try:
        worker.connection.send(chunk)
    except OSError:
        return  # it died, which the next poll detects


def _stop(worker: _Worker) -> None:
    worker.connection.close()
    worker.process.join()


def _work(
    connection: Connection,
    inherited: Sequence[Connection],
    sources: Sequence[Source],
    settings: InferenceSettings,
    texts: Mapping[str, bytes],
) -> None:
    """Run a worker process: analyze the requested sources until the connection closes."""
    for other in inherited:
        other.close()
    stop = Stop(gentle=True)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: stop.ask())
    # As the command line does; a spawned process does not inherit the filter.
    warnings.simplefilter("ignore", SyntaxWarning)
    with (
        gc_policy.collecting_seldom(),
        contextlib.suppress(EOFError, OSError),
        stoppable(stop),
        file_access.opened(texts),
    ):
        while not stop.asked:
            for number in connection.recv():
                connection.send((number, work_on(sources[number], settings)))
                if stop.asked:
                    return
            connection.send(None)

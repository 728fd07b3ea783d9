"""Runs inference over sources: cached results are reused, and the rest is shared among the cores."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from shardlint.engine.module_renewal import PresentTexts, renewed, text_of
from shardlint.engine.work_item import Analyzed, Work, unreached, work_on
from shardlint.model.uses import FileProblem, Use
from shardlint.source import Source
from shardlint.source.workspace import file_access
from shardlint.support.cancellation import Stop, Stopped, look, stoppable
from shardlint.support.gc_policy import collecting_seldom

if TYPE_CHECKING:
    from shardlint.cache.inference_results import Results, Stored
    from shardlint.cache.store import Store
    from shardlint.config import Settings
    from shardlint.confirm.asking import Asking
    from shardlint.confirm.confirmer import Confirmer
    from shardlint.confirm.shape_answers import ShapeAnswers
    from shardlint.engine.open_programs import Programs
    from shardlint.inference import InferenceSettings

#: Called with progress: the phase, the number done, and the total.
Progress = Callable[[str, int, int], None]
#: Seconds of work after which the rest can be estimated, and the estimate that justifies more processes.
_TRIAL, _WORTH_IT = 1.0, 2.0
#: How often a source is analyzed again at most, with the answers to questions that came up the last time.
_MOST_ROUNDS = 12


class Analyzer:
    """Runs inference.

    Args:
        store: where results are kept, None to keep none.
        jobs: how many processes may work at a time; None for as many as there are cores.
        programs: keeps programs for the next time they are asked for, where one process works.
        stop: ends the analysis early, as if the rest of the files had not been reached.
        asking: has the answers of a JAX to questions that come up, where settings say so.
    """

    def __init__(
        self,
        store: Store | None = None,
        jobs: int | None = 1,
        programs: Programs | None = None,
        stop: Stop | None = None,
        asking: Asking | None = None,
    ) -> None:
        self.asking = asking
        self._store = store
        self._stop = stop
        #: The paths of files that were not analyzed to their end, since the analysis ended early.
        self.unreached: set[str] = set()
        self._programs = programs
        self._results: Results | None = None
        self.jobs = jobs or _cores()

    def confirmer(self, python: str | None, settings: Settings) -> Confirmer:
        """Return what confirms findings; of a JAX that was asked before, the worker is there already."""
        from shardlint.confirm.confirmer import Confirmer

        if self.asking is not None:
            return self.asking.confirmer
        return Confirmer(python, settings.confirm_timeout, settings.confirm_devices)

    def answers_for(self, settings: Settings) -> ShapeAnswers | None:
        """Return what a JAX answered so far; None if it is not to be asked, or is not one that is meant."""
        asked = self.asking is not None and settings.ask_jax
        return self.asking.answers_for(settings.target_jax) if asked and self.asking else None

    def notes_for(self, settings: Settings) -> list[str]:
        """Return why a JAX that is to be asked was not."""
        asked = self.asking is not None and settings.ask_jax
        return self.asking.notes_for(settings.target_jax) if asked and self.asking else []

    def begin(self) -> None:
        """Begin a check: files may have changed since the last one."""
        if self._store is not None:
            from shardlint.cache.inference_results import Results

            self._results = Results(self._store, file_access.current())

    def analyze(
        self, sources: Sequence[Source], settings: InferenceSettings, progress: Progress | None = None
    ) -> list[Analyzed]:
        """Analyze each source as a program of its own.

        A crash on one is reported as a problem of that file; so is an early end. With ``settings.answers``
        sources are analyzed until JAX has answered all their questions, as far as it does.
        """
        found = self._analyzed(sources, settings, progress)
        if settings.answers is None or self.asking is None:
            return found
        for _ in range(_MOST_ROUNDS):
            left = [number for number, one in enumerate(found) if self._is_open(one)]
            questions = {question for number in left for question in found[number].noticed.questions}
            stopped = self._stop is not None and self._stop.asked
            if stopped or not left or not self.asking.ask(questions):
                break
            settings = replace(settings, answers=self.asking.answers)
            again = self._analyzed([sources[number] for number in left], settings, progress)
            for number, one in zip(left, again, strict=True):
                found[number] = one
        for one in found:
            self.asking.met |= one.noticed.questions
        return found

    def _is_open(self, one: Analyzed) -> bool:
        """Return whether a result depends on a question that was not answered yet."""
        questions = one.noticed.questions
        return bool(questions) and self.asking is not None and self.asking.is_open(questions)

    def _analyzed(
        self, sources: Sequence[Source], settings: InferenceSettings, progress: Progress | None
    ) -> list[Analyzed]:
        """Analyze each source once."""
        results = None if settings.exhaustive else self._results
        found: list[Analyzed | None] = [None] * len(sources)
        keys: dict[int, bytes] = {}
        if results is not None:
            now = PresentTexts()
            for number, source in enumerate(sources):
                keys[number] = results.key(source, settings)
                stored = results.get(keys[number])
                known = None if stored is None else _cached(source, stored.result)
                if known is not None and stored is not None and stored.changed:
                    known = _renewed(known, stored, results, now)
                found[number] = known
            file_access.merge(results.accesses)
        left = [number for number, known in enumerate(found) if known is None]
        works = self._worked(sources, left, settings)
        with collecting_seldom(), self._until_stopped():
            for done, (number, work) in enumerate(works, len(sources) - len(left)):
                if progress is not None:
                    progress("checking", done, len(sources))
                found[number] = work.analyzed
                file_access.merge(work.read)
                whole = work.whole and not self._is_open(work.analyzed)
                if results is not None and whole and (text := work.encoded()) is not None:
                    results.put(keys[number], text, work.read)
        for one, source in zip(found, sources, strict=True):
            if one is None or (one.is_partial and self._stop is not None and self._stop.asked):
                self.unreached.add(source.path)
        return [one or unreached(source) for one, source in zip(found, sources, strict=True)]

    @contextmanager
    def _until_stopped(self) -> Iterator[None]:
        """Run the block until it is done or the early end is asked for."""
        if self._stop is None:
            yield
            return
        with suppress(Stopped), stoppable(self._stop):
            yield

    def _worked(
        self, sources: Sequence[Source], left: Sequence[int], settings: InferenceSettings
    ) -> Iterator[tuple[int, Work]]:
        """Analyze the sources with these indices: on all cores, once the work proves large enough."""
        start, done = time.monotonic(), 0
        size = {number: sum(len(cell.text) for cell in sources[number].cells) + 1 for number in left}
        whole = sum(size.values())
        for position, number in enumerate(left):
            look()
            seconds = time.monotonic() - start
            if self.jobs > 1 and done and seconds > _TRIAL and seconds / done * (whole - done) > _WORTH_IT:
                from shardlint.engine.process_pool import chunked, in_processes

                rest = chunked(left[position:], size, self.jobs)
                yield from in_processes(sources, settings, rest, self.jobs)
                return
            work = work_on if self._programs is None else self._programs.work_on
            yield number, work(sources[number], settings)
            done += size[number]


def _cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _renewed(known: Analyzed, stored: Stored, results: Results, now: PresentTexts) -> Analyzed | None:
    """Return a stored result for modules that have changed, None if its file has to be analyzed again."""
    path = known.source.path

    def before(module: str) -> str | None:
        data = results.text(stored.digests[module])
        return None if data is None else text_of(module, data)

    if path in stored.changed:
        return None
    read = {path, *stored.digests}
    try:
        uses = renewed(known.uses, stored.changed, read, stored.functions, stored.names, before, now)
    except (TypeError, ValueError):
        # What is stored may have any form.
        return None
    return None if uses is None else replace(known, uses=uses)


def _cached(source: Source, stored: Any) -> Analyzed | None:
    """Return the cached result of a source, None for malformed data, since the store is untrusted."""
    from shardlint.inference import Noticed
    from shardlint.laws.versions import Release

    match stored:
        case ((*uses,), (*turns,), (bool(asks_mesh), bool(asks_defaults))):
            if all(isinstance(use, Use | FileProblem) for use in uses) and all(
                isinstance(turn, Release) for turn in turns
            ):
                return Analyzed(source, uses, Noticed(set(turns), asks_mesh, asks_defaults))
    return None

"""Running inference over sources: what is known already is not worked out again, and cores share the rest."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from shardlint.files import Source, seen
from shardlint.uses import FileProblem, Use
from shardlint.working import Analyzed, Work, work_on

if TYPE_CHECKING:
    from shardlint.cache.results import Results
    from shardlint.inference import InferenceSettings

#: Told of progress: what is done, how many of it are done, and how many there are.
Progress = Callable[[str, int, int], None]
#: Seconds of work after which it is known how long the rest takes, and how much is worth other processes.
_TRIAL, _WORTH_IT = 1.0, 2.0


class Analyzer:
    """Runs inference.

    Args:
        results: where results are kept, None to keep none.
        jobs: how many processes may work at a time.
    """

    def __init__(self, results: Results | None = None, jobs: int = 1) -> None:
        self.results = results
        self.jobs = jobs

    def analyze(
        self, sources: Sequence[Source], settings: InferenceSettings, progress: Progress | None = None
    ) -> list[Analyzed]:
        """Analyze each source as a program of its own. What crashes on one is a problem of that one alone."""
        results = None if settings.exhaustive else self.results
        found: list[Analyzed | None] = [None] * len(sources)
        keys: dict[int, bytes] = {}
        if results is not None:
            for number, source in enumerate(sources):
                keys[number] = results.key(source, settings)
                found[number] = _kept(source, results.get(keys[number]))
            seen.take_in(results.met)
        left = [number for number, known in enumerate(found) if known is None]
        for done, (number, work) in enumerate(
            self._worked(sources, left, settings), len(sources) - len(left)
        ):
            if progress is not None:
                progress("checking", done, len(sources))
            found[number] = work.analyzed
            seen.take_in(work.read)
            if results is not None and work.whole and (text := work.encoded()) is not None:
                results.keep(keys[number], text, work.read)
        return [one for one in found if one is not None]

    def _worked(
        self, sources: Sequence[Source], left: Sequence[int], settings: InferenceSettings
    ) -> Iterator[tuple[int, Work]]:
        """Do the work on the sources with these numbers: on all cores, once it shows that there is enough."""
        start, done = time.monotonic(), 0
        size = {number: sum(len(cell.text) for cell in sources[number].cells) + 1 for number in left}
        whole = sum(size.values())
        for position, number in enumerate(left):
            taken = time.monotonic() - start
            if self.jobs > 1 and taken > _TRIAL and taken / done * (whole - done) > _WORTH_IT:
                from shardlint.processes import chunked, in_processes

                rest = chunked(left[position:], size, self.jobs)
                yield from in_processes(sources, settings, rest, self.jobs)
                return
            yield number, work_on(sources[number], settings)
            done += size[number]


def _kept(source: Source, kept: Any) -> Analyzed | None:
    """What is kept of a source, None for what is no such thing: anybody may have written it."""
    from shardlint.inference import Noticed
    from shardlint.laws.versions import Release

    match kept:
        case ((*uses,), (*turns,), bool(asks_mesh)):
            if all(isinstance(use, Use | FileProblem) for use in uses) and all(
                isinstance(turn, Release) for turn in turns
            ):
                return Analyzed(source, uses, Noticed(set(turns), asks_mesh))
    return None

"""Early cutoff: results that stay valid although a function that they depend on has been edited.

A call in which the edited function ran is run again, unless it ran only inside calls that stay valid. If
result and trace are equal, the summary stays valid, and no caller has to run. So an edit costs the calls up
to the first that is unaffected, instead of all that lead to it.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from shardlint.inference.evaluation.budget import SURELY_ENOUGH, Exhausted, Work, works_in
from shardlint.inference.evaluation.context import Scope
from shardlint.inference.incremental.entry_result import EntryRun, recorded
from shardlint.inference.machine.trace import Trace
from shardlint.inference.summaries.call_cache import CallCache
from shardlint.inference.summaries.equivalence import Equivalence
from shardlint.inference.summaries.receiver_summary import ConstructorRead, have_equal_effects
from shardlint.inference.summaries.reentry_point import ReentryPoint
from shardlint.inference.summaries.summary import CallSummary, ExtraRead, summaries_in
from shardlint.inference.summaries.summary_diff import Comparison
from shardlint.inference.syntax.units import BrokenText

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine


class Cutoff:
    """Decides on demand which results stay valid after functions were edited.

    ``codes`` identify the code for which the edit matters (see `functions.codes`), and ``touched`` are the
    numbers of objects that entry points changed. ``sound`` is whether every trial run could be undone.
    """

    def __init__(
        self,
        interpreter: Machine,
        cache: CallCache,
        codes: frozenset[Hashable] = frozenset(),
        touched: frozenset[int] = frozenset(),
    ) -> None:
        self._interpreter, self._cache = interpreter, cache
        self.codes, self._touched = codes, touched
        self._comparison = Comparison(cache.keys)
        #: By the identity of a summary: itself, and whether it is valid.
        self._found: dict[int, tuple[CallSummary, bool]] = {}
        #: Additional reads of calls that stay valid, by identity.
        self._besides: dict[int, dict[tuple[Scope, str], ExtraRead]] = {}
        #: The works of calls that stay valid with other steps.
        self._changed: set[Work] = set()
        #: Classes whose constructors set other attributes now.
        self._others: set[ConstructorRead] = set()
        self.sound = True

    def concerns(self, run: EntryRun) -> bool:
        """Return whether the edit can change an entry point's result."""
        return not run.trace.ran.isdisjoint(self.codes)

    def is_valid(self, run: EntryRun) -> bool:
        """Return whether an entry point's result stays valid."""
        if not self.concerns(run):
            return True
        if not self._interpreter.settings.editing or any(change.is_for_all for change in run.changes):
            # Its calls were not recorded, or may have seen a class that it had changed.
            return False
        return self._is_valid(run.trace) and self._is_afforded(run)

    def _is_valid(self, trace: Trace) -> bool:
        """Return whether all code and calls in a trace are valid.

        A call that follows an invalid one may have other arguments.
        """
        return (
            trace.ran_uncached.isdisjoint(self.codes)
            and all(map(self._is_constructed_alike, trace.ran_uncached))
            and all(map(self._is_alike, summaries_in(trace)))
        )

    def _is_afforded(self, run: EntryRun) -> bool:
        """Return whether an entry point stays within its budget with the changed steps of its calls."""
        works = works_in([run.work]) if self._changed else set()
        if works.isdisjoint(self._changed):
            return True
        return not run.short and sum(work.own for work in works) <= SURELY_ENOUGH

    def _is_constructed_alike(self, trace: Hashable) -> bool:
        """Return whether a dependency is not a class's constructor, or the constructor's last run was
        equal."""
        i = self._interpreter
        if type(trace) is not ConstructorRead or trace.born not in i.outdated:
            return True
        cls, before = i.outdated[trace.born]
        now = i.constructed.get(cls)
        if now is None or trace in self._others:
            return False
        if not have_equal_effects(before, now):
            self._others.add(trace)
            return False
        i.constructed[cls] = i.outdated.pop(trace.born)[1]
        return True

    def _is_alike(self, one: CallSummary) -> bool:
        """Return whether a call's summary stays valid."""
        if one.trace.ran.isdisjoint(self.codes):
            return True
        situation = one.situation
        assert situation is not None, "it is recorded for programs that are edited"
        if id(one) not in self._found:
            valid = self._is_valid(one.trace) or self._again(one, situation)
            self._found[id(one)] = one, valid
            if valid:
                self._pass_on(one)
                self._cache.add(situation.key, one)
        return self._found[id(one)][1]

    def _again(self, one: CallSummary, situation: ReentryPoint) -> bool:
        """Run a call again from its re-entry point, and return whether its result is equal."""
        i = self._interpreter
        made: CallSummary | None = None

        def run() -> None:
            nonlocal made
            made = self._cache.run_again(i, situation, one)

        replaced, modules = dict(i.replaced), len(i.project.modules)
        try:
            with situation.restored(i):
                trial = recorded(i, None, run, 0)
                for change in reversed(trial.changes):
                    change.undo()
        except (BrokenText, RecursionError, Exhausted):
            return False
        finally:
            i.replaced = replaced
        self.sound = self.sound and trial.alone and len(i.project.modules) == modules
        if made is None:
            return False
        extra_reads = self._comparison.extra_reads(one, made)
        if (
            extra_reads is not None
            and all(map(self._is_steady, extra_reads))
            and not trial.replaced
            and self._are_alike(one, made)
        ):
            self._besides[id(one)] = {more[:2]: more for more in extra_reads}
            if one.take(made):
                self._changed.add(one.work)
            return True
        self._cache.add(situation.key, made)
        return False

    def _pass_on(self, one: CallSummary) -> None:
        """Add the additional reads of the calls inside a valid call to its own."""
        more = {
            key: read
            for call in summaries_in(one.trace)
            for key, read in self._besides.get(id(call), {}).items()
        }
        if more:
            self._comparison.add_reads(one, more.values())
            self._besides[id(one)] = more | self._besides.get(id(one), {})

    def _is_steady(self, read: ExtraRead) -> bool:
        """Return whether a module variable is the same in all entry points, hence also where the call ran."""
        module = read.scope.root
        return module.born not in self._touched and read.name not in module.rebound

    def _are_alike(self, one: CallSummary, other: CallSummary) -> bool:
        """Return whether two runs of one call have equal results and codes."""
        equivalence = Equivalence((one.start, one.symbols), (other.start, other.symbols))
        return self._comparison.alike(one, other) and equivalence.have_equal_traces(one.trace, other.trace)

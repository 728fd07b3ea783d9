"""Which results stand after an edit, although a function that they depend on has another text now.

A run that the edited function ran in, other than in runs that stand themselves, is made once more. If it
gives and meets what it did, it stands, and nothing around it has to run. So an edit costs the runs up to
where it makes no difference any more, and not all that leads to them.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import TYPE_CHECKING

from shardlint.inference.again import EntryRun, recorded
from shardlint.inference.alike import Alike
from shardlint.inference.budget import MAX_STEPS, stretched
from shardlint.inference.memory import Kept
from shardlint.inference.met import Met
from shardlint.inference.selves import OfClass
from shardlint.inference.situation import Situation
from shardlint.inference.syntax import BrokenText

if TYPE_CHECKING:
    from shardlint.inference.interpreter import Interpreter


class Cutoff:
    """What stands now that functions have other texts: found out where somebody asks.

    ``traces`` tell of what ran that the difference matters (see `functions.traces`). ``sound`` is whether all
    that was run to find out could be undone.
    """

    def __init__(self, interpreter: Interpreter, traces: frozenset[Hashable] = frozenset()) -> None:
        self._interpreter, self.traces = interpreter, traces
        #: By the identity of a run: itself, and how many more steps it takes now; None if it does not stand.
        self._found: dict[int, tuple[Kept, int | None]] = {}
        #: Classes whose constructors set something else.
        self._others: set[OfClass] = set()
        self.sound = True

    def concerns(self, run: EntryRun) -> bool:
        """Whether an entry could give something else now."""
        return not run.met.ran.isdisjoint(self.traces)

    def stands(self, run: EntryRun) -> bool:
        """Whether an entry would give what it gave."""
        if not self.concerns(run):
            return True
        # Else nobody has noted which runs it met.
        more = self._inside(run.met) if self._interpreter.settings.editing else None
        if more is None or not _affords(run, more, MAX_STEPS):
            return False
        run.need += stretched(more)
        return True

    def _inside(self, met: Met) -> int | None:
        """How many more steps what was met takes; None if any of it does not stand.

        What comes after a run that does not stand may have other arguments.
        """
        if not met.own.isdisjoint(self.traces) or not all(map(self._is_constructed_alike, met.own)):
            return None
        more = 0
        for one in met.kept:
            found = self._of(one)
            if found is None:
                return None
            more += found
        return more

    def _is_constructed_alike(self, trace: Hashable) -> bool:
        """Whether what a constructor sets is the same, if it was that, and somebody has asked since."""
        i = self._interpreter
        if type(trace) is not OfClass or trace.born not in i.outdated:
            return True
        cls, before = i.outdated[trace.born]
        now = i.constructed.get(cls)
        if now is None or trace in self._others:
            return False
        if not before.is_alike(now):
            self._others.add(trace)
            return False
        i.constructed[cls] = i.outdated.pop(trace.born)[1]
        return True

    def _of(self, one: Kept) -> int | None:
        """How many more steps a run takes; None if it does not stand."""
        if one.met.ran.isdisjoint(self.traces):
            return 0
        situation = one.situation
        assert situation is not None, "it is no kept run then"
        if id(one) not in self._found:
            more = self._inside(one.met)
            if more is not None and _affords(one, more, one.left):
                one.steps += more
                one.need += stretched(more)
            else:
                more = self._again(one, situation)
            self._found[id(one)] = one, more
            if more is not None:
                self._interpreter.memory.keep(situation.key, one)
        return self._found[id(one)][1]

    def _again(self, one: Kept, situation: Situation) -> int | None:
        """Make a run once more, where it was made: how many more steps it takes, if it gives the same."""
        i = self._interpreter
        made: Kept | None = None

        def run() -> None:
            nonlocal made
            made = i.memory.again(i, situation, one)

        replaced, modules = dict(i.replaced), len(i.project.modules)
        try:
            with situation.restored(i):
                trial = recorded(i, None, run, 0)
                for change in reversed(trial.changes):
                    change.undo()
        except (BrokenText, RecursionError):
            return None
        finally:
            i.replaced = replaced
        self.sound = self.sound and trial.alone and len(i.project.modules) == modules
        if made is None:
            return None
        more = made.steps - one.steps
        if not trial.replaced and _are_alike(i, one, made):
            one.take(made)
            return more
        i.memory.keep(situation.key, made)
        return None


def _affords(run: EntryRun | Kept, more: int, allowed: int) -> bool:
    """Whether a run goes the same way if calls in it take more steps."""
    return not more or run.need + stretched(more) <= allowed


def _are_alike(interpreter: Interpreter, one: Kept, other: Kept) -> bool:
    """Whether two runs of one call give and meet the same, and both had, or lacked, the steps for it."""
    alike = Alike((one.start, one.symbols), (other.start, other.symbols))
    return (
        (one.steps == other.steps or max(one.need, other.need) < math.inf)
        and interpreter.memory.alike(one, other)
        and alike.have_met(one.met, other.met)
    )

"""The early end of a check: a time limit, an interrupt from the keyboard, or a request to terminate."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from shardlint.support.cancellation import Stop
from shardlint.support.media import terminal

#: Of the files that were not checked to the end, this many are named.
_NAMED = 5
#: Signals within this many seconds are one.
_SAME = 0.5


@contextmanager
def early_end(seconds: float | None, again: bool = False) -> Iterator[Stop]:
    """Yield the token that is set after some seconds, None for no limit, or at the first interrupt or, unless
    the check is made ``again`` after each change, request to terminate.

    A later one does what it does without this, if it is not the same one again: `timeout` and terminals
    send a signal to a process and to its group.
    """
    stop = Stop(gentle=True)
    first: float | None = None

    def ended(number: int, _frame: FrameType | None) -> None:
        nonlocal first
        if first is None:
            first = time.monotonic()
            stop.ask()
        elif time.monotonic() - first > _SAME:
            signal.signal(number, before[signal.Signals(number)])
            signal.raise_signal(number)

    main = threading.current_thread() is threading.main_thread()
    ending = (signal.SIGINT,) if again else (signal.SIGINT, signal.SIGTERM)
    handlers = {number: signal.getsignal(number) for number in ending} if main else {}
    # Whoever started this may have it ignore a signal, and what is not set from Python cannot be restored.
    before = {
        number: handler for number, handler in handlers.items() if handler not in (signal.SIG_IGN, None)
    }
    for number in before:
        signal.signal(number, ended)
    try:
        with _limit(seconds, stop, main):
            yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _limit(seconds: float | None, stop: Stop, main: bool) -> Iterator[None]:
    """Set the token after some seconds: by an alarm where possible, since threads do not survive a fork."""
    if seconds is None:
        yield
    elif main and hasattr(signal, "setitimer"):
        before = signal.signal(signal.SIGALRM, lambda *_: stop.ask())
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
    else:
        timer = threading.Timer(seconds, stop.ask)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


def told(unreached: Sequence[str], files: int) -> str:
    """Return which of the files that mention sharding were not checked to the end, in one terminal line."""
    named = ", ".join(map(terminal, unreached[:_NAMED]))
    more = len(unreached) - _NAMED
    rest = f" and {more} more" if more > 0 else ""
    count = f"of {files} files that mention sharding, {len(unreached)} were not checked to the end"
    return f"stopped early: {count}: {named}{rest}"

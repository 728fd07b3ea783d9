"""The early end of a check: a time limit, or an interrupt from the keyboard."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from shardlint.support.cancellation import Stop
from shardlint.support.media import terminal

#: Of the files that were not checked to the end, this many are named.
_NAMED = 5


@contextmanager
def early_end(seconds: float | None) -> Iterator[Stop]:
    """Yield the token that is set after some seconds, None for no limit, or at the first interrupt.

    A second interrupt raises KeyboardInterrupt, as without this.
    """
    stop = Stop(gentle=True)
    before = signal.getsignal(signal.SIGINT)

    def interrupted(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)
        stop.ask()

    main = threading.current_thread() is threading.main_thread()
    if main and callable(before):
        signal.signal(signal.SIGINT, interrupted)
    try:
        with _limit(seconds, stop, main):
            yield stop
    finally:
        if main and callable(before):
            signal.signal(signal.SIGINT, before)


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

"""Questions to JAX that nobody waits for: an editor's analysis is repeated once there are answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

from shardlint.confirm.asking import Asking
from shardlint.confirm.shape_answers import ShapeAnswers


class LaterAsking(Asking):
    """Asks the JAX that is at hand, in a thread of its own.

    Args:
        python: the interpreter that has JAX.
        told: called, in that thread, whenever there are new answers.
        timeout: the seconds that one answer may take.
        devices: how many fake devices the worker has.
    """

    def __init__(
        self, python: str, told: Callable[[], None], timeout: float = 60.0, devices: int = 8
    ) -> None:
        super().__init__(python, None, timeout, devices)
        self._told = told
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="asking")
        self._lock = Lock()
        self._begun = self._closed = False
        #: The questions that are being asked.
        self._due: set[str] = set()

    @property
    def answers(self) -> ShapeAnswers | None:
        """Return the answers known so far; None while it is not known which JAX there is."""
        with self._lock:
            begins, self._begun = not self._begun, True
        if begins:
            self._submit(self._begin)
        return self._latest

    def ask(self, questions: Iterable[str]) -> bool:
        """Have asked what is not known yet; there is no new answer now."""
        known = self._latest.known if self._latest is not None else {}
        with self._lock:
            due = set(questions) - known.keys() - self._due
            self._due |= due
        if due:
            self._submit(lambda: self._ask(due))
        return False

    def close(self) -> None:
        """Stop the thread and the worker."""
        self._closed = True
        self._executor.shutdown(wait=False, cancel_futures=True)
        if "confirmer" in vars(self):
            self.confirmer.interrupt()

    def _submit(self, work: Callable[[], None]) -> None:
        if not self._closed:
            self._executor.submit(work)

    def _begin(self) -> None:
        """Find out which JAX there is, which may start its interpreter."""
        if self.versions:
            self._latest = ShapeAnswers(self.versions, {})
            self._told()

    def _ask(self, due: set[str]) -> None:
        try:
            new = not self._closed and super().ask(due)
        finally:
            with self._lock:
                self._due -= due
        if new and not self._closed:
            self._told()

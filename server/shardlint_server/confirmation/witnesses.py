"""The JAX that confirms findings: a process that runs small generated programs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from shardlint.api import Settings, editing
from shardlint.model.findings import Confirmation, Finding


class Witnesses:
    """Confirms findings in a thread of its own, with a worker that stays running."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="confirm")
        self._confirmer: Any = None
        self._of: tuple[str, tuple[str, ...]] | None = None
        self._lock = threading.Lock()

    async def ask(
        self, finding: Finding, settings: Settings, python: str, shunned: Sequence[str]
    ) -> tuple[Finding, list[str]]:
        """Return a finding with its confirmation, and the reasons if there is none.

        ``python`` is the interpreter that has JAX; nothing in the ``shunned`` folders is run or imported.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._executor, self._ask, finding, settings, python, tuple(shunned)
        )

    def _ask(
        self, finding: Finding, settings: Settings, python: str, shunned: tuple[str, ...]
    ) -> tuple[Finding, list[str]]:
        with self._lock:
            if self._of != (python, shunned):
                if self._confirmer is not None:
                    self._confirmer.close()
                self._confirmer = editing.confirmer(python, settings, shunned)
                self._of = (python, shunned)
        confirmer = self._confirmer
        confirmer.retry()
        (confirmed,) = confirmer.confirm([finding])
        unasked = confirmed.confirmation is Confirmation.UNCONFIRMED
        return confirmed, list(confirmer.notes) if unasked else []

    def recalled(self, finding: Finding) -> Finding:
        """Return a finding with its confirmation, or that of an equivalent one."""
        confirmer = self._confirmer
        recalled: Finding = finding if confirmer is None else confirmer.recalled(finding)
        return recalled

    def interrupt(self) -> None:
        """Interrupt the confirmation in progress."""
        if self._confirmer is not None:
            self._confirmer.interrupt()

    def close(self) -> None:
        """Stop the worker."""
        self._executor.shutdown(wait=False, cancel_futures=True)
        self.interrupt()

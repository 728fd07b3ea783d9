"""One worker process and the JSON lines that go to and fro."""

from __future__ import annotations

import json
import queue
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from shardlint.confirm.processes import fake_environment, kill, resident_bytes

WORKER = Path(__file__).with_name("worker.py")
_POLL_SECONDS = 0.25


class WorkerLost(Exception):
    """The worker is gone, or never came; the message says why."""


class Connection:
    """A worker that is up, with so many fake devices.

    ``timeout`` is in seconds, for the start and for each request; ``memory`` in bytes of resident
    memory. Both are enforced by killing the worker. Raises WorkerLost when it does not come up.
    """

    def __init__(self, python: str, devices: int, timeout: float, memory: int) -> None:
        self.devices = devices
        self._python, self._timeout, self._memory = python, timeout, memory
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        try:
            self._process = subprocess.Popen(
                [python, "-I", str(WORKER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                text=True,
                encoding="utf-8",
                env=fake_environment(devices),
                start_new_session=True,
            )
        except OSError as error:
            self._errors.close()
            raise WorkerLost(f"cannot run {python}: {error.strerror or error}") from None
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        hello = self._receive()
        if not hello.get("ready"):
            self.close()
            raise WorkerLost(f"jax is not installed for {python}: install shardlint[confirm]")
        self.jax = str(hello["jax"])

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request and return its answer. Raises WorkerLost."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"id": 0, **request}) + "\n")
            self._process.stdin.flush()
        except OSError:
            raise self._lost("died") from None
        return self._receive()

    def close(self) -> None:
        """End the worker."""
        kill(self._process)
        self._errors.close()

    def _read(self) -> None:
        """Pass on what the worker says; an empty line is its end."""
        assert self._process.stdout is not None
        try:
            for line in self._process.stdout:
                self._lines.put(line)
        except (OSError, ValueError):
            pass
        self._lines.put("")

    def _receive(self) -> dict[str, Any]:
        deadline = time.monotonic() + self._timeout
        while True:
            try:
                line = self._lines.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                if time.monotonic() > deadline:
                    raise self._lost(f"did not answer within {self._timeout:g} s") from None
                if (resident_bytes(self._process.pid) or 0) > self._memory:
                    raise self._lost(f"used more than {self._memory >> 20} MiB") from None
                continue
            if not line:
                raise self._lost("died")
            try:
                answer = json.loads(line)
            except ValueError:
                answer = None
            if not isinstance(answer, dict):
                raise self._lost(f"said {line.strip()[:80]!r}")
            return answer

    def _lost(self, how: str) -> WorkerLost:
        """End the worker and say how it was lost, with the last thing it complained of."""
        kill(self._process)
        self._errors.seek(0)
        complaint = [line.strip() for line in self._errors.read().splitlines() if line.strip()][-1:]
        self._errors.close()
        return WorkerLost(": ".join([f"the JAX worker ({self._python}) {how}", *complaint]))

"""Child processes that run JAX: their environment, their time and memory, and their end."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

#: The user's settings that would change the behaviour of a fake mesh of CPU devices.
_FOREIGN = ("JAX_", "XLA_", "TPU_", "LIBTPU_", "CUDA_")
_POLL_SECONDS = 0.25
#: How the lines of a stack of C++ begin.
_STACK = ("@ ", "***")


class ChildLost(Exception):
    """A child process ended or did not start; the message states why."""


class Child:
    """A process that reads and writes JSON lines.

    ``name`` is its name in messages; ``memory`` is in bytes of resident memory. A child that is too slow or
    too big is killed. Raises ChildLost when the command cannot be run.
    """

    def __init__(
        self, name: str, command: Sequence[str], *, devices: int, memory: int, cwd: Path | None = None
    ) -> None:
        self._name, self._memory = name, memory
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                encoding="utf-8",
                errors="replace",
                cwd=cwd,
                env=fake_environment(devices),
                start_new_session=True,
            )
        except OSError as error:
            self._errors.close()
            raise ChildLost(f"cannot run {command[0]}: {error.strerror or error}") from None
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def send(self, message: dict[str, Any]) -> None:
        """Write one message. Raises ChildLost."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()
        except OSError:
            raise self._lost("died") from None

    def receive(self, timeout: float) -> dict[str, Any]:
        """Wait this many seconds for one message. Raises ChildLost."""
        deadline = time.monotonic() + timeout
        while True:
            try:
                line = self._lines.get(timeout=min(_POLL_SECONDS, timeout))
            except queue.Empty:
                if time.monotonic() >= deadline:
                    raise self._lost(f"did not answer within {timeout:.0f} s") from None
                if (resident_bytes(self._process.pid) or 0) > self._memory:
                    raise self._lost(f"used more than {self._memory >> 20} MiB") from None
                continue
            if not line:
                raise self._lost("died")
            try:
                message = json.loads(line)
            except ValueError:
                message = None
            if not isinstance(message, dict):
                raise self._lost(f"said {line.strip()[:80]!r}")
            return message

    def close(self) -> None:
        """Stop the process and its children (it leads a session of its own), and wait for it."""
        if self._process.poll() is None:
            with contextlib.suppress(OSError):
                if hasattr(os, "killpg"):
                    os.killpg(self._process.pid, signal.SIGKILL)
                else:
                    self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._errors):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _read(self) -> None:
        """Forward the process's output; an empty line is its end."""
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._lines.put(line)
        self._lines.put("")

    def _lost(self, how: str) -> ChildLost:
        """Stop the process and return the reason of its loss, with its last error message."""
        complaint: list[str] = []
        with contextlib.suppress(ValueError):  # another thread has closed it
            self._errors.seek(0)
            lines = (line.strip() for line in self._errors.read().splitlines())
            complaint = [line for line in lines if line and not line.startswith(_STACK)][-1:]
        self.close()
        return ChildLost(": ".join([f"{self._name} {how}", *complaint]))


def fake_environment(devices: int) -> dict[str, str]:
    """Return the environment of a process with this many fake CPU devices and no others."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
    flags = f"--xla_force_host_platform_device_count={devices}"
    return {**environment, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags, "PYTHONIOENCODING": "utf-8"}


def resident_bytes(pid: int) -> int | None:
    """Return the memory of a process, or None where the system does not report it.

    An address-space limit would not work: XLA maps far more than it uses.
    """
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        pass
    try:
        command = ["ps", "-o", "rss=", "-p", str(pid)]
        completed = subprocess.run(command, capture_output=True, text=True, check=False, timeout=5)
        return int(completed.stdout) * 1024
    except (OSError, ValueError, subprocess.SubprocessError):
        return None

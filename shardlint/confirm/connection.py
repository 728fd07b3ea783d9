"""The worker, from this side."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from shardlint.confirm.processes import Child, ChildLost

WORKER = Path(__file__).with_name("worker.py")


class Connection:
    """A worker that is up, with so many fake devices.

    ``timeout`` is in seconds, for the start and for each request; ``memory`` in bytes of resident
    memory; ``cwd`` is where it works. ``started`` is given the process before it is up, for another thread to
    close. Raises ChildLost when it does not come up.
    """

    def __init__(
        self,
        python: str,
        devices: int,
        timeout: float,
        memory: int,
        cwd: Path | None = None,
        started: Callable[[Child], None] = lambda child: None,
    ) -> None:
        self.devices = devices
        self._timeout = timeout
        command = [python, "-I", str(WORKER)]
        self._child = Child(f"the JAX worker ({python})", command, devices=devices, memory=memory, cwd=cwd)
        started(self._child)
        hello = self._child.receive(timeout)
        if not hello.get("ready"):
            self.close()
            raise ChildLost(_absence(python, str(hello.get("message"))))

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request and return its answer. Raises ChildLost."""
        self._child.send(request)
        return self._child.receive(self._timeout)

    def close(self) -> None:
        """End the worker."""
        self._child.close()


def _absence(python: str, message: str) -> str:
    """Say why there is no jax."""
    if message == "No module named 'jax'":
        return f"jax is not installed for {python}: install shardlint[confirm]"
    return f"{python} cannot import jax: {message}"

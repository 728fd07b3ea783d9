"""The connection to a worker process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from shardlint.confirm.child_process import Child, ChildLost

#: The worker for witnesses: a folder that Python runs, with only itself on the path.
WORKER = Path(__file__).with_name("worker")
#: The program that runs a model's init, the user's own code.
INITIALIZER = WORKER / "initializer.py"
_ISOLATION = Path(__file__).with_name("isolation.py")


class Connection:
    """A running worker with this many fake devices: ``program``, by default that of witnesses.

    ``timeout`` is in seconds, for the start and for each request; ``memory`` in bytes of resident memory;
    ``cwd`` is its working directory. ``started`` receives the process before it is ready, so that another
    thread can close it. Nothing in the ``shunned`` folders is used. Raises ChildLost when it fails to start.
    """

    def __init__(
        self,
        python: str,
        devices: int,
        timeout: float,
        memory: int,
        cwd: Path | None = None,
        started: Callable[[Child], None] = lambda child: None,
        shunned: Sequence[str] = (),
        program: Path = WORKER,
    ) -> None:
        self.devices = devices
        self._timeout = timeout
        command = [python, "-I", str(program)]
        if shunned:
            command, cwd = [python, "-I", "-S", str(_ISOLATION), str(program), *shunned], WORKER.parent
        self._child = Child(f"the JAX worker ({python})", command, devices=devices, memory=memory, cwd=cwd)
        started(self._child)
        hello = self._child.receive(timeout)
        if not hello.get("ready"):
            self.close()
            raise ChildLost(_absence(python, str(hello.get("message")), bool(shunned)))

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request and return its answer. Raises ChildLost."""
        self._child.send(request)
        return self._child.receive(self._timeout)

    def close(self) -> None:
        """Stop the worker."""
        self._child.close()


def _absence(python: str, message: str, isolated: bool) -> str:
    """Return a message stating why there is no jax."""
    if message == "No module named 'jax'":
        where = " outside of the workspace, which is not trusted" if isolated else ""
        return f"jax is not installed for {python}{where}: install shardlint[confirm]"
    return f"{python} cannot import jax: {message}"

"""Child processes that run JAX: their environment, their memory, and their end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from pathlib import Path

#: Settings of the user's own that would change what a fake mesh of CPU devices does.
_FOREIGN = ("JAX_", "XLA_", "TPU_", "LIBTPU_", "CUDA_", "PYTHONSTARTUP")


def fake_environment(devices: int) -> dict[str, str]:
    """The environment of a process that has so many fake CPU devices and nothing else."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
    flags = f"--xla_force_host_platform_device_count={devices}"
    return {**kept, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags, "PYTHONIOENCODING": "utf-8"}


def resident_bytes(pid: int) -> int | None:
    """Memory a process holds, or None where the system does not say.

    An address-space limit would not do: XLA maps far more than it uses.
    """
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        pass
    try:
        asked = ["ps", "-o", "rss=", "-p", str(pid)]
        said = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=5)
        return int(said.stdout) * 1024
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def kill(process: subprocess.Popen[str]) -> None:
    """End a process and what it started (it leads a session of its own), and wait for it."""
    if process.poll() is None:
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()

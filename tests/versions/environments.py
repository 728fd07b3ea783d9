"""Environments for releases of JAX: a Python that the release allows, JAX, and the Flax that goes with it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

#: The Pythons that may be tried, and the first release that asks for more than the oldest of them.
PYTHONS = ("3.11", "3.12", "3.13")
NEEDS_NEWER = (0, 11)


class NoInterpreter(Exception):
    """An environment that cannot be built; the message says why."""


def default_folder() -> Path:
    """Return where environments are kept unless told otherwise."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return Path(os.environ.get("SHARDLINT_ENVIRONMENTS", cache / "shardlint" / "environments"))


def numbers(release: str) -> tuple[int, ...]:
    """Return the numbers of a release."""
    return tuple(map(int, re.findall(r"\d+", release)[:4]))


def interpreter(release: str, folder: Path) -> str:
    """Return the interpreter of a release's environment, building it where it is not there yet."""
    home = folder / release
    python = home / ("Scripts" if os.name == "nt" else "bin") / "python"
    ready = home / "ready"
    if ready.exists():
        return str(python)
    base = base_python(release)
    print(f"building an environment for JAX {release} with {base}", file=sys.stderr)
    subprocess.run([base, "-m", "venv", "--clear", str(home)], check=True)
    # The newest Flax that takes this JAX: pip finds it.
    wanted = [f"jax=={release}", f"jaxlib=={release}", "flax"]
    subprocess.run([str(python), "-m", "pip", "install", "-q", *wanted], check=True)
    ready.touch()
    return str(python)


def base_python(release: str) -> str:
    """Return an interpreter for a release: the oldest that it allows. Raises NoInterpreter."""
    wanted = PYTHONS[:1] if numbers(release) < NEEDS_NEWER else PYTHONS[:0:-1]
    for version in wanted:
        if found := _find(version):
            return found
    raise NoInterpreter(f"JAX {release} needs Python {' or '.join(wanted)}, of which none is found")


def _find(version: str) -> str | None:
    """Look for a Python on PATH, then ask pyenv and uv."""
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        return sys.executable
    if (command := shutil.which(f"python{version}")) and _runs(command, version):
        return command
    if shutil.which("pyenv"):
        installed = _lines(["pyenv", "versions", "--bare"])
        for name in reversed([name for name in installed if name.startswith(f"{version}.")]):
            for prefix in _lines(["pyenv", "prefix", name]):
                if _runs(command := str(Path(prefix) / "bin" / "python"), version):
                    return command
    if shutil.which("uv"):
        return next(
            (path for path in _lines(["uv", "python", "find", version]) if _runs(path, version)), None
        )
    return None


def _lines(command: list[str]) -> list[str]:
    return subprocess.run(command, capture_output=True, text=True).stdout.split()


def _runs(command: str, version: str) -> bool:
    """Return whether a command is this Python: a shim may be there for one that is not."""
    program = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        return _lines([command, "-c", program]) == [version]
    except OSError:
        return False

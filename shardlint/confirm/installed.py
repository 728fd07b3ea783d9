"""The release of JAX that an interpreter has, found without importing it."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata

from shardlint.laws.versions import Release

_ASK = "from importlib import metadata; print(metadata.version('jax'))"
_SECONDS = 5


def installed_release(python: str | None = None) -> Release | None:
    """Return the release of JAX that an interpreter would import; None if it has none, or cannot be asked.

    ``python`` is the interpreter's path, by default the one that runs this. Another one is started, isolated
    from the current folder and from the user's own packages.
    """
    try:
        if python in (None, sys.executable):
            return Release.parse(metadata.version("jax"))
        completed = subprocess.run(
            [python, "-I", "-c", _ASK], capture_output=True, text=True, timeout=_SECONDS, check=True
        )
        return Release.parse(completed.stdout)
    except (metadata.PackageNotFoundError, OSError, ValueError, subprocess.SubprocessError):
        return None

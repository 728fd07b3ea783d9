"""The release of JAX that an interpreter has, found without importing it."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from importlib import metadata

from shardlint.laws.versions import Release

_ASK = "from importlib import metadata; print(metadata.version('jax'))"
_SECONDS = 5
#: The libraries on whose releases JAX's answers about functions depend.
_LIBRARIES = ("jax", "jaxlib", "flax", "optax", "equinox", "einops")
#: Packages and their versions.
Versions = tuple[tuple[str, str], ...]
_ASK_ALL = (
    "import sys\nfrom importlib import metadata\nfor name in sys.argv[1:]:\n"
    "    try: print(name, metadata.version(name))\n    except metadata.PackageNotFoundError: pass"
)


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


def asked_versions(python: str | None = None) -> Versions:
    """Return JAX and the libraries around it that an interpreter has; empty without JAX, or if it cannot be
    asked. ``python`` is as in `installed_release`.
    """
    if python in (None, sys.executable):
        found = []
        for name in _LIBRARIES:
            with suppress(metadata.PackageNotFoundError):
                found.append((name, metadata.version(name)))
    else:
        command = [str(python), "-I", "-c", _ASK_ALL, *_LIBRARIES]
        try:
            completed = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=True)
        except (OSError, ValueError, subprocess.SubprocessError):
            return ()
        lines = (line.partition(" ") for line in completed.stdout.splitlines())
        found = [(name, version) for name, _, version in lines]
    return tuple(found) if found and found[0][0] == "jax" else ()

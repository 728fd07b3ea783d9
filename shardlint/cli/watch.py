"""`check --watch`: a check after each change of a file, showing the latest result."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import sys
import time
from collections.abc import Callable, Iterator

from shardlint.engine.check_cache import project_of
from shardlint.source.workspace import file_access
from shardlint.source.workspace.file_access import IGNORES, SUFFIXES

#: Seconds between two scans of all files, where change notifications are not available.
_INTERVAL = 1.0
#: Milliseconds to wait for changes before the first check, and between two polls for an interrupt.
_TIMEOUT = 200
#: Suffixes of other files that may affect findings, besides programs and notebooks.
_ALSO = (".toml", ".yaml", ".yml", ".json", IGNORES)


def watch(options: argparse.Namespace, once: Callable[[], int]) -> int:
    """Check again whenever a file changes, until the user interrupts; return the last exit code.

    ``once`` runs one check, and prints its findings.
    """
    code = 0
    with contextlib.suppress(KeyboardInterrupt):
        # Changes during the first check must be seen too.
        changes = _changes(_folders(options.paths))
        next(changes)
        for changed in itertools.chain([[]], filter(None, changes)):
            start = _begin(changed)
            # Watching begins before the check is reported as finished: from then on, the user may interrupt.
            code = once()
            _end(start)
    print(file=sys.stderr)
    return code


def _begin(changed: list[str]) -> float:
    """Clear the screen, print the changed files, and return the start time."""
    _forget()
    start = time.monotonic()
    if sys.stdout.isatty():
        # The screen and its scrollback, as `clear` does.
        sys.stdout.write("\x1b[H\x1b[2J\x1b[3J")
    if changed:
        from shardlint.support.media import terminal

        files = list(dict.fromkeys(map(os.path.relpath, changed)))
        names = terminal(", ".join(files[:3]))
        more = f" and {len(files) - 3} more" if len(files) > 3 else ""
        print(f"changed: {names}{more}", file=sys.stderr)
    return start


def _end(start: float) -> None:
    """Print the time at which the check ended, and its duration."""
    sys.stdout.flush()
    seconds = time.monotonic() - start
    print(
        f"{time.strftime('%H:%M:%S')}: {seconds:.1f} s. Watching for changes; Ctrl-C ends.",
        file=sys.stderr,
        flush=True,
    )


def _forget() -> None:
    """Clear this process's caches of files."""
    if "shardlint.inference" in sys.modules:
        from shardlint.inference.programs.module_loader import forget

        forget()


def _folders(paths: list[str]) -> list[str]:
    """Return the folders to watch: the named ones, those of named files, and their projects."""
    found = [path if os.path.isdir(path) else os.path.dirname(path) or "." for path in paths]
    found += [project_of(path) for path in paths]
    whole = dict.fromkeys(os.path.abspath(path) for path in found if os.path.isdir(path))
    return [one for one in whole if not any(_holds(other, one) for other in whole if other != one)]


def _holds(outer: str, inner: str) -> bool:
    return inner.startswith(os.path.join(outer, ""))


def _matters(path: str) -> bool:
    """Return whether a change of a path can change findings."""
    parts = path.split(os.sep)
    if file_access.MADE.intersection(parts) or ".git" in parts:
        return False
    return path.endswith((*SUFFIXES, *_ALSO)) or "." not in parts[-1]


def _changes(folders: list[str]) -> Iterator[list[str]]:
    """Yield lists of changed paths, which may be empty, while the caller iterates; first an empty list."""
    try:
        from watchfiles import watch as watched
    except ImportError:
        yield from _polled(folders)
        return
    for changes in watched(
        *folders, watch_filter=lambda _, path: _matters(path), rust_timeout=_TIMEOUT, yield_on_timeout=True
    ):
        yield sorted({path for _, path in changes})


def _polled(folders: list[str]) -> Iterator[list[str]]:
    """Yield the same by polling all files."""
    before = _stamps(folders)
    yield []
    while True:
        time.sleep(_INTERVAL)
        now = _stamps(folders)
        if now != before:
            yield sorted(path for path, _ in now.items() ^ before.items())
            before = now


def _stamps(folders: list[str]) -> dict[str, file_access.Stamp]:
    found: dict[str, file_access.Stamp] = {}
    for top in folders:
        for folder, folders_in_it, names in os.walk(top):
            folders_in_it[:] = [name for name in folders_in_it if _matters(os.path.join(folder, name))]
            for name in (*names, *folders_in_it):
                path = os.path.join(folder, name)
                if _matters(path):
                    with contextlib.suppress(OSError):
                        status = os.stat(path)
                        found[path] = file_access.stamp_of(status) if name in names else (status.st_ino,)
    return found

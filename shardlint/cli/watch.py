"""`check --watch`: a check after each change of a file, and what the last one found on the screen."""

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

#: Seconds between two looks at all files, where nobody tells of changes.
_INTERVAL = 1.0
#: Milliseconds to wait for changes before the first check, and between two questions whether to go on.
_TIMEOUT = 200
#: What besides programs and notebooks may decide what is found.
_ALSO = (".toml", ".yaml", ".yml", ".json", IGNORES)


def watch(options: argparse.Namespace, once: Callable[[], int]) -> int:
    """Check again whenever a file changes, until the user interrupts; return the last exit code.

    ``once`` makes one check, and prints what it finds.
    """
    code = 0
    with contextlib.suppress(KeyboardInterrupt):
        # What changes during the first check is to be seen, too.
        changes = _changes(_folders(options.paths))
        next(changes)
        for changed in itertools.chain([[]], filter(None, changes)):
            start = _begin(changed)
            # Known before the check is said to be over: then one may interrupt.
            code = once()
            _end(start)
    print(file=sys.stderr)
    return code


def _begin(changed: list[str]) -> float:
    """Begin a check on an empty screen, with what changed before it; return when that was."""
    _forget()
    start = time.monotonic()
    if sys.stdout.isatty():
        # The screen and what was scrolled away, as `clear` does.
        sys.stdout.write("\x1b[H\x1b[2J\x1b[3J")
    if changed:
        from shardlint.support.media import terminal

        names = terminal(", ".join(map(os.path.relpath, changed[:3])))
        more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
        print(f"changed: {names}{more}", file=sys.stderr)
    return start


def _end(start: float) -> None:
    """Say in a line when the check was over, and what it took."""
    sys.stdout.flush()
    took = time.monotonic() - start
    print(
        f"{time.strftime('%H:%M:%S')}: {took:.1f} s. Watching for changes; Ctrl-C ends.",
        file=sys.stderr,
        flush=True,
    )


def _forget() -> None:
    """Forget what this process knows of files."""
    if "shardlint.inference" in sys.modules:
        from shardlint.inference.programs.module_loader import forget

        forget()


def _folders(paths: list[str]) -> list[str]:
    """The folders to watch: those that are named, those of files that are, and the projects they are in."""
    found = [path if os.path.isdir(path) else os.path.dirname(path) or "." for path in paths]
    found += [project_of(path) for path in paths]
    whole = dict.fromkeys(os.path.abspath(path) for path in found if os.path.isdir(path))
    return [one for one in whole if not any(_holds(other, one) for other in whole if other != one)]


def _holds(outer: str, inner: str) -> bool:
    return inner.startswith(os.path.join(outer, ""))


def _matters(path: str) -> bool:
    """Whether a change of a path can change what is found."""
    parts = path.split(os.sep)
    if file_access.MADE.intersection(parts) or ".git" in parts:
        return False
    return path.endswith((*SUFFIXES, *_ALSO)) or "." not in parts[-1]


def _changes(folders: list[str]) -> Iterator[list[str]]:
    """The paths that changed, a few at a time or none, for as long as somebody asks; none to begin with."""
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
    """The same, by looking at all files over and over."""
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

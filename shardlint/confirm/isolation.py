"""Run the worker with what the user installed, and with nothing of folders that are not trusted.

Self-contained: it is started as ``python -I -S isolation.py WORKER FOLDER...``. So Python has not looked at
``site-packages``, where ``.pth`` files run code, as does a `sitecustomize` in a folder that they name. The
path is made here, of what lies in none of the folders, also what ``.pth`` files name; no line of them is run.
"""

from __future__ import annotations

import os
import site
import stat
import sys
from collections.abc import Iterator, Sequence
from pathlib import PurePath

_MOST_LINKS = 40


def leads_into(path: str, folders: Sequence[str]) -> bool:
    """Return whether a path lies in one of the folders, or passes through one by a link on its way."""
    marks = set()
    for folder in folders:
        try:
            status = os.stat(folder)
        except (OSError, ValueError):
            continue
        marks.add((status.st_dev, status.st_ino))
    try:
        return any((status.st_dev, status.st_ino) in marks for status in _steps(path))
    except _Endless:
        return True


class _Endless(Exception):
    """A path whose links never end."""


def _steps(path: str) -> Iterator[os.stat_result]:
    """Yield the folders and links on the way to a path."""
    at, *parts = PurePath(os.path.join(os.getcwd(), path)).parts
    parts.reverse()
    links = 0
    try:
        yield os.lstat(at)
        while parts:
            part = parts.pop()
            before, at = at, os.path.dirname(at) if part == os.pardir else os.path.join(at, part)
            status = os.lstat(at)
            yield status
            if stat.S_ISLNK(status.st_mode):
                links += 1
                if links > _MOST_LINKS:
                    raise _Endless
                target = PurePath(os.readlink(at))
                at = target.anchor or before
                parts.extend(reversed(target.parts[bool(target.anchor) :]))
    except (OSError, ValueError):
        return


def home_of(python: str) -> tuple[str, dict[str, str]]:
    """Return the folder of a virtual environment and its ``pyvenv.cfg``; empty if it is not one."""
    beside = os.path.dirname(os.path.abspath(python))
    for folder in (beside, os.path.dirname(beside)):
        try:
            with open(os.path.join(folder, "pyvenv.cfg"), encoding="utf-8", errors="replace") as file:
                pairs = [line.split("=", 1) for line in file if "=" in line]
        except OSError:
            continue
        return folder, {key.strip().lower(): value.strip() for key, value in pairs}
    return "", {}


def search_path(folders: Sequence[str]) -> list[str]:
    """Return the folders of installed packages of this interpreter, except those that lead into
    ``folders``.
    """
    environment, message = home_of(sys.executable)
    prefixes = [environment] if environment else []
    if not environment or message.get("include-system-site-packages", "").lower() == "true":
        prefixes += [sys.base_prefix, sys.base_exec_prefix]
    found: dict[str, None] = {}
    for packages in site.getsitepackages(prefixes):
        if os.path.isdir(packages) and not leads_into(packages, folders):
            found[packages] = None
            found.update(dict.fromkeys(one for one in _named(packages) if not leads_into(one, folders)))
    return list(found)


def _named(packages: str) -> Iterator[str]:
    """Yield the folders that the ``.pth`` files of a folder name."""
    for name in sorted(name for name in os.listdir(packages) if name.endswith(".pth")):
        try:
            with open(os.path.join(packages, name), encoding="utf-8-sig", errors="replace") as file:
                lines = file.read().splitlines()
        except OSError:
            continue
        for line in lines:
            named = os.path.join(packages, line.rstrip())
            if line.strip() and not line.startswith(("#", "import ", "import\t")) and os.path.isdir(named):
                yield named


def main() -> None:
    """Run the worker."""
    import runpy

    worker, *folders = sys.argv[1:]
    sys.path += search_path(folders)
    sys.argv = [worker]
    runpy.run_path(worker, run_name="__main__")


if __name__ == "__main__":
    main()

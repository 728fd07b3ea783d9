"""Validation of recorded file accesses: whether the file system is still as a run found it."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from shardlint.source.workspace import file_access
from shardlint.source.workspace.file_access import FileAccesses, Stamp, Text

#: The granularity of file times, in nanoseconds: a file that was changed less than this before it was read
#: may be changed once more and have the same stamp.
_COARSE = 2 * 10**9
#: Whether a stamp reflects every change: on other systems ctime is the time of creation.
_STAMPED = os.name == "posix"


def now() -> int:
    """Return the present time, for `written`."""
    return time.time_ns()


def written(found: FileAccesses, since: int | None) -> dict[str, Any]:
    """Return recorded accesses as JSON values; without a start time (``since``) no stamp is trusted."""
    texts = {path: [digest, _trusted(stamp, since)] for path, (digest, stamp) in found.texts.items()}
    absent: dict[str, list[str]] = {}
    kinds = {}
    for path, kind in found.kinds.items():
        if kind == file_access.NOTHING:
            folder, name = os.path.split(path)
            absent.setdefault(folder, []).append(name)
        else:
            kinds[path] = kind
    return {"texts": texts, "absent": absent, "kinds": kinds, "folders": found.folders}


def _trusted(stamp: Stamp | None, since: int | None) -> list[int] | None:
    if stamp is None or since is None or not _STAMPED or max(stamp[0], stamp[1]) > since - _COARSE:
        return None
    return list(stamp)


class CurrentFiles:
    """The current file system; each path is examined once, and recorded in ``accesses``.

    ``known`` are accesses made earlier in this run. ``read`` counts the texts that were read because no stamp
    proved them unchanged.
    """

    def __init__(self, known: FileAccesses | None = None) -> None:
        self.accesses = FileAccesses() if known is None else known
        self.read = 0

    def match(self, record: Mapping[str, Any]) -> bool:
        """Return whether everything recorded is unchanged; False for a malformed record."""
        return self.changed(record) == []

    def changed(self, record: Mapping[str, Any]) -> list[str] | None:
        """Return the paths of texts that have changed; None if more has, or for a malformed record."""
        try:
            same = (
                all(self._kind(path) == kind for path, kind in record["kinds"].items())
                and all(
                    self._kind(os.path.join(folder, name)) == file_access.NOTHING
                    for folder, names in record["absent"].items()
                    for name in names
                )
                and all(self._folder(path) == digest for path, digest in record["folders"].items())
            )
            texts = record["texts"].items()
            return [path for path, text in texts if not self._is_text(path, *text)] if same else None
        except (KeyError, TypeError, ValueError, AttributeError):
            return None

    def _kind(self, path: str) -> str:
        kind = self.accesses.kinds.get(path)
        if kind is None:
            kind = self.accesses.kinds[path] = file_access.look(path)
        return kind

    def _folder(self, path: str) -> str | None:
        if path not in self.accesses.folders:
            self.accesses.folders[path] = file_access.listing(path)
        return self.accesses.folders[path]

    def _is_text(self, path: str, digest: str | None, stamp: Sequence[int] | None) -> bool:
        if (text := self.accesses.texts.get(path)) is None:
            text = self._text(path, digest, stamp)
            self.accesses.texts[path] = text
        return text[0] == digest

    def _text(self, path: str, digest: str | None, stamp: Sequence[int] | None) -> Text:
        try:
            if stamp is not None and (now := file_access.stamp(path)) == tuple(stamp):
                return digest, now
            self.read += 1
            with file_access.recording(apart=True) as found:
                file_access.read(path, file_access.MOST_BYTES)
            return found.texts[path]
        except OSError:
            return None, None

"""What an editor's session needs of the engine besides checks.

Texts that are open stand for files (`opened`); an analysis can be stopped (`Stop`); and what it read can be
asked whether it is still so (`Record`). An analysis, and what asks about files, is for one thread at a time.
"""

from __future__ import annotations

import io
import os
import tokenize
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from shardlint import seen
from shardlint.cache.facts import Facts, now, written
from shardlint.files import Source
from shardlint.seen import NOTHING, Seen, opened
from shardlint.stopping import Stop, Stopped, look, stoppable

if TYPE_CHECKING:
    from shardlint.config import Settings
    from shardlint.findings import Finding

__all__ = [
    "Record", "Source", "Stop", "Stopped", "encoded", "forget", "look", "opened", "page_of",
    "recorded", "stoppable",
]  # fmt: skip


class Record:
    """What was read of the file system for something."""

    def __init__(self) -> None:
        self._read = Seen()
        self._since = now()

    def hand_on(self) -> None:
        """Count all this as read now."""
        seen.hand_on(self._read)

    def holds(self) -> bool:
        """Whether all that was read is as it was."""
        return not self._read.torn and Facts().hold(written(self._read, self._since))

    def touched(self, paths: Collection[str]) -> bool:
        """Whether a change of one of these absolute paths may matter: it was read, or looked for."""
        return any(self._mentions(path) for path in paths)

    def _mentions(self, path: str) -> bool:
        read = self._read
        if path in read.texts or path in read.kinds or os.path.dirname(path) in read.folders:
            return True
        # Something in a folder that was not there makes the folder.
        above = os.path.dirname(path)
        while above != os.path.dirname(above):
            if read.kinds.get(above) == NOTHING:
                return True
            above = os.path.dirname(above)
        return False


@contextmanager
def recorded() -> Iterator[Record]:
    """Record what is read; it is complete at the end."""
    record = Record()
    with seen.recording(apart=True) as read:
        yield record
    record._read = read.whole()


def forget() -> None:
    """Forget the modules that programs share: as files came or went, names may lead elsewhere."""
    import sys

    if "shardlint.inference.project" in sys.modules:
        from shardlint.inference.project import forget

        forget()


def encoded(text: str) -> bytes:
    """A text as it would stand in its file: in UTF-8, unless it says otherwise (PEP 263)."""
    data = text.encode("utf-8", "surrogatepass")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return text.encode(encoding)
    except (SyntaxError, LookupError, UnicodeError):
        return data


def page_of(finding: Finding, settings: Settings) -> str | None:
    """The address that explains a finding: its rule's page, else JAX's own."""
    from shardlint.config import known_rules
    from shardlint.output.pages import address

    rule = next((rule for rule in known_rules() if rule.name == finding.name), None)
    return None if rule is None else address(rule, settings.page_of)

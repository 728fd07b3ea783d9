"""The progress bar: on a terminal, and only after a while."""

from __future__ import annotations

import io
import sys

import pytest

from shardlint.output import progress
from shardlint.output.progress import ProgressBar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def drawn(stream: io.StringIO, patience: float, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "PATIENCE", patience)
    monkeypatch.setenv("TERM", "xterm")
    with ProgressBar() as bar:
        for number in range(3):
            bar("checking", number, 3)
    return stream.getvalue()


def test_slow_work_on_a_terminal_shows_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "checking" in drawn(Terminal(), 0, monkeypatch)


@pytest.mark.parametrize(("stream", "patience"), [(Terminal, 3600), (io.StringIO, 0)])
def test_quick_work_and_files_show_none(
    stream: type[io.StringIO], patience: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert drawn(stream(), patience, monkeypatch) == ""

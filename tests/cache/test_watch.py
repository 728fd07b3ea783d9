"""`--watch`, in a real process on a real terminal."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from kept_project import FILES, written

WATCHING = "Watching for changes"
#: By what changes are told of: the library where it is installed, else looking.
WAYS = {"told": "", "looking": "sys.modules['watchfiles'] = None\n"}


def _begins(others: int) -> None:
    """What a shell does before a command: Ctrl-C ends it, even if whoever runs the tests ignores that."""
    os.close(others)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Terminal:
    """A process on a terminal of its own."""

    def __init__(self, script: str, folder: Path) -> None:
        ours, theirs = pty.openpty()
        command = [sys.executable, "-c", script, "check", ".", "--output-format", "concise", "--watch"]
        self.process = subprocess.Popen(
            command, cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
            preexec_fn=lambda: _begins(ours),
        )  # fmt: skip
        os.close(theirs)
        os.set_blocking(ours, False)
        self._ours, self.text = ours, ""

    def read(self) -> None:
        try:
            self.text += os.read(self._ours, 65536).decode(errors="replace")
        except (BlockingIOError, OSError):
            time.sleep(0.02)

    def round(self) -> str:
        """What was printed by the end of the next check."""
        end = time.monotonic() + 60
        while WATCHING not in self.text:
            assert time.monotonic() < end and self.process.poll() is None, self.text
            self.read()
        shown, _, self.text = self.text.partition(WATCHING)
        return shown

    def until(self, wanted: str) -> str:
        """What was printed by the first check that says this."""
        for _ in range(10):
            if wanted in (shown := self.round()):
                return shown
        raise AssertionError(f"no {wanted}: {shown}")

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._ours)


@pytest.fixture(params=WAYS)
def terminal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Terminal]:
    if request.param == "told":
        pytest.importorskip("watchfiles")
    (tmp_path / "project").mkdir()
    written(tmp_path / "project")
    script = f"import sys\n{WAYS[request.param]}from shardlint.cli.commands import main\nsys.exit(main())\n"
    found = Terminal(script, tmp_path / "project")
    try:
        yield found
    finally:
        found.close()


def test_each_change_is_checked(terminal: Terminal, tmp_path: Path) -> None:
    project = tmp_path / "project"
    first = terminal.round()
    assert "main.py:4" in first and "SHL202" in first and "\x1b[2J" in first
    (project / "sizes.py").write_text(FILES["sizes.py"].replace("62", "64"))
    assert "All checks passed" in terminal.until("All checks passed")
    (project / "sizes.py").write_text(FILES["sizes.py"].replace("62", "("))
    shown = terminal.until("SHL001")
    assert "changed: sizes.py" in shown
    (project / "shardlint.toml").write_text("select = 3\n")
    assert "shardlint.toml" in terminal.until('"select" must be')
    (project / "shardlint.toml").unlink()
    (project / "sizes.py").write_text(FILES["sizes.py"])
    terminal.until("SHL202")
    (project / "deep" / "layers.py").write_text("from sizes import mesh\nWIDTH = 8\nplace = None\n")
    (project / "main.py").unlink()
    terminal.until("All checks passed")
    (project / "main.py").write_text(FILES["main.py"])
    terminal.until("SHL202")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.process.wait(timeout=30) == 1
    terminal.read()
    assert "Traceback" not in terminal.text


def test_the_exit_code_is_that_of_the_last_check(terminal: Terminal, tmp_path: Path) -> None:
    terminal.round()
    (tmp_path / "project" / "sizes.py").write_text(FILES["sizes.py"].replace("62", "64"))
    terminal.until("All checks passed")
    os.killpg(terminal.process.pid, signal.SIGINT)
    assert terminal.process.wait(timeout=30) == 0


@pytest.mark.parametrize("option", ["--fix", "--diff", "--add-ignores", "--output-file=x"])
def test_what_does_not_go_with_it(option: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "shardlint", "check", "--watch", option],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2 and "does not go with --watch" in done.stderr

"""A check that ends early reports what it found, says what it did not look at, and keeps nothing partial."""

import os
import signal
import sys
from subprocess import run

import pytest

from shardlint.api import Linter, Settings
from shardlint.cache.store import Store
from shardlint.cli.early_end import early_end
from shardlint.engine.analyzer import Analyzer
from shardlint.support.cancellation import Stop

WRONG = """\
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("data", "model"))
x = jax.device_put(jnp.zeros((8, 6)), NamedSharding(mesh, P("data", None, "model")))
"""
#: Nothing is ignored by the comment, which is reported only of a whole check.
IDLE = WRONG.replace(', None, "model"', "") + "y = x  # shardlint: ignore[SHL202] nothing\n"
LONG = WRONG + "x = x + 1\n" * 500
#: The command line, whose group of processes gets a signal when the first file was checked.
SIGNALED = """\
import os, signal, sys
from shardlint.cli import commands
from shardlint.output.progress import ProgressBar

# A shell has what it runs in the background ignore interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)
sent = []

def progress(self, what, done, total):
    if what == "checking" and done and not sent:
        sent.append(True)
        os.killpg(0, int(sys.argv[1]))

ProgressBar.__call__ = progress
sys.exit(commands.main(sys.argv[2:]))
"""


@pytest.fixture
def project(tmp_path):
    for name, text in (("a.py", WRONG), ("b.py", IDLE), ("c.py", WRONG)):
        (tmp_path / name).write_text(text)
    return tmp_path


class After(Stop):
    """A token that is set once it was looked at a number of times."""

    def __init__(self, looks):
        super().__init__(gentle=True)
        self.looks = looks

    @property
    def asked(self):
        self.looks -= 1
        return self.looks < 0

    @asked.setter
    def asked(self, _):
        pass


def codes(report, name):
    return [f.code for f in report.findings if os.path.basename(f.span.path) == name]


def test_what_was_found_is_reported_and_absence_is_not(project):
    stop = Stop(gentle=True)

    def progress(what, done, _):
        if what == "checking" and done:
            stop.ask()

    report = Linter(Settings(), analyzer=Analyzer(stop=stop)).check_paths([str(project)], progress)
    assert codes(report, "a.py") == ["SHL201"]
    assert [os.path.basename(path) for path in report.unreached] in (["b.py", "c.py"], ["c.py"])
    assert "SHL012" not in {f.code for f in report.findings}
    whole = Linter(Settings()).check_paths([str(project)])
    assert not whole.unreached and len(whole.findings) > len(report.findings)
    assert "SHL012" in {f.code for f in whole.findings}


def test_the_file_in_work_ends_with_what_was_found(tmp_path):
    (tmp_path / "long.py").write_text(LONG)
    report = Linter(Settings(), analyzer=Analyzer(stop=After(100))).check_paths([str(tmp_path)])
    assert codes(report, "long.py") == ["SHL014", "SHL201"]
    assert "stopped" in report.findings[0].message
    assert [os.path.basename(path) for path in report.unreached] == ["long.py"]


def test_nothing_partial_is_stored(project, tmp_path):
    store = Store(str(tmp_path / "cache"))
    stopped = Analyzer(store, stop=After(0))
    assert len(Linter(Settings(), analyzer=stopped).check_paths([str(project)]).unreached) == 3
    again = Linter(Settings(), analyzer=Analyzer(store)).check_paths([str(project)])
    store.close()
    assert not again.unreached and codes(again, "c.py") == ["SHL201"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_ends_early_and_a_later_one_at_once(number, monkeypatch):
    before = signal.signal(number, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), early_end(None) as stop:
            for _ in range(2):  # a signal may come to the process and to its group
                os.kill(os.getpid(), number)
                assert stop.asked
            monkeypatch.setattr("shardlint.cli.early_end._SAME", 0)
            os.kill(os.getpid(), number)
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        signal.signal(number, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_signal_during_a_check(tmp_path, number, jobs):
    for name in range(12):
        (tmp_path / f"{name}.py").write_text(LONG)
    command = ["check", "--isolated", "--no-cache", "--jobs", jobs, "."]
    process = run(
        [sys.executable, "-c", SIGNALED, str(int(number)), *command],
        cwd=tmp_path, capture_output=True, text=True, start_new_session=True, timeout=60,
    )  # fmt: skip
    assert process.returncode == 1 and "SHL201" in process.stdout, process
    assert "were not checked to the end" in process.stderr


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_time_limit(project, jobs):
    def check(seconds):
        command = [sys.executable, "-m", "shardlint", "check", "--isolated", "--no-cache", "--jobs", jobs]
        return run([*command, "--timeout", seconds, "."], cwd=project, capture_output=True, text=True)

    at_once, enough = check("0.000001"), check("1000")
    assert at_once.returncode == 2 and "3 were not checked to the end: a.py, b.py, c.py" in at_once.stderr
    assert enough.returncode == 1 and "to the end" not in enough.stderr and "SHL201" in enough.stdout
    wrong = check("0")
    assert wrong.returncode == 2 and "no positive number of seconds" in wrong.stderr

"""What `check` writes and where: formats, files, statistics, standard input, what cannot be written."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from support.command import START, run_command

from shardlint.cli.report_output import _FORMATS
from shardlint.output.formats.registry import FORMATS

BROKEN = """\
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
x = jax.device_put(jnp.zeros((8, 10)), NamedSharding(mesh, P(None, "model")))
"""
COMMAND = [sys.executable, "-c", START]
PLAIN = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR")}


def run(
    folder: Path, *arguments: str, text: str | bytes | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    given = text.encode() if isinstance(text, str) else text
    done = run_command(arguments, folder, {**PLAIN, **environment}, given or b"")
    out, err = done.stdout.decode(), done.stderr.decode()
    assert "Traceback" not in out + err
    assert "internal error" not in err
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)


def read(name: str, text: str) -> int:
    """How many findings a text in some format holds."""
    match name:
        case "json" | "gitlab":
            return len(json.loads(text))
        case "sarif":
            return len(json.loads(text)["runs"][0]["results"])
        case "junit":
            return len(ElementTree.fromstring(text).findall(".//failure"))
        case "github":
            return sum(line.startswith("::error ") for line in text.splitlines())
    return text.count("error[")


def test_every_format_is_offered() -> None:
    assert _FORMATS == FORMATS


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_in_a_file_and_out_of_it(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.py").write_text(BROKEN)
    shown = run(tmp_path, "check", "a.py", "--output-format", name)
    assert (shown.returncode, shown.stderr, read(name, shown.stdout)) == (1, "", 1)
    written = run(
        tmp_path,
        "check",
        "a.py",
        "--output-format",
        name,
        "--output-file",
        "new/folder/report",
        FORCE_COLOR="1",
    )
    assert (written.returncode, written.stdout, written.stderr) == (1, "", "")
    assert (tmp_path / "new" / "folder" / "report").read_text() == shown.stdout
    (tmp_path / "a.py").write_text(BROKEN.replace("10", "16"))
    clean = run(tmp_path, "check", "a.py", "--output-format", name)
    assert (clean.returncode, read(name, clean.stdout)) == (0, 0)


@pytest.mark.parametrize(
    ("file", "why"),
    [
        ("a.py/report", "Not a directory"),
        ("/dev/full", "No space left on device"),
        ("/proc/no/report", "No such file or directory"),
        ("\N{LATIN SMALL LETTER A}" * 300, "File name too long"),
    ],
)
def test_what_cannot_be_written_goes_to_standard_output(tmp_path: Path, file: str, why: str) -> None:
    (tmp_path / "a.py").write_text(BROKEN)
    done = run(tmp_path, "check", "a.py", "--output-format", "sarif", "--output-file", file)
    assert (done.returncode, read("sarif", done.stdout)) == (2, 1)
    assert "cannot be written" in done.stderr
    if not (file.startswith("a.py") and "File exists" in done.stderr):
        assert why in done.stderr


def test_a_folder_is_no_output_file(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(BROKEN)
    done = run(tmp_path, "check", "a.py", "--output-file", ".")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "shardlint: . cannot be written: it is a folder\n"


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_standard_output_is_said(tmp_path: Path, unbuffered: str) -> None:
    (tmp_path / "a.py").write_text(BROKEN)
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, "check", "a.py"],
            cwd=tmp_path, env={**PLAIN, "PYTHONUNBUFFERED": unbuffered}, stdout=full, stderr=subprocess.PIPE,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == b"shardlint: standard output cannot be written: No space left on device\n"


def test_statistics(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        BROKEN + 'def f(): NamedSharding(mesh, P("rows"))\ndef g(): NamedSharding(mesh, P("rows"))\n'
    )
    done = run(tmp_path, "check", "--statistics")
    assert done.returncode == 1
    assert done.stdout == (
        "2\tSHL103\tunknown-mesh-axis\n1\tSHL202\tindivisible-dimension\nFound 3 errors.\n"
    )
    counted = json.loads(run(tmp_path, "check", "--statistics", "--output-format", "json").stdout)
    assert counted[0] == {"code": "SHL103", "name": "unknown-mesh-axis", "count": 2}
    assert run(tmp_path, "check", "--statistics", "--exit-zero").returncode == 0
    wrong = run(tmp_path, "check", "--statistics", "--output-format", "sarif")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "--statistics has no format sarif" in wrong.stderr


def test_quiet_says_nothing_but_the_findings(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(BROKEN)
    flags = ("check", "-q", "--output-format", "concise", "--confirm", "--python", "no-python")
    done = run(tmp_path, *flags)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.count("\n") == 1
    (tmp_path / "a.py").write_text("")
    assert run(tmp_path, "check", "--quiet").stdout == ""


def test_standard_input_is_the_file_of_its_name(tmp_path: Path) -> None:
    source = tmp_path / "src"
    source.mkdir()
    (source / "sizes.py").write_text("WIDTH = 10\n")
    text = BROKEN.replace("10", "WIDTH").replace("import jax\n", "import jax\nfrom sizes import WIDTH\n", 1)
    for name in ("src/a.py", "src/new.py"):
        (source / "a.py").write_text("import jax\n")
        done = run(tmp_path, "check", "-", "--stdin-filename", name, text=text)
        assert done.returncode == 1
        assert done.stdout.startswith(f"{name}:8:71: error[SHL202]")
        assert "8 | x = jax.device_put(jnp.zeros((8, WIDTH))" in done.stdout
    (source / "shardlint.toml").write_text('ignore = ["SHL202"]\n')
    assert run(tmp_path, "check", "--stdin-filename", "src/a.py", text=text).returncode == 0
    (source / "a.py").write_text(text)
    (source / "shardlint.toml").unlink()
    piped = run(tmp_path, "check", "-", "--stdin-filename", "src/a.py", "--output-format", "json", text=text)
    named = run(tmp_path, "check", "src/a.py", "--output-format", "json")
    assert piped.stdout == named.stdout


def test_standard_input_without_a_name(tmp_path: Path) -> None:
    done = run(tmp_path, "-", "--output-format", "concise", text=BROKEN)
    assert (done.returncode, done.stdout.startswith("-:7:68: error[SHL202]")) == (1, True)
    assert run(tmp_path, "-", text="").returncode == 0
    assert "SHL001" in run(tmp_path, "-", text="mesh = (\n").stdout
    assert "SHL002" in run(tmp_path, "-", text="mesh = 'é'\n".encode("latin-1")).stdout


@pytest.mark.parametrize("name", ["full", "sarif"])
def test_a_notebook_on_standard_input(tmp_path: Path, name: str) -> None:
    notebook = {"nbformat": 4, "cells": [{"cell_type": "code", "source": f"%time\n{BROKEN}"}]}
    flags = ("check", "-", "--stdin-filename", "n.ipynb", "--output-format", name)
    done = run(tmp_path, *flags, text=json.dumps(notebook, indent=1))
    assert done.returncode == 1
    if name == "full":
        assert done.stdout.startswith("n.ipynb:cell 0:8:68: error[SHL202]")
        assert "8 | x = jax.device_put(" in done.stdout
    else:
        place = json.loads(done.stdout)["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
        assert place["region"]["startLine"] == 6


def test_standard_input_is_not_the_fixture_on_disk(tmp_path: Path) -> None:
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "fixtures" / "a.py").write_text("open('ran', 'w')\n")
    text = BROKEN.rstrip() + "  # expect: SHL202\n"
    done = run(tmp_path, "check", "-", "--stdin-filename", "fixtures/a.py", "--confirm", text=text)
    assert (done.returncode, done.stdout) == (
        0,
        "All checks passed (1 finding, announced by the programs).\n",
    )
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("-", "a.py"), "give - and no other path"),
        (("a.py", "--stdin-filename", "b.py"), "give - and no other path"),
        (("-", "--stdin-filename", "folder"), "--stdin-filename folder is a folder"),
        (("-", "--fix"), "--fix does not go with standard input"),
        (("-", "--output-format", "sarfi"), "there is no format 'sarfi'; did you mean 'sarif'?"),
    ],
)
def test_wrong_usage(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    (tmp_path / "folder").mkdir()
    done = run(tmp_path, "check", *arguments, text=BROKEN)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def on_a_terminal(folder: Path, *arguments: str, **environment: str) -> str:
    """What a command writes on a terminal that is its standard output."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=folder, env={**PLAIN, "TERM": "xterm", **environment}, stdout=theirs, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(theirs)
    pieces = []
    try:
        while piece := os.read(ours, 4096):
            pieces.append(piece)
    except OSError:
        pass  # which is how a terminal ends on Linux
    finally:
        os.close(ours)
        process.wait(timeout=60)
    return b"".join(pieces).decode()


def test_colours_and_links_are_for_terminals(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(BROKEN)
    flags = ("check", "a.py")
    shown = on_a_terminal(tmp_path, *flags)
    assert "\x1b[1;31m" in shown
    assert "\x1b]8;;https://" in shown
    for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\x1b" not in on_a_terminal(tmp_path, *flags, **environment)
    assert "\x1b" not in on_a_terminal(tmp_path, *flags, "--output-format", "json")
    assert "\x1b" not in run(tmp_path, *flags).stdout
    forced = run(tmp_path, *flags, FORCE_COLOR="1").stdout
    assert "\x1b[1;31m" in forced
    assert "\x1b]8" not in forced

"""The command line as a user runs it: exit codes, formats, bad input, never a traceback."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.command import START, run_command

from shardlint import __version__
from shardlint.laws.versions import NEWEST, OLDEST

BROKEN = """\
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
x = jax.device_put(jnp.zeros((8, 10)), NamedSharding(mesh, P(None, "model")))
"""
RIGHT = BROKEN.replace("10", "16")


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    ran = run_command(arguments, folder, {**os.environ, "NO_COLOR": "", **environment})
    done = subprocess.CompletedProcess(ran.args, ran.returncode, ran.stdout.decode(), ran.stderr.decode())
    assert "Traceback" not in done.stderr + done.stdout
    assert done.returncode in (0, 1, 2), done.stderr
    return done


def test_a_finding_exits_with_1(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(BROKEN)
    done = run(tmp_path, "check", "a.py")
    assert done.returncode == 1
    assert done.stdout.startswith("a.py:7:68: error[SHL202] ")
    assert (
        '7 | x = jax.device_put(jnp.zeros((8, 10)), NamedSharding(mesh, P(None, "model")))\n' in done.stdout
    )
    assert re.search(r"^  \| {68}\^{7}$", done.stdout, re.MULTILINE)
    assert done.stdout.endswith("\nFound 1 error.\n")
    assert done.stderr == ""
    assert "\x1b" not in done.stdout


def test_what_python_warns_of_in_a_file_is_not_said(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text("def g(n):\n    import old\n    return 0or n, n is 1\n")
    (tmp_path / "old.py").write_text(
        "from jax.experimental.shard_map import shard_map\nimport odd\nf = 1or shard_map\n"
    )
    done = run(tmp_path, "check", ".")
    assert "SHL801" in done.stdout
    assert done.stderr == ""


def test_the_command_may_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(BROKEN)
    assert run(tmp_path, "a.py").stdout == run(tmp_path, "check").stdout
    assert run(tmp_path, "--output-format", "concise", "a.py").stdout.count("\n") == 2


def test_clean_exits_with_0(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(RIGHT)
    done = run(tmp_path, "check", ".")
    assert (done.returncode, done.stdout, done.stderr) == (0, "All checks passed (1 file).\n", "")


def test_a_folder_without_files_is_clean(tmp_path: Path) -> None:
    done = run(tmp_path, "check", ".")
    assert (done.returncode, done.stdout) == (0, "There are no files to check.\n")


def test_exit_zero(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(BROKEN)
    assert run(tmp_path, "check", "--exit-zero").returncode == 0


def test_expected_findings_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "fixtures" / "a.py").write_text(BROKEN.rstrip() + "  # expect: SHL202\n")
    done = run(tmp_path, "check")
    assert (done.returncode, done.stdout) == (
        0,
        "All checks passed (1 finding, announced by the programs).\n",
    )
    done = run(tmp_path, "check", "--show-expected", "--output-format", "concise")
    assert done.returncode == 0
    assert "(expected)\n" in done.stdout
    (shown,) = json.loads(run(tmp_path, "check", "--show-expected", "--output-format", "json").stdout)
    assert shown["expected"] is True


def test_json_is_one_array_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(BROKEN)
    done = run(tmp_path, "check", "--output-format", "json")
    (finding,) = json.loads(done.stdout)
    assert (done.returncode, finding["code"], finding["line"], finding["column"]) == (1, "SHL202", 7, 68)
    assert finding["confirmation"] == "unconfirmed"


@pytest.mark.parametrize(
    ("flag", "found"), [("--select=SHL1,SHL3", 0), ("--ignore=SHL202", 0), ("--select=SHL2", 1)]
)
def test_rules_may_be_chosen(tmp_path: Path, flag: str, found: int) -> None:
    (tmp_path / "a.py").write_text(BROKEN)
    assert run(tmp_path, "check", flag).returncode == found


def test_the_number_of_devices_is_a_fact(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(RIGHT)
    assert run(tmp_path, "check").returncode == 0
    assert run(tmp_path, "check", "--devices", "8").returncode == 0
    done = run(tmp_path, "check", "--devices", "6", "--output-format", "concise")
    assert (done.returncode, "SHL4" in done.stdout) == (1, True)


def test_exhaustive_finds_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(BROKEN)
    (tmp_path / "b.py").write_text("x = 1\n")
    flags = ("check", "--output-format", "json")
    assert run(tmp_path, *flags).stdout == run(tmp_path, *flags, "--exhaustive", "--no-cache").stdout


BAD = {
    "brackets.py": (b"mesh = " + b"(" * 2000 + b")" * 2000, "SHL004"),
    "sum.py": (b"P = mesh" + b" + 1" * 10_000, "SHL004"),
    "latin.py": ("mesh = 'é'\n".encode("latin-1"), "SHL002"),
    "nul.py": (b"mesh = 1\0\n", "SHL001"),
    "syntax.py": (b"mesh = (\n", "SHL001"),
    "indent.py": (b"".join(b" " * i + b"if mesh:\n" for i in range(150)) + b" " * 150 + b"x\n", "SHL001"),
    "broken.ipynb": (b'{"cells": [ mesh', "SHL003"),
    "list.ipynb": (b'["mesh"]', "SHL003"),
    "huge.py": (b"mesh = 1\n" + b"x = 1\n" * 2_000_000, "SHL005"),
}


def test_bad_files_are_findings_and_the_others_are_checked(tmp_path: Path) -> None:
    for name, (data, _) in BAD.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "wrong.py").write_text(BROKEN)
    done = run(tmp_path, "check", "--output-format", "json")
    assert done.returncode == 1
    found = {(finding["path"], finding["code"]) for finding in json.loads(done.stdout)}
    assert found == {("wrong.py", "SHL202"), *((name, code) for name, (_, code) in BAD.items())}
    assert run(tmp_path, "check", "--output-format", "full").returncode == 1


def test_a_missing_path_is_an_error_of_the_user(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(BROKEN)
    done = run(tmp_path, "check", "a.py", "no.py", "--output-format", "json")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "shardlint: no.py does not exist\n")
    done = run(tmp_path, "no.py", "nor/this.py")
    assert (done.returncode, done.stderr) == (2, "shardlint: no.py, nor/this.py do not exist\n")


def test_a_notebook_is_checked_cell_by_cell(tmp_path: Path) -> None:
    setup, use = BROKEN.rsplit("x = ", 1)
    cells = [
        {"cell_type": "markdown", "source": "# mesh"},
        {"cell_type": "code", "source": f"%matplotlib inline\n!pip install 'jax\n{setup}"},
        {"cell_type": "code", "source": "%%bash\nls '"},
        {"cell_type": "code", "source": f"files = !ls\nx = {use}"},
    ]
    (tmp_path / "n.ipynb").write_text(json.dumps({"nbformat": 4, "cells": cells}))
    done = run(tmp_path, "check", "n.ipynb")
    assert done.returncode == 1
    assert done.stdout.startswith("n.ipynb:cell 3:2:68: error[SHL202]")
    assert "2 | x = jax.device_put(" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check", "--devices", "0"], "must be a whole number above 0"),
        (["check", "--mesh", "data"], 'a mesh is written "data=2,model=4"'),
        (["check", "--select", "SHL999"], '"--select": no rule is called "SHL999"'),
        (["check", "--output-format", "xml"], "invalid choice"),
        (["explain", "SHL299"], "no rule is called SHL299; did you mean SHL2"),
        (["explain", "zzz"], "`shardlint rules` lists them"),
        (["layout", "no.py:3"], "no.py does not exist"),
        (["run", "no.py"], "no.py does not exist"),
        (["run"], "required"),
        (["check", "--selct=SHL2"], "there is no option --selct; did you mean --select?"),
        (["--versoin"], "there is no option --versoin; did you mean --version?"),
        (["check", "--sel", "SHL2"], "there is no option --sel"),
        (["chek", "."], "there is no command and no path chek; did you mean check?"),
    ],
)
def test_wrong_usage_exits_with_2(tmp_path: Path, arguments: list[str], said: str) -> None:
    done = run(tmp_path, *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""


def test_a_bad_configuration_exits_with_2(tmp_path: Path) -> None:
    (tmp_path / "shardlint.toml").write_text("devcies = 3\n")
    done = run(tmp_path, "check", ".")
    assert done.returncode == 2
    assert "shardlint.toml" in done.stderr
    assert 'unknown key "devcies"; did you mean "devices"?' in done.stderr


def test_the_configuration_counts(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(BROKEN)
    (tmp_path / "pyproject.toml").write_text('[tool.shardlint]\nignore = ["SHL202"]\n')
    assert run(tmp_path, "check").returncode == 0


def test_explain_and_rules() -> None:
    here = Path.cwd()
    assert run(here, "explain", "SHL202").stdout == run(here, "explain", "indivisible-dimension").stdout
    assert run(here, "explain", "shl001").stdout.startswith("# syntax-error (SHL001)")
    listed = run(here, "rules").stdout.splitlines()
    assert [line.split()[0] for line in listed] == sorted(line.split()[0] for line in listed)
    assert "SHL202" in {line.split()[0] for line in listed}


def test_layout_shows_what_each_device_holds(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(RIGHT)
    done = run(tmp_path, "layout", "a.py")
    assert done.returncode == 0
    assert "shard    (8, 4), 128 bytes on each device" in done.stdout
    assert "│ 0,4 │ 1,5 │ 2,6 │ 3,7 │" in done.stdout
    assert run(tmp_path, "layout", "a.py:7").stdout == done.stdout
    assert "No array with a known shape, spec and mesh on line 6" in run(tmp_path, "layout", "a.py:6").stdout


def test_what_a_comment_asks_is_no_problem_of_layout(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(RIGHT.rstrip() + "  # shardlint: reveal\n")
    done = run(tmp_path, "layout", "a.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert "shard    (8, 4), 128 bytes on each device" in done.stdout


def test_layout_says_where_jax_refuses_the_array(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(BROKEN)
    said = run(tmp_path, "layout", "a.py").stdout
    assert "JAX refuses what is there; `shardlint check a.py` says why." in said


def test_run_sets_the_finding_beside_what_jax_does(tmp_path: Path) -> None:
    head, line = BROKEN.rstrip().rsplit("\n", 1)
    cases = "".join(
        f"\n\ndef case_{name}():\n    {line.replace('10', size)}{comment}\n"
        for name, size, comment in (("wrong", "10", "  # expect: SHL202"), ("right", "16", ""))
    )
    fixture = tmp_path / "fixtures" / "a.py"
    fixture.parent.mkdir()
    fixture.write_text(head + cases)
    done = run(tmp_path, "run", "fixtures")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SHL202 indivisible-dimension" in done.stdout
    assert "1 fixture, 3 parts: no disagreement." in done.stdout
    fixture.write_text(f"{head}\n{line}  # expect: SHL202\n")
    assert "1 fixture, 1 part: no disagreement." in run(tmp_path, "run", "fixtures").stdout
    fixture.write_text((head + cases).replace("  # expect: SHL202", ""))
    done = run(tmp_path, "run", "fixtures")
    assert done.returncode == 1
    assert "nothing announces it" in done.stdout


def test_confirming_a_fixture_runs_it(tmp_path: Path) -> None:
    fixture = tmp_path / "fixtures" / "a.py"
    fixture.parent.mkdir()
    fixture.write_text(BROKEN.rstrip() + "  # expect: SHL202\ny = x  # expect-silent: SHL601\n")
    done = run(tmp_path, "check", "--confirm", "--show-expected", "--output-format", "json")
    found = [(f["code"], f["line"], f["expected"], f["confirmation"]) for f in json.loads(done.stdout)]
    assert found == [("SHL202", 7, True, "confirmed"), ("SHL901", 8, False, "confirmed")]
    assert done.returncode == 1
    fixture.write_text(BROKEN.rstrip() + "  # expect: SHL202\n")
    assert run(tmp_path, "check", "--confirm").returncode == 0


def test_a_fixture_that_ends_before_it_imports_jax_is_not_compared(tmp_path: Path) -> None:
    (tmp_path / "fixtures").mkdir()
    text = "import not_there\nimport jax\nmesh = jax.make_mesh((2,), ('x',))\n"
    (tmp_path / "fixtures" / "early.py").write_text(text)
    done = run(tmp_path, "check", "--confirm")
    assert done.returncode == 0
    assert "early.py imported no JAX as it ran: nothing is compared" in done.stderr


def test_a_fixture_that_cannot_be_run_changes_no_exit_code(tmp_path: Path) -> None:
    fixture = tmp_path / "fixtures" / "a.py"
    fixture.parent.mkdir()
    fixture.write_text(BROKEN.rstrip() + "  # expect: SHL202\n")
    done = run(tmp_path, "check", "--confirm", "--python", str(tmp_path / "no-python"))
    assert (done.returncode, done.stdout) == (
        0,
        "All checks passed (1 finding, announced by the programs).\n",
    )
    assert done.stderr.startswith("note: ")
    assert done.stderr.count("\n") == 1


def test_a_finding_is_confirmed_by_jax(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(BROKEN)
    done = run(tmp_path, "check", "--confirm", "--output-format", "json")
    (finding,) = json.loads(done.stdout)
    assert (done.returncode, finding["confirmation"]) == (1, "confirmed")
    assert "IndivisibleError" in finding["confirmed_by"] or "ValueError" in finding["confirmed_by"]


def test_without_jax_findings_stay_unconfirmed(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(BROKEN)
    done = run(
        tmp_path, "check", "--confirm", "--python", str(tmp_path / "no-python"), "--output-format", "json"
    )
    (finding,) = json.loads(done.stdout)
    assert (done.returncode, finding["confirmation"]) == (1, "unconfirmed")
    assert done.stderr.startswith("note: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_names_and_pictures_that_are_no_text_here(tmp_path: Path, encoding: str) -> None:
    name = os.fsdecode(b"\xff.py")
    (tmp_path / name).write_text(RIGHT)
    assert run(tmp_path, "layout", name, PYTHONIOENCODING=encoding).returncode == 0
    (tmp_path / name).write_text(BROKEN)
    for output in ("full", "concise", "json"):
        done = run(tmp_path, "check", "--output-format", output, PYTHONIOENCODING=encoding)
        assert done.returncode == 1, done.stderr


def test_the_version() -> None:
    done = run(Path.cwd(), "--version")
    assert (done.returncode, done.stdout) == (0, f"shardlint {__version__} (JAX {OLDEST} to {NEWEST})\n")


def test_without_arguments_the_help_is_shown() -> None:
    done = run(Path.cwd())
    assert done.returncode == 2
    assert "usage: shardlint" in done.stdout


def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(BROKEN)
    command = [sys.executable, "-c", START, "rules"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""


def test_a_missing_server_says_how_to_install_it(tmp_path: Path) -> None:
    (tmp_path / "pygls.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'pygls'\", name='pygls')\n"
    )
    done = run(tmp_path, "server", PYTHONPATH=str(tmp_path))
    assert done.returncode == 2
    assert 'pip install "shardlint[server]"' in done.stderr


def test_a_start_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom shardlint.cli.commands import main\n"
        "try: main(['--version'])\nexcept SystemExit: pass\n"
        "print(sorted({'libcst', 'rich', 'pathspec', 'json', 'jax'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]"

"""A run over files with several configurations, and what the command line changes, in real runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shardlint.api import Linter, load_settings
from shardlint.cli.commands import main
from shardlint.config import CommandLine, ConfigError, Configurations

BROKEN = """
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()[:8]).reshape(2, 4), ("data", "model"))
x = jax.device_put(jnp.zeros((8, 10)), NamedSharding(mesh, P(None, "model")))
"""
LARGE = BROKEN.replace(
    '(8, 10)), NamedSharding(mesh, P(None, "model"))', "(8192, 8192)), NamedSharding(mesh, P())"
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    return tmp_path


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_toml", ".toml").replace("_py", ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def found(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[tuple[str, str, str]]:
    """Path, code and severity of each finding."""
    assert main(["check", *arguments, "--output-format", "json"]) in (0, 1)
    said: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return sorted((one["path"], one["code"], one["severity"]) for one in said)


def test_each_file_has_the_nearest_configuration(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, a_py=BROKEN, sub__b_py=BROKEN, sub__deep__c_py=BROKEN, other__d_py=BROKEN)
    write(project, sub__shardlint_toml='ignore = ["SHL202"]')
    write(project, other__pyproject_toml='[tool.shardlint]\nper-file-ignores = {"d.py" = ["correctness"]}')
    assert [path for path, *_ in found(capsys, ".")] == ["a.py"]
    # The order of the paths does not matter.
    assert [path for path, *_ in found(capsys, "sub", "a.py", "other")] == ["a.py"]


def test_of_several_files_in_a_folder_the_hidden_one_counts(project: Path) -> None:
    write(project, pyproject_toml="[tool.shardlint]\ndevices = 2")
    assert load_settings("a.py").devices == 2
    write(project, shardlint_toml="devices = 3")
    assert load_settings("a.py").devices == 3
    (project / ".shardlint.toml").write_text("devices = 4")
    assert load_settings("a.py").devices == 4


def test_a_byte_order_mark_is_no_part_of_a_configuration(project: Path) -> None:
    (project / "shardlint.toml").write_bytes(b"\xef\xbb\xbfdevices = 8\n")
    assert load_settings(".").devices == 8


def test_files_of_one_run_are_analyzed_under_their_own_settings(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = BROKEN.replace(
        "mesh = Mesh(np.array(jax.devices()[:8]).reshape(2, 4)", "mesh = jax.make_mesh((4, 4)"
    )
    program = program.replace("(8, 10)", "(8, 8)")
    write(project, a_py=program, small__b_py=program, shardlint_toml="devices = 16")
    write(project, small__shardlint_toml="devices = 8")
    assert [(path, code) for path, code, _ in found(capsys, ".")] == [("small/b.py", "SHL403")]


def test_a_rule_about_the_project_sees_all_of_it(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    maker = (
        "import jax\nfrom jax.sharding import AxisType\n"
        "mesh = jax.make_mesh((2, 4), ('data', 'model'), axis_types=(AxisType.Auto,) * 2)\n"
    )
    user = (
        "import jax.numpy as jnp, jax\nfrom jax.sharding import NamedSharding, PartitionSpec as P\n"
        "from meshes import mesh\n"
        "a = jax.device_put(jnp.zeros((8, 8)), NamedSharding(mesh, P({})))\n"
    )
    write(
        project,
        meshes_py=maker,
        main_py=user.format("'data'"),
        tests__test_it_py=user.format("None, 'model'"),
    )
    together = found(capsys, ".")
    write(project, tests__shardlint_toml='ignore = ["SHL601"]\ndevices = 8')
    assert found(capsys, ".") == together
    assert not any(code == "SHL602" for _, code, _ in together)


def test_a_nested_configuration_resolves_the_imports_of_the_project(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    layout = BROKEN.rpartition("x = ")[0]
    write(project, src__pkg____init___py="", src__pkg__layout_py=layout, shardlint_toml="")
    test = "import jax\nimport jax.numpy as jnp\nfrom jax.sharding import *\nfrom pkg.layout import mesh\n"
    test += 'x = jax.device_put(jnp.zeros((8, 10)), NamedSharding(mesh, PartitionSpec(None, "model")))\n'
    write(project, tests__a__b__test_it_py=test)
    expected = [("tests/a/b/test_it.py", "SHL202", "error")]
    assert found(capsys, ".") == expected
    write(project, tests__a__shardlint_toml="devices = 8")
    assert found(capsys, ".") == expected
    assert found(capsys, "tests") == expected


def test_severity_is_lowered_and_errors_stay(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, a_py=BROKEN, b_py=LARGE)
    assert found(capsys, ".") == [("a.py", "SHL202", "error"), ("b.py", "SHL601", "warning")]
    write(project, shardlint_toml='severity = { SHL = "info" }')
    assert found(capsys, ".") == [("a.py", "SHL202", "error"), ("b.py", "SHL601", "info")]
    assert main(["check", "b.py"]) == 0


def test_files_are_ignored_by_the_rules_for_them(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, a_py=BROKEN, tests__b_py=BROKEN, tests__c_py=BROKEN)
    paths = lambda *arguments: [path for path, *_ in found(capsys, ".", *arguments)]  # noqa: E731
    assert paths("--per-file-ignores", "tests/:SHL2") == ["a.py"]
    assert paths("--per-file-ignores", "!tests/:SHL2, c.py:correctness") == ["tests/b.py"]
    write(project, shardlint_toml='[per-file-ignores]\n"/a.py" = ["indivisible-dimension"]')
    assert paths() == ["tests/b.py", "tests/c.py"]
    assert paths("--extend-per-file-ignores", "tests/b.py:ALL") == ["tests/c.py"]
    assert paths("--per-file-ignores", "tests/b.py:ALL") == ["a.py", "tests/c.py"]


def test_the_command_line_chooses_files(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, a_py=BROKEN, gen__b_py=BROKEN, old__c_py=BROKEN, build__d_py=BROKEN)
    write(project, shardlint_toml='extend-exclude = ["old"]')
    (project / ".gitignore").write_text("a.py")
    paths = lambda *arguments: [path for path, *_ in found(capsys, *arguments)]  # noqa: E731
    assert paths(".") == ["gen/b.py"]
    assert paths(".", "--extend-exclude", "gen") == []
    assert paths(".", "--no-respect-gitignore") == ["a.py", "gen/b.py"]
    assert paths(".", "--exclude", "gen/b.py") == ["build/d.py"]
    assert paths("old/c.py") == ["old/c.py"]
    assert paths("old/c.py", "--force-exclude") == []


def test_settings_on_the_command_line(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(
        project, a_py=BROKEN, shardlint_toml='ignore = ["SHL202"]\nmeshes.a = { x = 2 }\nmeshes.b = { x = 4 }'
    )
    assert found(capsys, "a.py") == []
    assert found(capsys, "a.py", "--isolated") != []
    assert found(capsys, "a.py", "--config", "ignore = []") != []
    assert found(capsys, "a.py", "--select", "SHL2") != []
    assert found(capsys, "a.py", "--isolated", "--config", 'ignore=["SHL202"]') == []
    given = Configurations(CommandLine(("meshes.b.x = 8", "confirm.timeout = 5", "dims.cfg.ff = 3")))
    settings = given.of("a.py")
    assert [(name, mesh.sizes) for name, mesh in settings.meshes] == [("a", (2,)), ("b", (8,))]
    assert (settings.confirm_timeout, settings.dims) == (5, (("cfg.ff", 3),))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--config", "devcies=8"],
            """--config 'devcies=8': unknown key "devcies"; did you mean "devices"?""",
        ),
        (["--config", "target-jax=new"], 'a string has quotes: target-jax="new"'),
        (["--config", "no.toml"], "--config no.toml: there is no such file"),
        (["--config", "a.toml", "--config", "b.toml"], "--config names one file"),
        (["--config", "a.toml", "--isolated"], "with --isolated there is no --config FILE"),
        (["--select", ","], "--select needs a value"),
        (["--ignore", "SHL77"], '"--ignore": no rule is called "SHL77"; did you mean "SHL7'),
        (["--per-file-ignores", "tests"], 'a pair is written "tests/:SHL601", not "tests"'),
        (["--per-file-ignores", "tests:SHL77"], 'no rule is called "SHL77"'),
        (["--exclude", "!"], '"--exclude": "!" is no pattern of paths'),
    ],
)
def test_what_is_wrong_on_the_command_line(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    write(project, a_toml="", b_toml="", x_py="")
    assert main(["check", ".", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_a_wrong_file_deep_in_the_tree_is_named(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(
        project,
        a_py=BROKEN,
        x__b_py="",
        x__pyproject_toml='[project]\nname = "x"\n[tool.shardlint]\n\ndevices = 0\n',
    )
    assert main(["check", "."]) == 2
    assert capsys.readouterr().err == (
        'shardlint: x/pyproject.toml:5: "devices" must be a whole number above 0, not 0\n'
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# one\n\ndevcies = 3", 3),
        ('select = [\n  "SHL1",\n  "SHL77",\n]', 3),
        ("[meshes]\na = {x = 2}\nb = {x = 0}", 3),
        ("[meshes.a]\nx = 2\n[meshes.b]\nx = 2\ny = 0", 5),
        ("meshes.a.x = 2\nmeshes.a.y = 0", 2),
        ('[per-file-ignores]\n"a" = ["ALL"]\n"b" = [\n"SHL1",\n"x"]', 5),
        ('exclude = """\na"""\ndevices = 1', 1),
        ("[logical-axes]\nrules = [\n[1, 2],\n]", 1),
        ("[severity]\nSHL1 = 'info'\nSHL2 = 'error'", 3),
    ],
)
def test_the_line_is_told(project: Path, text: str, line: int) -> None:
    write(project, shardlint_toml=text)
    with pytest.raises(ConfigError, match=rf"^shardlint\.toml:{line}: "):
        load_settings(".")


def test_what_is_in_force_is_shown(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(
        project,
        pyproject_toml='[project]\nname = "p"\ndependencies = ["jax>=0.7,<0.8"]\n',
    )
    with (project / "pyproject.toml").open("a") as file:
        file.write(
            '[tool.shardlint]\ndevices = 8\nignore = ["SHL6"]\n[tool.shardlint.meshes]\n"a b" = { x = 2 }\n'
        )
    arguments = ["config", "--ignore", "SHL1", "--config", "confirm.timeout=5", "--exclude", "gen"]
    assert main([*arguments]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "devices = 8  # pyproject.toml:5" in lines
    assert 'ignore = ["SHL6"]  # pyproject.toml:6' in lines
    assert 'ignore = ["SHL1"]  # command line, --ignore' in lines
    assert 'meshes."a b" = { x = 2 }  # pyproject.toml:8' in lines
    assert 'target-jax = ">=0.7.0,<=0.7.2"  # requirement, pyproject.toml' in lines
    assert "confirm.timeout = 5  # command line, --config 'confirm.timeout=5'" in lines
    assert 'exclude = ["gen"]  # command line, --exclude' in lines
    assert "preview = false  # default" in lines
    assert main(["config", "meshes", "--output-format", "json"]) == 0
    (shown,) = json.loads(capsys.readouterr().out)
    assert (shown["key"], shown["entry"], shown["value"]) == ("meshes", "a b", {"x": 2})
    assert shown["source"] == {"kind": "file", "name": str(project / "pyproject.toml"), "line": 8}
    assert main(["config", "confirm.timout"]) == 2
    assert 'there is no key "confirm.timout"; did you mean "confirm.timeout"?' in capsys.readouterr().err


def test_what_options_add_and_replace_is_shown(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(
        project,
        shardlint_toml='ignore = ["SHL1"]\nextend-exclude = ["a"]\nper-file-ignores = {"a" = ["ALL"]}',
    )
    options = ("--select", "SHL2", "--extend-exclude", "b", "--per-file-ignores", "b:ALL")
    shown = {}
    for key in ("ignore", "extend-exclude", "per-file-ignores"):
        assert main(["config", key, *options, "--output-format", "json"]) == 0
        shown[key] = [(one["value"], one["source"]["kind"]) for one in json.loads(capsys.readouterr().out)]
    assert shown == {
        "ignore": [([], "default")],
        "extend-exclude": [(["a"], "file"), (["b"], "command line")],
        "per-file-ignores": [(["ALL"], "command line")],
    }


def test_what_is_shown_is_a_configuration(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(
        project, shardlint_toml='devices = 8\nmeshes.a = { x = 2 }\n"per-file-ignores" = { "a b" = ["SHL1"] }'
    )
    before = load_settings(".")
    assert main(["config"]) == 0
    write(project, shardlint_toml=capsys.readouterr().out)
    assert load_settings(".") == before


def test_a_selector_of_a_preview_does_nothing_and_says_so(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import dataclasses

    from shardlint.config import selection

    previews = [
        dataclasses.replace(rule, preview=rule.code == "SHL202")  # type: ignore[type-var]
        for rule in selection.known_rules()
    ]
    monkeypatch.setattr(selection, "known_rules", lambda: previews)
    selection.selected_codes.cache_clear()
    write(project, a_py=BROKEN)
    try:
        assert main(["check", "--select", "SHL202", "a.py"]) == 0
        assert '"SHL202" has no effect: the rule is in preview' in capsys.readouterr().err
        assert main(["check", "--select", "SHL202", "--preview", "a.py"]) == 1
        assert "no effect" not in capsys.readouterr().err
    finally:
        selection.selected_codes.cache_clear()


def test_a_linter_of_one_configuration_takes_it_for_all(project: Path) -> None:
    write(project, a_py=BROKEN, x__b_py=BROKEN, x__shardlint_toml='ignore = ["ALL"]')
    report = Linter(load_settings(".")).check_paths(["."])
    assert len(report.findings) == 2

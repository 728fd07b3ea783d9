"""The configuration: where it is found, what it says, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from shardlint.config import ConfigError, Settings, load_settings, parse_mesh
from shardlint.laws.core.values import AxisType, Mesh
from shardlint.laws.versions import parse_target

AUTO = AxisType.AUTO


def configured(folder: Path, text: str, name: str = "shardlint.toml") -> Settings:
    (folder / name).write_text(text)
    return load_settings(str(folder / "a.py"))


def test_everything_that_can_be_set(tmp_path: Path) -> None:
    text = """
        [tool.shardlint]
        select = ["SHL1", "indivisible-dimension"]
        extend-select = ["SHL601"]
        ignore = ["SHL103"]
        include = ["src/**"]
        exclude = ["gen/"]
        fixtures = ["tests/models"]
        devices = 8
        target-jax = "0.10.2"
        max-replicated-bytes = "1GiB"
        [tool.shardlint.meshes]
        v5e-256 = {data = 16, model = 16}
        small = {x = 2}
        [tool.shardlint.confirm]
        devices = 16
        timeout = 2.5
    """
    assert configured(tmp_path, text, "pyproject.toml") == Settings(
        root=str(tmp_path),
        select=("SHL1", "indivisible-dimension"),
        extend_select=("SHL601",),
        ignore=("SHL103",),
        include=("src/**",),
        exclude=("gen/",),
        fixtures=("tests/models",),
        devices=8,
        target_jax=parse_target("0.10.2"),
        replicated_bytes=2**30,
        meshes=(
            ("v5e-256", Mesh(("data", "model"), (16, 16), (AUTO, AUTO))),
            ("small", Mesh(("x",), (2,), (AUTO,))),
        ),
        confirm_devices=16,
        confirm_timeout=2.5,
    )


def test_the_nearest_file_upwards_counts(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text("[tool.shardlint]\ndevices = 4\n")
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.other]\ndevices = 4\n")
    assert load_settings(str(inner)).devices == 4
    assert load_settings(str(inner / "not-there.py")).root == str(tmp_path)
    (tmp_path / "a" / "shardlint.toml").write_text("devices = 2\n")
    assert load_settings(str(inner)).devices == 2


def test_the_search_ends_at_the_repository(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    (repository / ".git").mkdir(parents=True)
    (tmp_path / "shardlint.toml").write_text("devices = 2\n")
    assert load_settings(str(repository)) == Settings(root=str(repository))


def test_overrides_go_before_the_file(tmp_path: Path) -> None:
    (tmp_path / "shardlint.toml").write_text("devices = 2\nexclude = ['x']\n")
    settings = load_settings(str(tmp_path), devices=16, ignore=None)
    assert (settings.devices, settings.exclude, settings.ignore) == (16, ("x",), ())


@pytest.mark.parametrize(
    ("value", "count"), [('"64MiB"', 2**26), ("100", 100), ('"2 GB"', 2 * 10**9), ('"7"', 7)]
)
def test_sizes(tmp_path: Path, value: str, count: int) -> None:
    assert configured(tmp_path, f"max-replicated-bytes = {value}\n").replicated_bytes == count


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("devcies = 8", 'unknown key "devcies"; did you mean "devices"?'),
        ("DEVICES = 8", 'unknown key "DEVICES"; did you mean "devices"?'),
        ("zzz = 8", 'unknown key "zzz"; the keys are ask-jax, baseline, confirm, cost, devices,'),
        ("[confirm]\ntimout = 3", 'unknown key "confirm.timout"; did you mean "timeout"?'),
        ("devices = 0", '"devices" must be a whole number above 0, not 0'),
        ("devices = true", '"devices" must be a whole number above 0, not true'),
        ('select = "SHL1"', '"select" must be a list of strings, not "SHL1"'),
        ('select = ["SHL999"]', '"select": no rule is called "SHL999"; did you mean "SHL'),
        ('ignore = ["unknown-mesh-axes"]', 'did you mean "unknown-mesh-axis"?'),
        ('target-jax = "new"', '"target-jax" must be a version such as "0.10.2" or a range'),
        ('max-replicated-bytes = "64 parsecs"', '"max-replicated-bytes" must be a number of bytes or a size'),
        ("max-replicated-bytes = true", '"max-replicated-bytes" must be a number of bytes or a size'),
        ("[meshes]\nm = {data = 0}", '"meshes.m.data" must be a whole number above 0'),
        ("[meshes]\nm = 3", '"meshes.m" must give each axis its size'),
        ("meshes = 3", '"meshes" must be a table of meshes'),
        ("confirm = 3", '"confirm" must be a table'),
        ("[confirm]\ntimeout = -1", '"confirm.timeout" must be a number of seconds above 0'),
        ("devices =", "Invalid value"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError) as error:
        configured(tmp_path, text)
    assert said in str(error.value)
    assert str(tmp_path / "shardlint.toml") in str(error.value)


def test_the_table_must_be_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"\[tool.shardlint\] must be a table"):
        configured(tmp_path, "tool.shardlint = 3", "pyproject.toml")


def test_a_configuration_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "shardlint.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError):
        load_settings(str(tmp_path))


def test_a_mesh_on_the_command_line() -> None:
    assert parse_mesh("data=2, model=4") == Mesh(("data", "model"), (2, 4), (AUTO, AUTO))


@pytest.mark.parametrize(
    "text", ["", "data", "data=", "=2", "data=x", "data=2,data=4", "data=0", "data=-1", "a=1,,b=2"]
)
def test_what_is_no_mesh(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_mesh(text)

"""Words that are completed in comments to shardlint and in configuration files."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from shardlint.api import Settings, editing


def words(text: str, near: Mapping[str, int] | None = None) -> list[str] | None:
    """What may stand at the mark in a line of Python, the likeliest first."""
    before = text.partition("«»")[0]
    said = editing.comment_words([text.replace("«»", "")], 1, len(before) + 1, near or {}, Settings())
    return None if said is None else [word.text for word in sorted(said, key=lambda word: word.rank)]


def values(text: str, name: str = "shardlint.toml") -> list[str]:
    """What may stand at the mark in a configuration."""
    before, _, after = text.partition("«»")
    lines = (before + after).split("\n")
    line = before.count("\n") + 1
    column = len(before.rpartition("\n")[2]) + 1
    return [word.label for word in editing.configuration_words(lines, line, column, f"/project/{name}")]


@pytest.mark.parametrize(
    ("text", "some"),
    [
        ("x = 1  # shardlint: «»", "ignore["),
        ("# shardlint: devices=8, re«»", "reveal"),
        ("x = 1  # shardlint: ignore[«»]", "SHL202"),
        ("x = 1  # shardlint: ignore[SHL201, «»", "SHL202"),
        ("# shardlint: ignore-file[SHL«»", "SHL202"),
    ],
)
def test_words_of_comments(text: str, some: str) -> None:
    found = words(text)
    assert found is not None and some in found


@pytest.mark.parametrize(
    ("text", "expected"),
    [("x = 1  # say: «»", None), ("«»", None), ("x = 1  # shardlint: ignore[SHL202] wh«»", [])],
)
def test_elsewhere_there_are_none(text: str, expected: list[str] | None) -> None:
    assert words(text) == expected


def test_findings_at_hand_come_first() -> None:
    found = words("x = 1  # shardlint: ignore[«»", near={"SHL103": 1, "SHL601": 0, "SHL202": 9, "SHL013": 0})
    assert found is not None and found[:2] == ["SHL601", "SHL103"]


def test_a_mesh_of_the_configuration() -> None:
    from shardlint.api import parse_mesh

    settings = Settings(meshes=(("v5e-8", parse_mesh("data=2,model=4")),))
    said = editing.comment_words(["# shardlint: mesh=v"], 1, 20, {}, settings)
    assert said is not None
    assert [(word.text, word.column) for word in said] == [("v5e-8", 19)]


@pytest.mark.parametrize(
    ("text", "some"),
    [
        ("sel«»", "select"),
        ('select = ["SHL«»"]', "SHL202 indivisible-dimension"),
        ('ignore = [\n  "SHL202",\n  "«»"\n]', "memory"),
        ("preview = «»", "true"),
        ("[confirm]\n«»", "devices"),
        ("confirm.«»", "confirm.timeout"),
        ('severity = { SHL601 = "«»" }', "info"),
        ("[«»", "meshes"),
    ],
)
def test_keys_and_values(text: str, some: str) -> None:
    assert some in values(text)


@pytest.mark.parametrize("text", ["[tool.ruff]\n«»", "«»", "[tool.ruff]\nselect = ['«»']"])
def test_other_tables_of_a_pyproject_are_left_alone(text: str) -> None:
    assert values(text, "pyproject.toml") == []
    assert values(text, "other.toml") == []


def test_the_table_of_a_pyproject() -> None:
    assert "select" in values("[tool.shardlint]\n«»", "pyproject.toml")
    assert "timeout" in values("[tool.shardlint.confirm]\n«»", "pyproject.toml")
    assert "tool.shardlint" in values("[«»", "pyproject.toml")

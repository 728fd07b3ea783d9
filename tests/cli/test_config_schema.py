"""The JSON schema accepts what the loader accepts, and refuses what it refuses."""

from __future__ import annotations

import json
import random
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from shardlint.cli.commands import main
from shardlint.config import ConfigError, load_settings
from shardlint.config.keys.json_schema import schema
from shardlint.config.keys.reference import renewed
from shardlint.config.keys.table import KEYS
from shardlint.config.keys.value_kinds import written
from shardlint.config.settings import Settings

VALIDATOR = Draft202012Validator(schema())

#: Values that are right for some key and wrong for most.
VALUES: list[Any] = [
    True, False, 0, 1, 8, -1, 2.5, 8.0, 0.0, 1000000.0, "", "x", "8", "64MiB", "64 parsecs", " 7 kb ",
    "0.10.2", ">=0.6, <0.9", "0.7", "^0.7", "new", ">=0.6,", "a.b:c", "a:b:c", "auto", "Explicit", "info",
    "warning", "error", "fatal", "model", [], ["SHL2"], ["shl20"], ["SHL77"], ["memory"], ["Memory"],
    ["ALL", "all"], ["indivisible-dimension"], ["S"], [""], ["SHL"], [1], ["gen/", "*.py"],
    ["auto", "explicit"], ["auto"], ["auto", "x"], [["a", "b"]], [["a"]], [["a", 1]], {}, {"x": 2},
    {"x": 0}, {"x": {"y": 3}}, {"x": {"y": "3"}}, {"x": "y"}, {"x": ["y"]}, {"x": [""]}, {"x": True},
    {"x": {"y": 3, "axis-types": "auto"}}, {"x": {"y": 3, "axis-types": ["explicit"]}},
    {"x": {"axis-types": "auto"}}, {"x": {"y": 3, "axis-types": ["auto", "auto"]}},
    {"x": {"y": 3, "z": 2, "axis-types": ["Auto", "auto"]}}, {"x": {"y": 3, "axis-types": "manual"}},
    {"x": {"y": 3, "axis-types": 2}}, {"x": {}}, {"x": {"y": 2.0}}, {"SHL601": "info"}, {"SHL601": "error"},
    {"shl6": "warning"}, {"nothing": "info"}, {"SHL601": ["info"]}, {"tests/": ["SHL6"]},
    {"tests/": "SHL6"}, {"!a": ["correctness"]}, {"a": ["x"]}, {"devices": 8}, {"timeout": 5},
    {"timeout": 0}, {"timeout": 1000000000.0}, {"devices": 8, "timeout": 0.5}, {"init": "a:b"},
    {"init": "a"}, {"rules": "a.b:c", "init": "a:b"}, {"timout": 5}, {"rules": [["a", "b"]]},
    {"rules": [["a", []]]}, {"rules": [["a", "b"]], "x": "y"}, {"rules": [["a", "b", "c"]]}, {"rules": "x"},
    {"rules": ["x"]}, {"key": "x"}, {"file": "no.txt"}, {"file": 1},
    {"embed": False, "batch": ["data", "fsdp"], "norm": []}, {"": "x"},
    "https://example.com/a", "http://[::1]:8000/", "https://", "https://a b", "ftp://a", "https://\x1b[2J",
]  # fmt: skip


def accepted(folder: Path, document: dict[str, Any]) -> bool:
    """Whether the loader takes a document, written as TOML."""
    text = "\n".join(f"{written(key)} = {written(value)}" for key, value in document.items())
    assert tomllib.loads(text) == document
    (folder / "shardlint.toml").write_text(text)
    try:
        load_settings(str(folder))
    except ConfigError as error:
        assert str(error).startswith(str(folder / "shardlint.toml") + ":"), "the line is told"
        return False
    return True


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("name", [*dict.fromkeys(key.path[0] for key in KEYS), "no-key", "Select"])
def test_each_value_of_each_key(tmp_path: Path, name: str) -> None:
    verdicts = set()
    for value in VALUES:
        loaded = accepted(tmp_path, {name: value})
        assert VALIDATOR.is_valid({name: value}) == loaded, value
        verdicts.add(loaded)
    assert verdicts == ({False} if name in ("no-key", "Select") else {True, False})


def test_random_documents(tmp_path: Path) -> None:
    draw = random.Random(3)
    right = {key.name: tomllib.loads(key.example) for key in KEYS}
    taken = 0
    for _ in range(300):
        document: dict[str, Any] = {}
        for example in draw.sample(list(right.values()), draw.randint(0, 5)):
            for name, value in example.items():
                inner = document.get(name)
                document[name] = {**inner, **value} if isinstance(inner, dict) else value
        if draw.random() < 0.4:
            name = draw.choice([*right, "confirm", "report", "devcies"])
            document[name] = draw.choice(VALUES)
        loaded = accepted(tmp_path, document)
        assert VALIDATOR.is_valid(document) == loaded, document
        taken += loaded
    assert 90 < taken < 270


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)
def test_the_example_and_the_default_of_each_key_are_right(tmp_path: Path, key: Any) -> None:
    example = tomllib.loads(key.example)
    assert VALIDATOR.is_valid(example)
    assert accepted(tmp_path, example)
    assert load_settings(str(tmp_path)) != Settings(root=str(tmp_path))
    if key.default is not None:
        default = key.default
        for part in reversed(key.path):
            default = {part: default}
        assert VALIDATOR.is_valid(default)
        assert accepted(tmp_path, default)
        assert load_settings(str(tmp_path)) == Settings(root=str(tmp_path))


def test_what_the_schema_cannot_say(tmp_path: Path) -> None:
    for document in (
        {"target-jax": ">=0.9,<0.8"},
        {"exclude": ["!"]},
        {"logical-axes": {"file": "not-there.yml"}},
        {"meshes": {"m": {**{f"a{n}": 1 for n in range(9)}, "axis-types": ["auto"] * 9}}},
    ):
        assert VALIDATOR.is_valid(document) != accepted(tmp_path, document)


def test_the_command_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "--schema"]) == 0
    assert json.loads(capsys.readouterr().out) == schema()


def test_the_documentation_has_every_key() -> None:
    page = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text()
    assert renewed(page) == page, "python -m shardlint.config.keys.reference docs/configuration.md"
    assert all(f"### `{key.name}`" in page for key in KEYS)

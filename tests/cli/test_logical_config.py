"""Logical axis rules in the configuration: in place, from files, and what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shardlint.config import ConfigError, load_settings
from shardlint.config.loading.logical_axes import LogicalRule

RULES: tuple[LogicalRule, ...] = (
    ("batch", ("data", "fsdp")),
    ("embed", "fsdp"),
    ("embed", "model"),
    ("norm", None),
)
PAIRS = [["batch", ["data", "fsdp"]], ["embed", "fsdp"], ["embed", "model"], ["norm", []]]
YAML = """
# A comment, and what else a program keeps here.
steps: 10
parallel:
  logical_axis_rules: [
      ['batch', ['data', 'fsdp']],
      ['embed', 'fsdp'],  # the first that is free
      ['embed', 'model'],
      ['norm', []],
  ]
as_table: {batch: [data, fsdp], embed: fsdp, norm: null}
"""


def rules(folder: Path, table: str) -> tuple[LogicalRule, ...] | None:
    (folder / "shardlint.toml").write_text(f"[logical-axes]\n{table}\n")
    return load_settings(str(folder)).logical_rules


def test_rules_in_place(tmp_path: Path) -> None:
    found = rules(tmp_path, 'embed = "model"\nbatch = ["data", "fsdp"]\nnorm = []\nstack = false\nkey = "x"')
    expected = (
        ("embed", "model"),
        ("batch", ("data", "fsdp")),
        ("norm", None),
        ("stack", None),
        ("key", "x"),
    )
    assert found == expected
    assert rules(tmp_path, f"rules = {json.dumps(PAIRS)}") == RULES
    assert load_settings(str(tmp_path.parent)).logical_rules is None


def test_rules_of_a_project_file(tmp_path: Path) -> None:
    configs = tmp_path / "configs"
    configs.mkdir()
    (configs / "base.yml").write_text(YAML)
    (configs / "base.json").write_text(json.dumps({"a": {"b": PAIRS}}))
    (configs / "bare.yaml").write_text(json.dumps(PAIRS))
    (configs / "base.toml").write_text(f"[a]\nb = {json.dumps(PAIRS)}\n")
    assert rules(tmp_path, 'file = "configs/base.yml"\nkey = "parallel.logical_axis_rules"') == RULES
    assert rules(tmp_path, 'file = "configs/base.json"\nkey = "a.b"') == RULES
    assert rules(tmp_path, 'file = "configs/base.toml"\nkey = "a.b"') == RULES
    assert rules(tmp_path, 'file = "configs/bare.yaml"') == RULES
    table = rules(tmp_path, 'file = "configs/base.yml"\nkey = "as_table"')
    assert table == (RULES[0], RULES[1], RULES[3])


WRONG = {
    'file = "configs/bas.yml"': 'there is no file "configs/bas.yml"; did you mean "configs/base.yml"?',
    'file = "config/base.yml"': 'there is no file "config/base.yml"',
    'file = "configs"': 'must be one of .yaml, .yml, .toml, .json, not "configs"',
    "file = 3": '"logical-axes.file" must be a string, not 3',
    'file = "configs/base.yml"\nkey = 3': '"logical-axes.key" must be a string, not 3',
    'file = "configs/base.yml"\nkey = "parallel.logical_axes_rules"': (
        '"configs/base.yml.parallel" has no "logical_axes_rules"; did you mean "logical_axis_rules"?'
    ),
    'file = "configs/base.yml"\nkey = "zzzzz"': "the keys are as_table, parallel, steps",
    'file = "configs/base.yml"\nkey = "steps.rules"': (
        '"configs/base.yml.steps" is no table, and has no "rules"'
    ),
    'file = "configs/base.yml"\nkey = "steps"': (
        '"configs/base.yml: steps" must be a table or a list of pairs ["embed", "model"], not 10'
    ),
    'file = "configs/base.yml"\nembed = "model"': 'rules come from "file" or stand here, not both: embed',
    'file = "configs/tags.yml"': '"configs/tags.yml" cannot be read: could not determine a constructor',
    'file = "configs/deep.yml"': '"configs/deep.yml" cannot be read: maximum recursion',
    'file = "configs/deep.json"': '"configs/deep.json" cannot be read: maximum recursion',
    'file = "configs/huge.yml"': '"configs/huge.yml" is larger than 4 MiB',
    'file = "configs/broken.toml"': '"configs/broken.toml" cannot be read: ',
    'file = "configs/latin.json"': '"configs/latin.json" cannot be read: ',
    'rules = [["embed"]]': 'a rule is a pair ["embed", "model"], not ["embed"]',
    'rules = [["embed", "model"]]\nmlp = "x"': '"rules" holds all rules, in their order; put "mlp" there too',
    'rules = [[3, "model"]]': "a logical axis name is a string, not 3",
    "embed = 3": 'the mesh axes of "embed" are "model", ["data", "model"], or [] for no axis, not 3',
    "embed = true": "or [] for no axis, not true",
    "embed = [[]]": "or [] for no axis, not [[]]",
}


@pytest.mark.parametrize("table", WRONG)
def test_what_is_wrong_is_named_with_the_nearest_right_one(tmp_path: Path, table: str) -> None:
    configs = tmp_path / "configs"
    configs.mkdir()
    (configs / "base.yml").write_text(YAML)
    (configs / "tags.yml").write_text("rules: !!python/object/apply:os.getcwd []\n")
    for suffix in ("yml", "json"):
        (configs / f"deep.{suffix}").write_text("[" * 100_000)
    (configs / "huge.yml").write_text("# " + "x" * 5_000_000)
    (configs / "broken.toml").write_text("a = = 3")
    (configs / "latin.json").write_bytes(b'{"a": "\xe9"}')
    with pytest.raises(ConfigError) as error:
        rules(tmp_path, table)
    assert "logical-axes" in str(error.value) or "configs/base.yml" in str(error.value)
    assert WRONG[table] in str(error.value)


def test_the_table_itself_is_a_table(tmp_path: Path) -> None:
    (tmp_path / "shardlint.toml").write_text('logical-axes = "configs/base.yml"')
    with pytest.raises(ConfigError, match='"logical-axes" must be a table of rules'):
        load_settings(str(tmp_path))

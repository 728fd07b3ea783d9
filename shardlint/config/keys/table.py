"""All configuration keys: the fields they set, how they are read, and their descriptions.

This table is the only place that lists them: the loader, `shardlint config`, the JSON schema and the
documentation are generated from it.
"""

from __future__ import annotations

from typing import Any

from shardlint.config.keys.value_kinds import (
    ADDRESS,
    BOOLEAN,
    BYTES,
    DIMS,
    FILE,
    LOGICAL_AXES,
    OBJECT,
    PATTERNS,
    PER_FILE,
    SECONDS,
    SELECTORS,
    SEVERITY,
    TARGET,
    WHOLE,
    Kind,
)
from shardlint.config.meshes import MESHES
from shardlint.config.settings import DEFAULT_EXCLUDE
from shardlint.support.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Key:
    """A key: ``name`` is dotted if it is in a table of its own.

    ``fields`` are the fields of `Settings` that it sets (for several, the value read is a tuple). ``default``
    is the default value as in TOML, None if it cannot be written. ``example`` is a line or two of TOML.
    """

    name: str
    fields: tuple[str, ...]
    kind: Kind
    default: Any
    docs: str
    example: str

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(self.name.split("."))


def _key(name: str, kind: Kind, default: Any, docs: str, example: str, *fields: str) -> Key:
    return Key(name, fields or (name.replace("-", "_").replace(".", "_"),), kind, default, docs, example)


KEYS: tuple[Key, ...] = (
    _key(
        "select", SELECTORS, ["ALL"],
        "The rules to check: codes, beginnings of codes, names, groups (`correctness`, `suspicious`, "
        "`memory`, `versions`, `files`) or `ALL`. Where several selectors mean a rule, the most specific "
        "one decides.",
        'select = ["correctness", "SHL6"]',
    ),
    _key("extend-select", SELECTORS, [], "Rules to check besides `select`.", 'extend-select = ["SHL601"]'),
    _key("ignore", SELECTORS, [], "Rules to leave out.", 'ignore = ["SHL602"]'),
    _key(
        "extend-ignore", SELECTORS, [], "Rules to leave out besides `ignore`.",
        'extend-ignore = ["memory"]',
    ),
    _key(
        "preview", BOOLEAN, False,
        "Let new rules in whose findings may still change. Without it no selector turns them on.",
        "preview = true",
    ),
    _key(
        "severity", SEVERITY, {},
        "What findings that JAX accepts are shown as: `warning`, or `info`, which does not make a check "
        "fail. What JAX refuses stays an error, and nothing else can become one.",
        'severity = { SHL601 = "info" }',
    ),
    _key(
        "per-file-ignores", PER_FILE, {},
        "Rules to leave out in the files that a pattern means, relative to the configuration; `!tests/` "
        "means every other file.",
        'per-file-ignores = { "tests/" = ["SHL6"], "*.ipynb" = ["suspicious"] }',
    ),
    _key(
        "extend-per-file-ignores", PER_FILE, {}, "More of `per-file-ignores`.",
        'extend-per-file-ignores = { "scripts/*.py" = ["SHL405"] }',
    ),
    _key(
        "include", PATTERNS, [],
        "Of the Python files and notebooks found in folders, check those that one of these patterns "
        "means; all of them where there is none.",
        'include = ["src/**"]',
    ),
    _key(
        "exclude", PATTERNS, list(DEFAULT_EXCLUDE),
        "Files and folders to leave out, as patterns in `.gitignore`. It replaces the default; "
        "`extend-exclude` adds to it. Files that are named on the command line are checked nevertheless: "
        "see `force-exclude`.",
        'exclude = ["third_party/"]',
    ),
    _key(
        "extend-exclude", PATTERNS, [], "Files and folders to leave out besides `exclude`.",
        'extend-exclude = ["gen/"]',
    ),
    _key("respect-gitignore", BOOLEAN, True, "Leave out what git ignores.", "respect-gitignore = false"),
    _key(
        "force-exclude", BOOLEAN, False,
        "Leave excluded files out even if they are named on the command line, as pre-commit does.",
        "force-exclude = true",
    ),
    _key(
        "fixtures", PATTERNS, ["fixtures"],
        "Where fixtures are: programs whose `# expect` comments announce findings.",
        'fixtures = ["tests/sharding"]',
    ),
    _key(
        "baseline", FILE, None,
        "The file of the findings that are there already, so that only others are reported: "
        "`--write-baseline` makes it.",
        'baseline = "shardlint-baseline.json"',
    ),
    _key(
        "devices", WHOLE, None, "How many devices there are, where a program does not say.",
        "devices = 256",
    ),
    _key(
        "target-jax", TARGET, None,
        "The release of JAX that the project means to run on, or a range of them. Without it, what its "
        "`pyproject.toml` requires of jax, else the newest release known.",
        'target-jax = ">=0.7"', "target_jax",
    ),
    _key(
        "max-replicated-bytes", BYTES, "64MiB",
        "The size from which an array should not lie whole on every device.",
        'max-replicated-bytes = "256MiB"', "replicated_bytes",
    ),
    _key(
        "meshes", MESHES, {},
        "The meshes a team deploys on: code that leaves its mesh to the caller is checked on each of "
        "them. `axis-types` are `auto` or `explicit`, or one for each axis; where they are not said, what "
        "depends on them is not claimed. Tests are not: files named `test_*`, `*_test` or `conftest`, and "
        "those in folders named `test` or `tests`.",
        "meshes.v5e-256 = { data = 16, model = 16 }\n"
        'meshes.v5p-8 = { data = 2, model = 4, axis-types = "explicit" }',
        "meshes", "typed_meshes",
    ),
    _key(
        "dims", DIMS, {}, "Sizes of what the code leaves open, by the last parts of its name.",
        'dims = { d_model = 4096, "cfg.ff" = 16384 }',
    ),
    _key(
        "logical-axes", LOGICAL_AXES, None,
        "Flax's rules for logical axis names where code leaves them to its caller: names and mesh axes "
        "(`[]` for none); or `rules`, pairs of which the first that is free holds; or `file` and `key`, "
        "where in a YAML, TOML or JSON file they stand.",
        'logical-axes = { embed = "model", batch = ["data", "fsdp"], norm = [] }', "logical_rules",
    ),
    _key(
        "docs-url", ADDRESS, None,
        "Where these pages are published. The codes of findings then lead to the pages of their rules, in "
        "terminals, editors and SARIF; without it to JAX's own documentation, in terminals and SARIF.",
        'docs-url = "https://docs.example.com/shardlint"',
    ),
    _key("confirm.devices", WHOLE, 8, "How many devices `--confirm` fakes.", "confirm.devices = 16"),
    _key(
        "confirm.timeout", SECONDS, 60, "How long one confirmation may take, in seconds.",
        "confirm.timeout = 120",
    ),
    _key(
        "cost.hbm", BYTES, None,
        "The memory of a device: `shardlint compile` reports programs that need more.",
        'cost.hbm = "16GiB"',
    ),
    _key(
        "cost.sent", BYTES, None,
        "What each device may send in one run of a program that `shardlint compile` compiles.",
        'cost.sent = "2GiB"',
    ),
    _key(
        "cost.reshard", BYTES, None,
        "What each device may send for one collective that only lays an array out anew, where no comment "
        "announces it.",
        'cost.reshard = "64MiB"',
    ),
    _key(
        "report.init", OBJECT, None, "The function that `shardlint report --init` runs.",
        'report.init = "my.model:init"',
    ),
    _key(
        "report.rules", OBJECT, None, "The (regex, spec) pairs that `shardlint report --init` judges.",
        'report.rules = "my.model:RULES"',
    ),
)  # fmt: skip

BY_NAME: dict[str, Key] = {key.name: key for key in KEYS}

#: Tables that contain keys.
SECTIONS = tuple(dict.fromkeys(key.path[0] for key in KEYS if len(key.path) > 1))

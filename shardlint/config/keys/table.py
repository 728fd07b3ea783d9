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
        "The rules to check: codes, prefixes of codes, names, groups (`correctness`, `suspicious`, `memory`, "
        "`versions`, `files`) or `ALL`. When several selectors match a rule, the most specific one decides.",
        'select = ["correctness", "SHL6"]',
    ),
    _key(
        "extend-select", SELECTORS, [], "Rules to check in addition to `select`.",
        'extend-select = ["SHL601"]',
    ),
    _key("ignore", SELECTORS, [], "Rules to leave out.", 'ignore = ["SHL602"]'),
    _key(
        "extend-ignore", SELECTORS, [], "Rules to leave out in addition to `ignore`.",
        'extend-ignore = ["memory"]',
    ),
    _key(
        "preview", BOOLEAN, False,
        "Allow preview rules: new ones, whose findings may still change. Without it no selector turns them "
        "on.",
        "preview = true",
    ),
    _key(
        "severity", SEVERITY, {},
        "The severity of findings that JAX accepts: `warning`, or `info`, which does not make a check fail. "
        "What JAX rejects stays an error, and nothing else can become one.",
        'severity = { SHL601 = "info" }',
    ),
    _key(
        "per-file-ignores", PER_FILE, {},
        "Rules to leave out in files that match a pattern, relative to the configuration; `!tests/` matches "
        "every other file.",
        'per-file-ignores = { "tests/" = ["SHL6"], "*.ipynb" = ["suspicious"] }',
    ),
    _key(
        "extend-per-file-ignores", PER_FILE, {}, "Entries to add to `per-file-ignores`.",
        'extend-per-file-ignores = { "scripts/*.py" = ["SHL405"] }',
    ),
    _key(
        "include", PATTERNS, [],
        "Check only the Python files and notebooks in folders that match one of these patterns. Empty means "
        "all of them.",
        'include = ["src/**"]',
    ),
    _key(
        "exclude", PATTERNS, list(DEFAULT_EXCLUDE),
        "Files and folders to leave out, as patterns in `.gitignore`. This replaces the default; "
        "`extend-exclude` adds to it. Files named on the command line are checked all the same; see "
        "`force-exclude`.",
        'exclude = ["third_party/"]',
    ),
    _key(
        "extend-exclude", PATTERNS, [], "Files and folders to leave out in addition to `exclude`.",
        'extend-exclude = ["gen/"]',
    ),
    _key("respect-gitignore", BOOLEAN, True, "Leave out what git ignores.", "respect-gitignore = false"),
    _key(
        "force-exclude", BOOLEAN, False,
        "Leave excluded files out even if they are named on the command line, as pre-commit names them.",
        "force-exclude = true",
    ),
    _key(
        "fixtures", PATTERNS, ["fixtures"],
        "Where fixtures are: programs whose `# expect` comments announce findings.",
        'fixtures = ["tests/sharding"]',
    ),
    _key(
        "baseline", FILE, None,
        "A file of known findings, which are not reported again. `--write-baseline` writes it.",
        'baseline = "shardlint-baseline.json"',
    ),
    _key(
        "devices", WHOLE, None, "The number of devices, where a program does not set it.",
        "devices = 256",
    ),
    _key(
        "target-jax", TARGET, None,
        "The release of JAX that the project runs on, or a range of releases. Without it, the releases that "
        "the project requires, else the newest one known.",
        'target-jax = ">=0.7"', "target_jax",
    ),
    _key(
        "max-replicated-bytes", BYTES, "64MiB",
        "The size from which an array that is whole on every device is reported.",
        'max-replicated-bytes = "256MiB"', "replicated_bytes",
    ),
    _key(
        "meshes", MESHES, {},
        "The meshes you deploy on. Code that takes its mesh from a caller is checked on each of them, except "
        "in tests (files named `test_*`, `*_test` or `conftest`, and folders named `test` or `tests`). "
        "`axis-types` is `auto`, `explicit`, or a list with one for each axis; without it, nothing that "
        "depends on axis types is reported.",
        "meshes.v5e-256 = { data = 16, model = 16 }\n"
        'meshes.v5p-8 = { data = 2, model = 4, axis-types = "explicit" }',
        "meshes", "typed_meshes",
    ),
    _key(
        "dims", DIMS, {}, "Sizes that the code leaves open, by the last parts of their names.",
        'dims = { d_model = 4096, "cfg.ff" = 16384 }',
    ),
    _key(
        "logical-axes", LOGICAL_AXES, None,
        "Flax's logical axis rules, for code that takes them from a caller. Either a table of names and mesh "
        "axes (`[]` for none); or `rules`, a list of pairs in which the first one whose axis is still free "
        "applies; or the `file` (YAML, TOML or JSON) and the `key` in it that has the rules.",
        'logical-axes = { embed = "model", batch = ["data", "fsdp"], norm = [] }', "logical_rules",
    ),
    _key(
        "docs-url", ADDRESS, None,
        "Where you publish this documentation. Codes of findings then link to the pages of their rules, in "
        "terminals, editors and SARIF. Without it, terminals and SARIF link to JAX's documentation.",
        'docs-url = "https://docs.example.com/shardlint"',
    ),
    _key(
        "ask-jax", BOOLEAN, False,
        "Ask the JAX at hand for the results of functions that shardlint does not know "
        "([how](confirmation.md#asking-about-functions)). `--ask-jax` and `--confirm` do so, too; an editor "
        "does only if its user says so (`askJax`).",
        "ask-jax = true",
    ),
    _key("confirm.devices", WHOLE, 8, "The number of fake devices for `--confirm`.", "confirm.devices = 16"),
    _key(
        "confirm.timeout", SECONDS, 60, "The time limit of one confirmation, in seconds.",
        "confirm.timeout = 120",
    ),
    _key(
        "cost.hbm", BYTES, None,
        "The memory of a device: `shardlint compile` reports programs that need more.",
        'cost.hbm = "16GiB"',
    ),
    _key(
        "cost.sent", BYTES, None,
        "The bytes that each device may send in one run of a program that `shardlint compile` compiles.",
        'cost.sent = "2GiB"',
    ),
    _key(
        "cost.reshard", BYTES, None,
        "The bytes that each device may send for one collective that only reshards an array, unless a "
        "comment announces it.",
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

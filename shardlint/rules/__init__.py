"""The rules: each turns uses into problems, and is discovered in one of the folders.

A rule is one file with a page (its docstring), a function ``check(use, settings)`` and a ``RULE``. The
folders are the hundreds of the codes: `specs` (1xx), `shapes` and `jit` (2xx), `shard_map` and
`device_values` (3xx), `meshes` (4xx), `flax` (5xx), `memory`, `replication`, `movement` and `spec_tables`
(6xx), `axis_types` (7xx), `versions` (8xx). `base` has the types, `engine` runs rules and settles severities
and duplicates, `messages` has wording that several rules share.

Rules never see syntax and never resolve names; an `Unknown` is not a mistake. An error is only what JAX
raises.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Sequence
from functools import cache

from shardlint.model.findings import Finding
from shardlint.model.uses import FileProblem, Use
from shardlint.rules.base import AnyRule, Problem, ProjectRule, Rule, RuleSettings
from shardlint.rules.engine import judge_with

__all__ = ["AnyRule", "Problem", "ProjectRule", "Rule", "RuleSettings", "all_rules", "find_rule", "judge"]

#: The folders of rules, by the hundred of their codes.
_FOLDERS = (
    "specs",
    "shapes",
    "jit",
    "shard_map",
    "device_values",
    "meshes",
    "flax",
    "memory",
    "replication",
    "movement",
    "spec_tables",
    "axis_types",
    "versions",
)


@cache
def all_rules() -> tuple[AnyRule, ...]:
    """Return all rules, sorted by code: each module in the folders holds one, as ``RULE``."""
    names = [
        f"{__name__}.{folder}.{module.name}"
        for folder in _FOLDERS
        for module in pkgutil.iter_modules([f"{__path__[0]}/{folder}"])
    ]
    rules: list[AnyRule] = [importlib.import_module(name).RULE for name in names]
    return tuple(sorted(rules, key=lambda rule: rule.code))


def find_rule(code_or_name: str) -> AnyRule:
    """Return a rule by its code or name, in any case. Raises KeyError that names the nearest ones."""
    wanted = code_or_name.strip().lower()
    rules = {key.lower(): rule for rule in all_rules() for key in (rule.code, rule.name)}
    if wanted in rules:
        return rules[wanted]
    near = difflib.get_close_matches(wanted, list(rules), n=2, cutoff=0.75)
    known = sorted({f"{rules[key].code} ({rules[key].name})" for key in near})
    hint = f"; did you mean {' or '.join(known)}?" if known else "; `shardlint rules` lists them"
    raise KeyError(f"no rule {code_or_name!r}{hint}")


def judge(uses: Sequence[Use | FileProblem], settings: RuleSettings) -> list[Finding]:
    """Return the findings of all rules in the uses, in reading order; see `judge_with`."""
    return judge_with(all_rules(), uses, settings)

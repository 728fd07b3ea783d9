"""The rules: what they are, how to find one, and what they find in uses."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Sequence
from functools import cache

from shardlint.model.findings import Finding
from shardlint.model.uses import FileProblem, Use
from shardlint.rules.base import AnyRule, Problem, ProjectRule, Rule, RuleSettings
from shardlint.rules.judge import judge_with

__all__ = ["AnyRule", "Problem", "ProjectRule", "Rule", "RuleSettings", "all_rules", "find_rule", "judge"]

#: Modules of this package that hold no rule.
_SHARED = frozenset({"base", "judge", "wording", "wording_operations", "wording_versions"})


@cache
def all_rules() -> tuple[AnyRule, ...]:
    """Return every rule, sorted by code: each module of this package holds one, as ``RULE``."""
    names = (module.name for module in pkgutil.iter_modules(__path__) if module.name not in _SHARED)
    rules: list[AnyRule] = [importlib.import_module(f"{__name__}.{name}").RULE for name in names]
    return tuple(sorted(rules, key=lambda rule: rule.code))


def find_rule(code_or_name: str) -> AnyRule:
    """Return a rule by its code or name, in any case. Raises KeyError with the nearest ones there are."""
    wanted = code_or_name.strip().lower()
    rules = {key.lower(): rule for rule in all_rules() for key in (rule.code, rule.name)}
    if wanted in rules:
        return rules[wanted]
    near = difflib.get_close_matches(wanted, list(rules), n=2)
    known = sorted({f"{rules[key].code} ({rules[key].name})" for key in near})
    hint = f"; did you mean {' or '.join(known)}?" if known else "; `shardlint rules` lists them"
    raise KeyError(f"no rule {code_or_name!r}{hint}")


def judge(uses: Sequence[Use | FileProblem], settings: RuleSettings) -> list[Finding]:
    """Return what all rules find in the uses, in reading order; see `judge_with`."""
    return judge_with(all_rules(), uses, settings)

"""The rules: what they are, how to find one, and what they find in uses."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from shardlint.findings import Finding
from shardlint.rules import (
    axis_type,
    collective_shape,
    deprecated_api,
    duplicate_mesh_axis,
    duplicate_spec_axis,
    indivisible_dimension,
    invalid_spec_entry,
    mesh_device_count,
    mesh_shape,
    mesh_shape_names_mismatch,
    missing_reduction,
    not_a_spec,
    other_sharding,
    out_spec_longer_than_result,
    partition_names_string,
    partition_names_too_long,
    partition_names_too_short,
    removed_api,
    replicated_array,
    silently_empty_entry,
    spec_arity,
    spec_longer_than_rank,
    spec_on_scalar,
    spec_without_mesh,
    unconstrained_not_allowed,
    uneven_constraint,
    unknown_collective_axis,
    unknown_mesh_axis,
    unpartitioned_bias,
)
from shardlint.rules.base import AnyRule, Problem, ProjectRule, Rule, RuleSettings
from shardlint.rules.judge import judge_with
from shardlint.uses import FileProblem, Use

__all__ = ["AnyRule", "Problem", "ProjectRule", "Rule", "RuleSettings", "all_rules", "find_rule", "judge"]

_RULES: tuple[AnyRule, ...] = (
    invalid_spec_entry.RULE,
    duplicate_spec_axis.RULE,
    unknown_mesh_axis.RULE,
    not_a_spec.RULE,
    silently_empty_entry.RULE,
    spec_longer_than_rank.RULE,
    indivisible_dimension.RULE,
    spec_on_scalar.RULE,
    unconstrained_not_allowed.RULE,
    uneven_constraint.RULE,
    spec_without_mesh.RULE,
    spec_arity.RULE,
    out_spec_longer_than_result.RULE,
    unknown_collective_axis.RULE,
    collective_shape.RULE,
    missing_reduction.RULE,
    mesh_shape_names_mismatch.RULE,
    duplicate_mesh_axis.RULE,
    mesh_device_count.RULE,
    mesh_shape.RULE,
    partition_names_too_long.RULE,
    partition_names_string.RULE,
    unpartitioned_bias.RULE,
    partition_names_too_short.RULE,
    replicated_array.RULE,
    axis_type.RULE,
    other_sharding.RULE,
    deprecated_api.RULE,
    removed_api.RULE,
)


def all_rules() -> tuple[AnyRule, ...]:
    """Return every rule, sorted by code."""
    return _RULES


def find_rule(code_or_name: str) -> AnyRule:
    """Return a rule by its code or name, in any case. Raises KeyError with the nearest ones there are."""
    wanted = code_or_name.strip().lower()
    rules = {key.lower(): rule for rule in _RULES for key in (rule.code, rule.name)}
    if wanted in rules:
        return rules[wanted]
    near = difflib.get_close_matches(wanted, list(rules), n=2)
    known = sorted({f"{rules[key].code} ({rules[key].name})" for key in near})
    hint = f"; did you mean {' or '.join(known)}?" if known else "; `shardlint rules` lists them"
    raise KeyError(f"no rule {code_or_name!r}{hint}")


def judge(uses: Sequence[Use | FileProblem], settings: RuleSettings) -> list[Finding]:
    """Return what all rules find in the uses, in reading order; see `judge_with`."""
    return judge_with(_RULES, uses, settings)

"""Finding a rule by code or name."""

from __future__ import annotations

import pytest

from shardlint.rules import all_rules, find_rule


def test_rules_are_sorted_by_code_and_unique() -> None:
    codes = [rule.code for rule in all_rules()]
    assert codes == sorted(set(codes))
    assert len({rule.name for rule in all_rules()}) == len(codes)


@pytest.mark.parametrize("wanted", ["SHL202", "shl202", "indivisible-dimension", " SHL202 "])
def test_a_rule_is_found_by_code_or_name(wanted: str) -> None:
    assert find_rule(wanted).code == "SHL202"


def test_a_near_miss_names_the_rule_that_is_meant() -> None:
    with pytest.raises(KeyError, match=r"did you mean SHL202 \(indivisible-dimension\)\?"):
        find_rule("indivisable-dimension")


def test_a_far_miss_says_where_the_rules_are() -> None:
    with pytest.raises(KeyError, match="shardlint rules"):
        find_rule("xyzzy")

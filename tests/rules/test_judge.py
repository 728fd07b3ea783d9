"""From uses to findings: severity, caught and expected exceptions, alternatives, duplicates."""

from __future__ import annotations

import dataclasses

import pytest
from rule_uses import MESH, at, parameter, placement

from shardlint.laws.core.verdicts import Accepted, Cause, Rejected, Undecided
from shardlint.model.findings import Finding, Related, Severity
from shardlint.model.uses import Environment, Fact, FileProblem, Placement, Use
from shardlint.rules import RuleSettings, judge

BAD = (None, "model")


def judged(*uses: Use | FileProblem) -> list[Finding]:
    return judge(uses, RuleSettings())


def test_a_rejected_use_is_an_error_at_the_entry() -> None:
    use = placement(*BAD)
    (finding,) = judged(use)
    assert (finding.code, finding.name, finding.severity) == (
        "SHL202",
        "indivisible-dimension",
        Severity.ERROR,
    )
    assert finding.span == at(1, 11)
    assert finding.use is use


def test_without_a_place_of_its_own_the_entry_is_shown_at_the_use() -> None:
    (finding,) = judged(placement(*BAD, entry_places=(at(1, 10), None)))
    assert finding.span == at(1)


@pytest.mark.parametrize("verdict", [Accepted(), Undecided("the mesh is not known")])
def test_what_is_accepted_or_undecided_is_no_error(verdict: Accepted | Undecided) -> None:
    assert judged(placement(*BAD, verdict=verdict)) == []


def test_file_problems_are_left_to_others() -> None:
    assert judged(FileProblem("syntax", "invalid syntax", at(1))) == []


@pytest.mark.parametrize(
    "caught", ["IndivisibleError", "ValueError", "Exception", "jax.errors.IndivisibleError"]
)
def test_a_caught_rejection_is_no_finding(caught: str) -> None:
    assert judged(placement(*BAD, environment=Environment(caught=frozenset({caught})))) == []


def test_another_exception_that_is_caught_hides_nothing() -> None:
    assert len(judged(placement(*BAD, environment=Environment(caught=frozenset({"KeyError"}))))) == 1


def test_a_finding_under_pytest_raises_is_expected() -> None:
    (finding,) = judged(placement(*BAD, environment=Environment(expected=True)))
    assert finding.expected


def test_the_message_says_how_the_place_is_reached() -> None:
    (finding,) = judged(placement(*BAD, environment=Environment(entry="called from `main`")))
    assert finding.message.endswith("8 or 12 would (called from `main`)")


def test_a_place_reached_by_several_callers_is_reported_once() -> None:
    expected = placement(*BAD, environment=Environment(entry="test", expected=True))
    plain = placement(*BAD, environment=Environment(entry="main"))
    (finding,) = judged(expected, plain, placement(*BAD))
    assert not finding.expected


def test_the_error_is_kept_of_an_error_and_a_warning() -> None:
    demoted = placement(*BAD, variants=2, environment=Environment(entry="one caller"))
    (finding,) = judged(demoted, placement(*BAD))
    assert finding.severity is Severity.ERROR


def test_facts_become_related_locations_once_each() -> None:
    facts = (Fact("the mesh", at(7)), Fact("the shape", at(8)), Fact("the mesh", at(7)))
    (finding,) = judged(placement(*BAD, facts=facts))
    assert finding.related == (Related(at(7), "the mesh"), Related(at(8), "the shape"))


def test_what_a_mistake_causes_at_its_own_place_is_shown_as_the_mistake() -> None:
    names = (at(1, 21), at(1, 22))
    metadata = parameter("bias", (16,), None, "model", entry_places=names)
    placed = placement(
        None, "model", shape=(16,), line=5, entry_places=names, facts=(Fact("the mesh", at(7)),)
    )
    (finding,) = judged(metadata, placed)
    assert (finding.code, finding.severity) == ("SHL501", Severity.ERROR)
    assert finding.use is placed
    assert Related(at(7), "the mesh") in finding.related
    elsewhere = dataclasses.replace(placed, entry_places=())
    assert [f.code for f in judged(metadata, elsewhere)] == ["SHL501", "SHL201"]


def test_each_letter_of_a_string_is_not_an_unknown_axis_of_its_own() -> None:
    there = at(1, 20)
    metadata = parameter("bias", (16,), names="tp", names_place=there)
    rejected = Rejected(Cause.UNKNOWN_AXIS, "ValueError", "unbox", dimension=0, axis="t")
    letters = placement("t", "p", shape=(16,), verdict=rejected, entry_places=(there, there))
    (finding,) = judged(metadata, letters)
    assert (finding.code, finding.severity) == ("SHL502", Severity.ERROR)


def test_findings_come_in_reading_order() -> None:
    found = judged(placement(*BAD, line=9), placement("data", None, None, line=4), placement(*BAD, line=2))
    assert [(f.span.line, f.code) for f in found] == [(2, "SHL202"), (4, "SHL201"), (9, "SHL202")]


def variant(number: int, count: int, size: int) -> Placement:
    return placement(*BAD, shape=(16, size), variant=number, variants=count)


def test_when_every_possible_value_fails_the_first_is_reported_as_an_error() -> None:
    (finding,) = judged(variant(0, 2, 10), variant(1, 2, 11))
    assert finding.severity is Severity.ERROR
    assert "has size 10" in finding.message
    assert finding.message.endswith(" (the first of 2 possible values, all of which are rejected)")
    (finding,) = judged(variant(0, 2, 10), variant(1, 2, 10))
    assert finding.severity is Severity.ERROR and "possible" not in finding.message


def test_values_that_fail_in_different_ways_all_fail() -> None:
    too_long = placement("data", "model", shape=(16,), variant=0, variants=2)
    (finding,) = judged(too_long, variant(1, 2, 10))
    assert (finding.code, finding.severity) == ("SHL201", Severity.ERROR)


def test_when_one_possible_value_works_the_others_are_a_warning() -> None:
    (finding,) = judged(variant(0, 3, 12), variant(1, 3, 10), variant(2, 3, 11))
    assert finding.severity is Severity.WARNING
    assert finding.message.endswith("has size 10, which \"model\" (4 devices) does not divide; 8 or 12 would "
                                    "(for 2 of 3 possible values)")  # fmt: skip


def test_a_warning_says_so_when_it_is_of_some_values_only() -> None:
    def large(number: int, size: int) -> Use:
        return placement(shape=(size, 8192), dtype="float32", variant=number, variants=2)

    (finding,) = judged(large(0, 4096), large(1, 8))
    assert finding.message.endswith("(for 1 of 2 possible values)")
    (finding,) = judged(large(0, 4096), large(1, 8192))
    assert finding.severity is Severity.WARNING and "possible" not in finding.message


def test_a_value_that_is_not_judged_counts_as_working() -> None:
    (finding,) = judged(variant(0, 2, 10))
    assert finding.severity is Severity.WARNING


def test_values_of_other_callers_are_other_sites() -> None:
    here = dataclasses.replace(variant(0, 2, 10), environment=Environment(entry="f"))
    there = dataclasses.replace(variant(1, 2, 10), environment=Environment(entry="g"))
    (finding,) = judged(here, there)
    assert finding.severity is Severity.WARNING


def test_a_place_that_is_met_twice_is_judged_each_time() -> None:
    sizes = [(0, 10), (1, 12), (0, 12), (1, 11)]
    found = judged(*(variant(number, 2, size) for number, size in sizes))
    assert [f.severity for f in found] == [Severity.WARNING]
    found = judged(*(variant(number, 2, size) for number, size in [*sizes, (0, 9), (1, 10)]))
    assert [f.severity for f in found] == [Severity.ERROR]
    assert "has size 9," in found[0].message


def test_a_loop_under_each_value_fails_when_one_of_its_rounds_does() -> None:
    rounds = [(0, 10), (0, 12), (1, 12), (1, 10)]
    (finding,) = judged(*(variant(number, 2, size) for number, size in rounds))
    assert finding.severity is Severity.ERROR


def test_arrays_placed_by_one_call_are_sites_of_their_own() -> None:
    kernel = dataclasses.replace(variant(0, 2, 10), entry_places=(at(1, 10), at(1, 11)))
    bias = dataclasses.replace(variant(1, 2, 10), subject="bias", entry_places=(at(1, 20), at(1, 21)))
    assert [f.severity for f in judged(kernel, bias)] == [Severity.WARNING, Severity.WARNING]


def test_places_are_resolved_only_where_something_is_wrong() -> None:
    class Unresolvable:
        path = "program.py"

        def resolve(self) -> None:
            raise AssertionError("this costs work")

    nowhere = Unresolvable()
    fine = placement(
        "data", "model", shape=(8, 8), place=nowhere, entry_places=(nowhere, nowhere), variants=2
    )
    bare = parameter("bias", (8,), place=nowhere, owner_place=nowhere, mesh=MESH, dtype="float32")
    assert judged(fine, bare) == []

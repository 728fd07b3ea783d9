"""The laws against the real JAX on random cases (see `random_cases`), and under what is left unknown."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from judging import Case, judge_case
from random_cases import Tally, cases_of_each_cause, causes, draw_cases, must_decide, set_against_jax
from real_jax import PROGRAMS
from stored_attempts import attempt
from support.sizes import size

from shardlint.laws.core.dims import Dim, substitute, symbol
from shardlint.laws.core.values import Mesh, Spec, Unknown
from shardlint.laws.core.verdicts import Accepted, Api, Rejected, Undecided, Verdict

COUNT = size("SHARDLINT_RANDOM_CASES", 1200, 3600)
SEED = 20308


@pytest.fixture(scope="module")
def against_jax() -> tuple[dict[Api, Tally], list[str]]:
    """All random cases, judged and run."""
    return set_against_jax(cases_of_each_cause(COUNT, SEED), attempt)


def test_laws_agree_with_jax(against_jax: tuple[dict[Api, Tally], list[str]]) -> None:
    _, disagreements = against_jax
    assert not disagreements, "\n".join(disagreements[:5])


@pytest.mark.parametrize("api", PROGRAMS)
def test_the_cases_show_every_verdict(api: Api, against_jax: tuple[dict[Api, Tally], list[str]]) -> None:
    tally = against_jax[0][api]
    # At 50,000 cases, 30 % are accepted and each cause has 3 %; a sample of this size may have fewer.
    assert tally.accepted >= 0.2 * tally.cases
    rare = {cause.value: tally.causes[cause] for cause in causes(api) if not tally.causes[cause]}
    assert not rare, f"of {tally.cases}: {rare}"


def test_leaving_sizes_open_contradicts_nothing() -> None:
    rng = random.Random(SEED)
    decided = 0
    for case in draw_cases(6000, SEED + 1):
        opened, sizes = _with_symbols(rng, case)
        assert _substituted(opened, sizes) == case
        verdict = judge_case(opened)
        decided += not isinstance(verdict, Undecided) and opened != case
        _assert_no_contradiction(verdict, judge_case(case), opened)
    assert decided > 1500


def test_leaving_things_unknown_contradicts_nothing() -> None:
    rng = random.Random(SEED)
    rejected = 0
    for case in draw_cases(6000, SEED + 2):
        hidden = _with_unknowns(rng, case)
        verdict = judge_case(hidden)
        rejected += isinstance(verdict, Rejected)
        _assert_no_contradiction(verdict, judge_case(case), hidden)
    assert rejected > 600


def _assert_no_contradiction(verdict: Verdict, known: Verdict, case: Case) -> None:
    """What is claimed of an open case must hold of the case that is known."""
    if isinstance(verdict, Undecided) or (isinstance(known, Undecided) and not must_decide(case)):
        return
    assert type(verdict) is type(known), f"{case}: {verdict} but {known}"
    if isinstance(verdict, Rejected) and isinstance(known, Rejected) and verdict.exception != "Exception":
        assert (verdict.exception, verdict.stage) == (known.exception, known.stage), f"{case}"
        # of two mistakes of one class JAX names the first, which may need the mesh to be seen
        assert verdict.cause is known.cause or isinstance(case.mesh, Unknown), f"{case}"
    if isinstance(verdict, Accepted) and isinstance(known, Accepted) and verdict.spec and known.spec:
        assert len(verdict.spec) == len(known.spec), f"{case}"


def _with_symbols(rng: random.Random, case: Case) -> tuple[Case, dict[str, Dim]]:
    """Write some sizes of the shape and the mesh as expressions of symbols, and say what those are."""
    sizes: dict[str, Dim] = {}

    def opened(size: Dim) -> Dim:
        if rng.random() < 0.5 or not isinstance(size, int) or size == 0:
            return size
        name = f"n{len(sizes)}"
        factor = rng.choice([k for k in (1, 2, 3, 4, 8) if size % k == 0])
        rest = rng.choice((0, 0, 1)) if size > factor else 0
        if (size - rest) % factor:
            rest = 0
        sizes[name] = (size - rest) // factor
        return symbol(name, rng.choice((0, 1))) * factor + rest

    shape = case.shape if isinstance(case.shape, Unknown) else tuple(opened(size) for size in case.shape)
    mesh = case.mesh
    if isinstance(mesh, Mesh) and rng.random() < 0.3:
        mesh = replace(mesh, sizes=tuple(opened(size) for size in mesh.sizes))
    return replace(case, shape=shape, mesh=mesh), sizes


def _substituted(case: Case, sizes: dict[str, Dim]) -> Case:
    shape = case.shape if isinstance(case.shape, Unknown) else tuple(substitute(d, sizes) for d in case.shape)
    mesh = case.mesh
    if isinstance(mesh, Mesh):
        mesh = replace(mesh, sizes=tuple(substitute(size, sizes) for size in mesh.sizes))
    return replace(case, shape=shape, mesh=mesh)


def _with_unknowns(rng: random.Random, case: Case) -> Case:
    """Hide the mesh, the shape, the spec, one of its entries or what surrounds it; sometimes two of them."""
    hidden = Unknown("hidden")
    parts = ("mesh", "shape", "spec", "entry", "entry", "context", "held")
    for part in rng.sample(parts, rng.choice((1, 1, 2))):
        if part == "mesh":
            case = replace(case, mesh=hidden)
        elif part == "shape":
            case = replace(case, shape=hidden)
        elif part == "context":
            case = replace(case, under=None)
        elif part == "held":
            case = replace(case, held=None)
        elif part == "spec":
            case = replace(case, spec=hidden)
        elif isinstance(case.spec, Spec) and case.spec.entries:
            entries = list(case.spec.entries)
            entries[rng.randrange(len(entries))] = hidden
            case = replace(case, spec=Spec(tuple(entries)))
    return case

"""Logical axes against Flax: what rules make of names, and which names and rules are refused."""

from __future__ import annotations

import functools
import random
from collections import Counter
from typing import Any

import flax.linen as nn
import jax
from flax.core import spmd

from shardlint.laws.core.values import Junk, Marker, Spec
from shardlint.laws.core.verdicts import Rejected, Undecided
from shardlint.laws.flax.logical_axes import (
    LogicalRule,
    NotAPair,
    Refused,
    Resolved,
    Rules,
    RuleTable,
    mesh_spec,
    rename,
    resolve,
    shadowed,
)
from shardlint.laws.placement.partition_spec import judge_spec

CASES = 4000
NAMES = ("batch", "embed", "mlp", "heads")
AXES = ("x", "y", "z")


def _name(draw: random.Random) -> Any:
    return draw.choice(
        (*NAMES, *NAMES, *NAMES, None, jax.P.UNCONSTRAINED, ("x", "y"), ("embed",), "", "x", 0, 7)
    )


def _axes(draw: random.Random) -> Any:
    some = tuple(draw.choice(AXES) for _ in range(draw.randint(0, 3)))
    return draw.choice((*AXES, *AXES, *AXES, None, None, some, jax.P.UNCONSTRAINED, "embed"))


def _rules(draw: random.Random, most: int = 5) -> Any:
    rules: list[Any] = [
        (draw.choice((*NAMES, *NAMES, "x", None)), _axes(draw)) for _ in range(draw.randint(0, most))
    ]
    if draw.random() < 0.1:
        rules.insert(
            draw.randint(0, len(rules)), draw.choice((("batch", "x", "y"), ("batch",), "ab", "abc", 3, None))
        )
    form = draw.random()
    if form < 0.05:
        return {"batch": "x"}
    if form < 0.08:
        return {}
    return [list(rule) if isinstance(rule, tuple) else rule for rule in rules] if form < 0.3 else tuple(rules)


def entry(item: Any) -> Any:
    """An entry, a name or mesh axes as the laws hold them."""
    if item is jax.P.UNCONSTRAINED:
        return Marker.UNCONSTRAINED
    if isinstance(item, tuple | list):
        return tuple(entry(part) for part in item)
    return Junk(repr(item), type(item).__name__, falsy=not item) if isinstance(item, int) else item


def table(rules: Any) -> RuleTable:
    """Rules as the laws hold them."""
    if isinstance(rules, dict):
        return Junk(repr(rules), "dict", hashable=False, falsy=not rules)
    found: list[Any] = []
    for rule in rules:
        pair = list(rule) if isinstance(rule, tuple | list | str) else None
        if pair is None or len(pair) != 2:
            found.append(NotAPair(repr(rule), "TypeError" if pair is None else "ValueError"))
        else:
            found.append(LogicalRule(entry(pair[0]), entry(pair[1])))
    return tuple(found)


def _entries(spec: jax.P) -> tuple[Any, ...]:
    return tuple(entry(item) for item in spec)


def _agree(ask: Any, verdict: Spec | Refused | Undecided, case: Any) -> str:
    """Whether Flax and the law say the same; what they say."""
    try:
        real: Any = _entries(ask())
    except Exception as error:
        real = type(error).__name__
    if isinstance(verdict, Undecided):
        return "undecided"
    if isinstance(verdict, Refused):
        assert real == verdict.exception, case
        return verdict.mistake
    made = judge_spec(verdict)
    if isinstance(made, Rejected):
        assert real == made.exception, case
        return "no spec"
    assert real == mesh_spec(verdict).entries, case
    return "accepted"


def test_linen_resolves_names_as_the_law_says() -> None:
    draw = random.Random("linen")
    seen: Counter[str] = Counter()
    for _ in range(CASES):
        names, rules = tuple(_name(draw) for _ in range(draw.randint(0, 4))), _rules(draw)
        given = jax.P(*names) if draw.random() < 0.3 else names
        held = Spec(entry(names) if given is names else _entries(given))
        found = resolve(held, table(rules))
        verdict = found.spec if isinstance(found, Resolved) else found
        ask = functools.partial(nn.logical_to_mesh_axes, given, rules)
        seen[_agree(ask, verdict, (names, rules))] += 1
    assert seen["undecided"] <= CASES * 0.02
    assert seen["accepted"] >= CASES * 0.3
    assert min(seen["not-rules"], seen["repeated-name"]) >= CASES * 0.03


def test_what_is_unmatched_is_what_a_fallback_raises_for() -> None:
    draw = random.Random("fallback")
    raised = 0
    for _ in range(400):
        names = tuple(draw.sample((*NAMES, None), k=draw.randint(1, 3)))
        rules: Rules = tuple(
            LogicalRule(draw.choice(NAMES), draw.choice(("x", None, ("y", "z"), "y"))) for _ in range(3)
        )
        found = resolve(Spec(names), rules)
        assert isinstance(found, Resolved)
        written = tuple((rule.name, rule.axes) for rule in rules if isinstance(rule, LogicalRule))

        def constrain(x: jax.Array, names: Any = names, written: Any = written) -> jax.Array:
            return nn.with_logical_constraint(x, names, written, fallback=nn.spmd.RulesFallback.RAISE_ERROR)

        try:
            jax.eval_shape(constrain, jax.ShapeDtypeStruct((8,) * 4, "float32"))
            assert not found.unmatched, (names, rules)
        except ValueError:
            raised += 1
            assert found.unmatched, (names, rules)
        assert {d for d, _ in found.taken} <= set(found.unmatched)
    assert 100 <= raised <= 350


def test_nnx_renames_names_as_the_law_says() -> None:
    draw = random.Random("nnx")
    seen: Counter[str] = Counter()
    for _ in range(CASES):
        names = tuple(_name(draw) for _ in range(draw.randint(0, 4)))
        context, own = _rules(draw, 3), draw.choice((None, _rules(draw, 3)))
        given = jax.P(*names) if draw.random() < 0.3 else names
        held = Spec(entry(names) if given is names else _entries(given))
        verdict = rename(held, table(context), () if own is None else table(own))

        def apply(given: Any = given, context: Any = context, own: Any = own) -> Any:
            with spmd.logical_axis_rules(context):
                return spmd.apply_rules(given, own)

        seen[_agree(apply, verdict, (names, context, own))] += 1
    assert seen["undecided"] <= CASES * 0.1
    assert seen["accepted"] >= CASES * 0.3
    assert min(seen["not-rules"], seen["inconsistent"]) >= CASES * 0.03


def test_rules_behind_one_without_mesh_axis_decide_nothing() -> None:
    draw, found = random.Random(3), 0
    for _ in range(CASES // 4):
        rules = tuple(
            (draw.choice(NAMES), draw.choice((*AXES, None, None, ("x", "y"))))
            for _ in range(draw.randint(1, 6))
        )
        names = tuple(draw.sample(NAMES, 3))
        known = table(rules)
        assert isinstance(known, tuple)
        dimensions = [dimension for dimension, _ in shadowed(Spec(names), known)]
        mapped = nn.logical_to_mesh_axes(names, rules)
        for dimension, name in enumerate(names):
            first = next((i for i, rule in enumerate(rules) if rule[0] == name), len(rules))
            later = [rule for rule in rules[first + 1 :] if rule[0] == name and rule[1] is not None]
            assert (dimension in dimensions) == (
                first < len(rules) and rules[first][1] is None and bool(later)
            )
            if dimension in dimensions:
                others = tuple(rule for i, rule in enumerate(rules) if i <= first or rule not in later)
                assert mapped[dimension] is None
                assert nn.logical_to_mesh_axes(names, others) == mapped
        found += bool(dimensions)
    assert found > CASES // 40

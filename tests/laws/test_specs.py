"""The law of `PartitionSpec(...)` and `NamedSharding(...)` beyond the random cases."""

from __future__ import annotations

import jax
import pytest
from jax.sharding import NamedSharding, PartitionSpec
from real_jax import law_spec, real_entries, real_mesh, real_spec, trimmed

from shardlint.laws.core.values import AxisType, Entry, Junk, Marker, Mesh, Spec, Unknown
from shardlint.laws.core.verdicts import Accepted, Cause, Rejected, Undecided
from shardlint.laws.placement.named_sharding import judge_sharding
from shardlint.laws.placement.partition_spec import Kind, judge_spec, judge_sum, normalize

U = Marker.UNCONSTRAINED
AUTO = Mesh(("x", "y"), (4, 2), (AxisType.AUTO, AxisType.AUTO))
EXPLICIT = Mesh(("x", "y"), (4, 2), (AxisType.EXPLICIT, AxisType.EXPLICIT))
SET = Junk("{'x'}", "set", hashable=False)

ENTRIES: list[Entry] = [
    None, "x", "", (), ("x",), ("x", "y"), (None,), ("",), ("x", ""), ("x", None), U, (U,), ("x", U),
    (("x",),), ("x", ()), (("x", "y"), "y"), SET, (SET,), ("x", SET), ((SET,),),
    Junk("0", "int", falsy=True), Junk("0.0", "float", falsy=True), Junk("False", "bool", falsy=True),
    Junk("[]", "list", hashable=False, falsy=True), Junk("set()", "set", hashable=False, falsy=True),
    Junk("1", "int"), Junk("1.5", "float"), Junk("b'x'", "bytes"), Junk("...", "ellipsis"),
    Junk("frozenset({'x'})", "frozenset"), ("x", Junk("1", "int")), (Junk("0", "int", falsy=True),),
]  # fmt: skip

REDUCTIONS = [
    Spec(("x",), unreduced=frozenset({"y"})),
    Spec(("x",), unreduced=frozenset({"x"})),
    Spec((("x", "y"),), reduced=frozenset({"y"})),
    Spec((None,), unreduced=frozenset({"x"}), reduced=frozenset({"x"})),
    Spec((None, U), unreduced=frozenset({"y"}), reduced=frozenset({"x"})),
    Spec((SET,), unreduced=frozenset({"x"}), reduced=frozenset({"x"})),
    Spec((("x",),), unreduced=frozenset({"z"})),
]

SPECS = [Spec((entry,)) for entry in ENTRIES] + [Spec(("y", entry)) for entry in ENTRIES] + REDUCTIONS


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_spec_law_agrees_with_jax(spec: Spec) -> None:
    verdict = judge_spec(spec)
    try:
        made = real_spec(spec)
    except Exception as error:
        assert isinstance(verdict, Rejected)
        assert verdict.exception == type(error).__name__
        return
    assert isinstance(verdict, Accepted) and verdict.spec == normalize(spec)
    if all(entry is None or isinstance(entry, str | tuple) for entry in normalize(spec).entries):
        plain = [e for e in normalize(spec).entries if not (isinstance(e, tuple) and any(map(_is_odd, e)))]
        if len(plain) == len(spec) and not spec.unreduced and not spec.reduced:
            assert law_spec(made) == trimmed(normalize(spec))


@pytest.mark.parametrize("left", REDUCTIONS[:1] + REDUCTIONS[4:5] + [Spec(("z",)), Spec()], ids=str)
@pytest.mark.parametrize("right", [Spec(), Spec((None, "w")), Spec(("v",), frozenset({"z"}))], ids=str)
def test_law_of_sums_agrees_with_jax(left: Spec, right: Spec) -> None:
    verdict = judge_sum(left, right)
    try:
        made = real_spec(left) + real_spec(right)
    except Exception as error:
        assert isinstance(verdict, Rejected) and verdict.exception == type(error).__name__
        return
    assert isinstance(verdict, Accepted) and verdict.spec is not None
    assert (made.unreduced, made.reduced) == (verdict.spec.unreduced, verdict.spec.reduced)


def test_law_of_kinds_agrees_with_jax() -> None:
    """`UnreducedKind` is there since 0.11.0."""
    kinds = getattr(jax.sharding, "UnreducedKind", None)
    given: list[Kind | None] = [None, "sum", "max", Junk("'max'", "str"), Junk("1", "int")]
    for kind in given if kinds else []:
        real = eval(kind.text) if isinstance(kind, Junk) else kind and getattr(kinds, str(kind))
        for spec in (*REDUCTIONS, Spec(("x",)), Spec((None,), reduced=frozenset({"x"}))):
            verdict = judge_spec(spec, kind=kind)
            marked = {"unreduced": set(spec.unreduced), "reduced": set(spec.reduced)}
            try:
                PartitionSpec(*real_entries(spec), **marked, unreduced_kind=real)
            except Exception as error:
                assert isinstance(verdict, Rejected), (spec, kind)
                assert verdict.exception == type(error).__name__
            else:
                assert isinstance(verdict, Accepted), (spec, kind)


def _is_odd(part: object) -> bool:
    return isinstance(part, Junk | Marker)


@pytest.mark.parametrize("spec", SPECS, ids=str)
@pytest.mark.parametrize("mesh", [AUTO, EXPLICIT], ids=["auto", "explicit"])
def test_sharding_law_agrees_with_jax(mesh: Mesh, spec: Spec) -> None:
    if not isinstance(judge_spec(spec), Accepted):
        return
    verdict = judge_sharding(mesh, normalize(spec))
    try:
        NamedSharding(real_mesh(mesh), real_spec(spec))
    except Exception as error:
        assert isinstance(verdict, Rejected)
        assert verdict.exception == type(error).__name__
        return
    assert isinstance(verdict, Accepted)


JUNK = [
    Junk("'x'", "str"), Junk("('x', 'y')", "tuple"), Junk("()", "tuple", falsy=True), Junk("3", "int"),
    Junk("['x']", "list", hashable=False), Junk("{'x': 1}", "dict", hashable=False), SET,
    Junk("(['x'],)", "tuple", hashable=False), None,
]  # fmt: skip


@pytest.mark.parametrize("junk", JUNK, ids=str)
def test_what_is_no_spec_raises_what_the_law_says(junk: Junk | None) -> None:
    verdict = judge_sharding(AUTO, junk)
    assert isinstance(verdict, Rejected) and verdict.cause is Cause.NOT_A_SPEC
    with pytest.raises(Exception) as caught:
        NamedSharding(real_mesh(AUTO), real_spec(junk))
    assert type(caught.value).__name__ == verdict.exception


def test_rejections_point_at_the_entry() -> None:
    repeated = judge_sharding(AUTO, Spec((None, "x", ("y", "x"))))
    assert isinstance(repeated, Rejected)
    assert (repeated.cause, repeated.dimension, repeated.part, repeated.axis) == (
        Cause.DUPLICATE_AXIS,
        2,
        1,
        "x",
    )
    unknown = judge_sharding(AUTO, Spec((None, ("y", "modle"))))
    assert isinstance(unknown, Rejected)
    assert (unknown.cause, unknown.dimension, unknown.part, unknown.axis) == (
        Cause.UNKNOWN_AXIS,
        1,
        1,
        "modle",
    )
    whole = judge_sharding(AUTO, Spec(("z",)))
    assert isinstance(whole, Rejected) and whole.part is None


def test_what_is_unknown_is_undecided() -> None:
    assert isinstance(judge_spec(Spec((Unknown("?"),))), Undecided)
    assert isinstance(judge_sharding(AUTO, Unknown("?")), Undecided)
    assert isinstance(judge_sharding(Unknown("?"), Spec(("x",))), Undecided)
    assert isinstance(judge_sharding(Unknown("?"), Spec(("x", "x"))), Rejected)
    assert isinstance(judge_sharding(Unknown("?"), Spec(())), Accepted)


def test_jax_still_interns_specs_as_the_law_says() -> None:
    assert PartitionSpec(("x",)) == PartitionSpec("x") != PartitionSpec("x", None)
    assert jax.P is PartitionSpec

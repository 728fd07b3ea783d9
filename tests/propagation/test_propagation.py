"""The laws of propagation against JAX itself: the same random programs, traced and judged.

At full size: ``python measure_propagation.py CASES SEED`` in this folder.
"""

from __future__ import annotations

from collections import Counter

import pytest
from drawing import MODES
from measure_propagation import measure
from programs_of_primitives import KINDS

from shardlint.laws import propagation as laws
from shardlint.laws.core.array_types import ArrayType, TypeSharding
from shardlint.laws.core.dims import symbol
from shardlint.laws.core.values import AxisType, Mesh, Spec, Unknown
from shardlint.laws.core.verdicts import Cause, Rejected, Undecided

CASES = {"plain": 150, "sets": 60, "inside": 60}

EXPLICIT = Mesh(("x", "y"), (2, 4), (AxisType.EXPLICIT, AxisType.EXPLICIT))


def array(*shape: object, spec: tuple[str | None, ...] = (), mesh: Mesh | None = EXPLICIT) -> ArrayType:
    return ArrayType(shape, "float32", TypeSharding(mesh, Spec(spec)))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", KINDS)
def test_the_law_agrees_with_jax(kind: str) -> None:
    for mode in MODES:
        figures, wrong = measure(kind, CASES[mode], seed=0, mode=mode)
        assert not wrong, "\n".join(wrong[:5])
        assert figures["decided"] >= (0.7 if mode == "sets" else 0.9) * CASES[mode]


def test_the_programs_are_of_all_sorts() -> None:
    total: Counter[str] = Counter()
    cases = 0
    for kind in ("binary", "matmul", "dot_general", "reshape", "concatenate", "slice", "sort", "gather"):
        for mode in MODES:
            total += measure(kind, 60, seed=1, mode=mode)[0]
            cases += 60
    assert 0.2 < total["rejected"] / cases < 0.6
    assert total["symbolic"] / cases > 0.8
    causes = {Cause.CONFLICT, Cause.AMBIGUOUS, Cause.UNSUPPORTED, Cause.OUT_SHARDING, Cause.OTHER_MESH}
    assert all(total[cause] > 5 for cause in causes)


def test_what_is_not_known_is_undecided() -> None:
    known, n = array(8, 4, spec=("x",)), symbol("n")
    unknown = ArrayType((8, 4), "float32")
    assert isinstance(laws.elementwise(EXPLICIT, known, unknown), Undecided)
    assert isinstance(
        laws.elementwise(EXPLICIT, known, ArrayType(None, "float32", known.sharding)), Undecided
    )
    assert isinstance(laws.reshape(EXPLICIT, known, (n, 4)), Undecided)
    assert isinstance(laws.reshape(EXPLICIT, known, (32,), out_sharding=Unknown("a parameter")), Undecided)
    held = ArrayType((8,), "float32", TypeSharding(EXPLICIT, Spec((Unknown("an entry"),))))
    assert isinstance(laws.elementwise(EXPLICIT, held, held), Undecided)


def test_a_rejection_names_the_dimension_and_the_axis() -> None:
    verdict = laws.elementwise(EXPLICIT, array(8, 4, spec=("x",)), array(8, 4, spec=("y",)))
    assert isinstance(verdict, Rejected)
    assert (verdict.cause, verdict.dimension, verdict.axis, verdict.size) == (Cause.CONFLICT, 0, "y", 8)


def test_symbolic_sizes_propagate() -> None:
    n = symbol("n", low=1)
    product = laws.dot_general(
        EXPLICIT, array(n, 16, spec=("x",)), array(16, 4 * n, spec=(None, "y")), (((1,), (0,)), ((), ()))
    )
    assert product == TypeSharding(EXPLICIT, Spec(("x", "y")))
    merged = laws.reshape(EXPLICIT, array(4 * n, 8, spec=("y",)), (32 * n,))
    assert merged == TypeSharding(EXPLICIT, Spec(("y",)))


def test_devices_of_a_mesh_do_not_matter() -> None:
    abstract = Mesh(EXPLICIT.names, EXPLICIT.sizes, EXPLICIT.types, abstract=True)
    found = laws.elementwise(abstract, array(8, spec=("x",)), array(8, spec=("x",), mesh=abstract))
    assert isinstance(found, TypeSharding)

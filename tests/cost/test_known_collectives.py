"""Programs whose collectives follow from reasoning (`known/`), and random ones by formulas."""

from __future__ import annotations

import importlib.util
import os
import random
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

from shardlint.cost.expectations import Expectation, parse_expectations
from shardlint.cost.judgement import Budget, judge
from shardlint.cost.runs import compile_file
from shardlint.cost.values import Collective, Compilation
from shardlint.output.cost.words import layouts_text
from shardlint.source import read_source

KNOWN = sorted(Path(__file__).with_name("known").glob("*.py"))
RANDOM = int(os.environ.get("SHARDLINT_COST_PROGRAMS", "40"))


@pytest.fixture(scope="module", params=KNOWN, ids=lambda path: path.stem)
def known(request: pytest.FixtureRequest) -> tuple[Path, Compilation]:
    return request.param, compile_file(str(request.param))


def test_each_collective_is_announced_with_its_bytes(known: tuple[Path, Compilation]) -> None:
    path, compiled = known
    assert compiled.failures == ()
    found = judge(compiled, read_source(str(path)), Budget())
    assert [f"{one.span.line}: {one.message}" for one in found] == []
    cases = {part.name for part in compiled.parts if part.name.startswith("case_")}
    assert {program.case for program in compiled.programs} == cases


def test_announcements_name_exact_bytes(known: tuple[Path, Compilation]) -> None:
    read = parse_expectations(known[0].read_text(encoding="utf-8"))
    assert all(isinstance(one, Expectation) and (one.kind is None or one.least == one.most) for one in read)


def test_loops_turn_as_often_as_they_say(known: tuple[Path, Compilation]) -> None:
    path, compiled = known
    if path.stem != "loops":
        assert all(one.count == _turns(one) for one in compiled.collectives)
        return
    counts: dict[str, list[int | None]] = {}
    for program in compiled.programs:
        counts.setdefault(program.case, []).extend(one.count for one in program.collectives)
    assert counts == _module(path).COUNTS


NEWER = Version(version("jax")) >= Version("0.11.2")
#: The layouts before and after the collectives of some cases.
TOLD = {
    ("tensor_parallel", "case_row_parallel"): {
        'all-reduce: P(None, None, unreduced={"model"}) → P(None, None)'
    },
    ("tensor_parallel", "case_row_parallel_with_a_split_result"): {
        'reduce-scatter: P(None, None, unreduced={"model"}) → P(None, "model")'
    },
    ("tensor_parallel", "case_a_whole_result_wants_whole_weights"): {
        'all-gather: P(None, "model") → P(None, None)'
    },
    ("data_parallel", "case_fsdp_backward"): {
        'all-gather: P("data", None) → P(None, None)',
        'reduce-scatter: P(None, None, unreduced={"data"}) → P("data", None)',
    },
    ("data_parallel", "case_transposed_layout"): {'all-to-all: P("model", None) → P(None, "model")'},
    ("data_parallel", "case_gather_over_both_axes"): {
        'all-gather: P(("data", "model"), None) → P(None, None)'
    },
    ("loops", "case_scan"): {
        # Since JAX 0.11.2 what is behind the gather is not known.
        f'all-gather: P(None, "data", None) → {"?" if NEWER else "P(None, None, None)"}',
    },
    ("manual", "case_psum"): {"all-reduce: "},
}


def test_layouts_are_told_as_the_program_says_them(known: tuple[Path, Compilation]) -> None:
    path, compiled = known
    found: dict[tuple[str, str], set[str]] = {}
    for program in compiled.programs:
        for one in program.collectives:
            text = f"{one.kind.value}: {layouts_text(one)}"
            found.setdefault((path.stem, program.case), set()).add(text)
    assert {at: said for at, said in found.items() if at in TOLD} == {
        at: said for at, said in TOLD.items() if at[0] == path.stem
    }


def _turns(one: Collective) -> int:
    """Return the turns of the two loops that are not in `loops`."""
    return 4 if one.program == "attend" else 7 if one.program == "stages" else 1


def _module(path: Path) -> Any:
    """Return a program's constants; its top level only defines."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_are_as_many_programs_as_were_asked_for() -> None:
    texts = [path.read_text(encoding="utf-8") for path in KNOWN]
    assert sum(text.count("def case_") for text in texts) >= 60


# -- random programs, whose collectives follow from formulas --------------------------------------------

HEAD = """
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh({sizes}, {names}, axis_types=(AxisType.Auto,) * {rank})


def array(shape, spec, dtype):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, P(*spec)))

"""


def random_cases(seed: int, sizes: dict[str, int]) -> list[tuple[str, str, frozenset[str], int]]:
    """Return cases: their text, and the kind, axes and bytes of the only collective, "" where there is none.

    A contraction or a sum over dimensions split alike leaves partial sums: one all-reduce of the result,
    (n-1)/n of it twice. A dimension that is laid out anew from split to whole is gathered.
    """
    choose = random.Random(seed)
    found = []
    for number in range(RANDOM):
        dtype, each = choose.choice([("float32", 4), ("bfloat16", 2), ("float16", 2), ("int8", 1)])
        axes = choose.sample(list(sizes), choose.randint(0, len(sizes)))
        spec = tuple(axes) if len(axes) > 1 else axes[0] if axes else None
        ways = 1
        for axis in axes:
            ways *= sizes[axis]
        m, k, n = (choose.choice([8, 16, 32, 48]) for _ in range(3))
        what = choose.choice(["matmul", "einsum", "sum", "max", "gather"])
        if what in ("matmul", "einsum"):
            call = "x @ w" if what == "matmul" else "jnp.einsum('mk,kn->nm', x, w)"
            body = f"jax.jit(lambda x, w: {call}).lower(array({(m, k)}, {(None, spec)}, '{dtype}'), "
            body += f"array({(k, n)}, {(spec, None)}, '{dtype}'))"
            kind, size = "all-reduce", m * n * each
        elif what in ("sum", "max"):
            body = (
                f"jax.jit(lambda x: jnp.{what}(x, axis=1)).lower(array({(m, k)}, {(None, spec)}, '{dtype}'))"
            )
            # jnp.sum adds up int8 in int32 and halves in float32: parts are sent so.
            wide = 4 if what == "sum" else each
            kind, size = "all-reduce", m * wide
        else:
            whole = "NamedSharding(mesh, P())"
            body = f"jax.jit(lambda x: jax.lax.with_sharding_constraint(x, {whole}))"
            body += f".lower(array({(m, k)}, {(None, spec)}, '{dtype}'))"
            kind, size = "all-gather", m * k * each
        moved = (2 if kind == "all-reduce" else 1) * size * (ways - 1) // ways
        text = f"def case_{number}():\n    {body}\n"
        found.append((text, kind if ways > 1 else "", frozenset(axes), moved))
    return found


@pytest.mark.parametrize(("seed", "sizes"), [(1, {"x": 2, "y": 4}), (2, {"a": 2, "b": 2, "c": 2})])
def test_random_programs_follow_the_formulas(seed: int, sizes: dict[str, int], tmp_path: Path) -> None:
    cases = random_cases(seed, sizes)
    head = HEAD.format(sizes=tuple(sizes.values()), names=tuple(sizes), rank=len(sizes))
    path = tmp_path / "random_programs.py"
    path.write_text(head + "\n".join(text for text, *_ in cases), encoding="utf-8")
    compiled = compile_file(str(path))
    assert compiled.failures == ()
    found: dict[str, list[Collective]] = {}
    for program in compiled.programs:
        found.setdefault(program.case, []).extend(program.collectives)
    wrong = []
    for number, (text, kind, axes, moved) in enumerate(cases):
        ours = found.get(f"case_{number}", [])
        union = {axis for one in ours for axis in one.axes}
        kinds = {one.kind.value for one in ours}
        total = sum(one.bytes for one in ours)
        if len(ours) > 1:
            # XLA may go one axis at a time: the same axes, and for a gather the same bytes in all.
            good = union == axes and kinds == {kind} and (kind != "all-gather" or total == moved)
        else:
            good = (kinds, union, total) == (({kind}, axes, moved) if kind else (set(), set(), 0))
        if not good:
            wrong.append(
                (seed, text, [(one.kind.value, one.axes, one.bytes, one.shape) for one in ours], moved)
            )
    assert wrong == []
    assert sum(bool(kind) for _, kind, *_ in cases) > RANDOM / 3

"""Layouts against JAX itself: which device holds which block, how large it is, how often it is copied."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shardlint.laws.core.dims import symbol
from shardlint.laws.core.values import AxisType, Entry, Junk, Marker, Mesh, Spec, Unknown
from shardlint.laws.core.verdicts import Accepted, Api, Cause, Rejected, Undecided
from shardlint.laws.placement.shard_shapes import replication, shard_shape
from shardlint.model.spans import Span
from shardlint.model.uses import Environment, ParameterUse, Placement
from shardlint.output.layout import Layout, blocks, layout_of, picture, render
from shardlint.output.terminal_styles import Styles

HERE = Span("a.py", 3, 5, 3, 9)


def mesh_of(**sizes: int) -> Mesh:
    return Mesh(tuple(sizes), tuple(sizes.values()), (AxisType.AUTO,) * len(sizes))


@st.composite
def placements(draw: st.DrawFn) -> tuple[Mesh, Spec, tuple[int, ...]]:
    """A mesh of at most 8 devices, a spec over it, and a shape that it divides."""
    sizes = draw(st.sampled_from([(8,), (2, 4), (4, 2), (2, 2, 2), (1, 8), (2, 2), (3, 2), (1,)]))
    mesh = mesh_of(**dict(zip("abc", sizes, strict=False)))
    names = draw(st.permutations(mesh.names))
    rank = draw(st.integers(1, 4))
    entries: list[Entry] = [None] * rank
    for name in names:
        target = draw(st.integers(-1, rank - 1))
        if target >= 0:
            before = entries[target]
            entries[target] = (*(before if isinstance(before, tuple) else ()), name)
    entries = [e[0] if isinstance(e, tuple) and len(e) == 1 and draw(st.booleans()) else e for e in entries]
    while entries and entries[-1] is None and draw(st.booleans()):
        entries.pop()
    return mesh, Spec(tuple(entries)), tuple(24 * draw(st.integers(1, 2)) for _ in range(rank))


def in_jax(mesh: Mesh, spec: Spec) -> jax.sharding.NamedSharding:
    count = int(np.prod(mesh.sizes))
    devices = np.array(jax.devices()[:count]).reshape(mesh.sizes)
    return jax.sharding.NamedSharding(jax.sharding.Mesh(devices, mesh.names), jax.P(*spec.entries))


@given(placements())
@settings(max_examples=300, deadline=None)
def test_devices_hold_the_blocks_that_jax_gives_them(case: tuple[Mesh, Spec, tuple[int, ...]]) -> None:
    mesh, spec, shape = case
    sharding = in_jax(mesh, spec)
    each = sharding.shard_shape(shape)
    assert shard_shape(mesh, spec, shape) == each
    theirs: dict[tuple[int, ...], list[int]] = {}
    for device, index in sharding.devices_indices_map(shape).items():
        block = tuple((s.start or 0) // size for s, size in zip(index, each, strict=True))
        theirs.setdefault(block, []).append(device.id)
    ours = blocks(mesh, spec, len(shape))
    assert ours == {block: tuple(sorted(devices)) for block, devices in theirs.items()}
    assert {len(devices) for devices in ours.values()} == {replication(mesh, spec)}


@given(placements())
@settings(max_examples=100, deadline=None)
def test_every_device_is_in_the_picture(case: tuple[Mesh, Spec, tuple[int, ...]]) -> None:
    mesh, spec, shape = case
    lines = picture(mesh, spec, len(shape))
    shown = {number for line in lines if line.startswith("│") for number in numbers(line)}
    assert shown == set(range(int(np.prod(mesh.sizes))))


def numbers(line: str) -> list[int]:
    found: list[int] = []
    for cell in line.strip("│").split("│"):
        for part in cell.split(","):
            first, _, last = part.strip().partition("-")
            found += range(int(first), int(last or first) + 1)
    return found


MESH = mesh_of(data=2, model=4)


@pytest.mark.parametrize(
    ("entries", "rank", "drawn"),
    [
        (("data",), 1, ["┌─────┬─────┐", "│ 0-3 │ 4-7 │", "└─────┴─────┘"]),
        ((), 2, ["┌─────┐", "│ 0-7 │", "└─────┘"]),
        (
            (("data", "model"),),
            2,
            [
                "┌───┐", "│ 0 │", "├───┤", "│ 1 │", "├───┤", "│ 2 │", "├───┤", "│ 3 │", "├───┤", "│ 4 │",
                "├───┤", "│ 5 │", "├───┤", "│ 6 │", "├───┤", "│ 7 │", "└───┘",
            ],
        ),
        (
            ("data", "model"),
            2,
            [
                "┌───┬───┬───┬───┐",
                "│ 0 │ 1 │ 2 │ 3 │",
                "├───┼───┼───┼───┤",
                "│ 4 │ 5 │ 6 │ 7 │",
                "└───┴───┴───┴───┘",
            ],
        ),
        (
            ("data", None, "model"),
            3,
            [
                "rows: dimension 0, columns: dimension 2 of 3",
                "┌───┬───┬───┬───┐",
                "│ 0 │ 1 │ 2 │ 3 │",
                "├───┼───┼───┼───┤",
                "│ 4 │ 5 │ 6 │ 7 │",
                "└───┴───┴───┴───┘",
            ],
        ),
    ],
)  # fmt: skip
def test_pictures(entries: tuple[Entry, ...], rank: int, drawn: list[str]) -> None:
    assert picture(MESH, Spec(entries), rank) == drawn


def test_three_partitioned_dimensions_are_drawn_in_slices() -> None:
    lines = picture(mesh_of(a=2, b=2, c=2), Spec(("a", "b", "c")), 3)
    assert [line for line in lines if "block" in line] == [
        "block 0 of dimension 0:",
        "block 1 of dimension 0:",
    ]
    assert [line for line in lines if line.startswith("│")] == [
        "│ 0 │ 1 │",
        "│ 2 │ 3 │",
        "│ 4 │ 5 │",
        "│ 6 │ 7 │",
    ]


def test_a_large_grid_is_shortened() -> None:
    lines = picture(mesh_of(a=64, b=64), Spec(("a", "b")), 2)
    assert len(lines) == 2 * 17 + 1
    assert "..." in lines[1]
    assert "4095" in lines[-2]
    assert picture(mesh_of(a=512), Spec(), 1)[1] == "│ 0-511 │"
    assert picture(mesh_of(a=16, b=2), Spec(("b",)), 1)[1] == "│ 0,2,...,30 │ 1,3,...,31 │"


def placement(**changes: object) -> Placement:
    given: dict[str, object] = {
        "place": HERE,
        "environment": Environment(),
        "verdict": Accepted(),
        "api": Api.DEVICE_PUT,
        "mesh": MESH,
        "spec": Spec((None, "model")),
        "shape": (1024, 4096),
        "dtype": "bfloat16",
        "subject": "`kernel`",
    }
    return Placement(**{**given, **changes})  # type: ignore[arg-type]


def text_of(**changes: object) -> str:
    layout = layout_of(placement(**changes))
    assert layout is not None
    return render([layout, layout], Styles())


def test_the_numbers_of_a_layout() -> None:
    text = text_of()
    assert text.splitlines()[:7] == [
        "a.py:3:5: `kernel`",
        "  array    (1024, 4096) bfloat16, 8.4 MB",
        '  spec     P(None, "model")',
        "  mesh     (data=2, model=4): 8 devices",
        "  shard    (1024, 1024), 2.1 MB on each device",
        "  copies   every value is on 2 devices",
        "",
    ]
    assert text.count("`kernel`") == 1


def test_a_replicated_array_says_so() -> None:
    assert "every value is on 8 devices (all of them: fully replicated)" in text_of(spec=Spec(()))
    assert "every value is on one device" in text_of(spec=Spec(("data", "model")))


def test_sizes_that_are_not_known_stay_symbols() -> None:
    text = text_of(shape=(symbol("batch") * 2, 4096), dtype=None, spec=Spec(("data", "model")))
    assert "array    (2*batch, 4096) of unknown dtype\n" in text
    assert "shard    (batch, 1024) on each device\n" in text


def test_a_mesh_whose_size_is_not_known_has_no_picture() -> None:
    text = text_of(mesh=Mesh(("model",), (symbol("n"),), (AxisType.AUTO,)))
    assert "┌" not in text
    assert "mesh     (model=n): n devices" in text


def test_a_scalar_has_no_picture() -> None:
    assert "┌" not in text_of(shape=(), spec=Spec(()))


def test_what_jax_drops_is_not_drawn_as_partitioned() -> None:
    text = text_of(shape=(10, 7), spec=Spec(("data", "model")), verdict=Accepted(replicated=(1,)))
    assert "shard    (5, 7)" in text
    assert "dropped  the axes of dimension 1: JAX replicates it silently" in text


def test_the_sharding_of_the_result_counts() -> None:
    text = text_of(verdict=Accepted(spec=Spec(("model",))))
    assert 'spec     P("model")' in text


def test_a_parameter_has_a_layout() -> None:
    use = ParameterUse(
        place=HERE, environment=Environment(), verdict=Accepted(), library="linen", owner="`nn.Dense`",
        owner_place=HERE, name="kernel", shape=(8, 16), dtype="float32", names=Spec((None, "model")),
        mesh=MESH,
    )  # fmt: skip
    layout = layout_of(use)
    assert isinstance(layout, Layout)
    assert layout.subject == "parameter `kernel` of `nn.Dense`"


@pytest.mark.parametrize(
    "changes",
    [
        {"mesh": Unknown("the caller's")},
        {"mesh": None},
        {"shape": Unknown("")},
        {"spec": Unknown("")},
        {"spec": '("data",)'},
        {"spec": Spec(("tensor",))},
        {"spec": Spec((Marker.UNCONSTRAINED, "model"))},
        {"spec": Spec((Unknown(""), "model"))},
        {"spec": Spec((("data", Junk("3", "int")),))},
        {"spec": Spec((None, None, "model"))},
        {"mesh": Mesh(("model", "model"), (2, 4), (AxisType.AUTO,) * 2)},
        {"verdict": Rejected(Cause.TOO_LONG, "ValueError", "call")},
        {"verdict": Undecided("")},
    ],
)
def test_what_is_not_resolved_has_no_layout(changes: dict[str, object]) -> None:
    assert layout_of(placement(**changes)) is None

"""The laws against every measured cell of `tests/data/matrix.json` (JAX 0.10.2, mesh x=4, y=2)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from judging import Case, judge_case
from real_jax import trimmed

from shardlint.laws.core.values import AxisType, Junk, Marker, Mesh, Spec, Unknown
from shardlint.laws.core.verdicts import Accepted, Api, Rejected, Undecided, Verdict
from shardlint.laws.placement.judge import judge_placement
from shardlint.laws.placement.named_sharding import judge_sharding
from shardlint.laws.placement.partition_spec import judge_spec, normalize
from shardlint.laws.placement.shard_shapes import shard_shape
from shardlint.laws.placement.spec_arity import judge_arity, judge_container

CELLS: list[dict[str, Any]] = json.loads((Path(__file__).parents[1] / "data" / "matrix.json").read_text())

AUTO, EXPLICIT = AxisType.AUTO, AxisType.EXPLICIT
MESHES = {
    mode: Mesh(("x", "y"), (4, 2), types)
    for mode, types in {
        "auto": (AUTO, AUTO),
        "explicit": (EXPLICIT, EXPLICIT),
        "mixed": (EXPLICIT, AUTO),
    }.items()
}

#: The law's API for each API of the matrix, and whether the spec is used bare.
APIS: dict[str, tuple[Api, bool]] = {
    "ctor": (Api.NAMED_SHARDING, False),
    "sds": (Api.SHAPE_DTYPE_STRUCT, False),
    "shard_shape": (Api.SHARD_SHAPE, False),
    "dput_np": (Api.DEVICE_PUT, False),
    "dput_jax": (Api.DEVICE_PUT, False),
    "dput_P": (Api.DEVICE_PUT, True),
    "dput_injit": (Api.DEVICE_PUT_IN_JIT, False),
    "in": (Api.JIT_IN, False),
    "in_P": (Api.JIT_IN, True),
    "out": (Api.JIT_OUT, False),
    "out_P": (Api.JIT_OUT, True),
    "wsc": (Api.CONSTRAINT, False),
    "wsc_setmesh_P": (Api.CONSTRAINT, True),
    "wsc_eager": (Api.CONSTRAINT_EAGER, False),
    "wsc_inner": (Api.CONSTRAINT, False),
    "smin": (Api.SHARD_MAP_IN, False),
    "smout": (Api.SHARD_MAP_OUT, False),
    "smout_vma": (Api.SHARD_MAP_OUT, False),
    "reshard": (Api.RESHARD, False),
    "reshard_jit": (Api.RESHARD_IN_JIT, True),
    "zeros": (Api.CREATE, False),
    "zeros_out": (Api.CREATE_OUT, True),
    "rand_out": (Api.RANDOM_OUT, True),
    "cb": (Api.CALLBACK, False),
    "arg": (Api.JIT_ARGUMENT, False),
    "linen": (Api.LINEN_UNBOX, False),
    "linen_eager_unbox": (Api.LINEN_UNBOX_EAGER, False),
    "nnx": (Api.NNX_PARAM, True),
    "nnx_jit": (Api.NNX_PARAM_IN_JIT, True),
    "nnx_noeager": (Api.NNX_SHARDING, False),
}
#: Here the class depends on more than the law is told: shard_map's check_vma, a container's fit.
OPEN_CLASS = {
    f"{mode}-{cell}"
    for mode in MESHES
    for cell in ("smout-none_in_tuple", "smout_vma-none_in_tuple", "reshard_jit-raw_tuple")
}
#: Here the matrix shows what a computation made of the result, which is not the law's subject.
OTHER_RESULT = {"ctor", "shard_shape", "dput_injit", "wsc_inner", "smin", "arg", "nnx_noeager"}
#: Here it shows an output of jit, which XLA replicates when its size is 0.
JIT_OUTPUT = {"in", "in_P", "smout", "smout_vma"}

U = Marker.UNCONSTRAINED
MISTAKES: dict[str, tuple[Spec | Junk | None, tuple[int, ...]]] = {
    "ok": (Spec(("x", "y")), (8, 8)),
    "too_long": (Spec(("x", "y")), (8,)),
    "too_long_trailing_None": (Spec(("x", None)), (8,)),
    "too_short": (Spec(("x",)), (8, 8)),
    "scalar_P_x": (Spec(("x",)), ()),
    "scalar_P_None": (Spec((None,)), ()),
    "scalar_P": (Spec(), ()),
    "unknown_axis": (Spec(("z",)), (8, 8)),
    "dup_dims": (Spec(("x", "x")), (8, 8)),
    "dup_tuple": (Spec((("x", "x"),)), (16, 8)),
    "uneven_5_over_4": (Spec(("x",)), (5, 8)),
    "smaller_2_over_4": (Spec(("x",)), (2, 8)),
    "tuple_uneven_4_over_8": (Spec((("x", "y"),)), (4, 8)),
    "zero_dim": (Spec(("x",)), (0, 8)),
    "unconstrained": (Spec((U, "y")), (8, 8)),
    "empty_tuple": (Spec(((),)), (8, 8)),
    "list_entry": (Spec((("x", "y"),)), (8, 8)),
    "set_entry": (Spec((Junk("{'x', 'y'}", "set", hashable=False),)), (8, 8)),
    "nested_tuple": (Spec(((("x", "y"),),)), (8, 8)),
    "int_entry": (Spec((Junk("0", "int", falsy=True),)), (8, 8)),
    "none_in_tuple": (Spec((("x", None),)), (8, 8)),
    "empty_string": (Spec(("",)), (8, 8)),
    "comma_string": (Spec(("x,y",)), (8, 8)),
    "auto_axis_y": (Spec(("y",)), (8, 8)),
    "raw_tuple": (Junk("('x', 'y')", "tuple"), (8, 8)),
    "raw_str": (Junk("'x'", "str"), (8,)),
    "None": (None, (8, 8)),
    "list_of_P": (Junk("[P('x', 'y')]", "list", hashable=False), (8, 8)),
}
#: Here a list of specs is matched with the tree of arrays; elsewhere it stands for a spec.
TREES = {"dput_P", "in_P", "out_P", "wsc_setmesh_P", "smin", "smout", "smout_vma", "reshard_jit"}


def judge_cell(cell: dict[str, Any]) -> Verdict:
    """Judge the calls the cell's program makes, in their order."""
    api, raw = APIS[cell["api"]]
    mesh, (spec, shape) = MESHES[cell["mode"]], MISTAKES[cell["mistake"]]
    if cell["mistake"] == "list_of_P" and cell["api"] in TREES:
        if api is not Api.JIT_IN:
            return judge_container(api)
        assert isinstance(judge_arity(api, 1, 1), Accepted)
        spec = Spec(("x", "y"))
    if isinstance(spec, Spec):
        made = judge_spec(spec)
        if not isinstance(made, Accepted):
            return made
        spec = normalize(spec)
    if api is Api.NAMED_SHARDING:
        return judge_sharding(mesh, spec)
    if cell["api"] == "linen":
        sharding = judge_case(Case(Api.LINEN_SHARDING, mesh, spec, shape))
        if not isinstance(sharding, Accepted):
            return sharding
    return judge_case(Case(api, mesh, spec, shape, raw, under=cell["api"] == "reshard"))


def cell_name(cell: dict[str, Any]) -> str:
    """The cell's test id."""
    return f"{cell['mode']}-{cell['api']}-{cell['mistake']}"


@pytest.mark.parametrize("cell", CELLS, ids=cell_name)
def test_law_agrees_with_the_measured_cell(cell: dict[str, Any]) -> None:
    verdict = judge_cell(cell)
    if not cell["ok"]:
        assert isinstance(verdict, Rejected)
        assert verdict.stage == cell["stage"]
        assert verdict.exception == ("Exception" if cell_name(cell) in OPEN_CLASS else cell["exception"])
        return
    assert isinstance(verdict, Accepted)
    spec, shape = MISTAKES[cell["mistake"]]
    if cell["api"] == "shard_shape":
        assert isinstance(spec, Spec)
        held = Spec(normalize(spec).entries[: len(shape)])
        assert str(shard_shape(MESHES[cell["mode"]], held, shape)) == cell["result"]
    elif cell["api"] not in OTHER_RESULT and not (cell["api"] in JIT_OUTPUT and 0 in shape):
        assert verdict.spec is None or as_result(verdict.spec) == parse(cell["result"])


def test_every_cell_is_there() -> None:
    assert len(CELLS) == 2460


@pytest.mark.parametrize("api", [Api.LINEN_UNBOX, Api.LINEN_UNBOX_EAGER])
def test_unboxing_may_do_nothing_where_the_mesh_is_not_known(api: Api) -> None:
    verdicts = [
        judge_placement(api, mesh, Spec(("x", "y")), (8,), raw=True)
        for mesh in (None, Unknown("the caller's"))
    ]
    assert [type(verdict) for verdict in verdicts] == [Accepted, Undecided]


def as_result(spec: Spec) -> Spec:
    """The result's spec as the matrix shows it, where XLA's choice was None."""
    return trimmed(Spec(tuple(e if e is None or isinstance(e, str | tuple) else None for e in spec.entries)))


def parse(text: str) -> Spec:
    """Read ``P('x', None)`` as the matrix writes it."""
    unconstrained = {"P": lambda *entries: trimmed(Spec(entries)), "UNCONSTRAINED": U}
    read = eval(text, unconstrained)
    assert isinstance(read, Spec)
    return read

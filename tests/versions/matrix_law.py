"""The laws of the cells of the matrix (`matrix`): what is asked there, in the words of the laws."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from judging import Case, judge_case
from matrix import MESHES
from questions import Question, compare, law_at
from spec_texts import read_spec

from shardlint.laws.core.values import Entry, Junk, Marker, Spec
from shardlint.laws.core.verdicts import Accepted, Api, Rejected, Verdict
from shardlint.laws.placement.named_sharding import judge_sharding
from shardlint.laws.placement.partition_spec import judge_spec, normalize
from shardlint.laws.placement.shard_shapes import shard_shape
from shardlint.laws.placement.spec_arity import judge_arity, judge_container
from shardlint.laws.versions import Release

#: The law's API for each API of the matrix, and whether the spec is used bare.
APIS: dict[str, tuple[Api, bool]] = {
    "ctor": (Api.NAMED_SHARDING, False),
    "sds": (Api.SHAPE_DTYPE_STRUCT, False),
    "shard_shape": (Api.SHARD_SHAPE, False),
    "dput_np": (Api.DEVICE_PUT, False),
    "dput_jax": (Api.DEVICE_PUT, False),
    "dput_p": (Api.DEVICE_PUT, True),
    "dput_injit": (Api.DEVICE_PUT_IN_JIT, False),
    "in": (Api.JIT_IN, False),
    "in_p": (Api.JIT_IN, True),
    "out": (Api.JIT_OUT, False),
    "out_p": (Api.JIT_OUT, True),
    "wsc": (Api.CONSTRAINT, False),
    "wsc_setmesh_p": (Api.CONSTRAINT, True),
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
OPEN_CLASS = {("smout", "none_in_tuple"), ("smout_vma", "none_in_tuple"), ("reshard_jit", "raw_tuple")}
#: Here the matrix shows what a computation made of the result, which is not the law's subject.
OTHER_RESULT = {"ctor", "dput_injit", "wsc_inner", "smin", "arg", "nnx_noeager"}
#: Here it shows an output of jit, which XLA replicates when its size is 0.
JIT_OUTPUT = {"in", "in_p", "smout", "smout_vma"}
#: Here a list of specs is matched with the tree of arrays; elsewhere it stands for a spec.
TREES = {"dput_p", "in_p", "out_p", "wsc_setmesh_p", "smin", "smout", "smout_vma", "reshard_jit"}

U = Marker.UNCONSTRAINED
_SPECS: dict[str, tuple[Entry, ...]] = {
    "ok": ("x", "y"),
    "too_long": ("x", "y"),
    "too_long_trailing_None": ("x", None),
    "too_long_Nones": (None, None, None),
    "too_short": ("x",),
    "scalar_P_x": ("x",),
    "scalar_P_None": (None,),
    "scalar_P": (),
    "unknown_axis": ("z",),
    "dup_dims": ("x", "x"),
    "dup_tuple": (("x", "x"),),
    "uneven_5_over_4": ("x",),
    "smaller_2_over_4": ("x",),
    "tuple_uneven_4_over_8": (("x", "y"),),
    "zero_dim": ("x",),
    "unconstrained": (U, "y"),
    "empty_tuple": ((),),
    "list_entry": (("x", "y"),),
    "set_entry": (Junk("{'x', 'y'}", "set", hashable=False),),
    "nested_tuple": ((("x", "y"),),),
    "int_entry": (Junk("0", "int", falsy=True),),
    "none_in_tuple": (("x", None),),
    "empty_string": ("",),
    "comma_string": ("x,y",),
    "auto_axis_y": ("y",),
}
SPECS: dict[str, Spec | Junk | None] = {
    **{mistake: Spec(entries) for mistake, entries in _SPECS.items()},
    "raw_tuple": Junk("('x', 'y')", "tuple"),
    "raw_str": Junk("'x'", "str"),
    "None": None,
    "list_of_P": Junk("[P('x', 'y')]", "list", hashable=False),
}


def answered(cells: dict[str, dict[str, str]]) -> Iterator[tuple[Question, str]]:
    """Yield each cell as a question, and what JAX said."""
    for group, row in cells.items():
        api, _, mode = group.partition("|")
        for mistake, said in row.items():
            # Without the digest of the message.
            answer = said.partition(" #")[0]
            judge = partial(_judge, api, mode, mistake)
            yield Question(group, f"{api} {mode} {mistake}", str, judge), answer


def _judge(api: str, mode: str, mistake: str, answer: str, release: Release) -> tuple[str, str] | None:
    from matrix import MISTAKES

    verdict = cell_law(api, mode, mistake, release)
    if isinstance(verdict, Rejected) and (api, mistake) in OPEN_CLASS and not answer.startswith("ok"):
        return None
    wrong = compare(answer, verdict)
    shape = MISTAKES[mistake][1]
    if (
        wrong
        or not answer.startswith("ok")
        or not isinstance(verdict, Accepted)
        or api in OTHER_RESULT
        or (api in JIT_OUTPUT and 0 in shape)
    ):
        return wrong
    real, spec = answer.removeprefix("ok").strip(), SPECS[mistake]
    if api == "shard_shape" and isinstance(spec, Spec):
        held = Spec(normalize(spec).entries[: len(shape)])
        claimed: Any = str(shard_shape(MESHES[mode], held, shape))
        return None if claimed == real else ("another result", claimed)
    if verdict.spec is None or real.endswith("Sharding"):
        return None
    same = _result(verdict.spec) == _result(read_spec(real))
    return None if same else ("another result", str(verdict.spec))


def _result(spec: Spec) -> tuple[Entry, ...]:
    """Return what a spec says of a layout, where XLA's choice is None."""
    entries = [one or None if isinstance(one, str | tuple) else None for one in spec.entries]
    while entries and entries[-1] is None:
        entries.pop()
    return tuple(entries)


def cell_law(api: str, mode: str, mistake: str, release: Release) -> Verdict:
    """Judge the calls that a cell's program makes, in their order."""
    from matrix import MISTAKES

    law_api, raw = APIS[api]
    mesh, spec, shape = MESHES[mode], SPECS[mistake], MISTAKES[mistake][1]

    def at(verdict: Verdict, concerned: Api = law_api) -> Verdict:
        told: Verdict = law_at(release, verdict, concerned)
        return told

    if mistake == "list_of_P" and api in TREES:
        if law_api is not Api.JIT_IN:
            return at(judge_container(law_api))
        assert isinstance(judge_arity(law_api, 1, 1), Accepted)
        spec = Spec(("x", "y"))
    if isinstance(spec, Spec):
        made = judge_spec(spec)
        if not isinstance(made, Accepted):
            return at(made)
        spec = normalize(spec)
    if law_api is Api.NAMED_SHARDING:
        return at(judge_sharding(mesh, spec))
    if api == "linen":
        sharding = at(judge_case(Case(Api.LINEN_SHARDING, mesh, spec, shape)), Api.LINEN_SHARDING)
        if not isinstance(sharding, Accepted):
            return sharding
    return at(judge_case(Case(law_api, mesh, spec, shape, raw, under=api == "reshard")))

"""What each rule says, and where it points, of uses that the laws reject or accept with a catch."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rule_uses import (
    BATCH,
    MESH,
    arity,
    at,
    bare,
    collective,
    mesh,
    not_spec,
    parameter,
    placement,
    reference,
    rejected_call,
    scatter,
    sharding,
    spec,
)

from shardlint.laws.core.dims import fresh
from shardlint.laws.core.values import AxisType, Junk, Marker, Mesh, Spec
from shardlint.laws.core.verdicts import Accepted, Api, Cause, Rejected
from shardlint.laws.placement.judge import judge_placement
from shardlint.laws.transforms.memory_spaces import judge_spaces
from shardlint.laws.versions import Release
from shardlint.laws.versions.era import assuming, since
from shardlint.model.findings import Severity
from shardlint.model.uses import (
    Use,
)
from shardlint.rules import RuleSettings, judge

EXPLICIT = Mesh(("data", "model"), (2, 4), (AxisType.EXPLICIT, AxisType.EXPLICIT))

with assuming(Release.parse("0.8.3")):
    EMPTY = judge_placement(Api.CONSTRAINT_EAGER, MESH, Spec(("data",)), (0, 10), context=None)

SAYS: list[tuple[Use, str, int, str]] = [
    (
        spec((("data", "model"),), None),
        "SHL101", 10,
        '("data", "model") is a nested tuple in (("data", "model"),); '
        "an entry of a PartitionSpec is an axis name, a flat tuple of names, or None",
    ),
    (
        sharding(None, Junk("1", "int")),
        "SHL101", 11,
        "1 is an int; an entry of a PartitionSpec is an axis name, a flat tuple of names, or None",
    ),
    (
        sharding(("data", None)),
        "SHL101", 10,
        'None is no axis name in ("data", None); '
        "an entry of a PartitionSpec is an axis name, a flat tuple of names, or None",
    ),
    (
        sharding("model", None, "model"),
        "SHL102", 12,
        'axis "model" is used twice, for dimensions 0 and 2; a mesh axis can split one dimension only',
    ),
    (
        sharding(("data", "data")),
        "SHL102", 10,
        'axis "data" is used twice for dimension 0; a mesh axis can split one dimension only',
    ),
    (
        spec("data", unreduced=frozenset({"data"})),
        "SHL102", 10,
        'axis "data" is used twice, among them as unreduced or reduced; '
        "a mesh axis can split one dimension only",
    ),
    (
        sharding(None, "modle"),
        "SHL103", 11,
        'the mesh has "data", "model", but no axis "modle"; did you mean "model"?',
    ),
    (sharding("tp"), "SHL103", 10, 'the mesh has "data", "model", but no axis "tp"'),
    (
        sharding("data,model"),
        "SHL103", 10,
        'the mesh has "data", "model", but no axis "data,model"; '
        'several axes for one dimension are a tuple, ("data", "model")',
    ),
    (
        not_spec('("data", None)'),
        "SHL104", 1,
        '("data", None) is not a PartitionSpec, which NamedSharding needs; write `P("data", None)`',
    ),
    (
        not_spec('("data",)'),
        "SHL104", 1,
        '("data",) is not a PartitionSpec, which NamedSharding needs; write `P("data")`',
    ),
    (
        not_spec('"data"', "str"),
        "SHL104", 1,
        '"data" is not a PartitionSpec, which NamedSharding needs; write `P("data")`',
    ),
    (
        not_spec("None", "NoneType"),
        "SHL104", 1,
        "None is not a PartitionSpec, which NamedSharding needs; `P()` says replicated",
    ),
    (
        spec(None, Junk("0", "int", falsy=True)),
        "SHL105", 11,
        "0 does not shard this dimension: JAX treats it as None; name a mesh axis, or write None",
    ),
    (
        spec(""),
        "SHL105", 10,
        '"" does not shard this dimension: JAX treats it as None; name a mesh axis, or write None',
    ),
    (
        spec(()),
        "SHL105", 10,
        "() does not shard this dimension: JAX treats it as None; name a mesh axis, or write None",
    ),
    (
        placement("data", None, shape=(16,)),
        "SHL201", 11,
        'P("data", None) has 2 entries, but `kernel` has rank 1, shape (16,); drop the last entry',
    ),
    (
        placement(None, None, None, None, shape=(BATCH, 512), subject="argument 0 of `step`"),
        "SHL201", 12,
        "P(None, None, None, None) has 4 entries, but argument 0 of `step` has rank 2, "
        "shape (batch, 512); drop 2 entries",
    ),
    (
        placement("data", shape=(0, 10), verdict=EMPTY),
        "SHL202", 1,
        "dimension 0 of `kernel` has size 0, and JAX does not split an empty array before 0.9",
    ),
    (
        placement(None, "model"),
        "SHL202", 11,
        'dimension 1 of `kernel` has size 10, which "model" (4 devices) does not divide; 8 or 12 would',
    ),
    (
        placement(("data", "model"), shape=(3,)),
        "SHL202", 10,
        'dimension 0 of `kernel` has size 3, which ("data", "model") (2 × 4 = 8 devices) '
        "does not divide; 8 would",
    ),
    (
        placement("model", shape=(4 * BATCH + 1,)),
        "SHL202", 10,
        'dimension 0 of `kernel` has size 4*batch + 1, which "model" (4 devices) never divides',
    ),
    (
        placement("model", shape=(4 * fresh(1) + 1,)),
        "SHL202", 10,
        'dimension 0 of `kernel` has size 4*n + 1, which "model" (4 devices) never divides',
    ),
    (placement("data", shape=(), subject="step"), "SHL203", 10,
     '`step` is a scalar, which P("data") cannot split; use P()'),
    (
        placement(Marker.UNCONSTRAINED, "data"),
        "SHL204", 10,
        "device_put needs a definite layout, and P.UNCONSTRAINED leaves dimension 0 to the compiler; "
        "name an axis, or None",
    ),
    (
        placement(None, "model", api=Api.CONSTRAINT, subject="x"),
        "SHL205", 11,
        'dimension 1 of `x` has size 10, not divisible by "model" (4 devices): JAX '
        + ("pads it, and splits it over a part of an axis where jit returns it; " if since("0.11.2")
           else "pads it, and replicates it where jit returns it; ")
        + "8 or 12 would be split",
    ),
    (
        bare("data"),
        "SHL206", 1,
        'device_put is given P("data") where no mesh is set; set one with jax.set_mesh(mesh), '
        'or pass NamedSharding(mesh, P("data"))',
    ),
    (
        replace(bare(api=Api.CONSTRAINT), spec=Junk("None", "NoneType", falsy=True)),
        "SHL206", 1,
        "with_sharding_constraint is given None where no mesh is set; set one with jax.set_mesh(mesh), "
        "or pass NamedSharding(mesh, P())",
    ),
    (
        bare("data", api=Api.SHARD_MAP_IN),
        "SHL206", 1,
        'shard_map(in_specs=) is given P("data") where no mesh is set; set one with jax.set_mesh(mesh), '
        "or pass mesh=",
    ),
    (
        bare("data", api=Api.CREATE, under=MESH),
        "SHL206", 1,
        'jnp.zeros(device=) takes a sharding, not a bare P("data"); pass NamedSharding(mesh, P("data"))',
    ),
    (
        parameter("kernel", (16, 8), None, "model", owner="nnx.Linear", library="nnx",
                  verdict=Rejected(Cause.NO_MESH, "ValueError", "nnx.Param()")),
        "SHL206", 20,
        'nnx.Linear is given (None, "model") where no mesh is set; set one with jax.set_mesh(mesh) '
        "(`with mesh:` sets none for nnx)",
    ),
    (
        bare("data", api=Api.NNX_PARAM),
        "SHL206", 1,
        'nnx.Param is given ("data",) where no mesh is set; set one with jax.set_mesh(mesh) '
        "(`with mesh:` sets none for nnx)",
    ),
    (
        arity(Api.SHARD_MAP_IN, 1, 2),
        "SHL301", 1,
        "in_specs holds 1 spec, but `step` is called with 2 arguments; give one for each",
    ),
    (
        arity(Api.JIT_OUT, 3, 1),
        "SHL301", 1,
        "out_shardings holds 3 shardings, but `step` returns 1 result; give one for each",
    ),
    (
        placement("data", api=Api.SHARD_MAP_OUT, shape=(), subject="the result of `loss`"),
        "SHL302", 10,
        'the result of `loss` is a scalar on each device, too short for P("data"); '
        "use P(), or keep a dimension in the body",
    ),
    (
        placement("data", None, api=Api.SHARD_MAP_OUT, shape=(8,), subject="y"),
        "SHL302", 11,
        '`y` has rank 1, shape (8,) on each device, too short for P("data", None); '
        "drop entries, or keep the dimension in the body",
    ),
    (
        collective("psum", "data", "modle", bound=(("data", 2), ("model", 4))),
        "SHL303", 11,
        '`psum` runs over "modle", but the axes bound here are "data", "model"; did you mean "model"?',
    ),
    (
        collective("psum", "data", bound=(("data", 2),), forbidden=("data",)),
        "SHL303", 10, '`psum` communicates over "data", which jax.sharding.no_collectives forbids here',
    ),
    (
        collective("psum", "model"),
        "SHL303", 10,
        '`psum` runs over "model", but no mesh axis is bound here; '
        "call it under jax.shard_map",
    ),
    (
        scatter(6, tiled=True),
        "SHL304", 1,
        '`psum_scatter` over "model": dimension 0 has size 6 on each device, which 4 devices cannot share; '
        "4 or 8 would do",
    ),
    (
        scatter(8, tiled=False),
        "SHL304", 1,
        '`psum_scatter` over "model": dimension 0 has size 8 on each device, '
        "which without tiled=True must be the number of devices, 4",
    ),
    (
        mesh("Mesh", (8,), "data", "model"),
        "SHL401", 20,
        '2 axis names ("data", "model") for a mesh of shape (8,), which has 1 dimension; give one each',
    ),
    (
        mesh("Mesh", (2, 4), "data", "model", types=1),
        "SHL401", 20,
        "1 axis_types for a mesh of shape (2, 4), which has 2 dimensions; give one each",
    ),
    (
        mesh("Mesh", (2, 4), "model", "model"),
        "SHL402", 20,
        'two axes of the mesh are named "model": JAX builds it, and fails where it is used',
    ),
    (
        mesh("make_mesh", (4, 4), "data", "model"),
        "SHL403", 10,
        "a mesh of shape (4, 4) needs 16 devices, and there are 8; the axis sizes must multiply to that",
    ),
    (
        mesh("reshape", (3, -1)),
        "SHL404", 10,
        "8 devices cannot take the shape (3, -1); its sizes must multiply to the number of devices",
    ),
    (
        mesh("reshape", (-1, -1)),
        "SHL404", 10,
        "reshape rejects the shape (-1, -1): only one size may be -1",
    ),
    (
        parameter("bias", (16,), None, "model"),
        "SHL501", 22,
        '`bias` of nn.Dense has rank 1, shape (16,), but 2 partitioning names: (None, "model")',
    ),
    (
        placement(None, "model", shape=(16,), api=Api.NNX_PARAM, subject="`bias` of nnx.Linear"),
        "SHL501", 11,
        '`bias` of nnx.Linear has rank 1, shape (16,), but 2 partitioning names: (None, "model")',
    ),
    (
        parameter("bias", (16,), names="tp", names_place=at(1, 20)),
        "SHL502", 20,
        'the names of `bias` of nn.Dense are the string "tp", which means one axis a letter, ("t", "p"); '
        'write ("tp",)',
    ),
    (
        parameter("bias", (16,), names="tp", library="flax.nnx", owner="nnx.Linear"),
        "SHL502", 1,
        'the names of `bias` of nnx.Linear are the string "tp", which is ignored; write ("tp",)',
    ),
    (
        parameter("kernel", (8, 16), "model"),
        "SHL504", 21,
        '("model",) on `kernel` of nn.Dense of shape (8, 16) puts "model" on dimension 0, '
        'not on the outputs; write (None, "model") for the outputs, '
        'or ("model", None) if dimension 0 is meant',
    ),
    (
        placement(shape=(8192, 2048), dtype="float32"),
        "SHL601", 1,
        "`kernel`, (8192, 2048) float32, is whole on every device: 67 MB on each of 8 devices; "
        '17 MB if dimension 0 is sharded over "model"',
    ),
    (
        placement(None, shape=(16385, 1026), dtype="float32"),
        "SHL601", 1,
        "`kernel`, (16385, 1026) float32, is whole on every device: 67 MB on each of 8 devices; "
        '34 MB if dimension 1 is sharded over "data"',
    ),
    (
        parameter("embedding", (50257, 1601), mesh=MESH, dtype="bfloat16", owner="nn.Embed"),
        "SHL601", 1,
        "`embedding` of nn.Embed, (50257, 1601) bfloat16, is whole on every device: "
        "161 MB on each of 8 devices",
    ),
    (
        placement("data", mesh=EXPLICIT, api=Api.CONSTRAINT,
                  verdict=Rejected(Cause.AXIS_TYPE, "ValueError", "trace", axis="data", dimension=0)),
        "SHL701", 1,
        '"data" is an Explicit axis, which with_sharding_constraint does not take; '
        "use jax.sharding.reshard, or make the mesh with axis_types=(AxisType.Auto, ...)",
    ),
    (
        placement("data", mesh=EXPLICIT, api=Api.CONSTRAINT,
                  verdict=Rejected(
                      Cause.OTHER_SHARDING, "AssertionError", "trace", dimension=0, detail='P("model")')),
        "SHL702", 10,
        "on Explicit axes with_sharding_constraint asserts the sharding, and `kernel` is sharded as "
        'P("model"), not as P("data"); use jax.sharding.reshard',
    ),
    (
        placement(api=Api.SHARD_MAP_OUT, shape=(8,),
                  verdict=Rejected(Cause.VARYING, "ValueError", "trace", axis="data", detail="data")),
        "SHL305", 1,
        '`kernel` varies over "data", which P() does not name; '
        'reduce it with jax.lax.psum or pmean over "data", or name the axis in out_specs',
    ),
    (
        sharding("data", unreduced=frozenset({"model"})),
        "SHL701", 1,
        '"model" is an Auto axis, and only Explicit axes can be unreduced or reduced; '
        "make the mesh with axis_types=(AxisType.Explicit, ...)",
    ),
    (
        reference("jax.experimental.shard_map.shard_map", Accepted()),
        "SHL801", 1,
        "`jax.experimental.shard_map.shard_map` is deprecated since JAX 0.8.0; "
        "use jax.shard_map (check_rep is now check_vma)",
    ),
    (
        reference("jax.sharding.use_mesh", Rejected(Cause.REMOVED, "AttributeError", "import")),
        "SHL802", 1,
        "`jax.sharding.use_mesh` is gone since JAX 0.7.1; use jax.set_mesh",
    ),
    (
        rejected_call("memory of `+`", judge_spaces(("device", "host"))),
        "SHL620", 1,
        "`+`: its operands lie in different memories, of the devices and of the host; "
        "jax.device_put one where the other is",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("use", "code", "column", "message"), SAYS, ids=[f"{c}-{i}" for i, (_, c, *_) in enumerate(SAYS)]
)
def test_a_rule_names_what_is_wrong_where(use: Use, code: str, column: int, message: str) -> None:
    (finding,) = judge([use], RuleSettings())
    assert finding.message == message
    assert (finding.code, finding.span) == (code, at(1, column))
    rejected = isinstance(use.verdict, Rejected)
    # An empty tuple that somebody wrote may be meant.
    accepted = Severity.INFO if message.startswith("() ") else Severity.WARNING
    assert finding.severity is (Severity.ERROR if rejected else accepted)

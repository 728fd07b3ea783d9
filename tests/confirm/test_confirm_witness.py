"""Witnesses and their twins: small, faithful, repaired."""

from __future__ import annotations

import math
from typing import Any

import confirm_cases as cases
import pytest
from confirm_cases import EXPLICIT, MESH, rejected

from shardlint.confirm.witnesses.builder import devices_needed, witness_of
from shardlint.confirm.witnesses.requests import Witness
from shardlint.laws.core.dims import symbol
from shardlint.laws.core.values import AxisType, Junk, Marker, Mesh, Spec, Unknown
from shardlint.laws.core.verdicts import Accepted, Api, Cause, Undecided
from shardlint.model.findings import Finding

NO_ENTRIES: dict[str, Any] = {"entries": [], "unreduced": [], "reduced": []}
batch, width = symbol("batch"), symbol("width")


def test_the_twin_has_the_nearest_size_that_divides() -> None:
    witness = witness_of(cases.indivisible(10))
    assert witness is not None
    assert (witness.request["shape"], witness.repaired["shape"]) == ([8, 10], [8, 12])
    assert witness.expects == "IndivisibleError"


@pytest.mark.parametrize(
    ("cause", "spec", "shape", "repaired"),
    [
        (Cause.TOO_LONG, Spec(("data", "model", None)), (8, 8), ["data", "model"]),
        (Cause.UNKNOWN_AXIS, Spec(("data", "modle")), (8, 8), ["data", None]),
        (Cause.UNKNOWN_AXIS, Spec((("data", "modle"), None)), (8, 8), [["data"], None]),
        (Cause.DUPLICATE_AXIS, Spec(("data", "data")), (8, 8), ["data", None]),
        (Cause.DUPLICATE_AXIS, Spec((("data", "data"),)), (8, 8), [["data"]]),
        (Cause.BAD_ENTRY, Spec((Junk("3", "int", data=3), "model")), (8, 8), [None, "model"]),
        (Cause.UNCONSTRAINED, Spec((Marker.UNCONSTRAINED, "model")), (8, 8), [None, "model"]),
        (Cause.NOT_A_SPEC, Junk("('data',)", "tuple", data=("tuple", "data")), (8, 8), []),
    ],
)
def test_the_twins_spec_lacks_the_mistake(
    cause: Cause, spec: Spec | Junk, shape: object, repaired: list
) -> None:
    witness = witness_of(cases.placement(Api.DEVICE_PUT, spec, shape, rejected(cause)))
    assert witness is not None
    assert witness.repaired["spec"]["entries"] == repaired
    assert witness.request != witness.repaired


def test_sizes_left_open_get_values_that_show_only_the_mistake() -> None:
    """4·width + 2 is never a multiple of four; the batch must then be one of two."""
    verdict = rejected(Cause.INDIVISIBLE, "IndivisibleError", dimension=1)
    shape = (batch, 4 * width + 2)
    witness = witness_of(cases.placement(Api.DEVICE_PUT, Spec(("data", "model")), shape, verdict))
    assert witness is not None
    rows, columns = witness.request["shape"]
    assert (rows % 2, columns % 4) == (0, 2)


def test_a_mesh_left_open_gets_sizes_too() -> None:
    open_mesh = cases.mesh(batch // 2, 2)
    verdict = rejected(Cause.UNKNOWN_AXIS)
    witness = witness_of(cases.placement(Api.DEVICE_PUT, Spec(("row",)), (batch, 8), verdict, open_mesh))
    assert witness is not None
    rows, (data, model) = witness.request["shape"][0], witness.request["mesh"]["sizes"]
    assert (data, model) == (rows // 2, 2)


@pytest.mark.parametrize(("size", "again"), [(50257, 5), (3, 1), (1 << 20, 4)])
def test_big_arrays_shrink(size: int, again: int) -> None:
    """A dimension stays divisible, or not, and larger than the number of parts, or not."""
    verdict = rejected(Cause.TOO_LONG)
    shape = (1 << 20, size)
    witness = witness_of(cases.placement(Api.JIT_IN, Spec(("data", "model", None)), shape, verdict))
    assert witness is not None
    assert witness.request["shape"] == [2, again]


def test_big_meshes_shrink() -> None:
    witness = witness_of(cases.indivisible(50257, cases.mesh(32, 64)))
    assert witness is not None
    assert devices_needed(witness.request) == 4
    assert witness.request["shape"][1] % 2 == 1
    assert witness.repaired["shape"][1] % 2 == 0


def test_abstract_meshes_keep_their_size_and_need_no_devices() -> None:
    abstract = Mesh(("data", "model"), (64, 64), (AxisType.AUTO,) * 2, abstract=True)
    witness = witness_of(
        cases.placement(Api.JIT_IN, Spec(("row",)), (8, 8), rejected(Cause.UNKNOWN_AXIS), abstract)
    )
    assert witness is not None
    assert math.prod(witness.request["mesh"]["sizes"]) == 4096
    assert devices_needed(witness.request) == 1


def test_a_replicated_gigabyte_becomes_a_few_bytes() -> None:
    witness = witness_of(cases.placement(Api.CREATE, Spec(()), (16384, 16384), Accepted()))
    assert witness is not None
    assert witness.request["shape"] == [1, 1]
    assert (witness.expects, witness.unsharded) == (None, (0, 1))
    assert witness.repaired["spec"]["entries"] == ["model"]


@pytest.mark.parametrize(
    "finding",
    [
        cases.finding(None),
        cases.placement(Api.DEVICE_PUT, Spec(("data",)), (8,), Undecided("the mesh")),
        cases.placement(Api.DEVICE_PUT, Unknown("a parameter"), (8,), rejected(Cause.TOO_LONG)),
        cases.placement(
            Api.DEVICE_PUT, Spec(("row",)), (8,), rejected(Cause.UNKNOWN_AXIS), Unknown("a parameter")
        ),
        cases.placement(Api.DEVICE_PUT, Spec(("data",)), Unknown("a parameter"), rejected(Cause.TOO_LONG)),
        cases.placement(Api.DEVICE_PUT, Spec((Junk("f(x)", "?"),)), (8,), rejected(Cause.BAD_ENTRY)),
        cases.collective("psum", "NameError", bound=Unknown("the caller's")),
        cases.mesh_use("Mesh", Unknown("devices"), ("x",), None, rejected(Cause.MESH_NAMES)),
    ],
)
def test_nothing_to_run_without_what_is_unknown(finding: Finding) -> None:
    assert witness_of(finding) is None


def test_unknown_shape_is_made_to_fit_where_sizes_do_not_matter() -> None:
    verdict = rejected(Cause.UNKNOWN_AXIS)
    witness = witness_of(cases.placement(Api.DEVICE_PUT, Spec(("model", "row")), Unknown("?"), verdict))
    assert witness is not None
    assert witness.request["shape"] == [4, 1]


def test_the_mesh_of_a_bare_spec_without_one() -> None:
    finding = cases.placement(Api.DEVICE_PUT, Spec(("data",)), (8,), rejected(Cause.NO_MESH), None, raw=True)
    witness = witness_of(finding)
    assert witness is not None
    assert witness.request["mesh"] is None
    assert witness.repaired["mesh"]["names"] == ["data"]


def test_twins_of_meshes() -> None:
    wrong_count = rejected(Cause.DEVICE_COUNT)
    count = witness_of(cases.mesh_use("make_mesh", (4, 4), ("x", "y"), 8, wrong_count))
    names = witness_of(cases.mesh_use("Mesh", (2, 4), ("x",), None, rejected(Cause.MESH_NAMES)))
    twice = witness_of(cases.mesh_use("Mesh", (2, 4), ("x", "x"), None, Accepted()))
    assert count is not None and names is not None and twice is not None
    fresh = ("tuple", "x", "shardlint_axis_0")
    assert count.repaired["call"][2] == (("tuple", 8, 1), ("tuple", "x", "y"))
    assert twice.request["call"][2][1] == ("tuple", "x", "x")
    assert names.repaired["call"][2][1] == fresh
    assert twice.repaired["call"][2][1] == fresh
    assert twice.expects is None


def test_axes_of_a_mesh_may_have_any_sizes_where_only_names_matter() -> None:
    assert witness_of(cases.indivisible(10, Mesh(MESH.names, (width, 4), MESH.types))) is not None


def other_sharding(held: Spec | None, shape: object = (8, 8), **fields: Any) -> Witness:
    verdict = rejected(Cause.OTHER_SHARDING, "AssertionError")
    finding = cases.placement(
        Api.CONSTRAINT, Spec(("data",)), shape, verdict, EXPLICIT, context=EXPLICIT, held=held, **fields
    )
    witness = witness_of(finding)
    assert witness is not None
    return witness


@pytest.mark.parametrize(
    ("held", "repaired"),
    [(Spec((None, "model")), [None, "model"]), (Spec(("model",)), ["model"]), (None, [])],
)
def test_the_twin_of_an_assertion_asserts_what_is_so(held: Spec | None, repaired: list) -> None:
    witness = other_sharding(held)
    assert witness.repaired == {**witness.request, "spec": {**NO_ENTRIES, "entries": repaired}}
    assert witness.request["held"] == (held and {**NO_ENTRIES, "entries": repaired})


@pytest.mark.parametrize(
    ("held", "shape"), [(Spec(("model",)), (batch, 8)), (Spec((None, "model")), (1 << 20, 12))]
)
def test_an_array_is_never_held_unevenly(held: Spec, shape: object) -> None:
    """Neither where its sizes are left open, nor where they shrink."""
    rows, columns = other_sharding(held, shape).request["shape"]
    assert (rows % 4 if held.entries[0] else columns % 4) == 0


def test_an_unknown_shape_fits_what_is_held_too() -> None:
    shape = other_sharding(Spec((None, None, "model")), Unknown("?")).request["shape"]
    assert (len(shape), shape[2] % 4) == (3, 0)


@pytest.mark.parametrize(
    ("api", "mesh", "types"),
    [
        (Api.RESHARD, MESH, ["Explicit"] * 2),
        (Api.RESHARD_IN_JIT, MESH, ["Explicit"] * 2),
        (Api.CONSTRAINT, EXPLICIT, ["Auto"] * 2),
        (Api.NNX_PARAM, EXPLICIT, ["Auto"] * 2),
    ],
)
def test_the_twins_axes_are_of_the_type_that_the_api_takes(api: Api, mesh: Mesh, types: list) -> None:
    verdict = rejected(Cause.AXIS_TYPE)
    witness = witness_of(cases.placement(api, Spec(("data",)), (8, 8), verdict, mesh))
    assert witness is not None
    assert witness.repaired["mesh"]["types"] == types


@pytest.mark.parametrize(
    ("api", "raw", "context", "within"),
    [
        (Api.CONSTRAINT, False, None, None),
        (Api.CONSTRAINT, False, Unknown("the caller's"), None),
        (Api.CONSTRAINT, False, EXPLICIT, "set_mesh"),
        (Api.CONSTRAINT, True, EXPLICIT, "set_mesh"),
        (Api.CONSTRAINT, True, None, "with"),
        (Api.JIT_IN, True, None, "set_mesh"),
        (Api.RESHARD, False, None, None),
        (Api.RESHARD_IN_JIT, False, None, "set_mesh"),
    ],
)
def test_a_witness_runs_in_the_programs_context(
    api: Api, raw: bool, context: Any, within: str | None
) -> None:
    verdict = rejected(Cause.UNKNOWN_AXIS)
    finding = cases.placement(api, Spec(("row",)), (8, 8), verdict, EXPLICIT, context=context, raw=raw)
    witness = witness_of(finding)
    assert witness is not None
    assert witness.request["context"] == within

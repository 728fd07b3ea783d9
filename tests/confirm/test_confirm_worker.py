"""The worker over its real protocol: each API, good and bad, with the real JAX."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import confirm_cases as cases
import pytest

from shardlint.confirm.child_process import fake_environment
from shardlint.confirm.connection import WORKER, Connection
from shardlint.confirm.witnesses.builder import witness_of
from shardlint.laws.core.verdicts import Accepted, Api, Cause
from shardlint.model.findings import Finding

MESH = {"names": ["x", "y"], "sizes": [4, 2], "types": ["Auto", "Auto"], "abstract": False}
EXPLICIT = {**MESH, "types": ["Explicit", "Explicit"]}
SHORT, LONG, UNEVEN, UNKNOWN = ["x"], ["x", None, None], ["x"], ["z"]

#: Measured on JAX 0.10.2 and Flax 0.12.8 by the authors of the laws: mistake, class, stage.
BAD: dict[Api, tuple[list[Any], list[int], str, str]] = {
    Api.PARTITION_SPEC: ([{"junk": ["set", "x"]}], [8, 8], "TypeError", "P()"),
    Api.NAMED_SHARDING: (UNKNOWN, [8, 8], "ValueError", "NamedSharding()"),
    Api.SHARD_SHAPE: (UNEVEN, [5, 8], "IndivisibleError", "shard_shape"),
    Api.SHAPE_DTYPE_STRUCT: (LONG, [8, 8], "ValueError", "ShapeDtypeStruct()"),
    Api.DEVICE_PUT: (UNEVEN, [5, 8], "IndivisibleError", "device_put"),
    Api.DEVICE_PUT_IN_JIT: (UNEVEN, [5, 8], "IndivisibleError", "trace"),
    Api.JIT_IN: (UNEVEN, [5, 8], "IndivisibleError", "trace"),
    Api.JIT_OUT: (LONG, [8, 8], "ValueError", "trace"),
    Api.JIT_ARGUMENT: (UNEVEN, [5, 8], "IndivisibleError", "lower"),
    Api.CONSTRAINT: (LONG, [8, 8], "ValueError", "trace"),
    Api.CONSTRAINT_EAGER: (UNEVEN, [5, 8], "IndivisibleError", "wsc eager"),
    Api.SHARD_MAP_IN: (UNEVEN, [5, 8], "ValueError", "trace"),
    Api.SHARD_MAP_OUT: (LONG, [8, 8], "ValueError", "trace"),
    Api.RESHARD: (UNEVEN, [5, 8], "ValueError", "reshard"),
    Api.RESHARD_IN_JIT: (UNEVEN, [5, 8], "ValueError", "trace"),
    Api.CREATE: (["x", "y"], [8], "IndexError", "jnp.zeros(device=)"),
    Api.CREATE_IN_JIT: (UNKNOWN, [8, 8], "ValueError", "NamedSharding()"),
    Api.ARANGE: (UNEVEN, [5], "IndivisibleError", "jnp.arange(device=)"),
    Api.ARANGE_IN_JIT: (UNEVEN, [5], "IndivisibleError", "trace"),
    Api.CONVERT: (UNEVEN, [5, 8], "IndivisibleError", "jnp.array(device=)"),
    Api.CONVERT_IN_JIT: (LONG, [8, 8], "ValueError", "trace"),
    Api.LINSPACE: (LONG, [8, 8], "ValueError", "jnp.linspace(device=)"),
    Api.CREATE_OUT: (UNEVEN, [5, 8], "ValueError", "jnp.zeros(out_sharding=)"),
    Api.CREATE_OUT_IN_JIT: (UNEVEN, [5, 8], "ValueError", "trace"),
    Api.EMPTY_OUT: (UNEVEN, [5, 8], "ValueError", "jnp.zeros(out_sharding=)"),
    Api.EMPTY_OUT_IN_JIT: (UNEVEN, [5, 8], "ValueError", "trace"),
    Api.RANDOM_OUT: (UNEVEN, [5, 8], "ValueError", "random.normal(out_sharding=)"),
    Api.RANDOM_OUT_IN_JIT: (UNEVEN, [5, 8], "ValueError", "trace"),
    Api.CALLBACK: (UNEVEN, [5, 8], "IndivisibleError", "make_array_from_callback"),
    Api.LINEN_SHARDING: (UNKNOWN, [8, 8], "ValueError", "get_sharding"),
    Api.LINEN_UNBOX: (LONG, [8, 8], "ValueError", "unbox"),
    Api.LINEN_UNBOX_EAGER: (UNEVEN, [5, 8], "IndivisibleError", "unbox eager"),
    Api.NNX_PARAM: (UNEVEN, [5, 8], "IndivisibleError", "nnx.Param()"),
    Api.NNX_PARAM_IN_JIT: (UNKNOWN, [8, 8], "ValueError", "nnx.jit(Param())"),
    Api.NNX_SHARDING: (UNKNOWN, [8, 8], "ValueError", "get_named_sharding"),
}
RESHARDS = [Api.RESHARD, Api.RESHARD_IN_JIT]
CREATIONS = [
    Api.CREATE_OUT, Api.CREATE_OUT_IN_JIT, Api.EMPTY_OUT, Api.EMPTY_OUT_IN_JIT, Api.RANDOM_OUT,
    Api.RANDOM_OUT_IN_JIT,
]  # fmt: skip
IN_CONTEXT = [Api.NNX_PARAM, Api.NNX_PARAM_IN_JIT, Api.RESHARD_IN_JIT, *CREATIONS]
TAKE_BARE_SPECS = [
    Api.SHAPE_DTYPE_STRUCT,
    Api.DEVICE_PUT,
    Api.JIT_IN,
    Api.JIT_OUT,
    Api.JIT_ARGUMENT,
    Api.CONSTRAINT,
    Api.CONSTRAINT_EAGER,
    *RESHARDS,
    *CREATIONS,
]


def request(api: Api, entries: Any, shape: list[int], **fields: Any) -> dict[str, Any]:
    spec = entries if isinstance(entries, dict) else {"entries": entries}
    mesh = EXPLICIT if api in (*RESHARDS, *CREATIONS) else MESH
    given = {"kind": "placement", "api": api.value, "mesh": mesh, "spec": spec, "shape": shape}
    needs_context = fields.get("raw") or api in IN_CONTEXT
    context = "set_mesh" if needs_context else None
    return {**given, "raw": False, "context": context, "held": None, "check": False, **fields}


@pytest.fixture(scope="module")
def worker() -> Iterator[Connection]:
    connection = Connection(sys.executable, 8, 60.0, 4 << 30)
    yield connection
    connection.close()


@pytest.mark.parametrize("api", Api)
def test_mistake_raises_as_measured(worker: Connection, api: Api) -> None:
    entries, shape, exception, stage = BAD[api]
    answer = worker.ask(request(api, entries, shape))
    assert (answer["ok"], answer.get("exception"), answer.get("stage")) == (False, exception, stage)
    assert answer["bases"][-1] == "BaseException"


@pytest.mark.parametrize("api", Api)
@pytest.mark.parametrize("returned", [True, False])
def test_legal_call_is_accepted(worker: Connection, api: Api, returned: bool) -> None:
    answer = worker.ask(request(api, SHORT, [8, 8], returned=returned))
    assert answer["ok"], answer


@pytest.mark.parametrize("api", TAKE_BARE_SPECS)
def test_bare_spec_takes_its_mesh_from_the_context(worker: Connection, api: Api) -> None:
    good = worker.ask(request(api, SHORT, [8, 8], raw=True))
    assert (good["ok"], good["spec"][:1]) == (True, ["x"])
    assert worker.ask(request(api, UNKNOWN, [8, 8], raw=True))["exception"] == "ValueError"
    assert not worker.ask(request(api, SHORT, [8, 8], raw=True, mesh=None))["ok"]


def test_an_unknown_api_is_no_mistake_of_jax(worker: Connection) -> None:
    unknown = {**request(Api.CREATE, SHORT, [8, 8]), "api": "no such call"}
    assert "unsupported" in worker.ask(unknown)


def test_uneven_constraint_is_accepted_and_replicated(worker: Connection) -> None:
    answer = worker.ask(request(Api.CONSTRAINT, UNEVEN, [5, 8]))
    assert (answer["ok"], answer["replicated"], answer["devices"]) == (True, True, 8)


def test_shape_and_sharding_of_the_result(worker: Connection) -> None:
    answer = worker.ask(request(Api.CREATE, [["x", "y"], None], [16, 3]))
    assert (answer["shape"], answer["spec"]) == ([16, 3], [["x", "y"], None])
    assert not answer["replicated"]


def test_explicit_axes(worker: Connection) -> None:
    answer = worker.ask(request(Api.CONSTRAINT, SHORT, [8, 8], mesh=EXPLICIT))
    assert (answer["exception"], answer["stage"]) == ("ValueError", "trace")


@pytest.mark.parametrize(("api", "stage"), [(Api.RESHARD, "reshard"), (Api.RESHARD_IN_JIT, "trace")])
def test_reshard_takes_explicit_axes_alone(worker: Connection, api: Api, stage: str) -> None:
    held = worker.ask(request(api, SHORT, [8, 8], held={"entries": ["y"]}))
    assert (held["ok"], held["spec"]) == (True, ["x", None])
    auto = worker.ask(request(api, SHORT, [8, 8], mesh=MESH))
    assert (auto["exception"], auto["stage"]) == ("ValueError", stage)


@pytest.mark.parametrize(
    ("api", "raw", "context", "abstract", "exception"),
    [
        (Api.CONSTRAINT, True, "set_mesh", False, "AssertionError"),
        (Api.CONSTRAINT, True, "set_mesh", True, "AssertionError"),
        (Api.CONSTRAINT, False, "set_mesh", False, "AssertionError"),
        (Api.CONSTRAINT_EAGER, True, "set_mesh", False, "AssertionError"),
        (Api.CONSTRAINT_EAGER, False, "set_mesh", False, "AssertionError"),
        (Api.SHARD_MAP_IN, False, None, False, "ValueError"),
        (Api.SHARD_MAP_IN, False, None, True, "ValueError"),
    ],
)
def test_what_asserts_on_explicit_axes(
    worker: Connection, api: Api, raw: bool, context: str | None, abstract: bool, exception: str
) -> None:
    """The array's own sharding passes, and no other does, on a mesh of devices and without."""
    around = {"mesh": {**EXPLICIT, "abstract": abstract}, "raw": raw, "context": context}
    same, other = (
        worker.ask(request(api, SHORT, [8, 8], held={"entries": held}, **around)) for held in (["x"], ["y"])
    )
    assert same["ok"], same
    assert other["exception"] == exception


@pytest.mark.parametrize("api", [Api.CONSTRAINT, Api.CONSTRAINT_EAGER])
def test_under_a_with_statement_a_constraint_asserts_nothing(worker: Connection, api: Api) -> None:
    around = {"mesh": EXPLICIT, "raw": True, "context": "with"}
    answer = worker.ask(request(api, SHORT, [8, 8], held={"entries": ["x"]}, **around))
    assert answer["exception"] == "ValueError"


def test_abstract_mesh_of_any_size_is_traced(worker: Connection) -> None:
    abstract = {**MESH, "sizes": [4096, 512], "abstract": True}
    assert worker.ask(request(Api.JIT_IN, SHORT, [4096, 8], mesh=abstract))["ok"]
    assert worker.ask(request(Api.JIT_IN, SHORT, [5, 8], mesh=abstract))["exception"] == "IndivisibleError"


@pytest.mark.parametrize(
    ("junk", "exception"),
    [
        (["tuple", "x", ["constant", "None"]], "TypeError"),
        ("x", "TypeError"),
        (["list", ["spec", ["x"], [], []]], None),
    ],
)
def test_what_stands_where_a_spec_is_meant(worker: Connection, junk: Any, exception: str | None) -> None:
    answer = worker.ask(request(Api.JIT_IN, {"junk": junk}, [8, 8], raw=True))
    assert answer.get("exception") == exception


@pytest.mark.parametrize(
    ("api", "given", "due", "ok"),
    [
        (api, given, due, given == due)
        for api in (Api.SHARD_MAP_IN, Api.SHARD_MAP_OUT, Api.JIT_IN, Api.JIT_OUT)
        for given, due in ((1, 1), (2, 2), (1, 2), (2, 1), (3, 2))
    ],
)
def test_arity(worker: Connection, api: Api, given: int, due: int, ok: bool) -> None:
    answer = worker.ask(request_for(cases.arity(api, given, due)))
    assert answer["ok"] is ok
    assert ok or answer["exception"] == "ValueError"


@pytest.mark.parametrize(
    ("function", "arguments", "inside"),
    [
        ("psum", {}, "AssertionError"),
        ("pmean", {}, "AssertionError"),
        ("pmax", {}, "AssertionError"),
        ("all_gather", {}, "NameError"),
        ("psum_scatter", {}, "NameError"),
        ("all_to_all", {"split_axis": 0, "concat_axis": 1}, "NameError"),
        ("ppermute", {"perm": ((0, 1),)}, "AssertionError"),
        ("axis_index", {}, "NameError"),
    ],
)
def test_collectives(worker: Connection, function: str, arguments: Any, inside: str) -> None:
    bound, given = (("x", 4), ("y", 2)), tuple(arguments.items())

    def answer(axis: str, bound: Any, exception: str) -> dict[str, Any]:
        found = cases.collective(function, exception, bound, (axis,), arguments=given)
        return worker.ask(request_for(found))

    assert answer("x", bound, inside)["ok"]
    assert answer("z", bound, inside)["exception"] == inside
    assert answer("z", (), "NameError")["exception"] == "NameError"


@pytest.mark.parametrize(
    ("function", "shape", "names", "devices", "exception"),
    [
        ("Mesh", (4, 2), ("x", "y"), None, None),
        ("Mesh", (8,), ("x", "y"), None, "ValueError"),
        ("Mesh", (4, 2), ("x", "x"), None, None),
        ("make_mesh", (4, 2), ("x", "y"), 8, None),
        ("make_mesh", (2, 2), ("x", "y"), 8, None),
        ("make_mesh", (4, 4), ("x", "y"), 8, "ValueError"),
        ("AbstractMesh", (8, 8), ("x", "y"), None, None),
        ("AbstractMesh", (4, 2), ("x",), None, "ValueError"),
        ("create_device_mesh", (4, 2), None, 8, None),
        ("create_device_mesh", (2, 2), None, 8, "ValueError"),
        ("reshape", (2, 4), None, 8, None),
        ("reshape", (3, 4), None, 8, "ValueError"),
    ],
)
def test_meshes(
    worker: Connection, function: str, shape: Any, names: Any, devices: Any, exception: str | None
) -> None:
    verdict = Accepted() if exception is None else cases.rejected(Cause.MESH_NAMES, exception)
    found = cases.mesh_use(function, shape, names, devices, verdict)
    assert worker.ask(request_for(found)).get("exception") == exception


def request_for(finding: Finding) -> Any:
    witness = witness_of(finding)
    assert witness is not None
    return witness.request


def ask_call(worker: Connection, call: Any) -> dict[str, Any]:
    return worker.ask({"kind": "call", "call": call, "context": None, "in_jit": False, "manual": []})


def test_a_function_of_another_version_is_no_mistake(worker: Connection) -> None:
    """`jax.sharding.use_mesh` is the ancestor of `jax.set_mesh`, and gone."""
    answer = ask_call(worker, ["call", "jax.sharding.use_mesh", [["constant", "None"]], []])
    assert "jax.sharding.use_mesh is not in JAX" in answer["unsupported"]


def test_a_function_that_is_not_on_the_list_is_no_mistake(worker: Connection) -> None:
    assert "unsupported" in ask_call(worker, ["call", "jax.numpy.load", ["x.npy"], []])


@pytest.mark.parametrize(
    ("name", "from_import", "exception"),
    [
        ("jax.set_mesh", False, None),
        ("jax.set_mesh", True, None),
        ("jax.sharding.PositionalSharding", False, "AttributeError"),
        ("jax.sharding.PositionalSharding", True, "ImportError"),
        ("jax.make_mesh(axis_types=)", False, None),
    ],
)
def test_references(worker: Connection, name: str, from_import: bool, exception: str | None) -> None:
    asked = {"kind": "reference", "name": name, "from_import": from_import}
    answer, twin = (worker.ask({**asked, "there": there}) for there in (False, True))
    assert answer.get("exception") == exception
    assert twin["ok"]


def test_prints_do_not_reach_the_protocol() -> None:
    """What anything writes to stdout, in Python or past it, must not be taken for an answer."""
    program = (
        "import os, runpy, sys\n"
        "import numpy\n"
        "ones = numpy.ones\n"
        "def noisy(*a, **k):\n"
        "    print('{}', flush=True); os.write(1, b'{}\\n'); return ones(*a, **k)\n"
        "numpy.ones = noisy\n"
        f"runpy.run_path({str(WORKER)!r}, run_name='__main__')\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps(request(Api.DEVICE_PUT, SHORT, [8, 8])) + "\n",
        capture_output=True,
        text=True,
        env=fake_environment(8),
        check=True,
    )
    answers = [json.loads(line) for line in said.stdout.splitlines()]
    assert [answer.get("ready") or answer.get("ok") for answer in answers] == [True, True]
    assert "{}" in said.stderr

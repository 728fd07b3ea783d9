"""Confirmation as users meet it: what JAX says, and what happens when JAX cannot be asked."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import confirm_cases as cases
import jax
import jax.numpy as jnp
import pytest
from confirm_cases import MESH, rejected
from jax.sharding import AxisType, NamedSharding, PartitionSpec

from shardlint.confirm.confirmer import Confirmer, agreed, judged
from shardlint.confirm.witnesses.builder import witness_of
from shardlint.confirm.witnesses.requests import Witness
from shardlint.laws.core.values import Junk, Spec, Unknown
from shardlint.laws.core.verdicts import Accepted, Api, Cause, Returned, Undecided
from shardlint.laws.placement.judge import judge_placement
from shardlint.laws.versions.era import since
from shardlint.model.findings import Confirmation, Finding, Severity

pytestmark = pytest.mark.usefixtures("forked_workers")

READY = """print('{"ready": true, "jax": "0.10.2", "devices": 8}', flush=True)"""
AS_TUPLE = Junk("('data',)", "tuple", data=("tuple", "data"))


@pytest.fixture(scope="module")
def confirmer() -> Iterator[Confirmer]:
    with Confirmer() as confirmer:
        yield confirmer
        assert confirmer.notes == []


def interpreter(folder: Path, program: str) -> str:
    """An executable that stands in for Python, and runs this program whatever it is asked to run."""
    path = folder / "python"
    path.write_text(f"#!{sys.executable} -S\nimport sys, time, os\n{program}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


ALL_BOUND = (("data", 2), ("model", 4))


@pytest.mark.parametrize(
    ("finding", "said"),
    [
        (cases.indivisible(10), "IndivisibleError"),
        (cases.indivisible(50257, cases.mesh(32, 64)), "IndivisibleError"),
        (cases.indivisible(10, cases.mesh(4, 4)), "IndivisibleError"),
        (
            cases.placement(
                Api.NAMED_SHARDING, Spec(("modle",)), (8, 8), rejected(Cause.UNKNOWN_AXIS, axis="modle")
            ),
            "ValueError",
        ),
        (
            cases.placement(Api.JIT_OUT, Spec(("data", None, None)), (8, 8), rejected(Cause.TOO_LONG)),
            "ValueError",
        ),
        (
            cases.placement(Api.JIT_IN, AS_TUPLE, (8, 8), rejected(Cause.NOT_A_SPEC, "TypeError"), raw=True),
            "TypeError",
        ),
        (cases.arity(Api.SHARD_MAP_IN, 1, 2), "ValueError"),
        (cases.arity(Api.SHARD_MAP_OUT, 2, 1), "ValueError"),
        (cases.arity(Api.JIT_OUT, 2, 3), "ValueError"),
        (cases.collective("jax.lax.psum", "NameError"), "NameError"),
        (cases.collective("jax.lax.psum", "AssertionError", ALL_BOUND), "AssertionError"),
        (cases.collective("all_gather", "Exception", ALL_BOUND), "NameError"),
        (
            cases.collective(
                "psum_scatter",
                "ValueError",
                ALL_BOUND,
                ("model",),
                shape=(6, 16),
                arguments=(("tiled", True),),
                verdict=rejected(Cause.INDIVISIBLE, dimension=0),
            ),
            "ValueError",
        ),
        (
            cases.collective(
                "all_to_all",
                "ValueError",
                ALL_BOUND,
                ("model",),
                shape=(8, 8),
                arguments=(("split_axis", 1), ("concat_axis", 0)),
                verdict=rejected(Cause.BAD_ARGUMENT, dimension=1),
            ),
            "ValueError",
        ),
        (
            cases.parameter(
                "flax.linen",
                Spec((None, None, "model")),
                (8, 8),
                Undecided("the mesh"),
                Unknown("the caller's"),
            ),
            "ValueError",
        ),
        (
            cases.parameter("flax.linen", "model", (8,), Undecided("?"), Unknown("?")),
            "ValueError",
        ),
        (
            cases.reference("jax.sharding.PositionalSharding", rejected(Cause.BAD_ARGUMENT, "ImportError")),
            "ImportError",
        ),
        (cases.mesh_use("Mesh", (2, 4), ("x",), None, rejected(Cause.MESH_NAMES)), "ValueError"),
        (cases.mesh_use("numpy.reshape", (4, 4), None, 8, rejected(Cause.DEVICE_COUNT)), "ValueError"),
        (
            cases.mesh_use(
                "Mesh", (2, 4), ("x", "y"), None, rejected(Cause.MESH_NAMES, ways=1, detail="axis_types")
            ),
            "ValueError",
        ),
        (
            cases.parameter(
                "flax.linen", Spec((None, "model", None)), (8, 8), rejected(Cause.TOO_LONG, stage="unbox")
            ),
            "ValueError",
        ),
        (
            cases.parameter("flax.linen", "model", (8,), rejected(Cause.UNKNOWN_AXIS, stage="get_sharding")),
            "ValueError",
        ),
        (
            cases.parameter(
                "flax.nnx", Spec((None, "model", None)), (8, 8), rejected(Cause.TOO_LONG, stage="nnx.Param()")
            ),
            "ValueError",
        ),
    ],
)
def test_true_errors_are_confirmed(confirmer: Confirmer, finding: Finding, said: str) -> None:
    [marked] = confirmer.confirm([finding])
    assert (marked.confirmation, marked.severity) == (Confirmation.CONFIRMED, finding.severity)
    assert marked.confirmed_by is not None
    assert marked.confirmed_by.startswith("JAX ")
    assert marked.confirmed_by.endswith(f": {said}")


@pytest.mark.parametrize(
    ("finding", "said"),
    [
        (cases.placement(Api.CREATE, Spec(()), (16384, 16384), Accepted()), "replicated on 8 devices"),
        (
            cases.placement(Api.DEVICE_PUT, Spec((None,)), (16384, 16384), Accepted()),
            "replicated on 8 devices",
        ),
        (
            cases.placement(Api.CONSTRAINT, Spec((None, "model")), (8, 9), Accepted(replicated=(1,))),
            "replicated on 8 devices",
        ),
        (cases.parameter("flax.linen", None, (8,), Accepted()), "replicated on 8 devices"),
        (cases.parameter("flax.linen", Spec(("model",)), (8, 8), Accepted()), "in silence"),
        (cases.parameter("flax.linen", "model", (8,), Accepted(), None), "in silence"),
        (cases.mesh_use("Mesh", (2, 4), ("x", "x"), None, Accepted()), "in silence"),
        (cases.parameter("flax.nnx", "model", (8,), Undecided("a bare string")), "in silence"),
    ],
)
def test_silent_mistakes_are_confirmed_too(confirmer: Confirmer, finding: Finding, said: str) -> None:
    [marked] = confirmer.confirm([finding])
    assert marked.confirmation is Confirmation.CONFIRMED
    assert marked.confirmed_by is not None
    assert marked.confirmed_by.endswith(f"accepted, {said}")


def test_a_false_error_is_refuted_and_is_no_error_any_more(confirmer: Confirmer) -> None:
    [marked] = confirmer.confirm(
        [cases.placement(Api.DEVICE_PUT, Spec(("data",)), (8, 8), rejected(Cause.TOO_LONG))]
    )
    assert (marked.confirmation, marked.severity) == (Confirmation.REFUTED, Severity.INFO)
    assert marked.confirmed_by is not None
    assert marked.confirmed_by.endswith("accepted")


def test_data_that_is_not_replicated_refutes_that_it_is() -> None:
    witness = Witness({"mesh": None}, {}, None, unsharded=(0,))
    answer = {"ok": True, "jax": "0.10.2", "spec": ["data"], "replicated": False, "devices": 8}
    assert judged(witness, answer, {"ok": True}).confirmation is Confirmation.REFUTED


def test_a_mistake_that_is_not_silent_is_not_confirmed_as_silent(confirmer: Confirmer) -> None:
    verdict = Accepted(replicated=(0,))
    [marked] = confirmer.confirm([cases.placement(Api.DEVICE_PUT, Spec(("data",)), (7, 8), verdict)])
    assert marked.confirmation is Confirmation.UNCONFIRMED


def test_another_exception_does_not_confirm(confirmer: Confirmer) -> None:
    verdict = rejected(Cause.TOO_LONG, "KeyError")
    [marked] = confirmer.confirm([cases.placement(Api.DEVICE_PUT, Spec(("data", None)), (8,), verdict)])
    assert (marked.confirmation, marked.severity) == (Confirmation.UNCONFIRMED, Severity.ERROR)
    assert (marked.confirmation_detail or "").endswith("raises ValueError, and KeyError was expected")


def test_a_confirmed_finding_has_the_words_of_jax(confirmer: Confirmer) -> None:
    verdict = rejected(Cause.TOO_LONG)
    found = cases.placement(Api.DEVICE_PUT, Spec(("data", None)), (8,), verdict)
    [marked] = confirmer.confirm([found])
    mesh = jax.make_mesh(MESH.sizes, MESH.names, axis_types=(AxisType.Auto,) * len(MESH.names))
    with pytest.raises(ValueError) as raised:
        jax.device_put(jnp.ones(8), NamedSharding(mesh, PartitionSpec("data", None)))
    assert marked.confirmation_detail == str(raised.value).splitlines()[0]


def test_words_about_a_smaller_array_say_so(confirmer: Confirmer) -> None:
    [marked] = confirmer.confirm([cases.indivisible(50257, cases.mesh(32, 64))])
    assert (marked.confirmation_detail or "").startswith("(with shape (")


def test_what_cannot_be_run_says_why(confirmer: Confirmer) -> None:
    verdict = rejected(Cause.TOO_LONG)
    unknown = cases.placement(Api.DEVICE_PUT, Spec(("data", "model")), Unknown("?"), verdict)
    without_use = replace(unknown, use=None)
    [first, second] = confirmer.confirm([unknown, without_use])
    assert (first.confirmation, first.confirmation_detail) == (
        Confirmation.NOT_RUNNABLE,
        "the array's shape is not known",
    )
    assert second.confirmation_detail == "it rests on the program as a whole"


def test_a_base_class_confirms(confirmer: Confirmer) -> None:
    verdict = rejected(Cause.INDIVISIBLE, "ValueError", dimension=0)
    [marked] = confirmer.confirm([cases.placement(Api.DEVICE_PUT, Spec(("data",)), (7,), verdict)])
    assert marked.confirmation is Confirmation.CONFIRMED


def test_without_a_witness_nothing_runs(tmp_path: Path) -> None:
    with Confirmer(str(tmp_path / "no-such-python")) as confirmer:
        [marked] = confirmer.confirm([cases.finding(None)])
        assert confirmer.notes == []
    assert marked.confirmation is Confirmation.NOT_RUNNABLE


def test_order_and_progress_are_kept(confirmer: Confirmer) -> None:
    steps: list[tuple[int, int]] = []
    findings = [cases.indivisible(size) for size in (10, 6, 10)]
    marked = confirmer.confirm(findings, lambda done, count: steps.append((done, count)))
    assert [m.use for m in marked] == [f.use for f in findings]
    assert steps == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("""print('{"ready": false, "message": "no libstdc++"}')""", "cannot import jax: no libstdc++"),
        ("sys.exit('no license for this machine')", "died: no license for this machine"),
        ("print('hello')", "said 'hello'"),
        (f"{READY}; sys.stdin.readline(); os._exit(3)", "died"),
        ("time.sleep(600)", "did not answer within 1 s"),
        (f"{READY}; time.sleep(600)", "did not answer within 1 s"),
    ],
)
def test_without_answers_findings_stay_as_they_are(tmp_path: Path, program: str, reason: str) -> None:
    python = interpreter(tmp_path, program)
    findings = [cases.indivisible(size) for size in (5, 6, 7, 9, 10, 11)]
    with Confirmer(python, timeout=1.0 if "sleep" in program else 30.0) as confirmer:
        marked = confirmer.confirm(findings)
        [note] = confirmer.notes
    assert marked == findings
    assert reason in note
    assert python in note


def test_an_interpreter_without_jax(tmp_path: Path) -> None:
    """The real worker, under an interpreter that sees no site-packages."""
    program = (
        "os.environ.pop('PYTHONPATH', None); os.execv(sys.executable, [sys.executable, '-S', *sys.argv[1:]])"
    )
    with Confirmer(interpreter(tmp_path, program)) as confirmer:
        [marked] = confirmer.confirm([cases.indivisible()])
        [note] = confirmer.notes
    assert marked.confirmation is Confirmation.UNCONFIRMED
    assert note.startswith("jax is not installed for")
    assert note.endswith("install shardlint[confirm]")


def test_no_interpreter(tmp_path: Path) -> None:
    with Confirmer(str(tmp_path / "python3.99")) as confirmer:
        [marked] = confirmer.confirm([cases.indivisible()])
        [note] = confirmer.notes
    assert marked.confirmation is Confirmation.UNCONFIRMED
    assert note.startswith("cannot run")


def test_a_worker_that_takes_too_much_memory_is_ended(tmp_path: Path) -> None:
    program = f"{READY}; sys.stdin.readline(); held = bytearray(os.urandom(1 << 20) * 128); time.sleep(600)"
    with Confirmer(interpreter(tmp_path, program), memory=64 << 20) as confirmer:
        confirmer.confirm([cases.indivisible()])
        assert "used more than 64 MiB" in confirmer.notes[0]


def test_a_worker_that_dies_is_started_again(tmp_path: Path) -> None:
    """It dies at the first request; its successor is the real one."""
    mark = tmp_path / "died"
    program = (
        f"first = not os.path.exists({str(mark)!r})\n"
        f"open({str(mark)!r}, 'w').close()\n"
        f"if first: {READY}; sys.stdin.readline(); os._exit(1)\n"
        f"os.execv({sys.executable!r}, [{sys.executable!r}, *sys.argv[1:]])"
    )
    with Confirmer(interpreter(tmp_path, program)) as confirmer:
        first, second = confirmer.confirm([cases.indivisible(10), cases.indivisible(11)])
    assert (first.confirmation, second.confirmation) == (Confirmation.UNCONFIRMED, Confirmation.CONFIRMED)
    assert len(confirmer.notes) == 1


def test_one_run_for_witnesses_that_are_alike(tmp_path: Path) -> None:
    """A worker that knows one answer for the witness and one for the twin, and then ends."""
    raised = '{"jax": "0.10.2", "ok": false, "exception": "IndivisibleError", "bases": ["Exception"]}'
    accepted = '{"jax": "0.10.2", "ok": true}'
    program = "\n".join(
        [READY, *(f"sys.stdin.readline(); print('{a}', flush=True)" for a in (raised, accepted))]
    )
    with Confirmer(interpreter(tmp_path, program)) as confirmer:
        marked = confirmer.confirm([cases.indivisible(), cases.indivisible()])
    assert [m.confirmation for m in marked] == [Confirmation.CONFIRMED] * 2


def test_files_of_the_workspace_are_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("jax.py", "json.py", "numpy.py", "sitecustomize.py"):
        (tmp_path / name).write_text(f"open({str(tmp_path / 'imported')!r}, 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with Confirmer() as confirmer:
        [marked] = confirmer.confirm([cases.indivisible()])
    assert marked.confirmation is Confirmation.CONFIRMED
    assert not (tmp_path / "imported").exists()


def test_the_users_own_settings_do_not_reach_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAX_PLATFORMS", "tpu")
    monkeypatch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=2")
    with Confirmer() as confirmer:
        [marked] = confirmer.confirm([cases.indivisible()])
    assert marked.confirmation is Confirmation.CONFIRMED
    assert os.environ["JAX_PLATFORMS"] == "tpu"
    assert MESH.device_count == 8


def test_what_holds_where_jit_returns_an_array_must_hold_where_it_does_not() -> None:
    """From JAX 0.11.2 on an uneven constraint is accepted, unless jit returns what it constrains."""
    found = cases.placement(Api.CONSTRAINT, Spec(("data",)), (7, 8), Accepted(replicated=(0,)))
    witness = witness_of(found)
    assert witness is not None and witness.elsewhere == {**witness.request, "returned": False}
    accepted = {"ok": True, "jax": "0.11.2", "spec": [], "replicated": True, "devices": 8}
    raised = {"ok": False, "jax": "0.11.2", "exception": "IndivisibleError", "bases": ["ValueError"]}
    inside, returned = (judged(witness, answer, accepted) for answer in (accepted, raised))
    assert agreed(witness, inside, inside).confirmation is Confirmation.CONFIRMED
    assert agreed(witness, returned, inside).confirmation is Confirmation.UNCONFIRMED
    expected = replace(witness, returned=Returned.REFUSED)
    both = agreed(expected, returned, inside)
    assert both.confirmation is Confirmation.CONFIRMED
    assert both.said == (
        "JAX 0.11.2: IndivisibleError where jit returns it, "
        "accepted, replicated on 8 devices where it does not"
    )
    other = judged(witness, {**raised, "exception": "TypeError"}, accepted)
    assert agreed(expected, other, inside).confirmation is Confirmation.UNCONFIRMED


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        (("data", "model"), "IndivisibleError where jit returns it, accepted, replicated on 8 devices"),
        ((None, "model"), "accepted, sharded None where jit returns it, accepted, replicated on 8 devices"),
    ],
)
def test_an_uneven_constraint_is_confirmed_where_jit_returns_it_and_where_it_does_not(
    confirmer: Confirmer, entries: tuple[str | None, ...], said: str
) -> None:
    """XLA splits an output over a part of an axis from 0.11.2 on."""
    verdict = judge_placement(Api.CONSTRAINT, MESH, Spec(entries), (8, 10))
    [marked] = confirmer.confirm([cases.placement(Api.CONSTRAINT, Spec(entries), (8, 10), verdict)])
    assert marked.confirmation is Confirmation.CONFIRMED
    assert (said in str(marked.confirmed_by)) == since("0.11.2")


@pytest.mark.parametrize("api", [api for api in Api if "inside jit" in api.value or api is Api.CONSTRAINT])
def test_both_places_are_asked(api: Api) -> None:
    found = cases.placement(api, Spec(("row",)), (8, 8), rejected(Cause.UNKNOWN_AXIS))
    witness = witness_of(found)
    assert witness is not None
    assert (witness.elsewhere is None) == ("nnx" in api.value)

"""The worker's list of functions and names has what shardlint asks for."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("jax")

from shardlint.confirm.connection import WORKER
from shardlint.inference.overlays.jax.operations import SYNTAX
from shardlint.inference.overlays.jax.shard_map.varying import COMPUTE
from shardlint.laws.versions.api_changes import ARGUMENTS, NAMES
from witness_names import CONSTANTS, FUNCTIONS, REFERENCES, TRANSFORMS, constant, function

#: What takes a function of the program's own, and JAX's functions only that are not JAX's at all.
WITHOUT = {"jax.numpy.vectorize", *(name for name in COMPUTE if name.startswith("optax."))}


def test_the_names_of_releases_are_those_of_the_laws() -> None:
    """The file is written by `json.dump(names, file, indent=1)`."""
    names = sorted({row.subject for row in (*NAMES, *ARGUMENTS)})
    written = (WORKER / "witness_references.json").read_text(encoding="utf-8")
    assert written == json.dumps(names, indent=1) + "\n"
    assert sorted(REFERENCES) == names


@pytest.mark.parametrize("name", sorted({*COMPUTE, *SYNTAX} - WITHOUT))
def test_what_is_judged_can_be_called(name: str) -> None:
    assert callable(function(name))


#: What other releases have.
ELSEWHERE = {
    "jax.sharding.no_collectives",
    "jax.sharding.use_mesh",
    "jax.lax.pvary",
    *(f"jax.sharding.UnreducedKind.{kind}" for kind in ("max", "min", "sum")),
}


@pytest.mark.parametrize("name", sorted({*CONSTANTS} - ELSEWHERE))
def test_each_name_of_the_list_is_there(name: str) -> None:
    assert constant(name) is not None


def test_transforms_are_functions_of_the_list() -> None:
    assert all(callable(function(name)) for name in TRANSFORMS)


def test_nothing_on_the_list_touches_files_or_calls_back() -> None:
    refused = (
        "save",
        "load",
        "file",
        "buffer",
        "callback",
        "vectorize",
        "apply_along",
        "ffi",
        "debug",
        "print",
    )
    assert not [name for name in FUNCTIONS if any(part in name for part in refused)]

"""Meshes that are made to say their axis types, run before and after."""

from __future__ import annotations

import inspect

import jax
import pytest
from jax.sharding import AxisType

from shardlint.api import Linter, Settings, editing, source_from_text
from shardlint.fixes.documents import Document
from shardlint.laws.versions import Release, Target
from shardlint.model.findings import Applicability, Fix
from shardlint.model.uses import MeshUse

HEADER = "import jax\nimport numpy as np\nfrom jax.sharding import AbstractMesh, Mesh\n\nn = 2\n"
DEVICES = "np.array(jax.devices()[:8]).reshape(2, 4)"
#: JAX 0.11 renamed the argument.
SIZES = next(iter(inspect.signature(jax.make_mesh).parameters))
MESHES = {
    "make_mesh": 'mesh = jax.make_mesh((2, 4), ("data", "model"))',
    "keywords": f'mesh = jax.make_mesh(axis_names=("data", "model"), {SIZES}=(2, 4))',
    "one axis": 'mesh = jax.make_mesh((8,), ("data",))',
    "Mesh": f'mesh = Mesh({DEVICES}, ("data", "model"))',
    "a comma": f'mesh = Mesh(\n    {DEVICES},\n    ("data", "model"),\n)',
    "parentheses": f'mesh = Mesh(({DEVICES}), (("data", "model") ) )',
    "AbstractMesh": 'mesh = AbstractMesh((2, 4), ("data", "model"))',
    "a string": f'mesh = Mesh({DEVICES}.reshape(8), "data")',
}


def fixes(program: str, settings: Settings | None = None) -> list[Fix]:
    source = source_from_text("program.py", program)
    analysis = Linter(Settings()).analysis(source)
    uses = {use.place.resolve(): use for use in analysis.uses if isinstance(use, MeshUse)}.values()
    return [fix for use in uses for fix in editing.axis_types(source, use, settings or Settings())]


def types_of(program: str) -> tuple[AxisType, ...]:
    """The types of the axes of the mesh that a program makes under JAX."""
    names: dict[str, jax.sharding.Mesh] = {}
    exec(compile(program, "program.py", "exec"), names)
    return names["mesh"].axis_types


@pytest.mark.parametrize("name", MESHES)
def test_the_types_are_those_that_are_written(name: str) -> None:
    program = HEADER + MESHES[name] + "\n"
    before = types_of(program)
    found = {fix.message.rpartition(" ")[2]: fix for fix in fixes(program)}
    assert set(found) == {"Auto", "Explicit"}
    for kind, fix in found.items():
        repaired = Document("program.py", program.encode()).edited(fix.edits).data.decode()
        after = types_of(repaired)
        assert after == (AxisType[kind],) * len(before)
        # What is as it was is safe, and nothing else is.
        assert (fix.applicability is Applicability.SAFE) == (after == before)
        assert not fixes(repaired)


@pytest.mark.parametrize(
    "mesh",
    [
        'mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)',
        'mesh = jax.make_mesh((2, 4), ("data", "model"), (jax.sharding.AxisType.Auto,) * 2)',
        'options = {}\nmesh = jax.make_mesh((2, 4), ("data", "model"), **options)',
        'mesh = jax.make_mesh(*((2, 4), ("data", "model")))',
        'mesh = jax.make_mesh((2, 4), ("data", "model")  # why\n)',
    ],
)
def test_what_says_so_or_cannot_be_read_is_left_alone(mesh: str) -> None:
    assert not fixes(HEADER + mesh + "\n")


def test_a_project_for_releases_without_axis_types_is_left_alone() -> None:
    program = HEADER + MESHES["Mesh"] + "\n"
    old = Settings(target_jax=Target(Release.parse("0.4.35"), Release.parse("0.10.2")))
    assert fixes(program)
    assert not fixes(program, old)


def test_what_changes_on_one_of_the_releases_is_not_safe() -> None:
    """`make_mesh` has Explicit axes since 0.9, `AbstractMesh` since 0.11.1."""
    for name, low, high in (("make_mesh", "0.8.3", "0.9.2"), ("AbstractMesh", "0.10.2", "0.11.2")):
        for lowest, highest, safe in ((low, low, "Auto"), (high, high, "Explicit"), (low, high, None)):
            target = Target(Release.parse(lowest), Release.parse(highest))
            found = fixes(HEADER + MESHES[name] + "\n", Settings(target_jax=target))
            kinds = [
                fix.message.rpartition(" ")[2] for fix in found if fix.applicability is Applicability.SAFE
            ]
            assert kinds == ([] if safe is None else [safe]), (name, lowest, highest)

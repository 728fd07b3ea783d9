"""After an axis is renamed a fresh check finds what it found before, and what is no name of it stays."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from renamed_programs import HEAD, PROGRAMS, findings, index, rename, write
from support.sizes import size

from shardlint.ide.axis_index import Axis

pytestmark = pytest.mark.slow

FIXTURES = sorted((Path(__file__).parents[2] / "fixtures").rglob("*.py"))
#: Axes that are renamed in each program.
AXES = size("SHARDLINT_RENAMED_AXES", 2, 1000)
_LETTERS = "zyxwvutsrqponmlkjihgfedcba"


def new_name(axis: Axis) -> str:
    """A name of the same length, so that all places stay what they are."""
    return (_LETTERS * 2)[: len(axis.name)]


def each_axis(make: Callable[[], list[Path]], check: Callable[[list[Path], Axis, str], None]) -> int:
    """Rename axes that can be renamed, each in a fresh copy; return how many."""
    axes = index(make()).axes
    renamed = 0
    for number, axis in enumerate(axes):
        if renamed == AXES:
            break
        paths = make()
        again = index(paths).axes[number]
        name = new_name(again)
        assert again == axis
        if again.why_not(name) is None and again.kind != "axis of no known mesh":
            check(paths, again, name)
            renamed += 1
    return renamed


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_means_the_same_under_another_name(program: str, tmp_path: Path) -> None:
    def make() -> list[Path]:
        return write(tmp_path, PROGRAMS[program])

    before = findings(make())

    def check(paths: list[Path], axis: Axis, name: str) -> None:
        rename(axis, name)
        assert findings(paths, (name, axis.name)) == before

    assert each_axis(make, check) >= 2


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: path.name)
def test_a_fixture_means_the_same_under_another_name(fixture: Path, tmp_path: Path) -> None:
    """What messages propose may differ: a word that is misspelled on purpose is near to one name only."""

    def make() -> list[Path]:
        return [Path(shutil.copy(fixture, tmp_path / fixture.name))]

    before = findings(make())

    def check(paths: list[Path], axis: Axis, name: str) -> None:
        rename(axis, name)
        assert [found[:3] for found in findings(paths)] == [found[:3] for found in before]

    each_axis(make, check)


def test_what_is_no_name_of_the_axis_stays(tmp_path: Path) -> None:
    """A dict's keys, a printed word, another mesh's axis, vmap's own axis: none of them is touched."""
    for title in ("a mesh, specs, collectives", "names that vmap binds", "two meshes with axes of one name"):
        paths = write(tmp_path, PROGRAMS[title])
        axis = index(paths).axes[0]
        before = Counter(paths[0].read_text(encoding="utf-8").split())
        spans = {(one.span.line, one.span.column) for one in axis.occurrences}
        rename(axis, "zzzz")
        text = paths[0].read_text(encoding="utf-8")
        changed = Counter(text.split()) - before
        assert text.count("zzzz") == len(spans)
        assert sum(changed.values()) <= len(spans)
    text = PROGRAMS["a mesh, specs, collectives"]["train.py"]
    paths = write(tmp_path, {"train.py": text})
    model = next(axis for axis in index(paths).axes if axis.name == "model")
    rename(model, "heads")
    text = paths[0].read_text(encoding="utf-8")
    assert 'print("model", size)' in text
    assert '{"model": 1, "data": 2}' in text
    assert 'table["model"]' in text
    assert "'heads')" in text  # quotes stay as they are
    assert 'r"heads"' in text
    assert 'mesh.shape["heads"]' in text


def test_axes_of_two_programs_stay_apart(tmp_path: Path) -> None:
    paths = write(tmp_path, PROGRAMS["names in a module of constants"])
    axes = [axis for axis in index(paths).axes if axis.name == "data"]
    files = [{Path(one.span.path).name for one in axis.occurrences} for axis in axes]
    assert files == [{"names.py", "train.py"}, {"other.py"}]


def test_alternatives_are_renamed_together(tmp_path: Path) -> None:
    for title in ("either of two meshes", "equal meshes on two branches"):
        (axis,) = [one for one in index(write(tmp_path, PROGRAMS[title])).axes if one.name == "data"]
        assert len(axis.definitions) == 2
        assert len(axis.occurrences) == 3


def axis_of(text: str, tmp_path: Path, name: str = "data") -> Axis:
    paths = write(tmp_path, {"train.py": HEAD + text})
    return next(axis for axis in index(paths).axes if axis.name == name)


MESH = 'mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))\n'


@pytest.mark.parametrize("name", ["", " ", "\t", 'da"ta', "da'ta", "da\\ta", "da\nta", "{x}"])
def test_names_that_cannot_stand_in_a_string_are_refused(name: str, tmp_path: Path) -> None:
    assert axis_of(MESH, tmp_path).why_not(name) is not None


def test_a_name_that_the_mesh_has_is_refused(tmp_path: Path) -> None:
    axis = axis_of(MESH, tmp_path)
    assert axis.why_not("model") is not None
    assert axis.why_not("batch") is None
    assert axis.why_not("daten 🧪") is None


@pytest.mark.parametrize(
    "text",
    [
        'mesh = Mesh(np.array(jax.devices()).reshape(2, 4), tuple("data model".split()))\n',
        'mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("da" + "ta", "model"))\n',
        "mesh = Mesh(np.array(jax.devices()).reshape(2, 4), tuple(dict(data=2, model=4)))\n",
    ],
)
def test_a_name_that_is_computed_is_refused(text: str, tmp_path: Path) -> None:
    text += 'x = jax.device_put(jnp.zeros((8, 16)), NamedSharding(mesh, P("data", "model")))\n'
    axis = axis_of(text, tmp_path)
    assert axis.computed
    assert axis.why_not("batch") is not None


def test_specs_of_no_known_mesh_may_mean_the_only_axis_of_their_name(tmp_path: Path) -> None:
    loose = "def layout(any_mesh):\n    return NamedSharding(any_mesh, P('data'))\n"
    axes = index(write(tmp_path, {"train.py": HEAD + MESH + loose}))
    (data,) = [axis for axis in axes.axes if axis.kind == "mesh axis" and axis.name == "data"]
    assert len(axes.unclear(data)) == 1
    axes = index(write(tmp_path, {"train.py": HEAD + MESH + MESH.replace("mesh", "other", 1) + loose}))
    assert not any(axes.unclear(axis) for axis in axes.axes)

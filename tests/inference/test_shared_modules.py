"""Modules that several programs import are run once, until a file changes."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from support.sizes import FULL

from shardlint.api import Linter, Settings, load_settings
from shardlint.inference.programs.module_loader import forget
from shardlint.inference.summaries.summary import CallSummary
from shardlint.source.sources import read_source

MAIN = """
import jax, jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P
from helper import mesh
jax.device_put(jnp.ones((8, 8)), NamedSharding(mesh, P("model")))
"""
HELPER = """
from names import AXES
import numpy as np, jax
from jax.sharding import Mesh
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), AXES)
"""


def codes(path: Path) -> list[str]:
    return [finding.code for finding in Linter(Settings(devices=8)).check_source(read_source(str(path)))]


def test_a_change_three_imports_away_is_seen(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(MAIN)
    (tmp_path / "helper.py").write_text(HELPER)
    names = tmp_path / "names.py"
    names.write_text('AXES = ("data", "model")')
    assert codes(tmp_path / "main.py") == []
    names.write_text('AXES = ("data", "tensor")')
    os.utime(names, ns=(1, 1))
    assert codes(tmp_path / "main.py") == ["SHL103"]


def test_what_importing_a_module_sets_holds_for_each_program(tmp_path: Path) -> None:
    """The second program finds the module already run, and its mesh set all the same."""
    (tmp_path / "settings.py").write_text(
        'import jax\nmesh = jax.make_mesh((2, 4), ("data", "model"), '
        "axis_types=(jax.sharding.AxisType.Auto,) * 2)\njax.set_mesh(mesh)\n"
    )
    program = (
        "import settings\nimport jax, jax.numpy as jnp\nfrom jax.sharding import PartitionSpec as P\n"
        'jax.lax.with_sharding_constraint(jnp.ones((8, 8)), P("{}"))\n'
    )
    for name, axis, expected in (("one", "data", []), ("two", "model", []), ("three", "tensor", ["SHL103"])):
        path = tmp_path / f"{name}.py"
        path.write_text(program.format(axis))
        assert codes(path) == expected, name


def test_what_an_import_sets_that_ran_before_its_importer(tmp_path: Path) -> None:
    """The first program imports the settings before the module that imports them; the second does not."""
    (tmp_path / "settings.py").write_text("from flax import nnx\nnnx.use_eager_sharding(False)\n")
    (tmp_path / "layers.py").write_text(
        "import jax, jax.numpy as jnp\nfrom flax import nnx\nimport settings\n"
        'def layer():\n    return nnx.Param(jnp.ones((8, 8)), out_sharding=("data", None))\n'
    )
    for name, imports in (("one", "import settings\nimport layers"), ("two", "import layers")):
        path = tmp_path / f"{name}.py"
        path.write_text(f"{imports}\nlayers.layer()\n")
        assert codes(path) == [], name


@pytest.mark.parametrize("spelling", [".", "tests", "{whole}", "../project", "{whole}/tests/../."])
def test_no_file_goes_by_two_paths(spelling: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a file that is checked and imported too, nor one that two programs import."""
    project = tmp_path / "project"
    (project / "src" / "pkg").mkdir(parents=True)
    (project / "tests").mkdir()
    (project / "pyproject.toml").write_text('[project]\nname = "pkg"\n')
    (project / "src" / "pkg" / "__init__.py").touch()
    (project / "src" / "pkg" / "places.py").write_text(
        "import jax, jax.numpy as jnp\nfrom jax.sharding import NamedSharding, PartitionSpec as P\n"
        'mesh = jax.make_mesh((8,), ("data",))\n'
        'def put(n):\n    return jax.device_put(jnp.ones((n, 4)), NamedSharding(mesh, P(None, "data")))\n'
    )
    for number in (1, 2):
        program = f"import jax.sharding\nfrom pkg.places import put\nput({number})\n"
        (project / "tests" / f"test_{number}.py").write_text(program)
    monkeypatch.chdir(project)
    findings = Linter(load_settings(".", devices=8)).check_paths([spelling.format(whole=project)]).findings
    assert [finding.code for finding in findings] == ["SHL202"]


SHARED = """
SIZES = {"model": 4}
NAMES = ["data", "model"]
class Options:
    axis = "model"
class Layer:
    axis = "model"
    def __init__(self):
        self.width = 8
    def spec(self):
        return P(self.axis)
"""
USER = """
import jax, jax.numpy as jnp, shared
from jax.sharding import NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((2, shared.SIZES["model"]), tuple(shared.NAMES))
jax.device_put(jnp.ones(6), NamedSharding(mesh, P(shared.Options.axis)))
class Mine(shared.Layer):
    def place(self):
        return jax.device_put(jnp.ones(6), NamedSharding(mesh, P(self.axis)))
"""
#: What another program does to the module that both import.
CHANGES = {
    "an entry of a dict": 'shared.SIZES["model"] = 2',
    "a list": 'shared.NAMES.append("expert")',
    "a class": 'shared.Options.axis = "data"',
    "a variable": 'shared.NAMES = ("x", "y")',
    "given to who knows whom": "import unseen\nunseen.register(shared.SIZES, shared.NAMES)",
    "in a function": "def main():\n    shared.NAMES.clear()\nmain()",
    "in an entry": (
        "import jax\nfrom jax.sharding import PartitionSpec as P\n"
        "def main(x):\n    shared.NAMES.clear()\n    return jax.device_put(x, P())"
    ),
    "a derived class": 'class Other(shared.Layer):\n    axis = "data"\n',
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_a_program_changes_of_a_module_is_not_so_for_the_next(change: str, tmp_path: Path) -> None:
    (tmp_path / "shared.py").write_text(SHARED)
    (tmp_path / "changes.py").write_text(f"import shared\n{change}\n")
    (tmp_path / "user.py").write_text(USER)
    assert codes(tmp_path / "user.py") == ["SHL202", "SHL202"]
    linter = Linter(Settings(devices=8))
    for _ in range(2):
        linter.check_source(read_source(str(tmp_path / "changes.py")))
        found = linter.check_source(read_source(str(tmp_path / "user.py")))
        assert [finding.code for finding in found] == ["SHL202", "SHL202"]


REGISTER = """
FOUND = {}
def register(name):
    def note(cls):
        if name in FOUND:
            raise KeyError(name)
        FOUND[name] = cls
        return cls
    return note
def spec(name):
    return FOUND[name]().spec()
"""
REGISTERED = """
from register import register
@register("layer")
class Layer:
    def spec(self):
        return ("{}", None)
"""
REGISTERING = """
import {}
import jax, jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P
from register import spec
mesh = jax.make_mesh((2, 4), ("data", "model"))
jax.device_put(jnp.ones((6, 6)), NamedSharding(mesh, P(*spec("layer"))))
"""


@pytest.mark.parametrize("order", [("rows", "columns", "rows"), ("columns", "rows", "columns")])
def test_what_modules_register_is_so_where_they_are_imported(order: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "register.py").write_text(REGISTER)
    linter = Linter(Settings(devices=8))
    for name, axis in (("rows", "data"), ("columns", "model")):
        (tmp_path / f"{name}.py").write_text(REGISTERED.format(axis))
        (tmp_path / f"by_{name}.py").write_text(REGISTERING.format(name))
    for name in order:
        found = linter.check_source(read_source(str(tmp_path / f"by_{name}.py")))
        assert [finding.code for finding in found] == ([] if name == "rows" else ["SHL202"]), name


BASE = """
SIZES = {"data": 2, "model": 4}
NAMES = ["data", "model"]
class Options:
    axis = "model"
class Holder:
    def __init__(self):
        self.axis = "data"
    def turn(self):
        self.axis = "model"
held = Holder()
count = 2
def bump():
    global count
    count = count + 1
"""
MIDDLE = {
    "reads": "import base\naxis = base.NAMES[-1]\nsize = base.SIZES['model'] + base.count\n",
    "writes": "import base\nbase.SIZES['model'] = 6\naxis, size = base.held.axis, base.count\n",
    "registers": (
        "import base\nbase.NAMES.append('expert')\nbase.held.turn()\naxis, size = base.Options.axis, 6\n"
    ),
    "star": "from base import *\naxis, size = NAMES[0], count + 4\n",
    "keeps": "from base import NAMES as names, held\naxis, size = 'data', 6\n",
    "through": "import keeps\naxis, size = keeps.names[0], len(keeps.names) + 4\n",
    "calls": (
        "import base, keeps\ndef look():\n    return getattr(keeps.held, 'axis'), base.SIZES['model']\n"
        "axis, size = look()\n"
    ),
    "wraps": (
        "import base\nfrom functools import partial\n"
        "look = partial(lambda sizes: sizes['data'], base.SIZES)\n"
        "axis, size = 'model', 4\n"
    ),
    "unwraps": "import wraps\naxis, size = wraps.axis, wraps.look() + 4\n",
    "derives": "import base\nclass Mine(base.Options):\n    pass\naxis, size = Mine.axis, 6\n",
    "bumps": "import base\nbase.bump()\naxis, size = 'data', 6\n",
    "nothing": "import base\naxis, size = 'model', 6\n",
}
STATEMENTS = [
    "base.SIZES['model'] = 2",
    "base.SIZES['data'] = base.SIZES['model']",
    "base.NAMES.reverse()",
    "base.NAMES.append('x')",
    "base.Options.axis = 'data'",
    "base.held.turn()",
    "base.held.axis = base.NAMES[0]",
    "base.bump()",
    "del base.SIZES['data']",
    "base.held = base.Holder()",
    "def main():\n    base.NAMES.clear()\n    base.bump()",
    "import unseen\nunseen.see(base.SIZES)",
    "import unseen\nunseen.see(base.Options)",
    "base.bump.__defaults__ = ()",
    *(f"import {name}" for name in MIDDLE),
    *(f"import {name}\nput(P({name}.axis), {name}.size)" for name in MIDDLE),
]
LOOKS = [
    "put(P(base.NAMES[0]), 6)",
    "put(P(base.Options.axis), 6)",
    "put(P(base.held.axis), 6)",
    "put(P('model'), base.count + 2)",
    "put(P('model'), base.SIZES['model'])",
    "put(P('data'), len(base.NAMES) + base.SIZES.get('data', 1))",
]
PUT = """
import base
import jax, jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((2, 4), ("data", "model"))
def put(spec, size):
    return jax.device_put(jnp.ones(size), NamedSharding(mesh, spec))
"""


@pytest.mark.parametrize("seed", range(40))
def test_random_programs_are_found_as_each_alone(seed: int, tmp_path: Path) -> None:
    """What a program changes in modules that others import is undone, or the modules run again."""
    random = Random(seed)
    (tmp_path / "base.py").write_text(BASE)
    for name, text in MIDDLE.items():
        (tmp_path / f"{name}.py").write_text(text)
    paths = []
    for number in range(6):
        lines = [*random.sample(STATEMENTS, random.randint(0, 4)), *random.sample(LOOKS, 3)]
        random.shuffle(lines)
        paths.append(tmp_path / f"program_{number}.py")
        paths[-1].write_text(PUT + "\n".join(lines) + "\n")

    alone = [found(path, afresh=True) for path in paths]
    assert any(alone)
    forget()
    assert [found(path) for path in paths] == alone
    assert [found(path) for path in reversed(paths)] == alone[::-1]


@pytest.mark.parametrize("seed", range(200 if FULL else 20))
def test_cycles_of_imports_are_found_as_each_program_meets_them(seed: int, tmp_path: Path) -> None:
    """The values depend on which module of a cycle is imported first."""
    random, names = Random(seed), [f"pkg.m{number}" for number in range(6)] + ["pkg.sub", "pkg.sub.n", "out"]
    files = {name: f"{name.replace('.', '/')}.py" for name in names}
    files |= {"pkg": "pkg/__init__.py", "pkg.sub": "pkg/sub/__init__.py"}
    (tmp_path / "pkg" / "sub").mkdir(parents=True)

    def imports(most: int) -> Iterator[str]:
        for name in random.sample(names, random.randint(0, most)):
            package, _, module = name.rpartition(".")
            bound = name.replace(".", "_")
            yield f"from {package} import {module} as {bound}" if package else f"import {name} as {bound}"
            yield f"size = size + {bound}.size"

    for number, (name, file) in enumerate(files.items()):
        lines = [f"size = {number + 1}", *imports(1 if name == "pkg" else 3)]
        (tmp_path / file).write_text("\n".join(lines) + "\n")
    (tmp_path / "base.py").write_text(BASE)
    paths = [tmp_path / f"program_{number}.py" for number in range(8)]
    for path in paths:
        path.write_text(
            "\n".join([PUT, "size = 0", *imports(3), "put(P('data'), size)", "put(P('model'), size)"])
        )
    alone = [found(path, afresh=True) for path in paths]
    assert any(alone)
    forget()
    assert [found(path) for path in paths] == alone
    assert [found(path) for path in reversed(paths)] == alone[::-1]


@pytest.mark.parametrize("program", ["import c", "import a, c", "import b, c", "import c, a", "import d, c"])
@pytest.mark.parametrize("before", ["import a, c", "import b, c", "import c", "import d"])
def test_a_cycle_is_that_of_the_module_that_begins_it(before: str, program: str, tmp_path: Path) -> None:
    """Of ``a`` and ``b``, the first one to be imported sees of the other what it holds in the end."""
    files = {
        "a": "size = 1\nimport b\nsize = size + b.size\n",
        "b": "size = 2\nimport a\nsize = size + a.size\n",
        "c": "import b\nsize = 4 * b.size + 1\n",
        "d": "import c, a\nsize = c.size\n",
        "base": BASE,
        "first": f"{before}\n",
        "second": f"{program}\n{PUT}put(P('data'), c.size)\n",
    }
    for name, text in files.items():
        (tmp_path / f"{name}.py").write_text(text)
    alone = found(tmp_path / "second.py", afresh=True)
    forget()
    found(tmp_path / "first.py")
    assert found(tmp_path / "second.py") == alone != []


def found(path: Path, afresh: bool = False) -> list[str]:
    """The findings in a program, with the modules that earlier ones have run, or all run afresh."""
    if afresh:
        forget()
    findings = Linter(Settings(devices=8)).check_source(read_source(str(path)))
    return [f"{finding.span.line}: {finding.message}" for finding in findings]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, list[str]]]:
    """Programs that import one module each, in a folder with all modules, and what is found in them."""
    folder = tmp_path_factory.mktemp("alone")
    for name, text in {"base": BASE, **MIDDLE}.items():
        (folder / f"{name}.py").write_text(text)
    programs = {name: folder / f"alone_{name}.py" for name in MIDDLE}
    for name, path in programs.items():
        path.write_text(f"import {name}\n{PUT}{_look(name)}")
    return {name: (path, found(path, afresh=True)) for name, path in programs.items()}


def _look(name: str) -> str:
    return f"put(P({name}.axis), {name}.size)\nput(P('data'), {name}.size + 1)\n"


@pytest.mark.parametrize("first", MIDDLE)
def test_a_module_imported_after_another_is_found_as_alone(
    first: str, alone: dict[str, tuple[Path, list[str]]]
) -> None:
    """It is run again unless it depends on nothing that the other has changed."""
    for then, (one, found_alone) in alone.items():
        both = one.with_name(f"{first}_and_{then}.py")
        both.write_text(f"import {first}, {then}\n{PUT}{_look(then)}")
        expected = found(both, afresh=True), found_alone
        forget()
        assert (found(both), found(one)) == expected, then
        forget()
        assert (found(one), found(both)) == expected[::-1], then


def _summaries() -> list[CallSummary]:
    return [one for one in gc.get_objects() if isinstance(one, CallSummary)]


def test_a_program_that_is_done_with_holds_nothing(tmp_path: Path) -> None:
    held = _summaries()
    before = set(map(id, held))
    # A wrapper in a shared module has a reference to the interpreter that made it.
    (tmp_path / "steps.py").write_text("import jax\n\n@jax.jit\ndef double(x):\n    return x + x\n")
    for number in range(3):
        main = tmp_path / f"main{number}.py"
        main.write_text(
            f"import jax.numpy as jnp\nfrom steps import double\n\n"
            f"def run(n):\n    return double(jnp.ones(n)) + {number}\n\nrun(4)\nrun(8)\n"
        )
        codes(main)
    gc.collect()
    assert {id(one) for one in _summaries()} <= before

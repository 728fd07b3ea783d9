"""Which entries are evaluated: all that can meet a use, and few of the others."""

from __future__ import annotations

import glob
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from programs import PROGRAMS, SETUP
from support.checking import check, uses

from shardlint.api import source_from_text
from shardlint.inference import InferenceSettings, analyze
from shardlint.inference.domain.values import Function, Native
from shardlint.inference.interpreter.interpreter import Interpreter
from shardlint.inference.programs import entry_points
from shardlint.inference.programs.reachability import Reach
from shardlint.laws.core.values import Spec
from shardlint.model.uses import ParameterUse, Use
from shardlint.source.sources import Source, read_source

FIXTURES = sorted(glob.glob(str(Path(__file__).parents[2] / "fixtures" / "*")))

HEAD = """\
import jax, jax.numpy as jnp, numpy as np
from functools import partial
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((2, 4), ("data", "model"))
def put(x, *names):
    return jax.device_put(x, NamedSharding(mesh, P(*names)))
"""
#: Functions called `entry` that nobody calls, and meet one mistake.
REACHING = {
    "by itself": "def entry(x):\n    jax.device_put(jnp.zeros(6), NamedSharding(mesh, P('model')))",
    "a helper": "def entry(x):\n    put(jnp.zeros(6), 'model')",
    "handed on": "def entry(x):\n    call = partial(put, jnp.zeros(6))\n    call('model')",
    "in a dict": "TABLE = {'put': put}\ndef entry(x):\n    TABLE['put'](jnp.zeros(6), 'model')",
    "registered": "TABLE = []\ndef register(f):\n    TABLE.append(f)\n    return f\n"
    "@register\ndef place(x):\n    return put(x, 'model')\ndef entry(x):\n    TABLE[0](jnp.zeros(6))",
    "a lambda": "place = lambda x: put(x, 'model')\ndef entry(x):\n    place(jnp.zeros(6))",
    "an object": "class A:\n    def go(self):\n        put(jnp.zeros(6), 'model')\nA1 = A()\n"
    "def entry(x):\n    A1.go()",
    "an object that it makes": "class A:\n    def go(self, n):\n        put(jnp.zeros(n), 'model')\n"
    "def make():\n    return A()\ndef entry(x):\n    make().go(6)",
    "an inherited method": "class A:\n    def go(self, n):\n        put(jnp.zeros(n), 'model')\n"
    "class B(A):\n    def entry(self):\n        self.go(6)",
    "an attribute of self": "class A:\n    def __init__(self):\n"
    "        self.place = partial(put, jnp.zeros(6))\n"
    "    def entry(self):\n        self.place('model')",
    "a property": "class A:\n    @property\n    def place(self):\n        return put\n"
    "    def entry(self):\n        self.place(jnp.zeros(6), 'model')",
    "an operator": "class A:\n    def __matmul__(self, n):\n        put(jnp.zeros(n), 'model')\n"
    "def entry(x):\n    A() @ 6",
    "getattr": "class A:\n    def go(self, n):\n        put(jnp.zeros(n), 'model')\nA1 = A()\n"
    "def entry(x):\n    getattr(A1, 'go')(6)",
    "an alias": "from jax import device_put as place\nS = NamedSharding(mesh, P('model'))\n"
    "def entry(x):\n    place(jnp.zeros(6), S)",
    "imported inside": "def entry(x):\n    from jax import device_put as place\n"
    "    place(jnp.zeros(6), NamedSharding(mesh, P('model')))",
    "a sharding of the module": "S = NamedSharding(mesh, P('model'))\n"
    "def entry(x):\n    jax.device_put(jnp.zeros(6), S)",
    "what jit was given": "f = jax.jit(lambda x: x, in_shardings=NamedSharding(mesh, P('model')))\n"
    "def entry(x):\n    f(jnp.zeros(6))",
    "what jit was given by a helper": "def make(f, given):\n    return jax.jit(f, in_shardings=given)\n"
    "f = make(lambda x: x, NamedSharding(mesh, P('model')))\ndef entry(x):\n    f(jnp.zeros(6))",
    "a decorator of the module": "placed = partial(jax.jit, in_shardings=NamedSharding(mesh, P('model')))\n"
    "@placed\ndef f(x):\n    return x\ndef entry(x):\n    f(jnp.zeros(6))",
    "a layer of the module": "import flax.linen as nn\n"
    "named = nn.with_partitioning(nn.initializers.zeros, (None, 'model', None))\n"
    "layer = nn.Dense(6, kernel_init=named)\ndef entry(key):\n    layer.init(key, jnp.ones((2, 3)))",
    "typed arrays": "A = jax.device_put(jnp.ones((8, 8)), NamedSharding(mesh, P('data')))\n"
    "B = jax.device_put(jnp.ones((8, 8)), NamedSharding(mesh, P('model')))\ndef entry(x):\n    A + B",
    "a mesh that is entered": "def entry():\n    with mesh:\n        pass",
    "a mesh that decorates": "def entry():\n    @mesh\n    def f():\n        pass\n    f()",
    "an abstract mesh": "A = mesh.abstract_mesh\ndef entry():\n    @A\n    def f():\n        pass",
    "an index in a shard_map": "def body(x):\n    return x + jax.lax.axis_index('modle')\n"
    "def entry(x):\n    f = jax.shard_map(body, mesh=mesh, in_specs=P('model'), out_specs=P('model'))\n"
    "    f(jnp.zeros(8))",
    "an argument that is gone": "def entry(x):\n    return jax.jit(lambda y: y, in_axis_resources=None)(x)",
    "an argument in a dict": "def entry(x):\n"
    "    return jax.jit(lambda y: y, **{'in_axis_resources': None})(x)",
    "a name that is gone": "import jax as j\ndef entry(x):\n    return j.tree_map(abs, x)",
}
#: Functions that only look at shardings: evaluating them could find nothing.
LOOKING = {
    "an annotation": "def entry(x: NamedSharding, m: Mesh | None = None):\n    return x.spec",
    "isinstance": "def entry(x):\n    return isinstance(x, (NamedSharding, Mesh)) and x.mesh",
    "a comment": "def entry(x):\n    # as put(x) does, and jax.device_put(x)\n    return x + 1",
    "an attribute": "def entry(mesh, x):\n    return mesh.shape['data'], x.sharding.spec",
    "an index of the caller's": "def entry(x):\n    return x * jax.lax.axis_index('data')",
    "a variable called like an argument": "def entry(jit, x):\n    in_axis_resources = x\n"
    "    return jit(in_axis_resources)",
    "a variable": "def entry(x):\n    sharding = x.sharding\n    return sharding.mesh",
    "another class": "class A:\n    def go(self):\n        put(1)\n"
    "class B:\n    def go(self):\n        pass\n"
    "B1 = B()\ndef entry(x):\n    B1.go()",
    "a constructor": "class A:\n    def __init__(self):\n        self.spec = P('data')\n"
    "    def entry(self, x):\n        return x + 1",
}


@pytest.mark.parametrize("program", REACHING.values(), ids=REACHING)
def test_what_reaches_a_use_is_evaluated(program: str) -> None:
    """The evaluation of everything finds the same."""
    found = check(f"{HEAD}{program}\n")
    assert len({f.span for f in found}) == 1
    assert found == check(f"{HEAD}{program}\n", exhaustive=True)


@pytest.mark.parametrize("program", LOOKING.values(), ids=LOOKING)
def test_what_only_looks_is_not(program: str) -> None:
    with watched() as reached:
        uses(f"{HEAD}{program}\n")
    assert [name for name, reaches in reached if reaches and name == "entry"] == []
    assert ("entry", False) in reached


@contextmanager
def watched() -> Iterator[list[tuple[str, bool]]]:
    """What is said of each function while a program is analyzed."""
    said: list[tuple[str, bool]] = []
    of_function = Reach.of_function

    def watching(self: Reach, function: Function) -> bool:
        said.append((function.name, of_function(self, function)))
        return said[-1][1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Reach, "of_function", watching)
        yield said


def uses_unseen(source: Source) -> list[Use]:
    """The uses that a program's entries meet although nothing is said to be reached from them.

    Parameters without names are left out: without a mesh nothing is judged of them.
    """
    unseen: list[Use] = []
    verdicts: list[bool] = []
    of_function, of_wrapper, run_entry = Reach.of_function, Reach.of_wrapper, entry_points._run_entry

    def function(self: Reach, one: Function) -> bool:
        verdicts.append(of_function(self, one))
        return True

    def wrapper(self: Reach, one: Native) -> bool:
        verdicts.append(of_wrapper(self, one))
        return True

    def run(interpreter: Interpreter, *rest: object) -> None:
        before = len(interpreter.uses)
        run_entry(interpreter, *rest)  # type: ignore[arg-type]
        if not verdicts[-1]:
            unseen.extend(interpreter.uses[before:])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Reach, "of_function", function)
        patch.setattr(Reach, "of_wrapper", wrapper)
        patch.setattr(entry_points, "_run_entry", run)
        analyze([source], InferenceSettings(devices=8))
    return [
        use for use in unseen if not (isinstance(use, ParameterUse) and not isinstance(use.names, Spec | str))
    ]


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: Path(path).name)
def test_no_use_of_a_fixture_is_met_from_elsewhere(path: str) -> None:
    assert uses_unseen(read_source(path)) == []


def test_no_use_of_small_programs_is_met_from_elsewhere() -> None:
    for one in PROGRAMS:
        body = "".join(f"    {line}\n" for line in one.parts[1].splitlines())
        source = source_from_text("program.py", f"{SETUP}def entry(unknown):\n{body}")
        assert uses_unseen(source) == [], one.heading

"""After an edit that makes no difference to what a function gives, its callers are not evaluated again."""

from __future__ import annotations

import pytest
from following import EDITS, SEEDS, follow

from shardlint.api import source_from_text
from shardlint.inference.evaluation import budget
from shardlint.inference.evaluation.settings import InferenceSettings, Noticed
from shardlint.inference.incremental import early_cutoff
from shardlint.inference.incremental.entry_result import EntryRun
from shardlint.inference.programs import entry_points
from shardlint.inference.programs.session import Resumable

pytestmark = pytest.mark.slow

CHAINS = """
import jax, jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("data", "model"))
LIMIT = 6

def rows(n):
    total = n + 2
    return total if total < LIMIT else 8

def fill(items, n):
    items.append(n)
    return len(items)

def sizes(n):
    items = [n]
    fill(items, rows(n))
    first = tuple(items)
    fill(items, 6)
    return first, tuple(items[1:])

def put(shape, *names):
    return jax.device_put(jnp.zeros(shape), NamedSharding(mesh, P(*names)))

def both(shape):
    first = put(shape, "data")
    if first.ndim == 2:
        first = put(shape, None, "model")
    return first

def wrap(n):
    count = rows(n)

    def inner(x):
        return put((count, x), "data")

    def never():
        return put((count, 3), "model")

    return inner

def step(n):
    return n + 1

def spend(n):
    for i in range(60):
        for j in range(60):
            for k in range(60):
                n = step(i + j + k)
    return put((n, 5), "model")

class Model:
    def __init__(self, width):
        self.width = rows(2)
        self.name = "model"

    def shape(self, n):
        return (n, self.width)

    def up(self, x):
        return both(self.shape(3))

    def down(self, x):
        return put(self.shape(rows(4)), self.name)

def use_sizes():
    first, second = sizes(5)
    both(first)
    return both(second)

def use_wrap():
    return wrap(5)(4)

def use_spend():
    spend(3)
    return both((6, 5))

def use_model():
    model = Model(3)
    return model.up(4) + model.down(5)
"""


#: Constructors that call others, change what they are given, and hand themselves on.
MODELS = """
import jax, jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("data", "model"))

def put(shape, *names):
    return jax.device_put(jnp.zeros(shape), NamedSharding(mesh, P(*names)))

def rows(n):
    return n + 2 if n < 6 else 8

class Block:
    def __init__(self, width):
        self.shape = (width, rows(4))
        self.sizes = [rows(width)]
        self.kernel = put(self.shape, None, "model")

class Layer(Block):
    def __init__(self, width, *names, owner=None):
        super().__init__(width)
        self.names = names
        self.inner = Block(rows(width))
        self.owner = owner
        if owner is not None:
            owner.layers.append(self)

    def apply(self, n):
        self.inner.sizes.append(n)
        return put((self.shape[1], self.inner.sizes[-1]), *self.names)

class Model:
    def __init__(self, depth):
        self.layers = []
        self.first = Layer(5, "data")
        self.rest = [Layer(6, "model", owner=self) for _ in range(depth)]

    def run(self, n):
        put((n, len(self.layers)), "data")
        return [layer.apply(n) for layer in self.layers], self.first.apply(rows(n))

def use():
    one, other = [Model(2) for _ in range(2)]
    one.layers[0].shape = (3, 3)
    other.first.sizes[0] = 7
    put(one.first.sizes[0], "data")
    return one.run(5), other.run(8)

def use_alone():
    return Layer(4, "data").apply(6)
"""


#: Methods of linen modules call others, some of which create modules.
LINEN = """
import jax, jax.numpy as jnp
import flax.linen as nn
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("data", "model"))

def put(shape, *names):
    return jax.device_put(jnp.zeros(shape), NamedSharding(mesh, P(*names)))

class Block(nn.Module):
    width: int = 8

    def setup(self):
        self.kernel = nn.Dense(self.rows(6))

    def rows(self, n):
        return n + 2

    def names(self):
        return "data", self.last()

    def last(self):
        return "model"

    def __call__(self, x):
        put((self.rows(2), 3), *self.names())
        return self.kernel(x)

class Model(nn.Module):
    def size(self, n):
        return n + 1

    def dense(self, x, rows):
        init = nn.with_partitioning(nn.initializers.ones, ("data", "model"))
        return nn.Dense(rows, kernel_init=init)(x)

    @nn.compact
    def __call__(self, x):
        x = self.dense(x, self.size(5))
        return Block()(x)

def use():
    model = Model()
    variables = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((8, 4)))
    shardings = nn.get_sharding(variables, mesh)
    return put((6, 4), "data")
"""


@pytest.fixture(autouse=True)
def _few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """What spends all its steps (`use_spend`) is evaluated anew at each edit: it need not have many."""
    for limit in ("MAX_STEPS", "_FREE", "_AFTER_NEW"):
        monkeypatch.setattr(budget, limit, getattr(budget, limit) // 10)
    monkeypatch.setattr(early_cutoff, "SURELY_ENOUGH", budget.SURELY_ENOUGH // 10)


@pytest.mark.parametrize("seed", SEEDS)
def test_edits_of_constructors(seed: int) -> None:
    follow("models.py", MODELS, 3 * EDITS, str(seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_edits_of_chains_of_calls(seed: int) -> None:
    follow("chains.py", CHAINS, 3 * EDITS, str(seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_edits_of_modules(seed: int) -> None:
    follow("modules.py", LINEN, 3 * EDITS, str(seed))


def evaluated(text: str, before: str, after: str, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The names of the entries that an edit lets be evaluated."""
    assert text.count(before) == 1
    settings = InferenceSettings(devices=8, editing=True)
    program = Resumable(source_from_text("program.py", text), settings)
    for _ in range(2):
        # What entry points changed is undone, and done again from their results.
        program.uses(source_from_text("program.py", text), Noticed())
    names: set[str] = set()
    recorded = entry_points.recorded

    def noted(*args: object) -> EntryRun:
        names.add(args[1].name)  # type: ignore[attr-defined]
        return recorded(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(entry_points, "recorded", noted)
    program.uses(source_from_text("program.py", text.replace(before, after)), Noticed())
    return names


@pytest.mark.parametrize(
    ("before", "after", "names"),
    [
        # It gives what it gave: nothing around it runs, but what first asks what the constructor sets.
        ("total = n + 2", "total = 2 + n", {"up"}),
        ("total = n + 2", "total = n + 2\n    seen = 1", {"up"}),
        ("self.width = rows(2)", "self.width = rows(n=2)", {"up"}),
        ("first = tuple(items)", "first = tuple(items)\n    seen = 1", set()),
        ('first = put(shape, "data")', 'seen = 1\n    first = put(shape, "data")', {"both"}),
        # What is made of it has another place.
        ("first = tuple(items)", "first = (*items,)", {"use_sizes"}),
        # It gives functions, which see what it holds.
        ("count = rows(n)", "count = rows(n) + 0", {"wrap", "never", "use_wrap"}),
        # Others get something else.
        ("total = n + 2", "total = n + 3", {"up", "down", "use_model"}),
        (
            "LIMIT else 8",
            "LIMIT else 7",
            {"down", "never", "up", "use_model", "use_sizes", "use_wrap", "wrap"},
        ),
    ],
)
def test_what_an_edit_evaluates(
    before: str, after: str, names: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert evaluated(CHAINS, before, after, monkeypatch) == names


#: Code that is not followed gets an object that has functions, which change what others read.
GIVEN_AWAY = """
import jax, jax.numpy as jnp, plugins
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("data", "model"))
ROWS = [8]

def put(shape, *names):
    return jax.device_put(jnp.zeros(shape), NamedSharding(mesh, P(*names)))

def grow():
    ROWS.append(7)

HOOKS = [grow]

class Held:
    def change(self):
        HOOKS.append(self)

def first(x):
    return put((6, x), "data")

def second(x):
    return put((ROWS[0], x), "data")

def give(x):
    plugins.keep(Held())
    return put((7, x), "data")
"""


def test_what_went_out_of_sight_in_an_entry_belongs_to_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    assert evaluated(GIVEN_AWAY, "return put((6, x)", "seen = 1; return put((6, x)", monkeypatch) == {"first"}


@pytest.mark.parametrize(
    ("before", "after", "names"),
    [
        ("return n + 2", "return 2 + n", set()),
        ('return "model"', 'seen = 1\n        return "model"', set()),
        ('return "model"', "return None", {"__call__", "names", "use"}),
    ],
)
def test_what_an_edit_of_a_module_evaluates(
    before: str, after: str, names: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert evaluated(LINEN, before, after, monkeypatch) == names

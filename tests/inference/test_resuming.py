"""Programs that stay give, after each edit, the findings of a program that is made anew."""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path

import pytest
from following import EDITS, SEEDS, edited, follow, parses, programs_made, told
from support.checking import check

from shardlint.api import Linter, source_from_text
from shardlint.config import Settings
from shardlint.engine.analyzer import Analyzer
from shardlint.engine.open_programs import Programs
from shardlint.inference.evaluation.settings import InferenceSettings, Noticed
from shardlint.inference.programs.program import analyze_source
from shardlint.inference.programs.session import Resumable
from shardlint.model.uses import FileProblem, LocalUse, NameUse, Use, ValueUse
from shardlint.support.cancellation import NOW, Stop, Stopped, stoppable

pytestmark = pytest.mark.slow

FIXTURES = Path(__file__).parents[2] / "fixtures"
FILES = sorted(FIXTURES.glob("*.py"))
MODEL = '''
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("data", "model"))
CALLS = []

def make(rows, cols):
    return jnp.zeros((rows, cols))

def shard(x, *names):
    # Everything goes through here.
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P(*names)))

class Model:
    """A model."""

    def __init__(self, width):
        self.width = 64
        self.rows = width

    def up(self, x):
        w = make(self.width, 32)
        w = shard(w, "data", "model")
        return x @ w

    def down(self, x):
        if x.ndim == 2:
            x = shard(x, "data", None)
        else:
            x = shard(x, "model")
        return x

    def __call__(self, x):
        y = self.up(jnp.ones((16, 64)))
        return self.down(y) + jax.vmap(lambda row: row * 2)(y)

def main():
    model = Model(3)
    spec = P("data", "model", None)
    array = jax.device_put(make(8, 6), NamedSharding(mesh, spec))
    return model(array)
'''


#: Functions inside functions, of which an edit lets the code around run anew.
CLOSURES = """
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("data", "model"))

def rows(scale):
    return 8 * scale

def place(x, *names):
    return jax.device_put(x, NamedSharding(mesh, P(*names)))

def route(x, scale):
    n = rows(scale)
    width = x.shape[1] if x.ndim == 2 else 6

    def size():
        return n - 2

    def pad(value):
        def filled(count):
            return jnp.zeros((count, size()))

        def never():
            return place(jnp.zeros((6, n - 1)), "data")

        return place(filled(n), "data", "model")

    def body(shard):
        local = jnp.zeros((shard.shape[0], width))
        return jax.lax.psum(pick(local), "data")

    def pick(value):
        def twice(count):
            return value * count

        return twice(size())

    mapped = jax.shard_map(body, mesh=mesh, in_specs=P("data", None), out_specs=P(None, "model"))
    jax.jit(lambda y: place(y, "data", size))
    return mapped(x) + pad(x).sum() + place(jnp.ones((size(), 4)), "model")

def main(x):
    for scale in (1, 2):
        route(jnp.zeros((16, 4)), scale)
    return route(x, 3)
"""


#: Names that are compared in functions that others call, with literals of these and of their callers.
NAMES = """
import jax, jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("data", "model"))

def is_data(name):
    return name == "data"

def spec_of(name, other):
    if is_data(name):
        return P(name, other)
    return P(other, name)

def put(rows, name, other):
    spec = spec_of(name, other)
    return jax.device_put(jnp.zeros((rows, 8)), NamedSharding(mesh, spec))

def first():
    rows = 8
    def inner(name):
        return put(rows, name, "model")
    return inner("data"), put(4, "model", "data")

def second(name):
    put(6, "data", None)
    return put(8, name, "model")
"""


#: Bodies of shard_map that call one another and a helper, each also outside of a body.
BODIES = """
import jax, jax.numpy as jnp
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("data", "model"))

def first(x):
    half = x * 2
    return helper(half)

def second(x):
    whole = first(x)
    return helper(whole)

def helper(x):
    inner = x + 1
    return inner

def mapped(body, x):
    return jax.shard_map(body, mesh=mesh, in_specs=P("data"), out_specs=P("data"))(x)

def use():
    x = first(jnp.zeros((8, 4)))
    return mapped(first, x), mapped(second, x), mapped(helper, x), second(x)
"""


def literals(uses: list[Use | FileProblem]) -> set[str]:
    """Which literals write one name, and what names hold, as an editor is told."""
    told = (use for use in uses if isinstance(use, NameUse | ValueUse | LocalUse))
    return {f"{use.place.resolve()} {use.names if isinstance(use, NameUse) else use.name}" for use in told}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("text", [NAMES, MODEL, BODIES])
def test_what_an_editor_is_told_of_names_after_edits(text: str, seed: int) -> None:
    chance, settings = random.Random(seed), InferenceSettings(devices=8, editing=True)
    program = Resumable(source_from_text("names.py", text), settings)
    compared = 0
    for _ in range(4 * EDITS):
        after = edited(text, chance)
        if not parses(after):
            continue
        source = source_from_text("names.py", after)
        found = literals(program.uses(source, Noticed()))
        assert found == literals(analyze_source(source, settings)), after
        compared += bool(found)
        text = after if found and chance.random() < 0.5 else text
    assert compared > EDITS


def test_what_a_function_tells_as_a_body_is_not_told_of_another_body() -> None:
    calls = """
def deeper(x):
    return deepest(x)

def deepest(x):
    return first(x, True)

def first(x, deep=False):
    if deep:
        own = x + 1
        return own
    return deeper(x)

def second(x):
    return deeper(x)

def use():
    x = jnp.zeros((8, 4))
    return mapped(first, x), mapped(second, x)
"""
    text = (
        BODIES[: BODIES.index("def first")]
        + BODIES[BODIES.index("def mapped") : BODIES.index("def use")]
        + calls
    )
    settings = InferenceSettings(devices=8, editing=True)
    program = Resumable(source_from_text("bodies.py", text), settings)
    names = []
    for each in (text, text.replace("mapped(first, x), ", "")):
        told = program.uses(source_from_text("bodies.py", each), Noticed())
        names.append({use.name for use in told if isinstance(use, LocalUse)})
    assert names == [{"x", "deep", "own"}, {"x"}]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_edits_of_fixtures(file: Path) -> None:
    follow(str(file), file.read_text(encoding="utf-8"), EDITS, file.stem)


@pytest.mark.parametrize("seed", SEEDS)
def test_edits_of_a_class(seed: int) -> None:
    made, asked = follow("model.py", MODEL, 3 * EDITS, str(seed))
    assert made < asked, "no program was resumed"


#: Functions that read what others may change before or after them.
REGISTERS = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
SHAPES, SPECS, SEEN = [(6, 8)], {"w": P("data", "model", None)}, {1}

def put(shape, spec):
    return jax.device_put(jnp.zeros(shape), NamedSharding(mesh, spec))

def early():
    put(SHAPES[0], P("model"))
    return put((8, 8), SPECS["w"])

def log(shape, verbose):
    if verbose and shape not in SEEN:
        SEEN.add(shape)
        SHAPES.append(shape)
    return shape

def late(verbose):
    log((8, 8), verbose)
    put(SHAPES[0], P("model"))
    return put((8, 8), SPECS["w"])

def enter(name, spec):
    SPECS[name] = spec

def last():
    put((2, 2), SPECS["w"])
    for shape in SHAPES:
        put(shape, P(None, "model"))
"""


@pytest.mark.parametrize("seed", SEEDS)
def test_edits_of_functions_that_fill_registers(seed: int) -> None:
    made, asked = follow("registers.py", REGISTERS, 3 * EDITS, str(seed))
    assert made < asked, "no program was resumed"


@pytest.mark.parametrize("seed", SEEDS)
def test_edits_around_closures(seed: int) -> None:
    made, asked = follow("closures.py", CLOSURES, 3 * EDITS, str(seed))
    assert made < asked, "no program was resumed"


#: Functions that nobody calls, of which some change what others read, or define classes that replace what
#: others have.
FAMILIES = """
import jax, jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("data", "model"))

class Base:
    width = 8

    def rows(self):
        return 6

    def put(self):
        return put((self.rows(), self.width), P("model", "data"))

def put(shape, *names):
    return jax.device_put(jnp.zeros(shape), NamedSharding(mesh, P(*names)))

def make(flag):
    state, shapes = Base(), [(6, 8)]

    def read():
        return put((state.width, 8), "data")

    def widen(x):
        if x.ndim == 2:
            shapes.append((5, 8))
        state.width = 7
        return put((state.width, 8), "data")

    def again():
        put(shapes[-1], "model")
        return put((state.width, 8), "data")

    return 4

def derive():
    class Own(Base):
        width = 6

        def put(self):
            return put((self.rows(), self.width), "data", "model")

    return 4

def other(rows):
    return put((6, 4), "data")

HELD, COUNTS, WIDTH = Base(), [8], 8

def change(x):
    global WIDTH
    HELD.width, WIDTH = 6, 7
    COUNTS[0] = 6
    put((x, 2), "data")

def read_changed():
    put((WIDTH, 8), "data")
    put((HELD.width, 8), "data")
    put((COUNTS[0], 8), "data")
"""


@pytest.mark.parametrize("seed", SEEDS)
def test_edits_around_functions_that_share_what_they_change(seed: int) -> None:
    follow("families.py", FAMILIES, 6 * EDITS, str(seed))


@pytest.mark.parametrize(
    ("before", "after", "made"),
    [
        ("(6, 4)", "(8, 4)", 0),
        ("state.width = 7", "state.width = 7  # odd", 0),
        ("state.width = 7", "state.width = 8", 0),
        ("width = 8", "width = 9", 1),
        ("(x, 2)", "(x, 3)", 0),
        ("(WIDTH, 8)", "(8, WIDTH)", 0),
        ("= 6, 7", "= 6, 8", 0),
        ("COUNTS[0] = 6", "COUNTS[0] = 5", 0),
    ],
)
def test_what_makes_a_program_anew(
    before: str, after: str, made: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert times_made(FAMILIES, before, after, monkeypatch) == made


#: Functions that nobody calls change classes and wrappers, which others read: by name, through a helper whose
#: calls are cached, and because objects have special methods that may set what the class has.
CLASSES_CHANGED = """
import jax, jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("data", "model"))

class Sizes:
    rows, columns = 8, 6

class Counted:
    made = 6

    def __init__(self, rows):
        self.rows = rows

    def __getitem__(self, key):
        self.made = 4
        return put((self.rows, key), "data")

    def __eq__(self, other):
        type(self).made = 8
        return self.rows == other.rows

class Plain:
    width = 7

    def put(self):
        return put((self.width, 2), "model")

def put(shape, *names):
    return jax.device_put(jnp.zeros(shape), NamedSharding(mesh, P(*names)))

def sized(rows):
    return put((rows, Sizes.columns), "data", "model")

wrapped = jax.jit(sized, static_argnums=0)

def early(x):
    put((Sizes.rows, 4), "data")
    return sized(6)

def change(x):
    before = sized(8)
    Sizes.columns = 5
    after = sized(4)
    if x:
        Sizes.rows = 6
    return put((Sizes.rows, x), "data")

def count(n):
    one = Counted(6)
    put((Counted.made, n), "data")
    return one[2]

def tag(x):
    wrapped.width = 6
    Plain.put = lambda self: put((5, 2), "data")
    return Plain().put()

def late(x):
    put((Counted.made, 2), "data")
    put((wrapped.width, 2), "data")
    Plain().put()
    return wrapped(Sizes.rows)
"""


@pytest.mark.parametrize("seed", SEEDS)
def test_edits_around_functions_that_change_classes(seed: int) -> None:
    follow("classes.py", CLASSES_CHANGED, 6 * EDITS, str(seed))


@pytest.mark.parametrize(
    ("before", "after", "made"),
    [
        ("(Sizes.rows, 4)", "(Sizes.rows, 3)", 0),
        ("return one[2]", "return one[3]", 0),
        ("return sized(6)", "return sized(4)", 0),
        ("return wrapped(Sizes.rows)", "return wrapped(4)", 0),
        ("Sizes.columns = 5", "Sizes.columns = 4", 1),
    ],
)
def test_what_changes_classes_is_not_made_anew_unless_it_changes_them_otherwise(
    before: str, after: str, made: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert times_made(CLASSES_CHANGED, before, after, monkeypatch, editing=True) == made


#: Code that is not followed has a class whose constructor may change a default value.
OUT_OF_SIGHT = """
import jax, jax.numpy as jnp, plugins
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("data", "model"))

class Layer:
    def __init__(self, rows, names=[]):
        names.append("data")
        jax.device_put(jnp.zeros((rows, 2)), NamedSharding(mesh, P("data")))

plugins.register(Layer)
"""


def test_a_default_value_that_unseen_code_may_change_stays_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    assert times_made(OUT_OF_SIGHT, "names.append", "seen = 1; names.append", monkeypatch, editing=True) == 0


#: A function that nobody calls changes a class; calls before and after it read that.
READ_AROUND = """
import jax, jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("data", "model"))

class Sizes:
    rows, columns = 6, 6

def put(shape, *names):
    return jax.device_put(jnp.zeros(shape), NamedSharding(mesh, P(*names)))

def sized(rows):
    return put((rows, 2), "data", "model")

def first(early):
    return early

def change(x):
    Sizes.columns, Sizes.rows = 5, 8
    return sized(4)

def late(x):
    return rows_of()

def rows_of():
    return put((Sizes.rows, 2), "data")
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # Before the change, the call would be as it was.
        ("    return put((rows", "    if Sizes.columns == 5:\n        rows = 7\n    return put((rows"),
        # After the change, another call was equal.
        ("return early", "return rows_of()"),
    ],
)
def test_a_call_reads_a_class_as_it_is_then(before: str, after: str) -> None:
    settings = dataclasses.replace(Settings(devices=8), editing=True)
    staying = Linter(settings, analyzer=Analyzer(programs=Programs()))
    for each in (READ_AROUND, READ_AROUND, READ_AROUND.replace(before, after, 1)):
        source = source_from_text("program.py", each)
        assert told(staying.check_source(source)) == told(Linter(settings).check_source(source))


#: What functions import replaces what classes have, or changes what JAX does; others set what objects have.
IMPORTS = """
import jax, jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P
from bases import Base

mesh = jax.make_mesh((4, 2), ("data", "model"))

class Model(Base):
    width = 6

    def __init__(self):
        self.depth = 7
        self.names = ["data"]

    def put(self):
        return put((self.rows, self.width), "data", "model")

    def deep(self):
        return put((self.depth, 8), *self.names)

    def grow(self, more):
        self.height = 5
        return put((self.width, 8), "data")

def put(shape, *names):
    return jax.device_put(jnp.zeros(shape), NamedSharding(mesh, P(*names)))

def before(n):
    model = Model()
    return put((model.rows, n), "model")

def load(flag):
    from derived import Wide, SIZES
    SIZES.append(6)
    return put((SIZES[0], Wide.rows), "data")

def widen(model):
    model.height = 3
    return put((5, 4), "model")

def start():
    jax.distributed.initialize()
    return put((len(jax.devices()), 4), "data")

class Free:
    def __init__(self):
        self.wide = 7

    def put(self):
        return put((self.wide, 8), "model")

class Late(Base):
    def put(self):
        return put((self.rows, 2 * len(jax.devices())), "data", "model")

def body(x):
    half = x * 2
    return helper(half)

def helper(x):
    inner = jnp.reshape(x, (-1, 2))
    return jax.lax.psum(inner, "data")

def mapped(rows):
    spec = P("data")
    whole = jax.shard_map(body, mesh=mesh, in_specs=spec, out_specs=spec)(jnp.zeros((8, 4)))
    return put(whole.shape, "data", "model")
"""


def write_imported(folder: Path) -> None:
    """Write the modules that the program imports, and one that it does not."""
    (folder / "bases.py").write_text("class Base:\n    rows = 6\n    width = 7\n    height = 5\n")
    derived = "from bases import Base\n\nSIZES = [5]\n\nclass Wide(Base):\n    rows, width = 3, 6\n"
    (folder / "derived.py").write_text(derived)
    (folder / "unread.py").write_text("ROWS = 6\n")


@pytest.mark.parametrize("seed", SEEDS)
def test_edits_around_imports_in_functions(seed: int, tmp_path: Path) -> None:
    write_imported(tmp_path)
    made, asked = follow(str(tmp_path / "main.py"), IMPORTS, 6 * EDITS, str(seed))
    assert made < asked


@pytest.mark.parametrize(
    ("before", "after", "made"),
    [
        ("SIZES[0]", "SIZES[-1]", 0),
        ("SIZES.append(6)", "SIZES.append(7)", 0),
        ("    jax.distributed.initialize()\n", "", 0),
        # A function that runs once more, to see what it gives now, imports what nothing did before.
        ("    inner = jnp", "    import unread\n    inner = jnp", 1),
        # What a class with no base in the program sets is found out again; what others set was noted.
        ("self.wide =", "self.wade =", 0),
        ("self.names =", "self.nams =", 1),
        ("model.height = 3", "model.width = 3", 0),
    ],
)
def test_what_makes_a_program_that_imports_anew(
    before: str, after: str, made: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_imported(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert times_made(IMPORTS, before, after, monkeypatch, editing=True) == made


def test_a_class_that_an_import_changes_is_another_for_functions_that_read_it(tmp_path: Path) -> None:
    (tmp_path / "bases.py").write_text("class Base:\n    width = 8\n")
    (tmp_path / "inner.py").write_text("from bases import Base\n\nBase.width = 7\n")
    (tmp_path / "outer.py").write_text("import inner\n")
    text = """
import jax, jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P
from bases import Base

mesh = jax.make_mesh((4, 2), ("data", "model"))

def width(n):
    return Base.width

def shape():
    return width(1), 2

def use():
    before = shape()
    import outer
    jax.device_put(jnp.zeros(before), NamedSharding(mesh, P("data")))
    return jax.device_put(jnp.zeros(shape()), NamedSharding(mesh, P("data")))
"""
    (found,) = check(text, str(tmp_path / "main.py"))
    assert "7" in found.message


#: A function that nobody calls changes a class, which is not changed back.
CLASSES = """
import jax, jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("data", "model"))

class Base:
    width = 8

def change(x):
    Base.width = 6
    return jax.device_put(jnp.zeros((Base.width, 8)), NamedSharding(mesh, P("data")))
"""


@pytest.mark.parametrize(("after", "made"), [("width = 6  # odd", 0), ("width = 7", 1)])
def test_a_changed_class_matters_if_something_is_evaluated(
    after: str, made: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert times_made(CLASSES, "width = 6", after, monkeypatch) == made


def times_made(
    text: str, before: str, after: str, monkeypatch: pytest.MonkeyPatch, editing: bool = False
) -> int:
    """How often an edit lets a program be made anew."""
    settings = InferenceSettings(devices=8, editing=editing)
    program = Resumable(source_from_text("program.py", text), settings)
    program.uses(source_from_text("program.py", text), Noticed())
    made = programs_made(monkeypatch)
    program.uses(source_from_text("program.py", text.replace(before, after, 1)), Noticed())
    return len(made)


def test_a_closure_that_nobody_calls_sees_what_the_code_around_it_makes_now() -> None:
    settings = Settings(devices=8)
    staying = Linter(settings, analyzer=Analyzer(programs=Programs()))
    shapes = []
    for rows in ("8 * scale", "8", "4"):
        source = source_from_text("closures.py", CLOSURES.replace("8 * scale", rows))
        found = staying.check_source(source)
        assert told(found) == told(Linter(settings).check_source(source))
        shapes += [one.message for finding in found for one in finding.related if "shape" in one.message]
    assert shapes == [f"the array has shape (6, {size})" for size in ("?", "7", "3")]


def test_the_fix_of_an_import_follows_the_calls_that_an_edit_moves() -> None:
    text = """
from jax.experimental.shard_map import shard_map

def first(mesh, spec):
    return spec

def second(f, mesh, spec):
    return shard_map(f, mesh=mesh, in_specs=spec, out_specs=spec, check_rep=False)
"""
    settings = Settings(devices=8)
    staying = Linter(settings, analyzer=Analyzer(programs=Programs()))
    staying.check_source(source_from_text("fixes.py", text))
    source = source_from_text("fixes.py", text.replace("    return spec", "    seen = 1\n    return spec"))
    (found,) = staying.check_source(source)
    assert found.fix is not None
    assert [edit.span.line for edit in found.fix.edits] == [2, 9]
    assert told([found]) == told(Linter(settings).check_source(source))


def test_an_edit_that_changes_an_import_is_seen(tmp_path: Path) -> None:
    helper, main = tmp_path / "helper.py", tmp_path / "main.py"
    helper.write_text("ROWS = 8\n")
    program = MODEL.replace("CALLS = []", "from helper import ROWS").replace("make(8, 6)", "make(ROWS, 6)")
    staying = Linter(Settings(devices=8), analyzer=Analyzer(programs=Programs()))

    def found() -> list[str]:
        source = source_from_text(str(main), program)
        findings = told(staying.check_source(source))
        assert findings == told(Linter(Settings(devices=8)).check_source(source))
        return findings

    first = found()
    helper.write_text("ROWS = 7\n")
    assert found() != first


def test_a_program_that_was_stopped_goes_on() -> None:
    staying = Linter(Settings(devices=8), analyzer=Analyzer(programs=Programs()))
    texts = [MODEL.replace("make(8, 6)", f"make({rows}, 6)") for rows in range(1, 9)]
    for number, text in enumerate(texts):
        source, stop = source_from_text("model.py", text), Stop()
        if number % 2:
            stop.ask()
            with stoppable(stop), pytest.raises(Stopped):
                staying.check_source(source)
        else:
            assert told(staying.check_source(source)) == told(
                Linter(Settings(devices=8)).check_source(source)
            )
    assert not NOW.stop.asked

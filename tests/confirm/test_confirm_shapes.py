"""Asking JAX about functions that no overlay knows: the list, the answers, and what rests on them."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp
import numpy as np
from support.sizes import FULL

import shape_questions
from shardlint.cache.store import Store
from shardlint.config import Settings
from shardlint.confirm import asking as questions
from shardlint.confirm.asking import Asking
from shardlint.confirm.child_process import fake_environment
from shardlint.confirm.connection import WORKER
from shardlint.confirm.shape_answers import askable
from shardlint.engine.analyzer import Analyzer
from shardlint.inference.domain.values import External
from shardlint.inference.overlays.registry import canonical
from shardlint.linter import Linter
from shardlint.model.findings import Finding
from shardlint.source.sources import source_from_text
from witness_names import selected

pytestmark = pytest.mark.usefixtures("forked_workers")

CALLS = Path(__file__).parent.parent / "data" / "askable_calls.json"
#: A call of each function of the list: name, arguments, keywords, and the types of its arrays.
ROWS: list[Any] = json.loads(CALLS.read_text(encoding="utf-8"))
#: A share of the list is walked each time, and all of it in a full run.
STEP = 1 if FULL else 8


def test_each_function_of_the_list_has_a_call_and_its_canonical_name() -> None:
    assert sorted(row[0] for row in ROWS) == sorted(askable()) == sorted(shape_questions.ASKABLE)
    assert all(callable(selected(shape_questions.ASKABLE, name)) for name in askable())
    values = {name: canonical(name) for name in askable()}
    assert not [name for name, value in values.items() if value != External(name)]


def test_nothing_on_the_list_reaches_outside() -> None:
    walk = [sys.executable, "-I", str(Path(__file__).with_name("askable_walk.py")), str(WORKER), str(CALLS)]
    command = [*walk, "0", str(STEP)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=fake_environment(1))
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) in (len(ROWS) // STEP, len(ROWS) // STEP + 1)
    for name, answer, *reached in lines:
        assert answer[0] in ("array", "tuple", "list", "dict", "plain"), (name, answer)
        assert reached == [False, [], False], name


def array(shape: list[int], dtype: str, rng: random.Random) -> Any:
    if dtype == "key<fry>":
        return jax.random.key(0)
    values = np.random.default_rng(rng.randrange(1 << 30)).uniform(0.2, 0.8, shape)
    return jnp.asarray(values * 4 if dtype.startswith(("int", "uint")) else values).astype(dtype)


def described(value: Any) -> Any:
    """Describe what JAX computed as answers do."""
    if isinstance(value, jax.Array):
        return ["array", list(value.shape), str(value.dtype), bool(value.aval.weak_type), None]
    if isinstance(value, tuple):
        fields = getattr(type(value), "_fields", None)
        return ["tuple", fields and list(fields), *map(described, value)]
    if isinstance(value, list):
        return ["list", *map(described, value)]
    if isinstance(value, dict):
        return ["dict", list(value), *map(described, value.values())]
    return ["plain", value]


@pytest.mark.parametrize("number", range(120 if FULL else 16))
def test_an_answer_is_what_jax_computes(number: int) -> None:
    name, args, kwargs, operands = random.Random(f"answer {number}").choice(ROWS)
    answer = shape_questions.shapes(
        {"name": name, "args": args, "kwargs": kwargs, "operands": operands, "mesh": None}
    )
    arrays = [array(shape, dtype, random.Random(name)) for shape, dtype, *_ in operands]
    given = [shape_questions._built(arg, arrays) for arg in args]
    named = {key: shape_questions._built(value, arrays) for key, value in kwargs}
    computed = selected(shape_questions.ASKABLE, name)(*given, **named)
    assert answer["result"] == described(computed), name


#: Random calls: the text of one, and what makes of it a specification of an array.
FAMILIES: dict[str, Callable[[random.Random], str]] = {
    "jax.scipy.signal.convolve2d": lambda rng: (
        f"jax.scipy.signal.convolve2d(jnp.ones({shape(rng, 2)}), jnp.ones({shape(rng, 2)}), "
        f"mode={rng.choice(['full', 'same', 'valid'])!r})"
    ),
    "jax.scipy.stats.norm.cdf": lambda rng: f"jax.scipy.stats.norm.cdf(jnp.ones({shape(rng)}))",
    "jax.numpy.cov": lambda rng: f"jnp.cov(jnp.ones({shape(rng, 2)}), rowvar={rng.random() < 0.5})",
    "optax.cosine_similarity": lambda rng: (
        f"optax.cosine_similarity(*(jnp.ones({shape(rng, 3)}, jnp.bfloat16),) * 2, axis={rng.randint(-3, 2)})"
    ),
    "jax.numpy.polymul": lambda rng: f"jnp.polymul(jnp.ones({shape(rng, 1)}), jnp.ones({shape(rng, 1)}))",
}
HEAD = """
import jax, jax.numpy as jnp, jax.scipy.signal, jax.scipy.stats, numpy as np, optax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
"""


def shape(rng: random.Random, rank: int | None = None) -> tuple[int, ...]:
    return tuple(rng.choice((3, 4, 8, 9)) for _ in range(rng.randint(1, 3) if rank is None else rank))


@pytest.fixture(scope="module")
def asking() -> Iterator[Asking]:
    with Asking() as asking:
        yield asking


def checked(text: str, asking: Asking | None, **settings: Any) -> list[Finding]:
    linter = Linter(Settings(devices=8, ask_jax=True, **settings), analyzer=Analyzer(asking=asking))
    return linter.check_source(source_from_text("program.py", text))


@pytest.mark.parametrize("name", FAMILIES)
def test_an_array_has_the_shape_that_jax_gives_it(name: str, asking: Asking) -> None:
    rng = random.Random(name)
    for _ in range(3):
        call = FAMILIES[name](rng)
        text = f"{HEAD}result = {call}\nresult  # shardlint: reveal\n"
        space: dict[str, Any] = {"jax": jax, "jnp": jnp, "optax": __import__("optax")}
        real = eval(call, space)  # a text of this file
        (found,) = [f.message for f in checked(text, asking) if f.name == "revealed"]
        dims = ", ".join(map(str, real.shape))
        letters = {"float32": "f32", "bfloat16": "bf16"}[str(real.dtype)]
        assert f"{letters}[{dims}]" in found, call


MISTAKE = f"{HEAD}y = jax.scipy.signal.convolve2d(jnp.ones((16, 512)), jnp.ones((3, 3)), mode='valid')\n"
PUT = "jax.device_put({}, NamedSharding(mesh, P('x', 'y')))\n"


def test_a_mistake_is_found_with_jax_alone_and_says_so(asking: Asking) -> None:
    text = MISTAKE + PUT.format("y")
    assert not checked(text, None)
    (finding,) = checked(text, asking)
    assert finding.name == "indivisible-dimension"
    said = f"JAX {jax.__version__} was asked for the shape of jax.scipy.signal.convolve2d"
    assert said in [related.message for related in finding.related]
    (confirmed,) = asking.confirmer.confirm([finding])
    assert confirmed.confirmation is not None
    assert confirmed.confirmation.value == "confirmed"


@pytest.mark.parametrize(
    "made",
    [
        "jnp.ones((y.shape[0] * 2 + 1, 4))",
        "y.T",
        "jnp.concatenate([y, y])[1:]",
        "jax.scipy.stats.norm.cdf(y)",
        "(y @ jnp.ones((510, 3))) * 2",
        "jnp.zeros_like(y).astype('int32')",
    ],
)
def test_what_is_computed_from_an_answer_says_so(made: str, asking: Asking) -> None:
    (finding, *_) = checked(f"{MISTAKE}z = {made}\n{PUT.format('z')}", asking)
    assert any("was asked for the shape" in related.message for related in finding.related)


def test_a_finding_that_rests_on_no_answer_says_nothing(asking: Asking) -> None:
    (finding,) = checked(f"{MISTAKE}{PUT.format('jnp.ones((15, 4))')}", asking)
    assert not any("asked" in related.message for related in finding.related)


def test_types_on_explicit_axes_are_those_that_jax_tells(asking: Asking) -> None:
    text = """
import jax, jax.numpy as jnp, jax.scipy.stats
from jax.sharding import PartitionSpec as P
mesh = jax.make_mesh((2, 4), ("x", "y"))
jax.set_mesh(mesh)
y = jax.scipy.stats.norm.cdf(jax.device_put(jnp.ones((16, 512)), P(None, "y")))
y  # shardlint: reveal
"""
    (finding,) = checked(text, asking)
    assert finding.message.startswith("`y`: f32[16, 512@y]")


def test_only_what_is_known_in_full_is_asked() -> None:
    asking = Asking()
    text = f"""{HEAD}
def f(n, x, key):
    jnp.cov(x)
    jnp.cov(jnp.ones((n, 4)))
    jnp.cov(jnp.ones((4, 4)), bias=n)
    jax.scipy.signal.convolve2d(*x)
    jnp.cov(jnp.ones((4, 4)), fweights=len)
"""
    assert not checked(text, asking)
    assert not asking.met
    assert "confirmer" not in vars(asking)


def test_what_jax_refuses_is_unknown(asking: Asking) -> None:
    text = f"{HEAD}y = jax.scipy.signal.convolve2d(jnp.ones((4,)), jnp.ones((3, 3)))\n{PUT.format('y')}"
    assert not checked(text, asking)


def test_another_release_than_the_project_means_is_not_asked(asking: Asking) -> None:
    from shardlint.laws.versions import Release, only

    text = MISTAKE + PUT.format("y")
    assert not checked(text, asking, target_jax=only(Release.parse("0.5.0")))
    assert checked(text, asking, target_jax=only(Release.parse(jax.__version__)))


def test_answers_are_kept(tmp_path: Path) -> None:
    text = MISTAKE + PUT.format("y")
    store = Store(str(tmp_path))
    with Asking(store=store) as first:
        expected = checked(text, first)
    store.save()
    second = Asking(store=Store(str(tmp_path)))
    assert checked(text, second) == expected
    assert "confirmer" not in vars(second), "no worker was needed"
    assert second.counts() == first.counts() == [("jax.scipy.signal.convolve2d", 1, 1)]


LIES: list[Any] = [
    *(None, 3, "x", [], {}, ["array"], ["array", [-1], "float32", False, None], ["array", "4", "f", 0, 0]),
    *(["array", [4.5], "float32", False, None], ["array", [4], "no dtype", False, None], ["tuple"]),
    *(["array", [4], "float32", False, 7], ["tuple", ["a"]], ["dict", ["a"]], ["dict", 3, 4], ["plain", []]),
    *(["tuple", None, ["array"]], ["array", [[4]], "float32", False, None], ["other"], ["list", None]),
    *(["array", [1 << 70], "float32", False, None], ["array", [True], "float32", True, None]),
]


@pytest.mark.parametrize("lie", LIES, ids=repr)
def test_a_store_that_lies_is_data(lie: Any, tmp_path: Path, asking: Asking) -> None:
    text = MISTAKE + PUT.format("y")
    store = Store(str(tmp_path))
    first, again = Asking(store=store), Asking(store=store)
    for one in (first, again):
        # One worker answers for all.
        vars(one)["confirmer"] = asking.confirmer
    checked(text, first)
    (question,) = first.met
    store.put(first._key, json.dumps({question: lie}).encode())
    assert not [f for f in checked(text, again) if f.name == "internal-error"]


def test_several_processes_find_the_same(asking: Asking) -> None:
    from shardlint.engine.process_pool import in_processes
    from shardlint.engine.work_item import work_on
    from shardlint.inference import InferenceSettings

    checked(MISTAKE, asking)
    sources = [source_from_text(f"{n}.py", MISTAKE + PUT.format("y") * n) for n in (1, 2)]
    settings = InferenceSettings(devices=8, answers=asking.answers)
    alone = [work_on(source, settings).analyzed for source in sources]
    found = dict(in_processes(sources, settings, [[0], [1]], 2))
    for number, one in enumerate(alone):
        other = found[number].analyzed
        assert (one.uses, one.noticed.questions) == (other.uses, other.noticed.questions)
        assert one.noticed.questions


def test_without_a_jax_a_note_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "asked_versions", lambda python: ())
    asking = Asking("/no/python")
    assert not checked(MISTAKE + PUT.format("y"), asking)
    assert asking.notes_for(None) == ["ask-jax: /no/python has no JAX to ask"]

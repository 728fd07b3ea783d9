"""Random calls of shard_map, right and wrong, nested too: verdicts, shards and results beside JAX's."""

from __future__ import annotations

import inspect
import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import jax
import pytest
from probing import SCALE, evaluate
from support.jax_answers import asks_jax
from support.raised import Raised, raised, read, written

from shardlint.inference.domain.values import Array, Value
from shardlint.laws.core.values import Spec
from shardlint.laws.core.verdicts import Rejected
from shardlint.laws.transforms.shard_map import SIGNATURES, judge_signature

AXES = ("x", "y", "z")
HEADER = """\
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P, reshard
"""


@dataclass
class Program:
    """A program in the making: its lines, its random choices, and the mesh it is about.

    A ``careful`` one makes few mistakes; ``held`` is how its array is sharded.
    """

    rng: random.Random
    lines: list[str] = field(default_factory=lambda: [HEADER])
    axes: tuple[str, ...] = ()
    types: dict[str, str] = field(default_factory=dict)
    careful: bool = False
    held: str = "P()"

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def mesh(self) -> None:
        """One to three axes of two devices each, of types that differ or not."""
        self.axes = AXES[: self.rng.randint(1, 3)]
        kinds = self.rng.choice((["Auto"], ["Auto"], ["Explicit"], ["Auto", "Explicit"]))
        self.types = {axis: self.rng.choice(kinds) for axis in self.axes}
        written = ", ".join(f"AxisType.{kind}" for kind in self.types.values())
        sizes = ", ".join("2" for _ in self.axes)
        self.lines.append(f"mesh = jax.make_mesh(({sizes},), {self.axes}, axis_types=({written},))")

    def spec(self, axes: tuple[str, ...], wrong: float = 0.05) -> str:
        """A spec of up to three entries over some of these axes."""
        free = list(axes)
        self.rng.shuffle(free)
        entries = []
        for _ in range(self.rng.choice((0, 1, 1, 2, 2) if self.chance(0.95) else (3,))):
            count = self.rng.choice((0, 1, 1, 1, 2))
            taken, free = free[:count], free[count:]
            entries.append(repr(taken[0] if len(taken) == 1 else tuple(taken) or None))
        if entries and self.chance(wrong):
            entries[-1] = repr(self.rng.choice((*AXES, "w")))
        return f"P({', '.join(entries)})"

    def options(self, kept: str, around: tuple[str, ...] = ()) -> tuple[list[str], tuple[str, ...]]:
        """The options of one shard_map, and the axes it is manual over; ``around`` are Manual already."""
        free = tuple(axis for axis in self.axes if axis not in around)
        manual, options = self.axes, []
        if free and self.chance(0.5):
            manual = tuple(axis for axis in free if self.chance(0.6)) or free[:1]
            options.append(f"axis_names={{{', '.join(map(repr, manual))}}}")
        elif self.chance(0.06):
            options.append("axis_names=" + self.rng.choice(("None", "['x']", "'x'", "{'w'}", "set()")))
        if not around and (not kept or self.chance(0.4)) and self.chance(1.0 if self.careful else 0.85):
            right = self.careful or self.chance(0.95)
            options.append("mesh=" + ("mesh" if right else self.rng.choice(("3", "other", "None"))))
        if around and self.chance(0.02 if self.careful else 0.15):
            options.append("mesh=mesh")
        explicit = set(self.types.values()) == {"Explicit"} and not around
        if self.chance(1.0 if self.careful and not explicit else 0.9):
            spec = self.held if explicit and self.careful else self.spec(manual)
            options.append(f"in_specs={spec}" if self.chance(0.97) else "in_specs=None")
        if self.chance(0.98):
            options.append(f"out_specs={self.spec(manual)}")
        if self.chance(0.8 if self.careful else 0.5):
            options.append(f"check_vma={self.rng.choice(('True', 'False', 'False'))}")
        if not self.careful and self.chance(0.04):
            options.append(self.rng.choice(("auto={'x'}", "check_rep=False", "f=None")))
        return options, manual

    def step(self) -> str:
        """One step of a body, from ``a`` to ``a``."""
        axis = repr(self.rng.choice(self.axes))
        if self.careful and self.chance(0.85):
            return self.rng.choice(("a * 2", "jnp.tanh(a)", "a[None]", "(a, a)[0]", "a.reshape(-1, 2)"))
        spec = self.spec(self.axes)
        steps = (
            "a * 2", "a * 2", "jnp.tanh(a)", f"lax.psum(a, {axis})", f"lax.psum(a, {self.axes})", "a.sum(0)",
            f"lax.with_sharding_constraint(a, {spec})", f"reshard(a, {spec})",
            f"lax.with_sharding_constraint(a, NamedSharding(mesh, {spec}))",
            f"reshard(a, NamedSharding(mesh, {spec}))", f"jax.device_put(a, NamedSharding(mesh, {spec}))",
            "jnp.ones((8, 8)) + a", "a.reshape(8, 8)", "a[None]", "(a, a)[0]",
        )  # fmt: skip
        return self.rng.choice(steps)

    def mapped(self, name: str, kept: str, around: tuple[str, ...] = ()) -> None:
        """Define ``name``, which maps a body that may map another."""
        options, manual = self.options(kept, around)
        body = [f"def body_{name}(a):", f"    probe(len(seen), a); seen.append('{name}')"]
        body += [f"    a = {self.step()}" for _ in range(self.rng.randint(0, 2))]
        if not around and self.chance(0.4):
            self.mapped("inner", kept, manual)
            body.append("    a = inner(a)")
        self.lines += [*body, "    return a", f"{name} = jax.shard_map(body_{name}, {', '.join(options)})"]

    def text(self) -> str:
        """The whole program."""
        self.mesh()
        self.lines += ["other = Mesh(np.array(jax.devices()).reshape(8), ('x',))", "seen = []"]
        explicit = tuple(axis for axis in self.axes if self.types[axis] == "Explicit")
        self.careful = self.chance(0.6)
        kept = self.rng.choice(("", "", "with jax.set_mesh(mesh):"))
        kept = "with jax.set_mesh(other):" if not self.careful and self.chance(0.15) else kept
        shape = self.rng.choice(("(8, 8)", "(8, 8)", "(16, 8)", "(8,)", "(6, 8)"))
        made = f"jnp.ones({shape})"
        if explicit and self.chance(0.7):
            self.held = self.spec(explicit, 0)
            made = f"jax.device_put({made}, NamedSharding(mesh, {self.held}))"
        plain = f"np.ones({shape})"
        self.lines.append(f"x = {plain if self.chance(0.1) else made}")
        self.mapped("outer", kept)
        called = "outer(x)" if self.chance(0.98) else "outer(a=x)"
        self.lines += [kept or "if True:", f"    probe(-1, jax.eval_shape(lambda x: {called}, x))"]
        return "\n".join(self.lines)


Seen = dict[int, tuple[Any, ...]]


def described(array: Any) -> tuple[Any, ...]:
    """The shape of an array, and what its type says of sharding and variation."""
    kind = array if isinstance(array, jax.ShapeDtypeStruct) else jax.typeof(array)
    spec = getattr(getattr(kind, "sharding", None), "spec", None)
    mat = getattr(kind, "mat", None)
    return tuple(kind.shape), None if spec is None else tuple(spec), getattr(mat, "varying", frozenset())


@asks_jax("transforms", encode=written, decode=read)
def run_for_real(text: str) -> tuple[Seen, Raised | None]:
    """Run a program; return what its probes saw, and how it ended."""
    seen: Seen = {}
    try:
        exec(
            compile(text, "program.py", "exec"),
            {"probe": lambda n, value: seen.update({n: described(value)})},
        )
    except Exception as error:
        return seen, raised(error)
    return seen, None


def compare(text: str, number: int, ours: Value, real: tuple[Any, ...], known: Counter[str]) -> None:
    """Compare an array with the real one. Raises AssertionError where something definite differs."""
    known["arrays"] += 1
    if not isinstance(ours, Array) or ours.shape is None:
        return
    known["shapes"] += 1
    shape, spec, varying = real
    assert ours.shape == shape, (number, ours, real, text)
    if ours.typed is not None and spec is not None:
        known["types"] += 1
        assert trimmed(ours.typed.spec) == trimmed(Spec(spec)), (number, ours, real, text)
    if "check_vma=False" not in text:
        assert ours.varying <= varying, (number, ours, real, text)


def trimmed(spec: Spec) -> tuple[Any, ...]:
    entries = list(spec.entries)
    while entries and entries[-1] is None:
        entries.pop()
    return tuple(entries)


def test_random_calls_agree_with_jax() -> None:
    count, known = Counter[str](), Counter[str]()
    missed: Counter[str] = Counter()
    for seed in range(round(160 * SCALE)):
        text = Program(random.Random(seed)).text()
        real, error = run_for_real(text)
        found = evaluate(text)
        verdicts = [use.verdict for use in found.uses if isinstance(use.verdict, Rejected)]
        verdicts = [verdict for verdict in verdicts if verdict.stage not in ("lower", "execute")]
        if verdicts:
            assert error is not None, f"seed {seed}: rejected, but it runs: {verdicts}\n{text}"
            # A program may make several mistakes, of which JAX may meet one that we miss.
            classes = {verdict.exception for verdict in verdicts}
            count["class"] += error is not None and not classes.isdisjoint(error.classes)
        count["rejected" if error else "accepted"] += 1
        if error is not None:
            count["found"] += bool(verdicts)
            if not verdicts:
                missed[f"{seed} {error.name}: {error.message}"] += 1
        for number in real.keys() & found.probes.keys():
            compare(text, number, found.probes[number], real[number], known)
    assert count["class"] >= 0.97 * count["found"], count
    assert min(count["accepted"], count["rejected"]) > 0.25 * 160 * SCALE, count
    assert count["found"] >= 0.9 * count["rejected"], "\n".join(missed)
    assert known["shapes"] >= 0.9 * known["arrays"] and known["types"] >= 0.7 * known["arrays"], known


def test_calls_outside_jit_are_not_refused_where_they_run() -> None:
    """Bodies run step by step there, with checks of their own."""
    count = Counter[str]()
    for seed in range(10_000, 10_000 + round(30 * SCALE)):
        text = (
            Program(random.Random(seed)).text().replace("jax.eval_shape(lambda x: outer(x), x)", "outer(x)")
        )
        _, error = run_for_real(text)
        verdicts = [use.verdict for use in evaluate(text).uses if isinstance(use.verdict, Rejected)]
        assert not verdicts or error is not None, f"seed {seed}: rejected, but it runs: {verdicts}\n{text}"
        count["rejected" if error else "accepted"] += 1
        count["found"] += error is not None and bool(verdicts)
    assert count["accepted"] > 5 * SCALE and count["found"] >= 0.7 * count["rejected"], count


def _signature(function: str) -> inspect.Signature:
    module, _, name = function.rpartition(".")
    place = jax if module == "jax" else __import__(module, fromlist=[name])
    return inspect.signature(getattr(place, name))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("function", SIGNATURES)
def test_signatures(function: str) -> None:
    """Every number of positional arguments with every choice of keywords binds, or not, as JAX's does."""
    signature, rng, bound = _signature(function), random.Random(0), Counter[bool]()
    names = [*signature.parameters, "auto", "check_rep", "check_vma"]
    for _ in range(1000):
        positional, keywords = rng.choice((0, 1, 1, 2, 4, 5)), [name for name in names if rng.random() < 0.4]
        try:
            signature.bind(*range(positional), **dict.fromkeys(keywords))
            binds = True
        except TypeError:
            binds = False
        verdict = judge_signature(function, positional, dict.fromkeys(keywords))
        assert isinstance(verdict, Rejected) != binds, (function, positional, keywords)
        bound[binds] += 1
    assert bound[True] > 5, bound

"""Every public function that takes a sharding, given one: its result is as JAX types it, or not known.

What a rule does not follow must not be answered by "replicated, as the operands are".
"""

from __future__ import annotations

import inspect
import os
import random
from functools import partial
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from explicit_probes import evaluate
from typed_programs import MESHES, Tally, once, real_type, under

from shardlint.inference.domain.values import Array
from shardlint.laws.versions.era import since

PRELUDE = f"""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
{MESHES}key = jax.random.key(0)
put = lambda mesh, *spec: jax.device_put(np.ones((8, 8), np.float32), NamedSharding(mesh, P(*spec)))
"""
GIVEN = frozenset({"out_sharding", "device", "sharding"})
MODULES = (jnp, jax.lax, jax.nn, jax.random, jnp.linalg, jnp.fft, jax.Array)
#: Calls by the function, without the sharding; of two where a result of another rank matters.
CALLS: dict[str, tuple[str, ...]] = {
    "jax.numpy.arange": ("8",),
    "jax.numpy.array": ("np.ones((8, 8))", "{a}"),
    "jax.numpy.asarray": ("np.ones((8, 8))", "{a}"),
    "jax.numpy.astype": ("{a}, jnp.int32",),
    "jax.numpy.bincount": ("jnp.arange(8), length=8",),
    "jax.numpy.broadcast_to": (
        "jnp.ones((8,)), (8, 8)",
        "{a}, (4, 8, 8)",
        "np.ones((8, 1)), (8, 8)",
        "{a}, (8, 8)",
    ),
    "jax.numpy.dot": ("{a}, {b}", "{a}, jnp.ones((8,))"),
    "jax.numpy.einsum": ("'ij,jk->ik', {a}, {b}", "'ij->ji', {a}"),
    "jax.numpy.empty": ("(8, 8)",),
    "jax.numpy.empty_like": ("{a}",),
    "jax.numpy.eye": ("8",),
    "jax.numpy.full": ("(8, 8), 2.0",),
    "jax.numpy.full_like": ("{a}, 2.0",),
    "jax.numpy.linspace": ("0, 1, 8",),
    "jax.numpy.matmul": ("{a}, {b}",),
    "jax.numpy.ones": ("(8, 8)",),
    "jax.numpy.ones_like": ("{a}",),
    "jax.numpy.percentile": ("{a}, 50", "{a}, 50, axis=0"),
    "jax.numpy.ravel": ("{a}",),
    "jax.numpy.repeat": ("{a}, 2, axis=0", "{a}, 2", "{a}, jnp.arange(8), axis=0, total_repeat_length=8"),
    "jax.numpy.reshape": ("{a}, (8, 2, 4)", "{a}, (64,)"),
    "jax.numpy.tensordot": ("{a}, {b}, 1",),
    "jax.numpy.zeros": ("(8, 8)",),
    "jax.numpy.zeros_like": ("{a}",),
    "jax.lax.broadcast": ("{a}, (4,)", "jnp.ones((8,)), (8,)"),
    "jax.lax.broadcast_in_dim": ("jnp.ones((8,)), (8, 8), (1,)", "{a}, (8, 8, 4), (0, 1)"),
    "jax.lax.broadcasted_iota": ("jnp.int32, (8, 8), 0",),
    "jax.lax.conv_general_dilated": ("jnp.ones((8, 4, 8, 8)), jnp.ones((8, 4, 3, 3)), (1, 1), 'SAME'",),
    "jax.lax.dot": ("{a}, {b}",),
    "jax.lax.dot_general": ("{a}, {b}, (((1,), (0,)), ((), ()))",),
    "jax.lax.empty": ("(8, 8), jnp.float32",),
    "jax.lax.full": ("(8, 8), 2.0",),
    "jax.lax.full_like": ("{a}, 2.0",),
    "jax.lax.ragged_dot": ("{a}, jnp.ones((2, 8, 8)), jnp.array([4, 4])",),
    "jax.lax.ragged_dot_general": (
        "{a}, jnp.ones((2, 8, 8)), jnp.array([4, 4]), "
        "lax.RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), [0], [0])",
    ),
    "jax.lax.reduce": ("{a}, 0.0, lax.add, (0,)", "{a}, 0.0, lax.max, (1,)"),
    "jax.lax.reduce_sum": ("{a}, (0,)", "{a}, axes=(1,)"),
    "jax.lax.reshape": ("{a}, (64,)", "{a}, (2, 4, 8)"),
    "jax.lax.rng_bit_generator": ("jnp.zeros(4, jnp.uint32), (8, 8)",),
    "jax.random.ball": ("key, 2, shape=(8,)",),
    "jax.random.categorical": ("key, {a}", "key, {a}, shape=(8, 8)"),
    "jax.random.dirichlet": ("key, jnp.ones((8,)), (8,)",),
    "jax.random.permutation": ("key, 8", "key, {a}"),
    "jax.random.multivariate_normal": ("key, jnp.zeros(2), jnp.eye(2), (8,)",),
    "jax.random.orthogonal": ("key, 8", "key, 4, (8,)"),
    "jax.random.randint": ("key, (8, 8), 0, 8",),
    "jax.random.bernoulli": ("key, 0.5, (8, 8)", "key, shape=(8, 8)"),
    "jax.random.triangular": ("key, 0.0, 1.0, 0.5, (8, 8)",),
    "jax.random.truncated_normal": ("key, -1.0, 1.0, (8, 8)",),
    "jax.random.geometric": ("key, 0.5, (8, 8)",),
    "jax.random.f": ("key, 2.0, 3.0, (8, 8)",),
    "jax.random.beta": ("key, 2.0, 3.0, (8, 8)",),
    **{
        f"jax.random.{name}": ("key, 2.0, (8, 8)",)
        for name in (
            "chisquare",
            "gamma",
            "generalized_normal",
            "loggamma",
            "pareto",
            "poisson",
            "rayleigh",
            "t",
            "wald",
        )
    },
    **{f"jax.random.{name}": ("key, (8, 8)",) for name in ("rademacher", "maxwell", "bits")},
    **{
        f"jax.random.{name}": ("key, shape=(8, 8)",)
        for name in (
            "cauchy",
            "exponential",
            "gumbel",
            "laplace",
            "logistic",
            "lognormal",
            "normal",
            "uniform",
        )
    },
    "jax.numpy.linalg.tensordot": ("{a}, {b}, axes=1",),
    "jax.numpy.fft.fftfreq": ("8",),
    "jax.numpy.fft.rfftfreq": ("14",),
    "jax.Array.astype": ("jnp.int32",),
    "jax.Array.flatten": ("",),
    "jax.Array.ravel": ("",),
    "jax.Array.repeat": ("2, axis=1", "2"),
    "jax.Array.reshape": ("(8, 2, 4)", "64", "4, 16"),
    "jax.Array.to_device": ("",),
}
if since("0.11.0"):
    CALLS["jax.nn.one_hot"] = ("jnp.arange(8), 8", "jnp.arange(8), 8, axis=0")
if since("0.11.1"):
    CALLS["jax.lax.reduce_max"] = CALLS["jax.lax.reduce_min"] = CALLS["jax.lax.reduce_sum"]
if since("0.11.2"):
    CALLS["jax.numpy.histogram"] = ("{a}, 8", "{a}")
#: Calls of a function that are tried under each mesh; the environment may ask for more.
CASES = int(os.environ.get("SHARDLINT_SHARDING_CASES", "1"))
#: Functions that take it by position.
POSITIONAL = frozenset({"jax.Array.to_device"})
#: Functions that take no sharding of a mesh, or no array of ours.
APART = frozenset({"jax.numpy.from_dlpack"})
SHARDINGS = ("P('x')", "P('y')", "P(None, 'y')", "NamedSharding({m}, P('x'))", "None")
OPERANDS = (
    ("jnp.ones((8, 8))", "jnp.ones((8, 8))"),
    ("put({m}, 'x')", "put({m}, None, 'y')"),
    ("np.ones((8, 8))", "put({m}, 'y')"),
)


def _name(module: Any) -> str:
    return module.__name__ if isinstance(module, ModuleType) else "jax.Array"


def _takers() -> dict[str, list[str]]:
    """The public functions that take a sharding, with the names of these arguments."""
    found: dict[str, list[str]] = {}
    for module in MODULES:
        for name, value in vars(module).items():
            try:
                parameters = inspect.signature(value).parameters
            except (TypeError, ValueError):
                continue
            given = [one for one in parameters if one in GIVEN]
            if given and not name.startswith("_"):
                found[f"{_name(module)}.{name}"] = given
    return found


TAKERS = _takers()


def test_all_are_tried() -> None:
    assert set(TAKERS) - APART == set(CALLS)


def expressions(name: str, mesh: str) -> list[str]:
    """Calls of a function with a sharding of a mesh."""
    found = []
    for call in CALLS[name]:
        for a, b in OPERANDS if "{" in call or "Array" in name else OPERANDS[:1]:
            for argument in TAKERS[name]:
                for sharding in SHARDINGS:
                    method = name.startswith("jax.Array")
                    called = f"{a}.{name.rpartition('.')[2]}" if method else name
                    given = "" if name in POSITIONAL else f"{argument}="
                    arguments = [call.replace("{a}", a).replace("{b}", b), given + sharding]
                    text = f"{called}({', '.join(filter(None, arguments))})"
                    found.append(text.replace("{m}", mesh))
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("name", sorted(CALLS))
def test_results_are_typed_as_by_jax(name: str) -> None:
    scope = once(PRELUDE)
    tally = Tally()
    for context, mesh in ((None, "expl"), ("expl", "expl"), ("auto", "auto"), ("mixed", "mixed")):
        texts = [f(text) for text in expressions(name, mesh) for f in (str, "jax.jit(lambda: {})()".format)]
        for expression in random.Random(f"{name} {context}").sample(texts, min(CASES, len(texts))):
            program = f"{PRELUDE}\n{under(context)}\n    probe(0, {expression})\n"
            tally.meet(program, partial(real_type, expression, context, scope))
    assert tally.accepted + tally.rejected


@pytest.mark.parametrize("tree", ["x", "(x, {'a': x})", "[jax.device_get(x)]", "x * 2"])
def test_what_is_on_the_host_has_no_mesh(tree: str) -> None:
    program = f"""{PRELUDE}
x = put(expl, 'x', 'y')
got = jax.device_get({tree})
for leaf in jax.tree.leaves(got):
    probe(0, leaf)
"""
    seen: list[Any] = []
    exec(program, {"probe": lambda _, leaf: seen.append(leaf)})
    (value,) = evaluate(program)[0].values()
    assert all(isinstance(leaf, np.ndarray) for leaf in seen)
    assert isinstance(value, Array)
    assert (value.numpy, value.sharding, value.typed) == (True, None, None)

"""Programs with logical axes against Flax: what the evaluator claims is raised, and little else is."""

from __future__ import annotations

import random
import warnings
from collections import Counter
from collections.abc import Callable

import pytest
from flax.core import spmd
from flax_calls import SCALE, run_program
from support.jax_answers import asks_jax

from shardlint.laws.core.verdicts import Rejected

HEADER = """
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

auto = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
other = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
expl = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Explicit, AxisType.Explicit))
key = jax.random.key(0)
lecun = nn.initializers.lecun_normal()
x = jnp.ones((8, 8))
"""

_NAMES = ('"embed"', '"mlp"', '"batch"', '"heads"', "None", '"mlp"', '"embed"', '"x"')
_AXES = ('"x"', '"y"', '"x"', '"y"', "None", '("x", "y")', '"model"')


def _rules(draw: random.Random) -> str:
    if draw.random() < 0.08:
        return draw.choice(('{"embed": "x"}', '("embed", "x")', '(("embed", "x", "y"),)', "()"))
    pairs = [
        f"({name}, {draw.choice(_AXES)})"
        for name in draw.sample(_NAMES[:4], k=draw.randint(1, 4))
        for _ in range(draw.choice((1, 1, 1, 2)))
    ]
    return f"[{', '.join(pairs)}]" if draw.random() < 0.3 else f"({', '.join(pairs)},)"


def _names(draw: random.Random, rank: int) -> str:
    length = max(0, rank + draw.choice((-1, 0, 0, 0, 0, 0, 1)))
    entries = [draw.choice(_NAMES) for _ in range(length)]
    inside = ", ".join(entries)
    return f"P({inside})" if draw.random() < 0.3 else f"({inside}{',' if entries else ''})"


def _surrounded(draw: random.Random, statement: str, module: str) -> str:
    """The statement under a mesh and rules, or without one of the two."""
    mesh = draw.choice(("auto", "auto", "auto", "expl", None))
    rules = draw.choice(("with", "with", "with", "set", None))
    managers = [f"jax.set_mesh({mesh})"] if mesh else []
    before = f"nn.set_logical_axis_rules({_rules(draw)})\n" if rules == "set" else ""
    if rules == "with":
        managers.append(f"{module}.logical_axis_rules({_rules(draw)})")
        draw.shuffle(managers)
    block = f"with {', '.join(managers)}:" if managers else "if True:"
    return f"{HEADER}{before}{block}\n    {statement}\n"


def linen_program(draw: random.Random) -> str:
    """Parameters with logical names: made, or read again."""
    rank, size = draw.choice(((2, 8), (2, 8), (2, 6), (1, 8)))
    own = draw.choice(("", "", f", rules={_rules(draw)}", ", mesh=auto"))
    init = f"nn.with_logical_partitioning(lecun, {_names(draw, 2)}{own})"
    if rank == 1:
        init = f"nn.with_logical_partitioning(nn.initializers.ones, {_names(draw, 1)}{own})"
    layer = f"nn.Dense({size}, kernel_init={init})" if rank == 2 else f"nn.LayerNorm(scale_init={init})"
    use = draw.choice(
        (
            f"{layer}.init(key, x)",
            f"jax.jit({layer}.init)(key, x)",
            f"jax.eval_shape({layer}.init, key, x)",
            f"nn.logical_to_mesh_sharding(nn.get_partition_spec({layer}.init(key, x)), auto)",
        )
    )
    return _surrounded(draw, use, "nn")


def constraint_program(draw: random.Random) -> str:
    """An array constrained by names, in or outside jit; or names resolved by themselves."""
    fallback = draw.choice(("", "", ", fallback=nn.spmd.RulesFallback.RAISE_ERROR"))
    fallback = draw.choice((fallback, ", fallback=nn.spmd.RulesFallback.NO_CONSTRAINT"))
    own = draw.choice(("", "", f", rules={_rules(draw)}", ", mesh=auto"))
    names, size = _names(draw, 2), draw.choice((8, 8, 6))
    if draw.random() < 0.1:
        names = draw.choice(('["embed", "mlp"]', '("embed", ("mlp",))', "None", "()"))
    call = f"nn.with_logical_constraint(a, {names}{own}{fallback})"
    rules = _rules(draw)
    use = draw.choice(
        (
            f"jax.jit(lambda a: {call})(jnp.ones(({size}, 8)))",
            f"jax.eval_shape(lambda a: {call}, jax.ShapeDtypeStruct(({size}, 8), jnp.float32))",
            f"(lambda a: {call})(jnp.ones(({size}, 8)))",
            f"nn.logical_to_mesh_axes({names}, {rules})",
            f"nn.logical_to_mesh_sharding({{'a': P('embed', 'mlp')}}, auto, {rules})",
        )
    )
    return _surrounded(draw, use, "nn")


def nnx_program(draw: random.Random) -> str:
    """Variables with names, rules and meshes of their own."""
    size, names = draw.choice((8, 8, 8, 6)), _names(draw, 2)
    own = draw.choice(
        ("", "", "", f", sharding_rules={_rules(draw)}", ", mesh=auto", ", eager_sharding=False")
    )
    if draw.random() < 0.2:
        mesh = draw.choice(("auto", "other", "expl", "auto.abstract_mesh"))
        names, own = f'NamedSharding({mesh}, P("x"))', draw.choice(("", "", ", mesh=auto"))
    made = f"nnx.Param(jnp.ones(({size}, 8)), out_sharding={names}{own})"
    if draw.random() < 0.3 and "eager" not in own:
        own = own if "mesh" in own or "rules" in own else ""
        made = (
            f"nnx.Linear(8, {size}, kernel_init=nnx.with_partitioning(lecun, {names}{own}), rngs=nnx.Rngs(0))"
        )
    use = draw.choice((made, made, f"nnx.jit(lambda: {made})()"))
    if "NamedSharding" not in names and "Linear" in made:
        use = draw.choice((use, f"nnx.get_abstract_model(lambda: {made}, auto)"))
    if "NamedSharding" not in names:
        use = draw.choice((use, f"nnx.get_partition_spec(nnx.state({made}))" if "Linear" in made else use))
    return _surrounded(draw, use, "nnx")


def dense_program(draw: random.Random) -> str:
    """A layer applied on Explicit axes."""
    entry = ("None", '"x"', '"y"')
    kernel, inputs = ((draw.choice(entry), draw.choice(entry)) for _ in range(2))
    biased = draw.choice(("", ", use_bias=False"))
    init = f"nnx.with_partitioning(lecun, ({', '.join(kernel)}))"
    layer = f"nnx.Linear(8, 16, kernel_init={init}, rngs=nnx.Rngs(0){biased})"
    if draw.random() < 0.3:
        layer = f"(lambda a: nn.Dense(16{biased}).init_with_output(key, a)[0])"
    given = f"jax.device_put(jnp.ones((8, 8)), NamedSharding(expl, P({', '.join(inputs)})))"
    out = draw.choice(("", ", out_sharding=P('x')")) if "nnx" in layer else ""
    return f"{HEADER}with jax.set_mesh(expl):\n    ({layer})({given}{out})\n"


@asks_jax("flax")
def raised(text: str) -> str | None:
    """The exception class that the program ends with."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(text, {})
        except Exception as error:
            return type(error).__name__
        finally:
            spmd.set_logical_axis_rules(())
    return None


def claimed(text: str) -> str | None:
    """The exception class that the evaluator claims first."""
    _, uses = run_program(text)
    return next((use.verdict.exception for use in uses if isinstance(use.verdict, Rejected)), None)


MAKERS = (linen_program, constraint_program, nnx_program, dense_program)


@pytest.mark.parametrize("make", MAKERS)
def test_random_programs(make: Callable[[random.Random], str]) -> None:
    draw, seen = random.Random(make.__name__), Counter[str]()
    for _ in range(round(40 * SCALE)):
        text = make(draw)
        real, said = raised(text), claimed(text)
        assert said in (None, real), text
        seen["undecided" if said != real else "accepted" if real is None else "rejected"] += 1
    assert seen["undecided"] <= 3 * SCALE, seen
    assert min(seen["accepted"], seen["rejected"]) >= 6 * SCALE, seen

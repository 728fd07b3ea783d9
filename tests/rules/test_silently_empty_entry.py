"""Entries that shard nothing: what is written, and what is computed and meets an array."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from shardlint.inference import InferenceSettings, analyze
from shardlint.rules import RuleSettings, judge
from shardlint.source.sources import source_from_text

_HEAD = """
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
x = jnp.ones((8, 8))

def constrain(x, spec):
    if jax.sharding.get_abstract_mesh().empty:
        return x
    return jax.lax.with_sharding_constraint(x, spec)

"""
#: Programs, and how often something in them shards nothing.
_PROGRAMS: dict[str, tuple[str, int]] = {
    "a literal": ("spec = P((), None)", 1),
    "a literal number": ("spec = P(0, None)", 1),
    "a computed entry that is not used": (
        "spec = P(jax.sharding.get_abstract_mesh().axis_names, None)\nconstrain(x, spec)",
        0,
    ),
    "a computed entry under jit": (
        "@jax.jit\ndef f(x):\n    axes = tuple(a for a in mesh.axis_names if a == 'pod')\n"
        "    return constrain(x, P(axes, None))\nf(x)",
        0,
    ),
    "a name that is not used": ("axis = 0\nspec = P(axis, None)", 0),
    "a name of an entry that meets an array": (
        "axis = 0\njax.device_put(x, NamedSharding(mesh, P(axis, 'model')))",
        1,
    ),
    "a computed entry that meets an array": (
        "axes = tuple(a for a in mesh.axis_names if a == 'pod')\n"
        "jax.device_put(x, NamedSharding(mesh, P(axes, 'model')))",
        1,
    ),
    "another spec that meets an array": (
        "axis = ''\nspec = P(axis, None)\njax.device_put(x, NamedSharding(mesh, P('data', 'model')))",
        0,
    ),
}


@pytest.mark.parametrize("name", _PROGRAMS)
def test_what_shards_nothing(name: str) -> None:
    text, count = _PROGRAMS[name]
    uses = analyze([source_from_text("program.py", _HEAD + text)], InferenceSettings(devices=8))
    assert len([f for f in judge(uses, RuleSettings()) if f.code == "SHL105"]) == count


def test_jax_accepts_all_of_them(ask_jax: Callable[[Mapping[str, str]], dict[str, Any]]) -> None:
    outcomes = ask_jax({name: _HEAD + text for name, (text, _) in _PROGRAMS.items()})
    assert set(outcomes.values()) == {None}

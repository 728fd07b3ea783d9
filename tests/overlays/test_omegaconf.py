"""OmegaConf's configurations beside the library, in programs and as random trees."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from configuration_oracle import RAISES, Counts, compare, evaluated, real_probes
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from support.checking import check

from shardlint.model.findings import Severity

HEAD = """
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Optional
from omegaconf import MISSING, DictConfig, ListConfig, OmegaConf, open_dict, read_write


class Kind(Enum):
    A = 1
    B = 2


@dataclass
class Inner:
    width: int = 8
    rate: float = 1
    name: str = "x"
    kind: Kind = Kind.A
    sizes: list[int] = field(default_factory=lambda: [1, 2])
    anything: Any = 3
    perhaps: Optional[int] = None


@dataclass
class Outer(Inner):
    inner: Inner = field(default_factory=Inner)
    needed: int = MISSING
    twice: int = "${inner.width}"


c = OmegaConf.create(
    {"a": 1, "b": {"c": [1, 2, {"d": "x"}], "e": None}, "f": "${b.c}", "g": "${a}-${b.e}", 3: 4}
)
l = OmegaConf.create([1, "b", [2, 3], {"k": 5}])
y = OmegaConf.create("a: 1\\nb: [1, 2]\\nc: {d: 1e3, e: yes, f: '7', g: 2020-01-01}\\n")
s = OmegaConf.structured(Outer)
o = OmegaConf.structured(Inner(width=9))
m = OmegaConf.merge(c, {"a": 2, "b": {"e": 7, "n": [5]}}, OmegaConf.create({"b": {"c": [9]}}))
n = OmegaConf.merge(s, {"inner": {"width": 5}, "rate": 2, "needed": 4})
q = OmegaConf.create({"x": "???", "y": 2})
"""
#: What programs do with these, and to them.
USES = [
    line.partition(" ") for line in Path(__file__).with_name("omegaconf_uses.txt").read_text().splitlines()
]


def told(text: str, counts: Counts) -> None:
    """Compare what a program passes on with what shardlint knows of it."""
    try:
        real = real_probes(text)
    except (OmegaConfBaseException, TypeError, ValueError, AttributeError, KeyError):
        real = None
    known = evaluated(text)
    for name, value in known.items():
        compare(value, RAISES if real is None else real.get(name, RAISES), counts, f"{name} of {text[-200:]}")
    if real is not None:
        assert known.keys() == real.keys()


def test_an_expression_is_what_omegaconf_gives() -> None:
    counts, wrong = Counts(), []
    for word, _, expression in USES:
        if word == "use":
            try:
                told(f"{HEAD}probe('x', {expression})\n", counts)
            except AssertionError as error:
                wrong.append((expression, str(error)[:300]))
    assert not wrong
    assert counts.known > 2 * counts.unknown, counts


@pytest.mark.parametrize("line", [rest for word, _, rest in USES if word == "do"])
def test_after_a_change_nothing_else_is_claimed(line: str) -> None:
    statements = line if line.startswith(("with", "for")) else line.replace("; ", "\n")
    told(f"{HEAD}{statements}\n", Counts())


def random_tree(rng: random.Random, depth: int, keys: list[str]) -> Any:
    """Return a random tree with interpolations to the keys of its root, and to siblings."""
    kind = rng.random()
    if depth and kind < 0.45:
        return {rng.choice("abcd"): random_tree(rng, depth - 1, keys) for _ in range(rng.randint(1, 3))}
    if depth and kind < 0.6:
        return [random_tree(rng, depth - 1, keys) for _ in range(rng.randint(0, 3))]
    if kind < 0.8:
        steps = ".".join(rng.choice("abcd") for _ in range(rng.randint(1, 2)))
        dots = rng.choice(("", "", ".", ".."))
        return rng.choice(
            (f"${{{dots}{steps}}}", f"x${{{dots}{steps}}}", f"${{{dots}{steps}}}/${{{rng.choice(keys)}}}")
        )
    return rng.choice((1, 7, 2.5, True, None, "text", "???", "8", ""))


def test_random_trees_are_merged_and_resolved_as_omegaconf_does() -> None:
    rng, counts = random.Random(31), Counts()
    for _ in range(300):
        trees = [{key: random_tree(rng, 3, list("abcd")) for key in rng.sample("abcd", 3)} for _ in range(3)]
        trees = trees[: rng.randint(1, 3)]
        try:
            OmegaConf.merge(*map(OmegaConf.create, trees))
        except OmegaConfBaseException:
            continue
        told(f"from omegaconf import OmegaConf\nprobe('m', OmegaConf.merge(*{trees!r}))\n", counts)
    assert counts.known > 3 * counts.unknown, counts


def test_a_literal_configuration_is_no_default_and_a_file_is() -> None:
    program = (
        "import jax, jax.numpy as jnp, numpy as np\nfrom omegaconf import OmegaConf\n"
        "from jax.sharding import Mesh, NamedSharding, PartitionSpec as P\n"
        "mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ('data', 'model'))\n"
        "cfg = OmegaConf.merge(OmegaConf.create({'rows': 8, 'axes': ['data']}), {'rows': 7})\n"
        "jax.device_put(jnp.ones((cfg.rows, 4)), NamedSharding(mesh, P(*cfg.axes)))\n"
    )
    assert [(f.code, f.severity) for f in check(program)] == [("SHL202", Severity.ERROR)]

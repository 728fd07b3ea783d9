"""What `check` says that a line moves, beside what `compile` says of the same line."""

from __future__ import annotations

import itertools
import random
import re
from pathlib import Path

from shardlint.api import Linter, load_settings
from shardlint.cost.runs import compile_file
from shardlint.laws.core.values import AxisType, Entry, Mesh, Spec
from shardlint.laws.placement.movement import movement, resharded_bytes
from shardlint.support.sizes import size_text

HEAD = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
def on(*spec):
    return NamedSharding(mesh, P(*spec))
def array(*spec):
    return jax.ShapeDtypeStruct((64, 64, 64), jnp.float32, sharding=on(*spec))
def add(total, row):
    return total + row, None
"""
LOOPS = """
def case_scan():
    jax.jit(lambda v: jax.lax.scan(add, jnp.zeros((64, 64)), v)[0]).lower(array("y"))
def case_map():
    jax.jit(lambda v: jax.lax.map(jnp.sin, v)).lower(array(("x", "y")))
def case_scan_of_what_is_split_besides():
    jax.jit(lambda v: jax.lax.scan(add, jnp.zeros((64, 64)), v)[0]).lower(array("y", "x"))
"""
MESH = Mesh(("x", "y"), (2, 4), (AxisType.AUTO,) * 2)
WHOLE = 64**3 * 4
Layout = tuple[Entry, ...]


def layouts() -> list[Layout]:
    """Return the layouts of three dimensions over both axes."""
    found: set[Layout] = set()
    for places in itertools.product((None, 0, 1, 2), repeat=2):
        for order in ("xy", "yx"):
            entries: list[list[str]] = [[], [], []]
            for axis in order:
                if (at := places["xy".index(axis)]) is not None:
                    entries[at].append(axis)
            found.add(tuple(None if not e else e[0] if len(e) == 1 else tuple(e) for e in entries))
    return sorted(found, key=str)


def changes() -> list[tuple[Layout, Layout]]:
    """Return changes of layout that are reported, most of them with an exact figure."""
    every = [pair for pair in itertools.permutations(layouts(), 2) if is_reported(*pair)]
    known = [pair for pair in every if resharded_bytes(MESH, Spec(pair[0]), Spec(pair[1]), WHOLE) is not None]
    choose = random.Random(0)
    return choose.sample(known, 12) + choose.sample(every, 4)


def is_reported(before: Layout, after: Layout) -> bool:
    found = movement(MESH, Spec(before), Spec(after), (64, 64, 64))
    return found is not None and not found.gathered and 2 * found.moved > found.wanted


def test_both_tell_the_same_figure_for_the_same_line(tmp_path: Path) -> None:
    cases = [
        f"def case_{number}():\n    jax.jit(lambda v: jax.lax.with_sharding_constraint(v * 2, on(*{after})))"
        f".lower(array(*{before}))\n"
        for number, (before, after) in enumerate(changes())
    ]
    path = tmp_path / "moves.py"
    path.write_text(HEAD + "".join(cases) + LOOPS, encoding="utf-8")
    compiled = compile_file(str(path))
    assert compiled.failures == ()
    sent: dict[int, int] = {}
    for one in compiled.collectives:
        assert one.place is not None
        # In a loop it is told what is sent each time.
        sent[one.place.line] = sent.get(one.place.line, 0) + one.bytes
    findings = Linter(load_settings(str(path))).check_paths([str(path)]).findings
    ours = [one for one in findings if one.code in ("SHL604", "SHL605")]
    assert len(ours) == len(cases) + LOOPS.count("def case_")
    exact = 0
    for finding in ours:
        told = re.search(r"\b(?:device|each) sends (.*?)(?:;|$)", finding.message)
        if told is not None:
            assert told[1] == size_text(sent[finding.span.line]), finding.message
            exact += 1
        else:
            least = re.search(r"at least (\S+) (\S+) must move", finding.message)
            assert least is not None, finding.message
    assert exact >= 12 + LOOPS.count("def case_")

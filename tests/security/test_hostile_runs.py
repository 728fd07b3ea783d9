"""What is executed when the user asks for it: that, and nothing that lies beside it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hostile import MODULES, is_clean, payload, run

pytest.importorskip("jax")

MISTAKE = """\
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"))
x = jax.device_put(jnp.zeros((8, 10)), NamedSharding(mesh, P("data", "model")))
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with a mistake in a program that would leave a trace, and with modules that would.

    The tree's own `jax` would hide the library from the check as well, so that nothing is found.
    """
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "train.py").write_text(payload(tree) + MISTAKE)
    for name in {*MODULES, "jaxlib", "ml_dtypes", "opt_einsum", "scipy"} - {"jax"}:
        (tree / f"{name}.py").write_text(payload(tree))
    return tree


def test_confirming_runs_jax_and_nothing_of_the_tree(tree: Path) -> None:
    done = run(tree, "check", "--confirm", "--output-format", "json")
    assert "confirmed" in [found["confirmation"] for found in json.loads(done.stdout)], done.stdout
    assert is_clean(tree)


def test_confirming_looks_for_modules_nowhere_but_where_jax_is(tree: Path) -> None:
    """Not even where `PYTHONPATH` says, which a shell in the tree may have set."""
    done = run(
        tree, "check", "--confirm", "--output-format", "json", PYTHONSTARTUP="train.py", PYTHONUSERBASE="."
    )
    assert "confirmed" in [found["confirmation"] for found in json.loads(done.stdout)]
    assert is_clean(tree)


def test_a_fixture_is_run_and_its_neighbours_are_not(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "other").mkdir(parents=True)
    (tree / "fixture.py").write_text(MISTAKE.rstrip() + "  # expect: SHL202\n")
    for name in ("train.py", "conftest.py", "other/fixture.py"):
        (tree / name).write_text(payload(tree) + MISTAKE)
    done = run(tree, "run", "fixture.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert is_clean(tree)
    (tree / "fixture.py").write_text(payload(tree) + MISTAKE)
    run(tree, "run", "fixture.py")
    assert not is_clean(tree), "the trap is set"

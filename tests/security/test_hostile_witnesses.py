"""No text of a program's becomes code in the worker that confirms its findings."""

from __future__ import annotations

from pathlib import Path

import pytest
from hostile import CANARY, is_clean, run

pytest.importorskip("jax")

START = """\
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("a", "b"))
typed = jax.make_mesh((2, 4), ("a", "b"))
"""
#: Calls with a keyword, or a name, that is code where it is pasted into a call.
CALLS = {
    "make_mesh": 'jax.make_mesh((2, 4), ("a", "b"), **{"devices=CODE and None, q": 3})',
    "make_mesh by keywords": 'jax.make_mesh(**{"axis_shapes": (2, 4), "axis_names=CODE and (), q": 3})',
    "Mesh": 'Mesh(np.array(jax.devices()).reshape(2, 4), ("a", "b"), **{"axis_types=CODE and None, q": 3})',
    "NamedSharding": 'NamedSharding(mesh, **{"spec=CODE and P(), q": 3})',
    "AbstractMesh": 'AbstractMesh((2, 4), ("a", "b"), **{"axis_types=CODE and None, q": 3})',
    "shard_map": 'jax.shard_map(lambda x: x, mesh=mesh, in_specs=P(), **{"out_specs=CODE and P(), q": 3})',
    "jnp.einsum": (
        "jax.set_mesh(typed)\n"
        'x = jax.reshard(jnp.ones((8, 8)), P("a", "b"))\n'
        'jnp.einsum("ij,jk->ik", x, x, **{"out_sharding=CODE and None, q": 3})'
    ),
    "PartitionSpec": 'P("a", **{"unreduced=CODE and set(), q": 3})',
    "set_mesh": 'jax.set_mesh(**{"mesh=CODE and 3, q": 3})',
    "an axis": "jax.device_put(jnp.ones(8), NamedSharding(mesh, P('\", CODE, \"')))",
    "a spec in a spec": "jax.device_put(jnp.ones(8), NamedSharding(mesh, P(P('\", CODE, \"'))))",
    "a collective's axis": "jax.jit(lambda x: jax.lax.psum(x, '\" + CODE + \"'))(jnp.ones(8))",
    "a mesh's axis": "jax.make_mesh((2, 3), ('a', \"', CODE, '\"))",
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_keyword_or_a_name_is_never_code(call: str, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    marker = tuple(str(tmp_path / CANARY).encode())
    code = f"open(bytes({marker}).decode(), chr(119))"  # without quotes, so that it stands in any text
    (tree / "train.py").write_text(START + call.replace("CODE", code) + "\n")
    done = run(tree, "check", "--confirm", "--devices", "8", "--isolated")
    assert done.returncode == 1, done.stdout
    assert is_clean(tree), done.stdout

"""No text of a program's becomes code in the worker that confirms its findings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hostile import CANARY, run

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


#: The findings of a file, as JSON has them, and what its call would make.
Said = tuple[list[dict[str, Any]], Path]


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Said]:
    """What is said of each call, of which one process asks one worker."""
    folder = tmp_path_factory.mktemp("calls")
    tree = folder / "tree"
    tree.mkdir()
    files = {}
    for number, (name, call) in enumerate(CALLS.items()):
        file, made = f"train_{number}.py", folder / f"{CANARY}_{number}"
        marker = tuple(str(made).encode())
        code = f"open(bytes({marker}).decode(), chr(119))"  # without quotes, so that it stands in any text
        (tree / file).write_text(START + call.replace("CODE", code) + "\n")
        files[file] = (name, made)
    done = run(tree, "check", "--confirm", "--devices", "8", "--isolated", "--output-format", "json")
    assert done.returncode == 1, done.stdout
    found: dict[str, Said] = {name: ([], made) for name, made in files.values()}
    for finding in json.loads(done.stdout):
        name, _ = files[Path(finding["path"]).name]
        found[name][0].append(finding)
    return found


@pytest.mark.parametrize("name", CALLS)
def test_a_keyword_or_a_name_is_never_code(name: str, said: dict[str, Said]) -> None:
    findings, made = said[name]
    assert findings
    assert all(one["confirmation"] != "unconfirmed" for one in findings), "nobody was asked"
    assert not made.exists(), findings

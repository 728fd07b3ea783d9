"""Trees whose largest arrays lie whole: reported where JAX splits most matrices, and few of the bytes."""

from __future__ import annotations

import random

from consequences import found, of_pages, value

HEADER = """import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ('data', 'model'))
"""
RULES = (
    "P('model') if x.ndim and x.shape[0] % 4 == 0 else P()",
    "P(*[None] * (x.ndim - 1), 'model') if x.ndim and x.shape[-1] % 4 == 0 else P()",
    "P(('data', 'model')) if x.ndim and x.shape[0] % 8 == 0 else P(None)",
    "P('data') if x.size < 500 and x.ndim and x.shape[0] % 2 == 0 else P()",
)
PLACED = (
    "jax.tree.map(lambda x: jax.device_put(x, sharding_of(x)), params)",
    "jax.device_put(params, jax.tree.map(sharding_of, params))",
    "jax.jit(lambda p: p, out_shardings=jax.tree.map(sharding_of, params))(params)",
)
SIZES = (4, 6, 8, 8, 8, 16, 50, 64)


def program(rng: random.Random) -> str:
    """Return a program that places a tree by a rule on shapes."""
    shapes = [tuple(rng.choices(SIZES, k=rng.choice((1, 2, 2, 2, 3)))) for _ in range(rng.randint(3, 8))]
    leaves = ", ".join(
        f"'{name}': jnp.ones({shape})" for name, shape in zip("abcdefgh", shapes, strict=False)
    )
    rule, placed = rng.choice(RULES), rng.choice(PLACED)
    return (
        f"{HEADER}params = {{{leaves}}}\ndef sharding_of(x):\n    return NamedSharding(mesh, {rule})\n"
        f"params = {placed}\n"
    )


def test_reported_where_most_bytes_are_whole() -> None:
    rng, reported = random.Random(3), 0
    for _ in range(150):
        text = program(rng)
        leaves = value(
            text,
            "[(x.shape, x.nbytes, x.nbytes // x.addressable_shards[0].data.nbytes) for x in params.values()]",
        )
        matrices = [leaf for leaf in leaves if len(leaf[0]) > 1]
        split = [leaf for leaf in matrices if leaf[2] > 1]
        whole = [leaf for leaf in matrices if leaf[2] == 1]
        most = len(split) >= max(3, 2 * len(whole))
        heavier = sum(leaf[1] for leaf in whole) > sum(leaf[1] for leaf in split)
        if bool(found(text, "SHL624")):
            reported += 1
            assert most and heavier, text
        elif most and heavier:
            largest = max(whole, key=lambda leaf: leaf[1])
            assert all(size % 2 for size in largest[0]) or all(size % 4 for size in largest[0]), text
    assert reported > 8


def test_pages() -> None:
    whole = "[x.params['embedding'].sharding.is_fully_replicated for x in (bad, good)]"
    assert of_pages("SHL624", whole) == [True, False]


def test_data_parallel_layouts_are_meant() -> None:
    text = f"""{HEADER}
params = {{name: jnp.ones((64, 64)) for name in "abc"}}
batch = {{name: jnp.ones((8, 4)) for name in "xyz"}}
whole, split = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))
jax.device_put((params, batch), (whole, split))
jax.jit(lambda p, b: b, in_shardings=(whole, split))(params, batch)
"""
    assert not found(text, "SHL624")

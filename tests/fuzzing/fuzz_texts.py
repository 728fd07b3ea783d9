"""Texts nobody wrote: damaged programs, soups of tokens, broken notebooks and bytes."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence

#: What a soup is made of: Python's own words, and those that shardlint looks for.
_WORDS = (
    "def class return if elif else for while in is not and or lambda with as try except finally raise "
    "import from global nonlocal yield await async del pass break continue assert match case None True False "
    "self x y mesh Mesh NamedSharding PartitionSpec P jax jnp np nn nnx lax psum shard_map jit device_put "
    "make_mesh with_sharding_constraint in_specs out_specs axis_names 'data' 'model' 0 1 2 8 1e3 ... f'{x}' "
    "'''a''' ( ) [ ] { } , : ; . = == != += @ -> * ** / // % - + ~ | & ^ << >> := # \\"
).split()
_CALLS = (
    "mesh = jax.make_mesh((2, 4), ('data', 'model'))",
    "x = jax.device_put(jnp.ones((8, 6)), NamedSharding(mesh, P('data')))",
    "f = jax.shard_map(lambda x: lax.psum(x, 'data'), mesh=mesh, in_specs=P('data'), out_specs=P())",
    "y = jax.jit(f, in_shardings=NamedSharding(mesh, P(None, 'model')))(x)",
    "class M(nn.Module):\n    def __call__(self, x):\n        return nn.Dense(8)(x)",
    "for x in (x, y, f, mesh): x = x[x]",
    "x = {**x, 'x': [*x, x for x in x]}",
    "# shardlint: x: (batch, 4*d, _), mesh=(data=2), reveal",
    "y = 1  # shardlint: ignore[SHL202] because",
    "%%bash\nls",
    "!pip install x",
)
_HEAD = (
    "import jax, jax.numpy as jnp, numpy as np\nfrom jax import lax\nfrom flax import linen as nn, nnx\n"
    "from jax.sharding import Mesh, NamedSharding, PartitionSpec as P\n"
)


def damaged(text: str, chance: random.Random) -> str:
    """A copy with a few lines or tokens deleted, doubled or swapped."""
    by_lines = chance.random() < 0.5
    pieces = text.splitlines(keepends=True) if by_lines else re.split(r"(\W)", text)
    for _ in range(chance.randint(1, 6) if pieces else 0):
        i, j = chance.randrange(len(pieces)), chance.randrange(len(pieces))
        kind = chance.random()
        if kind < 0.4:
            pieces[i] = ""
        elif kind < 0.7:
            pieces[i] += pieces[j]
        else:
            pieces[i], pieces[j] = pieces[j], pieces[i]
    return "".join(pieces)


def soup(chance: random.Random) -> str:
    """Lines of words in no order, some of them whole statements."""
    lines = [_HEAD] if chance.random() < 0.8 else []
    for _ in range(chance.randint(1, 60)):
        indent = "    " * chance.randrange(3) if chance.random() < 0.4 else ""
        if chance.random() < 0.4:
            lines.append(indent + chance.choice(_CALLS))
        else:
            lines.append(indent + " ".join(chance.choices(_WORDS, k=chance.randint(1, 9))))
    return chance.choice(("\n", "\n", "\r\n", "\r")).join(lines)


def notebook(chance: random.Random, texts: Sequence[str]) -> str:
    """A notebook of damaged cells, in which some entries are not what they should be."""
    junk: tuple[object, ...] = (None, 1, "", [], {}, [1], {"source": []}, "mesh")
    cells: list[object] = []
    for _ in range(chance.randint(0, 6)):
        text = damaged(chance.choice(texts), chance) if chance.random() < 0.5 else soup(chance)
        source: object = text if chance.random() < 0.5 else text.splitlines(keepends=True)
        cell: dict[str, object] = {"cell_type": chance.choice(("code", "markdown", "raw")), "source": source}
        cell |= {"metadata": {}, "outputs": [], "execution_count": None, "id": "a"}
        if chance.random() < 0.2:
            cell[chance.choice(list(cell))] = chance.choice(junk)
        cells.append(cell if chance.random() < 0.95 else chance.choice(junk))
    whole: dict[str, object] = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    if chance.random() < 0.15:
        whole[chance.choice(list(whole))] = chance.choice(junk)
    text = json.dumps(whole, indent=chance.choice((None, 1)))
    return damaged(text, chance) if chance.random() < 0.2 else text


def raw_bytes(chance: random.Random, texts: Sequence[str]) -> bytes:
    """A text in some encoding, some bytes of it other ones."""
    text = damaged(chance.choice(texts), chance)
    encoding = chance.choice(("utf-8", "utf-8-sig", "utf-16", "latin-1", "cp1252"))
    data = bytearray(text.encode(encoding, errors="replace"))
    for _ in range(chance.randint(0, 4) if data else 0):
        data[chance.randrange(len(data))] = chance.randrange(256)
    return (b"# coding: latin-1\n" if chance.random() < 0.2 else b"") + bytes(data)


#: Each kind: the suffix of its files, and how one is made.
KINDS: dict[str, tuple[str, Callable[[random.Random, Sequence[str]], bytes]]] = {
    "damaged": (".py", lambda chance, texts: damaged(chance.choice(texts), chance).encode(errors="replace")),
    "soup": (".py", lambda chance, texts: soup(chance).encode()),
    "notebook": (".ipynb", lambda chance, texts: notebook(chance, texts).encode(errors="replace")),
    "bytes": (".py", raw_bytes),
}

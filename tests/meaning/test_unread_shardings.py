"""Shardings that a function of the program does not read: reported where its result is not laid out."""

from __future__ import annotations

import re

import pytest
from consequences import found, of_pages, run, value

HEADER = """import functools
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
rows, batch = NamedSharding(mesh, P("x")), np.ones((32, 16), np.float32)
"""
#: Programs that make ``made``, and whether a call in it is reported.
PROGRAMS: dict[str, bool] = {
    "def put(x, where):\n    return jnp.asarray(x)\nmade = put(batch, rows)": True,
    "def put(x, where):\n    return jnp.asarray(x)\nmade = put(x=batch, where=rows)": True,
    "def put(x, *, where=None):\n    return jnp.asarray(x)\nmade = put(batch, where=P('x'))": True,
    "def put(x, where):\n    return {k: jnp.asarray(v) for k, v in x.items()}\n"
    "made = put({'a': batch}, {'a': rows})['a']": True,
    "def put(x, where):\n    yield jnp.asarray(x)\n(made,) = put(batch, rows)": True,
    # An attribute and a keyword of that name are other things.
    "def put(x, where):\n    return jnp.where(x > 0, x, x)\nmade = put(batch, rows)": True,
    "def put(x, where):\n    return jax.device_put(x, where)\nmade = put(batch, rows)": False,
    "def put(x, where):\n    def inner():\n        return jax.device_put(x, where)\n    return inner()\n"
    "made = put(batch, rows)": False,
    "def put(x, where):\n    return jax.device_put(x, locals()['where'])\nmade = put(batch, rows)": False,
    "def put(x, where):\n    return eval('jax.device_put(x, where)')\nmade = put(batch, rows)": False,
    "def put(x, _where):\n    return jnp.asarray(x)\nmade = put(batch, rows)": False,
    "def put(x, where):\n    return jnp.asarray(x)\nmade = [put][0](batch, rows)": False,
    "@functools.lru_cache\ndef put(x, where):\n    return jnp.ones(x)\nmade = put(16, rows)": False,
    "def put(x, where):\n    raise NotImplementedError\n"
    "try:\n    put(batch, rows)\nexcept NotImplementedError:\n    made = jnp.asarray(batch)": False,
    "def put(x, where):\n    return jnp.asarray(x)\nmade = put(batch, None)": False,
    "def put(x, where):\n    return x\nmade = put(jnp.asarray(batch), rows)": False,
    "def put(x, **options):\n    return jax.device_put(x, *options.values())\n"
    "made = put(batch, where=rows)": False,
    "def put(x, *where):\n    return jax.device_put(x, where[0])\nmade = put(batch, rows)": False,
    "def put(x, where):\n    where = NamedSharding(mesh, P('y'))\n    return jax.device_put(x, where)\n"
    "made = put(batch, rows)": False,
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_reported_where_nothing_is_laid_out(program: str) -> None:
    text = f"{HEADER}{program}\n"
    reported = bool(found(text, "SHL617"))
    assert reported == PROGRAMS[program]
    on_one_device = value(text, "len(made.sharding.device_set) == 1")
    assert on_one_device or not reported


def test_the_page_leaves_the_batch_on_one_device() -> None:
    assert of_pages("SHL617", "len(bad.batch.sharding.device_set)") == 1
    assert of_pages("SHL617", "len(good.batch.sharding.device_set)") == 8


#: Programs in which one line in a function, a class or a module gives a layout the name ``rows_of``, and
#: whether it is reported. Without that line a program that reads it fails.
BINDINGS: dict[str, bool] = {
    "rows_of = NamedSharding(mesh, P('x'))\nprint(batch)": True,
    "rows_of = {'a': P('x'), 'b': P('y')}\nfor i in range(2):\n    print(i)": True,
    "def main():\n    rows_of = NamedSharding(mesh, P('x'))\n    return jnp.asarray(batch)\nmain()": True,
    "def main():\n    rows_of = [P('x')] * 2\n    return jnp.asarray(batch)\nmain()": True,
    "class Engine:\n    def __init__(self):\n        self.rows_of = NamedSharding(mesh, P('x'))\n"
    "if __name__ == '__main__':\n    Engine()": True,
    "rows_of = NamedSharding(mesh, P('x'))\nprint(jax.device_put(batch, rows_of))": False,
    "rows_of = NamedSharding(mesh, P('x'))\nprint(f'{rows_of}')": False,
    "rows_of = NamedSharding(mesh, P('x'))\nprint(globals()['rows_of'])": False,
    "rows_of = NamedSharding(mesh, P('x'))\ndef main():\n    return jax.device_put(batch, rows_of)\n"
    "print(main())": False,
    "def main():\n    rows_of = NamedSharding(mesh, P('x'))\n    def inner():\n"
    "        return jax.device_put(batch, rows_of)\n    return inner()\nmain()": False,
    "def main():\n    rows_of = P('x')\n    return eval('rows_of')\nmain()": False,
    "class Engine:\n    def __init__(self):\n        self.rows_of = NamedSharding(mesh, P('x'))\n"
    "if __name__ == '__main__':\n    print(Engine().rows_of)": False,
    "class Engine:\n    def __init__(self):\n        self.rows_of = NamedSharding(mesh, P('x'))\n"
    "if __name__ == '__main__':\n    print(getattr(Engine(), 'rows' + '_of'))": False,
    "class Engine:\n    def __init__(self):\n        self.rows_of = NamedSharding(mesh, P('x'))\n"
    "class Old(Engine):\n    def put(self, x):\n        return jax.device_put(x, self.rows_of)\n"
    "if __name__ == '__main__':\n    Old().put(batch)": False,
}
#: Layouts that nothing reads, and that are not reported: other code may read them, or they split nothing.
UNKNOWN = (
    "rows_of = NamedSharding(mesh, P('x'))",
    "rows_of = NamedSharding(mesh, P())\nprint(batch)",
    "_rows_of = NamedSharding(mesh, P('x'))\nprint(batch)",
    "class Engine:\n    rows_of = P('x')\nprint(Engine())",
    "rows_of = [P('x')]\nrows_of.append(rows_of)\nfor rows_of in [rows_of]:\n    rows_of = rows_of",
    "from flax import nnx\nclass Engine(nnx.Module):\n    def __init__(self):\n"
    "        self.rows_of = NamedSharding(mesh, P('x'))\nprint(Engine())",
    "@jax.tree_util.register_dataclass\nclass Engine:\n    def __init__(self):\n"
    "        self.rows_of = NamedSharding(mesh, P('x'))\nprint(vars(Engine()))",
)


def runs_without(program: str) -> bool:
    """Return whether a program runs without the line that binds the name."""
    lines = [re.sub(r"(self\.)?rows_of = .*", "pass", line) for line in program.splitlines()]
    try:
        run(HEADER + "\n".join(lines))
    except (NameError, AttributeError, KeyError):
        return False
    return True


@pytest.mark.parametrize("program", BINDINGS)
def test_variables_that_nothing_reads(program: str) -> None:
    run(HEADER + program)
    assert bool(found(f"{HEADER}{program}\n", "SHL617")) == BINDINGS[program] == runs_without(program)


@pytest.mark.parametrize("program", UNKNOWN)
def test_variables_that_others_may_read(program: str) -> None:
    assert not found(f"{HEADER}{program}\n", "SHL617")

# ruff: noqa: E501
"""Small programs that meet JAX as users write them: what is found, and what JAX 0.10.2 does.

`ERRORS` raise in JAX and are errors here, `SILENT` run in JAX and nothing is said. Codes of the findings
expected stand with each; eight devices.
"""

SETUP = """\
import os
import functools
from functools import partial
import numpy as np
import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
def put(x, *names):
    return jax.device_put(x, NamedSharding(mesh, P(*names)))
"""

#: (name, program after SETUP, codes)
ERRORS: list[tuple[str, str, set[str]]] = [
    ("unknown axis", "put(jnp.zeros((8, 8)), 'modle')", {"SHL103"}),
    ("too long", "put(jnp.zeros(8), None, 'model')", {"SHL201"}),
    ("indivisible", "put(jnp.zeros((6, 6)), None, 'model')", {"SHL202"}),
    ("jax.P", "jax.device_put(jnp.zeros((6, 6)), NamedSharding(mesh, jax.P(None, 'model')))", {"SHL202"}),
    ("module alias", "import jax.sharding as shd\njax.device_put(jnp.zeros(6), shd.NamedSharding(mesh, shd.PartitionSpec('model')))", {"SHL202"}),
    ("import inside", "def f():\n    from jax.sharding import PartitionSpec\n    return put(jnp.zeros(6), *PartitionSpec('model'))\nf()", {"SHL202"}),
    ("device count", "n = len(jax.devices()) // 2\nm2 = Mesh(np.array(jax.devices()).reshape(n, 2), ('x', 'y'))\njax.device_put(jnp.zeros(6), NamedSharding(m2, P('x')))", {"SHL202"}),
    ("jax.device_count", "m2 = jax.make_mesh((jax.device_count(),), ('x',))\njax.device_put(jnp.zeros(12), NamedSharding(m2, P('x')))", {"SHL202"}),
    ("jit in_shardings", "s = NamedSharding(mesh, P('model'))\nf = jax.jit(lambda x: x * 2, in_shardings=s)\nf(jnp.zeros(6))", {"SHL202"}),
    ("decorator", "@partial(jax.jit, in_shardings=NamedSharding(mesh, P('model')))\ndef f(x):\n    return x\nf(jnp.zeros(6))", {"SHL202"}),
    ("partial shard_map", "@partial(jax.shard_map, mesh=mesh, in_specs=P('model'), out_specs=P('model'))\ndef f(x):\n    return x\nf(jnp.zeros(6))", {"SHL202"}),
    ("caller's value", "def make(n):\n    return put(jnp.zeros((n, 8)), 'model')\nmake(8)\nmake(6)", {"SHL202"}),
    ("closure", "def outer(n):\n    def inner():\n        return put(jnp.zeros(n), 'model')\n    return inner\nouter(6)()", {"SHL202"}),
    ("method", "class A:\n    n = 8\n    def __init__(self, n):\n        self.n = n\n    def go(self):\n        return put(jnp.zeros(self.n), 'model')\nA(6).go()", {"SHL202"}),
    ("loop", "for n in (8, 12, 6):\n    put(jnp.zeros(n), 'model')", {"SHL202"}),
    ("alias of a list", "names = []\nother = names\nother.append('model')\nput(jnp.zeros(6), *names)", {"SHL202"}),
    ("after a guard", "x = jnp.zeros((6, 6))\nif x.ndim == 2:\n    put(x, 'model')", {"SHL202"}),
    ("other exception caught", "try:\n    put(jnp.zeros(6), 'model')\nexcept KeyError:\n    pass", {"SHL202"}),
    ("in both branches", "n = 6 if len(os.sep) == 1 else 10\nput(jnp.zeros(n), 'model')", {"SHL202"}),
    ("with mesh", "with mesh:\n    jax.jit(lambda x: jax.lax.with_sharding_constraint(x, P('modle')))(jnp.zeros((8, 8)))", {"SHL103"}),
    ("set_mesh", "with jax.set_mesh(mesh):\n    jax.jit(lambda x: jax.lax.with_sharding_constraint(x, P('modle')))(jnp.zeros((8, 8)))", {"SHL103"}),
    ("set_mesh for good", "jax.set_mesh(mesh)\njax.jit(lambda x: jax.lax.with_sharding_constraint(x, P('modle')))(jnp.zeros((8, 8)))", {"SHL103"}),
    ("super", "class A:\n    def size(self):\n        return 8\nclass B(A):\n    def size(self):\n        return super().size() - 2\nput(jnp.zeros(B().size()), 'model')", {"SHL202"}),
    ("a logger only reads", "import logging\nlogger = logging.getLogger(__name__)\nsizes = {'n': 6}\nlogger.info('%s', sizes)\nput(jnp.zeros(sizes['n']), 'model')", {"SHL202"}),
    ("a checkpointer only reads", "import tempfile\nimport orbax.checkpoint as ocp\nstate = {'x': jnp.zeros(6)}\nwith ocp.StandardCheckpointer() as saver:\n    saver.save(tempfile.mkdtemp() + '/state', state)\nput(state['x'], 'model')", {"SHL202"}),
    ("a class that enters a mesh, unknown axis", "class Entered:\n    def __enter__(self):\n        mesh.__enter__()\n    def __exit__(self, *_):\n        mesh.__exit__(None, None, None)\nwith Entered():\n    jax.jit(lambda x: jax.lax.with_sharding_constraint(x, P('modle')))(jnp.zeros((8, 8)))", {"SHL103"}),
    ("a class that sets a mesh, unknown axis", "class Entered:\n    def __enter__(self):\n        self.set = jax.set_mesh(mesh)\n        self.set.__enter__()\n    def __exit__(self, *_):\n        self.set.__exit__(None, None, None)\nwith Entered():\n    jax.jit(lambda x: jax.lax.with_sharding_constraint(x, P('modle')))(jnp.zeros((8, 8)))", {"SHL103"}),
    ("a class with a stack, unknown axis", "class Entered:\n    def __enter__(self):\n        import contextlib\n        self.stack = contextlib.ExitStack()\n        self.stack.enter_context(jax.set_mesh(mesh))\n    def __exit__(self, *_):\n        self.stack.close()\nwith Entered():\n    jax.jit(lambda x: jax.lax.with_sharding_constraint(x, P('modle')))(jnp.zeros((8, 8)))", {"SHL103"}),
    ("a mesh entered by hand", "mesh.__enter__()\ntry:\n    jax.jit(lambda x: jax.lax.with_sharding_constraint(x, P('modle')))(jnp.zeros((8, 8)))\nfinally:\n    mesh.__exit__(None, None, None)", {"SHL103"}),
]  # fmt: skip

SILENT: list[tuple[str, str]] = [
    ("a class that enters a mesh", "class Entered:\n    def __enter__(self):\n        mesh.__enter__()\n    def __exit__(self, *_):\n        mesh.__exit__(None, None, None)\nwith Entered():\n    jax.jit(lambda x: jax.lax.with_sharding_constraint(x, P('model')))(jnp.zeros((8, 8)))"),
    ("a class that sets a mesh", "class Entered:\n    def __enter__(self):\n        self.set = jax.set_mesh(mesh)\n        self.set.__enter__()\n    def __exit__(self, *_):\n        self.set.__exit__(None, None, None)\nwith Entered():\n    jax.jit(lambda x: jax.lax.with_sharding_constraint(x, P('model')))(jnp.zeros((8, 8)))"),
    ("a class with a stack", "class Entered:\n    def __enter__(self):\n        import contextlib\n        self.stack = contextlib.ExitStack()\n        self.stack.enter_context(jax.set_mesh(mesh))\n    def __exit__(self, *_):\n        self.stack.close()\nwith Entered():\n    jax.jit(lambda x: jax.lax.with_sharding_constraint(x, P('model')))(jnp.zeros((8, 8)))"),
    ("a mesh entered by hand on one branch", "def enter(): mesh.__enter__()\nif jax.device_count() > len('123'): enter()\njax.jit(lambda x: jax.lax.with_sharding_constraint(x, P('model')))(jnp.zeros((8, 8)))\nmesh.__exit__(None, None, None)"),
    ("shadowed P", "P = jnp.zeros\nx = P(6)"),
    ("own shard_map", "def shard_map(f, specs):\n    return f\nshard_map(lambda x: x, P('nothing'))(jnp.zeros(6))"),
    ("caught", "try:\n    put(jnp.zeros(6), 'model')\nexcept ValueError:\n    pass"),
    ("caught outside", "def f():\n    put(jnp.zeros(6), 'model')\ntry:\n    f()\nexcept Exception:\n    pass"),
    ("guarded", "n = 6\nif n % 4 == 0:\n    put(jnp.zeros(n), 'model')"),
    ("guarded size", "def f(x):\n    if x.shape[0] % 4 == 0:\n        return put(x, 'model')\n    return x\nf(jnp.zeros(6))"),
    ("guarded rank", "def f(x):\n    return put(x, None, 'model') if x.ndim == 2 else x\nf(jnp.zeros(6))\nf(jnp.zeros((4, 8)))"),
    ("never called", "def f(n):\n    return put(jnp.zeros(n), 'model')\nf(8)"),
    ("rebound before the call", "def f():\n    return put(jnp.zeros(n), 'model')\nn = 6\nn = 8\nf()"),
    ("set by another function", "n = 6\ndef grow():\n    global n\n    n = 8\ngrow()\nput(jnp.zeros(n), 'model')"),
    ("set in the object", "class A:\n    n = 6\na = A()\na.n = 8\nput(jnp.zeros(a.n), 'model')"),
    ("set in the class", "class A:\n    n = 6\nA.n = 8\nput(jnp.zeros(A().n), 'model')"),
    ("diamond", "class A:\n    n = 6\nclass B(A):\n    pass\nclass C(A):\n    n = 8\nclass D(B, C):\n    pass\nput(jnp.zeros(D.n), 'model')"),
    ("late binding", "fs = [lambda: put(jnp.zeros(i), 'model') for i in (6, 8)]\nfs[0]()"),
    ("returned early", "def f(n):\n    if n % 4:\n        return None\n    return put(jnp.zeros(n), 'model')\nf(6)\nf(8)"),
    ("raised first", "import contextlib\nn = 6\nwith contextlib.suppress(KeyError):\n    n = 8\n    {}['x']\n    n = 6\nput(jnp.zeros(n), 'model')"),
    ("finally", "n = 6\nfor i in range(3):\n    try:\n        break\n    finally:\n        n = 8\nput(jnp.zeros(n), 'model')"),
    ("set in place", "shape = [6]\nalias = shape\nalias += [8]\nput(jnp.zeros(shape), None, 'model')"),
    ("class attribute replaced", "class A:\n    n = 6\n    def go(self):\n        return put(jnp.zeros(self.n), 'model')\nclass B(A):\n    n = 8\nB().go()"),
    ("post init", "import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass A:\n    n: int\n    def __post_init__(self):\n        object.__setattr__(self, 'n', 8)\nput(jnp.zeros(A(6).n), 'model')"),
    ("property setter", "class A:\n    @property\n    def n(self):\n        return self.k * 2\n    @n.setter\n    def n(self, value):\n        self.k = value\na = A()\na.n = 2\na.n = 4\nput(jnp.zeros(a.n), 'model')"),
    ("shorter spec", "put(jnp.zeros((4, 6)), 'model')"),
]  # fmt: skip

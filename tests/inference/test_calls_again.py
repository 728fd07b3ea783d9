# ruff: noqa: E501
"""Results of calls that are given again: nothing is found otherwise than by evaluating every call."""

from __future__ import annotations

from pathlib import Path

import pytest
from programs import PROGRAMS, SETUP

from shardlint.api import Analysis, Linter, source_from_text
from shardlint.config import Settings
from shardlint.inference.domain.values import Function, Instance, Value
from shardlint.inference.interpreter.interpreter import Interpreter
from shardlint.inference.summaries import call_cache
from shardlint.inference.summaries.summary import CallSummary
from shardlint.model.findings import Finding
from shardlint.model.spans import Place
from shardlint.source import Source, read_source

FIXTURES = sorted((Path(__file__).parents[2] / "fixtures").glob("*.*"))

#: Functions that are called again: the sizes that reach `put` in the end, where they do not divide.
AGAIN = {
    "equal arguments": "def f(n):\n    return jnp.zeros(n)\nf(6)\nput(f(6), 'model')",
    "other arguments": "def f(n):\n    return jnp.zeros(n)\nf(8)\nput(f(6), 'model')",
    "a list made anew": "def f():\n    return [8]\na = f()\na[0] = 6\nb = f()\nput(jnp.zeros(b[0]), 'model')\nput(jnp.zeros(a[0]), 'model')",
    "a list inside a dict": "def f(x):\n    return {'x': x, 'sizes': [8]}\na = f(1)\na['sizes'].append(6)\nb = f(1)\nput(jnp.zeros(b['sizes'][-1]), 'model')",
    "an argument changed": "def f(sizes):\n    return sizes[0]\nsizes = [8]\nf(sizes)\nsizes[0] = 6\nput(jnp.zeros(f(sizes)), 'model')",
    "an argument that it changes": "def f(sizes):\n    sizes.append(6)\n    return 0\nsizes = [8]\nf(sizes)\nf(sizes)\nput(jnp.zeros(sizes[2]), 'model')",
    "an argument given back": "def f(sizes):\n    return sizes\na, b = [8], [8]\nf(a)\nf(b).append(6)\nput(jnp.zeros(b[-1]), 'model')\nput(jnp.zeros(a[-1]), 'model')",
    "a variable changed": "n = 8\ndef f():\n    return n\nf()\nn = 6\nput(jnp.zeros(f()), 'model')",
    "a variable it changes": "n = 5\ndef f():\n    global n\n    n += 1\n    return n\nf()\nput(jnp.zeros(f()), 'model')\nput(jnp.zeros(n), 'model')",
    "a variable below": "n = 8\ndef g():\n    return n\ndef f():\n    return g()\nf()\nn = 6\nput(jnp.zeros(f()), 'model')",
    "a name that hides one": "def g():\n    return 8\ndef f():\n    return g()\nf()\ndef g():\n    return 6\nput(jnp.zeros(f()), 'model')",
    "a class changed": "class A:\n    n = 8\ndef f():\n    return A.n\nf()\nA.n = 6\nput(jnp.zeros(f()), 'model')",
    "a class that is made later": "def f(k=None):\n    return 6 if k is None else k.n\nf()\nclass A:\n    n = 8\nf(A)\nclass B(A):\n    pass\nf(B)\nB.n = 6\nput(jnp.zeros(f(B)), 'model')\nput(jnp.zeros(f(A)), 'data')\nput(jnp.zeros(f()), 'model', 'data')",
    "a base changed": "class A:\n    n = 8\nclass B(A):\n    pass\ndef f():\n    return B.n\nf()\nA.n = 6\nput(jnp.zeros(f()), 'model')",
    "classes changed in turn": "class A:\n    n = 8\ndef f():\n    return A.n\nf()\nclass B:\n    n = 8\ndef g():\n    return B.n\ng()\nA.n = 6\nf()\nB.n = 6\nput(jnp.zeros(g()), 'model')\nput(jnp.zeros(f()), 'data')",
    "tests of a class": "from absl.testing import absltest\ndef made(owner):\n    return owner.n\nclass T(absltest.TestCase):\n    @classmethod\n    def setUpClass(cls):\n        cls.n = 8\n        made(cls)\n        cls.n = 6\n    def setUp(self):\n        self.m = made(self)\n    def test_one(self):\n        put(jnp.zeros(made(type(self))), 'model')\n        type(self).n = 8\n        put(jnp.zeros(made(self)), 'model')\n    def test_two(self):\n        put(jnp.zeros(self.m), 'data')\n        put(jnp.zeros(made(self)), 'model')\nif __name__ == '__main__':\n    absltest.main()",
    "keys that are taken": "from flax import nnx\nclass M(nnx.Module):\n    def __init__(self, n, rngs):\n        self.a = nnx.Linear(n, 6, rngs=rngs)\n        self.n = rngs.params.count.value.shape\nr = nnx.Rngs(0)\na, b, c = [M(8, r) for _ in range(3)]\na.a.kernel = nnx.Param(jnp.zeros((8, 8)))\nput(a.a(jnp.zeros((8, 8))), None, 'model')\nput(b.a(jnp.zeros((8, 8))), None, 'model')",
    "a list of a class": "class A:\n    sizes = [8]\ndef f():\n    return A.sizes[-1]\nf()\nA.sizes.append(6)\nput(jnp.zeros(f()), 'model')",
    "an object changed": "class A:\n    def __init__(self):\n        self.n = 8\n    def size(self):\n        return self.n\na = A()\na.size()\na.n = 6\nput(jnp.zeros(a.size()), 'model')",
    "a default": "def f(n, seen=[]):\n    seen.append(n)\n    return seen[0]\nf(6)\nput(jnp.zeros(f(8)), 'model')",
    "two closures": "def outer(n):\n    def inner():\n        return n\n    return inner\na, b = outer(8), outer(6)\na()\nput(jnp.zeros(b()), 'model')",
    "siblings": "def outer(n):\n    def size():\n        return n\n    def inner():\n        return size()\n    return inner()\nouter(8)\nput(jnp.zeros(outer(6)), 'model')",
    "siblings two scopes out": "def outer(n):\n    def size():\n        return n\n    def middle():\n        def inner():\n            return size()\n        return inner()\n    return middle()\nouter(8)\nput(jnp.zeros(outer(6)), 'model')",
    "a variable two scopes out": "def outer(n):\n    def middle():\n        def inner():\n            return n\n        return inner()\n    return middle()\nouter(8)\nput(jnp.zeros(outer(6)), 'model')",
    "a sibling given back": "def outer(n):\n    def size():\n        return n\n    def pick():\n        return size\n    return pick()\na, b = outer(8), outer(6)\nput(jnp.zeros(b()), 'model')\nput(jnp.zeros(a()), 'model')",
    "a sibling handed on": "def outer(n):\n    def size():\n        return n\n    def call(f):\n        return f()\n    return call(size)\nouter(8)\nput(jnp.zeros(outer(6)), 'model')",
    "a sibling in a list": "def outer(n):\n    def size():\n        return n\n    def pick():\n        return [size]\n    return pick()\na, b = outer(8), outer(6)\nput(jnp.zeros(b[0]()), 'model')",
    "a closure that nobody calls": "def outer(n):\n    def make():\n        def entry():\n            put(jnp.zeros(n), 'model')\n        return 0\n    make()\nouter(6)\nouter(8)",
    "a wrapper that nobody calls": "def outer(n):\n    def size():\n        return n\n    def make():\n        jax.jit(lambda: put(jnp.zeros(size()), 'model'))\n        return 0\n    make()\nouter(8)\nouter(6)",
    "sizes of shards": "def outer(n):\n    def body(x):\n        return jnp.zeros((x.shape[0] + n, 4))\n    return jax.shard_map(body, mesh=mesh, in_specs=P('data'), out_specs=P('data'))(jnp.zeros((8, 4)))\nouter(4)\nput(outer(3), 'model')",
    "too many steps": "def step(rows, n):\n    rows.append(n)\n    return n + 1\ndef long(n):\n    rows = []\n    put(jnp.zeros(6), 'model')\n    for i in range(64):\n        for j in range(64):\n            for k in range(64):\n                n = step(rows, n)\n    return n\nlong(0)\nput(jnp.zeros(long(0)), 'model')\nput(jnp.zeros(6), None, 'data')",
    "sizes that equal no other": "def f(path):\n    return np.load(path).reshape(-1, 4)\na, b = f('a'), f('b')\nput(a + b, 'model')\nput(jnp.concatenate([a, jnp.zeros((6, 4))]), None, 'data')",
    "one of several": "import random\ndef f():\n    return 8 if random.random() < 0.5 else 6\na, b = f(), f()\nput(jnp.zeros(a), 'model')\nif a == 8:\n    put(jnp.zeros(b), 'model')",
    "silent first": "import sys\ndef f(x):\n    return put(x, 'model')\nwhile len(sys.argv) > 1:\n    f(jnp.zeros(6))\nf(jnp.zeros(6))",
    "under a mesh": "def f(x):\n    return jax.lax.with_sharding_constraint(x, P('modle'))\nx = jnp.zeros((8, 8))\nwith mesh:\n    jax.jit(f)(x)\njax.jit(f)(x)",
    "a mesh set": "def f():\n    jax.set_mesh(mesh)\ndef g(x):\n    return jax.jit(lambda y: jax.lax.with_sharding_constraint(y, P('modle')))(x)\nf()\nf()\ng(jnp.zeros((8, 8)))",
    "caught once": "def f():\n    return put(jnp.zeros(6), 'model')\ntry:\n    f()\nexcept ValueError:\n    pass\nf()",
    "recursion": "def f(n):\n    return 6 if n == 0 else f(n - 1)\nf(1)\nput(jnp.zeros(f(1)), 'model')\nput(jnp.zeros(f(2)), 'model')",
    "two callers": "def f(x):\n    return put(x, 'model')\ndef g():\n    f(jnp.zeros(6))\ndef h():\n    f(jnp.zeros(6))\ng()\nh()",
    "a generator": "def f():\n    yield 6\nfor n in f():\n    put(jnp.zeros(n), 'model')\nfor n in f():\n    put(jnp.zeros(n), 'model')",
    "objects made alike": "class A:\n    def __init__(self, n):\n        self.sizes = [n]\na, b = [A(8) for _ in range(2)]\na.sizes[0] = 6\nput(jnp.zeros(b.sizes[0]), 'model')\nput(jnp.zeros(a.sizes[0]), 'model')",
    "objects that hold themselves": "class A:\n    def __init__(self):\n        self.n, self.all = 8, [self]\na, b = [A() for _ in range(2)]\na.all[0].n = 6\nput(jnp.zeros(b.all[0].n), 'model')\nput(jnp.zeros(a.n), 'model')",
    "objects that are noted": "seen = []\nclass A:\n    def __init__(self):\n        seen.append(self)\n        self.n = 8 - len(seen)\na, b = [A() for _ in range(2)]\nput(jnp.zeros(b.n), 'model')\nput(jnp.zeros(len(seen)), 'data')\nput(jnp.zeros(seen[1].n), 'model')",
    "objects that are handed on": "class B:\n    def __init__(self, owner):\n        self.owner = owner\n        owner.parts.append(self)\nclass A:\n    def __init__(self):\n        self.parts = []\n        self.first = B(self)\n        self.n = 6\na, b = [A() for _ in range(2)]\nb.first.owner.n = 8\nput(jnp.zeros(a.first.owner.n), 'model')\nput(jnp.zeros(b.parts[0].owner.n), 'model')\nput(jnp.zeros(len(a.parts)), 'data')",
    "objects with an argument": "class A:\n    def __init__(self, sizes):\n        self.sizes = sizes\nsizes = [8]\na, b = [A(sizes) for _ in range(2)]\na.sizes[0] = 6\nput(jnp.zeros(b.sizes[0]), 'model')",
    "objects with keywords": "class A:\n    def __init__(self, *args, **sizes):\n        self.sizes = sizes\na, b = [A(1, n=8) for _ in range(2)]\na.sizes['n'] = 6\nput(jnp.zeros(b.sizes['n']), 'model')\nput(jnp.zeros(a.sizes['n']), 'model')",
    "objects with a closure": "class A:\n    def __init__(self):\n        self.n = 8\n        self.size = lambda: self.n\na, b = [A() for _ in range(2)]\na.n = 6\nput(jnp.zeros(b.size()), 'model')\nput(jnp.zeros(a.size()), 'model')",
    "objects with bases": "class B:\n    def __init__(self, n):\n        self.n = n\nclass A(B):\n    def __init__(self, n):\n        super().__init__(n)\n        self.m = self.n - 2\nlast = [A(n) for n in (8, 8, 6)][-1]\nput(jnp.zeros(last.n), 'model')\nput(jnp.zeros(last.m), 'data')",
    "objects in objects": "class B:\n    def __init__(self, n):\n        self.sizes = [n]\nclass A:\n    def __init__(self):\n        self.one, self.two = [B(n) for n in (8, 8)]\na, b = [A() for _ in range(2)]\na.two.sizes[0] = 6\nput(jnp.zeros(a.one.sizes[0]), 'model')\nput(jnp.zeros(b.two.sizes[0]), 'model')\nput(jnp.zeros(a.two.sizes[0]), 'model')",
    "objects that may be several": "import random\nclass A:\n    def __init__(self):\n        self.n = 8\n        if random.random() < 0.5:\n            self.n = 6\na, b = [A() for _ in range(2)]\nput(jnp.zeros(a.n), 'model')\nif a.n == 8:\n    put(jnp.zeros(b.n), 'model')",
    "objects that use": "class A:\n    def __init__(self, n):\n        self.x = put(jnp.zeros(n), 'model')\na, b = [A(6) for _ in range(2)]\nput(b.x, None, 'data')",
    "dataclasses": "import dataclasses\n@dataclasses.dataclass\nclass A:\n    n: int\n    sizes: list = dataclasses.field(default_factory=list)\n    def __post_init__(self):\n        self.sizes.append(self.n)\na, b = [A(8) for _ in range(2)]\na.sizes[0] = 6\nput(jnp.zeros(b.sizes[0]), 'model')\nput(jnp.zeros(a.sizes[0]), 'model')",
    "a constructor called again": "class A:\n    def __init__(self, n=8):\n        self.n = n\na, b = [A() for _ in range(2)]\na.__init__(6)\nput(jnp.zeros(b.n), 'model')\nput(jnp.zeros(a.n), 'model')",
    "a decorated constructor": "def noting(init):\n    def inner(self):\n        self.n = 8\n        init(self)\n        seen.append(self)\n    return inner\nseen = []\nclass A:\n    @noting\n    def __init__(self):\n        self.m = self.n - 2\na, b = [A() for _ in range(2)]\nput(jnp.zeros(b.m), 'model')\nput(jnp.zeros(seen[1].n), 'model')\nput(jnp.zeros(len(seen)), 'data')",
    "patterns that called code tries": "import re\npattern = re.compile('a')\ndef f(n):\n    pattern.match('b')\n    return n\ndef g(n):\n    return f(n)\ndef h(n):\n    return n\nimport random\n(g if random.random() else h)(1)\ndef entry(x, y):\n    (g if x else h if y else f)(1)\n    put(jnp.zeros(8), 'model')",
    "closures that count": "def make():\n    n = 10\n    def less():\n        nonlocal n\n        n -= 2\n        return n\n    return less\na, b, c = [make() for _ in range(3)]\na()\na()\nput(jnp.zeros(b()), 'model')\nput(jnp.zeros(a()), 'model')\nput(jnp.zeros(c()), 'data')",
    "closures of one scope": "def make():\n    n = 8\n    def get():\n        return n\n    def put_in(m):\n        nonlocal n\n        n = m\n    return get, put_in\n(get, change), (get2, change2) = make(), make()\nchange(6)\nput(jnp.zeros(get2()), 'model')\nput(jnp.zeros(get()), 'model')\nchange2(5)\nput(jnp.zeros(get2()), None)\nput(jnp.zeros(get2()), 'data')",
    "closures that call themselves": "def make(n):\n    def down(k):\n        return n if k == 0 else down(k - 1)\n    return down\na, b = make(8), make(8)\nput(jnp.zeros(b(1)), 'model')\nmake(6)\nput(jnp.zeros(make(6)(1)), 'model')",
    "closures in lists": "def make(n):\n    sizes = [n]\n    return {'get': lambda: sizes[0], 'all': [lambda m: sizes.append(m), sizes]}\na, b = make(8), make(8)\na['all'][1][0] = 6\nput(jnp.zeros(b['get']()), 'model')\nput(jnp.zeros(a['get']()), 'model')\nb['all'][0](6)\nput(jnp.zeros(b['all'][1][1]), 'data')\nput(jnp.zeros(len(a['all'][1])), 'data')",
    "closures of what is one of several": "import random\ndef make():\n    flag = random.random() < 0.5\n    n = 8 if flag else 6\n    def size():\n        return n if flag else 8\n    def other():\n        return 6 if flag else n\n    return size, other\na, b = make(), make()\nput(jnp.zeros(a[0]()), 'model')\nput(jnp.zeros(b[0]()), 'model')\nput(jnp.zeros(b[1]()), 'model')",
    "closures that decide alike": "import random\ndef make():\n    flag = random.random()\n    if flag > 0.5:\n        print('half')\n    def one():\n        return 8 if flag > 0.5 else 6\n    def other():\n        return 6 if flag > 0.5 else 8\n    return one, other\na, b = make(), make()\nput(jnp.zeros(b[0]() + b[1]() + 2), 'model')\nput(jnp.zeros(a[0]() + b[1]() + 2), 'model')\nput(jnp.zeros(a[0]() + a[1]()), 'model')",
    "closures that decide as objects do": "import random\nclass A:\n    def __init__(self):\n        self.flag = random.random()\n    def make(self):\n        n = 8 if self.flag > 0.5 else 6\n        def size():\n            return n if self.flag > 0.5 else n + 2\n        return size\na, b = A(), A()\nput(jnp.zeros(a.make()()), 'model')\nput(jnp.zeros(b.make()()), 'model')\nput(jnp.zeros(a.make()()), 'model')",
    "closures with an argument": "class A:\n    def __init__(self, n):\n        self.n = n\ndef make(a):\n    def size():\n        return a.n\n    return size\nx, y, z = A(8), A(8), A(8)\nf, g = make(x), make(y)\nx.n = 6\nput(jnp.zeros(g()), 'model')\nput(jnp.zeros(f()), 'model')\nput(jnp.zeros(make(z)()), 'model')",
    "closures of objects at which nobody looked": "class A:\n    def __init__(self, n):\n        self.n = n\n    def make(self, m):\n        def size():\n            return self.n + m\n        return size\na, b = A(8), A(6)\nf, g = a.make(0), b.make(0)\nput(jnp.zeros(f()), 'model')\nput(jnp.zeros(g()), 'model')",
    "closures with defaults": "def make(n):\n    def size(seen=[n]):\n        seen.append(seen[-1] - 1)\n        return seen[-1]\n    return size\na, b = make(9), make(9)\na()\nput(jnp.zeros(b()), 'model')\nput(jnp.zeros(a()), 'model')",
    "closures in closures": "def outer(n):\n    def middle(m):\n        def inner():\n            return n - m\n        return inner\n    return middle\na, b = outer(8), outer(8)\nput(jnp.zeros(a(0)()), 'model')\nput(jnp.zeros(b(0)()), 'model')\nput(jnp.zeros(b(2)()), 'model')\nput(jnp.zeros(a(2)()), 'model')",
    "closures in closures that count": "def outer(n):\n    def middle():\n        m = 0\n        def inner():\n            nonlocal n, m\n            n, m = n - 2, m + 1\n            return n + m\n        return inner\n    return middle()\na, b = outer(10), outer(10)\na()\nput(jnp.zeros(b()), 'model')\nput(jnp.zeros(a()), 'model')",
    "closures around functions": "import functools\ndef less(by):\n    def decorate(f):\n        @functools.wraps(f)\n        def inner(*args):\n            return f(*args) - by\n        return inner\n    return decorate\n@less(2)\ndef f(n):\n    return n\n@less(2)\ndef g(n):\n    return n + 2\nput(jnp.zeros(f(8)), 'model')\nput(jnp.zeros(g(8)), 'model')",
    "closures of a loop": "def make():\n    return [lambda: n for n in (8, 6)]\na, b = make(), make()\nput(jnp.zeros(a[0]()), 'model')\nput(jnp.zeros(b[0]()), 'model')",
    "closures that are handed on": "import unknown\ndef make():\n    n = 8\n    def get():\n        return n\n    def less():\n        nonlocal n\n        n = 6\n    return get, less\na, b = make(), make()\nunknown.call(a[1])\nput(jnp.zeros(b[0]()), 'model')\nput(jnp.zeros(a[0]()), 'model')\nb[1]()\nput(jnp.zeros(b[0]()), 'model')",
    "closures that yield": "def make(n):\n    def sizes():\n        yield n\n    return sizes\na, b = make(6), make(6)\nfor n in b():\n    put(jnp.zeros(n), 'model')\nput(jnp.zeros(list(a())[0]), 'model')",
    "closures of sizes that equal no other": "def make(path):\n    x = np.load(path).reshape(-1, 4)\n    def get():\n        return x\n    return get, x\n(f, x), (g, y) = make('a'), make('a')\nput(g() + y, 'model')\nput(jnp.concatenate([f() + y, jnp.zeros((6, 4))]), None, 'data')\nput(jnp.zeros(g().shape[0] - y.shape[0] + 6), 'model')",
    "closures on a branch": "import sys\ndef make():\n    n = 8\n    def less():\n        nonlocal n\n        n = 6\n    def get():\n        return n\n    return less, get\nmake()\nif len(sys.argv) > 1:\n    f = make()\n    f[0]()\n    put(jnp.zeros(f[1]()), 'model')\ng = make()\nput(jnp.zeros(g[1]()), 'model')\nif len(sys.argv) > 1:\n    g[0]()\nput(jnp.zeros(g[1]()), 'model')",
    "closures with classes": "def make(n):\n    class A:\n        size = n\n        def get(self):\n            return n\n    return lambda: A().get()\na, b = make(8), make(6)\nput(jnp.zeros(a()), 'model')\nput(jnp.zeros(b()), 'model')\nput(jnp.zeros(make(6)()), 'model')",
    "closures that are jitted": "def make(n):\n    def f(x):\n        return put(x + jnp.zeros(n), 'model')\n    return jax.jit(f), f\na, b = make(6), make(6)\na[0](jnp.zeros(6))\nb[1](jnp.zeros(6))",
    "closures that import": "def make(n):\n    import math\n    def f():\n        return math.prod((n, 1))\n    return f\na, b = make(6), make(6)\nput(jnp.zeros(b()), 'model')",
    "asked again": "import random\ndef ask():\n    return random.random()\nx = ask()\na = 8 if x > 0.5 else 6\nx = ask()\nb = 6 if x > 0.5 else 8\nput(jnp.zeros(a + b + 2), 'model')\nput(jnp.zeros(a - b + 8), 'model')",
    "asked again in a loop": "import random\ndef ask():\n    return random.random(), 1\nsizes = []\nfor i in range(2):\n    x, _ = ask()\n    sizes.append(8 if x > 0.5 else 6)\nput(jnp.zeros(sizes[0] - sizes[1] + 8), 'model')\nput(jnp.zeros(sizes[0] - sizes[1] + 6), 'model')",
    "asked again of objects": "import random\nclass A:\n    def __init__(self):\n        self.x = random.random()\ndef ask():\n    return A()\nx = ask().x\na = 8 if x > 0.5 else 6\nx = ask().x\nb = 8 if x > 0.5 else 6\nput(jnp.zeros(a - b + 6), 'model')",
    "arrays asked again": "def ask():\n    return jnp.zeros(()) + np.load('x').sum()\nx = ask()\na = 8 if x > 0.5 else 6\nx = ask()\nb = 8 if x > 0.5 else 6\nput(jnp.zeros(a - b + 6), 'model')",
    "one answer twice": "import random\ndef ask():\n    x = random.random()\n    return x, [x]\nask()\nx, (y,) = ask()\na = 8 if x > 0.5 else 6\nx = y\nb = 8 if x > 0.5 else 6\nput(jnp.zeros(a - b + 6), 'model')\nput(jnp.zeros(a - b + 8), 'model')",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _checking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever changes an object says so: what a run was given that is kept is as it was before."""
    first = call_cache.CallCache._run_and_summarise

    def checking(
        kept: call_cache.CallCache,
        interpreter: Interpreter,
        function: Function,
        bound: dict[str, Value],
        place: Place,
        nested: int,
        key: call_cache.Key,
        makes: Instance | None,
    ) -> tuple[Value, CallSummary | None]:
        result, one = first(kept, interpreter, function, bound, place, nested, key, makes)
        if one is not None and makes is None:
            kept.keys.start(function.scope)
            assert kept.keys.of_all(bound.values()) == key[2]
        return result, one

    monkeypatch.setattr(call_cache.CallCache, "_run_and_summarise", checking)


def said(finding: Finding) -> tuple[object, ...]:
    """All that a finding tells."""
    related = tuple((one.message, one.span) for one in finding.related)
    return (finding.code, finding.severity, finding.message, finding.span, related)


def agree(source: Source, monkeypatch: pytest.MonkeyPatch) -> int:
    """Check a source with results kept, and without; return how much is found."""
    linter = Linter(Settings(devices=8))
    with monkeypatch.context() as patched:
        patched.setattr(call_cache, "_MAX_VAIN", -1)
        expected = linter.analysis(source)
    found = linter.analysis(source)
    assert list(map(said, found.findings)) == list(map(said, expected.findings))
    assert told(found) == told(expected)
    return len(expected.findings)


def told(analysis: Analysis) -> set[tuple[object, ...]]:
    """What all uses tell of where they stand, and how they were reached."""
    return {(type(use), use.place, use.facts, use.variants) for use in analysis.uses}


@pytest.mark.parametrize("name", AGAIN)
def test_calls_again(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    agree(source_from_text("program.py", f"{SETUP}{AGAIN[name]}\n"), monkeypatch)


# What is given again takes no steps, so without memory another call is the one too many.
@pytest.mark.parametrize("name", sorted(AGAIN.keys() - {"too many steps"}))
def test_calls_again_in_a_loop(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    body = "".join(f"        {line}\n" for line in AGAIN[name].splitlines() if "import" not in line)
    program = f"{SETUP}import random, sys\ndef entry(argument):\n    while argument.more():\n{body}entry(1)\n"
    agree(source_from_text("program.py", program), monkeypatch)


def test_small_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    found = sum(agree(source_from_text("program.py", one.text), monkeypatch) for one in PROGRAMS)
    wrong = [one for one in PROGRAMS if any(mark.kind == "error" for mark in one.marks)]
    assert found > len(wrong) // 2


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.name)
def test_fixtures(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agree(read_source(str(path)), monkeypatch)

"""Random programs with mistakes that have safe fixes: imports in many places, names that are something else.

A program is a list of statements, so that it can be cut into cells. It prints what it makes.
"""

from __future__ import annotations

import random

_START = """
import os
from contextlib import nullcontext
"""
_DOCSTRINGS = ("", '"""A program.\n\nIt has P."""', "'''P'''", "# only a comment")
_ENVIRONMENT = ('os.environ["SHARDLINT_TESTED"] = "1"', 'os.environ.setdefault("SHARDLINT_TESTED", "1")')
_CHECKED = """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from jax.sharding import {}
"""
#: How `jax` comes to be there, and what it is called then.
_JAX = (
    *[("import jax", "jax")] * 3,
    ("import os; import jax", "jax"),
    ("import jax, os", "jax"),
    ("import jax.numpy\nimport jax.sharding", "jax"),
    ("import jax as j", "j"),
    ("import jax  # the library", "jax"),
    ("try:\n    import jax\nexcept ImportError:\n    jax = None", "jax"),
    ("if True:\n    import jax", "jax"),
    ("if True: import jax", "jax"),
    ("if True:\n    import jax; import jax.numpy as jnp", "jax"),
    ("with nullcontext():\n    import jax", "jax"),
)
#: How the names of `jax.sharding` come to be there.
_NAMES = (
    *["{}"] * 4,
    "if True:\n    {}",
    "if True: {}",
    "try:\n    {}\nexcept ImportError:\n    pass",
    "try:\n    pass\nfinally:\n    {}",
    "{}; x = 1",
    "x = 1; {}",
    "for _ in range(2):\n    {}",
    "if True:\n    if True:\n        {}  # c",
)
_TAKEN = ("P", "PartitionSpec", "AxisType", "jax", "sharding", "shard_map")
_SHADOWS = (
    "{n} = 3",
    "{n}: int = 3",
    "{n} = 1\ndel {n}",
    "({n}, r) = 1, 2",
    "[*{n}] = [1]",
    "def {n}():\n    return 1",
    "class {n}:\n    pass",
    "for {n} in range(2): pass",
    "with nullcontext(5) as {n}:\n    pass",
    "try:\n    1 / 0\nexcept ZeroDivisionError as {n}:\n    pass",
    "print(({n} := 4))",
    "print([({n} := i) for i in range(2)])",
    "match 3:\n    case {n}:\n        pass",
    "match [1, 2]:\n    case [*{n}]:\n        pass",
    "match {{1: 2}}:\n    case {{**{n}}}:\n        pass",
    "print([{n} for {n} in range(2)])",
    "def g{k}():\n    global {n}\n    {n} = 7\ng{k}()",
    "def g{k}({n}):\n    return {n}\nprint(g{k}(2))",
    "def g{k}():\n    {n} = 1\n    def h():\n        nonlocal {n}\n        {n} = 2\n    h()\ng{k}()",
    "import math as {n}",
    "from math import pi as {n}",
    'globals()["{n}"] = 3',
    'exec("{n} = 3")',
    "from string import *",
    "print((lambda {n}: {n})(1))",
    "if False:\n    {n} = 3",
    "while True:\n    {n} = 1\n    break",
    "try:\n    print({n})\nexcept NameError:\n    print('no name')",
    "class K{k}:\n    {n} = 3\nprint(K{k}.{n})",
    "os.{n} = 3",
    "print(dict({n}=3))",
)
_TYPE = "{j}.sharding.AxisType."
_ONES = "{j}.numpy.ones(8)"


def _types(written: str) -> str:
    return f'{{j}}.make_mesh((2, 4), ("a", "b"), axis_types={written}).axis_types'


def _put(shape: str, entries: str) -> str:
    return f"{{j}}.device_put({{j}}.numpy.ones({shape}), {{n}}(mesh, {{s}}({entries}))).sharding.spec"


#: Expressions with a mistake, and without: ``{n}`` is NamedSharding, ``{s}`` PartitionSpec and ``{j}`` jax.
_MISTAKES = (
    *[
        ('{n}(mesh, ("a", None))', '{n}(mesh, {s}("a", None))'),
        ('{n}(mesh, ["a", "b"])', '{n}(mesh, {s}("a", "b"))'),
        ('{n}(mesh, "a")', '{n}(mesh, {s}("a"))'),
        ('{n}(mesh, spec=("a",))', '{n}(mesh, {s}("a"))'),
    ]
    * 2,
    ('{n}(mesh, (("a", None)))', '{n}(mesh, {s}("a", None))'),
    ('{n}( mesh , ( "a" , None , ) )', '{n}(mesh, {s}("a", None))'),
    ('{n}(mesh, (  # why\n    "a",  # first\n    None,\n  ))', '{n}(mesh, {s}("a", None))'),
    (
        '{n}(\n    mesh,\n    [\n        "a",\n        # nothing\n        None,\n    ],  # spec\n)',
        '{n}(mesh, {s}("a", None))',
    ),
    ('{n}(mesh, None if not 1 else("a", None))', '{n}(mesh, {s}("a", None))'),
    ('{n}(mesh, "a"if 1 else None)', '{n}(mesh, {s}("a"))'),
    ('{n}(mesh, ("a",)if 1 else None)', '{n}(mesh, {s}("a"))'),
    ('{n}(mesh, (*["a", "b"],))', '{n}(mesh, {s}("a", "b"))'),
    ('{n}(mesh, (("a" "")))', '{n}(mesh, {s}("a"))'),
    (_types('("auto", "explicit")'), _types(f"({_TYPE}Auto, {_TYPE}Explicit)")),
    (_types('( "auto",\n  "auto" )'), _types(f"({_TYPE}Auto, {_TYPE}Auto)")),
)
_MAPPED = f'(lambda x: 2 * x, mesh=mesh, in_specs={{s}}("a"), out_specs={{s}}("a"))({_ONES})'
_OF_SPECS = (
    ('{n}(mesh, {s}("", "b"))', '{n}(mesh, {s}(None, "b"))'),
    ('{n}(mesh, {s}(""if 1 else"", "b"))', '{n}(mesh, {s}(None, "b"))'),
    ('{n}(mesh, {s}((), "b"))', '{n}(mesh, {s}(None, "b"))'),
    ('{n}(mesh, {s}((("a", "b"),), None))', '{n}(mesh, {s}(("a", "b"), None))'),
    ('{n}(mesh, {s}([["a"]]))', '{n}(mesh, {s}("a"))'),
    (_put("(8, 8)", '"a", None, None, None'), _put("(8, 8)", '"a", None')),
    (_put("()", "  None,  "), _put("()", "")),
    (f'{{j}}.shard_map(lambda x: 2 * x, mesh, {{s}}("a"), {{s}}("a"))({_ONES})', f"{{j}}.shard_map{_MAPPED}"),
    ("{j}.tree_map(lambda x: 2 * x, [1, (2,\n  3)])", "{j}.tree.map(lambda x: 2 * x, [1, (2, 3)])"),
    (
        f'{{j}}.jit(lambda x: x, out_sharding={{n}}(mesh, {{s}}("a")))({_ONES}).sharding.spec',
        f'{{j}}.jit(lambda x: x, out_shardings={{n}}(mesh, {{s}}("a")))({_ONES}).sharding.spec',
    ),
)
#: The same for programs that import the old shard_map.
_OLD = (
    (
        f'shard_map(lambda x: 2 * x, mesh, {{s}}("a"), {{s}}("a"), False)({_ONES})',
        f"{{j}}.shard_map{_MAPPED}",
    ),
    (
        f'shard_map(lambda x: 2 * x, mesh=mesh, in_specs={{s}}("a"), out_specs={{s}}("a"), check_rep = False)'
        f"({_ONES})",
        f"{{j}}.shard_map{_MAPPED}",
    ),
)
#: Where an expression stands.
_PLACES = (
    *["print({e})"] * 3,
    "if True: print({e})",
    "print(0); print({e}); print(1)",
    "if True:\n    print({e})  # c",
    "if True:\n    import jax\n    print({e})",
    "if True:\n    from jax.sharding import Mesh\n    print({e})",
    "if True: import jax; print({e})",
    "try:\n    print({e})\nfinally:\n    print(1)",
    "try:\n    from jax.sharding import Mesh\n    print({e})\nexcept ImportError:\n    pass",
    "for i in range(2):\n    print(i, {e})",
    "with nullcontext({e}) as c{k}:\n    print(c{k})",
    "def f{k}(x={e}):\n    return x\nprint(f{k}())",
    "def f{k}(x: int) -> object:\n    '''Doc.'''\n    return {e}\nprint(f{k}(1))",
    "def f{k}({t}=None):\n    return {e}\nprint(f{k}())",
    "def f{k}():\n    {t} = 3\n    return {e}\nprint(f{k}())",
    "def f{k}():\n    def inner():\n        return {e}\n    {t} = 3\n    return inner()\nprint(f{k}())",
    "def f{k}():\n    y = {e}\n    from jax.sharding import PartitionSpec as P\n    return y\nprint(f{k}())",
    "def f{k}():\n    from jax.sharding import PartitionSpec as P\n    return {e}\nprint(f{k}())",
    "def f{k}():\n    from jax.sharding import Mesh, AxisType\n    return {e}\nprint(f{k}())",
    "def f{k}():\n    import jax\n    return {e}\nprint(f{k}())",
    "def f{k}():\n    if True:\n        import jax.numpy as jnp\n        return {e}\nprint(f{k}())",
    "print((lambda: {e})())",
    "print((lambda {t}: {e})(1))",
    "print([{e} for _ in range(1)])",
    "print([{e} for {t} in [1]])",
    "print({{1: {e}}})",
    "class C{k}:\n    s = {e}\nprint(C{k}.s)",
    "class C{k}:\n    {t} = 3\n    s = {e}\nprint(C{k}.s)",
    "class C{k}:\n    import jax\n    from jax.sharding import Mesh\n    s = {e}\nprint(C{k}.s)",
    "class C{k}:\n    {t} = 3\n    def m(self):\n        return {e}\nprint(C{k}().m())",
    "def keep{k}(x):\n    print(x)\n    return lambda f: f\n@keep{k}({e})\ndef f{k}():\n    pass",
    "match 1:\n    case {t}:\n        print({e})",
    "print(((({e}))))",
    "y{k} = {e}; print(y{k})",
    "async def f{k}():\n    return {e}\nimport asyncio\nprint(asyncio.run(f{k}()))",
)
_LATE = (
    "from jax.sharding import Mesh",
    "from jax.sharding import PartitionSpec as P",
    "from jax.sharding import PartitionSpec, AxisType",
    "import jax",
    "import jax.numpy as jnp",
    "if True:\n    from jax.sharding import Mesh",
    '__all__ = ["mesh"]',
)


def random_program(rng: random.Random) -> tuple[list[str], list[str]]:
    """Statements of the top level, each a text that may have several lines, and those without mistakes."""
    found = [rng.choice(_DOCSTRINGS)]
    if rng.random() < 0.3:
        found.append("from __future__ import annotations")
    found += _START.strip().split("\n")
    if rng.random() < 0.3:
        found.append(rng.choice(_ENVIRONMENT))
    if rng.random() < 0.15:
        found.append(_CHECKED.format(rng.choice(("PartitionSpec as P", "PartitionSpec", "Mesh"))))
    jax_import, j = rng.choice(_JAX)
    found.append(jax_import)
    named, specs, old = rng.random() < 0.8, rng.random() < 0.4, rng.random() < 0.15
    bound = rng.choice(("PartitionSpec as P", "PartitionSpec", "PartitionSpec as Spec"))
    taken = ["NamedSharding"] * named + [bound] * specs
    taken += rng.sample(("Mesh", "AxisType", "SingleDeviceSharding"), rng.randrange(3))
    rng.shuffle(taken)
    if taken:
        text = f"from jax.sharding import {', '.join(taken)}"
        if rng.random() < 0.2:
            text = f"from jax.sharding import (  # these\n        {', '.join(taken)},\n    )"
        found.append(rng.choice(_NAMES).format(text))
    if old:
        found.append(rng.choice(_NAMES).format("from jax.experimental.shard_map import shard_map"))
    if rng.random() < 0.1:
        found.append("from string import *")
    found.append(f'mesh = {j}.make_mesh((2, 4), ("a", "b"), axis_types=({j}.sharding.AxisType.Auto,) * 2)')
    words = {
        "n": "NamedSharding" if named else f"{j}.sharding.NamedSharding",
        "s": bound.rpartition(" ")[2] if specs else f"{j}.sharding.PartitionSpec",
        "j": j,
    }
    both = []
    for number in range(rng.randrange(1, 4)):
        wrong, right = rng.choice((*_MISTAKES, *_OF_SPECS, *(_OLD * old)))
        place, name = rng.choice(_PLACES), rng.choice(_TAKEN)
        whole = words if "{s}" in wrong else {**words, "s": f"{j}.sharding.PartitionSpec"}
        both.append(
            tuple(
                place.format(e=text.format(**names), k=number, t=name)
                for text, names in ((wrong, words), (right, whole))
            )
        )
    for number in range(rng.choice((0, 0, 1, 1, 2))):
        shadow = rng.choice(_SHADOWS).format(n=rng.choice(_TAKEN[:3]), k=number)
        both.insert(rng.randrange(len(both) + 1), (shadow, shadow))
    if rng.random() < 0.3:
        late = rng.choice(_LATE)
        both.insert(rng.randrange(len(both) + 1), (late, late))
    found = [statement.strip("\n") for statement in found if statement]
    return [*found, *(wrong for wrong, _ in both)], [*found, *(right for _, right in both)]

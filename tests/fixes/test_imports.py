"""Where a fix needs a name, it is one that is in force there, or is imported where that surely ran before."""

from __future__ import annotations

import textwrap

import pytest
from random_fixes import fixed, run

from shardlint.fixes.documents import Document

MESH = 'mesh = jax.make_mesh((2, 4), ("a", "b"))\n'
USE = 'print(NamedSharding(mesh, ("a", None)))\n'

#: Programs, and how the spec is written after the fix.
WRITTEN = {
    "a late import": (
        f"import jax\nif True:\n    from jax.sharding import NamedSharding\n{MESH}{USE}"
        "from jax.sharding import Mesh\n",
        "jax.sharding.PartitionSpec(",
    ),
    "imports in try": (
        "try:\n    import jax\n    from jax.sharding import NamedSharding\nexcept ImportError:\n    raise\n"
        f"from jax import numpy as jnp\n{MESH}{USE}",
        "P(",
    ),
    "another name for jax": (
        f"import jax as j\nNamedSharding, jax = j.sharding.NamedSharding, j\n{MESH}{USE}",
        "j.sharding.PartitionSpec(",
    ),
    "a function that imports": (
        f"import jax\n{MESH}def f():\n"
        f"    from jax.sharding import NamedSharding, PartitionSpec as Q\n    {USE}f()\n",
        "Q(",
    ),
    "a function that imports late": (
        f"import jax\nfrom jax.sharding import NamedSharding\n{MESH}"
        f"def f():\n    {USE}    from jax.sharding import PartitionSpec as P\nf()\n",
        "PartitionSpec(",
    ),
    "a parameter": (
        f"import jax\nfrom jax.sharding import NamedSharding, PartitionSpec as P\n{MESH}"
        f"def f(P):\n    {USE}f(1)\n",
        "PartitionSpec(",
    ),
    "a class": (
        f"import jax\nfrom jax.sharding import NamedSharding\n{MESH}class C:\n    P = 3\n    {USE}",
        "PartitionSpec(",
    ),
    "a name that is something else later": (
        f"import jax\nfrom jax.sharding import NamedSharding, PartitionSpec as P\n{MESH}{USE}P = 3\n",
        "PartitionSpec(",
    ),
    "a star import before": (
        "from string import *\nimport jax\nfrom jax.sharding import NamedSharding, PartitionSpec as P\n"
        f"{MESH}{USE}",
        "P(",
    ),
    "an environment that must be set first": (
        'import os\nos.environ["XLA_FLAGS"] = os.environ["XLA_FLAGS"]\nimport jax\n'
        f"from jax.sharding import NamedSharding\n{MESH}{USE}",
        "P(",
    ),
    "statements on one line": (
        f"import jax; from jax.sharding import NamedSharding  # both\n{MESH}{USE}",
        "P(",
    ),
    "the same if": (
        f"import jax\n{MESH}if True:\n    from jax.sharding import NamedSharding\n    {USE}",
        "jax.sharding.PartitionSpec(",
    ),
    "no jax of its own": (
        "if True:\n    from jax import make_mesh, sharding as s\n    NamedSharding = s.NamedSharding\n"
        f"    {MESH.replace('jax.', '')}    {USE}",
        "s.PartitionSpec(",
    ),
    "numpy of jax alone": (
        "import jax.numpy as jnp\nimport numpy as np\n"
        "def f(devices):\n    from jax.sharding import Mesh, NamedSharding\n"
        '    mesh = Mesh(devices, ("a", "b"))\n'
        f"    {USE}import jax as k\nf(np.array(k.devices()).reshape(2, 4))\n",
        "P(",
    ),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_spec_is_written_with_a_name_that_is_in_force(name: str) -> None:
    program, written = WRITTEN[name]
    document = Document("program.py", program.encode())
    made = fixed(document)
    after = made.after["program.py"].data
    assert f'NamedSharding(mesh, {written}"a", None)'.encode() in after
    assert not made.notes
    assert run(after).raised == ""


#: Programs in which nothing is sure enough.
LEFT = {
    "the place is above all imports": """
        def f():
            return NamedSharding(mesh, ("a", None))
        import jax
        from jax.sharding import NamedSharding
        mesh = jax.make_mesh((2, 4), ("a", "b"))
        f()
        """,
    "the import may fail": """
        try:
            import jax
            from jax.sharding import NamedSharding
        except ImportError:
            jax = None
        mesh = jax.make_mesh((2, 4), ("a", "b"))
        NamedSharding(mesh, ("a", None))
        """,
    "one line": """
        if True: import jax; from jax.sharding import NamedSharding; from jax import make_mesh
        mesh = make_mesh((2, 4), ("a", "b"))
        def f(jax): return NamedSharding(mesh, ("a", None))
        f(1)
        """,
    "a star import that may bind it": """
        import jax.numpy as jnp
        from jax import make_mesh
        from jax.sharding import NamedSharding
        mesh = make_mesh((2, 4), ("a", "b"))
        NamedSharding(mesh, ("a", None))
        from string import *
        """,
    "all names are taken": """
        import jax
        from jax.sharding import NamedSharding
        mesh = jax.make_mesh((2, 4), ("a", "b"))
        def f(P, PartitionSpec, jax):
            return NamedSharding(mesh, ("a", None))
        f(1, 2, 3)
        """,
    "names that are made up": """
        import jax
        from jax.sharding import NamedSharding
        mesh = jax.make_mesh((2, 4), ("a", "b"))
        NamedSharding(mesh, ("a", None))
        globals()["P"] = 3
        """,
}


@pytest.mark.parametrize("name", LEFT)
def test_what_is_not_sure_is_left_alone(name: str) -> None:
    document = Document("program.py", textwrap.dedent(LEFT[name]).encode())
    made = fixed(document)
    assert not made.after
    assert not made.fixed

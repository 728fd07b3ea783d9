"""Names of JAX are found function by function as they are in a whole text, whatever guards and binds them."""

from __future__ import annotations

import ast
import random

import pytest
from support.sizes import size

from shardlint.inference.programs.name_references import mentions
from shardlint.inference.syntax.file_parts import split

COUNT = size("SHARDLINT_MENTIONS", 200, 1_000)

_IMPORTS = (
    "import jax",
    "import jax as j",
    "import jax.numpy as jnp",
    "from jax import shard_map",
    "from jax.experimental.shard_map import shard_map as sm",
    "from jax.sharding import Mesh as jax",
    "from jax import core, lax as jnp",
    "jax = None",
    "from .other import jax",
)
_GUARDS = (
    "HAS = NEW = hasattr(jax, 'typeof')",
    "NEW = jax.__version__ > '0.6'",
    "HAS = hasattr(jax, 'typeof')",
    "OLD = not HAS",
    "try:\n    from jax import shard_map\nexcept ImportError:\n    jnp = None",
    "if NEW:\n    raise SystemExit(1)",
    "if not HAS:\n    exit()",
    "def is_new():\n    return HAS",
    "def has():\n    late = OLD\n    return late",
    "import version_of as tell",
)
_BODIES = (
    "jax.shard_map(f, check_rep=False)",
    "sm(f, check_rep=True)",
    "y = jax.tree_map(f, x)  # jax.core.Token",
    "return jax.typeof(x) if HAS else None",
    "jax.config.update('jax_platform_name', 'cpu')",
    "x = j.lax.ragged_all_to_all(x)",
    "global jax\n    jax = None",
    "import jax as jnp\n    jnp.tree_map(f, x)",
    "if is_new():\n        return jax.tree_map(f, x)",
    "if getattr(jnp, 'tree_map', None):\n        jax.tree_map(f, x)",
    "use = hasattr(x.jax_thing, 'y')\n    if use:\n        jax.tree_map(f, x)",
    "use = getattr(jnp, 'tree_map', None)",
    "if use:\n        jax.tree_map(f, x)",
    "jax.tree_map(f, x)",
    "if getattr(x, 'jax'):\n        jax.tree_map(f, x)",
    "if HAS:\n        return\n    jax.tree_map(f, x)",
    "if late:\n        return\n    jax.tree_map(f, x)",
    "def inner(jax):\n        return jax.tree_map(f, x)\n    return inner",
    "jax = 3\n    jax.tree_map",
    "é = 'é'; jax.tree_map(f)",
    "with suppress(AttributeError):\n        jax.tree_map(f)",
    "try:\n        jax.tree_map(f)\n    except AttributeError:\n        pass",
    "return [jnp.tree_map(f) for jnp in x]",
    "from functools import partial\n    return partial(jax.shard_map, check_rep=True)",
    "return x",
)
_HEADS = (
    "def f{n}(x):",
    "def f{n}(x=jax.tree_map, *, jnp=None):",
    "@jax.tree_map\n@has\ndef f{n}(x):",
    "@jax.jit\nasync def f{n}(jax):",
    "def jax(x):",
    "def OLD(x):",
)


def _program(chance: random.Random) -> str:
    """A random file."""
    parts = chance.sample(_IMPORTS, chance.randint(1, 3)) + chance.sample(_GUARDS, chance.randint(0, 3))
    for number in range(chance.randint(2, 6)):
        head = chance.choice(_HEADS).format(n=number)
        bodies = chance.sample(_BODIES, chance.randint(1, 2))
        function = "\n".join([head, *(f"    {body}" for body in bodies)])
        if chance.random() < 0.5:
            lines = "\n".join(f"    {line}" for line in function.split("\n"))
            base = chance.choice(("", "(jax.tree_map)"))
            function = f"class C{number}{base}:\n    '''Of jax.tree_map.'''\n    jnp = jax.core\n\n{lines}"
        parts.append(function)
        if chance.random() < 0.2:
            parts.append(chance.choice((*_GUARDS, *_IMPORTS)))
    blanks = ("\n", "\n\n", "\n# jax.tree_map\n")
    return "".join(f"{part}{chance.choice(blanks)}" for part in parts)


def test_parts_tell_what_the_whole_tells() -> None:
    chance, found = random.Random(5), 0
    for _ in range(COUNT):
        text = _program(chance)
        parsed = split("model.py", None, text)
        assert parsed.complete and not parsed.errors, text
        whole = list(mentions((text,)))
        assert list(mentions((text,), parsed.parts)) == whole, text
        found += len(whole)
    assert found > COUNT // 2


def test_a_function_may_tell_others_which_jax_there_is() -> None:
    asks = "def ask():\n    global_use = getattr(jnp, 'tree_map', None)\n\n\n"
    text = f"import jax\nimport jax.numpy as jnp\n\n\n{asks}"
    text += "def f(x):\n    if global_use:\n        jax.tree_map(x)\n"
    for one, count in ((text, 0), (text.replace("getattr(jnp,", "getattr(x,"), 1)):
        assert len(mentions((one,))) == len(mentions((one,), split("model.py", None, one).parts)) == count


def test_a_function_is_looked_at_again_only_when_it_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    from shardlint.inference.programs import name_references

    parsed: list[str] = []
    parse = name_references.ast.parse

    def noted(text: str) -> ast.Module:
        parsed.append(text)
        return parse(text)

    monkeypatch.setattr(name_references.ast, "parse", noted)
    functions = [f"def of_{n}(x):\n    jax.tree_map(x, {n})\n\n\n" for n in range(20)]
    text = "import jax\n\n\n" + "".join(functions)
    assert len(mentions((text,), split("model.py", None, text).parts)) == 20
    parsed.clear()
    text = text.replace("(x, 7)", "(x, 77)")
    parts = split("model.py", None, text).parts
    parsed.clear()
    assert len(mentions((text,), parts)) == 20
    assert sum("tree_map" in one for one in parsed) == 1

"""Random edits of the modules of small projects, from comments to star imports."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

_HEAD = "import jax, jax.numpy as jnp\nfrom jax.sharding import NamedSharding, PartitionSpec as P\n"

#: base and shapes are imported by all, directly, by a star, or through the package `kit`.
FILES = {
    "base.py": '''"""Sizes and meshes."""
import jax
import numpy as np
from jax.sharding import Mesh

WIDTH = 62
ROWS = 8
UNUSED = 3
AXES = ("data", "model")


def make_mesh(shape=None):
    """Return a mesh."""
    return Mesh(np.array(jax.devices()[:8]).reshape(2, 4), AXES)


mesh = make_mesh()


def pad(size):
    # Nothing is padded.
    return size


def lost(size, often=None):
    return pad(size) + UNUSED


def by_name(kind):
    return globals()["size_" + kind]()


def size_small():
    return 6


def size_large():
    return ROWS * 2


class Layer:
    """A layer."""

    rows = ROWS

    def __init__(self, width):
        self.width = width
        self.extra = None

    def size(self):
        return self.rows

    def other(self, x):
        return x + self.width

    @property
    def wide(self):
        return self.width * 2
''',
    "shapes.py": '''from base import *
from base import lost as found

__all__ = ["ROWS", "area", "place", "LIMIT"]
LIMIT = 4


def checked(function):
    return function


def area(x):
    return pad(WIDTH) * LIMIT


@checked
def place(x, spec):
    """Place an array."""
    return jax.device_put(x, NamedSharding(mesh, spec))


def idle(x):
    x = f"{x}  # not a comment"
    return x


from jax.sharding import NamedSharding
''',
    "kit/__init__.py": "from .tools import *\nfrom .tools import helper as help_me\n",
    "kit/tools.py": """import base

COUNT = 10


def helper(n):
    return base.pad(n) + COUNT


def _private(n):
    return n


def unread(layer):
    return base.Layer(3)
""",
    "main.py": f"""{_HEAD}from base import WIDTH, mesh
from shapes import *
import kit

place(jnp.ones((ROWS, WIDTH)), P("data", "model"))
place(jnp.ones((ROWS, kit.helper(2))), P("data", "model"))
""",
    "layers.py": f"""{_HEAD}import base
from kit import help_me


class Wide(base.Layer):
    def size(self):
        return self.width + 1


def run():
    layer = Wide(base.ROWS)
    x = jnp.ones((layer.size(), layer.wide, base.by_name("small")))
    return jax.device_put(x, NamedSharding(base.mesh, P(None, "model", "data")))


def named():
    size = getattr(base, "UNU" + "SED", 8)
    return jax.device_put(jnp.ones((size, help_me(1))), NamedSharding(base.mesh, P("data", "model")))


class Late:
    def __init__(self, x):
        self.layer = base.Layer(6)

    def __call__(self, x):
        return jax.device_put(jnp.ones((6, self.layer.other(1))), NamedSharding(base.mesh, P(None, "model")))
""",
    "far.py": f"""{_HEAD}import kit.tools as tools
from base import mesh
import shapes

SIZE = tools.COUNT


@jax.jit
def f(x):
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("model")))


f(jnp.ones((SIZE + shapes.LIMIT, 2)))
jax.device_put(jnp.ones(shapes.area(1)), NamedSharding(mesh, P("mode")))
""",
}
#: The files that are open in an editor.
OPEN = ("main.py", "layers.py", "far.py", "shapes.py")
_DEFINITION = re.compile(r"^(?:@\w+\n)?(?:def|class) \w.*\n(?:(?:[ \t].*)?\n)*", re.MULTILINE)
_NAMES = (
    "helper",
    "pad",
    "lost",
    "WIDTH",
    "ROWS",
    "UNUSED",
    "COUNT",
    "extra",
    "size_small",
    "jnp",
    "P",
    "LIMIT",
)
_NEW = (
    "NEW = 5\n",
    "WIDTH = 64\n",
    "UNUSED = 6\n",
    "ROWS = COUNT = 4\n",
    "\n\ndef fresh(x):\n    return x\n",
    "\n\ndef pad(size):\n    return size + 2\n",
    "\n\ndef checked(function, twice=False):\n    return function\n",
    "\n\ndef sets(layer):\n    layer.rows = 3\n    layer.width += 1\n",
    "\n\ndef mentions():\n    return ('model', 'data', 'other')\n",
    "\n\ndef reads(mesh):\n    return mesh.axis_names\n",
    "\n\ndef rebinds():\n    global WIDTH\n    WIDTH = 8\n",
    "\n\nclass Narrow:\n    def size(self):\n        return 3\n",
    "from base import *\n",
    "import base\nbase.ROWS = 12\n",
    "__all__ = ['WIDTH', 'mesh']\n",
    "__all__ = [name for name in dir() if name != 'pad']\n",
    "WIDTH += 1\n",
    "if WIDTH > 60:\n    ROWS = 4\n",
    "print(WIDHT)\n",
    "del UNUSED\n",
    "x = y = (\n",
    "# shardlint: devices=4\n",
)
_LINES = (
    "# A comment",
    "",
    "    # data, model: self.width = 3",
    '"""Prose, data: model."""',
    "pass",
    "'model'",
)


def edited(name: str, text: str, chance: random.Random) -> str:
    """Return a module's text after a random edit."""
    lines = text.split("\n")
    line = chance.randrange(len(lines))
    indent = re.match(r"\s*", lines[line])[0]  # type: ignore[index]
    found = [match[0] for match in _DEFINITION.finditer(text)]
    kind = chance.choice(
        ("comment",) * 3
        + ("line", "blank", "behind", "number", "number", "word", "move", "remove", "copy", "new", "new")
        + ("letter", "statement", "decorator", "spec", "swap", "docstring", "string", "join")
    )
    match kind:
        case "comment":
            lines.insert(line, f"{indent}# {chance.choice(_NAMES)} = {chance.random()}")
        case "line":
            lines.insert(line, indent + chance.choice(_LINES))
        case "blank":
            lines[line:line] = [""] * chance.randint(1, 3)
        case "behind":
            lines[line] += "  # seen: 'x'"
        case "number":
            return _replaced(r"\b\d+\b", text, lambda _: str(chance.choice((2, 4, 6, 8, 10, 12, 64))), chance)
        case "word":
            return _replaced(rf"\b(?:{'|'.join(_NAMES)})\b", text, lambda _: chance.choice(_NAMES), chance)
        case "move" if found:
            one = chance.choice(found)
            return text.replace(one, "", 1) + f"\n\n{one}"
        case "swap" if len(found) > 1:
            one, other = chance.sample(found, 2)
            return text.replace(one, "\0", 1).replace(other, one, 1).replace("\0", other, 1)
        case "remove" if found:
            return text.replace(chance.choice(found), "", 1)
        case "copy" if found:
            one = chance.choice(found)
            return text + "\n\n" + re.sub(r"(def|class) (\w+)", r"\1 \2_too", one, count=1)
        case "new":
            new = chance.choice(_NEW)
            return f"{text}\n{new}" if chance.random() < 0.7 else f"{new}\n{text}"
        case "letter":
            return _replaced(r"\b[a-z]{4,}\b", text, lambda word: word + word[-1], chance)
        case "statement":
            lines.insert(line, f"{indent}seen = {line}")
        case "decorator":
            return text.replace("\ndef ", f"\n@{chance.choice(('checked', 'jax.jit', 'property'))}\ndef ", 1)
        case "spec":
            return _replaced(
                r'"(?:model|data)"', text, lambda _: chance.choice(('"model"', '"data"')), chance
            )
        case "docstring":
            return _replaced(r"(?<=\):\n)", text, lambda _: "    '''Of data.\n\n    model'''\n", chance)
        case "string":
            lines.insert(line, f"{indent}'''\n{indent}# model\n\n{indent}'''")
        case "join":
            return _replaced(
                r"(?<=return) ", text, lambda _: " \\\n\n" if chance.random() < 0.3 else " \\\n  ", chance
            )
    return "\n".join(lines)


def _replaced(pattern: str, text: str, new: Callable[[str], str], chance: random.Random) -> str:
    """Return a text in which one match is replaced."""
    matches = list(re.finditer(pattern, text))
    if not matches:
        return text
    one = chance.choice(matches)
    return text[: one.start()] + new(one[0]) + text[one.end() :]

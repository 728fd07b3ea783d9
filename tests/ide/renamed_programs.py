"""Programs of several files in which axes are named in many ways, and how a test renames these."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from shardlint.api import Analysis, Linter, Settings, axes_of, read_source
from shardlint.ide.axis_index import Axis, AxisIndex

HEAD = """\
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
"""

PROGRAMS: dict[str, dict[str, str]] = {
    "a mesh, specs, collectives": {
        "train.py": HEAD
        + """
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", 'model'))
x = jax.device_put(jnp.zeros((8, 16)), NamedSharding(mesh, P("data", r"model")))
y = jax.device_put(jnp.zeros((8, 10)), NamedSharding(mesh, P("data", "model")))
z = jax.device_put(jnp.zeros((8, 16)), NamedSharding(mesh, P(("data", "model"))))

def body(a):
    size = mesh.shape["model"]
    print("model", size)
    return jax.lax.psum(a, 'model') + jax.lax.axis_index("data")

jax.shard_map(body, mesh=mesh, in_specs=P("data", "model"), out_specs=P("data"))(x)
jax.shard_map(body, mesh=mesh, in_specs=P("data"), out_specs=P("data"), axis_names={"data"})(x)
table = {"model": 1, "data": 2}
print(table["model"])
""",
    },
    "names in a module of constants": {
        "names.py": 'DATA, MODEL = "data", "model"\nAXES = (DATA, MODEL)\n',
        "layout.py": HEAD
        + "from names import AXES\nmesh = Mesh(np.array(jax.devices()).reshape(2, 4), AXES)\n",
        "train.py": HEAD
        + """
from layout import mesh
from names import DATA
x = jax.device_put(jnp.zeros((8, 16)), NamedSharding(mesh, P(DATA, "model")))
y = jax.device_put(jnp.zeros((8, 10)), NamedSharding(mesh, P("data", "model")))
""",
        "other.py": HEAD
        + """
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
x = jax.device_put(jnp.zeros((8, 10)), NamedSharding(mesh, P("data", "model")))
""",
    },
    "two meshes with axes of one name": {
        "train.py": HEAD
        + """
first = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
second = Mesh(np.array(jax.devices()).reshape(4, 2), ("data", "expert"))
x = jax.device_put(jnp.zeros((8, 16)), NamedSharding(first, P("data", "model")))
y = jax.device_put(jnp.zeros((8, 16)), NamedSharding(second, P("data", "expert")))
z = jax.device_put(jnp.zeros((9, 16)), NamedSharding(second, P("data", "expert")))
""",
    },
    "either of two meshes": {
        "train.py": HEAD
        + """
def layout(wide):
    if wide:
        mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
    else:
        mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("data", "model"))
    return jax.device_put(jnp.zeros((9, 16)), NamedSharding(mesh, P("data", "model")))
""",
    },
    "equal meshes on two branches": {
        "train.py": HEAD
        + """
def layout(tpu):
    devices = np.array(jax.devices()).reshape(2, 4)
    if tpu:
        mesh = Mesh(devices, ("data", "model"))
    else:
        mesh = Mesh(devices, ("data", "model"))
    return jax.device_put(jnp.zeros((9, 16)), NamedSharding(mesh, P("data", "model")))
""",
    },
    "helpers that are called with names": {
        "train.py": HEAD
        + """
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))

def split(x, axis):
    if axis == "model":
        return jax.device_put(x, NamedSharding(mesh, P(None, axis)))
    return jax.device_put(x, NamedSharding(mesh, P(axis)))

a = split(jnp.zeros((8, 16)), "data")
b = split(jnp.zeros((8, 16)), "model")
c = split(jnp.zeros((8, 10)), "model")
d = split(jnp.zeros((8, 16)), "data")
if "model" in mesh.axis_names:
    e = split(jnp.zeros((8, 18)), "model")
""",
    },
    "names that vmap binds": {
        "train.py": HEAD
        + """
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
x = jnp.zeros((8, 16))
jax.vmap(lambda row: jax.lax.psum(row, "data"), axis_name="data")(x)
jax.vmap(lambda row: jax.lax.psum(row, "batch"), axis_name="data")(x)
y = jax.device_put(x, NamedSharding(mesh, P("data", "model")))
""",
    },
    "rules and logical names": {
        "train.py": HEAD
        + """
import flax.linen as nn
mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
RULES = (("batch", "data"), ("embed", None), ("mlp", "model"))

class Model(nn.Module):
    @nn.compact
    def __call__(self, x):
        init = nn.with_logical_partitioning(nn.initializers.lecun_normal(), ("embed", "mlp"))
        x = nn.Dense(30, kernel_init=init, use_bias=False)(x)
        plain = nn.with_partitioning(nn.initializers.lecun_normal(), ("model", None))
        return nn.Dense(8, kernel_init=plain, use_bias=False)(x)

with jax.set_mesh(mesh), nn.logical_axis_rules(RULES):
    y = nn.with_logical_constraint(jnp.zeros((8, 16)), ("batch", "mlp"))
    variables = Model().init(jax.random.key(0), jnp.zeros((8, 16)))
    jax.jit(Model().apply)(variables, jnp.zeros((8, 16)))
""",
    },
}


def settings() -> Settings:
    return Settings(devices=8, editing=True)


def write(folder: Path, program: dict[str, str]) -> list[Path]:
    paths = []
    for name, text in program.items():
        (folder / name).write_text(text, encoding="utf-8")
        paths.append(folder / name)
    return paths


def analyses(paths: list[Path]) -> list[Analysis]:
    linter = Linter(settings())
    return [linter.analysis(read_source(str(path))) for path in paths]


def index(paths: list[Path]) -> AxisIndex:
    return axes_of(analyses(paths))


def rename(axis: Axis, name: str) -> None:
    """Write another name into every literal of an axis, and nothing else."""
    by_path: dict[str, list[tuple[int, int, int]]] = {}
    for one in axis.occurrences:
        span = one.span
        assert span.line == span.end_line
        assert span.cell is None
        text = Path(span.path).read_bytes().decode("utf-8")
        line = text.split("\n")[span.line - 1]
        inner = axis.inside(line[span.column - 1 : span.end_column - 1])
        assert inner is not None, (span, line)
        start = span.column - 1 + inner[0]
        by_path.setdefault(span.path, []).append((span.line, start, start + inner[1] - inner[0]))
    for path, places in by_path.items():
        lines = Path(path).read_bytes().decode("utf-8").split("\n")
        for number, start, end in sorted(places, reverse=True):
            line = lines[number - 1]
            assert line[start:end] == axis.name
            lines[number - 1] = line[:start] + name + line[end:]
        Path(path).write_bytes("\n".join(lines).encode("utf-8"))


def findings(paths: list[Path], renamed: tuple[str, str] = ("", "")) -> list[tuple[object, ...]]:
    """What a fresh check finds, with one name in its messages put in another's place."""
    plain = Linter(dataclasses.replace(settings(), editing=False))
    return [
        (f.code, f.severity, f.span, _said(f.message, renamed))
        for path in paths
        for f in plain.check_source(read_source(str(path)))
    ]


def _said(message: str, renamed: tuple[str, str]) -> str:
    old, new = renamed
    return message if not old else message.replace(old, new)

"""Random programs of jax.numpy on arrays of random shardings, under Explicit, mixed and Auto meshes.

A program is a few statements, each valid for its shapes. What JAX makes of it (`run`) is the type of each
result up to the statement that raises, and the exception there.
"""

from __future__ import annotations

import os

os.environ["JAX_PLATFORMS"] = "cpu"

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import AbstractMesh, AxisType, NamedSharding, reshard
from jax.sharding import PartitionSpec as P

MESHES = (((4, 2), ("x", "y")), ((2, 2), ("x", "y")), ((2, 2, 2), ("x", "y", "z")), ((8,), ("x",)))
KINDS = {"E": AxisType.Explicit, "A": AxisType.Auto}
NAMES: dict[str, Any] = {"jax": jax, "jnp": jnp, "lax": lax, "P": P, "reshard": reshard}
SIZES = (8, 8, 8, 16, 16, 4, 2, 1, 6, 3)


@dataclass
class Operand:
    """An argument of a program; ``spec`` is None for an array without a mesh in its type."""

    shape: tuple[int, ...]
    dtype: str
    spec: tuple[Any, ...] | None


@dataclass
class Program:
    """Statements ``v0 = …`` on the operands ``a``, ``b``, ``c``, under a mesh."""

    sizes: tuple[int, ...]
    names: tuple[str, ...]
    types: str
    operands: list[Operand]
    statements: list[str] = field(default_factory=list)

    @property
    def mesh(self) -> AbstractMesh:
        """The mesh of the context."""
        return AbstractMesh(self.sizes, self.names, axis_types=tuple(KINDS[k] for k in self.types))

    def text(self) -> str:
        """The program with a probe of every result."""
        kinds = ", ".join(f"AxisType.{KINDS[k].name}" for k in self.types)
        lines = [
            "import jax",
            "import jax.numpy as jnp",
            "from jax import lax",
            "from jax.sharding import AbstractMesh, AxisType, NamedSharding, PartitionSpec as P, reshard",
            f"mesh = AbstractMesh({self.sizes}, {self.names}, axis_types=({kinds},))",
            "@jax.jit",
            f"def step({', '.join('abc'[: len(self.operands)])}):",
        ]
        for i, statement in enumerate(self.statements):
            lines += [f"    v{i} = {statement}", f"    probe({i}, v{i})"]
        lines += ["    return None", "with jax.sharding.use_abstract_mesh(mesh):"]
        structs = [
            f'jax.ShapeDtypeStruct({o.shape}, "{o.dtype}"'
            + (")" if o.spec is None else f", sharding=NamedSharding(mesh, P(*{o.spec!r})))")
            for o in self.operands
        ]
        return "\n".join([*lines, f"    step({', '.join(structs)})", ""])

    def line_of(self, statement: int) -> int:
        """The line in `text` of a statement."""
        return 8 + 2 * statement


@dataclass
class Ran:
    """The types of the results, and the exception of the statement after them, if one raised."""

    types: list[Any]
    exception: Exception | None = None


def run(program: Program, *, sharded: bool = True) -> Ran:
    """What JAX makes of a program, statement by statement."""
    mesh = program.mesh
    ran = Ran([])

    def body(*arrays: Any) -> None:
        scope = dict(NAMES) | dict(zip("abc", arrays, strict=False))
        for i, statement in enumerate(program.statements):
            try:
                scope[f"v{i}"] = eval(statement, scope)
            except Exception as problem:
                ran.exception = problem
                return
            ran.types.append(jax.tree.map(jax.typeof, scope[f"v{i}"]))

    structs = [
        jax.ShapeDtypeStruct(
            o.shape,
            jnp.dtype(o.dtype),
            sharding=NamedSharding(mesh, P(*o.spec)) if sharded and o.spec is not None else None,
        )
        for o in program.operands
    ]
    if sharded:
        with jax.sharding.use_abstract_mesh(mesh):
            jax.eval_shape(body, *structs)
    else:
        jax.eval_shape(body, *structs)
    return ran


class Draw:
    """Draws programs."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def pick(self, options: Any) -> Any:
        return self.rng.choice(list(options))

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def shape(self) -> tuple[int, ...]:
        return tuple(self.pick(SIZES) for _ in range(self.pick((1, 2, 2, 2, 3, 3, 4))))

    def spec(self, program: Program, shape: tuple[int, ...]) -> tuple[Any, ...]:
        """Axes of the mesh dealt to dimensions that they divide."""
        sizes = dict(zip(program.names, program.sizes, strict=True))
        entries: list[Any] = [None] * len(shape)
        for axis in self.rng.sample(program.names, len(program.names)):
            if not shape or self.chance(0.2):
                continue
            i = self.rng.randrange(len(shape))
            held = entries[i] if isinstance(entries[i], tuple) else (entries[i],) if entries[i] else ()
            ways = sizes[axis]
            for other in held:
                ways *= sizes[other]
            if shape[i] % ways == 0:
                entries[i] = (*held, axis) if held else axis
        return tuple(entries)

    def like(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape that broadcasts with this one, mostly."""
        dims = [1 if self.chance(0.15) else n for n in shape]
        return tuple(dims[self.pick(range(len(dims) + 1)) :]) if self.chance(0.2) else tuple(dims)

    def program(self) -> Program:
        sizes, names = self.pick(MESHES)
        types = "E" * len(names) if self.chance(0.7) else "".join(self.pick("EEA") for _ in names)
        program = Program(sizes, names, types, [])
        base = self.shape()
        for i in range(self.pick((1, 2, 2, 3))):
            shape = base if not i else self.like(base) if self.chance(0.7) else self.shape()
            if i and len(base) > 1 and self.chance(0.35):
                shape = (*base[:-2], base[-1], self.pick(SIZES))
            dtype = self.pick(("float32", "float32", "float32", "int32"))
            bare = self.chance(0.08)
            spec = None if bare else self.spec(program, shape)
            if i and program.operands[0].spec is not None and shape == base and self.chance(0.4):
                spec = program.operands[0].spec
            program.operands.append(Operand(shape, dtype, spec))
        return self.extend(program)

    def extend(self, program: Program) -> Program:
        """Add one to four statements that are valid for their shapes."""
        shapes = {name: (o.shape, o.dtype) for name, o in zip("abc", program.operands, strict=False)}
        for _ in range(self.pick((1, 2, 3, 4))):
            for _ in range(12):
                statement = self.pick(STATEMENTS)(self, program, shapes)
                if statement is None:
                    continue
                program.statements.append(statement)
                told = run(program, sharded=False) if "reshard" not in statement else None
                if told is None or told.exception is None:
                    break
                if "out_sharding" in statement:
                    break
                program.statements.pop()
            else:
                break
            i = len(program.statements) - 1
            plain = Program(
                program.sizes, program.names, program.types, program.operands,
                [_without_shardings(s) for s in program.statements],
            )  # fmt: skip
            result = run(plain, sharded=False)
            if result.exception is not None or not hasattr(result.types[i], "shape"):
                break
            shapes[f"v{i}"] = (result.types[i].shape, str(result.types[i].dtype))
        return program


def _without_shardings(statement: str) -> str:
    """The statement with what is said of shardings left out."""
    if statement.startswith("jax.sharding.auto_axes("):
        return "(" + statement[statement.rindex(")(") + 2 :].split(",")[0].rstrip(")") + ") * 2"
    if statement.startswith("reshard("):
        return statement[len("reshard(") :].split(",")[0]
    return statement.split(", out_sharding=")[0] + ")" if ", out_sharding=" in statement else statement


Shapes = dict[str, tuple[tuple[int, ...], str]]
Statement = Callable[[Draw, Program, Shapes], "str | None"]


def _array(draw: Draw, shapes: Shapes, least: int = 0) -> tuple[str, tuple[int, ...]] | None:
    fitting = [name for name, (shape, _) in shapes.items() if len(shape) >= least]
    if not fitting:
        return None
    name = fitting[-1] if draw.chance(0.5) else draw.pick(fitting)
    return name, shapes[name][0]


def _template(text: str, least: int = 0, **draws: Callable[[Draw, tuple[int, ...]], Any]) -> Statement:
    """A statement on one array ``{x}`` of some rank at least."""

    def make(draw: Draw, program: Program, shapes: Shapes) -> str | None:
        found = _array(draw, shapes, least)
        if found is None:
            return None
        values = {key: how(draw, found[1]) for key, how in draws.items()}
        return None if None in values.values() else text.format(x=found[0], **values)

    return make


def _pair(text: str, least: int = 0, **draws: Callable[[Draw, tuple[int, ...]], Any]) -> Statement:
    """A statement on two arrays ``{x}`` and ``{y}``."""

    def make(draw: Draw, program: Program, shapes: Shapes) -> str | None:
        found, other = _array(draw, shapes, least), _array(draw, shapes, least)
        if found is None or other is None:
            return None
        values = {key: how(draw, found[1]) for key, how in draws.items()}
        return text.format(x=found[0], y=other[0], **values)

    return make


def _axis(draw: Draw, shape: tuple[int, ...]) -> int:
    return draw.rng.randrange(-len(shape), len(shape))


def _axes(draw: Draw, shape: tuple[int, ...]) -> Any:
    if draw.chance(0.2):
        return "None"
    if draw.chance(0.6):
        return _axis(draw, shape)
    return tuple(draw.rng.sample(range(len(shape)), draw.pick(range(1, len(shape) + 1))))


def _order(draw: Draw, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(draw.rng.sample(range(len(shape)), len(shape)))


def _new_shape(draw: Draw, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape of as many elements: dimensions merged, split, and ones put in."""
    dims = list(shape)
    for _ in range(draw.pick((1, 1, 2))):
        how = draw.pick(("merge", "split", "one", "minus"))
        if how == "merge" and len(dims) > 1:
            i = draw.rng.randrange(len(dims) - 1)
            dims[i : i + 2] = [dims[i] * dims[i + 1]]
        elif how == "split" and dims:
            i = draw.rng.randrange(len(dims))
            part = draw.pick([n for n in range(1, dims[i] + 1) if dims[i] % n == 0] or [1])
            dims[i : i + 1] = [part, dims[i] // part]
        elif how == "one":
            dims.insert(draw.pick(range(len(dims) + 1)), 1)
        elif dims and -1 not in dims:
            dims[draw.rng.randrange(len(dims))] = -1
            break
    return tuple(dims)


def _key(draw: Draw, shape: tuple[int, ...]) -> str:
    """What stands in the brackets of an index."""
    items = []
    for size in shape[: draw.pick(range(1, len(shape) + 1))]:
        kind = draw.pick(("int", "slice", "slice", "all", "all", "None", "step") if size else ("all",))
        if kind == "int":
            items.append(str(draw.rng.randrange(-size, size)))
        elif kind == "slice":
            start = draw.rng.randrange(size)
            items.append(f"{start}:{draw.pick(range(start, size + 1))}")
        elif kind == "step":
            items.append(draw.pick(("::2", "::-1", "1::2", "::4")))
        else:
            items.append(":" if kind == "all" else "None, :")
    if draw.chance(0.15):
        items.insert(draw.pick((0, len(items))), "...")
    return ", ".join(items)


def _spec_text(program: Program, draw: Draw, shape: tuple[int, ...]) -> str:
    return f"P(*{draw.spec(program, shape)!r})"


def _einsum(draw: Draw, program: Program, shapes: Shapes) -> str | None:
    found, other = _array(draw, shapes, 1), _array(draw, shapes, 1)
    if found is None or other is None:
        return None
    letters: dict[str, int] = {}
    terms = []
    for _, shape in (found, other):
        term = ""
        for size in shape:
            free = [c for c, n in letters.items() if n == size and c not in term]
            name = draw.pick(free) if free and draw.chance(0.7) else "ijklmnopqr"[len(letters)]
            letters[name] = size
            term += name
        terms.append(term)
    kept = [c for c in letters if draw.chance(0.6)]
    draw.rng.shuffle(kept)
    out = ""
    if draw.chance(0.3):
        # Now and then one entry too many.
        sizes = tuple(letters[c] for c in kept) + (8,) * draw.chance(0.1)
        out = f", out_sharding={_spec_text(program, draw, sizes)}"
    return f'jnp.einsum("{",".join(terms)}->{"".join(kept)}", {found[0]}, {other[0]}{out})'


def _chain(draw: Draw, program: Program, shapes: Shapes) -> str | None:
    """A contraction of three operands, of which two are whole, mostly."""
    found = _array(draw, shapes, 2)
    if found is None:
        return None
    name, shape = found
    i, j = draw.rng.sample(range(len(shape)), 2)
    letters = "ijkl"[: len(shape)]
    if len(shape) > len(letters):
        return None
    out = letters.replace(letters[i], "m").replace(letters[j], "n") if draw.chance(0.7) else letters
    first = f"{name}.T.sum() * jnp.ones((4, {shape[i]}))"
    second = f"jnp.ones(({shape[j]}, 2))" if draw.chance(0.7) else name
    term = f"{letters[j]}n" if second != name else letters
    if second == name and "n" in out:
        return None
    return f'jnp.einsum("{letters},m{letters[i]},{term}->{out}", {name}, {first}, {second})'


def _reshard(draw: Draw, program: Program, shapes: Shapes) -> str | None:
    found = _array(draw, shapes)
    return None if found is None else f"reshard({found[0]}, {_spec_text(program, draw, found[1])})"


def _with_out(text: str, least: int = 1) -> Statement:
    """A statement whose result is shaped as the array, with an ``out_sharding``."""

    def make(draw: Draw, program: Program, shapes: Shapes) -> str | None:
        found = _array(draw, shapes, least)
        if found is None:
            return None
        return text.format(x=found[0], shape=found[1], out=_spec_text(program, draw, found[1]))

    return make


def _concatenation(draw: Draw, program: Program, shapes: Shapes) -> str | None:
    found = _array(draw, shapes, 1)
    if found is None:
        return None
    alike = [name for name, (shape, _) in shapes.items() if len(shape) == len(found[1])]
    names = [draw.pick(alike) for _ in range(draw.pick((2, 2, 3)))]
    how = draw.pick(("concatenate", "concatenate", "stack", "vstack", "hstack"))
    axis = "" if how.endswith("vstack") or how == "hstack" else f", axis={_axis(draw, found[1])}"
    return f"jnp.{how}([{', '.join(names)}]{axis})"


def _dot_general(draw: Draw, program: Program, shapes: Shapes) -> str | None:
    found, other = _array(draw, shapes, 1), _array(draw, shapes, 1)
    if found is None or other is None:
        return None
    i, j = draw.rng.randrange(len(found[1])), draw.rng.randrange(len(other[1]))
    return f"lax.dot_general({found[0]}, {other[0]}, ((({i},), ({j},)), ((), ())))"


def _sections(draw: Draw, shape: tuple[int, ...]) -> int:
    return draw.pick((2, 2, 4, 8))


def _padding(draw: Draw, shape: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    return tuple(draw.pick(((0, 0), (1, 1), (0, 4), (8, 0))) for _ in shape)


STATEMENTS: tuple[Statement, ...] = (
    *(_pair(t) for t in (
        "{x} + {y}", "{x} * {y}", "{x} < {y}", "jnp.maximum({x}, {y})", "jnp.where({x} > 0, {x}, {y})",
        "jnp.where({y} > 0, {x}, 0)", "jnp.arctan2({x}, {y})", "jnp.minimum({x}, {y} + 1)",
        "jnp.clip({x}, {y}, 3)", "lax.add({x}, {y})", "lax.select({x} > 0, {x}, {y})",
        "jnp.broadcast_arrays({x}, {y})[0]", "jnp.logaddexp({x}, {y})", "{x} // {y}", "{x} % {y}",
        "jnp.where({x} > 0, {y}, {x})",
    )),
    *(_pair(t, 1) for t in (
        "{x} @ {y}", "{x} @ {y}", "jnp.dot({x}, {y})", "jnp.matmul({x}, {y})", "jnp.tensordot({x}, {y}, 1)",
        "jnp.inner({x}, {y})", "jnp.outer({x}, {y})", "jnp.vdot({x}, {y})", "{x} @ {y}.T",
    )),
    *(_template(t) for t in (
        "-{x}", "jnp.exp({x})", "{x} + 1", "2.0 * {x}", "{x}.astype(jnp.bfloat16)", "{x}.T",
        "jnp.zeros_like({x})", "jax.nn.relu({x})", "jax.nn.gelu({x})", "{x}.sum()", "{x}.ravel()",
        "{x}.flatten()", "{x}[None]", "{x}[..., None]", "jnp.squeeze({x})", "jnp.ones_like({x}) + {x}",
        "jnp.argmax({x})", "jnp.full_like({x}, 2)", "{x} ** 2", "jnp.ones({x}.shape)", "jnp.abs({x}) > 0.5",
        "jnp.isnan({x})", "jnp.cumsum({x})", "jnp.atleast_2d({x})", "jax.nn.one_hot({x}, 8)",
        "jnp.expand_dims({x}, 0)", "jax.nn.logsumexp({x})", "jnp.sqrt(jnp.mean({x}))",
        "lax.stop_gradient({x})",
        "jnp.asarray({x})", "{x}.at[...].set(0)", "jnp.array([1.0, 2.0]) * 3", "jnp.arange(8)",
        "jnp.broadcast_to({x}, (2, *{x}.shape))", "jnp.nan_to_num({x})", "jnp.round({x})",
        "jnp.linalg.norm({x})", "jax.random.normal(jax.random.key(0), {x}.shape)",
    )),
    *(_template(f"{name}({{x}}, axis={{axis}})", 1, axis=_axes) for name in (
        "jnp.sum", "jnp.mean", "jnp.max", "jnp.prod", "jnp.var", "jnp.std", "jnp.any", "jnp.ptp",
        "jax.nn.logsumexp", "jax.nn.softmax", "jnp.flip",
    )),
    *(_template(f"{name}({{x}}, axis={{axis}})", 1, axis=_axis) for name in (
        "jnp.argmax", "jnp.sort", "jnp.argsort", "jnp.cumsum", "jax.nn.log_softmax", "lax.cumsum",
        "jnp.cumprod", "jnp.median",
    )),
    _template("jnp.sum({x}, axis={axis}, keepdims=True)", 1, axis=_axes),
    _template("{x}.mean({axis}, keepdims=True)", 1, axis=_axis),
    _template("{x}.max(axis={axis})", 1, axis=_axis),
    _template("{x}.transpose({order})", 1, order=_order),
    _template("jnp.transpose({x}, {order})", 1, order=_order),
    _template("lax.transpose({x}, {order})", 1, order=_order),
    _template("jnp.swapaxes({x}, {i}, {j})", 1, i=_axis, j=_axis),
    _template("jnp.moveaxis({x}, {i}, {j})", 1, i=_axis, j=_axis),
    *[_template("{x}.reshape({shape})", 1, shape=_new_shape)] * 4,
    _template("jnp.reshape({x}, {shape})", 1, shape=_new_shape),
    *[_template("{x}[{key}]", 1, key=_key)] * 4,
    _template("{x}.at[{key}].set(1)", 1, key=_key),
    _template("{x}.at[{key}].add(2)", 1, key=_key),
    _template("jnp.tile({x}, {n})", 1, n=lambda d, s: d.pick((1, 2, (2, 1), (1, 2)))),
    _template("jnp.repeat({x}, 2, axis={axis})", 1, axis=_axis),
    _template("jnp.pad({x}, {n})", 1, n=_padding),
    _template("jnp.roll({x}, {n}, axis={axis})", 1, n=lambda d, s: d.pick((1, 2, 4)), axis=_axis),
    _template("jnp.split({x}, {n}, axis={axis})[0]", 1, n=_sections, axis=_axis),
    _template("jnp.split({x}, {n}, axis={axis})[1] + 1", 1, n=_sections, axis=_axis),
    _template("jnp.take({x}, jnp.array([0, 1]), axis={axis})", 1, axis=_axis),
    _template("{x}[jnp.array([0, 1])]", 1),
    _template("jnp.take_along_axis({x}, jnp.argmax({x}, axis=-1, keepdims=True), axis=-1)", 1),
    _template("lax.top_k({x}, 2)[0]", 1),
    _template("jnp.tril({x})", 2),
    *(_template(t, 1) for t in (
        "jnp.unstack({x})[0]", "lax.slice_in_dim({x}, 0, 2, axis=-1)",
        "lax.index_in_dim({x}, 0, 0)", "lax.index_in_dim({x}, 0, -1, keepdims=False)",
        "lax.dynamic_slice_in_dim({x}, jnp.argmax({x}), 4, axis=0)",
        "lax.dynamic_index_in_dim({x}, 0, -1, keepdims=False)", "lax.dynamic_index_in_dim({x}, 0, 0)",
        "lax.dynamic_update_slice_in_dim({x}, {x}[:1], 0, 0)",
    )),
    _pair("lax.dynamic_update_slice({x}, {y}, (0, 0))", 2),
    _pair("lax.dynamic_slice({x}, (0, 0), {y}.shape)", 2),
    _template("lax.rev({x}, ({axis},))", 1, axis=lambda d, s: d.rng.randrange(len(s))),
    _template("lax.reduce_max({x}, ({axis},))", 1, axis=lambda d, s: d.rng.randrange(len(s))),
    _template("lax.squeeze({x}, ({axis},))", 1, axis=lambda d, s: d.rng.randrange(len(s))),
    _template("lax.broadcast({x}, (4,))"),
    *(_template(t, 1) for t in (
        "jax.vmap(lambda r: r * 2)({x})", "jax.vmap(lambda r: r.sum())({x})",
        "jax.vmap(lambda r: jnp.ones(3))({x})", "jax.vmap(jnp.sum, in_axes=-1)({x})",
        "jax.grad(lambda r: (r * r).sum())({x}.astype(jnp.float32))", "jax.jit(lambda r: r + 1)({x})",
        "jax.checkpoint(lambda r: jnp.sin(r))({x})", "jax.eval_shape(lambda r: r * 2, {x})",
        "jax.vmap(lambda r: r, out_axes=-1)({x})",
    )),
    _pair("jax.vmap(lambda r, s: r + s)({x}, {y})", 1),
    _pair("jax.vmap(lambda r, s: r @ s, in_axes=(0, None))({x}, {y})", 2),
    *(_template(f"jax.vmap({body})({{x}})", 2) for body in (
        "lambda r: r[0]", "lambda r: r.reshape(-1)", "jnp.sort", "jnp.cumsum", "jnp.argmax",
        "lambda r: jnp.concatenate([r, r])", "lambda r: r @ r.T", "lambda r: jnp.tile(r, 2)",
        "lambda r: r.at[0].set(1)", "lambda r: jnp.split(r, 2)[0]", "lambda r: r[:2]", "jax.nn.softmax",
        "lambda r: r[..., None] * r", "lambda r: jnp.pad(r, 1)", "lambda r: jnp.take(r, jnp.array([0]), 0)",
    )),
    *(_pair(f"jax.vmap({body})({{x}}, {{y}})", 2) for body in (
        "lambda r, s: jnp.where(r > 0, r, s)", "jnp.dot", "lambda r, s: r @ s", "jnp.outer",
        "lambda r, s: jnp.stack([r, s])",
    )),
    *(_pair(f"jax.vmap({body})({{x}}, {{y}})", 2) for body in (
        "lambda r, s: r.at[jnp.argmax(s)].add(1)", "lambda r, s: r.at[jnp.argmax(r, 0)].set(s)",
        "lambda r, s: jax.ops.segment_sum(r, s.astype(int), 4)",
        "lambda r, s: jnp.zeros(r.shape).at[s.astype(int)].add(r)",
    )),
    _pair("jax.vmap(jnp.add, in_axes=(0, None))({x}, {y})", 1),
    _pair("jax.jit(lambda r, s: r * s)({x}, {y})"),
    _pair("jax.value_and_grad(lambda r, s: (r @ s).sum())({x}.astype(float), {y}.astype(float))[1]", 1),
    _with_out("jax.sharding.auto_axes(lambda r: jnp.sort(r), out_sharding={out})({x})"),
    _with_out("jax.sharding.auto_axes(lambda r: r * 2)({x}, out_sharding={out})"),
    _pair("lax.batch_matmul({x}, {y})", 2),
    _pair("jnp.einsum('...ij,...jk->...ik', {x}, {y})", 2),
    _pair("jnp.einsum('ij,j->i', {x}, {y})", 1),
    _pair("{x}.at[0].set({y})", 1),
    _pair("{x}.at[1:].add({y}[1:])", 1),
    *(_pair(t, 1) for t in (
        "{x}.at[jnp.argmax({y}, axis=-1)].set(1)", "{x}.at[jnp.argmax({x}, axis=0)].add({y})",
        "jax.ops.segment_sum({x}, jnp.arange({x}.shape[0]), 8)", "{x}.at[:, jnp.arange(2)].set({y}[:2])",
        "jax.ops.segment_max({x}, {y}.astype(int), num_segments=4)",
        "jax.ops.segment_sum({x}, jnp.argmax({x}.reshape({x}.shape[0], -1), axis=1), 4)",
        "jnp.zeros({x}.shape).at[jnp.arange({x}.shape[0])].add({x})",
    )),
    _pair("{x}.at[jnp.argmax({y}, 0), jnp.argmax({x}, axis=-1), None].mul({y})", 2),
    _pair("{x}.at[jnp.array([0, 1]), :1, 0].min({y})", 3),
    _pair("{x}.at[0, :, jnp.argmax({y}, -1)].set(0)", 3),
    _with_out("{x}.at[jnp.argmax({x}, 0)].add(1, out_sharding={out})"),
    _pair("{x}[jnp.argmax({y}, axis=-1)]", 1),
    _pair("jnp.take({x}, jnp.argmax({y}, axis=0), axis=-1)", 1),
    _pair("{x}[jnp.argmax({x})]", 1),
    _with_out("jnp.reshape({x}, {shape}, out_sharding={out})"),
    _with_out("jnp.zeros({shape}, out_sharding={out})"),
    _with_out("jax.random.normal(jax.random.key(0), {shape}, out_sharding={out})"),
    _with_out("{x}.at[0].set(1, out_sharding={out})"),
    *[_einsum] * 8,
    _chain,
    *[_reshard] * 3,
    *[_concatenation] * 4,
    *[_dot_general] * 2,
)  # fmt: skip

"""Random programs about sharding: meshes, `shard_map`, and the calls that place arrays."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from typing import Any

PRELUDE = """\
from functools import partial
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import mesh_utils
from jax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding, PartitionSpec as P
"""

#: What programs ask of a mesh's devices, and of its axes.
DEVICES = """\
mesh.devices.shape
mesh.devices.size
mesh.devices.ndim
mesh.devices.T.shape
len(mesh.devices)
mesh.local_mesh.axis_names
mesh.is_multi_process
len(mesh.devices.flat)
np.prod(mesh.devices.shape)
mesh.devices.flatten().shape
mesh.devices[:1].shape
mesh.devices.reshape(-1).shape"""
AXES = """\
dict(mesh.shape)
mesh.shape[AXIS]
mesh.axis_names
mesh.size
mesh.auto_axes
mesh.explicit_axes
len(mesh.axis_names)
mesh.empty
mesh.axis_sizes
tuple(mesh.shape.values())
list(mesh.shape)
AXIS in mesh.axis_names
AXIS in mesh.shape
mesh.shape.get('none', 1)
mesh.shape_tuple
list(mesh.shape.items())
mesh.abstract_mesh.axis_names
len(mesh.shape)
jax.device_count() // mesh.size
sorted(mesh.shape)
max(mesh.shape.values())
mesh.axis_names.index(AXIS)"""

Shape = tuple[int, ...]


@dataclass
class Maker:
    """Writes one program from a seed; ``lines`` is its text so far."""

    seed: int
    lines: list[str] = field(default_factory=list)
    probes: int = 0
    axes: dict[str, int] = field(default_factory=dict)
    abstract: bool = False

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    @property
    def text(self) -> str:
        return "\n".join([PRELUDE, *self.lines, ""])

    def pick(self, *options: Any) -> Any:
        return self.random.choice(options)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def add(self, *lines: str) -> None:
        self.lines += lines

    def probe(self, expression: str) -> None:
        self.add(f"probe({self.probes}, {expression})")
        self.probes += 1

    # -- meshes --------------------------------------------------------------------------------

    def sizes(self, wrong: float = 0.0) -> Shape:
        """The shape of a mesh of at most eight devices, or sometimes of more."""
        if self.chance(wrong):
            return self.pick((3, 4), (2, 2, 3), (9,), (2, 3), (4, 4))
        return self.pick((8,), (4,), (2, 4), (4, 2), (2, 2), (2, 2, 2), (1, 8), (2, 1, 4))

    def mesh(self, wrong: float = 0.0, abstract: bool = False, explicit: float = 0.0) -> None:
        """Bind ``mesh``, built in one of many ways."""
        sizes = self.sizes(wrong)
        names = tuple(self.random.sample(["x", "y", "data", "model"], len(sizes)))
        self.axes, self.abstract = dict(zip(names, sizes, strict=True)), abstract
        if self.chance(wrong):
            names = self.pick(names[:-1], (*names, "more"), names[0], (*names, *names))
        count = math.prod(sizes)
        devices = "jax.devices()" if count == 8 or self.chance(wrong) else f"jax.devices()[:{count}]"
        array = self.pick("np.array", "np.asarray")
        shape = self.pick(f"{sizes}", ", ".join(map(str, sizes)))
        if self.chance(0.3):
            shape = ", ".join(["-1", *map(str, sizes[1:])])
        kind = "Explicit" if self.chance(explicit) else "Auto"
        types = self.pick(
            f"(AxisType.{kind},) * {len(sizes)}", str((f"AxisType.{kind}",) * len(sizes)).replace("'", "")
        )
        forms = [
            f"Mesh({array}({devices}).reshape({shape}), {names!r})",
            f"Mesh(devices={array}({devices}).reshape({shape}), axis_names={names!r})",
            f"Mesh(np.reshape({devices}, {sizes}), {names!r})",
            f"jax.make_mesh({sizes}, {names!r}, axis_types={types})",
            f"jax.make_mesh({sizes}, {names!r}, {types}, devices={devices})",
            f"Mesh(mesh_utils.create_device_mesh({sizes}, {devices}), {names!r}, axis_types={types})",
            f"Mesh(mesh_utils.create_device_mesh({sizes}, devices={devices}), {names!r})",
        ]
        if len(sizes) == 1:
            forms += [f"Mesh({devices}, {names!r})", f"Mesh({array}({devices}), {names!r})"]
        if abstract:
            forms = [
                f"AbstractMesh({sizes}, {names!r})",
                f"AbstractMesh({sizes}, {names!r}, axis_types={types})",
            ]
        if kind == "Explicit":
            forms = [form for form in forms if "AxisType" in form] + [
                f"jax.make_mesh({sizes}, {names!r})"
            ] * (not abstract)
        self.add(f"mesh = {self.random.choice(forms)}")

    # -- specs ---------------------------------------------------------------------------------

    def entries(self, rank: int, wrong: float) -> list[Any]:
        """The entries of a spec for an array of some rank."""
        free = self.random.sample(list(self.axes), len(self.axes))
        found: list[Any] = []
        for _ in range(self.random.randint(0, rank)):
            if not free or self.chance(0.35):
                found.append(None)
            elif len(free) > 1 and self.chance(0.2):
                found.append((free.pop(), free.pop()))
            else:
                found.append(self.pick(free[-1], (free[-1],)) if self.chance(0.1) else free[-1])
                free.pop()
        if self.chance(wrong):
            mistake = self.pick("unknown", "twice", "long", "long")
            if mistake == "unknown":
                found[: 1 if found else 0] = ["nowhere"]
            elif mistake == "twice":
                found = [self.pick(*self.axes)] * 2
            else:
                found += [None] * (rank + 1 - len(found))
        return found

    def spec(self, entries: list[Any]) -> str:
        return f"P({', '.join(map(repr, entries))})"

    def ways(self, entry: Any) -> int:
        names = entry if isinstance(entry, tuple) else (entry,)
        return math.prod(self.axes.get(name, 1) for name in names)

    def fitting(self, entries: list[Any], rank: int, wrong: float) -> Shape:
        """A shape that the entries divide, or sometimes not."""
        shape = [
            self.ways(entries[i]) * self.random.randint(1, 3)
            if i < len(entries)
            else self.random.randint(1, 4)
            for i in range(rank)
        ]
        if shape and self.chance(wrong):
            shape[self.random.randrange(rank)] += 1
        return tuple(shape)

    # -- shard_map -----------------------------------------------------------------------------

    def shard_map(self, check_vma: bool) -> None:
        """A shard_map over one to three arguments, its call, and a probe of what it returns."""
        wrong = self.pick(0.0, 0.0, 0.15)
        structures = [self.argument(wrong) for _ in range(self.random.randint(1, 3))]
        specs = [spec for spec, _, _ in structures]
        leaves = [f"a{i}{path}" for i, (_, _, paths) in enumerate(structures) for path in paths]
        given = ", ".join(f"a{i}" for i in range(len(structures)))
        in_specs = f"({', '.join(specs)},)"
        if len(set(specs)) == 1 and self.chance(0.6):
            in_specs = specs[0]
        elif self.chance(wrong):
            in_specs = f"({', '.join(specs[:-1])},)" if len(specs) > 1 else f"({specs[0]}, P())"
        for i, (_, text, _) in enumerate(structures):
            self.add(f"x{i} = {text}")
        results, outs = self.body(leaves, given, in_specs, wrong)
        names = f"mesh=mesh, in_specs={in_specs}, out_specs={outs}"
        vma = "" if check_vma else ", check_vma=False"
        self.add(f"def body({given}):", *(f"    {line}" for line in results))
        call = f"({', '.join(f'x{i}' for i in range(len(structures)))})"
        form = self.random.randrange(5)
        if form == 0:
            self.add("from jax.experimental.shard_map import shard_map")
            old = vma.replace("check_vma", "check_rep")
            self.add(
                self.pick(
                    f"f = shard_map(body, {names}{old})",
                    f"f = shard_map(body, mesh, {in_specs}, {outs}{old})",
                )
            )
        elif form == 1:
            self.add(f"f = partial(jax.shard_map, {names}{vma})(body)")
        elif form == 2:
            self.add(f"f = jax.shard_map({names}{vma})(body)")
        else:
            self.add(f"f = jax.shard_map(body, {names}{vma})")
        if self.chance(0.3):
            self.add("f = jax.jit(f)")
        self.probe(f"f{call}")

    def argument(self, wrong: float) -> tuple[str, str, list[str]]:
        """The spec of one argument, its text, and the paths of its leaves."""
        kind = self.pick("array", "array", "array", "dict", "tuple", "prefix")
        if kind in ("array", "prefix"):
            rank = self.random.randint(0, 3)
            entries = self.entries(rank, wrong)
            text = self.array(self.fitting(entries, rank, wrong))
            if kind == "array":
                return self.spec(entries), text, [""]
            return self.spec(entries), f"({text}, {{'k': {text}}})", ["[0]", "[1]['k']"]
        parts = [self.argument(wrong) for _ in range(2)]
        specs, texts = [p[0] for p in parts], [p[1] for p in parts]
        keys = ["['w']", "['b']"] if kind == "dict" else ["[0]", "[1]"]
        paths = [key + path for key, part in zip(keys, parts, strict=True) for path in part[2]]
        if kind == "dict":
            return f"{{'w': {specs[0]}, 'b': {specs[1]}}}", f"{{'w': {texts[0]}, 'b': {texts[1]}}}", paths
        return f"({specs[0]}, {specs[1]})", f"({texts[0]}, {texts[1]})", paths

    def array(self, shape: Shape) -> str:
        dtype = self.pick("", "", ", jnp.bfloat16", ", dtype='int32'")
        return f"jnp.{self.pick('zeros', 'ones')}({shape}{dtype})"

    def body(self, leaves: list[str], given: str, in_specs: str, wrong: float) -> tuple[list[str], str]:
        """The lines of a body, and its out_specs. Each step asks JAX for the shapes so far."""
        chosen = self.random.sample(leaves, min(len(leaves), self.random.randint(1, 2)))
        lines, results = [], []
        for i, leaf in enumerate(chosen):
            lines.append(f"v{i} = {leaf}")
            for _ in range(self.random.randint(0, 3)):
                shape = self.local_shape(lines, f"v{i}", given, in_specs)
                if shape is None:
                    break
                lines.append(f"v{i} = {self.operation(f'v{i}', shape, wrong)}")
            results.append((f"v{i}", self.local_shape(lines, f"v{i}", given, in_specs)))
        ranks = [0 if shape is None else len(shape) for _, shape in results]
        outs = [self.spec(self.entries(rank, wrong)) for rank in ranks]
        names = [name for name, _ in results]
        if len(results) == 1:
            form = self.pick("{}", "{}", "({},)", "{{'r': {}}}", "[{}]")
            return [*lines, f"return {form.format(names[0])}"], self.pick(
                form.format(outs[0]), form.format(outs[0]), outs[0]
            )
        form = self.pick("({}, {})", "({}, {})", "{{'p': {}, 'q': {}}}", "[{}, ({},)]")
        specs = form.format(*outs)
        if self.chance(wrong):
            specs = self.pick(f"({outs[0]}, {outs[1]}, P())", f"({outs[0]},)", f"[{outs[0]}, {outs[1]}]")
        elif self.chance(0.3):
            specs = self.spec(self.entries(min(ranks), 0))
        return [*lines, f"return {form.format(*names)}"], specs

    def local_shape(self, lines: list[str], name: str, given: str, in_specs: str) -> Shape | None:
        """What one shard of a value looks like, None where JAX rejects what comes before."""
        text = [
            PRELUDE,
            *self.lines,
            f"def body({given}):",
            *(f"    {line}" for line in lines),
            f"    return {name}",
        ]
        count = given.count(",") + 1
        text.append(
            f"f = jax.shard_map(body, mesh=mesh, in_specs={in_specs}, out_specs=P(), check_vma=False)"
        )
        text.append(f"shape = jax.eval_shape(f, {', '.join(f'x{i}' for i in range(count))}).shape")
        names: dict[str, Any] = {}
        try:
            exec("\n".join(text), names)
        except Exception:
            return None
        return names["shape"]

    def operation(self, v: str, shape: Shape, wrong: float) -> str:
        """One step of a body."""
        rank = len(shape)
        axis = self.pick(*self.axes)
        if self.chance(wrong):
            axis = "nowhere"
        several = tuple(self.axes)[:2]
        names = repr(self.pick(axis, axis, (axis,), several))
        ways = self.axes.get(axis, 1)
        choices = [
            f"{v} * 2",
            f"jnp.sin({v})",
            f"{v}[None]",
            f"{v}.reshape(-1)",
            f"{v}.sum()",
            f"jnp.stack([{v}, {v}])",
            f"lax.{self.pick('psum', 'pmean', 'pmax', 'pmin')}({v}, {names})",
            f"lax.psum({v}, axis_name={names})",
            f"lax.all_gather({v}, {axis!r}, axis={self.random.randint(0, rank)})",
            f"{v} + lax.axis_index({names})",
            f"{v} * lax.axis_size({axis!r})",
            f"{v} * lax.psum(1, {axis!r})",
            f"jnp.full((lax.axis_size({axis!r}), 2), {v}.size)",
            f"lax.ppermute({v}, {axis!r}, perm=[(i, (i + 1) % {ways}) for i in range({ways})])",
            f"lax.ppermute({v}, {axis!r}, [(0, {ways - 1})])",
        ]
        if rank:
            d, e = self.random.randrange(rank), self.random.randrange(rank)
            long = f"jnp.concatenate([{v}] * {ways}, {d})"
            choices += [
                f"{v} @ {v}.T" if rank < 3 else f"{v}.sum(0)",
                f"{v}.sum({d})",
                f"{v}.T",
                f"lax.all_gather({v}, {axis!r}, axis={d}, tiled=True)",
                f"lax.all_gather({v}, {axis!r}, axis={-1 - d}, tiled=True)",
                f"lax.psum_scatter({v}, {axis!r}, scatter_dimension={d}, tiled=True)",
                f"lax.psum_scatter({v}, {axis!r}, tiled=True)",
                f"lax.psum_scatter({long}, {axis!r}, scatter_dimension={d}, tiled=True)",
                f"lax.all_to_all({v}, {axis!r}, {d}, {e}, tiled=True)",
                f"lax.all_to_all({long}, {axis!r}, split_axis={d}, concat_axis={e}, tiled=True)",
                f"lax.all_to_all(jnp.zeros(({ways}, 3)), {axis!r}, 0, {self.pick(0, 1)})",
                f"lax.psum_scatter(jnp.stack([{v}] * {ways}), {axis!r})",
            ]
        return self.random.choice(choices)

    # -- placements ----------------------------------------------------------------------------

    def placement(self) -> None:
        """One call that puts an array on a mesh, with the mesh given or in the context."""
        wrong = self.pick(0.0, 0.0, 0.3)
        rank = self.random.randint(0, 3)
        entries = self.entries(rank, wrong)
        shape = self.fitting(entries, rank, wrong)
        spec = self.spec(entries)
        indent = ""
        target = sharding = f"NamedSharding(mesh, {spec})"
        # Made before any mesh is set, or they would lie on it.
        self.add(f"x = jnp.ones({shape})")
        context = self.pick("none", "none", "set", "with", "legacy")
        if context == "set":
            self.add("jax.set_mesh(mesh)")
        elif context != "none":
            self.add("with jax.set_mesh(mesh):" if context == "with" else "with mesh:")
            indent = "    "
        if self.chance(0.7 if context != "none" else 0.05):
            target = spec
        both = f"in_shardings=({target}, None), out_shardings=({target}, None)"
        data = f"lambda index: np.ones({shape}, np.float32)[index]"
        other = f"NamedSharding(mesh, {self.spec(self.entries(rank, 0))})"
        call = self.pick(
            f"jax.device_put(x, {target})",
            f"jax.device_put(x, device={target})",
            f"jax.device_put({{'a': x, 'b': (x,)}}, {target})",
            f"jax.device_put((x, np.ones({shape})), ({target}, {target}))",
            f"jax.jit(lambda v: v * 2, in_shardings={target})(x)",
            f"jax.jit(lambda v: v * 2, in_shardings=({target},), out_shardings={target})(x)",
            f"jax.jit(lambda v, w: (v, w), {both})(x, 2.0)",
            f"jax.jit(lambda v: {{'r': v}}, out_shardings={target})(x)",
            f"jax.jit(lambda v: v, out_shardings={{'r': {sharding}}})(x)"
            if self.chance(wrong)
            else f"jax.jit(lambda v: v, out_shardings={target})(x)",
            f"jax.jit(lambda v: lax.with_sharding_constraint(v, {target}) + 1)(x)",
            f"lax.with_sharding_constraint(jnp.ones({shape}), {target})",
            f"jax.lax.with_sharding_constraint([jnp.ones({shape})], {target})",
            f"jax.jit(lambda v: jax.device_put(v, {target}))(x)",
            f"jnp.zeros({shape}, device={sharding})",
            f"jnp.full({shape}, 2.0, device={sharding})",
            f"jnp.zeros_like(x, device={sharding})",
            f"jax.make_array_from_callback({shape}, {target}, {data})",
            f"jax.ShapeDtypeStruct({shape}, jnp.float32, sharding={target})",
            f"jax.device_put(jax.device_put(x, {other}), {target})",
            f"NamedSharding(mesh, {spec}).shard_shape({shape})",
            f"tuple({spec})",
            f"NamedSharding(mesh, {spec}).spec",
        )
        self.add(f"{indent}probe({self.probes}, {call})")
        self.probes += 1

    def read_back(self) -> None:
        """What a mesh says of itself; an abstract one has no devices."""
        axis = self.pick(*self.axes)
        held = () if self.abstract else self.random.sample(DEVICES.splitlines(), 5)
        self.probe(self.pick(*held, *(line.replace("AXIS", repr(axis)) for line in AXES.splitlines())))

"""Random expressions that make, read and combine meshes, specs and shardings, right and wrong ones."""

from __future__ import annotations

import random
from collections.abc import Callable

SETUP = """\
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
import jax
import numpy as np
from jax import P
from jax.experimental import mesh_utils
from jax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding, SingleDeviceSharding
A, E, M = AxisType.Auto, AxisType.Explicit, AxisType.Manual
D = jax.devices()
F = np.array(D)
G = F.reshape(4, 2)
auto = Mesh(G, ("x", "y"))
expl = jax.make_mesh((4, 2), ("x", "y"))
mixed = jax.make_mesh((2, 2, 2), ("x", "y", "z"), axis_types=(E, A, A))
line = Mesh(F, "x")
one = Mesh(F[:1], ("x",))
ab = AbstractMesh((4, 2), ("x", "y"))
abx = AbstractMesh((2, 1, 4), ("x", "y", "z"), (E, A, E))
"""

MESHES = ("auto", "expl", "mixed", "line", "one", "ab", "abx")


#: What follows the dot after a mesh.
_READS = """\
shape
shape['x']
shape.get('q', 1)
shape.get('y')
shape.items()
shape.values()
size
axis_names
axis_sizes
axis_types
shape_tuple
empty
are_all_axes_auto
auto_axes
are_all_axes_explicit
are_all_axes_manual
explicit_axes
manual_axes
devices
device_ids
devices.shape
devices.size
devices.ndim
devices[0]
devices.T
devices.flatten()
devices.reshape(-1)
abstract_mesh
local_mesh
is_multi_process
local_devices
_name_to_type
axis_names[0]
axis_names.index('x')
axis_types[0]
_any_axis_auto
abstract_mesh.devices
abstract_mesh.shape
devices.shape[0]
shape_tuple[0][1]
axis_types[0].name
""".splitlines()

#: What is asked of a mesh ``$m``, or of two.
_MESH_FORMS = """\
len($m.shape)
list($m.shape)
'y' in $m.shape
tuple($m.axis_names)
[n for n in $m.axis_names]
{n: $m.shape[n] for n in $m.axis_names}
dict($m.shape)
'q' in $m.axis_names
$m == $n
$m != $n
bool($m)
$m.axis_types == (A, A)
$m.axis_types[0] == E
isinstance($m, Mesh)
isinstance($m, AbstractMesh)
$m is None
$m == None
dict(zip($m.axis_names, $m.axis_sizes))
sum($m.shape.values())
Mesh($m.devices, $m.axis_names[::-1])
A in $m.axis_types
A == E
A != A
getattr($m, 'axis_names')
$m.axis_names == ('x', 'y')
""".splitlines()

#: What is done with a spec ``$a``, or with two.
_SPEC_FORMS = """\
$a
$a[0]
$a[-1]
$a[:1]
$a[1:]
len($a)
tuple($a)
list($a)
P(*$a)
P(*$a, None)
$a == $b
$a != $a
$a == $a
'x' in $a
None in $a
bool($a)
$a.partitions
$a.unreduced
$a.reduced
$a.update(partitions=('y',))
$a.update(unreduced={'z'})
$a.update(partitions=$b)
$a.update(reduced=['z'])
$a.count('x')
$a.index('x')
{$a: 1}[$b]
{$a: 1}.get($b, 2)
$a.to_ct_spec()
[e for e in $a]
P(*reversed($a))
P(*tuple($a)[1:])
isinstance($a, tuple)
isinstance($a, P)
jax.tree.map(lambda s: len(s), [$a, ($b,)])
$a == None
$a is None
jax.tree.map(lambda s: P(None, *s), {'a': $a}, is_leaf=lambda v: isinstance(v, P))
jax.tree.leaves([$a, None, ($b,)])
jax.tree.map(lambda s: s, [($a, 1)], is_leaf=lambda v: isinstance(v, tuple))
P(*$a.partitions, 'w')
1 if $a else 2
""".splitlines()

#: What is done with a sharding ``$s``, on a mesh ``$h``, of a spec ``$i``; ``$n`` is another one.
_SHARDING_FORMS = """\
$s
$s.spec
$s.mesh
$s.num_devices
$s.is_fully_replicated
$s.mesh.shape
$s.shard_shape((8, 8))
$s.shard_shape((16, 4, 2))
$s == $n
$s.shard_shape((6,))
$s.replicated_axes
$s.update(spec=P('y'))
$s != $n
$s.update(spec=('y', None))
$s.update(mesh=line)
$s.update(memory_kind='pinned_host')
$s.with_memory_kind('device')
$s.with_memory_kind('hbm')
len($s.device_set)
$s.device_set
$s.addressable_devices
$s.is_fully_addressable
$s.spec[0]
P(*$s.spec, None)
$s.mesh.axis_names
isinstance($s, NamedSharding)
jax.tree.map(lambda s: NamedSharding($h, s), {'a': $i, 'b': P()})
""".splitlines()


def pick(rng: random.Random, *usual: str, odd: tuple[str, ...] = (), share: float = 0.25) -> str:
    """One of the usual texts, or (seldom) one of the odd ones."""
    return rng.choice(odd) if odd and rng.random() < share else rng.choice(usual)


def _names(rng: random.Random, rank: int) -> str:
    letters = ["x", "y", "z", "w"][:rank]
    right = ", ".join(map(repr, letters))
    usual = (f"({right}{',' if rank == 1 else ''})", f"[{right}]")
    odd = (
        "(None,)", "('x', None)", "None", "5", "('x',)", "'x'", "'xy'", "('x', 'y')", "(1,)", "(['x'],)",
        "('x', 'x')", "{'x': 1, 'y': 2}", "P('x', 'y')", "()", "('x', 2)", "[]", "3.5",
    )  # fmt: skip
    return pick(rng, *usual, odd=odd)


def _types(rng: random.Random, rank: int) -> str:
    def row(count: int) -> str:
        inner = ", ".join(rng.choice("AEM" if rng.random() < 0.1 else "AE") for _ in range(count))
        return f"({inner}{',' if count == 1 else ''})"

    odd = (
        "A", "[A, E]", "('auto', 'auto')", "'auto'", "{A: ('x', 'y')}", "{'x': A}", "(A, None)", "(A,)", "()",
        "True", "(A, A, A)", "('auto',)", "(A, 'Explicit')", "A.name",
    )  # fmt: skip
    return pick(rng, row(rank), "None", odd=odd)


def _sizes(rng: random.Random, rank: int) -> str:
    size = (
        rng.choice(
            [(1,), (2,), (4,), (8,), (3,), (16,), (0,), (-1,), (2.0,), (2.5,), ("'2'",), ("'a'",), ("None",)]
        )
        if rng.random() < 0.15
        else None
    )
    good: dict[int, list[tuple[int, ...]]] = {
        0: [()],
        1: [(8,), (4,), (2,)],
        2: [(4, 2), (2, 4), (8, 1), (2, 2)],
        3: [(2, 2, 2), (1, 4, 2)],
    }
    row: list[object] = list(rng.choice(good[rank]))
    if size is not None and row:
        row[rng.randrange(rank)] = size[0]
    inner = ", ".join(map(str, row))
    usual = f"({inner}{',' if len(row) == 1 else ''})"
    odd = ("8", "None", f"[{inner}]", "'42'", "{'x': 4, 'y': 2}", "P('x')", "(-2, -4)", "(-1, 2)", "(0, 2)",
           "(16, 2)", "(True, 8)", "np.int64(8)", "((4, 2),)")  # fmt: skip
    return pick(rng, usual, odd=odd, share=0.2)


def _devices(rng: random.Random, rank: int) -> str:
    usual = {
        0: ("D[0]",),
        1: ("D", "F", "F[:4]", "G[:, 0]", "G[0]", "auto.devices[:, 1]", "G.flatten()", "G.ravel()"),
        2: ("G", "G.T", "F.reshape(2, 4)", "F.reshape(-1, 2)", "[D[:4], D[4:]]", "auto.devices", "G[:2]",
            "np.reshape(F, (8, 1))", "mixed.devices[0]", "mixed.devices.reshape(4, 2)", "G.transpose(1, 0)"),
        3: ("F.reshape(2, 2, 2)", "mixed.devices", "G.reshape(2, 2, 2)", "G[:, :, None]"),
    }[rank]  # fmt: skip
    odd = ("(4, 2)", "8", "None", "auto", "D[0]", "D", "G", "(8,)", "[]")
    return pick(rng, *usual, odd=odd, share=0.15)


def _call(
    rng: random.Random, function: str, given: list[tuple[str, str]], optional: list[tuple[str, str]]
) -> str:
    """A call with some arguments by position and some by name; seldom one is left out, or misspelt."""
    given = list(given)
    if rng.random() < 0.04:
        given.pop()
    elif rng.random() < 0.04:
        given[-1] = ("names", given[-1][1])
    by_name = rng.randrange(len(given) + 1) if given and given[-1][0] != "names" else len(given) - 1
    parts = [text for _, text in given[:by_name]] + [f"{name}={text}" for name, text in given[by_name:]]
    parts += [f"{name}={text}" for name, text in optional]
    return f"{function}({', '.join(parts)})"


def mesh(rng: random.Random) -> str:
    """A mesh, or an array of devices, made in one of the ways there are."""
    rank = rng.choice([0, 1, 1, 2, 2, 2, 2, 3])
    names = ("axis_names", _names(rng, rank))
    types = [("axis_types", _types(rng, rank))] if rng.random() < 0.5 else []
    kind = rng.randrange(7)
    if kind <= 1:
        return _call(rng, "Mesh", [("devices", _devices(rng, rank)), names], types)
    if kind <= 3:
        chosen = [("devices", rng.choice(["D", "D[:4]", "F", "G", "None", "D[:3]", "[]"]))] * (
            rng.random() < 0.3
        )
        return _call(rng, "jax.make_mesh", [("axis_shapes", _sizes(rng, rank)), names], types + chosen)
    if kind == 4:
        # What is wrong with the sizes of an AbstractMesh shows when they are read.
        made = _call(rng, "AbstractMesh", [("axis_sizes", _sizes(rng, rank)), names], types)
        return f"{made}{rng.choice(['', '.shape', '.axis_names'])}"
    if kind == 5:
        chosen = [("devices", rng.choice(["D", "D[:4]", "F", "G", "None"]))] * (rng.random() < 0.3)
        return _call(rng, "mesh_utils.create_device_mesh", [("mesh_shape", _sizes(rng, rank))], chosen)
    outer = rng.choice(["(1, 1)", "(1,)", "(1, 2)", "()", "(2, 1)", "(1, 1, 1)"])
    granule = [("process_is_granule", rng.choice(["True", "True", "False"]))] * (rng.random() < 0.8)
    shapes = [("mesh_shape", _sizes(rng, rank)), ("dcn_mesh_shape", outer)]
    return _call(rng, "mesh_utils.create_hybrid_device_mesh", shapes, granule)


def derived(rng: random.Random) -> str:
    """A mesh made of another one."""
    name = rng.choice(MESHES)
    abstract = name.startswith("ab")
    rank = {"auto": 2, "expl": 2, "ab": 2, "mixed": 3, "abx": 3}.get(name, 1)
    if abstract and rng.random() < 0.3:
        given = rng.choice(["{'x': E}", "{'q': E}", "{'x': 'e'}", "{}", "{'x': M, 'y': E}", "dict(x=A)"])
        return f"{name}.update_axis_types({given})"
    fields = [("axis_names", _names(rng, rank)), ("axis_types", _types(rng, rank))]
    fields.append(("axis_sizes", _sizes(rng, rank)) if abstract else ("devices", _devices(rng, rank)))
    chosen = rng.sample(fields, rng.choice([1, 1, 2, 3]))
    return f"{name}.update({', '.join(f'{key}={text}' for key, text in chosen)})"


def read(rng: random.Random) -> str:
    """Something read from a mesh."""
    name = rng.choice(MESHES)
    if rng.random() < 0.7:
        return f"{name}.{rng.choice(_READS)}"
    return rng.choice(_MESH_FORMS).replace("$m", name).replace("$n", rng.choice(MESHES))


def _entry(rng: random.Random) -> str:
    usual = ("None", "'x'", "'y'", "'z'", "('x', 'y')", "P.UNCONSTRAINED", "('x',)", "['y']", "()")
    odd = ("0", "1", "''", "(('x',),)", "{'x'}", "{'x': 1}", "('x', None)", "P('x')", "b'x'",
           "frozenset({'x'})", "('x', P.UNCONSTRAINED)", "['x', ['y']]", "False", "1.5", "P()")  # fmt: skip
    return pick(rng, *usual, odd=odd, share=0.1)


def spec(rng: random.Random) -> str:
    """``P(...)``."""
    parts = [_entry(rng) for _ in range(rng.choice([0, 1, 1, 2, 2, 3]))]
    for keyword in ("unreduced", "reduced"):
        if rng.random() < 0.2:
            usual = ("{'y'}", "{'z'}", "frozenset({'x'})", "set()", "{'x', 'z'}")
            odd = (
                "['x']",
                "'x'",
                "('x',)",
                "None",
                "{None}",
                "{'x', None}",
                "{1}",
                "{'x': 1}",
                "frozenset()",
                "3",
            )
            parts.append(f"{keyword}={pick(rng, *usual, odd=odd, share=0.35)}")
    if rng.random() < 0.02:
        parts.append("names='x'")
    return f"P({', '.join(parts)})"


def spec_use(rng: random.Random) -> str:
    """Something done with a spec."""
    a, b = spec(rng), spec(rng)
    if rng.random() < 0.35:
        other = rng.choice(
            [b, b, "('x',)", "()", "(None, 'y')", "['x']", "'x'", "None", "(('x', 'y'),)", "3"]
        )
        return f"{a} + {other}" if rng.random() < 0.6 else f"{other} + {a}"
    return rng.choice(_SPEC_FORMS).replace("$a", a).replace("$b", b)


def sharding(rng: random.Random) -> str:
    """A `NamedSharding`, and what is read from it."""
    usual = (
        "P()",
        "P('x')",
        "P('x', 'y')",
        "P(None, 'x')",
        "P(('x', 'y'))",
        "P('y')",
        "P(None)",
        "P('x', None)",
    )
    inside = pick(
        rng, *usual, odd=("P('q')", "P('x', 'x')", "'x'", "('x',)", "None", "['x']", "auto", spec(rng))
    )
    holder = pick(
        rng, *MESHES, odd=("None", "'x'", "(4, 2)", "P('x')", "D", "F", "8", "{'x': 4}"), share=0.08
    )
    memory = pick(
        rng,
        "",
        "",
        "'device'",
        "'pinned_host'",
        "None",
        odd=("'gpu_hbm'", "''", "3", "'x'", "['device']"),
        share=0.15,
    )
    parts = [holder, inside] + [f"{rng.choice(['', 'memory_kind='])}{memory}"] * bool(memory)
    made = f"NamedSharding({', '.join(parts)})"
    other = f"NamedSharding({rng.choice(MESHES)}, {rng.choice(usual)})"
    form = rng.choice(_SHARDING_FORMS)
    return form.replace("$s", made).replace("$n", other).replace("$h", holder).replace("$i", inside)


KINDS: dict[str, Callable[[random.Random], str]] = {
    "mesh": mesh,
    "derived": derived,
    "read": read,
    "spec": spec_use,
    "sharding": sharding,
}

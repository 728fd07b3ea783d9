"""The page that tells which API behaves how on which release of JAX, from `tests/data/releases`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

import jax_says

#: The calls of the matrix, as users write them; ``spec`` is the mistake's.
CALLS = {
    "ctor": "`NamedSharding(mesh, spec)`",
    "sds": "`jax.ShapeDtypeStruct(sharding=)`",
    "shard_shape": "`NamedSharding.shard_shape`",
    "dput_np": "`jax.device_put` of a NumPy array",
    "dput_jax": "`jax.device_put` of a JAX array",
    "dput_p": "`jax.device_put(x, spec)` under `set_mesh`",
    "dput_injit": "`jax.device_put` inside `jit`",
    "in": "`jax.jit(in_shardings=)`",
    "in_p": "`jax.jit(in_shardings=spec)` under `set_mesh`",
    "out": "`jax.jit(out_shardings=)`",
    "out_p": "`jax.jit(out_shardings=spec)` under `set_mesh`",
    "wsc": "`with_sharding_constraint` inside `jit`",
    "wsc_setmesh_p": "`with_sharding_constraint(x, spec)` under `set_mesh`",
    "wsc_eager": "`with_sharding_constraint` outside `jit`",
    "wsc_inner": "`with_sharding_constraint` on what is no output",
    "reshard": "`jax.sharding.reshard`",
    "reshard_jit": "`jax.sharding.reshard` inside `jit`",
    "smin": "`shard_map(in_specs=)`",
    "smout": "`shard_map(out_specs=)`, `check_vma=False`",
    "smout_vma": "`shard_map(out_specs=)`",
    "zeros": "`jnp.zeros(device=)`",
    "zeros_out": "`jnp.zeros(out_sharding=)`",
    "rand_out": "`jax.random.normal(out_sharding=)`",
    "cb": "`jax.make_array_from_callback`",
    "arg": "`jit` on a `ShapeDtypeStruct`",
    "linen": "linen's `Partitioned`, unboxed inside `jit`",
    "linen_eager_unbox": "linen's `Partitioned`, unboxed",
    "nnx": "`nnx.Param(out_sharding=)`",
    "nnx_jit": "`nnx.Param(out_sharding=)` inside `nnx.jit`",
    "nnx_noeager": "`nnx.get_named_sharding`",
}
#: The specs, and the array's shape.
SPECS = {
    "ok": "`P('x', 'y')`, (8, 8)",
    "too_long": "`P('x', 'y')`, (8,)",
    "too_long_trailing_None": "`P('x', None)`, (8,)",
    "too_long_Nones": "`P(None, None, None)`, (8, 8)",
    "too_short": "`P('x')`, (8, 8)",
    "scalar_P_x": "`P('x')`, ()",
    "scalar_P_None": "`P(None)`, ()",
    "scalar_P": "`P()`, ()",
    "unknown_axis": "`P('z')`, (8, 8)",
    "dup_dims": "`P('x', 'x')`, (8, 8)",
    "dup_tuple": "`P(('x', 'x'))`, (16, 8)",
    "uneven_5_over_4": "`P('x')`, (5, 8)",
    "smaller_2_over_4": "`P('x')`, (2, 8)",
    "tuple_uneven_4_over_8": "`P(('x', 'y'))`, (4, 8)",
    "zero_dim": "`P('x')`, (0, 8)",
    "unconstrained": "`P(P.UNCONSTRAINED, 'y')`, (8, 8)",
    "empty_tuple": "`P(())`, (8, 8)",
    "list_entry": "`P(['x', 'y'])`, (8, 8)",
    "set_entry": "`P({'x', 'y'})`, (8, 8)",
    "nested_tuple": "`P((('x', 'y'),))`, (8, 8)",
    "int_entry": "`P(0)`, (8, 8)",
    "none_in_tuple": "`P(('x', None))`, (8, 8)",
    "empty_string": "`P('')`, (8, 8)",
    "comma_string": "`P('x,y')`, (8, 8)",
    "auto_axis_y": "`P('y')`, (8, 8)",
    "raw_tuple": "`('x', 'y')`, (8, 8)",
    "raw_str": "`'x'`, (8,)",
    "None": "`None`, (8, 8)",
    "list_of_P": "`[P('x', 'y')]`, (8, 8)",
}
MODES = {"auto": "Auto", "explicit": "Explicit", "mixed": "x Explicit, y Auto"}
#: The modules whose names the page lists.
MODULES = (
    "jax", "jax.sharding", "jax.lax", "jax.nn", "jax.numpy", "jax.random", "jax.experimental.compute_on",
    "jax.experimental.layout", "jax.experimental.mesh_utils", "jax.experimental.multihost_utils",
    "jax.experimental.pjit", "jax.experimental.shard", "jax.experimental.shard_map", "jax.interpreters.pxla",
    "flax.linen", "flax.nnx", "flax.linen.spmd",
)  # fmt: skip

Files = dict[str, dict[str, Any]]


def page() -> str:
    """Return the page."""
    files = {
        release: json.loads((jax_says.RELEASES / f"{release}.json").read_text(encoding="utf-8"))
        for release in jax_says.table()
    }
    return "\n".join([*_head(files), *_changes(files), *_names(files), *_calls(files)]) + "\n"


def _head(files: Files) -> Iterator[str]:
    yield "# Measured releases\n"
    yield (
        "What JAX does, as it was measured by running it; nothing here is written by hand. The mesh has x=4 "
        "and y=2, on fake CPU devices. [JAX's versions](versions.md) says how shardlint uses it.\n"
    )
    yield "| JAX | jaxlib | Flax | calls | random cases |\n|---|---|---|---|---|"
    for release, held in files.items():
        said = held["releases"]
        cells = sum(len(names.split()) for row in held.get("matrix", {}).values() for names in row.values())
        cases = sum(
            sum(line.count(" | ") + 1 for line in group["answers"])
            for family in ("placements", "meshes", "collectives", "shard_map", "carries", "propagation")
            for group in held.get(family, {}).values()
        )
        yield f"| {release} | {said['jaxlib']} | {said['flax']} | {cells:,} | {cases:,} |"
    yield ""


def _outcomes(held: dict[str, Any], group: str) -> dict[str, str]:
    """Return what became of each spec in a row of the matrix."""
    row = held.get("matrix", {}).get(group, {})
    return {cell: _outcome(said) for said, cells in row.items() for cell in cells.split()}


def _outcome(said: str) -> str:
    if said.startswith("- "):
        return "not there"
    return "accepted" if said.startswith("ok") else f"`{said.partition(' ')[0]}`"


def spans(answers: Iterable[tuple[str, str]]) -> str:
    """Write answers by release as spans: one that never changes stands alone."""
    runs = [(what, [release for release, _ in run]) for what, run in groupby(answers, lambda pair: pair[1])]
    if len(runs) < 2:
        return runs[0][0] if runs else ""
    written = []
    for position, (what, releases) in enumerate(runs):
        last = position == len(runs) - 1
        until = "" if len(releases) == 1 else f" to {releases[-1]}"
        written.append(f"{what} since {releases[0]}" if last else f"{what} in {releases[0]}{until}")
    return ", ".join(written)


def _by_release(files: Files, group: str, cell: str) -> list[tuple[str, str]]:
    found = ((release, _outcomes(held, group).get(cell)) for release, held in files.items())
    return [(release, said) for release, said in found if said is not None]


def _changes(files: Files) -> Iterator[str]:
    yield "## Calls that changed\n"
    yield "| call | spec, shape | axes | |\n|---|---|---|---|"
    for api, call in CALLS.items():
        stories: dict[tuple[str, str], list[str]] = {}
        for cell, spec in SPECS.items():
            told: dict[str, list[str]] = {}
            for mode, axes in MODES.items():
                answers = _by_release(files, f"{api}|{mode}", cell)
                if len({said for _, said in answers}) > 1:
                    told.setdefault(spans(answers), []).append(axes)
            for text, modes in told.items():
                stories.setdefault(("; ".join(modes), text), []).append(spec)
        for (axes, text), specs in stories.items():
            yield f"| {call} | {'; '.join(specs)} | {axes} | {text} |"
    yield ""


def _names(files: Files) -> Iterator[str]:
    yield "## Names and arguments that changed\n"
    yield "| name | there in | deprecated in |\n|---|---|---|"
    for module in MODULES:
        surfaces = {release: held["names"].get(module, {}) for release, held in files.items()}
        for name in sorted({name for names in surfaces.values() for name in names}):
            states = {release: _state(names.get(name)) for release, names in surfaces.items()}
            if len(set(states.values())) > 1 and not name.endswith("_p"):
                there = [release for release, state in states.items() if state != "gone"]
                warns = [release for release, state in states.items() if state == "deprecated"]
                known = list(files)
                yield f"| `{module}.{name}` | {_releases(there, known)} | {_releases(warns, known)} |"
        yield from _arguments(module, surfaces)
    yield ""


def _arguments(module: str, surfaces: dict[str, dict[str, str]]) -> Iterator[str]:
    """Yield the arguments that speak of sharding, and came or went."""
    for name in sorted({name for names in surfaces.values() for name in names}):
        taken = {
            release: _parameters(names[name])
            for release, names in surfaces.items()
            if names.get(name, "").lstrip("!").startswith("(") and names[name] != "(?)"
        }
        for argument in sorted({one for some in taken.values() for one in some}):
            there = [release for release, some in taken.items() if argument in some]
            told = argument.isidentifier() and any(word in argument for word in _WORDS)
            if told and len(there) < len(taken):
                yield f"| `{module}.{name}({argument}=)` | {_releases(there, list(taken))} | |"


_WORDS = ("shard", "mesh", "axis", "axes", "spec", "device", "reduced", "vma", "rep", "memory", "auto")


def _parameters(signature: str) -> set[str]:
    return {part.strip().rstrip("=*/") for part in signature.lstrip("!")[1:-1].split(",")}


def _state(signature: str | None) -> str:
    if signature is None or (signature.startswith("!") and signature[1:].isalpha()):
        return "gone"
    return "deprecated" if signature.startswith("!") else "there"


def _releases(some: list[str], known: list[str]) -> str:
    """Write releases as spans of neighbours among those that are known."""
    runs: list[list[str]] = []
    for release in some:
        if runs and known.index(runs[-1][-1]) + 1 == known.index(release):
            runs[-1].append(release)
        else:
            runs.append([release])
    shown = []
    for run in runs:
        if run[-1] == known[-1]:
            shown.append("all" if run[0] == known[0] else f"{run[0]} and later")
        else:
            shown.append(run[0] if len(run) == 1 else f"{run[0]} to {run[-1]}")
    return ", ".join(shown)


def _calls(files: Files) -> Iterator[str]:
    yield "## All calls\n"
    yield "Each on axes that are all Auto, all Explicit, or mixed: x Explicit and y Auto.\n"
    for api, call in CALLS.items():
        yield f"### {call}\n"
        yield f"| spec, shape | {' | '.join(MODES.values())} |\n|---|---|---|---|"
        for cell, spec in SPECS.items():
            answers = [spans(_by_release(files, f"{api}|{mode}", cell)) for mode in MODES]
            if any(answers):
                yield f"| {spec} | {' | '.join(answers)} |"
        yield ""

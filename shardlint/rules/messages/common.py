"""The wording of arrays, dimensions, axes and sizes in messages, and the entries of a spec they point at."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

from shardlint.laws.core.dims import Dim, Shape, product
from shardlint.laws.core.values import Entry, Junk, Mesh, Spec, Unknown, entry_axes, entry_text, nearest_sizes
from shardlint.laws.core.verdicts import Api, Rejected
from shardlint.model.findings import Severity
from shardlint.model.spans import LookedUp, Place
from shardlint.model.uses import (
    CallUse,
    CollectiveUse,
    Fact,
    MeshUse,
    ParameterUse,
    Placement,
    ShardingUse,
    SpecUse,
    Use,
)
from shardlint.rules.base import Problem

#: The kinds of use in which a spec (or a parameter's names) is judged.
SPEC_KINDS: tuple[type[Use], ...] = (SpecUse, ShardingUse, Placement, ParameterUse)
#: The kinds in which a spec meets an array.
ARRAY_KINDS: tuple[type[Use], ...] = (Placement, ParameterUse)

#: Where Flax, not JAX itself, meets a parameter's names with its shape.
FLAX_APIS = frozenset(
    {Api.LINEN_UNBOX, Api.LINEN_UNBOX_EAGER, Api.LINEN_SHARDING, Api.NNX_PARAM, Api.NNX_PARAM_IN_JIT}
)

#: The stage of a rejection by NumPy's reshape of the devices, before there is a mesh.
RESHAPE = "reshape"

#: The functions that make meshes, and arrays of devices for them.
MESH_FUNCTIONS = frozenset(
    {
        "jax.experimental.mesh_utils.create_device_mesh",
        "jax.experimental.mesh_utils.create_hybrid_device_mesh",
        "jax.make_mesh",
        "jax.sharding.AbstractMesh",
        "jax.sharding.Mesh",
    }
)

SpecHolder = SpecUse | ShardingUse | Placement | ParameterUse


def size_text(size: Dim) -> str:
    """Return a size as text; a part of it without a name in the program is ``n``."""
    return re.sub(r"\?\d+", "n", str(size))


def shape_text(shape: Shape) -> str:
    """Return a shape as Python writes it: ``(8,)``, ``(batch, 512)``."""
    inner = ", ".join(size_text(size) for size in shape)
    return f"({inner},)" if len(shape) == 1 else f"({inner})"


def count_text(n: int, noun: str) -> str:
    """Return a count and its noun: ``1 entry``, ``2 entries``."""
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{n} {noun if n == 1 else plural}"


def names_text(names: Iterable[str]) -> str:
    """Return axis names as a list in prose: ``"data", "model"``."""
    return ", ".join(f'"{name}"' for name in names)


def array_text(use: Placement | ParameterUse) -> str:
    """Return the user's name for the array: `` `kernel` ``, ``argument 0 of `step` ``, ``the array``."""
    subject = f"`{use.name}` of {use.owner}" if isinstance(use, ParameterUse) else use.subject
    return name_text(subject)


def refused(use: CollectiveUse, said: str) -> Problem:
    """Return the problem of a collective that JAX rejects; a warning if it rejects it only in some cases."""
    text = f"`{use.function}` over {names_text(use.axes)}: {said}"
    if use.silent is None:
        return Problem(text, use.place)
    return Problem(f"{text}, which JAX refuses {use.silent}", use.place, Severity.WARNING)


def name_text(name: str) -> str:
    """Return a name of the program in backquotes; a description in words stays as it is."""
    return name if " " in name or "`" in name else f"`{name}`"


def forbidden_text(function: str, verdict: Rejected) -> str:
    """Return that a function communicates over an axis where `jax.sharding.no_collectives` forbids it."""
    communicates = f'{name_text(function)} communicates over "{verdict.axis}"'
    return f"{communicates}, which jax.sharding.no_collectives forbids here"


def spec_text(use: SpecHolder) -> str:
    """Return the spec as the user wrote it: a parameter's names are a tuple."""
    spec = spec_of(use)
    if isinstance(spec, Spec) and is_parameter(use):
        return entry_text(spec.entries)
    return str(spec) if isinstance(spec, (Spec, str)) else "the spec"


def is_parameter(use: SpecHolder) -> bool:
    """Return whether the spec consists of the names of a Flax parameter."""
    return isinstance(use, ParameterUse) or (isinstance(use, Placement) and use.api in FLAX_APIS)


def sizes_text(size: Dim, ways: Dim) -> str:
    """Return the nearest sizes that are divisible, ``8 or 12``; empty unless size and ways are numbers."""
    if not isinstance(size, int) or not isinstance(ways, int):
        return ""
    return " or ".join(str(n) for n in nearest_sizes(size, ways))


def axes_text(entry: Entry, mesh: Mesh) -> str:
    """Return an entry's axes and their devices: ``("data", "model") (2 × 4 = 8 devices)``."""
    sizes = [mesh.size_of(axis) for axis in entry_axes(entry)]
    total = size_text(product(sizes))
    factors = " × ".join(size_text(size) for size in sizes)
    devices = f"{factors} = {total}" if len(sizes) > 1 else total
    return f"{entry_text(entry)} ({devices} {'device' if total == '1' else 'devices'})"


def is_nnx(use: Use) -> bool:
    """Return whether a use is about a variable of Flax's nnx, which takes its mesh from `jax.set_mesh`."""
    if isinstance(use, ParameterUse):
        return "nnx" in use.library
    return isinstance(use, Placement) and use.api in (Api.NNX_PARAM, Api.NNX_PARAM_IN_JIT)


def near_miss(name: str, known: Iterable[str]) -> str:
    """Return ``; did you mean "model"?``, or nothing if no known name is near."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f'; did you mean "{near[0]}"?' if near else ""


def api_text(use: Use) -> str:
    """Return the call that checks the use, as users know it."""
    if isinstance(use, Placement):
        return use.api.value
    if isinstance(use, (CallUse, CollectiveUse, MeshUse)):
        return use.function
    if isinstance(use, ParameterUse):
        return use.owner
    return Api.PARTITION_SPEC.value if isinstance(use, SpecUse) else Api.NAMED_SHARDING.value


def function_text(use: CallUse) -> str:
    """Return the called function as users write it: ``make_mesh``, ``AbstractMesh.devices``."""
    owner, _, name = use.function.rpartition(".")
    holder = owner.rpartition(".")[2]
    return f"{holder}.{name}" if holder[:1].isupper() else name


def call_text(name: str, detail: str) -> str:
    """Return the description of a mistake in a call, with the call's name in front if the text lacks it."""
    if detail.startswith("it "):
        return name + detail.removeprefix("it")
    owner = name.partition(".")[0]
    return detail if re.search(rf"\b{owner}\b", detail) else f"{name}: {detail}"


def spec_of(use: SpecHolder) -> Spec | Junk | str | Unknown | None:
    """Return the spec of a use; for a parameter, its names."""
    return use.names if isinstance(use, ParameterUse) else use.spec


def mesh_of(use: SpecHolder) -> Mesh | None:
    """Return the mesh of a use, or None if it is unknown."""
    mesh = None if isinstance(use, SpecUse) else use.mesh
    return mesh if isinstance(mesh, Mesh) else None


def entry_of(use: SpecHolder, dimension: int | None) -> Entry:
    """Return the entry of a dimension, or Unknown."""
    spec = spec_of(use)
    if isinstance(spec, Spec) and dimension is not None and dimension < len(spec):
        return spec.entries[dimension]
    return Unknown("no such entry")


def surplus_place(use: SpecHolder, dimension: int | None) -> Place:
    """Return the place of a surplus entry; if it was looked up by a name, the place of that name.

    An entry that was passed on as an argument may have none. Then another entry, in a call that leads to the
    use, shows where the spec is written.
    """
    places: Sequence[Place | None] = use.entry_places
    if dimension is not None and dimension < len(places) and places[dimension] is None:
        known = ((abs(i - dimension), i) for i, one in enumerate(places) if one and _in_a_call(use, one))
        dimension = min(known, default=(0, dimension))[1]
    place = entry_place(use, dimension)
    return place.name if isinstance(place, LookedUp) else place


def _in_a_call(use: SpecHolder, place: Place) -> bool:
    """Return whether a place is in the use, or in a call that leads to it."""
    written = place.resolve()
    return any(written in at.resolve() for at in (use.place, *(fact.place for fact in use.facts)))


def meeting(use: SpecHolder, dimension: int | None) -> tuple[Place, tuple[Fact, ...]]:
    """Return the place where an entry is applied to an unsuitable array, and the entry's own place if
    elsewhere.

    Since a spec may serve many arrays, authors look at the placement first. The entry's own place is not
    elsewhere if it is in the call, or in one that leads to it.
    """
    place = entry_place(use, dimension)
    if not isinstance(use, Placement) or not use.beside or use.api in FLAX_APIS:
        return place, ()
    if _in_a_call(use, place):
        return place, ()
    return use.place, (Fact(f"{spec_text(use)} is written here", place),)


def asserted(use: SpecHolder, dimension: int | None) -> tuple[Place, tuple[Fact, ...]]:
    """Return the place of an entry that the array's sharding contradicts: if a helper puts the spec together
    from names that stand elsewhere, that is the call, and the entry's own place is a fact."""
    place = entry_place(use, dimension)
    made = use.spec_place if isinstance(use, Placement) else None
    if made is None or place is use.place or place.resolve() in made.resolve() or _in_a_call(use, place):
        return place, ()
    return use.place, (Fact("this entry is written here", place),)


def entry_place(use: SpecHolder, dimension: int | None) -> Place:
    """Return the place of a dimension's entry, else of the names, else of the use."""
    places: Sequence[Place | None] = use.entry_places
    if dimension is not None and dimension < len(places) and (place := places[dimension]) is not None:
        return place
    whole = use.names_place if isinstance(use, ParameterUse) else None
    return whole or use.place

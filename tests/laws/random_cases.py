"""Random (API, mesh, spec, shape) cases, and the laws set against the real JAX on them.

usage: python tests/laws/random_cases.py [CASES [SEED]]

Each case starts from a placement that is right and then gets no, one or two mistakes, so that every
API sees accepted cases and every cause of rejection. The suite runs 1,200 and some of each cause that is
rare (the environment variable SHARDLINT_RANDOM_CASES asks for more); the full size is 50,000 and takes a
quarter of an hour.
"""

from __future__ import annotations

import math
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from judging import Case, contradiction, judge_drawn
from real_jax import NAMES, PROGRAMS, Outcome, attempt

from shardlint.laws.core.values import AxisType, Entry, Junk, Marker, Mesh, Spec, entry_axes
from shardlint.laws.core.verdicts import Api, Cause, Rejected, Undecided
from shardlint.laws.placement.api_laws import BARE_LAWS

UNEVEN_PASSES = frozenset(
    {
        Api.SHAPE_DTYPE_STRUCT, Api.CONSTRAINT, Api.SHARD_MAP_OUT, Api.LINEN_SHARDING, Api.LINEN_UNBOX,
        Api.NNX_PARAM_IN_JIT, Api.CREATE_IN_JIT, Api.NNX_SHARDING, Api.CONVERT_IN_JIT, Api.LINSPACE,
    }
)  # fmt: skip
UNCONSTRAINED_FAILS = frozenset(
    {
        Api.DEVICE_PUT, Api.DEVICE_PUT_IN_JIT, Api.JIT_IN, Api.JIT_OUT, Api.SHARD_MAP_IN, Api.SHARD_MAP_OUT,
        Api.RESHARD, Api.RESHARD_IN_JIT, Api.CREATE_OUT, Api.CREATE_OUT_IN_JIT, Api.RANDOM_OUT,
        Api.RANDOM_OUT_IN_JIT, Api.ARANGE, Api.ARANGE_IN_JIT,
    }
)  # fmt: skip
MESHLESS_FAILS = frozenset(
    {
        Api.DEVICE_PUT, Api.DEVICE_PUT_IN_JIT, Api.JIT_IN, Api.JIT_OUT, Api.JIT_ARGUMENT, Api.CONSTRAINT,
        Api.CONSTRAINT_EAGER, Api.SHARD_MAP_IN, Api.SHARD_MAP_OUT, Api.NNX_PARAM, Api.NNX_PARAM_IN_JIT,
        Api.RESHARD, Api.RESHARD_IN_JIT, Api.CREATE_OUT, Api.CREATE_OUT_IN_JIT, Api.RANDOM_OUT,
        Api.RANDOM_OUT_IN_JIT,
    }
)  # fmt: skip
CONSTRAINTS = frozenset({Api.CONSTRAINT, Api.CONSTRAINT_EAGER, Api.LINEN_UNBOX, Api.LINEN_UNBOX_EAGER})
PARAMETERS = frozenset({Api.NNX_PARAM, Api.NNX_PARAM_IN_JIT})
#: These make vectors.
RANGES = frozenset({Api.ARANGE, Api.ARANGE_IN_JIT})
CONVERSIONS = frozenset({Api.CONVERT, Api.CONVERT_IN_JIT, Api.LINSPACE})
RESHARDS = frozenset({Api.RESHARD, Api.RESHARD_IN_JIT})
OUTS = frozenset({Api.CREATE_OUT, Api.CREATE_OUT_IN_JIT, Api.RANDOM_OUT, Api.RANDOM_OUT_IN_JIT})
#: These take no axis that is not Explicit.
EXPLICIT_ONLY = RESHARDS | OUTS
#: The axis type an API takes no axis of.
REFUSED_TYPE = {
    **dict.fromkeys(CONSTRAINTS, AxisType.EXPLICIT), **dict.fromkeys(EXPLICIT_ONLY, AxisType.AUTO)
}  # fmt: skip
#: These take an array that may be sharded already, and may mind how.
TAKES_HELD = CONSTRAINTS | RESHARDS | {
    Api.DEVICE_PUT, Api.DEVICE_PUT_IN_JIT, Api.JIT_OUT, Api.SHARD_MAP_IN, Api.NNX_PARAM
}  # fmt: skip
MINDS_HELD = CONSTRAINTS | {Api.SHARD_MAP_IN}
DEVICE_FREE = frozenset(
    {
        Api.SHARD_SHAPE, Api.SHAPE_DTYPE_STRUCT, Api.JIT_ARGUMENT, Api.DEVICE_PUT_IN_JIT, Api.JIT_IN,
        Api.JIT_OUT, Api.CONSTRAINT, Api.SHARD_MAP_IN, Api.SHARD_MAP_OUT, Api.LINEN_SHARDING,
        Api.RESHARD_IN_JIT, Api.CREATE_OUT_IN_JIT, Api.RANDOM_OUT_IN_JIT,
    }
)  # fmt: skip
SIZES = (1, 2, 2, 2, 3, 4, 4, 8)


def causes(api: Api) -> tuple[Cause, ...]:
    """The causes for which JAX rejects a call of this API."""
    found = [Cause.BAD_ENTRY, Cause.DUPLICATE_AXIS, Cause.UNKNOWN_AXIS]
    if api not in NAMES:
        found.append(Cause.NOT_A_SPEC)
    if api not in (Api.LINEN_SHARDING, Api.CREATE_IN_JIT, Api.NNX_SHARDING):
        found.append(Cause.TOO_LONG)
    if api not in UNEVEN_PASSES:
        found.append(Cause.INDIVISIBLE)
    if api in UNCONSTRAINED_FAILS:
        found.append(Cause.UNCONSTRAINED)
    if api in MESHLESS_FAILS:
        found.append(Cause.NO_MESH)
    if api in CONSTRAINTS | EXPLICIT_ONLY | PARAMETERS:
        found.append(Cause.AXIS_TYPE)
    if api in (Api.DEVICE_PUT, Api.CALLBACK):
        found.append(Cause.DEVICES)
    if api is Api.CREATE_OUT:
        found.append(Cause.MESH_CONTEXT)
    if api in MINDS_HELD:
        found.append(Cause.OTHER_SHARDING)
    return tuple(found)


@dataclass(frozen=True)
class Drawn(Case):
    """A case of which all but how the array is sharded before is known."""

    mesh: Mesh | None
    spec: Spec | Junk | None
    shape: tuple[int, ...]


def draw_cases(count: int, seed: int) -> Iterator[Drawn]:
    """Draw cases, each API as often as the others; of an API three in seven have no mistake."""
    rng = random.Random(seed)
    apis = list(PROGRAMS)
    plans = {api: [None] * (len(causes(api)) * 3 // 4) + list(causes(api)) for api in apis}
    for index in range(count):
        api = apis[index % len(apis)]
        plan = plans[api]
        mistake = plan[index // len(apis) % len(plan)]
        case = _right(rng, api)
        if mistake is not None:
            case = MISTAKES[mistake](rng, case)
            if rng.random() < 0.15:
                case = MISTAKES[rng.choice(causes(api))](rng, case)
        if case.held is None or not _can_be(case):
            case = replace(case, held=_held(rng, case))
        yield case


def _right(rng: random.Random, api: Api) -> Drawn:
    """A placement that is right; sometimes uneven where that is allowed."""
    mesh = _mesh(rng, api)
    free = list(mesh.names)
    rng.shuffle(free)
    rank = 1 if api in RANGES else rng.choice((0, 1, 2, 2, 3, 3, 4, 5)) or int(api is Api.LINSPACE)
    entries: list[Entry] = []
    shape: list[int] = []
    for _ in range(rank):
        count = rng.choice((0, 0, 1, 1, 1, 2, 3))
        axes, free = tuple(free[:count]), free[count:]
        if api in REFUSED_TYPE:
            axes = tuple(axis for axis in axes if mesh.type_of(axis) is not REFUSED_TYPE[api])
        entries.append(_written(rng, axes))
        ways = math.prod(int(str(mesh.size_of(axis))) for axis in axes)
        shape.append(ways * rng.choice((1, 1, 2, 2, 3, 5, 0 if rng.random() < 0.2 else 4)))
    if api in UNEVEN_PASSES and shape and rng.random() < 0.4:
        shape[rng.randrange(rank)] = rng.choice((1, 2, 3, 4, 5, 6, 7, 12))
    spec = Spec(tuple(entries[: rng.choice((rank, rank, rank, max(rank - 1, 0)))]))
    if api not in UNCONSTRAINED_FAILS and spec.entries and rng.random() < 0.1:
        spec = _with_entry(rng, spec, Marker.UNCONSTRAINED)
    raw = api in BARE_LAWS and not mesh.abstract and rng.random() < (0.5 if api in MESHLESS_FAILS else 0.1)
    under = not raw and not mesh.abstract and rng.random() < (0.8 if api in OUTS | CONVERSIONS else 0.4)
    return Drawn(api, mesh, spec, tuple(shape), raw, under, held=None)


def _can_be(case: Drawn) -> bool:
    """Whether an array of this shape can lie as it is said to."""
    axes = [entry_axes(entry) for entry in (case.held or Spec()).entries]
    ways = [math.prod(_size(case, axis) for axis in some) for some in axes]
    return len(axes) <= len(case.shape) and all(
        size % by == 0 for size, by in zip(case.shape, ways, strict=False)
    )


def _held(rng: random.Random, case: Drawn) -> Spec:
    """A sharding that the array may have: mostly that of the spec as far as it goes, or none."""
    if case.api not in TAKES_HELD or not isinstance(case.mesh, Mesh) or case.mesh.abstract:
        return Spec()
    follows = rng.random() < (0.8 if case.api is Api.SHARD_MAP_IN else 0.3)
    free = set(case.mesh.names)
    entries: list[Entry] = []
    for dimension, size in enumerate(case.shape):
        wanted = entry_axes(_spec(case).entries[dimension]) if dimension < len(_spec(case)) else ()
        axes = wanted if follows else tuple(rng.sample(sorted(free), min(len(free), rng.choice((0, 0, 1)))))
        fits = set(axes) <= free and len(set(axes)) == len(axes)
        axes = axes if fits and size % math.prod(_size(case, axis) for axis in axes) == 0 else ()
        free -= set(axes)
        entries.append(axes[0] if len(axes) == 1 else axes or None)
    return Spec(tuple(entries)) if any(entries) else Spec()


def _mesh(rng: random.Random, api: Api) -> Mesh:
    """A mesh of 1 to 4 axes and at most 8 devices, mostly of the axis type that the API takes."""
    while True:
        names = tuple(rng.sample(("data", "model", "x", "y"), rng.randint(1, 4)))
        sizes = tuple(rng.choice(SIZES) for _ in names)
        if math.prod(sizes) <= 8:
            break
    draw = rng.random()
    usual = AxisType.EXPLICIT if api in EXPLICIT_ONLY else AxisType.AUTO
    types = (usual,) * len(names)
    if draw < 0.2:
        types = (AxisType.EXPLICIT,) * len(names)
    elif draw < 0.4:
        types = tuple(rng.choice((AxisType.AUTO, AxisType.EXPLICIT)) for _ in names)
    return Mesh(names, sizes, types, abstract=api in DEVICE_FREE and rng.random() < 0.15)


def _written(rng: random.Random, axes: tuple[str, ...]) -> Entry:
    """The axes as a user may write them: nothing has several spellings."""
    if not axes:
        return rng.choice((None, None, None, (), "", Junk("0", "int", falsy=True), (None,)))
    return axes[0] if len(axes) == 1 and rng.random() < 0.8 else axes


def _with_entry(rng: random.Random, spec: Spec, *entries: Entry) -> Spec:
    """Put entries in the place of others, or at the end of a spec that is too short."""
    places = list(spec.entries) + [None] * (len(entries) - len(spec))
    for place, entry in zip(rng.sample(range(len(places)), len(entries)), entries, strict=True):
        places[place] = entry
    return Spec(tuple(places))


def _names(case: Drawn) -> tuple[str, ...]:
    return case.mesh.names if isinstance(case.mesh, Mesh) else ("x", "y")


def _taken(case: Drawn) -> tuple[str, ...]:
    """The axes of the mesh whose type the API takes."""
    if not isinstance(case.mesh, Mesh):
        return ()
    refused = REFUSED_TYPE.get(case.api)
    return tuple(name for name in case.mesh.names if case.mesh.type_of(name) is not refused)


def _spec(case: Drawn) -> Spec:
    return case.spec if isinstance(case.spec, Spec) else Spec()


def _bad_entry(rng: random.Random, case: Drawn) -> Drawn:
    axis = rng.choice(_names(case))
    bad: Entry = rng.choice(
        (
            Junk("1", "int"), Junk("{'x'}", "set", hashable=False), Junk("frozenset({'x'})", "frozenset"),
            ((axis,),), (axis, None), (axis, ""), (axis, Marker.UNCONSTRAINED),
            (axis, Junk("0", "int", falsy=True)), (axis, Junk("{'y'}", "set", hashable=False)),
            ("",), (axis, ()),
        )
    )  # fmt: skip
    return replace(case, spec=_with_entry(rng, _spec(case), bad))


def _not_a_spec(rng: random.Random, case: Drawn) -> Drawn:
    if case.api in NAMES:
        return case
    if rng.random() < 0.1:
        return replace(case, spec=None)
    junk = rng.choice(
        (
            Junk("'x'", "str"), Junk("('x', 'y')", "tuple"), Junk("('x', None)", "tuple"),
            Junk("['x']", "list", hashable=False), Junk("3", "int"),
        )
    )  # fmt: skip
    return replace(case, spec=junk)


def _duplicate(rng: random.Random, case: Drawn) -> Drawn:
    axis = rng.choice(_names(case))
    twice = (axis, axis)
    entries = (twice,) if rng.random() < 0.5 or len(case.shape) < 2 else twice
    spec = _with_entry(rng, _spec(case), *entries)
    shape = list(case.shape)
    for place, entry in enumerate(spec.entries[: len(shape)]):
        if axis in entry_axes(entry):
            shape[place] = math.prod(_size(case, name) for name in entry_axes(entry))
    return replace(case, spec=spec, shape=tuple(shape))


def _unknown_axis(rng: random.Random, case: Drawn) -> Drawn:
    axis = rng.choice(("modle", "z", "x,y"))
    entry: Entry = axis if rng.random() < 0.7 else (rng.choice(_names(case)), axis)
    return replace(case, spec=_with_entry(rng, _spec(case), entry))


def _too_long(rng: random.Random, case: Drawn) -> Drawn:
    """Surplus entries: mostly the largest axis the API takes, from where it was, sometimes None alone."""
    largest = max(_taken(case) or _names(case), key=lambda name: _size(case, name))
    surplus = largest if rng.random() < 0.8 else None
    kept = [None if largest in entry_axes(entry) else entry for entry in _spec(case).entries]
    padding = [None] * (len(case.shape) - len(kept))
    return replace(case, spec=Spec((*kept, *padding, surplus)))


def _indivisible(rng: random.Random, case: Drawn) -> Drawn:
    """A prime that no axis divides, under the largest axis the API takes, from where it was."""
    largest = max(_taken(case) or _names(case), key=lambda name: _size(case, name))
    shape = list(case.shape) or [1]
    kept = [None if largest in entry_axes(entry) else entry for entry in _spec(case).entries]
    entries = [*kept, *[None] * (len(shape) - len(kept))]
    place = rng.randrange(len(shape))
    entries[place], shape[place] = largest, rng.choice((7, 11, 13))
    return replace(case, shape=tuple(shape), spec=Spec(tuple(entries)))


def _size(case: Drawn, name: str) -> int:
    if case.mesh is None or name not in case.mesh.names:
        return 1
    return int(str(case.mesh.size_of(name)))


def _unconstrained(rng: random.Random, case: Drawn) -> Drawn:
    return replace(case, spec=_with_entry(rng, _spec(case), Marker.UNCONSTRAINED))


def _no_mesh(rng: random.Random, case: Drawn) -> Drawn:
    return replace(case, mesh=None, raw=True, under=False, held=Spec())


def _axis_type(rng: random.Random, case: Drawn) -> Drawn:
    """An axis of a type the API does not take, in the spec."""
    if not isinstance(case.mesh, Mesh):
        return case
    axis = rng.choice(_names(case))
    kept = [None if axis in entry_axes(entry) else entry for entry in _spec(case).entries]
    shape = case.shape or (4,)
    entries = [*kept, *[None] * (len(shape) - len(kept))]
    place = rng.randrange(len(shape))
    entries[place] = axis
    shape = (*shape[:place], 8 * 9 * 7, *shape[place + 1 :])
    kinds = {axis: REFUSED_TYPE.get(case.api, AxisType.EXPLICIT)}
    if case.api in PARAMETERS:
        kinds |= {name: AxisType.AUTO for name in case.mesh.names if name != axis}
    mesh = case.mesh.with_types(kinds)
    if case.api in CONSTRAINTS:
        case = replace(case, raw=False, under=False)
    return replace(case, mesh=mesh, spec=Spec(tuple(entries)), shape=shape)


def _other_sharding(rng: random.Random, case: Drawn) -> Drawn:
    """An array that lies on Explicit axes in another way than the spec says."""
    if not isinstance(case.mesh, Mesh) or case.mesh.abstract:
        return case
    mesh = case.mesh.with_types(dict.fromkeys(case.mesh.names, AxisType.EXPLICIT))
    axis = rng.choice(mesh.names)
    entries = [None if axis in entry_axes(entry) else entry for entry in _spec(case).entries]
    entries = [None if entry is Marker.UNCONSTRAINED else entry for entry in entries] or [None]
    shape = (_size(case, axis) * 2, *case.shape[1:])
    held = Spec((axis,)) if rng.random() < 0.5 else Spec()
    entries[0] = None if held.entries else axis
    kept = Spec(tuple(entries[: len(shape)]))
    return replace(case, mesh=mesh, spec=kept, shape=shape, held=held, under=not case.raw)


def _mesh_context(rng: random.Random, case: Drawn) -> Drawn:
    """Explicit axes without the mesh's context."""
    if not isinstance(case.mesh, Mesh):
        return case
    mesh = case.mesh.with_types({case.mesh.names[0]: AxisType.EXPLICIT})
    return replace(case, mesh=mesh, raw=False, under=False)


def _devices(rng: random.Random, case: Drawn) -> Drawn:
    """A mesh without devices."""
    if not isinstance(case.mesh, Mesh) or case.api not in (Api.DEVICE_PUT, Api.CALLBACK):
        return case
    return replace(case, mesh=replace(case.mesh, abstract=True), raw=False, under=False, held=Spec())


MISTAKES: dict[Cause, Callable[[random.Random, Drawn], Drawn]] = {
    Cause.BAD_ENTRY: _bad_entry,
    Cause.NOT_A_SPEC: _not_a_spec,
    Cause.DUPLICATE_AXIS: _duplicate,
    Cause.UNKNOWN_AXIS: _unknown_axis,
    Cause.TOO_LONG: _too_long,
    Cause.INDIVISIBLE: _indivisible,
    Cause.UNCONSTRAINED: _unconstrained,
    Cause.NO_MESH: _no_mesh,
    Cause.AXIS_TYPE: _axis_type,
    Cause.OTHER_SHARDING: _other_sharding,
    Cause.MESH_CONTEXT: _mesh_context,
    Cause.DEVICES: _devices,
}


@dataclass
class Tally:
    """What became of the cases of one API."""

    cases: int = 0
    accepted: int = 0
    undecided: int = 0
    agreed: Counter[str] = field(default_factory=Counter)
    modes: Counter[str] = field(default_factory=Counter)
    causes: Counter[Cause] = field(default_factory=Counter)


def cases_of_each_cause(count: int, seed: int, least: int = 3) -> Iterator[Drawn]:
    """The first cases, and after them only those of a cause of which there were fewer than ``least``.

    Of which cause they are, only our laws have said: drawing is cheap, JAX is not. Of a cause that does
    not occur in 20 times as many cases there is none.
    """
    lacking: Counter[tuple[Api, Cause | None]] = Counter(
        {(api, cause): least for api in PROGRAMS for cause in causes(api)}
    )
    for index, case in enumerate(draw_cases(20 * count, seed)):
        verdict = judge_drawn(case)
        kind = case.api, verdict.cause if isinstance(verdict, Rejected) else None
        if index < count or lacking[kind] > 0:
            yield case
            lacking[kind] -= 1
        if index >= count and not +lacking:
            return


def set_against_jax(
    cases: Iterable[Drawn], run: Callable[..., Outcome] = attempt
) -> tuple[dict[Api, Tally], list[str]]:
    """Judge cases and run them; return the tallies and each disagreement in words."""
    tallies: dict[Api, Tally] = defaultdict(Tally)
    disagreements = []
    for case in cases:
        verdict = judge_drawn(case)
        outcome = run(
            case.api, case.mesh, case.spec, case.shape, raw=case.raw, under=bool(case.under), held=case.held
        )
        tally = tallies[case.api]
        tally.cases += 1
        tally.accepted += outcome.ok
        if isinstance(verdict, Rejected):
            tally.causes[verdict.cause] += 1
        wrong = contradiction(case, verdict, outcome)
        if isinstance(verdict, Undecided):
            tally.undecided += 1
            if must_decide(case):
                wrong = "undecided"
        tally.modes[mode(case)] += 1
        tally.agreed[mode(case)] += not wrong and not isinstance(verdict, Undecided)
        if wrong:
            disagreements.append(f"{wrong}: {case}\n    law {verdict}\n    JAX {outcome}")
    return tallies, disagreements


def mode(case: Drawn) -> str:
    """The axis types of a case's mesh in a word."""
    kinds = {kind.value.lower() for kind in case.mesh.types} if isinstance(case.mesh, Mesh) else {"no mesh"}
    return kinds.pop() if len(kinds) == 1 else "mixed"


def must_decide(case: Case) -> bool:
    """Whether a law is due: the mesh has devices, or there is none."""
    if not isinstance(case.mesh, Mesh):
        return True
    alone = case.api is Api.SHARD_MAP_IN and case.raw and case.mesh.device_count == 1
    on_its_own = (
        case.api in (Api.RESHARD_IN_JIT, Api.NNX_PARAM_IN_JIT, *OUTS - {Api.CREATE_OUT})
        and not (case.raw or case.under or (case.held and case.held.entries))
        and set(case.mesh.types) != {AxisType.AUTO}
    )
    return not (case.mesh.abstract or alone or on_its_own)


def main() -> int:
    """Run as many cases as asked for and print the figures per API."""
    count, seed = (int(text) for text in (*sys.argv[1:], *("10000", "0")[len(sys.argv) - 1 :]))
    tallies, disagreements = set_against_jax(draw_cases(count, seed))
    for api, tally in tallies.items():
        shares = " ".join(f"{cause.value} {n / tally.cases:.0%}" for cause, n in tally.causes.most_common())
        accepted = f"accepted {tally.accepted / tally.cases:.0%}"
        modes = ", ".join(f"{name} {tally.agreed[name]}/{n}" for name, n in sorted(tally.modes.items()))
        print(f"{api.value:43} {tally.cases:5} {accepted}, {shares}; undecided {tally.undecided}")
        print(f"{'':43} agree in {modes}")
    print("\n".join(disagreements[:20]))
    print(f"{count} cases, {len(disagreements)} disagreements")
    return bool(disagreements)


if __name__ == "__main__":
    sys.exit(main())

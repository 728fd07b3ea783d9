"""Questions about the bodies of shard_map: collectives, and specs on arrays inside."""

from __future__ import annotations

import inspect
import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any

import older_jax
import real_jax
from questions import Question, compare, law_at, raised
from spec_texts import spec_text

from shardlint.laws.core.values import AxisType, Entry, Mesh, Spec, Unknown
from shardlint.laws.core.verdicts import Accepted, Api, Rejected, Undecided
from shardlint.laws.transforms.collectives import (
    EXCEPTIONS,
    judge_axes,
    judge_groups,
    judge_permutation,
    local_result,
)
from shardlint.laws.transforms.shard_map import judge_inside
from shardlint.laws.transforms.varying import Variation, judge_operand
from shardlint.laws.versions import Release

jax, jnp, np = older_jax.jax, older_jax.jnp, older_jax.np
from jax import lax  # noqa: E402
from jax.sharding import NamedSharding  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402

MESH = Mesh(("x", "y"), (4, 2), (AxisType.AUTO,) * 2)
BOUND = (("x", 4), ("y", 2))
OFFSETS = (np.zeros(4, np.int32),) * 4
CALLS: dict[str, Callable[..., Any]] = {
    "ppermute": lambda x, axes: lax.ppermute(x, axes, [(0, 1)]),
    "pshuffle": lambda x, axes: lax.pshuffle(x, axes, list(range(8 if axes == ("x", "y") else 4))),
    "pbroadcast": lambda x, axes: lax.pbroadcast(x, axes, 0),
    "all_to_all": lambda x, axes: lax.all_to_all(x, axes, 0, 0, tiled=True),
    "pswapaxes": lambda x, axes: lax.pswapaxes(x, axes, 0),
    "psum_scatter": lambda x, axes: lax.psum_scatter(x, axes, tiled=True),
    "axis_index": lambda x, axes: lax.axis_index(axes),
    "axis_size": lambda x, axes: lax.axis_size(axes),
    "ragged_all_to_all": lambda x, axes: lax.ragged_all_to_all(x, x, *OFFSETS, axis_name=axes),
    "pcast": lambda x, axes: lax.pcast(x, axes, to="varying"),
    "pvary": lambda x, axes: lax.pcast(x, axes, to="varying"),
}
#: What these need of `lax` where it is not their own name.
_NEEDS = {"pvary": "pcast"}


def _call(function: str, x: Any, axes: Any, **options: Any) -> Any:
    return (
        CALLS[function](x, axes)
        if function in CALLS and not options
        else getattr(lax, function)(x, axes, **options)
    )


def _traced(
    call: Callable[[Any], Any], shape: tuple[int, ...], spec: Any, checked: bool, lower: bool = False
) -> str:
    """Trace a call on shards; one that is lowered as well returns its result, so that it is not dropped."""

    def body(x: Any) -> Any:
        result = call(x)
        return result if lower else x

    out_spec = P() if lower and not checked else spec
    mapped = jax.shard_map(body, mesh=_mesh(), in_specs=spec, out_specs=out_spec, check_vma=checked)
    stage = "trace"
    try:
        made = jax.jit(mapped).trace(jax.ShapeDtypeStruct(shape, np.float32))
        stage = "lower"
        if lower:
            made.lower()
    except Exception as error:
        return f"{type(error).__name__} @{stage}"
    return "ok"


def _mesh() -> Any:
    return real_jax.real_mesh(MESH)


def collectives() -> Iterator[Question]:
    """Yield collectives: their axes, results on a shard, groups and permutations."""
    yield from _axes()
    yield from _results()
    yield from _groups()
    yield from _permutations()


def _lacks(function: str) -> str | None:
    name = _NEEDS.get(function, function)
    return None if hasattr(lax, name) else f"- no {name}"


_REDUCTIONS = ("psum", "pmean", "pmax", "pmin", "axis_index", "axis_size")


def _axes() -> Iterator[Question]:
    written = [("z",), ("x", "z"), ("z", "y"), ("x", "y")]
    for function, axes, spec, checked in itertools.product(
        EXCEPTIONS, written, (("x", "y"), (), ("x",)), (True, False, None)
    ):
        if checked is None and spec:
            continue
        if axes == ("x", "y") and (function not in _REDUCTIONS or checked is None):
            # The shapes of the others would not fit, which is no matter of axes.
            continue

        def ask(function: str = function, axes: Any = axes, spec: Any = spec, checked: Any = checked) -> str:
            given = axes if len(axes) > 1 else axes[0]
            if lack := _lacks(function):
                return lack
            if checked is None:
                said = raised(lambda: _call(function, np.ones((8, 8), np.float32), given))
                return said if said == "ok" else f"{said} @trace"
            return _traced(lambda x: _call(function, x, given), (8, 8), P(*spec), checked)

        def judge(
            answer: str, release: Release, function: str = function, axes: Any = axes, spec: Any = spec,
            checked: Any = checked,
        ) -> tuple[str, str] | None:  # fmt: skip
            bound = BOUND if checked is not None else ()
            verdict = judge_axes(function, axes, bound, check_vma=checked)
            if isinstance(verdict, Accepted):
                varying = Variation(frozenset(spec), frozenset(spec))
                verdict = judge_operand(function, axes, varying, checked=checked)
            return compare(answer, law_at(release, verdict, function))

        where = "outside" if checked is None else "checked" if checked else "unchecked"
        yield Question(f"{function} axes|{where}", f"{function} {axes} on {spec} {where}", ask, judge)


SHAPES = [(), (4,), (8,), (3,), (4, 8), (2, 8, 4)]
OPTIONS: list[tuple[str, dict[str, Any]]] = [
    *[("all_gather", {"axis": a, "tiled": t}) for a in (-3, -2, -1, 0, 1, 2) for t in (False, True)],
    *[
        ("psum_scatter", {"scatter_dimension": a, "tiled": t})
        for a in (-4, -2, -1, 0, 1, 2)
        for t in (False, True)
    ],
    *[("pswapaxes", {"axis": a}) for a in (-1, 0, 1, 2)],
    *[
        ("all_to_all", {"split_axis": split, "concat_axis": concat, "tiled": t})
        for split in (0, 1, 2)
        for concat in (0, 1, 2)
        for t in (False, True)
    ],
]


def _results() -> Iterator[Question]:
    for shape, (function, options) in itertools.product(SHAPES, OPTIONS):

        def ask(function: str = function, shape: Any = shape, options: Any = options) -> str:
            seen: list[Any] = []
            # XLA has its own mind about negative dimensions of others, some of which crash it.

            def call(x: Any) -> Any:
                result = _call(function, x, "x", **options)
                seen.append(result.shape)
                return result

            # XLA has its own mind about negative dimensions of others, some of which crash it.
            said = _traced(call, shape, P(), False, lower=function == "psum_scatter")
            return f"ok {_sizes(seen[0])}" if said == "ok" else said

        def judge(
            answer: str,
            release: Release,
            function: str = function,
            shape: Any = shape,
            options: Any = options,
        ) -> tuple[str, str] | None:
            return compare(answer, _result(local_result(function, shape, 4, **options), release, function))

        yield Question(f"{function} shape|unchecked", f"{function} {shape} {options}", ask, judge)


def _sizes(shape: Any) -> str:
    return "x".join(map(str, shape)) or "scalar"


def _result(result: Any, release: Release, function: str) -> Any:
    if isinstance(result, Unknown):
        return Undecided(result.reason)
    return law_at(release, result, function) if isinstance(result, Rejected) else _sizes(result)


def _groups() -> Iterator[Question]:
    rng = random.Random(0)
    for _ in range(120):
        indices = rng.sample(range(4), 4)
        if rng.random() < 0.5:
            indices[rng.randrange(4)] = rng.randrange(5)
        cut = rng.choice((1, 2, 2, 2, 3))
        groups = [indices[:cut], indices[cut:]] if rng.random() < 0.8 else [indices]
        function = rng.choice(("psum", "pmax", "all_gather", "psum_scatter", "pswapaxes"))
        options: dict[str, Any] = {"axis": rng.randrange(2)} if function == "pswapaxes" else {}
        if function in ("all_gather", "psum_scatter"):
            options = {"tiled": rng.random() < 0.5}
        shape = (rng.choice((2, 4, 6)), rng.choice((2, 4)))

        def ask(
            function: str = function, groups: Any = groups, shape: Any = shape, options: Any = options
        ) -> str:
            seen: list[Any] = []

            def call(x: Any) -> None:
                seen.append(getattr(lax, function)(x, "x", axis_index_groups=groups, **options).shape)

            said = _traced(call, shape, P(), False)
            return f"ok {_sizes(seen[0])}" if said == "ok" else said

        def judge(
            answer: str,
            release: Release,
            function: str = function,
            groups: Any = groups,
            shape: Any = shape,
            options: Any = options,
        ) -> tuple[str, str] | None:
            verdict = judge_groups(tuple(map(tuple, groups)))
            if isinstance(verdict, Rejected):
                return compare(answer, law_at(release, verdict, function))
            result = local_result(function, shape, len(groups[0]), **options)
            return compare(answer, _result(result, release, function))

        yield Question(f"{function} groups|unchecked", f"{function} {shape} {groups} {options}", ask, judge)


def _permutations() -> Iterator[Question]:
    rng = random.Random(0)
    for _ in range(80):
        devices = [
            rng.randrange(4) if rng.random() < 0.9 else rng.choice((-5, -2, -1, 4, 5)) for _ in range(8)
        ]
        if rng.random() < 0.6:
            devices = [*rng.sample(range(4), 4), *rng.sample(range(4), 4)]
        pairs = tuple(zip(devices[:4], devices[4:], strict=True))[: rng.randint(0, 4)]
        sources = tuple((source, index) for index, (source, _) in enumerate(pairs))
        for function, held in (("ppermute", pairs), ("pshuffle", sources)):

            def ask(function: str = function, held: Any = held) -> str:
                perm = held if function == "ppermute" else [source for source, _ in held]
                return _traced(lambda x: getattr(lax, function)(x, "x", perm), (4,), P("x"), True, lower=True)

            def judge(answer: str, release: Release, function: str = function, held: Any = held) -> Any:
                return compare(answer, law_at(release, judge_permutation(function, held, 4), function))

            yield Question(f"{function} permutation|checked", f"{function} {held}", ask, judge)


SPECS: tuple[tuple[Entry, ...], ...] = (
    (), (None,), ("x",), ("y",), (None, "y"), ("x", "y"), (("x", "y"),), ("x", "x"), ("z",),
    (None, None, "y"), (None, None, None),
)  # fmt: skip
TYPES = {"auto": AxisType.AUTO, "explicit": AxisType.EXPLICIT}
INSIDE: dict[Api, Callable[[Any, Any], Any]] = {
    Api.CONSTRAINT: lax.with_sharding_constraint,
    Api.RESHARD_IN_JIT: lambda x, spec: jax.sharding.reshard(x, spec),
    Api.DEVICE_PUT_IN_JIT: jax.device_put,
}


def bodies() -> Iterator[Question]:
    """Yield specs and shardings on arrays in bodies, and in_specs beside arguments' own specs."""
    yield from _inside()
    yield from _arguments()


def _inside() -> Iterator[Question]:
    for kinds, manual, api, entries, raw, checked in itertools.product(
        itertools.product(TYPES, repeat=2), (("x", "y"), ("x",)), INSIDE, SPECS, (True, False), (True, False)
    ):
        mesh = Mesh(("x", "y"), (2, 2), tuple(TYPES[kind] for kind in kinds))

        def ask(
            mesh: Mesh = mesh, manual: Any = manual, api: Api = api, entries: Any = entries,
            raw: bool = raw, checked: bool = checked,
        ) -> str:  # fmt: skip
            if lack := _no_partial():
                return lack
            real = real_jax.real_mesh(mesh)
            try:
                given = P(*entries) if raw else NamedSharding(real, P(*entries))
            except Exception:
                return "- no sharding"
            held = P(*(name if name in _explicit(mesh) else None for name in manual))
            argument = jax.device_put(jnp.ones((16, 16)), NamedSharding(real, held))

            def body(x: Any) -> Any:
                INSIDE[api](x, given)
                return jnp.zeros(())

            mapped = jax.shard_map(
                body, mesh=real, in_specs=P(*manual), out_specs=P(), axis_names=set(manual), check_vma=checked
            )
            said = raised(lambda: jax.eval_shape(mapped, argument))
            return said if said == "ok" else f"{said} @trace"

        def judge(
            answer: str, release: Release, mesh: Mesh = mesh, manual: Any = manual, api: Api = api,
            entries: Any = entries, raw: bool = raw, checked: bool = checked,
        ) -> tuple[str, str] | None:  # fmt: skip
            inside = mesh.with_types(dict.fromkeys(manual, AxisType.MANUAL))
            varying = frozenset(manual) if checked else frozenset()
            verdict = judge_inside(
                api, inside if raw else mesh, Spec(entries), (8, 8), raw=raw, varying=varying, outer=None
            )
            return compare(answer, law_at(release, verdict, api))

        mode = kinds[0] if len(set(kinds)) == 1 else "mixed"
        how = f"{'bare' if raw else 'sharding'} {'checked' if checked else 'unchecked'}"
        text = f"{api.value} {spec_text(Spec(entries))} {how} {'-'.join(kinds)} over {''.join(manual)}"
        yield Question(f"{api.value} in a body|{mode}", text, ask, judge)


def _explicit(mesh: Mesh) -> set[str]:
    return {name for name in mesh.names if mesh.type_of(name) is AxisType.EXPLICIT}


def _no_partial() -> str | None:
    if older_jax.OLD_SHARD_MAP or not older_jax.AXIS_TYPES:
        return "- no jax.shard_map"
    return None if "axis_names" in inspect.signature(jax.shard_map).parameters else "- no axis_names="


def _arguments() -> Iterator[Question]:
    specs: tuple[tuple[Entry, ...], ...] = ((), ("x",), ("y",), ("x", "y"), ("y", "x"), (("x", "y"),))
    for kinds, manual, wanted, held in itertools.product(
        itertools.product(TYPES, repeat=2), (("x", "y"), ("x",)), specs, specs
    ):
        mesh = Mesh(("x", "y"), (2, 2), tuple(TYPES[kind] for kind in kinds))

        def ask(mesh: Mesh = mesh, manual: Any = manual, wanted: Any = wanted, held: Any = held) -> str:
            if lack := _no_partial():
                return lack
            real = real_jax.real_mesh(mesh)
            argument = jax.device_put(jnp.ones((8, 8)), NamedSharding(real, P(*held)))
            mapped = jax.shard_map(
                lambda x: jnp.zeros(()), mesh=real, in_specs=P(*wanted), out_specs=P(), axis_names=set(manual)
            )
            said = raised(lambda: jax.jit(mapped).trace(argument))
            return said if said == "ok" else f"{said} @trace"

        def judge(
            answer: str, release: Release, mesh: Mesh = mesh, manual: Any = manual, wanted: Any = wanted,
            held: Any = held,
        ) -> tuple[str, str] | None:  # fmt: skip
            return compare(answer, _argument_law(mesh, manual, Spec(wanted), Spec(held), release))

        mode = kinds[0] if len(set(kinds)) == 1 else "mixed"
        how = f"{'-'.join(kinds)} over {''.join(manual)}"
        text = f"in_specs {spec_text(Spec(wanted))} of {spec_text(Spec(held))} {how}"
        yield Question(f"in_specs over {'all' if len(manual) > 1 else 'some'}|{mode}", text, ask, judge)


def _argument_law(mesh: Mesh, manual: Any, wanted: Spec, held: Spec, release: Release) -> Any:
    from shardlint.laws.placement.axis_types import in_type
    from shardlint.laws.placement.judge import judge_placement
    from shardlint.laws.transforms.shard_map import inferred_spec, judge_manual, judging_mesh

    named = judge_manual("in_specs", wanted, mesh, manual)
    if not isinstance(named, Accepted):
        return law_at(release, named, Api.SHARD_MAP_IN)
    where = judging_mesh(mesh, manual)
    typed = Spec(tuple(in_type(mesh, entry) for entry in held.entries))
    inner = inferred_spec(mesh, manual, typed) if AxisType.EXPLICIT in where.types else Spec()
    verdict = judge_placement(Api.SHARD_MAP_IN, where, wanted, (8, 8), raw=False, context=None, held=inner)
    return law_at(release, verdict, Api.SHARD_MAP_IN)

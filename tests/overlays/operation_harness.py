"""Random calls on Explicit axes: JAX traces them, and the records say what comes of it."""

from __future__ import annotations

import inspect
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import overlay_harness
from cases import generator
from jax.interpreters.partial_eval import dce_jaxpr
from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec
from jax.sharding import AxisType as JaxAxisType
from overlay_harness import Draw, FakeInterpreter, Leaves, _fill, concrete, resolve
from support.jax_answers import asks_jax

from shardlint.inference.domain.values import Array, DictValue, ListValue, MeshValue, Tuple, Value, as_items
from shardlint.inference.evaluation.call import Call, CannotBind
from shardlint.inference.evaluation.context import Context
from shardlint.inference.overlays.jax.explicit.results import finish_call
from shardlint.inference.overlays.registry import transfer
from shardlint.laws.core.array_types import TypeSharding
from shardlint.laws.core.values import AxisType, Mesh, Spec, Unknown

MESH = Mesh(("x", "y"), (2, 2), (AxisType.EXPLICIT, AxisType.EXPLICIT), abstract=True)
REAL_MESH = AbstractMesh((2, 2), ("x", "y"), axis_types=(JaxAxisType.Explicit,) * 2)


class OnMesh(FakeInterpreter):
    """Inside jit, under `jax.set_mesh`."""

    context = Context(mesh=MeshValue(MESH), in_jit=True)


#: The arguments of a call.
Arguments = tuple[Sequence[Value], dict[str, Value]]


@dataclass(frozen=True)
class Traced:
    """A call as JAX traced it: whether it raised; the results' specs, and of each the operands read."""

    raised: bool
    specs: tuple[tuple[Any, ...] | None, ...] = ()
    #: For each result with elements, whether it reads each operand: those of an argument together.
    reads: tuple[tuple[tuple[bool, ...], ...], ...] = ()


@dataclass(frozen=True)
class Calls:
    """Calls of a function, which `repr` shows as in any other process."""

    name: str
    arguments: Sequence[Arguments]

    def __repr__(self) -> str:
        return re.sub(r" at 0x\w+", "", repr((self.name, self.arguments)))


def draw_case(name: str, number: int, *, sharded: bool) -> tuple[list[Value], dict[str, Value]]:
    """A random call with sizes; ``sharded`` puts its arrays on the mesh."""
    generate = generator(name)
    assert generate is not None, name
    draw = Draw(random.Random(f"{name}/operation/{number}"))
    args, kwargs = generate(draw)
    place = _Placing(draw.rng, sharded)
    found = [place.value(concrete(arg, draw.sizes)) for arg in args]
    return found, {key: place.value(concrete(arg, draw.sizes)) for key, arg in kwargs.items()}


def by_keyword(
    name: str, args: Sequence[Value], kwargs: dict[str, Value]
) -> tuple[list[Value], dict[str, Value]]:
    """The same call, with keywords for all parameters that take one."""
    try:
        parameters = list(inspect.signature(resolve(name)).parameters.values())[: len(args)]
    except (TypeError, ValueError):
        return list(args), kwargs
    first = next((i for i, one in enumerate(parameters) if one.kind is one.POSITIONAL_OR_KEYWORD), len(args))
    if any(one.kind is one.VAR_POSITIONAL for one in parameters):
        return list(args), kwargs
    named = {one.name: arg for one, arg in zip(parameters[first:], args[first:], strict=True)}
    return list(args[:first]), {**named, **kwargs}


@dataclass
class _Placing:
    rng: random.Random
    sharded: bool

    def value(self, value: Value) -> Value:
        """The value with arrays that lie on the mesh."""
        if isinstance(value, Array) and not value.numpy:
            return replace(value, typed=TypeSharding(MESH, self.spec(value)))
        if isinstance(value, Tuple):
            return replace(value, items=tuple(map(self.value, value.items)))
        if isinstance(value, ListValue):
            return replace(value, items=list(map(self.value, value.items or ())))
        return value

    def spec(self, array: Array) -> Spec:
        """A spec that divides the array."""
        assert array.shape is not None
        axes, entries = ["x", "y"] if self.sharded and self.rng.random() < 0.8 else [], []
        self.rng.shuffle(axes)
        for size in array.shape:
            fits = axes and array.dtype != "key<fry>" and size and size % 2 == 0 and self.rng.random() < 0.6
            entries.append(axes.pop() if fits else None)
        return Spec(tuple(entries))


@asks_jax(
    "overlays",
    overlay_harness,
    encode=lambda traced: [(one.raised, one.specs, one.reads) for one in traced],
    decode=lambda traced: [Traced(*one) for one in traced],
)
def trace(calls: Calls) -> list[Traced]:
    """What JAX makes of each call."""
    return [_trace(calls.name, *arguments) for arguments in calls.arguments]


def _trace(name: str, args: Sequence[Value], kwargs: dict[str, Value]) -> Traced:
    target, leaves = resolve(name), Leaves()
    positional: list[Any] = []
    owners: list[int] = []
    for arg in args:
        positional.append(leaves.python(arg))
        owners += [len(positional)] * (len(leaves.structs) - len(owners))
    named = {}
    for number, (key, arg) in enumerate(kwargs.items(), 100):
        named[key] = leaves.python(arg)
        owners += [number] * (len(leaves.structs) - len(owners))
    arrays = [array for value in (*args, *kwargs.values()) for array in _arrays(value)]
    structs = [
        jax.ShapeDtypeStruct(
            one.shape,
            one.dtype,
            weak_type=one.weak_type,
            sharding=NamedSharding(REAL_MESH, PartitionSpec(*array.typed.spec.entries)),
        )
        for one, array in zip(leaves.structs, arrays, strict=True)
        if array.typed is not None
    ]
    found: list[Any] = []

    def call(*given: Any) -> Any:
        result = target(
            *(_fill(a, given) for a in positional), **{k: _fill(v, given) for k, v in named.items()}
        )
        found.extend(one for one in jax.tree.leaves(result) if isinstance(one, jax.Array))
        return list(found)

    try:
        with jax.sharding.use_abstract_mesh(REAL_MESH):
            jaxpr = jax.make_jaxpr(call)(*structs).jaxpr
    except Exception:
        return Traced(True)
    specs = tuple(None if one.sharding.mesh.empty else tuple(one.sharding.spec) for one in jaxpr.out_avals)
    reads = tuple(
        _of_arguments(dce_jaxpr(jaxpr, [i == k for k in range(len(found))])[1], owners, structs)
        for i, one in enumerate(found)
        if one.size
    )
    return Traced(False, specs, reads)


def _of_arguments(used: Sequence[bool], owners: Sequence[int], structs: Sequence[Any]) -> Any:
    """Whether operands with elements are used, an argument at a time."""
    return tuple(
        tuple(u for u, o, s in zip(used, owners, structs, strict=True) if o == owner and s.size)
        for owner in dict.fromkeys(owners)
    )


def _arrays(value: Value) -> Iterator[Array]:
    if isinstance(value, Array) and not value.numpy:
        yield value
    elif isinstance(value, DictValue):
        for item in (value.items or {}).values():
            yield from _arrays(item)
    else:
        for item in as_items(value) or ():
            yield from _arrays(item)


def reads_all(traced: Traced) -> bool:
    """Whether every result with elements depends on all operands; of several results, on one of them."""
    several = any if len(traced.specs) > 1 else all
    return all(several(map(all, result)) for result in traced.reads)


def judged(name: str, args: Sequence[Value], kwargs: dict[str, Value]) -> Value:
    """What the overlay and the record say of a call."""
    function = transfer(name)
    assert function is not None
    call = Call(OnMesh(), name, list(args), dict(kwargs), None)  # type: ignore[arg-type]
    try:
        result = function(call)
    except CannotBind:
        return Unknown("the arguments do not bind")
    return result if isinstance(result, Unknown) else finish_call(call, result)


def arrays_of(value: Value) -> list[Array]:
    """The arrays of a result, in order."""
    return list(_arrays(value))

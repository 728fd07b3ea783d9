"""One program, judged by JAX and by the law of its primitive."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import jax
from drawing import Draw
from jax.sharding import NamedSharding, PartitionSpec

from shardlint.laws.core.array_types import ArrayType, TypeSharding
from shardlint.laws.core.dims import Dim, symbol
from shardlint.laws.core.values import AxisType, Entry, Marker, Mesh, Spec
from shardlint.laws.core.verdicts import Rejected, Undecided
from shardlint.laws.propagation import OutSharding

warnings.simplefilter("ignore")

#: Turns the sizes that a program names into the law's: as they are, or partly symbolic.
Sizes = Callable[[Sequence[int]], tuple[Dim, ...]]
Law = Callable[[Mesh | None, list[ArrayType], Sizes], Any]


@dataclass(frozen=True)
class Program:
    """A JAX function of the operands drawn, and the same as a question to the law.

    ``results`` says how many results there are to compare; the law answers one for all, or a tuple.
    """

    function: Callable[..., Any]
    law: Law


@dataclass(frozen=True)
class Truth:
    """What JAX did: the operands' types as it saw them, and the results' types or the exception."""

    context: Mesh | None
    operands: list[ArrayType]
    results: tuple[TypeSharding, ...] = ()
    exception: str = ""


def ask_jax(draw: Draw, program: Program) -> Truth:
    """Trace a program."""
    seen: list[Truth] = []

    def body(*arrays: Any) -> None:
        context = mesh_of(jax.sharding.get_abstract_mesh())
        operands = [type_of(array) for array in arrays]
        seen.append(Truth(context, operands))
        try:
            result = program.function(*arrays)
        except Exception as error:
            seen.append(Truth(context, operands, exception=type(error).__name__))
            return
        leaves = result if isinstance(result, (list, tuple)) else (result,)
        types = tuple(sharding_of(leaf) for leaf in leaves)
        seen.append(Truth(context, operands, types))

    function = body
    if draw.manual:
        function = jax.shard_map(
            body, in_specs=PartitionSpec(), out_specs=PartitionSpec(), axis_names=set(draw.manual)
        )
    with jax.sharding.use_abstract_mesh(draw.context) if draw.context is not None else nullcontext():
        jax.make_jaxpr(function)(*draw.operands)
    return seen[-1]


def mesh_of(mesh: Any) -> Mesh | None:
    """A mesh of JAX's as the laws have it; an empty one is none."""
    if mesh.empty:
        return None
    types = tuple(AxisType(t.name) for t in mesh.axis_types)
    return Mesh(tuple(mesh.axis_names), tuple(mesh.axis_sizes), types, abstract=True)


def sharding_of(array: Any) -> TypeSharding:
    """The sharding in an array's type."""
    sharding = jax.typeof(array).sharding
    return TypeSharding(mesh_of(sharding.mesh), spec_of(sharding.spec))


def type_of(array: Any) -> ArrayType:
    """An array's type."""
    return ArrayType(tuple(array.shape), str(array.dtype), sharding_of(array))


def spec_of(spec: PartitionSpec) -> Spec:
    """A PartitionSpec as the laws have it."""
    entries: list[Entry] = [
        Marker.UNCONSTRAINED if entry is PartitionSpec.UNCONSTRAINED else entry for entry in spec.partitions
    ]
    return Spec(tuple(entries), frozenset(spec.unreduced), frozenset(spec.reduced))


def out_of(out_sharding: Any) -> OutSharding:
    """An ``out_sharding=`` as the laws have it."""
    if isinstance(out_sharding, NamedSharding):
        return TypeSharding(mesh_of(out_sharding.mesh), spec_of(out_sharding.spec))
    return None if out_sharding is None else spec_of(out_sharding)


def concrete(sizes: Sequence[int]) -> tuple[Dim, ...]:
    """The sizes as they are."""
    return tuple(sizes)


def partly_symbolic(rng: random.Random) -> Sizes:
    """Sizes of which some are multiples of a symbol, one symbol a size. Empty dimensions stay so."""
    share = rng.choice((0.3, 0.7, 1.0))

    def sizes(given: Sequence[int]) -> tuple[Dim, ...]:
        return tuple(_symbolic(rng, size) if size and rng.random() < share else size for size in given)

    return sizes


def _symbolic(rng: random.Random, size: int) -> Dim:
    factor = rng.choice([n for n in range(1, size + 1) if size % n == 0])
    return symbol(f"n{size // factor}", low=0) * factor


def ask_law(truth: Truth, program: Program, sizes: Sizes = concrete) -> Any:
    """The law's answer: one outcome, or one a result."""
    operands = [
        ArrayType(sizes(array.shape or ()), array.dtype, array.sharding)  # type: ignore[arg-type]
        for array in truth.operands
    ]
    return program.law(truth.context, operands, sizes)


def disagreement(truth: Truth, answer: Any) -> str | None:
    """What is wrong with an answer, if anything. Undecided agrees with everything."""
    if isinstance(answer, Undecided):
        return None
    if isinstance(answer, Rejected):
        if answer.exception == truth.exception:
            return None
        return f"law: {answer}\nJAX: {truth.exception or truth.results}"
    claimed = answer if isinstance(answer, tuple) else (answer,) * len(truth.results)
    if truth.exception or claimed != truth.results:
        return f"law: {claimed}\nJAX: {truth.exception or truth.results}"
    return None

"""`jax.vmap` of arrays whose mapped dimension is sharded along Explicit axes (`api._mapped_axis_spec`)."""

from __future__ import annotations

from dataclasses import replace

from shardlint.inference.domain.values import Array
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.dtypes import is_inexact
from shardlint.inference.overlays.jax.explicit.type_conversion import type_of
from shardlint.inference.overlays.jax.transforms.stacked_copies import COPIES, CUT, KEYED, STACKED, UNLIKE
from shardlint.laws.core.array_types import ArrayType, TypeSharding
from shardlint.laws.core.values import Entry, Spec, Unknown, entry_axes
from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.laws.transforms.traits import NO_TRAITS, Trait
from shardlint.laws.transforms.varying import CONSTANT, NO_AXES, UNKNOWN, Axes, Variation
from shardlint.model.uses import OperationUse

#: The name that JAX gives the devices of a `pmap` without one (JAX 0.10.2).
UNNAMED = "_internal_pmap_axis_name"


class Mapped:
    """The arrays that one call maps over, and the axes along which their mapped dimensions are sharded.

    ``beside`` are arrays that are not mapped over. ``axis`` is the name of the devices of a `pmap`, each of
    which has an example of its own, ``over_devices`` tells a `pmap` also without a name. ``split`` are
    the Manual axes that split what is mapped over.
    """

    def __init__(self, axis: str | None, split: Axes, over_devices: bool) -> None:
        self.axis = axis
        self.over_devices = over_devices
        self.split = split
        self.beside: list[Array] = []
        self.operands: list[tuple[ArrayType, int]] = []
        self.entries: list[Entry] = []

    def strip(self, array: Array, position: int) -> TypeSharding | None:
        """Record an array and return the sharding in the type of one example."""
        kind = type_of(array)
        assert kind is not None
        self.operands.append((kind, position))
        if kind.sharding is None:
            self.entries.append(Unknown("a sharding that is not known"))
            return None
        entries = kind.sharding.spec.entries
        self.entries.append(entries[position] if position < len(entries) else None)
        remaining = entries[:position] + entries[position + 1 :]
        return replace(kind.sharding, spec=replace(kind.sharding.spec, entries=remaining))

    def example(self, stack: Array, one: Array) -> Array:
        """Return the example of each device of a `pmap`: another part of the data, unless the stack is one of
        copies, or may be. That a program gives all devices the same data is no mistake (tests do)."""
        if self.axis is None:
            examples = {(Trait.EXAMPLE, axis) for axis in self.split}
            return replace(one, traits=one.traits | examples) if examples else one
        axes, held = frozenset({self.axis}), stack.variation
        if stack.numpy and COPIES not in held.equal:
            held = CONSTANT
        if COPIES in held.equal:
            return one.vary(replace(held, equal=held.equal - {COPIES}))
        if held.perhaps is None:
            return one.vary(UNKNOWN)
        traits = frozenset(trait for trait in held.traits if trait not in (UNLIKE, KEYED, CUT, STACKED))
        if KEYED in held.traits:
            kinds = (Trait.KEYED, Trait.REPLICA) if is_inexact(stack.dtype) else (Trait.KEYED,)
            traits |= {(kind, self.axis) for kind in kinds}
        # What is drawn inside needs a name to fold in.
        traits |= NO_TRAITS if self.axis == UNNAMED else {(Trait.SPLIT, self.axis)}
        return one.vary(replace(held.over(axes), traits=traits))

    def outside(self, variation: Variation) -> Variation:
        """Return the variation of a stack of results, which outside of a `pmap` varies over nothing. That all
        are equal, or certainly are not, is kept for another call."""
        stacked = frozenset({STACKED}) if self.over_devices else NO_TRAITS
        if self.axis is None:
            ended = {(Trait.EXAMPLE, axis) for axis in self.split}
            variation = replace(variation, traits=variation.traits - ended) if ended else variation
            return replace(variation, traits=variation.traits | stacked) if stacked else variation
        axes = frozenset({self.axis})
        if variation.never(self.axis):
            return replace(variation, equal=variation.equal - axes | {COPIES}, traits=stacked)
        surely = self.axis in variation.surely
        perhaps = variation.perhaps - axes if surely and variation.perhaps is not None else None
        traits = stacked | {UNLIKE} if surely else stacked
        if surely and (Trait.KEYED, self.axis) in variation.traits:
            traits |= {KEYED}
        return replace(variation, surely=variation.surely - axes, perhaps=perhaps, traits=traits)

    def first(self, variation: Variation) -> Variation:
        """Return the variation of a result of a `pmap` of which the first device's is taken for that of all
        (None in its out_axes)."""
        axes = NO_AXES if self.axis is None else frozenset({self.axis})
        perhaps = None if variation.perhaps is None else variation.perhaps - axes
        traits = frozenset(trait for trait in variation.traits if trait[1] not in axes)
        return Variation(variation.surely - axes, perhaps, variation.equal - axes, traits)

    @property
    def entry(self) -> Entry:
        """Return the entry of the mapped dimension; None if no axis splits it."""
        known = {entry for entry in self.entries if not isinstance(entry, Unknown)}
        sure = len(known) == 1 and len(self.entries) == sum(e in known for e in self.entries)
        return next(iter(known)) if sure else Unknown("what is mapped over is not known")

    def put(self, array: Array, position: int) -> TypeSharding | None:
        """Return the sharding in the type of a result that stacks the examples at ``position``."""
        typed, entry = array.typed, self.entry
        if typed is None or isinstance(entry, Unknown):
            return None
        if typed.mesh is None:
            return replace(typed, spec=_inserted(typed.spec, position, None))
        taken = {axis for other in typed.spec.entries for axis in entry_axes(other)}
        if taken & set(entry_axes(entry)):
            return None
        return replace(typed, spec=_inserted(typed.spec, position, entry))

    def refused(self, call: Call) -> bool:
        """Return whether JAX refuses to map these: their mapped dimensions are sharded along different axes,
        or an array that is not mapped is sharded along a mapped axis."""
        known = [i for i, entry in enumerate(self.entries) if not isinstance(entry, Unknown)]
        odd = next((i for i in known if self.entries[i] != self.entries[known[0]]), None)
        if odd is not None:
            detail = "mapped dimensions that lie along the same axes"
            self._record(call, [kind for kind, _ in self.operands], detail, self.operands[odd][1])
            return True
        taken = set(entry_axes(self.entry))
        for array in self.beside:
            for dimension, entry in enumerate(array.typed.spec.entries if array.typed is not None else ()):
                if taken & set(entry_axes(entry)) and (kind := type_of(array)) is not None:
                    self._record(call, [kind], "no unmapped array along the axes it maps over", dimension)
                    return True
        return False

    def _record(self, call: Call, kinds: list[ArrayType], detail: str, dimension: int) -> None:
        call.interpreter.record(
            OperationUse(
                place=call.place,
                environment=call.interpreter.environment(),
                verdict=Rejected(Cause.CONFLICT, "ValueError", "trace", dimension=dimension, detail=detail),
                function="jax.vmap",
                operands=tuple(kinds),
            )
        )


def _inserted(spec: Spec, position: int, entry: Entry) -> Spec:
    return replace(spec, entries=(*spec.entries[:position], entry, *spec.entries[position:]))

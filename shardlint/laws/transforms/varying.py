"""The mesh axes over which values vary inside `jax.shard_map`, and JAX's requirements on them.

JAX's types record the Manual axes that a value varies over (`core.ShapedArray.mat`): a shard varies over the
axes of its spec, an operation's result over those of all its operands (`core.standard_vma_rule`, operands
being cast first), and a reduction's no longer over the axes it reduces. Under ``check_vma=False`` types
record nothing; there a variation describes the values themselves, by the same steps where they are certain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from shardlint.laws.core.dims import Dim, product
from shardlint.laws.core.values import Mesh, Spec, Unknown, entry_axes
from shardlint.laws.core.verdicts import Accepted, Cause, Rejected, Undecided, Verdict
from shardlint.laws.transforms.traits import FLEETING, NO_TRAITS, OF_PARTS, SAME, Trait, Traits
from shardlint.laws.versions.era import since
from shardlint.support.lazy_dataclass import dataclass

Axes = frozenset[str]
NO_AXES: Axes = frozenset()


@dataclass(frozen=True, slots=True)
class Variation:
    """A value varies over the axes ``surely``, and at most over ``perhaps`` (None: perhaps over any).

    ``equal`` are axes along which all devices certainly hold equal data of the program: a spec omits the
    axis, or it was reduced. Constants are not data. ``traits`` are those of the values.
    """

    surely: Axes = NO_AXES
    perhaps: Axes | None = None
    equal: Axes = NO_AXES
    traits: Traits = NO_TRAITS

    @property
    def is_data(self) -> bool:
        """Return whether it certainly depends on an argument of shard_map."""
        return bool(self.surely or self.equal)

    def never(self, axis: str) -> bool:
        """Return whether it certainly does not vary over an axis."""
        return self.perhaps is not None and axis not in self.perhaps

    def axes_of(self, trait: Trait) -> Axes:
        """Return the axes along which the value has a trait."""
        return frozenset(axis for kind, axis in self.traits if kind is trait)

    def over(self, axes: Axes) -> Variation:
        """Return the variation with these axes added."""
        perhaps = None if self.perhaps is None else self.perhaps | axes
        return Variation(self.surely | axes, perhaps, self.equal - axes, self.traits)

    def perhaps_over(self, axes: Axes) -> Variation:
        """Return the variation with these axes undetermined."""
        perhaps = None if self.perhaps is None else self.perhaps | axes
        return Variation(self.surely - axes, perhaps, self.equal - axes, self.traits)

    def without(self, axes: Axes, manual: Axes | None) -> Variation:
        """Return the variation made equal along these axes; ``manual`` are all axes it could vary over."""
        most = manual if self.perhaps is None else self.perhaps
        equal = self.equal | axes if self.is_data else self.equal
        traits = frozenset(trait for trait in self.traits if trait[1] not in axes)
        return Variation(self.surely - axes, None if most is None else most - axes, equal, traits)


#: Equal on every device, of any mesh.
CONSTANT = Variation(perhaps=NO_AXES)
UNKNOWN = Variation()


def combined(variations: Iterable[Variation], *, checked: bool) -> Variation:
    """Return the variation of an operation's result.

    Values are less certain than types: of two varying values one may cancel the other, where one of them is
    unknown (a ring of `ppermute` ends in a value that all devices share).
    """
    operands = tuple(variations)
    surely = NO_AXES.union(*[operand.surely for operand in operands])
    known = [operand.perhaps for operand in operands if operand.perhaps is not None]
    perhaps = NO_AXES.union(*known) if len(known) == len(operands) else None
    if not checked:
        unsure = [o for o in operands if o.perhaps is None or o.perhaps != o.surely]
        surely = frozenset(axis for axis in surely if all(axis in o.surely or o.never(axis) for o in unsure))
    equal = NO_AXES.union(*[operand.equal for operand in operands])
    traits = _kept(NO_TRAITS.union(*[operand.traits for operand in operands]), perhaps)
    return Variation(surely, perhaps, NO_AXES if perhaps is None else equal - perhaps, traits)


def _kept(traits: Traits, perhaps: Axes | None) -> Traits:
    """Return the traits of a result that may vary over these axes."""
    if not traits:
        return traits
    same = frozenset(t for t in traits if perhaps is not None and t[1] not in perhaps)
    return frozenset(t for t in traits if t[0] not in FLEETING and (t[0] not in SAME or t in same))


def of_equal_types(first: Variation, second: Variation) -> Variation:
    """Return the variation of two values whose types JAX requires to be equal, if it does not raise."""
    known = [one.perhaps for one in (first, second) if one.perhaps is not None]
    perhaps = frozenset.intersection(*known) if known else None
    return Variation(
        first.surely | second.surely, perhaps, first.equal & second.equal, first.traits & second.traits
    )


def one_of(first: Variation, second: Variation) -> Variation:
    """Return the variation of a value that is one of two."""
    known = first.perhaps is not None and second.perhaps is not None
    perhaps = (first.perhaps or NO_AXES) | (second.perhaps or NO_AXES) if known else None
    return Variation(
        first.surely & second.surely, perhaps, first.equal & second.equal, first.traits & second.traits
    )


def of_a_loop(before: Variation, after: Variation) -> Variation:
    """Return the variation of a loop's variable, given that before and after one round."""
    drifting = before.axes_of(Trait.DRIFTING) | (before.equal & after.axes_of(Trait.SPLIT))
    found = one_of(before, after)
    return replace(found, traits=found.traits | {(Trait.DRIFTING, axis) for axis in drifting})


def disagreement(first: Variation, second: Variation) -> Axes:
    """Return the axes that one of two values certainly varies over and the other certainly does not."""
    return frozenset(axis for axis in first.surely if second.never(axis)) | frozenset(
        axis for axis in second.surely if first.never(axis)
    )


def judge_varying(mesh: Mesh, varying: Axes, spec: Spec) -> Verdict:
    """Judge a result of a body that runs with ``check_vma=True``, all mesh axes Manual.

    ``out_specs`` must name every axis that the result varies over (`shard_map._check_reps2`, called when the
    body is traced), also those of one device: a result must be the same on all devices of an axis that the
    spec omits. ValueError. The spec also names the axes over which it is to be unreduced or reduced.
    """
    if any(isinstance(entry, Unknown) for entry in spec.entries):
        return Undecided("the spec is not known")
    named = {axis for entry in spec.entries for axis in entry_axes(entry)}
    missing = [axis for axis in mesh.names if axis in varying - named - spec.unreduced - spec.reduced]
    if not missing:
        return Accepted()
    return Rejected(Cause.VARYING, "ValueError", "trace", axis=missing[0], detail=", ".join(missing))


def never_over(operand: Variation, axes: Axes) -> Axes:
    """Return those axes over which a value certainly does not vary."""
    return frozenset(axis for axis in axes if operand.never(axis))


def copied(operand: Variation, axes: Iterable[str]) -> tuple[str, ...]:
    """Return those axes along which all devices certainly hold equal data: split over them, a result is made
    of copies."""
    return tuple(axis for axis in axes if axis in operand.equal and operand.never(axis))


_NO_GROUPS = "axis_index_groups need check_vma=False"
#: Reductions and casts that take axes in one state only: all varied over, or none (`parallel._get_from`).
ONE_STATE = frozenset({"psum", "pmean", "psum_scatter", "pcast", "pvary"})
REDUCTIONS = frozenset({"psum", "pmean", "pmax", "pmin"})
#: Collectives whose results may be another device's data.
EXCHANGES = frozenset({"ppermute", "pshuffle", "all_to_all", "pswapaxes", "psum_scatter"})


def judge_operand(
    function: str,
    axes: tuple[str, ...],
    operand: Variation,
    *,
    checked: bool | None,
    to: str = "varying",
    grouped: bool = False,
) -> Verdict:
    """Judge a collective over Manual axes by its operand's variation; ``to`` as in `pcast`.

    JAX raises ValueError when it traces (`parallel._get_from`, `pcast`, `collective_vma_rule`); most
    collectives first cast an operand that does not vary, and succeed. The detail describes the mistake.
    """
    if function in ("pcast", "pvary"):
        return _judge_cast(axes, operand, checked, to)
    if function == "all_gather" and to == "reduced":
        unchecked = checked is False and not since("0.12.0")
        if unchecked or (checked and all(map(operand.never, axes))):
            return _rejected(axes[0], "it does not vary over {axis}, so there is nothing to gather")
        return Undecided("what it varies over is not known") if checked is None else Accepted()
    if not checked:
        return Accepted()
    unvarying = [axis for axis in axes if operand.never(axis)]
    if function == "pbroadcast" and unvarying:
        return _rejected(unvarying[0], "it does not vary over {axis}")
    if unvarying and _takes_one_state(function) and any(axis in operand.surely for axis in axes):
        moving = next(axis for axis in axes if axis in operand.surely)
        return _rejected(unvarying[0], f'it varies over "{moving}" but not over {{axis}}')
    if grouped and function in ("psum", "pmean") and operand.is_data:
        return Rejected(Cause.BAD_ARGUMENT, "NotImplementedError", "trace", detail=_NO_GROUPS)
    return Accepted()


def _takes_one_state(function: str) -> bool:
    """Return whether an operand may not vary over some of the axes only."""
    if function in ("psum", "pmean"):
        return since("0.8.3")
    return function in ONE_STATE or (function in ("pmax", "pmin") and since("0.11.1"))


def _judge_cast(axes: tuple[str, ...], operand: Variation, checked: bool | None, to: str) -> Verdict:
    if checked is None:
        return Undecided("check_vma is not known")
    if to not in ("varying", "reduced", "unreduced"):
        return Rejected(Cause.BAD_ARGUMENT, "ValueError", "trace", detail=f"`to` cannot be {to!r}")
    if to == "unreduced":
        unvarying = axes[0] if not checked else next(filter(operand.never, axes), None)
        return Accepted() if unvarying is None else _rejected(unvarying, "it does not vary over {axis}")
    moving = next((axis for axis in axes if checked and axis in operand.surely), None)
    return Accepted() if moving is None else _rejected(moving, "it varies over {axis} already")


def _rejected(axis: str, detail: str) -> Rejected:
    return Rejected(Cause.OPERAND, "ValueError", "trace", axis=axis, detail=detail.format(axis=f'"{axis}"'))


def judge_foreign(
    function: str, axes: tuple[str, ...], operand: Variation, *, manual: Axes, checked: bool | None
) -> Verdict:
    """Judge a collective inside shard_map over an axis that is not Manual: one of `vmap`.

    Under check_vma the operand is first cast to vary over the axis, which no type can: AssertionError
    (`core.order_wrt_mesh`). Sums of untraced values need no cast.
    """
    foreign = next((axis for axis in axes if axis not in manual), None)
    casts = function in REDUCTIONS | EXCHANGES | {"all_gather"} and checked is True
    traced = operand.is_data or function not in ("psum", "pmean")
    if foreign is None or not traced or not (casts or function == "pcast"):
        return Accepted() if checked is False else Undecided("what it varies over is not known")
    plain = len(axes) == 1 and function not in ("all_to_all", "pswapaxes", "psum_scatter")
    detail = f'"{foreign}" is an axis of vmap, over which it cannot vary'
    return Rejected(
        Cause.UNSUPPORTED, "AssertionError" if plain else "Exception", "trace", axis=foreign, detail=detail
    )


def scaled(value: Variation) -> Axes:
    """Return the axes by whose devices a value's gradient is multiplied, where types do not track variation.

    Each device differentiates the sum of all devices' values: of one that is equal on all of them, since it
    was summed, that is as many times the value (the transpose of psum is psum).
    """
    return frozenset(axis for axis in value.axes_of(Trait.SUMMED) if value.never(axis))


def misread(function: str, axes: tuple[str, ...], operand: Variation) -> tuple[Trait, str] | None:
    """Return the trait, and its axis, for which a reduction computes something else than is surely meant."""
    for axis in axes if function in ("pmax", "pmin") else ():
        if (Trait.EXTREME, axis) in operand.traits:
            return Trait.EXTREME, axis
    for axis in axes if function in ("psum", "pmean", "psum_scatter") else ():
        if function == "pmean" and (Trait.SPREAD, axis) in operand.traits:
            return Trait.SPREAD, axis
        for trait in (Trait.BIASED, Trait.CURVED) if function != "pmean" else ():
            if (trait, axis) in operand.traits:
                return trait, axis
        if function == "psum" and (Trait.AGAIN, axis) in operand.traits:
            return Trait.AGAIN, axis
        for trait in (Trait.RATIO, Trait.PRODUCT, Trait.CLIPPED):
            if (trait, axis) in operand.traits:
                return trait, axis
        if function != "psum_scatter" and (Trait.OWN, axis) in operand.traits:
            return Trait.OWN, axis
        if function != "psum_scatter" and (Trait.APART, axis) in operand.traits:
            return Trait.APART, axis
        for trait in (Trait.ROWS, Trait.PICKED) if function != "pmean" else ():
            if (trait, axis) in operand.traits:
                return trait, axis
    return None


def repeats(
    function: str, axes: tuple[str, ...], operand: Variation, summed: Axes, sizes: Mapping[str, Dim]
) -> str | None:
    """Describe the effect of a reduction of data that is equal on all devices, where it is surely a mistake.

    A sum of equal data is a multiple of it; that of a constant counts devices. A mean changes nothing, which
    is a mistake where JAX has already summed a gradient and the mean was intended.
    """
    if function == "pmean":
        equal_axes = [axis for axis in axes if axis in summed]
        return (
            f"JAX has summed it over {_named(equal_axes)} already, and the mean of equal sums is that sum"
            if equal_axes
            else None
        )
    equal_axes = [axis for axis in axes if axis in operand.equal and operand.never(axis)]
    times = product(sizes.get(axis, 1) for axis in equal_axes)
    if function not in ("psum", "psum_scatter") or times == 1:
        return None
    why = (
        "JAX has summed it over {} already"
        if summed.issuperset(equal_axes)
        else "it is equal on all devices along {}"
    )
    return f"{why.format(_named(equal_axes))}, so that the sum is {times} times it"


def unmoved(function: str, axes: tuple[str, ...], operand: Variation, sizes: Mapping[str, Dim]) -> str | None:
    """Describe the effect of an exchange in rings of what is equal on all their devices, and is split over
    another axis: nothing moves."""
    if function not in ("ppermute", "pshuffle") or not all(map(operand.never, axes)):
        return None
    others = sorted(axis for axis in operand.axes_of(Trait.SPLIT) if sizes.get(axis, 1) != 1)
    if not others or product(sizes.get(axis, 1) for axis in axes) == 1:
        return None
    return (
        f"it is equal on all devices along {_named(axes)}, and each receives what it sends; "
        f"it is split over {_named(others)}"
    )


def _named(axes: Iterable[str]) -> str:
    return " and ".join(f'"{axis}"' for axis in axes)


def collective_result(
    function: str,
    axes: Axes,
    operand: Variation,
    *,
    manual: Axes | None,
    checked: bool,
    to: str = "varying",
    groups: bool = False,
) -> Variation:
    """Return the variation of a collective's result. ``axes`` are Manual; ``groups``: axis_index_groups.

    ``to`` is ``varying``, or ``invarying`` for `all_gather`.
    """
    if not axes:
        return operand
    if function in REDUCTIONS:
        reduced = operand.without(axes, manual)
        if function == "psum" and not checked:
            summed = {(Trait.SUMMED, axis) for axis in operand.axes_of(Trait.SPLIT) & axes}
            reduced = replace(reduced, traits=reduced.traits | summed)
        if function == "psum":
            means = {(Trait.MEANS, axis) for axis in operand.axes_of(Trait.MEAN) & axes}
            totals = {(Trait.TOTAL, axis) for axis in operand.surely & axes}
            means |= {(Trait.GRADIENT, axis) for axis in operand.axes_of(Trait.AVERAGED) & axes}
            times = {(Trait.TIMES, axis) for axis in operand.axes_of(Trait.SCALED) & axes}
            reduced = replace(reduced, traits=reduced.traits | means | totals | times)
        if function != "pmean":
            indices = {(Trait.INDEX, axis) for axis in operand.axes_of(Trait.INDEX) & axes}
            reduced = replace(reduced, traits=reduced.traits | indices)
        return reduced.perhaps_over(axes) if groups and not checked else reduced
    if function == "all_gather":
        collected = {(Trait.GATHERED, axis) for axis in axes & operand.surely}
        collected |= {(Trait.GIVEN, axis) for axis in operand.axes_of(Trait.GIVEN) & axes}
        collected |= {(Trait.PLACES, axis) for axis in operand.axes_of(Trait.INDEX) & axes}
        if to == "invarying" or (not checked and not groups):
            whole = operand.without(axes, manual)
            return replace(whole, traits=whole.traits | collected)
        traits = operand.without(axes, manual).traits | collected
        gathered = operand if groups else replace(operand, traits=traits)
        return gathered.over(axes) if checked else gathered.perhaps_over(axes)
    if function in ("pcast", "pvary"):
        return operand.over(axes) if checked else operand
    if function == "pbroadcast":
        return operand.over(axes) if checked else operand.without(axes, manual)
    operand = replace(operand, traits=frozenset(t for t in operand.traits if t[0] not in SAME))
    if function in EXCHANGES:
        if function not in ("ppermute", "pshuffle"):
            gone = OF_PARTS | {Trait.GIVEN} if function == "psum_scatter" else {Trait.GIVEN}
            kept = frozenset(t for t in operand.traits if t[0] not in gone or t[1] not in axes)
            if function != "psum_scatter":
                kept |= {(Trait.GATHERED, axis) for axis in axes & operand.surely}
            operand = replace(operand, traits=kept)
        sure = checked or (function == "psum_scatter" and not groups)
        if function == "psum_scatter":
            operand = replace(operand, traits=operand.traits | {(Trait.OWN, axis) for axis in axes})
        return operand.over(axes) if sure else operand.perhaps_over(axes)
    return UNKNOWN

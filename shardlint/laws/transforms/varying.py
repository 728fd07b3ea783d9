"""Over which mesh axes values vary inside `jax.shard_map`, and what JAX requires of that.

JAX's types say over which Manual axes a value varies (`core.ShapedArray.mat`): a shard varies over the
axes of its spec, an operation's result over those of all its operands (`core.standard_vma_rule`, operands
being cast first), and a reduction's no longer over the axes it reduces. Under ``check_vma=False`` types say
nothing; there a variation tells of the values themselves, by the same steps where they are sure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from shardlint.laws.core.dims import Dim, product
from shardlint.laws.core.values import Mesh, Spec, Unknown, entry_axes
from shardlint.laws.core.verdicts import Accepted, Cause, Rejected, Undecided, Verdict
from shardlint.support.fast_frozen import frozen

Axes = frozenset[str]
NO_AXES: Axes = frozenset()


@frozen
class Variation:
    """A value varies over the axes ``surely``, and at most over ``perhaps`` (None: perhaps over any).

    ``equal`` are axes along which all devices surely hold equal data of the program's: a spec leaves the
    axis out, or a reduction was over it. Constants are no data.
    """

    surely: Axes = NO_AXES
    perhaps: Axes | None = None
    equal: Axes = NO_AXES

    @property
    def is_data(self) -> bool:
        """Whether it surely depends on an argument of shard_map."""
        return bool(self.surely or self.equal)

    def never(self, axis: str) -> bool:
        """Whether it surely does not vary over an axis."""
        return self.perhaps is not None and axis not in self.perhaps

    def over(self, axes: Axes) -> Variation:
        """The same, varying over these axes too."""
        perhaps = None if self.perhaps is None else self.perhaps | axes
        return Variation(self.surely | axes, perhaps, self.equal - axes)

    def perhaps_over(self, axes: Axes) -> Variation:
        """The same, not known to vary over these axes and not known not to."""
        perhaps = None if self.perhaps is None else self.perhaps | axes
        return Variation(self.surely - axes, perhaps, self.equal - axes)

    def without(self, axes: Axes, manual: Axes | None) -> Variation:
        """The same, equal along these axes; ``manual`` are all axes it could vary over."""
        most = manual if self.perhaps is None else self.perhaps
        equal = self.equal | axes if self.is_data else self.equal
        return Variation(self.surely - axes, None if most is None else most - axes, equal)


#: What every device holds equally, of whatever mesh.
CONSTANT = Variation(perhaps=NO_AXES)
UNKNOWN = Variation()


def combined(variations: Iterable[Variation], *, checked: bool) -> Variation:
    """What an operation makes of its operands.

    Values are less sure than types: of two values that vary the one may undo what the other does, where
    one of them is not known (a ring of `ppermute` ends in what all devices share).
    """
    operands = tuple(variations)
    surely = NO_AXES.union(*[operand.surely for operand in operands])
    known = [operand.perhaps for operand in operands if operand.perhaps is not None]
    perhaps = NO_AXES.union(*known) if len(known) == len(operands) else None
    if not checked:
        unsure = [o for o in operands if o.perhaps is None or o.perhaps != o.surely]
        surely = frozenset(axis for axis in surely if all(axis in o.surely or o.never(axis) for o in unsure))
    equal = NO_AXES.union(*[operand.equal for operand in operands])
    return Variation(surely, perhaps, NO_AXES if perhaps is None else equal - perhaps)


def of_equal_types(first: Variation, second: Variation) -> Variation:
    """What is known of two values whose types JAX requires to be equal, where it does not raise."""
    known = [one.perhaps for one in (first, second) if one.perhaps is not None]
    perhaps = frozenset.intersection(*known) if known else None
    return Variation(first.surely | second.surely, perhaps, first.equal & second.equal)


def one_of(first: Variation, second: Variation) -> Variation:
    """What is known of a value that is the one or the other."""
    known = first.perhaps is not None and second.perhaps is not None
    perhaps = (first.perhaps or NO_AXES) | (second.perhaps or NO_AXES) if known else None
    return Variation(first.surely & second.surely, perhaps, first.equal & second.equal)


def disagreement(first: Variation, second: Variation) -> Axes:
    """The axes that one of two values surely varies over and the other surely does not."""
    return frozenset(axis for axis in first.surely if second.never(axis)) | frozenset(
        axis for axis in second.surely if first.never(axis)
    )


def judge_varying(mesh: Mesh, varying: Axes, spec: Spec) -> Verdict:
    """Judge a result of a body that runs with ``check_vma=True``, all mesh axes Manual.

    ``out_specs`` must name every axis that the result varies over (`shard_map._check_reps2`, called
    when the body is traced), also those of one device: what varies over an axis that the spec leaves
    out would have to be the same on all its devices. ValueError. What it is to be unreduced or reduced over
    it names, too.
    """
    if any(isinstance(entry, Unknown) for entry in spec.entries):
        return Undecided("the spec is not known")
    named = {axis for entry in spec.entries for axis in entry_axes(entry)}
    missing = [axis for axis in mesh.names if axis in varying - named - spec.unreduced - spec.reduced]
    if not missing:
        return Accepted()
    return Rejected(Cause.VARYING, "ValueError", "trace", axis=missing[0], detail=", ".join(missing))


_NO_GROUPS = "axis_index_groups need check_vma=False"
#: Reductions and casts that take axes in one state only: all varied over, or none (`parallel._get_from`).
ONE_STATE = frozenset({"psum", "pmean", "psum_scatter", "pcast", "pvary"})
REDUCTIONS = frozenset({"psum", "pmean", "pmax", "pmin"})
#: What devices get may be another's.
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
    """Judge a collective over Manual axes by what its operand varies over; ``to`` as `pcast` takes it.

    What JAX refuses, it refuses with ValueError when it traces (`parallel._get_from`, `pcast`,
    `collective_vma_rule`); most collectives cast an operand that does not vary first, and are fine.
    The detail says in words what is wrong.
    """
    if function in ("pcast", "pvary"):
        return _judge_cast(axes, operand, checked, to)
    if function == "all_gather" and to == "reduced":
        if checked is False or (checked and all(map(operand.never, axes))):
            return _rejected(axes[0], "it does not vary over {axis}, so there is nothing to gather")
        return Undecided("what it varies over is not known") if checked is None else Accepted()
    if not checked:
        return Accepted()
    still = [axis for axis in axes if operand.never(axis)]
    if function == "pbroadcast" and still:
        return _rejected(still[0], "it does not vary over {axis}")
    if function in ONE_STATE and still and any(axis in operand.surely for axis in axes):
        moving = next(axis for axis in axes if axis in operand.surely)
        return _rejected(still[0], f'it varies over "{moving}" but not over {{axis}}')
    if grouped and function in ("psum", "pmean") and operand.is_data:
        return Rejected(Cause.BAD_ARGUMENT, "NotImplementedError", "trace", detail=_NO_GROUPS)
    return Accepted()


def _judge_cast(axes: tuple[str, ...], operand: Variation, checked: bool | None, to: str) -> Verdict:
    if checked is None:
        return Undecided("check_vma is not known")
    if to not in ("varying", "reduced", "unreduced"):
        return Rejected(Cause.BAD_ARGUMENT, "ValueError", "trace", detail=f"`to` cannot be {to!r}")
    if to == "unreduced":
        still = axes[0] if not checked else next(filter(operand.never, axes), None)
        return Accepted() if still is None else _rejected(still, "it does not vary over {axis}")
    moving = next((axis for axis in axes if checked and axis in operand.surely), None)
    return Accepted() if moving is None else _rejected(moving, "it varies over {axis} already")


def _rejected(axis: str, detail: str) -> Rejected:
    return Rejected(Cause.OPERAND, "ValueError", "trace", axis=axis, detail=detail.format(axis=f'"{axis}"'))


def judge_foreign(
    function: str, axes: tuple[str, ...], operand: Variation, *, manual: Axes, checked: bool | None
) -> Verdict:
    """Judge a collective inside shard_map over an axis that is not Manual: one of `vmap`.

    Where types say what varies, the operand is cast to vary over the axis first, which no type can:
    AssertionError (`core.order_wrt_mesh`). Sums of what is not traced need no cast.
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


def repeats(
    function: str, axes: tuple[str, ...], operand: Variation, summed: Axes, sizes: Mapping[str, Dim]
) -> str | None:
    """Say in words what a reduction of something equal on all devices does, where that is surely no idiom.

    A sum of equal data is as many times it; that of a constant counts devices. A mean changes nothing,
    which is a mistake where JAX summed a gradient already and the mean was meant.
    """
    if function == "pmean":
        held = [axis for axis in axes if axis in summed]
        return (
            f"JAX has summed it over {_named(held)} already, and the mean of equal sums is that sum"
            if held
            else None
        )
    held = [axis for axis in axes if axis in operand.equal and operand.never(axis)]
    times = product(sizes.get(axis, 1) for axis in held)
    if function not in ("psum", "psum_scatter") or times == 1:
        return None
    why = (
        "JAX has summed it over {} already"
        if summed.issuperset(held)
        else "it is equal on all devices along {}"
    )
    return f"{why.format(_named(held))}, so that the sum is {times} times it"


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
    """Over what the result of a collective varies. ``axes`` are Manual; ``groups``: axis_index_groups.

    ``to`` is ``varying``, or ``invarying`` for `all_gather`.
    """
    if not axes:
        return operand
    if function in REDUCTIONS:
        reduced = operand.without(axes, manual)
        return reduced.perhaps_over(axes) if groups and not checked else reduced
    if function == "all_gather":
        if to == "invarying" or (not checked and not groups):
            return operand.without(axes, manual)
        return operand.over(axes) if checked else operand.perhaps_over(axes)
    if function in ("pcast", "pvary"):
        return operand.over(axes) if checked else operand
    if function == "pbroadcast":
        return operand.over(axes) if checked else operand.without(axes, manual)
    if function in EXCHANGES:
        sure = checked or (function == "psum_scatter" and not groups)
        return operand.over(axes) if sure else operand.perhaps_over(axes)
    return UNKNOWN

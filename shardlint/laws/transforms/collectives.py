"""Collectives: the axes they may use, how devices are grouped and paired, and the result's shape."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from shardlint.laws.core.dims import Dim, Shape, divisible, equal
from shardlint.laws.core.values import Unknown
from shardlint.laws.core.verdicts import Accepted, Cause, Rejected, Undecided, Verdict
from shardlint.laws.versions.era import since

STAGE = "trace"
ANY = "Exception"

#: The exception for an unbound axis: under shard_map's check_vma, under shard_map without it, elsewhere.
#: `lax.parallel` looks axes up in the axis environment (NameError); with check_vma some functions first cast
#: the operand to vary over the axis (AssertionError in `core`), and some have no rule for calls outside jit
#: (NotImplementedError).
_LOOKED_UP = ("NameError", "NameError", "NameError")
_CAST = ("AssertionError", "NameError", "NameError")
_CAST_NO_EAGER_RULE = ("AssertionError", "NameError", ANY)
EXCEPTIONS: dict[str, tuple[str, str, str]] = {
    "psum": _CAST,
    "pmean": _CAST,
    "pmax": _CAST,
    "pmin": _CAST,
    "ppermute": _CAST_NO_EAGER_RULE,
    "pshuffle": _CAST_NO_EAGER_RULE,
    "pbroadcast": ("NameError", "NameError", ANY),
    "all_gather": _LOOKED_UP,
    "all_to_all": _LOOKED_UP,
    "pswapaxes": _LOOKED_UP,
    "psum_scatter": _LOOKED_UP,
    "axis_index": _LOOKED_UP,
    "axis_size": _LOOKED_UP,
    "ragged_all_to_all": ("NameError", "NameError", ANY),
    "pcast": ("AssertionError", "AssertionError", ANY),
    "pvary": ("AssertionError", "AssertionError", ANY),
}
#: With check_vma these compare the states of several axes before they look each up.
COMPARE_STATES = frozenset({"psum", "pmean", "psum_scatter", "pcast", "pvary"})
#: These do since 0.11.1.
EXTREMES = frozenset({"pmax", "pmin"})


def judge_axes(
    function: str,
    axes: tuple[str, ...],
    bound: tuple[tuple[str, Dim], ...] | Unknown,
    *,
    check_vma: bool | None = None,
    kept: Collection[str] = (),
) -> Verdict:
    """Judge the axis names of ``lax.<function>(x, axes)``; only names that are bound may be used.

    ``bound`` are the axes of the enclosing shard_map, vmap or pmap with their sizes. ``check_vma`` is its
    value inside a shard_map (True by default); None where that is not known. ``kept`` are mesh axes that are
    not Manual there: these are looked up, and not found.
    """
    if function not in EXCEPTIONS:
        return Undecided(f"{function} has no law")
    if isinstance(bound, Unknown):
        return Undecided(f"the bound axes are not known: {bound.reason}")
    names = [name for name, _ in bound]
    if not bound and function in ("pcast", "pvary") and not since("0.9.2"):
        return Undecided("older releases cast what is outside as well")
    for part, axis in enumerate(axes):
        if axis not in names:
            exception = _exception(function, bool(bound), check_vma, len(axes) > 1)
            if axis in kept and len(axes) == 1:
                exception = "NameError"
            return Rejected(Cause.UNBOUND_AXIS, exception, STAGE, part=part, axis=axis)
    return Accepted()


def _exception(function: str, inside: bool, check_vma: bool | None, several: bool) -> str:
    checked, unchecked, outside = EXCEPTIONS[function]
    if several and (function in COMPARE_STATES or (function in EXTREMES and since("0.11.1"))):
        checked = ANY
    if not inside:
        return outside
    if check_vma is not None:
        return checked if check_vma else unchecked
    return checked if checked == unchecked == outside else ANY


#: Functions that look at devices along an axis without communicating.
_SILENT = frozenset({"axis_index", "axis_size", "pcast", "pvary"})


def judge_forbidden(function: str, axes: tuple[str, ...], forbidden: Collection[str]) -> Verdict:
    """Judge a collective by the mesh axes of `jax.sharding.no_collectives` (`_check_axis_names`, 0.12.0)."""
    for part, axis in enumerate(axes):
        if axis in forbidden and function not in _SILENT:
            cause = Cause.FORBIDDEN_COLLECTIVE
            return Rejected(cause, "ForbiddenCollectiveError", STAGE, part=part, axis=axis)
    return Accepted()


#: Groups of devices by their indices, and pairs of a sender and a receiver.
Groups = tuple[tuple[int, ...], ...]
Permutation = tuple[tuple[int, int], ...]


def judge_groups(groups: Groups) -> Verdict:
    """Judge ``axis_index_groups``: every index once (`_validate_reduce_axis_index_groups`, ValueError).

    JAX counts the listed indices, not the devices: groups that omit some fail only in XLA.
    """
    count = sum(map(len, groups))
    if {index for group in groups for index in group} == set(range(count)):
        return Accepted()
    detail = f"its groups must hold every index from 0 to {count - 1} once"
    return Rejected(Cause.BAD_ARGUMENT, "ValueError", STAGE, detail=detail)


def judge_permutation(function: str, permutation: Permutation, size: Dim | None) -> Verdict:
    """Judge the pairs of a `ppermute`, or of a `pshuffle`, over ``size`` devices.

    `pshuffle` requires a permutation when it is traced; senders and receivers must be unique, counted modulo
    the size, and in range when the program is lowered (`_pcollectives_lowering_common`). Negative indices
    count from the end.
    """
    sources, targets = [source for source, _ in permutation], [target for _, target in permutation]
    if function == "pshuffle" and sorted(set(sources)) != targets:
        detail = f"its permutation must hold every index from 0 to {len(targets) - 1} once"
        return Rejected(Cause.PERMUTATION, "ValueError", STAGE, detail=detail)
    if not isinstance(size, int):
        return Undecided("the number of devices is not known")
    for role, indices in (("sends twice", sources), ("receives twice", targets)):
        folded = [index % size for index in indices]
        twice = next((index for index in folded if folded.count(index) > 1), None)
        if twice is not None:
            detail = f"device {twice} {role}"
            return Rejected(Cause.PERMUTATION, "ValueError", "lower", size=twice, ways=size, detail=detail)
    for index in (*sources, *targets):
        if not -size <= index < size:
            detail = f"there is no device {index} among {size}"
            return Rejected(Cause.PERMUTATION, "IndexError", "lower", size=index, ways=size, detail=detail)
    return Accepted()


#: Collectives whose result depends on the order of the axes: which device is which.
ORDERED = frozenset({"axis_index", "all_gather", "psum_scatter", "all_to_all"})


def other_order(
    axes: tuple[str, ...], orders: Collection[tuple[str, ...]], sizes: Mapping[str, Dim]
) -> tuple[str, ...] | None:
    """Return the order in which the specs split a dimension over these axes, if it is another one.

    A collective numbers the devices with the last axis the fastest (`parallel._axis_index_of_val`), and an
    entry of a spec its shards likewise. Axes of one device make no difference.
    """
    wide = tuple(axis for axis in axes if equal(sizes.get(axis, 1), 1) is not True)
    held = [tuple(axis for axis in order if axis in wide) for order in orders if set(wide) <= set(order)]
    return held[0] if held and wide not in held else None


def without_receiver(permutation: Permutation, size: Dim | None) -> tuple[int, ...]:
    """Return the devices that receive nothing from a `ppermute`: they get zeros."""
    if not isinstance(size, int):
        return ()
    reached = {target % size for _, target in permutation}
    return tuple(index for index in range(size) if index not in reached)


def has_ring(permutation: object) -> bool:
    """Return whether the permutation has a cycle."""
    if not isinstance(permutation, tuple):
        return False
    following = dict(permutation)
    for start in following:
        at, seen = following[start], {start}
        while at in following and at not in seen:
            seen.add(at)
            at = following[at]
        if at in seen:
            return True
    return False


Result = Shape | Rejected | Unknown


def local_result(function: str, shape: Shape, ways: Dim, **options: object) -> Result:
    """Return the shape on each device of a collective over ``ways`` devices, for operands of ``shape``.

    ``options`` are the call's own: ``axis``, ``tiled`` (`all_gather`), ``scatter_dimension``, ``tiled``
    (`psum_scatter`), ``split_axis``, ``concat_axis``, ``tiled`` (`all_to_all`), ``axis`` (`pswapaxes`).
    Rejected where `lax.parallel` raises.
    """
    if function in SAME_SHAPE:
        return shape
    if function not in SHAPE_LAWS:
        return Unknown(f"{function} has no law")
    tiled = options.get("tiled", False)
    if not isinstance(tiled, bool):
        return Unknown("tiled is not known")
    return SHAPE_LAWS[function](shape, ways, tiled, options)


SAME_SHAPE = frozenset(
    {"psum", "pmean", "pmax", "pmin", "ppermute", "pshuffle", "pbroadcast", "pcast", "pvary"}
)


def _all_gather(shape: Shape, ways: Dim, tiled: bool, options: dict[str, object]) -> Result:
    """`_all_gather_effectful_abstract_eval`: a new dimension, or a longer one if tiled."""
    rank = len(shape) if tiled else len(shape) + 1
    axis = _integer(options.get("axis", 0))
    if axis is None:
        return Unknown("axis is not known")
    if not -rank <= axis < rank:
        return _out_of_range(axis, rank, "ValueError")
    axis %= rank
    if tiled:
        return (*shape[:axis], shape[axis] * ways, *shape[axis + 1 :])
    return (*shape[:axis], ways, *shape[axis:])


def _psum_scatter(shape: Shape, ways: Dim, tiled: bool, options: dict[str, object]) -> Result:
    """`_reduce_scatter_effectful_abstract_eval`: the dimension is split when tiled, else used up.

    A negative dimension counts from the end; before 0.11.0 it is refused when the program is lowered.
    """
    axis = _integer(options.get("scatter_dimension", 0))
    if axis is None:
        return Unknown("scatter_dimension is not known")
    if not -len(shape) <= axis < len(shape):
        return _out_of_range(axis, len(shape), _no_dimension())
    wrong = _fits(shape, axis % len(shape), ways, tiled)
    if axis < 0 and wrong is None and not since("0.11.0"):
        detail = f"scatter_dimension={axis} must be {axis + len(shape)}: it does not count from the end"
        return Rejected(Cause.BAD_ARGUMENT, "ValueError", "lower", detail=detail)
    remaining: Shape = (shape[axis] // ways,) if tiled else ()
    axis %= len(shape)
    return wrong or (*shape[:axis], *remaining, *shape[axis + 1 :])


def _all_to_all(shape: Shape, ways: Dim, tiled: bool, options: dict[str, object]) -> Result:
    """`lax.all_to_all`: tiled splits one dimension and lengthens another, else one moves.

    JAX looks the size of a negative dimension up as Python does. XLA refuses such dimensions later, or
    crashes on them.
    """
    split, concat, rank = (
        _integer(options.get("split_axis")),
        _integer(options.get("concat_axis")),
        len(shape),
    )
    if split is None or concat is None:
        return Unknown("split_axis or concat_axis is not known")
    if not -rank <= split < rank:
        # A number has no shape: AttributeError.
        return _out_of_range(split, rank, _no_dimension() if rank else ANY)
    if (wrong := _fits(shape, split % rank, ways, tiled)) is not None:
        return wrong
    if split < 0 or concat < 0:
        return Unknown("what XLA makes of a negative dimension")
    if concat >= rank:
        return _out_of_range(concat, rank, _no_dimension() if tiled else "ValueError")
    result = list(shape)
    if tiled:
        result[split] = result[split] // ways
        result[concat] = result[concat] * ways
    else:
        del result[split]
        result.insert(concat, ways)
    return tuple(result)


def _pswapaxes(shape: Shape, ways: Dim, tiled: bool, options: dict[str, object]) -> Result:
    """`lax.pswapaxes`: an `all_to_all` that splits and puts together one dimension."""
    axis = options.get("axis")
    return _all_to_all(shape, ways, False, {"split_axis": axis, "concat_axis": axis})


def _fits(shape: Shape, axis: int, ways: Dim, tiled: bool) -> Rejected | Unknown | None:
    fits = divisible(shape[axis], ways) if tiled else equal(shape[axis], ways)
    if fits is None:
        return Unknown(f"whether dimension {axis} fits the axis is not known")
    cause = Cause.INDIVISIBLE if tiled else Cause.BAD_ARGUMENT
    wrong = Rejected(cause, "ValueError", STAGE, dimension=axis, size=shape[axis], ways=ways)
    return None if fits else wrong


def _no_dimension() -> str:
    """Return the exception for a dimension that the operand lacks (`canonicalize_axis` since 0.11.0)."""
    return "ValueError" if since("0.11.0") else "IndexError"


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _out_of_range(axis: int, rank: int, exception: str) -> Rejected:
    detail = f"there is no dimension {axis} in an array of {rank} dimensions"
    return Rejected(Cause.BAD_ARGUMENT, exception, STAGE, detail=detail)


SHAPE_LAWS: dict[str, Callable[[Shape, Dim, bool, dict[str, object]], Result]] = {
    "all_gather": _all_gather,
    "psum_scatter": _psum_scatter,
    "all_to_all": _all_to_all,
    "pswapaxes": _pswapaxes,
}

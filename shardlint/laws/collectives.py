"""Collectives: the axes they may use, and the shapes they make."""

from __future__ import annotations

from collections.abc import Callable

from shardlint.laws.dims import Dim, Shape, divisible, equal
from shardlint.laws.values import Unknown
from shardlint.laws.verdicts import Accepted, Cause, Rejected, Undecided, Verdict

STAGE = "trace"
ANY = "Exception"

#: What an unbound axis raises: under shard_map's check_vma, under shard_map without it, elsewhere.
#: `lax.parallel` looks axes up in the axis environment (NameError); with check_vma some functions
#: first cast the operand to vary over the axis (AssertionError in `core`), and some have no rule to
#: be called outside jit (NotImplementedError).
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
    "pcast": ("AssertionError", "AssertionError", ANY),
    "pvary": ("AssertionError", "AssertionError", ANY),
}
#: With check_vma these compare the states of several axes before they look each up.
COMPARE_STATES = frozenset({"psum", "pmean", "psum_scatter", "pcast", "pvary"})


def judge_axes(
    function: str,
    axes: tuple[str, ...],
    bound: tuple[tuple[str, Dim], ...] | Unknown,
    *,
    check_vma: bool | None = None,
) -> Verdict:
    """Judge the axis names of ``lax.<function>(x, axes)``; only names that are bound may be used.

    ``bound`` are the axes of the enclosing shard_map, vmap or pmap with their sizes. ``check_vma``
    tells, inside a shard_map, what it was given (True unless written); None where that is not known.
    """
    if function not in EXCEPTIONS:
        return Undecided(f"{function} has no law")
    if isinstance(bound, Unknown):
        return Undecided(f"the bound axes are not known: {bound.reason}")
    names = [name for name, _ in bound]
    for part, axis in enumerate(axes):
        if axis not in names:
            exception = _exception(function, bool(bound), check_vma, len(axes) > 1)
            return Rejected(Cause.UNBOUND_AXIS, exception, STAGE, part=part, axis=axis)
    return Accepted()


def _exception(function: str, inside: bool, check_vma: bool | None, several: bool) -> str:
    checked, unchecked, outside = EXCEPTIONS[function]
    if several and function in COMPARE_STATES:
        checked = ANY
    if not inside:
        return outside
    if check_vma is not None:
        return checked if check_vma else unchecked
    return checked if checked == unchecked == outside else ANY


Result = Shape | Rejected | Unknown


def local_result(function: str, shape: Shape, axis_size: Dim, **options: object) -> Result:
    """The shape on each device of what a collective over ``axis_size`` devices makes of ``shape``.

    ``options`` are the call's own: ``axis``, ``tiled`` (`all_gather`), ``scatter_dimension``,
    ``tiled`` (`psum_scatter`), ``split_axis``, ``concat_axis``, ``tiled`` (`all_to_all`), and
    ``axis_index_groups``, which makes the result Unknown. Rejected where `lax.parallel` raises ValueError.
    """
    if options.get("axis_index_groups") is not None:
        return Unknown("axis_index_groups")
    if function in SAME_SHAPE:
        return shape
    if function not in SHAPE_LAWS:
        return Unknown(f"{function} has no law")
    tiled = options.get("tiled", False)
    if not isinstance(tiled, bool):
        return Unknown("tiled is not known")
    return SHAPE_LAWS[function](shape, axis_size, tiled, options)


SAME_SHAPE = frozenset(
    {"psum", "pmean", "pmax", "pmin", "ppermute", "pshuffle", "pbroadcast", "pcast", "pvary"}
)


def _all_gather(shape: Shape, ways: Dim, tiled: bool, options: dict[str, object]) -> Result:
    """`_all_gather_effectful_abstract_eval`: a new dimension, or a longer one if tiled."""
    rank = len(shape) if tiled else len(shape) + 1
    axis = options.get("axis", 0)
    axis = _dimension(axis + rank if isinstance(axis, int) and axis < 0 else axis, rank)
    if axis is None:
        return Unknown("axis is not known")
    if tiled:
        return (*shape[:axis], shape[axis] * ways, *shape[axis + 1 :])
    return (*shape[:axis], ways, *shape[axis:])


def _psum_scatter(shape: Shape, ways: Dim, tiled: bool, options: dict[str, object]) -> Result:
    """`_reduce_scatter_effectful_abstract_eval`: the dimension is split when tiled, else used up."""
    axis = _dimension(options.get("scatter_dimension", 0), len(shape))
    if axis is None:
        return Unknown("scatter_dimension is not known")
    kept: Shape = (shape[axis] // ways,) if tiled else ()
    return _fits(shape, axis, ways, tiled) or (*shape[:axis], *kept, *shape[axis + 1 :])


def _all_to_all(shape: Shape, ways: Dim, tiled: bool, options: dict[str, object]) -> Result:
    """`lax.all_to_all`: tiled splits one dimension and lengthens another, else one moves."""
    split = _dimension(options.get("split_axis"), len(shape))
    concat = _dimension(options.get("concat_axis"), len(shape))
    if split is None or concat is None:
        return Unknown("split_axis or concat_axis is not known")
    if (wrong := _fits(shape, split, ways, tiled)) is not None:
        return wrong
    result = list(shape)
    if tiled:
        result[split] = result[split] // ways
        result[concat] = result[concat] * ways
    else:
        del result[split]
        result.insert(concat, ways)
    return tuple(result)


def _fits(shape: Shape, axis: int, ways: Dim, tiled: bool) -> Rejected | Unknown | None:
    fits = divisible(shape[axis], ways) if tiled else equal(shape[axis], ways)
    if fits is None:
        return Unknown(f"whether dimension {axis} fits the axis is not known")
    cause = Cause.INDIVISIBLE if tiled else Cause.BAD_ARGUMENT
    wrong = Rejected(cause, "ValueError", STAGE, dimension=axis, size=shape[axis], ways=ways)
    return None if fits else wrong


def _dimension(value: object, rank: int) -> int | None:
    """A dimension that is known and in range. XLA refuses or crashes on the negative ones left here."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < rank:
        return None
    return value


SHAPE_LAWS: dict[str, Callable[[Shape, Dim, bool, dict[str, object]], Result]] = {
    "all_gather": _all_gather,
    "psum_scatter": _psum_scatter,
    "all_to_all": _all_to_all,
}

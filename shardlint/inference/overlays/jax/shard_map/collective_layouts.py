"""The split dimensions of what a collective makes of a shard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shardlint.inference.domain.values import Array, ShardingValue
from shardlint.inference.overlays.jax.shard_map.split_dimensions import cut, split_of
from shardlint.laws.core.values import Entry, Spec, entry_axes
from shardlint.laws.transforms.varying import NO_AXES, REDUCTIONS

_Entries = list[tuple[str, ...]]


def layout_after(
    function: str,
    array: Array,
    axes: tuple[str, ...],
    arguments: Mapping[str, object],
    names: Sequence[str],
) -> ShardingValue | None:
    """Return the layout of the result of a reduction, `all_gather`, `psum_scatter` or `all_to_all`, or None.

    A dimension that is put together is not split any more, and one that is cut is; a reduction over other
    axes leaves all dimensions split as they are. ``names`` are the axes of the body.
    """
    spec = split_of(array)
    if spec is None and array.shape is not None and array.variation.perhaps == NO_AXES:
        spec = Spec((None,) * len(array.shape))
    if spec is None:
        return None
    entries = [tuple(entry_axes(entry)) for entry in spec.entries]
    tiled = arguments.get("tiled", False)
    made: _Entries | None = None
    if function in REDUCTIONS:
        made = None if any(axis in entry for entry in entries for axis in axes) else entries
    elif function == "all_gather":
        made = _gathered(entries, axes, arguments.get("axis", 0), tiled)
    elif function == "psum_scatter":
        made = _scattered(entries, axes, arguments.get("scatter_dimension", 0), tiled)
    elif function == "all_to_all" and tiled is True:
        made = _exchanged(entries, axes, arguments.get("split_axis"), arguments.get("concat_axis"))
    if made is None:
        return None
    return cut(names, Spec(tuple(map(_entry, made))), len(made))


def _gathered(entries: _Entries, axes: tuple[str, ...], at: object, tiled: object) -> _Entries | None:
    rank = len(entries) + (tiled is not True)
    if not isinstance(at, int) or not -rank <= at < rank:
        return None
    kept = _without(entries, axes)
    if kept is not None and tiled is not True:
        kept.insert(at % rank, ())
    return kept


def _scattered(entries: _Entries, axes: tuple[str, ...], at: object, tiled: object) -> _Entries | None:
    if not isinstance(at, int) or not -len(entries) <= at < len(entries):
        return None
    if any(axis in entry for entry in entries for axis in axes):
        return None
    made = list(entries)
    if tiled is True:
        made[at] = (*made[at], *axes)
    else:
        del made[at]
    return made


def _exchanged(entries: _Entries, axes: tuple[str, ...], cut: object, joined: object) -> _Entries | None:
    ranks = range(-len(entries), len(entries))
    if not isinstance(cut, int) or not isinstance(joined, int) or cut not in ranks or joined not in ranks:
        return None
    cut, joined = cut % len(entries), joined % len(entries)
    others = [axis for i, entry in enumerate(entries) if i != joined for axis in entry]
    made = _without(entries, axes)
    if made is None or cut == joined or any(axis in others for axis in axes):
        return None
    made[cut] = (*made[cut], *axes)
    return made


def _without(entries: Sequence[tuple[str, ...]], axes: tuple[str, ...]) -> _Entries | None:
    """Return entries without axes, which must be the last ones of theirs: the pieces are not in order
    otherwise."""
    made = []
    for entry in entries:
        kept = tuple(axis for axis in entry if axis not in axes)
        if entry[: len(kept)] != kept:
            return None
        made.append(kept)
    return made


def _entry(axes: tuple[str, ...]) -> Entry:
    return axes if len(axes) > 1 else axes[0] if axes else None

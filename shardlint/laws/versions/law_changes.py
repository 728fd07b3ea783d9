"""Differences between the laws of the newest JAX and those of older releases, one difference a row.

Found by running `tests/laws` under each release (`tests/versions/run_versions.py`). The laws themselves are
those of the newest release; calls not listed here are rejected in all of them.
"""

from __future__ import annotations

from shardlint.laws.core.verdicts import Api, Cause
from shardlint.laws.versions.releases import Release
from shardlint.support.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class LawRow:
    """Before ``since``, calls that are wrong for this ``cause`` (any where it is None) had another outcome.

    ``apis`` are the calls concerned, by `Api` or the function's name, all where it is empty; ``newest`` is
    the exception raised since, and ``stage`` where, any where they are empty. ``before`` is the earlier
    exception, None where JAX accepts the call or its behaviour is not known.
    """

    since: Release
    cause: Cause | None
    apis: frozenset[str] = frozenset()
    newest: str = ""
    before: str | None = None
    entry: str = ""
    stage: str = ""


def _row(
    since: str,
    cause: Cause | None,
    *apis: str,
    newest: str = "",
    before: str | None = None,
    entry: str = "",
    stage: str = "",
) -> LawRow:
    return LawRow(Release.parse(since), cause, frozenset(apis), newest, before, entry, stage)


#: A spec that no call takes.
_SPEC = ""
_PUTS = (Api.DEVICE_PUT, Api.DEVICE_PUT_IN_JIT)
_NNX = (Api.NNX_PARAM, Api.NNX_PARAM_IN_JIT, Api.NNX_SHARDING)
_LINEN = (Api.LINEN_SHARDING, Api.LINEN_UNBOX, Api.LINEN_UNBOX_EAGER)
_TYPED = (Cause.CONFLICT, Cause.AMBIGUOUS, Cause.UNSUPPORTED, Cause.OUT_SHARDING, Cause.OTHER_MESH)

_SHARD_MAPS = (Api.SHARD_MAP_IN, Api.SHARD_MAP_OUT)
_ARANGES = (Api.ARANGE, Api.ARANGE_IN_JIT)
_CHECKED = ("psum", "pmean", "pmax", "pmin", "ppermute", "pshuffle")
_DUPLICATE = "DuplicateSpecError"

_OF_LINEN = (Cause.AXIS_TYPE, Cause.INDIVISIBLE, Cause.TOO_LONG, Cause.UNKNOWN_AXIS, Cause.UNCONSTRAINED)

#: Of the rejections of linen's calls before 0.6.0 these are established.
_BEFORE_LINEN: tuple[LawRow, ...] = (
    _row("0.5.3", Cause.AXIS_TYPE),
    _row("0.5.3", Cause.DUPLICATE_AXIS, *_LINEN, newest=_DUPLICATE, before="ValueError"),
    _row("0.6.0", Cause.DUPLICATE_AXIS, *_LINEN, newest=_DUPLICATE, before=_DUPLICATE),
    *(_row("0.6.0", cause, *_LINEN, before="ValueError") for cause in _OF_LINEN),
    *(
        _row("0.6.0", Cause.BAD_ENTRY, *_LINEN, newest=same, before=same)
        for same in ("ValueError", "TypeError")
    ),
    _row("0.6.0", None, *_LINEN),
)

#: Of the rows that apply to a call, the first decides.
LAW_ROWS: tuple[LawRow, ...] = (
    # The Flax that goes with an older JAX shards parameters in another way.
    _row("0.8.0", None, *_NNX),
    *_BEFORE_LINEN,
    # Axis types, and their consequences.
    _row("0.5.3", Cause.AXIS_TYPE),
    _row(
        "0.9.1", Cause.OTHER_SHARDING, Api.SHARD_MAP_IN,
        entry="in_specs that differ from an Explicit argument's spec raise, and are no implicit reshard",
    ),
    _row("0.6.0", Cause.OTHER_SHARDING),
    _row("0.7.2", Cause.OTHER_SHARDING, newest="AssertionError", before="ValueError"),
    _row("0.7.0", Cause.MESH_CONTEXT),
    *(_row("0.9.0", cause) for cause in _TYPED),
    _row("0.12.0", Cause.FORBIDDEN_COLLECTIVE),
    # Specs, and their checks against meshes and arrays.
    _row("0.6.0", Cause.BAD_ENTRY, *_SHARD_MAPS, newest="ValueError", before="KeyError"),
    _row("0.4.36", Cause.NOT_A_SPEC, newest="AttributeError", before="TypeError"),
    _row("0.6.1", Cause.NOT_A_SPEC, newest="AttributeError"),
    _row("0.10.1", Cause.NOT_A_SPEC, newest="AttributeError", before="TypeError"),
    _row("0.5.3", Cause.DUPLICATE_AXIS, Api.SHARD_MAP_OUT),
    _row("0.5.3", Cause.DUPLICATE_AXIS, newest=_DUPLICATE, before="ValueError"),
    _row("0.9.1", Cause.INDIVISIBLE, newest="IndivisibleError", before="ValueError"),
    _row("0.8.2", Cause.UNCONSTRAINED, *_PUTS, newest="KeyError"),
    _row("0.8.3", Cause.UNCONSTRAINED, *_ARANGES, newest="KeyError"),
    _row("0.6.0", Cause.UNCONSTRAINED, *_SHARD_MAPS, newest="ValueError", before="KeyError"),
    _row("0.6.0", Cause.UNKNOWN_AXIS, *_SHARD_MAPS, newest="ValueError", before="KeyError"),
    _row("0.7.2", Cause.BAD_ARGUMENT, *_ARANGES),
    _row("0.8.0", Cause.TOO_LONG, *_PUTS, *_ARANGES, newest="AssertionError", before="ValueError"),
    _row("0.7.0", Cause.TOO_LONG, Api.RESHARD_IN_JIT, newest="AssertionError", before="ValueError"),
    _row("0.6.0", Cause.TOO_LONG, Api.RESHARD, newest="AssertionError", before="ValueError"),
    # Collectives under check_vma over a name that is not bound.
    _row("0.6.0", Cause.UNBOUND_AXIS, *_CHECKED, newest="AssertionError", before="NameError"),
    _row("0.8.0", Cause.UNBOUND_AXIS, *_CHECKED, newest="AssertionError", before="KeyError"),
    # shard_map checks the variation of a carry since 0.6.0.
    _row("0.8.3", Cause.CARRY, "jax.custom_vjp"),
    _row("0.6.0", Cause.CARRY),
    # In one process the shape that was asked for was not looked at.
    _row("0.7.1", Cause.DEVICES, "jax.make_array_from_process_local_data"),
    # The letters of axis_types="auto" were counted.
    _row("0.6.0", Cause.BAD_ARGUMENT, "jax.make_mesh"),
)  # fmt: skip

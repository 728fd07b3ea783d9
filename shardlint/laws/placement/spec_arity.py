"""The number of specs or shardings for a function's arguments and results."""

from __future__ import annotations

from shardlint.laws.core.verdicts import Accepted, Api, Cause, Rejected, Undecided, Verdict

#: APIs that flatten a tuple of specs against the arguments or results.
PER_ARGUMENT = frozenset({Api.JIT_IN, Api.JIT_OUT, Api.SHARD_MAP_IN, Api.SHARD_MAP_OUT})


#: The stage at which a container of specs that fits no array fails, if not when the function is traced.
_MET_AT = {Api.DEVICE_PUT: "device_put", Api.CONSTRAINT_EAGER: "wsc eager", Api.RESHARD: "reshard"}


def judge_arity(api: Api, given: int, due: int) -> Verdict:
    """Judge a tuple of ``given`` specs for ``due`` positional arguments, or for a tuple of ``due`` results.

    `shard_map` broadcasts its specs as a pytree prefix (`tree_util.broadcast_prefix`), and jit does
    in `api_util.flatten_axes`: other lengths raise ValueError when the function is traced. For jit an
    empty tuple has no leaf to blame, and its error path fails on an assertion.
    """
    if api not in PER_ARGUMENT:
        return Undecided(f"{api.value} takes one spec")
    if given == due:
        return Accepted()
    without_leaves = given == 0 and api in (Api.JIT_IN, Api.JIT_OUT)
    return Rejected(
        Cause.ARITY, "AssertionError" if without_leaves else "ValueError", "trace", size=due, ways=given
    )


def judge_container(api: Api) -> Verdict:
    """Judge a non-empty list, tuple or dict of specs for a single array (or result).

    It is a pytree, and not a prefix of a leaf (`tree_util.prefix_errors`). For JIT_IN it is compared with the
    tuple of arguments: see `judge_arity`.
    """
    if api is Api.JIT_IN:
        return Undecided("a container of in_shardings holds one entry an argument")
    return Rejected(Cause.ARITY, "ValueError", _MET_AT.get(api, "trace"))

"""How many specs or shardings a function's arguments and results take."""

from __future__ import annotations

from shardlint.laws.verdicts import Accepted, Api, Cause, Rejected, Undecided, Verdict

#: APIs that flatten a tuple of specs against the arguments or results.
PER_ARGUMENT = frozenset({Api.JIT_IN, Api.JIT_OUT, Api.SHARD_MAP_IN, Api.SHARD_MAP_OUT})


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

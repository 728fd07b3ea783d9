"""Operations along one dimension, which may not be sharded: `sort`, cumulative ones and `top_k`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from shardlint.laws.core.array_types import ArrayType, TypeSharding
from shardlint.laws.core.values import Mesh
from shardlint.laws.core.verdicts import Cause
from shardlint.laws.propagation.elementwise import agree
from shardlint.laws.propagation.operands import Operand, Outcome, explicit, law, operands_of, refuse
from shardlint.laws.propagation.primitives import standard
from shardlint.laws.versions.era import since


@law
def sort(context: Mesh | None, operands: Sequence[ArrayType], dimension: int) -> Outcome:
    """`lax.sort`: operands of one sharding, replicated along ``dimension`` (`_sort_abstract_eval`).

    Returns the first operand's type; each result has that of its operand. The meshes are not compared with
    the context's.
    """
    known = operands_of(context, *operands)

    def rule() -> TypeSharding:
        meshed = [operand for operand in known if explicit(operand.mesh)]
        for operand in meshed:
            _whole(operand, dimension)
            agree(meshed[0], operand, "operands of one sharding", sets=True)
        return known[0].untouched

    return _without_context(context, known, rule)


@law
def cumulative(context: Mesh | None, operand: ArrayType, axis: int) -> Outcome:
    """`lax.cumsum`, `cumprod`, `cummax` …: replicated along ``axis`` (`_cumred_sharding_rule`)."""
    (known,) = operands_of(context, operand)

    def rule() -> TypeSharding:
        _whole(known, axis)
        return known.typed(known.partitions)

    return standard(context, [known], known.rank, rule)


@law
def top_k(context: Mesh | None, operand: ArrayType, axis: int = -1) -> Outcome:
    """`lax.top_k`, `approx_max_k`: values and indices as the operand, which is replicated along ``axis``."""
    (known,) = operands_of(context, operand)

    def rule() -> TypeSharding:
        _whole(known, axis % known.rank)
        return known.untouched

    return _without_context(context, [known], rule)


def _without_context(
    context: Mesh | None, operands: Sequence[Operand], rule: Callable[[], TypeSharding]
) -> TypeSharding:
    """Return the type by a rule that is asked alone, and since 0.12.0 as `call_sharding_rule` does."""
    if not since("0.12.0"):
        return rule()
    return standard(context, operands, operands[0].rank, rule, in_context=False)


def _whole(operand: Operand, dimension: int) -> None:
    """Stop where a dimension is sharded, as JAX asks: ``spec[dimension]``."""
    entry = operand.listed[dimension]
    if entry is not None:
        refuse(
            Cause.UNSUPPORTED, "a dimension that is not sharded",
            dimension=dimension, entry=entry, size=operand.shape[dimension],
        )  # fmt: skip

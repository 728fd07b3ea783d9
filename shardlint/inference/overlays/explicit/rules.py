"""All rules by the canonical names of what they are for.

Methods of arrays are ``jax.Array.<name>``, operators ``2 +`` and ``1 -`` by their number of operands, and
indexing is ``[]``. A method without a rule of its own has that of the function.
"""

from __future__ import annotations

from shardlint.inference.overlays.explicit import (
    contracting_rules,
    convolution_rules,
    einsum_rule,
    elementwise_rules,
    indexing_rules,
    joining_rules,
    layout_rules,
    random_rules,
    reducing_rules,
    slicing_rules,
)
from shardlint.inference.overlays.explicit.trace import Rule

RULES: dict[str, Rule] = {
    **elementwise_rules.RULES,
    **reducing_rules.RULES,
    **contracting_rules.RULES,
    **einsum_rule.RULES,
    **layout_rules.RULES,
    **joining_rules.RULES,
    **indexing_rules.RULES,
    **slicing_rules.RULES,
    **convolution_rules.RULES,
    **random_rules.RULES,
}


def rule_of(name: str) -> Rule | None:
    """The rule for a name, or None."""
    found = RULES.get(name)
    if found is None and name.startswith("jax.Array."):
        return RULES.get(f"jax.numpy.{name.removeprefix('jax.Array.')}")
    return found

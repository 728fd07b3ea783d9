"""All rules by the canonical names of their functions.

Methods of arrays are ``jax.Array.<name>``, operators ``2 +`` and ``1 -`` by their number of operands, and
indexing is ``[]``. A method without a rule of its own has that of the function.
"""

from __future__ import annotations

from shardlint.inference.overlays.jax.explicit.primitives import Rule
from shardlint.inference.overlays.jax.explicit.rules import (
    contractions,
    convolution,
    einsum,
    elementwise,
    indexing,
    joining,
    layout,
    random,
    reductions,
    slicing,
)

RULES: dict[str, Rule] = {
    **elementwise.RULES,
    **reductions.RULES,
    **contractions.RULES,
    **einsum.RULES,
    **layout.RULES,
    **joining.RULES,
    **indexing.RULES,
    **slicing.RULES,
    **convolution.RULES,
    **random.RULES,
}


def rule_of(name: str) -> Rule | None:
    """Return the rule for a name, or None."""
    found = RULES.get(name)
    if found is None and name.startswith("jax.Array."):
        return RULES.get(f"jax.numpy.{name.removeprefix('jax.Array.')}")
    return found

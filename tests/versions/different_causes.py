"""The causes of what the laws say otherwise than a release did, or leave open, in words."""

from __future__ import annotations

import re

#: The first pattern that is found in "kind | group | question | answer" tells the cause.
_CAUSES: tuple[tuple[str, str], ...] = (
    (
        r"zero_dim .*AssertionError|of \((0|.*, 0)[,)].*AssertionError",
        "XLA fails an assertion of its own on an array of size 0 that is split, before 0.9",
    ),
    (
        r"(outside jit|nnx\.Param).* raw .*\| TypeError",
        "before 0.10 a bare spec outside jit is not taken for an array that is on one device",
    ),
    (
        r"(smaller_2_over_4|\(device=\) inside jit).*(IndivisibleError|ValueError)",
        "XLA splits an uneven output over a part of an axis, which no spec can name",
    ),
    (
        r"shard_shape .*IndexError",
        "shard_shape indexes past the rank on a mesh whose axes have one device, before 0.10",
    ),
    (r"in_specs over some.*ValueError", "the inferred spec is computed, and cannot be, before 0.9"),
    (r"\*.*\| ok", "what XLA chose for P.UNCONSTRAINED"),
    (r"JAX rejects \| rand_out\|auto", "random.normal(out_sharding=) takes Explicit axes only, before 0.7"),
    (
        r"JAX rejects \| (reshard|jnp\.(array|linspace)|with_sharding_constraint|linen|zeros|cb)",
        "Explicit axes are new: constraints, and surplus Nones, are refused, before 0.7",
    ),
    (r"JAX rejects \| (jit on a )?ShapeDtypeStruct", "ShapeDtypeStruct checks its sharding, before 0.8"),
    (r"JAX rejects \| sm(in|out)", "shard_map takes no list in a spec, before 0.5"),
    (r"another (exception|stage)", "the same mistake is found by another check"),
    (r"another result", "the layout of what jit returns was another"),
)  # fmt: skip


def of_difference(kind: str, group: str, question: str, answer: str, law: str) -> str:
    """Return the cause of a disagreement; the law's verdict does not tell more."""
    text = f"{kind} | {group} | {question} | {answer}"
    return next((cause for pattern, cause in _CAUSES if re.search(pattern, text)), "not looked into")


def of_silence(reason: str) -> str:
    """Return the cause for which a law leaves open what JAX rejects, from the law's reason."""
    if re.fullmatch(r"JAX [\d.]+ does not reject this", reason):
        return "this release accepts some calls with the same mistake"
    return reason

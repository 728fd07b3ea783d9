"""Questions about an array that differs from device to device, which JAX refuses to answer: the code of all
devices is traced once, with a tracer for the array (`jax.core.Tracer`, JAX 0.10.2 and 0.12.0.1)."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from shardlint.laws.core.verdicts import Cause, Rejected

#: The function of uses in which something is asked of a tracer.
ASKED = "jax.core.Tracer"


class Asked(StrEnum):
    """Questions about an array: what Python asks for, in words."""

    TRUTH = "the truth"
    NUMBER = "the number"
    INDEX = "the number, to count or index with it,"
    BOUND = "the number, to cut by it,"
    ITEMS = "the elements"


_EXCEPTIONS = {
    Asked.TRUTH: "TracerBoolConversionError",
    Asked.NUMBER: "ConcretizationTypeError",
    Asked.INDEX: "TracerIntegerConversionError",
    Asked.BOUND: "IndexError",
    Asked.ITEMS: "TracerArrayConversionError",
}


def asked_of_tracer(asked: Asked, axes: Collection[str]) -> Rejected:
    """Return the verdict on asking for a value that certainly varies over these mesh axes."""
    return Rejected(Cause.VARYING, _EXCEPTIONS[asked], "trace", axis=min(axes), detail=asked)

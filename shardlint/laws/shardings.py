"""The law of `NamedSharding(mesh, spec)`."""

from __future__ import annotations

from shardlint.laws.checks import SHARDING
from shardlint.laws.judging import Case, judge, staged
from shardlint.laws.values import Junk, Mesh, Spec, Unknown
from shardlint.laws.verdicts import Accepted, Cause, Rejected, Undecided, Verdict

STAGE = "NamedSharding()"


def judge_sharding(mesh: Mesh | Unknown, spec: Spec | Junk | Unknown | None) -> Verdict:
    """Judge ``NamedSharding(mesh, spec)``.

    `named_sharding.check_pspec` looks first for an axis used twice (DuplicateSpecError), then for
    parts that are no axes of the mesh (ValueError), then at unreduced axes. The check is cached by
    its arguments, so what cannot be hashed raises TypeError; other things have no ``partitions``
    (AttributeError), and the C++ class takes no None (TypeError). Axis types play no part but for
    ``P.UNCONSTRAINED`` and unreduced axes.
    """
    if isinstance(spec, Unknown):
        return Undecided(f"the spec is not known: {spec.reason}")
    if spec is None:
        return Rejected(Cause.NOT_A_SPEC, "TypeError", STAGE, detail="None")
    if isinstance(spec, Junk):
        exception = "AttributeError" if spec.hashable else "TypeError"
        return Rejected(Cause.NOT_A_SPEC, exception, STAGE, detail=spec.text)
    verdict = judge(staged(STAGE, *SHARDING), Case(mesh, spec, Unknown("no array is involved")))
    return Accepted(spec) if isinstance(verdict, Accepted) else verdict

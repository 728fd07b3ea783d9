"""The law of `NamedSharding(mesh, spec, memory_kind=)`."""

from __future__ import annotations

from typing import Union

from shardlint.laws.core.check_chain import Case, judge, staged
from shardlint.laws.core.values import Junk, Mesh, Spec, Unknown, entry_axes
from shardlint.laws.core.verdicts import Accepted, Cause, Rejected, Undecided, Verdict
from shardlint.laws.placement.checks import SHARDING, unknown_part

STAGE = "NamedSharding()"

#: The memories of CPU devices, and those that any device has some of.
MEMORY_KINDS = frozenset({"device", "pinned_host", "unpinned_host"})

#: The value of ``memory_kind=``: a name, None, or something invalid.
Memory = Union[str, Junk, Unknown, None]


def judge_sharding(
    mesh: Mesh | Junk | Unknown | None, spec: Spec | Junk | Unknown | None, memory: Memory = None
) -> Verdict:
    """Judge ``NamedSharding(mesh, spec, memory_kind=memory)``.

    The C++ class rejects None for mesh or spec (TypeError), reads the mesh's size (AttributeError), and
    checks the memory of the device (ValueError; RuntimeError if it is not a str).
    `named_sharding.check_pspec` first checks for an axis used twice (DuplicateSpecError), then for parts that
    are not axes of the mesh (ValueError), then for unreduced axes. The check is cached by its arguments, so
    unhashable ones raise TypeError; other objects have no ``partitions`` (AttributeError). Axis types matter
    only for ``P.UNCONSTRAINED`` and unreduced axes. An unknown memory kind is assumed to be valid.
    """
    if spec is None:
        return Rejected(Cause.NOT_A_SPEC, "TypeError", STAGE, detail="None")
    if mesh is None or isinstance(mesh, Junk):
        what, exception = ("None", "TypeError") if mesh is None else (mesh.text, "AttributeError")
        return _bad(exception, f"it takes a mesh first, and {what} is none")
    if isinstance(memory, Junk):
        return _bad("RuntimeError", f"memory_kind= takes a name, not {memory.text}")
    if isinstance(memory, str) and memory not in MEMORY_KINDS:
        return _bad("ValueError", f'no device has the memory_kind "{memory}"; {_KINDS} are those there are')
    if isinstance(spec, Unknown):
        return Undecided(f"the spec is not known: {spec.reason}")
    if isinstance(spec, Junk):
        exception = "AttributeError" if spec.hashable else "TypeError"
        return Rejected(Cause.NOT_A_SPEC, exception, STAGE, detail=spec.text)
    verdict = judge(staged(STAGE, *SHARDING), Case(mesh, spec, Unknown("no array is involved")))
    return Accepted(spec) if isinstance(verdict, Accepted) else verdict


_KINDS = ", ".join(sorted(MEMORY_KINDS))


def _bad(exception: str, detail: str) -> Rejected:
    return Rejected(Cause.BAD_ARGUMENT, exception, STAGE, detail=detail)


def replicated_axes(mesh: Mesh, spec: Spec) -> frozenset[str] | Unknown:
    """Return the mesh axes that the spec does not name (`named_sharding.get_replicated_axes`)."""
    if unknown_part(spec) is not None:
        return Unknown("an entry of the spec is not known")
    named = {axis for entry in spec.entries for axis in entry_axes(entry)}
    return frozenset(mesh.names) - named - spec.unreduced - spec.reduced

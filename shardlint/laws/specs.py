"""The law of `PartitionSpec(...)` itself."""

from __future__ import annotations

from dataclasses import replace

from shardlint.laws.checks import located, unknown_part
from shardlint.laws.values import Entry, Junk, Name, Spec, entry_text
from shardlint.laws.verdicts import Accepted, Cause, Rejected, Verdict

STAGE = "P()"


def judge_spec(spec: Spec) -> Verdict:
    """Judge ``P(*entries)``; ``Accepted.spec`` is the spec that JAX then holds.

    `jaxlib` `canonicalize_partitions` refuses a tuple inside a tuple (ValueError), the interner
    hashes every entry (TypeError), and `partition_spec._check` keeps ``unreduced``, ``reduced`` and
    the entries apart (ValueError). Anything else hashable is let through until a mesh is asked.
    """
    for dimension, entry in enumerate(spec.entries):
        for part, name in enumerate(entry if isinstance(entry, tuple) else ()):
            if isinstance(name, tuple):
                return Rejected(Cause.BAD_ENTRY, "ValueError", STAGE, dimension=dimension, part=part)
    held = normalize(spec)
    if (rejected := unhashable(held)) is not None:
        return rejected
    if both := held.unreduced & held.reduced:
        return Rejected(Cause.DUPLICATE_AXIS, "ValueError", STAGE, axis=min(both))
    for dimension, index, name in located(held):
        if isinstance(name, str) and name in held.unreduced | held.reduced:
            return Rejected(
                Cause.DUPLICATE_AXIS, "ValueError", STAGE, dimension=dimension, part=index, axis=name
            )
    return unknown_part(held) or Accepted(held)


def unhashable(spec: Spec) -> Rejected | None:
    """The TypeError of an unhashable entry: `P` interns its entries, nnx looks its names up in rules."""
    for dimension, index, name in located(spec):
        if not _hashable(name):
            text = entry_text(name)
            return Rejected(Cause.BAD_ENTRY, "TypeError", STAGE, dimension=dimension, part=index, axis=text)
    return None


def _hashable(name: Name) -> bool:
    if isinstance(name, tuple):
        return all(_hashable(part) for part in name)
    return not isinstance(name, Junk) or name.hashable


def normalize(spec: Spec) -> Spec:
    """Return the spec JAX makes of its arguments: what is falsy is None, a tuple of one is its element."""
    return replace(spec, entries=tuple(canonical(entry) for entry in spec.entries))


def canonical(entry: Entry) -> Entry:
    """Return what JAX makes of one entry."""
    if isinstance(entry, tuple) and len(entry) == 1:
        return entry[0]
    if isinstance(entry, Junk):
        return None if entry.falsy else entry
    return entry if entry else None

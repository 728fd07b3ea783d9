"""The law of `PartitionSpec(...)` itself."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Union

from shardlint.laws.core.values import Entry, Junk, Marker, Name, Spec, Unknown, entry_text
from shardlint.laws.core.verdicts import Accepted, Cause, Rejected, Undecided, Verdict
from shardlint.laws.placement.checks import located, unknown_part
from shardlint.laws.versions.era import since

STAGE = "P()"

#: The value of ``unreduced=`` or ``reduced=``: the members of a set, or something else.
Axes = Union[frozenset[Hashable], Junk, Unknown]
#: The value of ``unreduced_kind=``: a member of `jax.sharding.UnreducedKind` by its name, or something else.
Kind = Union[str, Junk, Unknown]


def judge_spec(
    spec: Spec, *, unreduced: Axes | None = None, reduced: Axes | None = None, kind: Kind | None = None
) -> Verdict:
    """Judge ``P(*entries, unreduced=, reduced=, unreduced_kind=)``; ``Accepted.spec`` is the normalized spec.

    ``unreduced`` and ``reduced`` default to the spec's own. `jaxlib` `canonicalize_partitions` rejects a
    tuple inside a tuple (ValueError; before 0.7.2 it is a name that no mesh has), `P.__new__` anything but a
    set (TypeError), the interner hashes every entry (TypeError), and `partition_spec._check` rejects None in
    a set, overlaps of ``unreduced``, ``reduced`` and the entries (ValueError), a kind that is none
    (TypeError), and one without ``unreduced`` (ValueError). Any other hashable object is accepted until the
    mesh is consulted.
    """
    marked = {"unreduced": unreduced, "reduced": reduced}
    for dimension, entry in enumerate(spec.entries):
        for part, name in enumerate(entry if isinstance(entry, tuple) else ()):
            if isinstance(name, tuple) and since("0.7.2"):
                return Rejected(Cause.BAD_ENTRY, "ValueError", STAGE, dimension=dimension, part=part)
    for keyword, axes in marked.items():
        if isinstance(axes, Junk):
            detail = f"{keyword}= takes a set of axis names, not {axes.text}"
            return Rejected(Cause.BAD_ARGUMENT, "TypeError", STAGE, detail=detail)
    normalized = normalize(spec)
    if (rejected := unhashable(normalized)) is not None:
        return rejected
    for keyword, axes in marked.items():
        if isinstance(axes, frozenset) and None in axes:
            return Rejected(Cause.BAD_ARGUMENT, "ValueError", STAGE, detail=f"{keyword}= cannot contain None")
    for keyword, axes in marked.items():
        if isinstance(axes, Unknown):
            return Undecided(f"{keyword}= is not known: {axes.reason}")
    if both := normalized.unreduced & normalized.reduced:
        return Rejected(Cause.DUPLICATE_AXIS, "ValueError", STAGE, axis=min(both))
    if isinstance(kind, Junk):
        detail = f"unreduced_kind= takes a jax.sharding.UnreducedKind, not {kind.text}"
        return Rejected(Cause.BAD_ARGUMENT, "TypeError", STAGE, detail=detail)
    if isinstance(kind, str) and not normalized.unreduced:
        detail = "unreduced_kind= says how unreduced= axes are reduced, and there are none"
        return Rejected(Cause.BAD_ARGUMENT, "ValueError", STAGE, detail=detail)
    for dimension, index, name in located(normalized):
        if isinstance(name, str) and name in normalized.unreduced | normalized.reduced:
            return Rejected(
                Cause.DUPLICATE_AXIS, "ValueError", STAGE, dimension=dimension, part=index, axis=name
            )
    return unknown_part(normalized) or Accepted(normalized)


def unhashable(spec: Spec) -> Rejected | None:
    """Return the TypeError for an unhashable entry: `P` interns its entries, nnx looks its names up in
    rules.
    """
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
    """Return the spec as JAX normalizes it: falsy entries become None, a tuple of one its element."""
    return replace(spec, entries=tuple(canonical(entry) for entry in spec.entries))


def canonical(entry: Entry) -> Entry:
    """Return an entry as JAX normalizes it.

    Before 0.5.3 ``0``, ``""`` and ``(None,)`` do not stand for None, nor ``(("x",),)`` for ``("x",)``.
    """
    # The release is asked for only where it matters: a program is evaluated again for those that differ.
    if isinstance(entry, tuple) and len(entry) == 1:
        plain = entry[0] is not None and not isinstance(entry[0], tuple)
        return entry[0] if plain or since("0.5.3") else entry
    if isinstance(entry, Junk):
        return None if entry.falsy and since("0.5.3") else entry
    return entry if entry or (entry == "" and not since("0.5.3")) else None


def judge_sum(
    left: Spec | tuple[Entry, ...] | Junk | Unknown, right: Spec | tuple[Entry, ...] | Junk | Unknown
) -> Verdict:
    """Judge ``left + right`` where at least one is a spec; ``Accepted.spec`` is the sum.

    `P.__add__` and `P.__radd__` accept specs and tuples (NotImplementedError for anything else), a spec with
    reductions accepts specs only (TypeError), and since 0.11.0 only those that are unreduced alike: both or
    none. The sum is a new spec, judged as one; two specs merge their reductions.
    """
    for part in (left, right):
        if isinstance(part, Unknown):
            return Undecided(f"what is added is not known: {part.reason}")
        if isinstance(part, Junk):
            detail = f"a PartitionSpec adds to specs and tuples, not to {part.text}"
            return Rejected(Cause.BAD_ARGUMENT, "NotImplementedError", "+", detail=detail)
    specs = [part if isinstance(part, Spec) else Spec(part) for part in (left, right)]  # type: ignore[arg-type]
    marked = any(spec.unreduced or spec.reduced for spec in specs)
    if marked and (isinstance(left, tuple) or isinstance(right, tuple)):
        detail = "a spec with unreduced= or reduced= does not add to a tuple; add P(*entries)"
        return Rejected(Cause.BAD_ARGUMENT, "TypeError", "+", detail=detail)
    first, second = specs
    if bool(first.unreduced) != bool(second.unreduced) and since("0.11.0"):
        detail = "a spec with unreduced= does not add to one without"
        return Rejected(Cause.BAD_ARGUMENT, "TypeError", "+", detail=detail)
    unreduced, reduced = first.unreduced | second.unreduced, first.reduced | second.reduced
    total = Spec(first.entries + second.entries, unreduced, reduced)
    verdict = judge_spec(total)
    # Unknown entries still have a known number.
    return Accepted(total) if isinstance(verdict, Undecided) else verdict


def equal_specs(left: Spec, right: Spec) -> bool | None:
    """Return whether two specs are equal: equal specs are one object (`weak_value_interner`). Trailing
    Nones count.
    """
    a, b = normalize(left), normalize(right)
    if len(a) != len(b) or (a.unreduced, a.reduced) != (b.unreduced, b.reduced):
        return False
    pairs = [_equal_entries(x, y) for x, y in zip(a.entries, b.entries, strict=True)]
    return False if False in pairs else None if None in pairs else True


def _equal_entries(x: Entry | Name, y: Entry | Name) -> bool | None:
    if isinstance(x, Unknown | Junk) or isinstance(y, Unknown | Junk):
        return None
    if isinstance(x, tuple) and isinstance(y, tuple):
        if len(x) != len(y):
            return False
        pairs = [_equal_entries(a, b) for a, b in zip(x, y, strict=True)]
        return False if False in pairs else None if None in pairs else True
    # A marker is a str to Python, but not a name to JAX.
    return isinstance(x, Marker) == isinstance(y, Marker) and x == y

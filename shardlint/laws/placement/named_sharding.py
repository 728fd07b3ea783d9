"""The law of `NamedSharding(mesh, spec, memory_kind=)`."""

from __future__ import annotations

from ast import literal_eval
from dataclasses import replace
from typing import Union

from shardlint.laws.core.check_chain import Case, judge, staged
from shardlint.laws.core.values import AxisType, Entry, Junk, Mesh, Spec, Unknown, entry_axes
from shardlint.laws.core.verdicts import Accepted, Cause, Rejected, Undecided, Verdict
from shardlint.laws.placement.checks import SHARDING, unknown_part
from shardlint.laws.versions.era import since

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
        none = Rejected(Cause.NOT_A_SPEC, "TypeError", STAGE, detail="None")
        return none if since("0.5.3") else Undecided("before 0.5.3 None stands for P()")
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
        return _judge_no_spec(mesh, spec)
    verdict = judge(staged(STAGE, *SHARDING), Case(mesh, spec, Unknown("no array is involved")))
    return Accepted(spec) if isinstance(verdict, Accepted) else verdict


def _judge_no_spec(mesh: Mesh | Unknown, spec: Junk) -> Verdict:
    """Judge what is no spec in the place of one.

    Before 0.4.36 its leaves must be specs. Before 0.6.1 it is read as the spec of its items: what cannot be
    iterated over is a TypeError, and so is the search for ``P.UNCONSTRAINED`` in a str.
    """
    rejected = Rejected(Cause.NOT_A_SPEC, "AttributeError", STAGE, detail=spec.text)
    if since("0.6.1"):
        return rejected if spec.hashable else replace(rejected, exception="TypeError")
    if spec.falsy and spec.type in _CONTAINERS:
        return Undecided("an empty container stands for P()")
    if not spec.hashable or not since("0.4.36"):
        return replace(rejected, exception="TypeError")
    if not since("0.5.3"):
        return rejected
    if spec.type in _SINGLE:
        return replace(rejected, exception="TypeError")
    items = _items(spec)
    if items is None:
        return Undecided(f"the items of {spec.text} are not known")
    case = Case(mesh, Spec(items), Unknown("no array is involved"))
    verdict = judge(staged(STAGE, *SHARDING), case)
    if isinstance(verdict, Rejected):
        return replace(rejected, exception=verdict.exception)
    if isinstance(verdict, Accepted) and spec.type == "str" and isinstance(mesh, Mesh):
        return (
            Undecided("before 0.6.1 a str is read as a spec")
            if AxisType.AUTO in mesh.types
            else replace(rejected, exception="TypeError")
        )
    return Undecided("before 0.6.1 what is no spec may be read as one")


_CONTAINERS, _SINGLE = ("tuple", "list", "dict"), ("int", "float", "bool")


def _items(spec: Junk) -> tuple[Entry, ...] | None:
    """Return the items of a str or tuple as entries of a spec; None if they are not known."""
    try:
        value = literal_eval(spec.text) if spec.type in ("str", "tuple") else None
    except (SyntaxError, ValueError):
        return None
    return None if value is None else tuple(map(_entry, value))


def _entry(item: object) -> Entry:
    if isinstance(item, tuple):
        return tuple(map(_entry, item))
    return item if item is None or isinstance(item, str) else Junk(repr(item), type(item).__name__)


_KINDS = ", ".join(sorted(MEMORY_KINDS))


def _bad(exception: str, detail: str) -> Rejected:
    return Rejected(Cause.BAD_ARGUMENT, exception, STAGE, detail=detail)


def replicated_axes(mesh: Mesh, spec: Spec) -> frozenset[str] | Unknown:
    """Return the mesh axes that the spec does not name (`named_sharding.get_replicated_axes`)."""
    if unknown_part(spec) is not None:
        return Unknown("an entry of the spec is not known")
    named = {axis for entry in spec.entries for axis in entry_axes(entry)}
    return frozenset(mesh.names) - named - spec.unreduced - spec.reduced

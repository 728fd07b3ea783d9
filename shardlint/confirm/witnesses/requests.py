"""The parts of every witness: the pair of requests, and meshes and specs as JSON."""

from __future__ import annotations

from typing import Any

from shardlint.laws.core.values import Data, Entry, Junk, Marker, Mesh, Name, Spec, Unknown
from shardlint.laws.core.verdicts import Cause, Rejected, Returned, Verdict
from shardlint.support.lazy_dataclass import dataclass

Request = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Witness:
    """A mistake as JSON for the worker, and its repaired twin.

    ``expects`` is the class of the exception, or None when JAX accepts the mistake silently; then
    ``unsharded`` lists the dimensions of the result that are replicated. ``elsewhere`` is the mistake at the
    other place where the program may have it, where it is not known which one: both must agree, unless
    ``returned`` says what becomes of an array that jit returns.
    """

    request: Request
    repaired: Request
    expects: str | None
    unsharded: tuple[int, ...] = ()
    elsewhere: Request | None = None
    returned: Returned | None = None


class NotRunnable(Exception):
    """There is no witness: something that it needs is unknown, or cannot be written down. The message says
    what.
    """


#: Why there is no witness, where several functions find that out.
NO_SHAPE = "the array's shape is not known"
NO_SIZES = "no sizes that fit it are small enough to run"
IN_BODY = "it is in a body of shard_map, and may differ outside"


def cause_of(verdict: Verdict) -> Cause | None:
    return verdict.cause if isinstance(verdict, Rejected) else None


def expected_of(verdict: Verdict) -> str | None:
    return verdict.exception if isinstance(verdict, Rejected) else None


def known_int(size: object) -> int:
    if not isinstance(size, int):
        raise NotRunnable("a size of the mesh is not known")
    return size


def known(data: Data | None) -> Data:
    """Return data that is known. Raises NotRunnable for None."""
    if data is None:
        raise NotRunnable("not all values that it needs are known")
    return data


def mesh_json(mesh: Mesh | None) -> Request | None:
    if mesh is None:
        return None
    return {
        "names": list(mesh.names),
        "sizes": [known_int(size) for size in mesh.sizes],
        "types": [kind.value for kind in mesh.types],
        "abstract": mesh.abstract,
    }


def spec_json(spec: Spec | Junk | str | None) -> Request | None:
    if spec is None:
        return None
    if isinstance(spec, Junk | str):
        return {"junk": spec if isinstance(spec, str) else known(spec.data)}
    return {
        "entries": [_entry_json(entry) for entry in spec.entries],
        "unreduced": sorted(spec.unreduced),
        "reduced": sorted(spec.reduced),
    }


def _entry_json(entry: Entry | Name) -> Any:
    """Return an entry as JSON. An unknown one becomes None: the verdict holds whatever it is."""
    match entry:
        case Marker():
            return {"marker": entry.value}
        case Junk():
            return {"junk": known(entry.data)}
        case Unknown():
            return None
        case tuple():
            return [_entry_json(part) for part in entry]
    return entry

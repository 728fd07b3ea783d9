"""Witnesses: the smallest request that shows a finding's mistake, and its repaired twin."""

from __future__ import annotations

import ast
import json
import math
from dataclasses import dataclass, replace
from typing import Any

from shardlint.confirm import repair
from shardlint.confirm.sizes import MAX_DEVICES, MAX_ELEMENTS, Sizes, even, integers, parts_of, shrunk, ways
from shardlint.findings import Finding
from shardlint.laws.dims import Dim
from shardlint.laws.values import AxisType, Entry, Junk, Marker, Mesh, Name, Spec, Unknown, entry_axes
from shardlint.laws.verdicts import Accepted, Api, Cause, Rejected, Undecided, Verdict
from shardlint.uses import (
    ApiReference,
    ArityUse,
    CollectiveUse,
    MeshUse,
    ParameterUse,
    Placement,
    ShardingUse,
    SpecUse,
    Use,
)

Request = dict[str, Any]

#: What collectives need besides axes, where the program's own arguments are not known.
_COLLECTIVE_ARGUMENTS: dict[str, dict[str, Any]] = {
    "all_to_all": {"split_axis": 0, "concat_axis": 0},
    "ppermute": {"perm": [[0, 0]]},
    "pcast": {"to": "varying"},
}
_MESHLESS = (Api.PARTITION_SPEC, Api.LINEN_UNBOX_EAGER)
#: Where a str in the place of a spec is itself, and not how the program writes something else.
_TAKE_NAMES = (
    Api.LINEN_SHARDING,
    Api.LINEN_UNBOX,
    Api.LINEN_UNBOX_EAGER,
    Api.NNX_PARAM,
    Api.NNX_PARAM_IN_JIT,
)
_MESH_FUNCTIONS = ("Mesh", "make_mesh", "AbstractMesh", "create_device_mesh")


@dataclass(frozen=True, slots=True)
class Witness:
    """A mistake as JSON for the worker, and its repaired twin.

    ``expects`` is the class of the exception, or None when JAX accepts the mistake in silence;
    then ``unsharded`` lists the dimensions of the result that come out whole on every device.
    """

    request: Request
    repaired: Request
    expects: str | None
    unsharded: tuple[int, ...] = ()


class _NotRunnable(Exception):
    """Something the witness needs is unknown, or cannot be written down."""


def witness_of(finding: Finding) -> Witness | None:
    """Build a finding's witness from its use, or None where none can be built."""
    try:
        match finding.use:
            case ParameterUse() as use:
                return _parameter(use)
            case None | Use(verdict=Undecided()):
                return None
            case SpecUse() as use:
                return _placement(Api.PARTITION_SPEC, None, use.spec, (), use.verdict)
            case ShardingUse() as use:
                return _placement(Api.NAMED_SHARDING, use.mesh, use.spec, Unknown("no array"), use.verdict)
            case Placement() as use:
                return _placement(use.api, use.mesh, use.spec, use.shape, use.verdict, use.raw)
            case ArityUse() as use:
                return _arity(use)
            case CollectiveUse() as use:
                return _collective(use)
            case MeshUse() as use:
                return _mesh(use)
            case ApiReference() as use:
                return _reference(use)
    except _NotRunnable:
        return None
    return None


def devices_needed(request: Request) -> int:
    """How many devices a request needs."""
    mesh = request.get("mesh")
    if mesh:
        return 1 if mesh["abstract"] else math.prod(mesh["sizes"])
    return int(request.get("devices", 1))


def _cause(verdict: Verdict) -> Cause | None:
    return verdict.cause if isinstance(verdict, Rejected) else None


def _expects(verdict: Verdict) -> str | None:
    return verdict.exception if isinstance(verdict, Rejected) else None


# A spec, an array, and an API.


def _placement(
    api: Api,
    mesh: Mesh | Unknown | None,
    spec: Spec | str | Unknown | None,
    shape: object,
    verdict: Verdict,
    raw: bool = False,
) -> Witness:
    cause = _cause(verdict)
    if isinstance(spec, Unknown):
        raise _NotRunnable
    if isinstance(spec, str) and api in _TAKE_NAMES and not _is_literal(spec):
        spec = repr(spec)
    known = spec if isinstance(spec, Spec) else Spec()
    if isinstance(mesh, Unknown) or (mesh is None and not raw and api not in _MESHLESS):
        if cause in (Cause.UNKNOWN_AXIS, Cause.INDIVISIBLE):
            raise _NotRunnable
        mesh = repair.mesh_for(known)
    mesh, sizes = _sizes(mesh, known, shape, verdict)
    parts = parts_of(known, mesh, len(sizes))
    mesh, sizes = shrunk(mesh, sizes, parts, known)
    bare = isinstance(spec, Spec | None) and not any(map(entry_axes, known.entries))
    unsharded: tuple[int, ...] = ()
    if isinstance(verdict, Accepted):
        unsharded = tuple(range(len(sizes))) if bare else verdict.replicated

    twin_mesh = repair.repaired_mesh(mesh, known, cause)
    if unsharded and bare and twin_mesh is not None:
        twin_spec = repair.spread_spec(twin_mesh, len(sizes))
    else:
        rank = None if isinstance(shape, Unknown) else len(sizes)
        twin_spec = repair.repaired_spec(known, twin_mesh, rank, cause)
    twin_sizes = even(sizes, parts_of(twin_spec, twin_mesh, len(sizes)))

    # A replication check of JAX's changes the class: it asserts where the plain call raises.
    check = _expects(verdict) == "AssertionError"
    return Witness(
        _placement_request(api, mesh, spec, sizes, raw, check),
        _placement_request(api, twin_mesh, twin_spec, twin_sizes, raw, check),
        _expects(verdict),
        unsharded,
    )


def _sizes(mesh: Mesh | None, spec: Spec, shape: object, verdict: Verdict) -> tuple[Mesh | None, Sizes]:
    """Integers for the mesh and the array, such that only what the verdict names is wrong.

    An unknown shape is made to fit the spec; that cannot show a mistake about sizes.
    """
    cause = _cause(verdict)
    if isinstance(shape, Unknown) and cause in (Cause.TOO_LONG, Cause.INDIVISIBLE):
        raise _NotRunnable
    dims = shape if isinstance(shape, tuple) else None
    if mesh is not None and AxisType.MANUAL in mesh.types:
        raise _NotRunnable
    uneven: tuple[int, ...] = ()
    if isinstance(verdict, Rejected) and cause is Cause.INDIVISIBLE and verdict.dimension is not None:
        uneven = (verdict.dimension,)
    elif isinstance(verdict, Accepted):
        uneven = verdict.replicated
    count = 0 if mesh is None else len(mesh.sizes)

    def suits(sizes: Sizes) -> bool:
        if min(sizes[:count], default=1) < 1 or min(sizes[count:], default=0) < 0:
            return False
        axes = dict(zip(mesh.names, sizes[:count], strict=True)) if mesh is not None else {}
        for i, (entry, size) in enumerate(zip(spec.entries, sizes[count:], strict=False)):
            given = dims is not None and isinstance(dims[i], int)
            if i in uneven and size % ways(entry, axes) == 0:
                return False
            if i not in uneven and not given and size % ways(entry, axes):
                return False
        return True

    sizes = integers((*(mesh.sizes if mesh else ()), *(dims or ())), suits)
    if sizes is None:
        raise _NotRunnable
    if mesh is not None:
        mesh = replace(mesh, sizes=sizes[:count])
    if dims is None:
        return mesh, parts_of(spec, mesh, max(len(spec), 2))
    return mesh, sizes[count:]


def _placement_request(
    api: Api, mesh: Mesh | None, spec: Spec | str | None, shape: Sizes, raw: bool, check: bool
) -> Request:
    return {
        "kind": "placement",
        "api": api.value,
        "mesh": _mesh_json(mesh),
        "spec": _spec_json(spec),
        "shape": list(shape),
        "raw": raw,
        "check": check,
    }


def _int(size: object) -> int:
    if not isinstance(size, int):
        raise _NotRunnable
    return size


def _mesh_json(mesh: Mesh | None) -> Request | None:
    if mesh is None:
        return None
    return {
        "names": list(mesh.names),
        "sizes": [_int(size) for size in mesh.sizes],
        "types": [kind.value for kind in mesh.types],
        "abstract": mesh.abstract,
    }


def _spec_json(spec: Spec | str | None) -> Request | None:
    if spec is None:
        return None
    if isinstance(spec, str):
        return {"junk": spec}
    return {
        "entries": [_entry_json(entry) for entry in spec.entries],
        "unreduced": sorted(spec.unreduced),
        "reduced": sorted(spec.reduced),
    }


def _entry_json(entry: Entry | Name) -> Any:
    """An entry as JSON. One that is not known becomes None: the verdict holds whatever it is."""
    match entry:
        case Marker():
            return {"marker": entry.value}
        case Junk():
            return {"junk": _literal(entry.text)}
        case Unknown():
            return None
        case tuple():
            return [_entry_json(part) for part in entry]
    return entry


def _literal(text: str) -> str:
    if not _is_literal(text):
        raise _NotRunnable
    return text


def _is_literal(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return False
    return True


def _parameter(use: ParameterUse) -> Witness:
    """A Flax parameter, at the call that consumes its names."""
    stage = use.verdict.stage if isinstance(use.verdict, Rejected) else ""
    if "nnx" in use.library:
        api = Api.NNX_PARAM_IN_JIT if stage.startswith("nnx.jit") else Api.NNX_PARAM
    elif stage == "unbox eager":
        api = Api.LINEN_UNBOX_EAGER
    else:
        api = Api.LINEN_SHARDING if stage == "get_sharding" or not stage else Api.LINEN_UNBOX
    names, verdict = use.names, use.verdict
    if isinstance(verdict, Undecided):
        if names is not None:
            raise _NotRunnable
        verdict = Accepted()  # A bare initializer carries nothing that JAX could refuse.
    if "nnx" not in use.library and use.mesh is None and names is not None and isinstance(verdict, Accepted):
        api = Api.LINEN_UNBOX_EAGER  # Without a mesh linen only carries the names.
    return _placement(api, use.mesh, names, use.shape, verdict)


# Everything else.


def _arity(use: ArityUse) -> Witness:
    request = {
        "kind": "arity",
        "api": use.api.value,
        "mesh": _mesh_json(repair.mesh_for(Spec())),
        "given": use.given,
        "due": use.due,
    }
    return Witness(request, {**request, "given": use.due}, _expects(use.verdict))


def _collective(use: CollectiveUse) -> Witness:
    """The collective under the axes that are bound; the twin uses one of them, or binds what it needs."""
    bound = use.environment.bound_axes
    if isinstance(bound, Unknown):
        raise _NotRunnable
    names = tuple(axis for axis, _ in bound)
    mesh, shape = _collective_sizes(use, names, tuple(size for _, size in bound))
    twin_mesh = mesh or repair.mesh_for(Spec(use.axes))
    twin_axes = tuple(a for a in use.axes if a in twin_mesh.names) or twin_mesh.names[:1]
    fitting = math.prod(_int(twin_mesh.size_of(axis)) for axis in twin_axes)
    name = use.function.rsplit(".", 1)[-1]
    given = {key: _plain(value) for key, value in use.arguments}
    request = {
        "kind": "collective",
        "function": name,
        "mesh": _mesh_json(mesh),
        "axes": list(use.axes),
        "shape": list(shape or (fitting, fitting)),
        "arguments": {**_COLLECTIVE_ARGUMENTS.get(name, {}), **given},
        # Where the replication check is on, as it is unless turned off, reductions raise other classes.
        "check": _expects(use.verdict) != "NameError",
    }
    twin = {
        **request,
        "mesh": _mesh_json(twin_mesh),
        "axes": list(twin_axes),
        "shape": [fitting] * max(len(shape), 2),
    }
    return Witness(request, twin, _expects(use.verdict))


def _collective_sizes(
    use: CollectiveUse, names: tuple[str, ...], bound: tuple[Dim, ...]
) -> tuple[Mesh | None, Sizes]:
    """Integers for the bound axes and the array; no array's where the mistake is the axis."""
    verdict, count = use.verdict, len(bound)
    if isinstance(verdict, Rejected) and verdict.cause is Cause.UNBOUND_AXIS:
        dims: tuple[Dim, ...] = ()
    elif isinstance(use.shape, Unknown) or not use.shape:
        raise _NotRunnable
    else:
        dims = use.shape

    def suits(sizes: Sizes) -> bool:
        if min(sizes, default=1) < 1 or math.prod(sizes[:count]) > MAX_DEVICES:
            return False
        if not dims or not isinstance(verdict, Rejected) or verdict.dimension is None:
            return True
        axes = dict(zip(names, sizes[:count], strict=True))
        size, parts = sizes[count + verdict.dimension], math.prod(axes[axis] for axis in use.axes)
        return size % parts != 0 if verdict.cause is Cause.INDIVISIBLE else size != parts

    sizes = integers((*bound, *dims), suits)
    if sizes is None or math.prod(sizes) > MAX_ELEMENTS * MAX_DEVICES:
        raise _NotRunnable
    mesh = Mesh(names, sizes[:count], (AxisType.AUTO,) * count) if names else None
    return mesh, sizes[count:]


def _plain(value: object) -> Any:
    try:
        return json.loads(json.dumps(value))
    except TypeError:
        raise _NotRunnable from None


def _mesh(use: MeshUse) -> Witness:
    """A mesh, or an arrangement of devices, over so many devices."""
    if isinstance(use.shape, Unknown) or isinstance(use.names, Unknown):
        raise _NotRunnable
    name, cause = use.function.rsplit(".", 1)[-1], _cause(use.verdict)
    function = name if name in _MESH_FUNCTIONS else "reshape"
    known = use.devices is not None and function != "Mesh"
    dims = (*use.shape, *((use.devices,) if known and use.devices is not None else ()))
    rank = len(use.shape)

    def suits(sizes: Sizes) -> bool:
        wanted, count = math.prod(sizes[:rank]), sizes[-1] if known else math.prod(sizes)
        # `make_mesh` takes as many devices as it wants of those there are.
        wrong = wanted > count if function == "make_mesh" else wanted != count
        return 1 <= count <= MAX_DEVICES and (cause is not Cause.DEVICE_COUNT or wrong)

    sizes = integers(dims, suits)
    if sizes is None:
        raise _NotRunnable
    shape, names = sizes[:rank], use.names or ()
    count = sizes[-1] if known else math.prod(shape)
    twin_shape = shape if math.prod(shape) == count else (count, *(1 for _ in shape[1:]))
    request = {
        "kind": "mesh",
        "function": function,
        "shape": list(shape),
        "names": list(names),
        "devices": count,
    }
    twin_names = repair.repaired_names(names, rank) if names else ()
    twin = {**request, "shape": list(twin_shape), "names": list(twin_names)}
    if isinstance(use.verdict, Rejected) and use.verdict.detail == "axis_types":
        request["types"] = _int(use.verdict.ways)
    return Witness(request, twin, _expects(use.verdict))


def _reference(use: ApiReference) -> Witness:
    """A name that JAX has no more, or still has; the twin is the package it was looked up in."""
    request = {"kind": "reference", "name": use.name, "from_import": _expects(use.verdict) == "ImportError"}
    package = use.name.partition(".")[0]
    return Witness(request, {**request, "name": package, "from_import": False}, _expects(use.verdict))

"""Construction of meshes, and of arrays of devices for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shardlint.inference.domain.lattice import supposed
from shardlint.inference.domain.values import (
    Const,
    Devices,
    External,
    ListValue,
    MeshValue,
    Tuple,
    Value,
    as_bool,
    as_items,
    integer,
    is_none,
    shape_value,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.deployment_mesh import assumed_sizes
from shardlint.inference.evaluation.release_queries import holds, is_there
from shardlint.inference.overlays.jax.sharding.mesh_arguments import (
    AXIS_TYPES,
    as_thing,
    by_position,
    device_array,
    device_total,
    known_names,
    names_of,
    open_shape,
    possible_types,
    rank_of_no_devices,
    sizes_of,
    take,
    types_of,
)
from shardlint.inference.overlays.jax.sharding.placement_check import shape_text
from shardlint.inference.overlays.recording import record_call
from shardlint.laws.core.dims import Dim, Shape, fresh, product
from shardlint.laws.core.values import AxisType, Failed, Junk, Mesh, Unknown
from shardlint.laws.core.verdicts import Accepted, Cause, Rejected, Verdict
from shardlint.laws.meshes.construction import (
    Names,
    Sizes,
    Types,
    hybrid_shape,
    judge_device_grid,
    judge_hybrid,
    judge_mesh,
)
from shardlint.laws.versions.api_changes import EXPLICIT_BY_DEFAULT, TYPES_BY_DEFAULT
from shardlint.model.spans import Place
from shardlint.model.uses import ApiReference, Fact, MeshUse

_ONE = Tuple((Const(1),))
#: Functions that arrange devices by the sizes that they are given.
_ARRANGING = frozenset({"reshape", "create_device_mesh"})
#: The name of the sizes' parameter in each function.
_SHAPES = {"make_mesh": "axis_shapes", "AbstractMesh": "axis_sizes", "create_device_mesh": "mesh_shape"}


def _build(
    call: Call,
    function: str,
    shape: Sizes,
    names: Names,
    types: Types,
    devices: Dim | None,
    facts: tuple[Fact, ...] = (),
) -> Value:
    """Judge and record the construction of a mesh, and return it."""
    verdict = judge_mesh(function, shape, names, devices, types=types)
    record_mesh(call, function, verdict, shape, names, devices, facts)
    plain = known_names(names)
    known = known_shape(shape)
    if isinstance(plain, tuple):
        known = _with_open_sizes(call, known, plain)
    if isinstance(verdict, Rejected):
        return Failed("JAX rejects this mesh")
    if isinstance(known, Unknown) or isinstance(plain, Unknown):
        reason = next(v.reason for v in (known, plain) if isinstance(v, Unknown))
        return Unknown(f"a mesh: {reason}")
    possible = possible_types(types, len(plain), _default_type(call, function))
    if not all(len(known) == len(plain) == len(kinds) for kinds in possible):
        return Failed("JAX rejects this mesh")
    meshes = [
        MeshValue(Mesh(plain, known, kinds, function == "AbstractMesh"), call.place) for kinds in possible
    ]
    return meshes[0] if len(meshes) == 1 else supposed(meshes)


def _default_type(call: Call, function: str) -> AxisType:
    """Return the default type of axes."""
    behaviour = TYPES_BY_DEFAULT.get(function)
    explicit = behaviour is not None and holds(call.interpreter, behaviour)
    return AxisType.EXPLICIT if explicit else AxisType.AUTO


def _with_open_sizes(call: Call, known: Shape | Unknown, names: tuple[str, ...]) -> Shape:
    """Return the sizes of a mesh's axes; open ones are taken from the assumed mesh of that name."""
    sizes = tuple(fresh(1) for _ in names) if isinstance(known, Unknown) else known
    if all(isinstance(size, int) for size in sizes) or len(sizes) != len(names):
        return sizes
    assumed = assumed_sizes(call.interpreter, names) or sizes
    return tuple(a if isinstance(a, int) else b for a, b in zip(sizes, assumed, strict=True))


def known_shape(shape: Sizes) -> Shape | Unknown:
    """Return the sizes, if all are known to be sizes."""
    if isinstance(shape, tuple):
        known = tuple(size for size in shape if not isinstance(size, Junk | Unknown))
        if len(known) == len(shape):
            return known
    return shape if isinstance(shape, Unknown) else Unknown("axis sizes that are not known")


def record_mesh(
    call: Call,
    function: str,
    verdict: Verdict,
    shape: Sizes,
    names: Names,
    devices: Dim | None,
    facts: tuple[Fact, ...] = (),
) -> None:
    """Record a construction: as a whole call if an argument is of the wrong kind, else by its numbers."""
    shape_at = call.place_of(0, _SHAPES.get(function, "devices"))
    names_at = call.place_of(1, "axis_names")
    whole = isinstance(verdict, Rejected) and verdict.cause in (Cause.BAD_ARGUMENT, Cause.MESH_SHAPE)
    if isinstance(verdict, Rejected) and whole and function != "reshape":
        where = shape_at if verdict.cause is Cause.MESH_SHAPE else _culprit(call, verdict, names_at)
        mended = _repaired(call, function, shape)
        record_call(call, verdict, place=where, repaired=mended, facts=facts)
        return
    call.interpreter.record(
        MeshUse(
            place=call.place,
            environment=call.interpreter.environment(),
            verdict=verdict,
            facts=facts,
            function=function,
            shape=known_shape(shape),
            names=None if names is None else known_names(names),
            devices=devices,
            names_place=None if names is None else names_at,
            shape_place=shape_at,
            written=call.interpreter.written_items(shape_at, _ARRANGING),
        )
    )


def _culprit(call: Call, verdict: Rejected, names: Place) -> Place:
    return call.place_of(2, "axis_types") if verdict.detail.startswith("axis_types") else names


def _repaired(call: Call, function: str, shape: Sizes) -> dict[int | str, Value]:
    """Return arguments that JAX accepts in place of those of a wrong kind: a mesh with one device for each
    axis."""
    rank = len(shape) if isinstance(shape, tuple) else 1
    if function == "create_device_mesh":
        mended: dict[str, Value] = {"mesh_shape": Tuple((integer(call.interpreter.device_count),))}
        return by_position(call, mended, ("mesh_shape", "devices"))
    labels = tuple(f"axis{i}" for i in range(rank))
    fixed: dict[str, Value] = {"axis_names": Tuple(tuple(map(Const, labels)))}
    fixed["axis_types"] = Tuple((External(f"{AXIS_TYPES}Auto"),) * rank)
    first = _SHAPES.get(function, "devices")
    if function != "Mesh":
        fixed[first] = shape_value((1,) * rank)
    return by_position(call, fixed, (first, "axis_names", "axis_types"))


def _mesh(call: Call) -> Value:
    """``Mesh(devices, axis_names, axis_types=)``: axes are Auto by default."""
    devices, axis_names, axis_types = take(call, None, ("devices", "axis_names"), axis_types=None)
    return mesh_of(call, devices, names_of(axis_names), types_of(axis_types))


def mesh_of(call: Call, devices: Value | None, names: Names, types: Types) -> Value:
    """Judge, record and return a mesh of these devices."""
    if isinstance(devices, Failed):
        return devices
    grid = device_array(devices)
    if grid is None and (rank := rank_of_no_devices(devices)) is not None:
        return _without_devices(call, devices, rank, names, types)
    if grid is None:
        return _build(call, "Mesh", open_shape(names), names, types, None)
    facts: tuple[Fact, ...] = ()
    if grid.origin is not None:
        facts = (Fact(f"the devices are arranged as {shape_text(grid.shape)}", grid.origin),)
    mesh = _build(call, "Mesh", grid.shape, names, types, None, facts)
    return replace(mesh, ids=grid.ids) if isinstance(mesh, MeshValue) else mesh


def _without_devices(call: Call, devices: Value | None, rank: int, names: Names, types: Types) -> Value:
    """Return a mesh of numbers instead of devices. JAX checks only their rank, and fails when the mesh is
    used."""
    verdict = judge_mesh("Mesh", (1,) * rank, names, None, types=types)
    what = as_thing(devices)
    if isinstance(verdict, Rejected) and isinstance(what, Junk):
        detail = f"{what.text} are no devices; jax.make_mesh(shape, names) finds them itself"
        wrong = replace(verdict, cause=Cause.BAD_ARGUMENT, detail=detail)
        record_call(call, wrong, place=call.place_of(0, "devices"))
    return Failed("a mesh of what are no devices")


def _make_mesh(call: Call) -> Value:
    """``make_mesh(axis_shapes, axis_names, axis_types=, devices=)``: Explicit axes since JAX 0.9.

    The first parameter is ``axis_sizes`` since 0.11.1. Whether a release has a name is judged elsewhere: both
    mean the same here.
    """
    if "axis_sizes" in call.kwargs and "axis_shapes" not in call.kwargs:
        kwargs = {"axis_shapes" if key == "axis_sizes" else key: arg for key, arg in call.kwargs.items()}
        call = replace(call, kwargs=kwargs)
    shape, names, types, devices = take(call, 3, ("axis_shapes", "axis_names"), axis_types=None, devices=None)
    if _is_grid(call, "make_mesh", shape, devices):
        return Failed("JAX rejects these devices")
    available = device_total(call.interpreter, devices)
    if types is None:
        _notice_default_types(call)
    mesh = _build(call, "make_mesh", sizes_of(shape), names_of(names), types_of(types), available)
    if not isinstance(mesh, MeshValue):
        return mesh
    count = mesh.mesh.device_count
    if devices is None or is_none(devices):
        _notice_spare_devices(call, mesh.mesh, available)
        given = tuple(range(count)) if isinstance(count, int) else None
    else:
        given = devices.ids if isinstance(devices, Devices) else None
    # This is the order on CPU; elsewhere it follows the hardware. Nothing is claimed of reordered devices.
    if given is None or not isinstance(count, int) or list(given) != sorted(given):
        return mesh
    return replace(mesh, ids=given[:count])


def _notice_default_types(call: Call) -> None:
    """Record that the axis types are left to a default that newer releases change."""
    if not holds(call.interpreter, EXPLICIT_BY_DEFAULT):
        call.interpreter.record(
            ApiReference(
                place=call.place,
                environment=call.interpreter.environment(),
                verdict=Accepted(),
                name=EXPLICIT_BY_DEFAULT,
                release=call.interpreter.settings.release,
            )
        )


def _is_grid(call: Call, function: str, shape: Value | None, devices: Value | None) -> bool:
    """Record that ``devices=`` is an array of several dimensions; return whether it is."""
    if not isinstance(devices, Devices) or len(devices.shape) < 2:
        return False
    verdict = judge_device_grid(function, sizes_of(shape), devices.shape[0])
    flat = replace(devices, shape=(product(devices.shape),))
    fixed: dict[int | str, Value] = {"devices": flat}
    if "devices" not in call.kwargs:
        fixed = {1: flat}
    record_call(call, verdict, place=call.place_of(1, "devices"), repaired=fixed)
    return True


def _notice_spare_devices(call: Call, mesh: Mesh, available: Dim | None) -> None:
    """Record a mesh that leaves devices idle which the program did not select."""
    wanted = mesh.device_count
    if call.interpreter.context.test:
        # A test takes what it needs.
        return
    if not isinstance(available, int) or not isinstance(wanted, int) or not 1 < wanted < available:
        return
    sizes = list(mesh.sizes)
    spare, rest = divmod(available, wanted)
    sizes[0] = sizes[0] * spare if not rest else sizes[0]
    whole = (available, *(1 for _ in sizes[1:])) if rest else tuple(sizes)
    record_call(
        call,
        Accepted(),
        place=call.place_of(0, "axis_shapes"),
        repaired=by_position(call, {"axis_shapes": shape_value(whole)}, ("axis_shapes",)),
        silent=f"uses {wanted} of {available} devices",
    )


def _abstract_mesh(call: Call) -> Value:
    """``AbstractMesh(axis_sizes, axis_names, axis_types=, abstract_device=)``: Explicit axes since 0.11.1."""
    alone = len(call.args) == 1 and not call.kwargs and not call.opaque
    if alone and is_there(call.interpreter, "jax.sharding.AbstractMesh(shape_tuple=)"):
        return _mesh_of_pairs(call, call.args[0])
    sizes, names, types, _ = take(
        call, 3, ("axis_sizes", "axis_names"), axis_types=None, abstract_device=None
    )
    shape, known = sizes_of(sizes, raw=True), names_of(names, abstract=True)
    return _build(call, "AbstractMesh", shape, known, types_of(types), None)


def _mesh_of_pairs(call: Call, pairs: Value) -> Value:
    """``AbstractMesh((("x", 4), ("y", 2)))``, the form of older releases."""
    rows = [as_items(pair) or () for pair in as_items(pairs) or ()]
    if any(len(row) != 2 for row in rows):
        return Unknown("an AbstractMesh of pairs that are not known")
    sizes, names = (
        sizes_of(Tuple(tuple(row[1] for row in rows))),
        names_of(Tuple(tuple(row[0] for row in rows))),
    )
    return _build(call, "AbstractMesh", sizes, names, None, None)


def _create_device_mesh(call: Call) -> Value:
    """`mesh_utils.create_device_mesh(mesh_shape, devices=)`: a numpy array of all devices."""
    given, devices, *_ = take(
        call, 2, ("mesh_shape",), devices=None, contiguous_submeshes=None, allow_split_physical_axes=None
    )
    if _is_grid(call, "create_device_mesh", given, devices):
        return Failed("JAX rejects these devices")
    shape, total = sizes_of(given), device_total(call.interpreter, devices)
    verdict = judge_mesh("create_device_mesh", shape, None, total)
    record_mesh(call, "create_device_mesh", verdict, shape, None, total)
    known = known_shape(shape)
    if isinstance(verdict, Rejected):
        return Failed("JAX rejects this device mesh")
    if isinstance(known, Unknown):
        return Unknown("a device mesh that is not known")
    return Devices(known, numpy=True, origin=call.place)


def _hybrid_device_mesh(call: Call) -> Value:
    """`mesh_utils.create_hybrid_device_mesh`: the shapes within and across slices multiply."""
    inside, across, devices, granule, *_ = take(
        call,
        3,
        ("mesh_shape", "dcn_mesh_shape"),
        devices=None,
        process_is_granule=None,
        should_sort_granules_by_key=None,
        allow_split_physical_axes=None,
    )
    inner, outer = sizes_of(inside), sizes_of(across, raw=not isinstance(across, ListValue))
    shapes = known_shape(inner), known_shape(outer)
    by_process = False if granule is None else as_bool(granule)
    if by_process is not None:
        total, cpu = device_total(call.interpreter, devices), "cpu devices" in call.interpreter.switches
        verdict = judge_hybrid(inner, outer, total, by_process=by_process, cpu=cpu)
        if isinstance(verdict, Rejected):
            order = ("mesh_shape", "dcn_mesh_shape", "devices", "process_is_granule")
            whole: dict[str, Value] = {"mesh_shape": Tuple((integer(total or 1),)), "dcn_mesh_shape": _ONE}
            mended = by_position(call, {**whole, "process_is_granule": Const(True)}, order)
            record_call(call, verdict, place=call.place_of(1, "dcn_mesh_shape"), repaired=mended)
            return Failed("JAX rejects this hybrid mesh")
    within, slices = shapes
    if isinstance(within, Unknown) or isinstance(slices, Unknown):
        return Unknown("a hybrid mesh that is not known")
    if any(isinstance(size, int) and size <= 0 for size in (*within, *slices)):
        return Unknown("a hybrid mesh of sizes that are not positive")
    return Devices(hybrid_shape(within, slices), numpy=True, origin=call.place)


#: Members of the enumeration `jax.sharding.AxisType`.
CONSTANTS: dict[str, Value] = {
    **{f"{AXIS_TYPES}{kind.value}.name": Const(kind.value) for kind in AxisType},
    **{f"{AXIS_TYPES}{kind.value}.value": Const(i) for i, kind in enumerate(AxisType, 1)},
}

TABLE: dict[str, Callable[[Call], Value]] = {
    "jax.sharding.Mesh": _mesh,
    "jax.make_mesh": _make_mesh,
    "jax.sharding.AbstractMesh": _abstract_mesh,
    "jax.experimental.mesh_utils.create_device_mesh": _create_device_mesh,
    "jax.experimental.mesh_utils.create_hybrid_device_mesh": _hybrid_device_mesh,
}

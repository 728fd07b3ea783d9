"""Witnesses of collectives: the call on one shard, which varies as the program's does."""

from __future__ import annotations

import math
from typing import Any

from shardlint.confirm.witnesses import repair
from shardlint.confirm.witnesses.requests import (
    NO_SHAPE,
    NO_SIZES,
    NotRunnable,
    Request,
    Witness,
    cause_of,
    expected_of,
    known,
    known_int,
)
from shardlint.confirm.witnesses.sizes import MAX_DEVICES, MAX_ELEMENTS, Sizes, integers
from shardlint.laws.core.dims import Dim
from shardlint.laws.core.values import AxisType, Mesh, Spec, Unknown
from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.laws.core.witness_data import (
    Known,
    apply_data,
    call_data,
    constant_data,
    function_data,
    mesh_data,
)
from shardlint.model.uses import CollectiveUse
from shardlint.support.lazy_dataclass import dataclass

#: Arguments of collectives besides axes, where the program's own are not known.
_ARGUMENTS: dict[str, dict[str, Any]] = {
    "all_to_all": {"split_axis": 0, "concat_axis": 0},
    "ppermute": {"perm": ((0, 0),)},
    "pshuffle": {"perm": (0,)},
    "pcast": {"to": "varying"},
}
_DIMENSIONS = ("axis", "scatter_dimension", "split_axis", "concat_axis")


@dataclass(frozen=True, slots=True)
class _Call:
    """A collective over ``axes`` of a mesh, on a shard of ``shape`` that varies over ``varying``.

    ``mapped`` are axes of `vmap` around it; without a mesh it runs under plain jit. ``check`` is check_vma.
    """

    function: str
    axes: tuple[str, ...]
    mesh: Mesh | None
    varying: tuple[str, ...]
    shape: Sizes
    arguments: dict[str, Any]
    mapped: tuple[str, ...] = ()
    check: bool = True


def collective(use: CollectiveUse) -> Witness:
    """Return the collective under the bound axes; the twin does what was intended, or binds what it needs."""
    bound, within = use.environment.bound_axes, use.environment.context_mesh
    if isinstance(bound, Unknown):
        raise NotRunnable("the axes that are bound there are not all known")
    known = within.names if isinstance(within, Mesh) and AxisType.MANUAL in within.types else None
    mapped = tuple(axis for axis, _ in bound if known is not None and axis not in known)
    names = tuple(axis for axis, _ in bound if axis not in mapped)
    mesh, shape = _sizes(use, names, tuple(size for axis, size in bound if axis in names))
    twin_mesh = mesh or repair.mesh_for(Spec(use.axes))
    function = use.function.rsplit(".", 1)[-1]
    call = _Call(
        function, use.axes, mesh, names if use.varying is None else tuple(sorted(use.varying)), shape,
        {**_ARGUMENTS.get(function, {}), **dict(use.arguments)}, mapped,
        # With the check on, as it is by default, reductions raise other classes.
        check=expected_of(use.verdict) != "NameError",
    )  # fmt: skip
    twin = _repaired(call, twin_mesh, cause_of(use.verdict))
    return Witness(_request(call), _request(twin), expected_of(use.verdict))


def _repaired(call: _Call, mesh: Mesh, cause: Cause | None) -> _Call:
    """Return the same collective over axes that exist, on an array that fits it."""
    axes = tuple(axis for axis in call.axes if axis in mesh.names) or mesh.names[:1]
    if call.function == "pcast":
        axes, varying = axes, tuple(axis for axis in call.varying if axis not in axes)
    else:
        # An array that varies over some of the axes is reduced over these; one that varies over none, as if
        # it varied.
        axes = tuple(axis for axis in axes if axis in call.varying) or axes
        varying = tuple(dict.fromkeys((*call.varying, *axes)))
    varying = tuple(axis for axis in varying if axis in mesh.names)
    fitting = math.prod(known_int(mesh.size_of(axis)) for axis in axes)
    arguments = {key: 0 if key in _DIMENSIONS else value for key, value in call.arguments.items()}
    if cause in (Cause.PERMUTATION, None) and "perm" in arguments:
        ring = range(fitting)
        pairs = tuple((i, (i + 1) % fitting) for i in ring)
        arguments["perm"] = pairs if call.function == "ppermute" else tuple(ring)
    shape = (fitting,) * max(len(call.shape), 2)
    return _Call(call.function, axes, mesh, varying, shape, arguments, (), call.check)


def _request(call: _Call) -> Request:
    """Return the collective on one shard; under `vmap` for each axis that is mapped over."""
    axis_name = constant_data(call.axes[0] if len(call.axes) == 1 else call.axes)
    index = call.function in ("axis_index", "axis_size")
    options = {key: constant_data(value) for key, value in call.arguments.items()}
    shard: Known = ("operand", 0)
    data = call_data(
        f"jax.lax.{call.function}", (axis_name,) if index else (shard, axis_name), {} if index else options
    )
    for number, axis in enumerate(call.mapped, 1):
        stacked = shard
        for _ in call.mapped if number == len(call.mapped) else ():
            stacked = call_data("jax.numpy.stack", (("list", stacked, stacked),))
        mapped = call_data("jax.vmap", (function_data(data),), {"axis_name": axis})
        data = apply_data(mapped, (stacked,))
    return {
        "kind": "mapped",
        "mesh": None if call.mesh is None else known(mesh_data(call.mesh)),
        "operands": [[list(call.varying) if call.mesh else [], list(call.shape), "float32"]],
        # The result may vary over any axis.
        "out": [] if call.mesh is None else list(call.mesh.names),
        "check": call.check,
        "body": known(data),
        "devices": 1 if call.mesh is None else math.prod(known_int(size) for size in call.mesh.sizes),
    }


def _sizes(use: CollectiveUse, names: tuple[str, ...], bound: tuple[Dim, ...]) -> tuple[Mesh | None, Sizes]:
    """Return integers for the bound axes and the array; a square where the mistake is not its shape."""
    verdict, count = use.verdict, len(bound)
    dims: tuple[Dim, ...] = () if isinstance(use.shape, Unknown) else use.shape
    shaped = isinstance(verdict, Rejected) and verdict.dimension is not None
    if shaped and not dims:
        raise NotRunnable(NO_SHAPE)

    def suits(sizes: Sizes) -> bool:
        if min(sizes, default=1) < 1 or math.prod(sizes[:count]) > MAX_DEVICES:
            return False
        if not isinstance(verdict, Rejected) or verdict.dimension is None:
            return True
        if verdict.dimension >= len(dims) or (verdict.cause is Cause.BAD_ARGUMENT and verdict.ways is None):
            return True
        axes = dict(zip(names, sizes[:count], strict=True))
        size, parts = sizes[count + verdict.dimension], math.prod(axes[axis] for axis in use.axes)
        return size % parts != 0 if verdict.cause is Cause.INDIVISIBLE else size != parts

    sizes = integers((*bound, *dims), suits)
    if sizes is None or math.prod(sizes) > MAX_ELEMENTS * MAX_DEVICES:
        raise NotRunnable(NO_SIZES)
    mesh = Mesh(names, sizes[:count], (AxisType.AUTO,) * count) if names else None
    fitting = math.prod(size for name, size in zip(names, sizes, strict=False) if name in use.axes)
    return mesh, sizes[count:] or (fitting, fitting)

"""The results of a function under `jax.shard_map`: judged by ``out_specs``, and joined from shards."""

from __future__ import annotations

from shardlint.inference.domain.values import Array, MeshValue, SpecValue, Tuple, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.jax.shard_map.arguments import judge_specs, record_arity
from shardlint.inference.overlays.jax.shard_map.axis_order import note_returned
from shardlint.inference.overlays.jax.shard_map.indices.local_numbers import note_indices
from shardlint.inference.overlays.jax.shard_map.part_operations import note_fans
from shardlint.inference.overlays.jax.shard_map.reduced_values import note_means, note_multiplied
from shardlint.inference.overlays.jax.shard_map.regions import Mapped, Region, orders_in
from shardlint.inference.overlays.jax.shard_map.split_dimensions import split_of
from shardlint.inference.overlays.jax.sharding.placement_check import (
    laid_out,
    mesh_facts,
    place_array,
    record_mismatch,
)
from shardlint.inference.overlays.jax.transforms.taint import MARK
from shardlint.inference.overlays.pytrees.prefixes import map_prefix, mismatch, specs_in
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.core.dims import equal, product
from shardlint.laws.core.values import Entry, Mesh, Spec, Unknown, entry_axes
from shardlint.laws.core.verdicts import Accepted, Api, Rejected
from shardlint.laws.core.witness_data import (
    IDENTITY,
    NO_SPEC,
    NONE,
    Known,
    apply_data,
    array_data,
    call_data,
    constant_data,
    function_data,
    spec_data,
)
from shardlint.laws.placement.shard_shapes import global_shape
from shardlint.laws.transforms.shard_map import judge_returned, judge_unreduced, whole_type
from shardlint.laws.transforms.traits import Trait
from shardlint.laws.transforms.varying import copied, judge_varying
from shardlint.model.spans import Place
from shardlint.model.uses import Fact, Placement


def place_results(call: Call, mapped: Mapped, region: Region, result: Value) -> Value:
    """Judge one shard's results against ``out_specs`` and return the whole arrays.

    The mesh in force is the one that specs are judged on.
    """
    specs = mapped.options.get("out_specs")
    if specs is None or isinstance(result, Unknown):
        if specs is not None:
            judge_specs(call, Api.SHARD_MAP_OUT, specs, mapped)
        return Unknown("the results of shard_map")
    if isinstance(specs, Tuple) and isinstance(result, Tuple) and len(specs.items) != len(result.items):
        record_arity(call, mapped, Api.SHARD_MAP_OUT, specs, len(result.items))
        return Unknown("the specs do not fit")
    text = mismatch(specs, result)
    if text is not None:
        record_mismatch(call.interpreter, Api.SHARD_MAP_OUT, mapped.title, specs, text, call.place)
        return Unknown("the specs do not fit")

    def place_leaf(leaf: Value, array: Array, path: str) -> Value:
        of = f"of `{mapped.title}`"
        return _whole(call, mapped, region, leaf, array, f"result{path} {of}" if path else f"the result {of}")

    return map_prefix(specs, result, place_leaf)


def _whole(call: Call, mapped: Mapped, region: Region, leaf: Value, array: Array, name: str) -> Value:
    """Judge one result and return the whole array of its shards."""
    apis, at = (Api.SHARD_MAP_OUT,), mapped.place
    placed = place_array(call.interpreter, apis, array, leaf, call.place, name, at)
    mesh, outside = region.judging, region.mesh
    if region.manual is None or not isinstance(mesh, MeshValue) or not isinstance(outside, MeshValue):
        return Unknown("whether all axes are Manual is not known")
    if placed.sharding is None or array.shape is None or not isinstance(leaf, SpecValue):
        return Unknown("what shard_map returns")
    inside = region.inside
    if region.checked and isinstance(inside, MeshValue):
        verdict = judge_returned(inside.mesh, array.typed, leaf.spec)
        if isinstance(verdict, Rejected):
            place = leaf.origin or call.place
            record_of_value(
                call.interpreter, mapped.name, verdict, place, *_closed_over(leaf.spec, mesh.mesh)
            )
            return Unknown("JAX rejects this result")
        verdict = judge_unreduced(array.varying - region.outer - {MARK}, leaf.spec)
        if isinstance(verdict, Rejected):
            calls = _left_unreduced(str(verdict.axis))
            record_of_value(call.interpreter, mapped.name, verdict, leaf.origin or call.place, *calls)
            return Unknown("JAX rejects this result")
    if _varies_too_much(call, mapped, region, array, leaf, name):
        return Unknown("what shard_map returns")
    _note_copies(call, mapped, region, array, leaf, name)
    sizes = {axis: mesh.mesh.size_of(axis) for axis in _of_several(mesh.mesh)}
    note_means(call, array, (Trait.MEANS, Trait.GRADIENT), sizes, name, mapped.name)
    _note_glued(call, mapped, region, array, leaf, name)
    if region.checked is False:
        note_multiplied(call, array, _of_several(mesh.mesh), name, "with check_vma=False")
    note_indices(call, array, mesh.mesh, leaf.spec, name)
    bound = region.bound(call.interpreter.context.bound_axes)
    with call.interpreter.within(bound_axes=bound, orders=orders_in(mapped)):
        note_returned(call.interpreter, array, leaf.spec)
        note_fans(call.interpreter, array, leaf.spec)
    whole = laid_out(global_shape, mesh.mesh, leaf.spec, array.shape)
    return Array(
        whole,
        array.dtype,
        array.weak,
        origin=call.place,
        varying=_varying_outside(region, array, leaf),
        typed=whole_type(outside.mesh, leaf.spec, array.typed, len(array.shape)),
    )


def _varying_outside(region: Region, array: Array, leaf: SpecValue) -> frozenset[str]:
    """Return the axes, Manual outside as well, over which a result varies in its type, including those that
    its spec names. Without the check, types record no variation."""
    named = frozenset(axis for entry in leaf.spec.entries for axis in entry_axes(entry))
    marked = array.varying & {MARK}
    return (array.varying | named) & region.outer | marked if region.checked else marked


def _stated(call: Call, mapped: Mapped, origin: Place | None, facts: list[Fact]) -> Place:
    """Return where a wrong spec of a result is to be changed: where it is made, unless that is outside of
    out_specs, as a spec that others use, too; that is added to the facts then."""
    if origin is None:
        return call.place
    stated = mapped.place_of("out_specs")
    if stated == mapped.place or origin.resolve() in stated.resolve():
        return origin
    facts.append(Fact("its spec is made here", origin))
    return stated


def _varies_too_much(
    call: Call, mapped: Mapped, region: Region, array: Array, leaf: SpecValue, name: str
) -> bool:
    """Record a result that JAX rejects for the axes it varies over; return whether it is one.

    Without its check it takes one device's value for that of all: that is recorded too.
    """
    assert isinstance(region.mesh, MeshValue)
    mesh = region.mesh.mesh
    verdict = judge_varying(mesh, array.varying - region.outer - {MARK}, leaf.spec)
    if not isinstance(verdict, Rejected) or region.checked is None:
        return False
    facts = [*mesh_facts(region.mesh), *mapped.called(call)]
    if array.origin is not None:
        facts.append(Fact("the result is computed here", array.origin))
    place = _stated(call, mapped, leaf.origin, facts)
    if not region.checked:
        _record_unchecked(call, mapped, mesh, verdict, f"{name} varies over", place, facts)
        return False
    call.interpreter.record(
        Placement(
            place=place,
            environment=call.interpreter.environment(),
            verdict=verdict,
            facts=tuple(facts),
            api=Api.SHARD_MAP_OUT,
            mesh=mesh,
            spec=leaf.spec,
            shape=array.shape if array.shape is not None else Unknown("not known"),
            dtype=array.dtype,
            subject=name,
            raw=True,
        )
    )
    return True


def _record_unchecked(
    call: Call, mapped: Mapped, mesh: Mesh, verdict: Rejected, says: str, place: Place, facts: list[Fact]
) -> None:
    """Record a result that the check would reject, except for axes of one device."""
    axes = [axis for axis in verdict.detail.split(", ") if equal(mesh.size_of(axis), 1) is not True]
    if axes:
        silent = says + " " + ", ".join(f'"{axis}"' for axis in axes)
        name = f"{mapped.name}(check_vma=False)"
        calls = _unchecked(tuple(axes))
        record_of_value(call.interpreter, name, Accepted(), place, *calls, facts=facts, silent=silent)


def _note_copies(
    call: Call, mapped: Mapped, region: Region, array: Array, leaf: SpecValue, name: str
) -> None:
    """Record a result whose spec names an axis along which all devices certainly hold equal data: the whole
    array is made of copies. A dimension of one element a device is meant to stack them."""
    assert isinstance(region.mesh, MeshValue) and array.shape is not None
    mesh, variation = region.mesh.mesh, array.variation
    for dimension, (entry, size) in enumerate(zip(leaf.spec.entries, array.shape, strict=False)):
        axes = [
            axis
            for axis in copied(variation, entry_axes(entry))
            if axis not in region.outer and equal(mesh.size_of(axis), 1) is not True
        ]
        if not axes or equal(size, 1) is True or region.checked is None:
            continue
        facts = [*mesh_facts(region.mesh)]
        if array.origin is not None:
            facts.append(Fact("the result is computed here", array.origin))
        times = product(mesh.size_of(axis) for axis in axes)
        named = " and ".join(f'"{axis}"' for axis in axes)
        often = f"{times} times" if isinstance(times, int) else "once for each device"
        silent = f"{name} is equal on all devices along {named}, and its spec repeats it {often}"
        entry_place = leaf.places[dimension] if dimension < len(leaf.places) else None
        place = _stated(call, mapped, entry_place or leaf.origin, facts)
        record_of_value(
            call.interpreter,
            f"{mapped.name}(out_specs=copies)",
            Accepted(),
            place,
            facts=facts,
            silent=silent,
        )


def _note_glued(call: Call, mapped: Mapped, region: Region, array: Array, leaf: SpecValue, name: str) -> None:
    """Record a result that is split along one dimension, and put together along another, or along the same
    in another order of the axes."""
    assert isinstance(region.mesh, MeshValue)
    layout, shape = split_of(array), array.shape or ()
    held = _dimensions(layout) if layout is not None else {}
    for axis, due in _dimensions(leaf.spec).items():
        at = held.get(axis)
        if at is None or at == due or axis in region.outer or equal(shape[at], 1) is not False:
            continue
        if axis in _of_several(region.mesh.mesh):
            silent = (
                f'{name} is split over "{axis}" along dimension {at}, and its spec puts the parts together '
                f"along dimension {due}"
            )
            place = leaf.places[due] if due < len(leaf.places) else None
            facts = [*mesh_facts(region.mesh)]
            place = _stated(call, mapped, place or leaf.origin, facts)
            record_of_value(
                call.interpreter, f"{mapped.name}(glued)", Accepted(), place, facts=facts, silent=silent
            )
    entries = layout.entries if layout is not None else ()
    for at, (entry, due_entry) in enumerate(zip(entries, leaf.spec.entries, strict=False)):
        lies, due_axes = (_splitting(region, one) for one in (entry, due_entry))
        # What a collective took apart in an order that no argument has is found as such.
        given = {_splitting(region, one) for spec in specs_in(mapped.in_specs) for one in spec.spec.entries}
        if lies != due_axes and {*lies} == {*due_axes} and lies in given:
            silent = (
                f"{name} is split over {_in_order(lies)} along dimension {at}, and its spec puts the parts "
                f"together in the order of {_in_order(due_axes)}"
            )
            facts = [*mesh_facts(region.mesh)]
            origin = leaf.places[at] if at < len(leaf.places) else None
            place = _stated(call, mapped, origin or leaf.origin, facts)
            record_of_value(
                call.interpreter, f"{mapped.name}(glued)", Accepted(), place, facts=facts, silent=silent
            )


def _splitting(region: Region, entry: Entry) -> tuple[str, ...]:
    """Return the axes of an entry, in its order, that have several devices, or may have."""
    assert isinstance(region.mesh, MeshValue)
    several = _of_several(region.mesh.mesh)
    return tuple(axis for axis in entry_axes(entry) if axis in several and axis not in region.outer)


def _in_order(axes: tuple[str, ...]) -> str:
    return "(" + ", ".join(f'"{axis}"' for axis in axes) + ")"


def _dimensions(spec: Spec) -> dict[str, int]:
    """Return the dimension that each axis of a spec splits."""
    return {axis: at for at, entry in enumerate(spec.entries) for axis in entry_axes(entry)}


def _of_several(mesh: Mesh) -> list[str]:
    """Return the axes of a mesh that have several devices, or may have."""
    return [axis for axis in mesh.names if equal(mesh.size_of(axis), 1) is not True]


def _closed_over(spec: Spec, mesh: Mesh) -> tuple[Known, Known]:
    """Return a body that returns an array it closes over, and one that returns an argument.

    The mesh is that of the context, where results are judged.
    """
    array = array_data((mesh.device_count,) * len(spec.entries), numpy=False)
    options = ({"in_specs": ("tuple", one), "out_specs": spec_data(spec)} for one in (NONE, NO_SPEC))
    closed, given = (
        apply_data(call_data("jax.shard_map", (IDENTITY,), kwargs), (array,)) for kwargs in options
    )
    return closed, given


def _left_unreduced(axis: str) -> tuple[Known, Known]:
    """Return a result that varies over an axis its spec calls unreduced, and one that is summed over it."""
    named = constant_data((axis,))
    index = call_data("jax.lax.axis_index", (named,))
    summed = call_data("jax.lax.psum", (index, named))
    pairs = ((index, spec_data(Spec(unreduced=frozenset({axis})))), (summed, NO_SPEC))
    one, twin = (
        apply_data(
            call_data("jax.shard_map", (function_data(result),), {"in_specs": NO_SPEC, "out_specs": spec}),
            (array_data(()),),
        )
        for result, spec in pairs
    )
    return one, twin


def _unchecked(axes: tuple[str, ...]) -> tuple[Known, Known]:
    """Return a result that varies over axes missing in its spec, and one that is summed over them.

    The mesh is that of the context, where results are judged.
    """
    named = constant_data(axes)
    index = call_data("jax.lax.axis_index", (named,))
    options: dict[str, Known] = {"in_specs": NO_SPEC, "out_specs": NO_SPEC, "check_vma": False}
    one, summed = (
        apply_data(call_data("jax.shard_map", (function_data(result),), options), (array_data(()),))
        for result in (index, call_data("jax.lax.psum", (index, named)))
    )
    return one, summed

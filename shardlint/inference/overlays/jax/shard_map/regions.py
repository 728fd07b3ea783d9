"""A function under `jax.shard_map`, and the mesh and Manual axes that one call of it runs with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shardlint.inference.domain import name_links
from shardlint.inference.domain.values import (
    DictValue,
    External,
    MeshValue,
    SetValue,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
    as_bool,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.jax.sharding.placement_check import (
    as_junk,
    as_mesh,
    mesh_facts,
    spec_junk,
    text_of,
)
from shardlint.inference.overlays.jax.transforms.jit import function_name
from shardlint.inference.overlays.pytrees.prefixes import arrays_in, specs_in, traced
from shardlint.inference.overlays.recording import record_of_value
from shardlint.inference.overlays.witness_values import data_of
from shardlint.laws.core.dims import Dim
from shardlint.laws.core.values import AxisType, Junk, Mesh, Spec, Unknown, entry_axes
from shardlint.laws.core.verdicts import Rejected, Verdict
from shardlint.laws.core.witness_data import ONE_DEVICE, Known, apply_data, array_data, call_data
from shardlint.laws.transforms.shard_map import (
    judge_axis_names,
    judge_eager,
    judge_inferred,
    judge_manual,
    judge_mesh,
    judging_mesh,
    newly_manual,
    no_mesh,
)
from shardlint.model.spans import Place
from shardlint.model.uses import Fact
from shardlint.support.lazy_dataclass import dataclass

#: A placeholder for the program's function in a written call; any function would do.
ANY_FUNCTION = External("jax.numpy.negative")


@dataclass(frozen=True, eq=False, slots=True)
class Mapped:
    """A function wrapped by ``shard_map``: ``options`` are its keyword arguments, ``name`` is the name of the
    shard_map, ``place`` the place of its call, ``place_of`` returns the place of an option."""

    name: str
    function: Value
    options: dict[str, Value]
    place: Place
    place_of: Callable[[str], Place]

    @property
    def title(self) -> str:
        """Return the function's name for users."""
        return function_name(self.function)

    @property
    def in_specs(self) -> Value | None:
        """Return the in_specs, or None if they are to be inferred."""
        specs = self.options.get("in_specs")
        return None if isinstance(specs, External) and specs.name.endswith(".Infer") else specs

    def called(self, call: Call) -> tuple[Fact, ...]:
        """Return the fact of the call, where JAX raises; nothing if no caller is known."""
        if call.place == self.place:
            return ()
        return (Fact(f"`{self.title}` is called here", call.place, kind="call"),)


@dataclass(frozen=True, eq=False, slots=True)
class Region:
    """The environment of a body: ``mesh``, the axes ``manual`` (None if they are unknown), and ``outer``,
    those of them that are Manual outside already. ``checked`` is ``check_vma``, None if it is unknown;
    ``inherits``: values that vary outside do so in the types of the body; ``traced``: the body is traced, not
    run step by step."""

    mesh: MeshValue | Unknown | None
    manual: frozenset[str] | None
    outer: frozenset[str]
    checked: bool | None
    inherits: bool
    traced: bool

    @property
    def judging(self) -> MeshValue | Unknown | None:
        """Return the mesh on which specs are judged."""
        if not isinstance(self.mesh, MeshValue):
            return self.mesh
        if self.manual is None:
            blind = dict.fromkeys(self.mesh.mesh.names, AxisType.AUTO)
            return replace(self.mesh, mesh=self.mesh.mesh.with_types(blind))
        return replace(self.mesh, mesh=judging_mesh(self.mesh.mesh, self.manual))

    @property
    def inside(self) -> MeshValue | Unknown:
        """Return the mesh of the body."""
        if not isinstance(self.mesh, MeshValue) or self.manual is None:
            return Unknown("inside shard_map")
        return replace(self.mesh, mesh=self.mesh.mesh.with_types(dict.fromkeys(self.manual, AxisType.MANUAL)))

    def bound(self, around: tuple[tuple[str, Dim], ...] | Unknown) -> tuple[tuple[str, Dim], ...] | Unknown:
        """Return the axes that collectives in the body may use; ``around`` are those outside.

        An unknown caller is assumed not to bind further names around a shard_map.
        """
        if not isinstance(self.mesh, MeshValue) or self.manual is None:
            return Unknown("the mesh is not known")
        mesh, axes = self.mesh.mesh, () if isinstance(around, Unknown) else around
        here = tuple((n, s) for n, s in zip(mesh.names, mesh.sizes, strict=True) if n in self.manual)
        return (*(pair for pair in axes if pair[0] not in self.manual), *here)


def enter(call: Call, mapped: Mapped) -> Region | None:
    """Return the region of a call of a mapped function; None if JAX rejects it, which is recorded."""
    interpreter, options = call.interpreter, mapped.options
    given, context = options.get("mesh"), interpreter.context.mesh
    own = given is not None and not is_none(given)
    known = context.mesh if isinstance(context, MeshValue) else context
    holder = as_mesh(interpreter, given) if own else context
    if own and isinstance(holder, MeshValue) and isinstance(known, Mesh) and known.names == holder.mesh.names:
        name_links.equate(holder, known)
    if own and _refused(call, mapped, "mesh", judge_mesh(_mesh_or_junk(holder, given), known)):
        return None
    mesh = holder.mesh if isinstance(holder, MeshValue) else holder
    if mesh is None and (mapped.in_specs is None or is_none(mapped.in_specs)):
        record_of_value(interpreter, mapped.name, no_mesh(), call.place, *_without_mesh())
        return None
    names = _names(options.get("axis_names"))
    if _refused(call, mapped, "axis_names", judge_axis_names(mesh, names), mesh):
        return None
    manual = names if isinstance(names, frozenset) else None
    if isinstance(mesh, Mesh):
        _note_names(mapped, mesh)
    if isinstance(mesh, Mesh) and manual is not None:
        manual = newly_manual(mesh, manual)
        if mapped.in_specs is None and _refused(call, mapped, "in_specs", judge_inferred(mesh, manual), mesh):
            return None
        for parameter in ("in_specs", "out_specs"):
            for leaf in specs_in(options.get(parameter)):
                verdict = judge_manual(parameter, leaf.spec, mesh, manual)
                if _refused(call, mapped, parameter, verdict, mesh, leaf):
                    return None
    checked = options.get("check_vma")
    checks = True if checked is None else as_bool(checked)
    if isinstance(mesh, Mesh) and manual is not None and not mesh.abstract and _splits(call, mapped):
        verdict = judge_eager(mesh, manual, checks, interpreter.context.in_jit)
        if _refused(call, mapped, "check_vma", verdict, mesh):
            return None
    inherits = checks is False or interpreter.context.check_vma is True
    traced = interpreter.context.in_jit is True
    return Region(holder, manual, _manual_axes(mesh), checks, inherits, traced)


def _note_names(mapped: Mapped, mesh: Mesh) -> None:
    """Record that the options name axes of the mesh."""
    specs = (leaf for name in ("in_specs", "out_specs") for leaf in specs_in(mapped.options.get(name)))
    for named in (mapped.options.get("axis_names"), *specs):
        for name in name_links.names_in(named):
            name_links.look_up(name, mesh.names)


def _splits(call: Call, mapped: Mapped) -> bool:
    """Return whether some argument certainly is an array that is split; one whose spec is None is closed
    over."""
    specs = mapped.in_specs
    columns = specs.items if isinstance(specs, Tuple) else (specs,) * len(call.args)
    return any(
        arrays_in(traced(arg)) and (spec is None or any(specs_in(spec)))
        for arg, spec in zip(call.args, columns, strict=False)
    )


def _manual_axes(mesh: Mesh | Unknown | None) -> frozenset[str]:
    """Return the axes that are Manual already."""
    if not isinstance(mesh, Mesh):
        return frozenset()
    return frozenset(n for n, t in zip(mesh.names, mesh.types, strict=True) if t is AxisType.MANUAL)


def _mesh_or_junk(holder: MeshValue | Unknown | None, given: Value | None) -> Mesh | Junk | Unknown | None:
    if isinstance(holder, MeshValue):
        return holder.mesh
    if isinstance(given, ShardingValue):
        return Junk("a NamedSharding", "NamedSharding")
    found = Unknown("not a mesh that is known") if given is None else as_junk(given)
    return spec_junk(found) if isinstance(found, Spec) else found


def _names(value: Value | None) -> frozenset[str] | Junk | Unknown:
    """Return the members of ``axis_names=``, an empty set if it is missing."""
    if value is None:
        return frozenset()
    if isinstance(value, SetValue):
        return Unknown("a set that is not known") if value.items is None else value.items
    if isinstance(value, DictValue):
        return Junk("a dict", "dict")
    found = as_junk(value)
    if isinstance(found, Junk | Unknown):
        return found
    return Junk(
        text_of(value), "PartitionSpec" if isinstance(found, Spec) else "NoneType", data=data_of(value)
    )


def orders_in(mapped: Mapped) -> frozenset[tuple[str, ...]]:
    """Return the axes of each entry of the specs that names several, in its order."""
    given = (mapped.in_specs, mapped.options.get("out_specs"))
    entries = (entry for specs in given for leaf in specs_in(specs) for entry in leaf.spec.entries)
    return frozenset(tuple(entry_axes(entry)) for entry in entries if len(tuple(entry_axes(entry))) > 1)


def _refused(
    call: Call,
    mapped: Mapped,
    option: str,
    verdict: Verdict,
    mesh: Mesh | Unknown | None = None,
    leaf: SpecValue | None = None,
) -> bool:
    """Record the call, at an option, if the option is rejected; return whether it is."""
    if not isinstance(verdict, Rejected):
        return False
    place = mapped.place_of(option)
    if leaf is not None and leaf.origin is not None:
        dimension = verdict.dimension or 0
        place = (leaf.places[dimension] if dimension < len(leaf.places) else None) or leaf.origin
    options = {"mesh": mapped.options.get("mesh"), "axis_names": mapped.options.get("axis_names")}
    whole: dict[str, Value | None] = {"in_specs": SpecValue(Spec()), "out_specs": SpecValue(Spec())}
    wrong = {**options, **whole, option: mapped.options.get(option) if leaf is None else leaf}
    right = {**options, **whole, option: whole.get(option)}
    if leaf is not None:
        right["axis_names"] = None
    facts = list(mapped.called(call))
    context_mesh = call.interpreter.context.mesh if option == "mesh" else mapped.options.get("mesh")
    facts.extend(mesh_facts(context_mesh if isinstance(context_mesh, MeshValue) else None))
    record_of_value(
        call.interpreter, mapped.name, verdict, place, _called(wrong), _called(right), facts=facts
    )
    return True


def _without_mesh() -> tuple[Known, Known]:
    """Return a call of shard_map without a mesh, and one with a mesh."""
    options: dict[str, Value | None] = {"in_specs": SpecValue(Spec()), "out_specs": SpecValue(Spec())}
    return _called(options), _called({"mesh": MeshValue(ONE_DEVICE), **options})


def _called(options: dict[str, Value | None]) -> Known:
    """Return a call of some function under `jax.shard_map` with these options."""
    return apply_data(mapping(options), (array_data(()),))


def mapping(options: dict[str, Value | None]) -> Known:
    """Return `jax.shard_map` of some function; options that are None are left out."""
    given = {key: data_of(value) for key, value in options.items() if value is not None}
    return call_data("jax.shard_map", (data_of(ANY_FUNCTION),), given)

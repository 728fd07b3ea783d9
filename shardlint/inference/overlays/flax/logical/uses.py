"""Records of mistakes in logical names and rules, with the smallest call that shows each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardlint.inference.domain import name_links
from shardlint.inference.domain.values import Value, as_items, as_str
from shardlint.inference.overlays.flax.common.metadata import Names
from shardlint.laws.core.dims import Shape
from shardlint.laws.core.values import Junk, Mesh, Spec, Unknown
from shardlint.laws.core.verdicts import Verdict
from shardlint.laws.core.witness_data import (
    NO_SPEC,
    Known,
    array_data,
    call_data,
    entry_data,
    mesh_data,
    spec_data,
    tuple_data,
)
from shardlint.laws.flax.logical_axes import LogicalRule, Mistake, NotAPair, RuleTable, axes_given
from shardlint.model.spans import Place
from shardlint.model.uses import Fact, LogicalAxesUse
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.inference.evaluation.evaluator import Evaluator


@dataclass(frozen=True, slots=True)
class Setting:
    """Names and the rules that apply to them, in ``library``; ``written`` is the value of the rules.

    ``own`` are the rules of an nnx variable if the context has some as well.
    """

    library: str
    names: Names
    rules: RuleTable
    place: Place | None
    written: Value | None = None
    own: RuleTable = ()
    function: str = "logical_to_mesh_axes"

    @property
    def spec(self) -> Spec:
        """Return the names; no names if they are unknown."""
        return self.names.spec if isinstance(self.names.spec, Spec) else Spec()

    def place_of(self, dimension: int | None) -> Place | None:
        """Return the place of a name, or else of all names, or else of the call."""
        places = self.names.entry_places
        if dimension is not None and dimension < len(places) and (place := places[dimension]) is not None:
            return place
        return self.names.place or self.place

    def note_names(self) -> None:
        """Record the names by which the rules are looked up."""
        rules = [rule for table in (self.rules, self.own) if isinstance(table, tuple) for rule in table]
        for name in name_links.names_in(self.spec):
            among = [rule.name for rule in rules if isinstance(rule, LogicalRule)]
            name_links.look_up(name, among, logical=True)

    def name(self, dimension: int) -> str:
        """Return one of the names."""
        return str(self.spec.entries[dimension])


@dataclass(frozen=True, slots=True)
class Calls:
    """The smallest call that shows a mistake, and the same call without it."""

    broken: Known = None
    repaired: Known = None


def record_mistake(
    interpreter: Evaluator,
    setting: Setting,
    mistake: Mistake,
    text: str,
    verdict: Verdict,
    dimension: int | None = None,
    axes: tuple[str, ...] = (),
    calls: Calls | None = None,
) -> None:
    """Record a mistake in one of the names, or (without a dimension) in the rules."""
    origin = getattr(setting.written, "origin", None)
    facts = (Fact("the logical axis rules", origin),) if origin is not None else ()
    rules = setting.rules if isinstance(setting.rules, tuple) else ()
    known = tuple(dict.fromkeys(str(rule.name) for rule in rules if isinstance(rule, LogicalRule)))
    environment = interpreter.environment()
    mesh = environment.context_mesh
    mesh_axes = (*axes_given(rules), *(mesh.names if isinstance(mesh, Mesh) else ()))
    in_rules = dimension is None and mistake in (Mistake.NOT_RULES, Mistake.INCONSISTENT)
    calls = calls or Calls()
    place = (origin or setting.place) if in_rules else setting.place_of(dimension)
    of_rule = mistake in (Mistake.UNKNOWN_MESH_AXIS, Mistake.SHADOWED)
    ruled = _axes_place(setting.written, text, axes) if of_rule else None
    if place is not None and ruled is not None:
        facts, place = (Fact(f'"{text}" names a dimension here', place),), ruled
    if place is None:
        return
    interpreter.record(
        LogicalAxesUse(
            place=place,
            environment=environment,
            verdict=verdict,
            facts=facts,
            function=setting.function,
            call=calls.broken,
            repaired=calls.repaired,
            library=setting.library,
            mistake=mistake,
            text=text,
            axes=axes,
            known=known,
            mesh_axes=tuple(dict.fromkeys(mesh_axes)),
        )
    )


def _axes_place(rules: Value | None, name: str, axes: tuple[str, ...]) -> Place | None:
    """Return the place where the rules map a name to these axes, if one does."""
    for rule in as_items(rules) or ():
        pair = as_items(rule) or ()
        if len(pair) == 2 and as_str(pair[0]) == name:
            held = as_items(pair[1])
            for axis in (pair[1],) if held is None else held:
                if as_str(axis) in axes and (place := getattr(axis, "origin", None)) is not None:
                    return place
    return None


# -- witnesses ------------------------------------------------------------------------------------------


def resolving(names: Spec, rules: RuleTable) -> Calls:
    """Return `logical_to_mesh_axes`, and the same without names."""
    function, empty = "flax.linen.logical_to_mesh_axes", ("tuple",)
    return _calls(
        call_data(function, (_names_data(names), _rules_data(rules))), call_data(function, (empty, empty))
    )


def constraining(names: Spec, rules: RuleTable, shape: Shape | Unknown) -> Calls:
    """Return a `with_logical_constraint` that raises for a name without an axis, and one that does not."""
    if not isinstance(shape, tuple):
        return Calls()
    args = (array_data((2,) * len(shape), numpy=False), _names_data(names), _rules_data(rules))
    return _calls(_constrained(args, {"fallback": f"{_FALLBACK}.RAISE_ERROR"}), _constrained(args, {}))


def dropping(names: Spec, rules: RuleTable, mesh: Mesh) -> Calls:
    """Return a `with_logical_constraint` that constrains nothing for a name without an axis, and the usual
    one."""
    array = array_data((mesh.device_count,) * len(names.entries), numpy=False)
    args, on = (array, _names_data(names), _rules_data(rules)), mesh_data(mesh)
    fallback = {"fallback": f"{_FALLBACK}.NO_CONSTRAINT"}
    return _calls(_constrained(args, fallback, mesh=on), _constrained(args, {}, mesh=on))


def placing(names: Spec, rules: RuleTable, mesh: Mesh) -> Calls:
    """Return `logical_to_mesh_sharding` on the mesh, and the same without names."""
    function, rest = "flax.linen.logical_to_mesh_sharding", (mesh_data(mesh), _rules_data(rules))
    return _calls(call_data(function, (spec_data(names), *rest)), call_data(function, (NO_SPEC, *rest)))


def making(names: Spec, rules: RuleTable, shape: Shape | Unknown) -> Calls:
    """Return an nnx variable with these names and rules, and one without."""
    if not isinstance(shape, tuple):
        return Calls()
    array = array_data(tuple(size if isinstance(size, int) else 8 for size in shape), numpy=False)
    named = {"out_sharding": _names_data(names), "sharding_rules": _rules_data(rules)}
    return _calls(call_data("flax.nnx.Param", (array,), named), call_data("flax.nnx.Param", (array,)))


_FALLBACK = "flax.linen.spmd.RulesFallback"


def _constrained(args: tuple[Known, ...], constants: dict[str, str], **options: Known) -> Known:
    named: dict[str, Known] = {key: ("constant", name) for key, name in constants.items()}
    return call_data("flax.linen.with_logical_constraint", args, {**options, **named})


def _calls(broken: Known, repaired: Known) -> Calls:
    """Return both calls, or neither if a part they share is unknown."""
    return Calls() if broken is None or repaired is None else Calls(broken, repaired)


def _names_data(names: Spec) -> Known:
    """Return ``P("a", None)`` as a tuple of names."""
    return tuple_data(map(entry_data, names.entries))


def _rules_data(rules: RuleTable) -> Known:
    if isinstance(rules, Unknown):
        return None
    return rules.data if isinstance(rules, Junk) else tuple_data(map(_rule_data, rules))


def _rule_data(rule: LogicalRule | NotAPair | Unknown) -> Known:
    if isinstance(rule, LogicalRule):
        return tuple_data((entry_data(rule.name), entry_data(rule.axes)))
    return rule.data if isinstance(rule, NotAPair) else None

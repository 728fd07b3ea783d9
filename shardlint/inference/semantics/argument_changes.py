"""The parts of its arguments that a function may change or hand on, by its text and that of what it calls."""

from __future__ import annotations

from collections.abc import Hashable

from shardlint.inference.domain.classes import lineage
from shardlint.inference.domain.lattice import options
from shardlint.inference.domain.values import (
    ClassValue,
    Const,
    DictValue,
    External,
    Function,
    Instance,
    ListValue,
    MeshValue,
    ModuleValue,
    Native,
    SetValue,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
)
from shardlint.inference.evaluation.context import Scope
from shardlint.inference.semantics.special_methods import only_reads
from shardlint.inference.syntax.body_changes import READING_FUNCTIONS
from shardlint.inference.syntax.leaks import Leaks, Parameter, leaks
from shardlint.inference.syntax.node_fields import Slot
from shardlint.inference.syntax.units import BrokenText
from shardlint.laws.core.values import Unknown

#: The steps from an argument to what is changed; none for the argument itself.
Path = tuple[str, ...]
_WHOLE: frozenset[Path] = frozenset({()})
_NOTHING: frozenset[Path] = frozenset()
#: How many functions are followed from one on; what further ones get counts as changed.
_MOST_FOLLOWED = 40
#: Values that are the same read from an object or from its class.
_PLAIN = (Const, External, Tuple, ListValue, DictValue, SetValue, MeshValue, SpecValue, ShardingValue)
#: Methods that run before anything else has the object.
_CONSTRUCTING = frozenset({"__new__", "__init__", "__post_init__", "__set_name__", "__init_subclass__"})


def _leaks_of(function: Function) -> Leaks | None:
    """Return what a function may do to what exists outside of it; None if its text cannot be read."""
    try:
        return leaks(function.code.node)
    except BrokenText:
        return None


class ArgumentChanges:
    """Follows what functions do to their arguments, from one function on."""

    def __init__(self) -> None:
        self._known: dict[Hashable, frozenset[Parameter]] = {}

    def of_argument(self, scope: Scope, callee: str, slot: Slot) -> frozenset[Path]:
        """Return the parts of an argument that the function of a dotted name may change or hand on."""
        root, *path = callee.split(".")
        holder = scope.find(root)
        if holder is None:
            return _NOTHING if callee in READING_FUNCTIONS else _WHOLE
        return _NOTHING.union(*[self._of(option, path, slot) for option in options(holder.variables[root])])

    def _of(self, value: Value, path: list[str], slot: Slot) -> frozenset[Path]:
        for step in path:
            if isinstance(value, External):
                value = External(f"{value.name}.{step}")
            elif isinstance(value, ModuleValue):
                value = value.run.scope.variables.get(step) or Unknown(step)
            else:
                return _WHOLE
        if isinstance(value, External):
            return _NOTHING if only_reads(value.name) else _WHOLE
        if isinstance(value, Native):
            return _NOTHING if value.wraps is None else self._of(value.wraps, [], slot)
        if not isinstance(value, Function):
            return _WHOLE
        _, positional, keyword_only = value.code.parameters
        if isinstance(slot, int):
            name = positional[slot] if slot < len(positional) else None
        else:
            name = slot if slot in positional or slot in keyword_only else None
        return frozenset(one.path for one in self._of_parameters(value) if name in (None, one.name))

    def _of_parameters(self, function: Function) -> frozenset[Parameter]:
        key = function.code.key, function.scope.born
        if key in self._known:
            return self._known[key]
        whole = frozenset(Parameter(name) for names in function.code.parameters[1:] for name in names)
        found = _leaks_of(function)
        if found is None or len(self._known) == _MOST_FOLLOWED:
            return whole
        # For functions that call each other.
        self._known[key] = whole
        changed = set(found.parameters)
        for callee, given in found.given.items():
            for slot, one in given:
                if isinstance(one, Parameter):
                    paths = self.of_argument(function.scope.of_functions, callee, slot)
                    changed |= {Parameter(one.name, one.path + path) for path in paths}
        self._known[key] = frozenset(changed)
        return self._known[key]

    def of_self(self, method: Function | ClassValue) -> frozenset[Path]:
        """Return the parts of its object that a method may change or hand on."""
        if isinstance(method, ClassValue) or not method.code.parameters[1]:
            return _WHOLE
        name = method.code.parameters[1][0]
        return frozenset(one.path for one in self._of_parameters(method) if one.name == name)


def record_values(value: Instance) -> list[Value] | None:
    """Return what an object's attributes hold; None if a method changes the object or hands it on."""
    changes = ArgumentChanges()
    found = list(value.attributes.values())
    for base in lineage(value.cls):
        if not isinstance(base, ClassValue) or base.opaque:
            return None
        for name, held in base.attributes.items():
            if name in _CONSTRUCTING:
                continue
            if isinstance(held, _PLAIN):
                found.append(held)
            elif not isinstance(held, Function) or changes.of_self(held):
                return None
    return [option for one in found for option in options(one)]

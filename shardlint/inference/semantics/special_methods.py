"""Special methods that Python calls implicitly, and what they may change.

Operators of two operands, subscripts, loops, `with` and calls are followed at their place. A test, a format,
a conversion or a look-up in a set is not: a method for these may run at any time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from shardlint.inference.domain.classes import ANY, library_bases, lineage
from shardlint.inference.domain.havoc import HOLDING
from shardlint.inference.domain.lattice import options
from shardlint.inference.domain.values import (
    Bound,
    ClassValue,
    External,
    Function,
    Instance,
    LibraryObject,
    ModuleValue,
    Native,
    Value,
)
from shardlint.inference.evaluation.context import Scope
from shardlint.inference.evaluation.iterators import is_iterator
from shardlint.inference.machine.code_reads import look_at
from shardlint.inference.syntax.body_changes import (
    MUTATING_OPERATORS,
    READING_FUNCTIONS,
    READING_METHODS,
    BodyChanges,
    body_changes,
)
from shardlint.inference.syntax.units import BrokenText
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine

#: Methods that are followed wherever Python calls them.
_FOLLOWED = frozenset(
    f"__{name}__"
    for name in (
        "aenter aexit aiter anext await call class_getitem delattr delete delitem enter exit get getattr "
        "getattribute getitem init init_subclass iter new next post_init set set_name setattr setitem"
    ).split()
) | {
    f"__{side}{name}__"
    for side in ("", "r", "i")
    for name in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
}
#: Libraries whose functions do not mutate lists, dicts and objects of the program.
READING_LIBRARIES = (
    "absl.logging.", "builtins.hash", "builtins.id", "builtins.repr", "builtins.type", "chex.", "flax.",
    "jax.", "json.dump", "logging.", "math.", "numpy.", "optax.", "orbax.", "os.path.", "pprint.",
    "textwrap.", "time.", "wandb.", "warnings.",
)  # fmt: skip
#: Libraries whose functions may call what they are given. Functions that a body names are followed anyway.
_CALLING_LIBRARIES = (
    "abc.", "dataclasses.", "functools.", "itertools.", "operator.", "re.", "typing.",
)  # fmt: skip
_KNOWN_LIBRARIES = (*READING_LIBRARIES, *_CALLING_LIBRARIES)
#: Libraries of classes whose objects run by themselves: all their methods may be called unseen.
_THREADS = ("asyncio.", "concurrent.", "multiprocessing.", "threading.")
#: The class whose objects run from their ``start()`` on, which is followed.
_STARTED = "threading.Thread"
#: Python's functions that reach all variables of a module.
REACHING_ALL = frozenset({"__import__", "eval", "exec", "globals", "locals", "vars"})
#: Python's functions that set or delete an attribute of a computed name.
_SETTING = frozenset({"setattr", "delattr"})
_CONSTRUCTORS = ("__new__", "__init__", "__post_init__")


def special_methods(cls: ClassValue) -> list[Function]:
    """Return the methods of a class and its bases that Python, or a thread that it is, may call unseen."""
    runs = any(name.startswith(_THREADS) and name != _STARTED for name in library_bases(cls))
    return [
        function
        for base in lineage(cls)
        if isinstance(base, ClassValue)
        for name, value in base.attributes.items()
        if runs or (name[:2] == "__" == name[-2:] and name not in _FOLLOWED)
        for function in _functions(value)
    ]


def _functions(value: Value | None) -> Iterator[Function]:
    """Yield the program's functions that run when a value is called, or read from an object."""
    for option in options(value) if value is not None else ():
        if isinstance(option, Function):
            yield option
        elif isinstance(option, Native):
            yield from _functions(option.wraps)
        elif isinstance(option, Bound):
            yield from _functions(option.function)
        elif isinstance(option, LibraryObject):
            for field in option.fields.values():
                if isinstance(field, Function):
                    yield field


@dataclass(slots=True)
class _Step:
    """A function that may run: the class of its first parameter, and whether that is a new object."""

    function: Function
    cls: ClassValue
    makes: bool = False


class ReachedChanges:
    """The changes that methods of a class, and all that they reach by name, may make."""

    def __init__(
        self, interpreter: Machine, cls: ClassValue, held: dict[str, Value], methods: list[Function]
    ) -> None:
        self._interpreter, self._cls, self._held = interpreter, cls, held
        #: Whether every named object may change.
        self._anything = False
        #: Whether any attribute of a named class may be set.
        self._sets_any = False
        #: The modules of which any variable may be rebound.
        self._modules: set[Scope] = set()
        #: The default values of functions' parameters.
        self.defaults: list[Value] = []
        self._reached: list[tuple[Scope, BodyChanges]] = []
        self._attributes: dict[ClassValue, set[str]] = defaultdict(set)
        self._classes: set[ClassValue] = {cls}
        self._waiting = [_Step(method, cls) for method in methods]
        seen: set[tuple[object, ClassValue, bool]] = set()
        while self._waiting:
            step = self._waiting.pop()
            key = step.function.code.key, step.cls, step.makes
            if key not in seen:
                seen.add(key)
                self._follow(step)

    def _follow(self, step: _Step) -> None:
        function, cls = step.function, step.cls
        look_at(self._interpreter, function.code)
        self._interpreter.tick()
        try:
            stated = body_changes(function.code.node)
        except BrokenText:
            self._anything = True
            return
        scope = function.scope.of_functions
        self._reached.append((scope, stated))
        self.defaults += function.defaults.values()
        for name, holder in scope.find_all(frozenset(stated.names)):
            for option in options(holder.variables[name]):
                self._reach(option, cls)
                if isinstance(option, External) and _mutates(option.name):
                    stated.anything = True
        for name in stated.called:
            self._call(scope, name, cls, stated)
        for name in stated.makers:
            maker = scope.find(name)
            classes = maker is not None and all(
                isinstance(option, ClassValue) and option.metaclass is None
                for option in options(maker.variables[name])
            )
            stated.anything = stated.anything or not classes
        self._anything = self._anything or stated.anything
        if not step.makes:
            self._attributes[cls] |= stated.attributes
            if stated.anything and stated.hands_over:
                self._attributes[cls].add(ANY)
        for name in stated.own:
            attribute = self._held.get(name) if cls is self._cls else None
            found = [*_methods(cls, name), *_functions(attribute)]
            self._waiting += [_Step(one, cls) for one in found]
            if found:
                continue
            if stated.anything:
                self._attributes[cls].add(name)
            if name in stated.own_called and not library_bases(cls):
                self._anything = True

    def _reach(self, value: Value | None, cls: ClassValue) -> None:
        """Reach a function or class that a body names: it may be called, also with the object itself."""
        self._waiting += [_Step(one, cls) for one in _functions(value)]
        if isinstance(value, ClassValue):
            self._classes.add(value)
            constructors = [one for name in _CONSTRUCTORS for one in _methods(value, name)]
            self._waiting += [_Step(one, value, makes=True) for one in constructors]

    def _call(self, scope: Scope, dotted: str, cls: ClassValue, stated: BodyChanges) -> None:
        """Reach the function that a body calls by a dotted name."""
        root, *path = dotted.split(".")
        holder = scope.find(root)
        if holder is None:
            known = path[-1] in READING_METHODS if path else root in READING_FUNCTIONS
            stated.anything = stated.anything or not known
            if path and not known:
                stated.variables.add(root)
            self._sets_any = self._sets_any or (not path and root in _SETTING)
            if root in REACHING_ALL:
                self._modules.add(scope.root)
            return
        for option in options(holder.variables[root]):
            if isinstance(option, External):
                name = ".".join([option.name, *path])
                known = only_reads(name)
                self._sets_any = self._sets_any or name.removeprefix("builtins.") in _SETTING
            elif not path:
                known = isinstance(option, Function | ClassValue)
            elif isinstance(option, ModuleValue):
                member = option.run.scope.variables.get(path[0]) if len(path) == 1 else None
                self._reach(member, cls)
                known = isinstance(member, Function | ClassValue)
            elif isinstance(option, ClassValue | Instance):
                owner = option.cls if isinstance(option, Instance) else option
                found = _methods(owner, path[0]) if len(path) == 1 else []
                self._waiting += [_Step(one, owner) for one in found]
                stated.variables.add(root)
                known = bool(found)
            else:
                # A method of an object that is not the program's own.
                known = path[-1] in READING_METHODS or len(path) == 1
                if path[-1] not in READING_METHODS:
                    stated.variables.add(root)
            stated.anything = stated.anything or not known

    def variables(self) -> Iterator[tuple[str, Scope]]:
        """Yield the variables that may be rebound, or whose objects may change, with their scopes."""
        for scope, stated in self._reached:
            changed = stated.bound | stated.variables
            for name, holder in scope.find_all(frozenset(changed | stated.names)):
                if name in changed or self._may_change(holder.variables[name]):
                    yield name, holder
            for name in changed:
                if scope.find(name) is None:
                    # It may be bound later.
                    yield from ((name, around) for around in scope.chain)
        for module in self._modules:
            for name, value in module.variables.items():
                if not isinstance(value, Function | ClassValue | ModuleValue | External | Native):
                    yield name, module

    def _may_change(self, value: Value) -> bool:
        """Return whether an object that is only read may change."""
        return any(is_iterator(one) or (self._anything and type(one) in HOLDING) for one in options(value))

    def attributes(self) -> dict[ClassValue, set[str]]:
        """Return the attributes that may be set, or whose objects may change, by class."""
        for _, stated in self._reached:
            for cls in self._classes if stated.assigned else ():
                self._attributes[cls] |= stated.assigned
        for cls in self._classes if self._sets_any else ():
            self._attributes[cls].add(ANY)
        return self._attributes


def only_reads(name: str) -> bool:
    """Return whether a function of a library mutates no object of the program."""
    library, _, function = name.partition(".")
    if library == "builtins":
        return function in READING_FUNCTIONS
    return name.startswith(_KNOWN_LIBRARIES) and not _mutates(name)


def _mutates(name: str) -> bool:
    """Return whether a name is one of Python's functions that mutate an argument."""
    library, _, function = name.partition(".")
    return library == "operator" and function.strip("_") in MUTATING_OPERATORS


def _methods(cls: ClassValue, name: str) -> list[Function]:
    """Return all functions of a name in a class and its bases."""
    bases = [base for base in lineage(cls) if isinstance(base, ClassValue)]
    return [function for base in bases for function in _functions(base.attributes.get(name))]

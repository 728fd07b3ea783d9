"""Reachability: whether evaluating a function can reach a use of sharding at all.

An entry point has unknown arguments, and most entry points of a large project would only compute unknown
values. The code it may call is found from its text and the values of the names in it: functions of the
program, members of classes and modules that it mentions, and what those mention in turn. If no text reached
in this way mentions a sharding API, no use can be recorded. A false positive costs time, a false negative a
finding.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from shardlint.inference.domain.classes import lineage
from shardlint.inference.domain.values import (
    Alternatives,
    Array,
    Bound,
    ClassValue,
    DictValue,
    External,
    Function,
    Instance,
    LibraryObject,
    ListValue,
    MeshValue,
    ModuleValue,
    Native,
    Partial,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
)
from shardlint.inference.overlays.registry import loaded
from shardlint.inference.overlays.vocabulary import layer_names, sharding_names
from shardlint.inference.programs.module_loader import LIBRARIES
from shardlint.inference.summaries.receiver_summary import CONSTRUCTORS, sets_of_self
from shardlint.inference.syntax.text_cache import bare, of_texts
from shardlint.inference.syntax.units import NodePlace
from shardlint.laws.versions import Release
from shardlint.laws.versions.queries import state_of, subjects
from shardlint.source.lexing import words_in
from shardlint.source.workspace.prefilter import speaks_to_shardlint
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.inference.evaluation.context import Scope
    from shardlint.inference.evaluation.settings import InferenceSettings
    from shardlint.inference.machine.module_run import ModuleRun
    from shardlint.inference.programs.module_loader import Project

#: Reads of an attribute: ``x.name``, and ``getattr(x, "name")``.
_MEMBER = re.compile(r"[.\"'](?:(?<=\.)\s*)?([^\W\d]\w*+)")
_CALLED = re.compile(r"(?<!def )\b([^\W\d]\w*+)\s*+\(")
#: Functions passed as arguments: ``partial(psum, …)``, ``f(x, reduce=lax.psum)``.
_PASSED = re.compile(r"[(,=]\s*(?:[\w.]*\.)?([^\W\d]\w*)\s*(?=[,)\n])")
_CHAIN = re.compile(r"(?<![\w.])([^\W\d]\w*)((?:\.[^\W\d]\w*)+)")
_ASKS_CLASS = re.compile(r"\bisinstance\((?:[^()]|\([^()]*\))*\)")
#: Keyword arguments of a call: ``f(x, name=1)``, ``kwargs["name"] = 1``.
_KEYWORD = re.compile(r"""[(,]\s*([^\W\d]\w*)\s*=(?!=)|["']([^\W\d]\w*)["']""")
#: A sharding passed by keyword, or stored under such a key.
_GIVEN = re.compile(r"""hardings?(?:_names)?(?:\s*=(?!=)|["']\s*:)""")
_IMPORT = re.compile(
    r"(?:^[ \t]+|;[ \t]*)(?:from[ \t]+([.\w]+)[ \t]+import|import[ \t]+([.\w, \t]+))", re.MULTILINE
)
_IMPORTS = re.compile(r"(?:^[ \t]+|;[ \t]*)(?:from[ \t]+[.\w]+[ \t]+)?import\b", re.MULTILINE)
#: The names of a method's own class, with which it creates objects.
_OWN_CLASS = frozenset({"cls", "__class__", "type"})
#: These together make a use: a sharding that is passed, and Flax; a block or a decorator, and a mesh.
_TOGETHER = (frozenset({"given", "flax"}), frozenset({"entered", "mesh"}))
_ENTERED = re.compile(r"\bwith\b|^[ \t]*@", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Looked:
    """The names searched for.

    ``names`` are the last parts of the APIs that are judged. ``changing`` are full names that JAX lacks, in
    all or some of the releases asked about, ``last`` the last parts of those, and ``arguments`` pairs of a
    function's last name and such an argument.
    """

    names: frozenset[str]
    changing: frozenset[str]
    last: frozenset[str]
    arguments: frozenset[tuple[str, str]]


#: APIs that need a bound axis. The axes that an entry point's caller binds are unknown, so they are judged
#: only in the body of a `shard_map`, which is an API itself; an editor shows their names everywhere.
_ASKING = frozenset({"axis_index", "axis_size"})


def _looked(layers: bool, settings: InferenceSettings) -> _Looked:
    """Return the names searched for; with ``layers``, layers that create parameters without names count
    too."""
    return _looked_for(layers, settings.release, settings.alone, settings.editing, loaded())


@cache
def _looked_for(
    layers: bool, release: Release, alone: bool, editing: bool, libraries: frozenset[str]
) -> _Looked:
    states = ((name, state_of(name, release)) for name in subjects())
    changing = [
        name for name, state in states if not (alone and state and state.there and not state.deprecated)
    ]
    names = frozenset(name for name in changing if "(" not in name and ":" not in name)
    arguments = (name.rstrip("=)").partition("(") for name in changing if "(" in name)
    judged = sharding_names() if editing else sharding_names() - _ASKING
    return _Looked(
        judged | (layer_names() if layers else frozenset()),
        names,
        frozenset(name.rpartition(".")[2] for name in names),
        frozenset((function.rpartition(".")[2], argument) for function, _, argument in arguments),
    )


class Reach:
    """The functions of one program that can reach a use; asked once its top level has run.

    ``meshed`` means that a mesh is known at every call: then any parameter can be too large.
    """

    def __init__(self, project: Project, settings: InferenceSettings, meshed: bool) -> None:
        self._project, self._settings, self._meshed = project, settings, meshed
        #: The answers by the function's identity, with the function to keep it alive.
        self._known: dict[int, tuple[Function, bool]] = {}

    def learn(self, functions: Iterable[Function]) -> None:
        """Decide for many functions at once: if nothing is reached, one walk from all of them shows it."""
        unknown = [one for one in functions if id(one) not in self._known]
        if not unknown:
            return
        looked = self._wanted()
        # Functions that contain a use themselves are decided first: walks end at them.
        self._known |= {id(one): (one, True) for one in unknown if _uses(looked, one.code.unit.text)}
        waiting = [unknown]
        while waiting:
            group = [one for one in waiting.pop() if id(one) not in self._known]
            search = self._search()
            for one in group:
                search.method(one)
            if not search.finds():
                # A function reached by the walk reaches no more than the whole walk did.
                self._known |= {id(one): (one, False) for one in [*group, *search.functions()]}
            elif len(group) == 1:
                self._known[id(group[0])] = group[0], True
            else:
                half = len(group) // 2
                waiting += [group[half:], group[:half]]

    def of_function(self, function: Function) -> bool:
        """Return whether a function can reach a use if called with unknown arguments."""
        self.learn([function])
        return self._known[id(function)][1]

    def of_wrapper(self, native: Native) -> bool:
        """Return whether a wrapper, or the function it wraps, can reach a use."""
        search = self._search()
        search.value(native)
        return search.finds()

    def of_value(self, value: Value) -> bool:
        """Return whether what a test is given or runs can reach a use."""
        if isinstance(value, Function):
            return self.of_function(value)
        search = self._search()
        search.value(value)
        return search.finds()

    def _search(self) -> _Search:
        return _Search(self._project, self._wanted(), self._known)

    def _wanted(self) -> _Looked:
        # More libraries may be loaded than last time: a function may import a module that uses them.
        return _looked(self._meshed, self._settings)


def reach_same(settings: InferenceSettings, text: str, other: str) -> bool:
    """Return whether two texts of a function are equivalent for reachability."""
    looked = (_looked(layers, settings) for layers in (False, True))
    return all(query(text) == query(other) for query in _ASKED) and all(
        _uses(one, text) == _uses(one, other) for one in looked
    )


class _Search:
    """One walk over the code that an entry point can reach."""

    def __init__(self, project: Project, looked: _Looked, known: Mapping[int, tuple[Function, bool]]) -> None:
        self._project, self._looked, self._known = project, looked, known
        self._functions: list[Function] = []
        self._found = False
        #: The parts of `_TOGETHER` found so far.
        self._met: set[str] = set()
        self._seen: set[int] = set()
        self._waiting: list[tuple[str, Scope | None]] = []
        #: The names of members that reached code may read, and the objects that have members.
        self._asked: set[str] = set()
        self._holders: list[Mapping[str, Value]] = []
        #: Constructors of classes with a reached instance, with the attributes that they set.
        self._constructors: list[tuple[set[str], Function]] = []

    def finds(self) -> bool:
        """Complete the walk and return whether a use can be reached."""
        while self._waiting and not self._found:
            self._read(*self._waiting.pop())
            self._found = self._found or any(parts <= self._met for parts in _TOGETHER)
        return self._found

    def functions(self) -> Iterator[Function]:
        """Yield the functions reached; methods only if an instance of their class was reached too."""
        return (one for one in self._functions if one.owner is None or -id(one.owner) in self._seen)

    def method(self, function: Function) -> None:
        """Begin with a function that is called; a method has an instance of its class."""
        self.value(function)
        if function.owner is not None:
            self._instance(function.owner)
            if not _OWN_CLASS.isdisjoint(_words(function.code.unit.text)):
                self.value(function.owner)

    def value(self, value: Value) -> None:
        """Reach a value, unless a use has been reached already."""
        if self._found or id(value) in self._seen:
            return
        self._seen.add(id(value))
        if isinstance(value, Function):
            self._functions.append(value)
            known = self._known.get(id(value))
            self._found = self._found or (known is not None and known[1])
            self._waiting.append((value.code.unit.text, value.scope))
            self._all(value.defaults.values())
        elif isinstance(value, ClassValue):
            self._instance(value)
            for base in lineage(value):
                if isinstance(base, ClassValue):
                    self._all(v for k, v in base.attributes.items() if k in CONSTRUCTORS)
                    self._all(v for v in base.attributes.values() if isinstance(v, LibraryObject))
        elif isinstance(value, Instance):
            self._instance(value.cls)
            self._holder(value.attributes)
        elif isinstance(value, ModuleValue):
            self._module(value.run)
        elif isinstance(value, External):
            self._library(value)
        elif isinstance(value, Bound):
            self._all((value.function, value.receiver))
        elif isinstance(value, Partial):
            self._all((value.function, *value.args, *(v for _, v in value.kwargs)))
        elif isinstance(value, Native):
            self._wrapper(value)
        elif isinstance(value, LibraryObject):
            self._found = self._found or not self._looked.names.isdisjoint(value.kind.split("."))
            self._all(value.fields.values())
        elif isinstance(value, SpecValue | ShardingValue):
            self._found = True
        elif isinstance(value, MeshValue):
            self._met.add("mesh")
        elif isinstance(value, Array):
            placed = value.typed is not None and value.typed.mesh is not None
            self._found = self._found or placed or not (value.sharding is value.committed is None)
        elif isinstance(value, Tuple | ListValue):
            self._all(value.items or ())
        elif isinstance(value, DictValue):
            self._all((value.items or {}).values())
        elif isinstance(value, Alternatives):
            self._all(value.options)

    def _all(self, values: Iterable[Value]) -> None:
        for value in values:
            self.value(value)

    def _wrapper(self, native: Native) -> None:
        """Reach a wrapper: its arguments, and the function it wraps."""
        written = native.description
        if isinstance(native.origin, NodePlace):
            written += native.origin.unit.written(native.origin.node)
        self._found = self._found or "**" in written or _GIVEN.search(written) is not None
        self._read(written, native.wraps.scope if isinstance(native.wraps, Function) else None)
        self._all(native.attributes.values())
        if native.wraps is not None:
            self.value(native.wraps)

    def _instance(self, cls: ClassValue) -> None:
        """Reach an instance of a class: the methods that Python calls implicitly, and members by name."""
        for base in lineage(cls):
            if not isinstance(base, ClassValue):
                continue
            if -id(base) in self._seen:
                continue
            self._seen.add(-id(base))
            self._holder(base.attributes)
            for name, value in base.attributes.items():
                if name in CONSTRUCTORS and isinstance(value, Function):
                    names = sets_of_self(value.code.unit.glance)
                    if self._asked.isdisjoint(names):
                        self._constructors.append((names, value))
                    else:
                        self.value(value)
                elif name.startswith("__") and name not in CONSTRUCTORS:
                    self.value(value)

    def _module(self, run: ModuleRun) -> None:
        self._holder(run.scope.variables)
        path = Path(run.source.path)
        if path.name == "__init__.py":
            modules = self._project.modules.items()
            inside = {
                p.stem if p.parent == path.parent else p.parent.name: r
                for p, r in modules
                if path.parent in (p.parent, p.parent.parent)
            }
            self._holder({name: ModuleValue(name, r) for name, r in inside.items() if r is not run})

    def _holder(self, members: Mapping[str, Value]) -> None:
        self._holders.append(members)
        for name in self._asked & members.keys():
            self.value(members[name])

    def _read(self, text: str, scope: Scope | None) -> None:
        """Reach what a text mentions."""
        if _uses(self._looked, text):
            self._found = True
            return
        words = _words(text)
        self._met |= _parts_of_a_use(text)
        chains = _chains(self._looked, text)
        while scope is not None:
            for name in words & scope.variables.keys():
                if self._found:
                    return
                value = scope.variables[name]
                if isinstance(value, External):
                    self._library(value, name, text)
                else:
                    self.value(value)
            for root, rest in chains:
                held = scope.variables.get(root)
                if isinstance(held, External) and not self._looked.changing.isdisjoint(
                    _longer(held.name, rest)
                ):
                    self._found = True
            if scope.parent is None:
                self._imports(text, words, scope.module.source.path)
            scope = scope.parent
        asked = _members(text) - self._asked
        if not asked:
            return
        self._asked |= asked
        for members in tuple(self._holders):
            for name in asked & members.keys():
                self.value(members[name])
        for names, function in self._constructors:
            if not names.isdisjoint(asked):
                self.value(function)

    def _library(self, value: External, name: str = "", text: str | None = None) -> None:
        """Reach a library's function.

        A judged API must be called or passed, not only mentioned, in ``text``, where its name is ``name``.
        """
        if value.name.startswith("flax."):
            self._met.add("flax")
        judged = value.name.rpartition(".")[2] in self._looked.names
        called = judged and (text is None or name in _calls(text))
        self._found = self._found or called or value.name in self._looked.changing

    def _imports(self, text: str, words: frozenset[str], path_here: str) -> None:
        """Reach what a function imports when it runs."""
        if "import" not in words:
            return
        found, here = _imports_in(text), Path(path_here)
        for name in (one.split()[0] for names in found for one in "".join(names).split(",") if one.strip()):
            if name.split(".")[0] in LIBRARIES or (path := self._project.locate(here, name)) is None:
                continue
            if path not in self._project.modules:
                self._found = True
                return
            run = self._project.modules[path]
            self._module(run)
            self._all(run.scope.variables[name] for name in words & run.scope.variables.keys())


@of_texts
def _uses(looked: _Looked, text: str) -> bool:
    """Return whether a text itself may contain a use: it calls or passes an API, of whatever object."""
    if speaks_to_shardlint(text):
        return True
    words = _words(text)
    given = {argument for function, argument in looked.arguments if function in words and argument in words}
    if given and not given.isdisjoint(_given(text)):
        return True
    text, mentioned, changing = bare(text), looked.names & words, looked.last & words
    if "import" in words and (mentioned or changing) and _IMPORTS.search(text) is not None:
        # A name that a function imports has no value before the function runs.
        return True
    if not mentioned:
        return False
    if not mentioned.isdisjoint(_CALLED.findall(text)):
        return True
    members = mentioned.intersection(_MEMBER.findall(text))
    return any(name[0].islower() or name in _calls(text) for name in members)


@of_texts
def _parts_of_a_use(text: str) -> frozenset[str]:
    text = bare(text)
    found = {
        "given": "harding" in text and _GIVEN.search(text) is not None,
        "flax": "flax" in text or "nnx" in text,
        "entered": _ENTERED.search(text) is not None,
    }
    return frozenset(name for name, present in found.items() if present)


@of_texts
def _chains(looked: _Looked, text: str) -> tuple[tuple[str, str], ...]:
    """Return the dotted names in a text with a part that only some releases have, as first part and rest."""
    if looked.last.isdisjoint(_words(text)):
        return ()
    found = dict.fromkeys(_CHAIN.findall(bare(text)))
    return tuple(pair for pair in found if not looked.last.isdisjoint(pair[1].split(".")))


def _longer(name: str, rest: str) -> Iterator[str]:
    """Yield the prefixes of a dotted name, longer than its first part."""
    for part in rest.split(".")[1:]:
        name = f"{name}.{part}"
        yield name


@of_texts
def _given(text: str) -> frozenset[str]:
    """Return the keyword arguments that a text may pass."""
    return frozenset(name or key for name, key in _KEYWORD.findall(bare(text)))


@of_texts
def _calls(text: str) -> frozenset[str]:
    """Return the names that a text calls or passes."""
    text = _ASKS_CLASS.sub("", bare(text))
    return frozenset(_CALLED.findall(text)) | frozenset(_PASSED.findall(text))


@of_texts
def _words(text: str) -> frozenset[str]:
    return frozenset(words_in(bare(text)))


@of_texts
def _members(text: str) -> frozenset[str]:
    return frozenset(_MEMBER.findall(bare(text)))


@of_texts
def _imports_in(text: str) -> list[tuple[str, ...]]:
    """Return the modules and names that a text imports."""
    return _IMPORT.findall(bare(text))


#: All properties of a text that a walk uses, other than uses; the most variable first.
_ASKED: tuple[Callable[[str], object], ...] = (
    _words, _members, _calls, _parts_of_a_use, sets_of_self, speaks_to_shardlint, _imports_in,
)  # fmt: skip

"""The outer variables that a function may rebind, or whose objects it may change or hand on, by its syntax.

Nothing is evaluated and every branch counts. What a local variable may hold is followed, so that an object
that is only read (``cfg.size``, ``len(log)``) counts as unchanged.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import Any, NamedTuple

import libcst as cst

from shardlint.inference.syntax.body_changes import READING_FUNCTIONS, READING_METHODS, Body
from shardlint.inference.syntax.node_fields import Slot, argument_slots, parameters, parts, walk
from shardlint.support.lazy_dataclass import dataclass

#: The step of a path that leads to a part of a container, or to what a method returns.
PART, RESULT = "[]", "()"
#: The step that leads to a copy of a container, which holds the same items.
COPY = "copy"
#: The step that leads to some attribute of an object.
ATTRIBUTE = "."
_COPIES = frozenset({"list", "tuple", "set", "frozenset", "dict", "sorted"})
#: Builtins whose result has no reference to their arguments.
_FRESH = frozenset(
    "abs all any ascii bin bool bytes callable chr complex delattr dir divmod float format hasattr hash hex "
    "id int isinstance issubclass len oct ord pow print range repr round setattr str".split()
)


class Outer(NamedTuple):
    """An object that an outer variable holds: its name, and the attributes that lead on from it."""

    name: str
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Parameter:
    """The object that a parameter holds, or one that attributes lead to from there."""

    name: str
    path: tuple[str, ...] = ()


class _Local(NamedTuple):
    """A variable of the function, or of one inside it, and the attributes that lead on from it."""

    scope: int
    name: str
    path: tuple[str, ...] = ()

    @property
    def variable(self) -> _Local:
        """The variable itself."""
        return self if not self.path else _Local(self.scope, self.name)


class _OwnClass(NamedTuple):
    """The class of the first parameter."""


_Source = Outer | _Local | _OwnClass
_Sources = frozenset[_Source]
#: What each argument of a call may hold.
_Arguments = Sequence[tuple[Slot, _Sources]]
_NOTHING: _Sources = frozenset()


@dataclass(slots=True)
class Leaks:
    """The effects that a function may have on what exists outside of it.

    ``bound`` are the outer variables that it binds. ``changed`` are objects that it may change or hand on,
    ``assigned`` those of which it sets an attribute, with its name. ``called`` are methods that it calls of
    outer objects. ``given`` are outer objects and parameters that a function of this dotted name gets, each
    with the argument's position or keyword; None where a star hides it.
    ``parameters`` are the parameters, or parts of them, that it may change or hand on. ``own_class`` are
    attributes that it sets of the class of its first parameter.
    """

    bound: set[str] = field(default_factory=set)
    changed: set[Outer] = field(default_factory=set)
    assigned: set[tuple[Outer, str]] = field(default_factory=set)
    called: set[tuple[Outer, str]] = field(default_factory=set)
    given: dict[str, set[tuple[Slot, Outer | Parameter]]] = field(default_factory=dict)
    parameters: set[Parameter] = field(default_factory=set)
    own_class: set[str] = field(default_factory=set)


_READ: dict[int, tuple[cst.CSTNode, Leaks]] = {}
_MAX_READ = 4_000


def leaks(function: Body) -> Leaks:
    """Return what a function may do to what exists outside of it."""
    node, found = _READ.get(id(function), (None, None))
    if node is not function or found is None:
        if len(_READ) >= _MAX_READ:
            _READ.clear()
        found = _Reader(function).found
        _READ[id(function)] = function, found
    return found


@dataclass(slots=True)
class _Scope:
    """The variables of one function, class or comprehension, and the scope around it."""

    number: int
    names: set[str]
    elsewhere: set[str]
    around: _Scope | None
    is_class: bool = False


class _Reader:
    """Reads one function, including what is defined in it."""

    def __init__(self, function: Body) -> None:
        self.found = Leaks()
        #: What each local variable may hold.
        self._holds: dict[_Local, set[_Source]] = defaultdict(set)
        #: What is changed or handed on.
        self._out: set[_Source] = set()
        self._given: dict[str, set[tuple[Slot, _Source]]] = defaultdict(set)
        self._count = 0
        self._parameters: list[_Local] = []
        if isinstance(function, cst.GeneratorExp):
            self._visit(function, _Scope(0, set(), set(), None))
        else:
            self._function(function, None)
        self._close()

    def _close(self) -> None:
        """Follow what local variables hold."""
        for source in self._reached(self._out):
            if isinstance(source, Outer):
                self.found.changed.add(source)
            else:
                self.found.parameters.add(source)
        for name, given in self._given.items():
            self.found.given[name] = {(slot, one) for slot, held in given for one in self._reached([held])}

    def _reached(self, sources: Iterable[_Source]) -> set[Outer | Parameter]:
        """Return the outer objects and parameters that these may be: all that a local variable may hold
        counts where a part of it is named.
        """
        waiting, seen = list(sources), set()
        reached: set[Outer | Parameter] = set()
        while waiting:
            one = waiting.pop()
            if one in seen:
                continue
            seen.add(one)
            if isinstance(one, Outer):
                reached.add(one)
            elif isinstance(one, _Local):
                waiting += self._holds[one.variable]
                if one.variable in self._parameters:
                    reached.add(Parameter(one.name, one.path))
        return reached

    # -- scopes -------------------------------------------------------------------------------

    def _inside(self, nodes: Iterable[cst.CSTNode], around: _Scope | None, names: Iterable[str]) -> _Scope:
        """Return the scope of these nodes."""
        own, elsewhere = set(names), set()
        waiting: list[Any] = list(nodes)
        while waiting:
            node = waiting.pop()
            kind = type(node)
            if kind is cst.FunctionDef or kind is cst.ClassDef:
                own.add(node.name.value)
            elif kind is cst.Global or kind is cst.Nonlocal:
                elsewhere |= {one.name.value for one in node.names}
            elif kind is not cst.Lambda and kind not in _LEAVES:
                if kind in _BINDERS:
                    own |= set(_BINDERS[kind](node))
                waiting += parts(node)
        self._count += 1
        return _Scope(self._count, own - elsewhere, elsewhere, around)

    def _function(self, node: cst.FunctionDef | cst.Lambda, around: _Scope | None) -> None:
        params = parameters(node.params)
        scope = self._inside([node.body], around, [one.name.value for one in params])
        outside = around or _Scope(0, set(), set(), None)
        for one in params:
            local = _Local(scope.number, one.name.value)
            if around is None:
                self._parameters.append(local)
            if one.default is not None and around is not None:
                self._holds[local] |= self._visit(one.default, outside)
        result = self._visit(node.body, scope)
        if isinstance(node, cst.Lambda):
            self._out |= result

    def _resolve(self, name: str, scope: _Scope) -> _Source:
        one: _Scope | None = scope
        while one is not None:
            if name in one.names and (one is scope or not one.is_class):
                return _Local(one.number, name)
            one = one.around
        return Outer(name)

    # -- nodes --------------------------------------------------------------------------------

    def _visit(self, node: cst.CSTNode, scope: _Scope) -> _Sources:
        """Read a node, and return what its value may be or be a part of."""
        read = _READERS.get(type(node))
        if read is not None:
            return read(self, node, scope)
        found = [self._visit(part, scope) for part in parts(node)]
        return _NOTHING if type(node) in _NEW else frozenset().union(*found)

    def _name(self, node: cst.Name, scope: _Scope) -> _Sources:
        return frozenset({self._resolve(node.value, scope)})

    def _attribute(self, node: cst.Attribute, scope: _Scope) -> _Sources:
        held = self._visit(node.value, scope)
        name = node.attr.value
        if name == "__class__" and self._is_own(held):
            return frozenset({_OwnClass()})
        return _further(held, name)

    def _is_own(self, sources: _Sources) -> bool:
        return bool(self._parameters) and sources == {self._parameters[0]}

    def _subscript(self, node: cst.Subscript, scope: _Scope) -> _Sources:
        for one in node.slice:
            self._visit(one, scope)
        return _further(self._visit(node.value, scope), PART)

    def _if_expression(self, node: cst.IfExp, scope: _Scope) -> _Sources:
        self._visit(node.test, scope)
        return self._visit(node.body, scope) | self._visit(node.orelse, scope)

    def _lambda(self, node: cst.Lambda, scope: _Scope) -> _Sources:
        self._function(node, scope)
        return _NOTHING

    def _comprehension(
        self, node: cst.ListComp | cst.SetComp | cst.GeneratorExp | cst.DictComp, scope: _Scope
    ) -> _Sources:
        clauses: list[cst.CompFor] = []
        one: cst.CompFor | None = node.for_in
        while one is not None:
            clauses.append(one)
            one = one.inner_for_in
        targets = (name for clause in clauses for name in _names_of(clause.target))
        self._count += 1
        inner = _Scope(self._count, set(targets), set(), scope)
        for clause in clauses:
            self._assign(clause.target, _further(self._visit(clause.iter, inner), PART), inner)
            for test in clause.ifs:
                self._visit(test, inner)
        if isinstance(node, cst.DictComp):
            return self._visit(node.key, inner) | self._visit(node.value, inner)
        return self._visit(node.elt, inner)

    def _walrus(self, node: cst.NamedExpr, scope: _Scope) -> _Sources:
        value = self._visit(node.value, scope)
        self._assign(node.target, value, scope)
        return value

    def _hand_on(self, node: Any, scope: _Scope) -> _Sources:
        for part in parts(node):
            self._out |= self._visit(part, scope)
        return _NOTHING

    def _assignment(self, node: cst.Assign | cst.AnnAssign, scope: _Scope) -> _Sources:
        if node.value is not None:
            value = self._visit(node.value, scope)
            targets = [one.target for one in node.targets] if isinstance(node, cst.Assign) else [node.target]
            for target in targets:
                self._assign(target, value, scope)
        return _NOTHING

    def _augmented(self, node: cst.AugAssign, scope: _Scope) -> _Sources:
        self._assign(node.target, self._visit(node.value, scope), scope)
        # The object itself may be mutated.
        self._out |= self._visit(node.target, scope)
        return _NOTHING

    def _assign(self, target: cst.CSTNode, value: _Sources, scope: _Scope) -> None:
        """Read the assignment of a value, or the deletion of a target."""
        if isinstance(target, cst.Name):
            found = self._resolve(target.value, scope)
            if isinstance(found, _Local):
                self._holds[found] |= value
            else:
                self.found.bound.add(target.value)
                self._out |= value
        elif isinstance(target, cst.Tuple | cst.List):
            for element in target.elements:
                self._assign(element.value, _further(value, PART), scope)
        elif isinstance(target, cst.Attribute | cst.Subscript):
            if isinstance(target, cst.Subscript):
                for index in target.slice:
                    self._visit(index, scope)
            name = target.attr.value if isinstance(target, cst.Attribute) else PART
            held = self._visit(target.value, scope)
            for one in held:
                if isinstance(one, Outer):
                    self.found.assigned.add((one, name))
                elif isinstance(one, _OwnClass):
                    self.found.own_class.add(name)
                else:
                    self._holds[one.variable] |= value
            self._out |= {one for one in held if isinstance(one, _Local)}
            if not all(isinstance(one, _Local) and one.variable not in self._parameters for one in held):
                self._out |= value

    def _delete(self, node: cst.Del, scope: _Scope) -> _Sources:
        self._assign(node.target, _NOTHING, scope)
        return _NOTHING

    def _loop(self, node: cst.For, scope: _Scope) -> _Sources:
        self._assign(node.target, _further(self._visit(node.iter, scope), PART), scope)
        self._visit(node.body, scope)
        if node.orelse is not None:
            self._visit(node.orelse, scope)
        return _NOTHING

    def _with_item(self, node: cst.WithItem, scope: _Scope) -> _Sources:
        value = self._visit(node.item, scope)
        if not isinstance(node.item, cst.Call):
            self.found.called |= {(one, "__enter__") for one in value if isinstance(one, Outer)}
            self._out |= {one for one in value if not isinstance(one, Outer)}
        if node.asname is not None:
            self._assign(node.asname.name, value, scope)
        return _NOTHING

    def _match(self, node: cst.Match, scope: _Scope) -> _Sources:
        subject = self._visit(node.subject, scope)
        for case in node.cases:
            for part in walk(case.pattern):
                for name in _BINDERS.get(type(part), lambda _: ())(part):
                    self._assign(cst.Name(name), _further(subject, PART), scope)
            if case.guard is not None:
                self._visit(case.guard, scope)
            self._visit(case.body, scope)
        return _NOTHING

    def _definition(self, node: cst.FunctionDef, scope: _Scope) -> _Sources:
        for decorator in node.decorators:
            self._out |= self._visit(decorator.decorator, scope)
        around = scope
        while around.is_class and around.around is not None:
            around = around.around
        self._function(node, around)
        return _NOTHING

    def _class(self, node: cst.ClassDef, scope: _Scope) -> _Sources:
        for part in (*node.decorators, *node.bases, *node.keywords):
            self._visit(part, scope)
        inner = self._inside(node.body.body, scope, ())
        inner.is_class = True
        self._visit(node.body, inner)
        return _NOTHING

    def _call(self, node: cst.Call, scope: _Scope) -> _Sources:
        args = [(slot, self._visit(value, scope)) for slot, value in argument_slots(node)]
        function = node.func
        if isinstance(function, cst.Name):
            return self._call_name(function.value, args, scope)
        if isinstance(function, cst.Attribute):
            return self._call_method(function, args, scope)
        self._out |= self._visit(function, scope).union(*[held for _, held in args])
        return _NOTHING

    def _give(self, callee: str, args: _Arguments) -> None:
        self._given[callee] |= {(slot, one) for slot, held in args for one in held}

    def _call_name(self, name: str, args: _Arguments, scope: _Scope) -> _Sources:
        found = self._resolve(name, scope)
        every = _NOTHING.union(*[held for _, held in args])
        if not isinstance(found, Outer):
            self._out |= {found, *every}
            return _NOTHING
        if name == "type" and self._is_own(every):
            return frozenset({_OwnClass()})
        self._give(name, args)
        if name not in READING_FUNCTIONS or name in _FRESH:
            return _NOTHING
        if name == "getattr":
            return _NOTHING.union(*[held if slot == 2 else _further(held, ATTRIBUTE) for slot, held in args])
        return _further(every, COPY if name in _COPIES else PART)

    def _call_method(self, function: cst.Attribute, args: _Arguments, scope: _Scope) -> _Sources:
        method, held = function.attr.value, self._visit(function.value, scope)
        outer = [one for one in held if isinstance(one, Outer)]
        for one in outer:
            self.found.called.add((one, method))
            self._give(".".join((one.name, *one.path, method)), args)
        if method not in READING_METHODS:
            self._out |= {one for one in held if not isinstance(one, Outer)}
            if not outer:
                self._out = self._out.union(*[held for _, held in args])
        return _further(held, RESULT)


def _further(sources: _Sources, step: str) -> _Sources:
    """Return what one step leads to."""
    return frozenset(
        one if isinstance(one, _OwnClass) else one._replace(path=(*one.path, step)) for one in sources
    )


def _names_of(target: Any) -> Iterable[str]:
    """Yield the variables of an assignment's target."""
    kind = type(target)
    if kind is cst.Name:
        yield target.value
    elif kind is cst.Tuple or kind is cst.List:
        for element in target.elements:
            yield from _names_of(element.value)


def _imported(node: Any) -> Iterable[str]:
    """Yield the name that an import binds."""
    if node.asname is None:
        root = node.name
        while type(root) is cst.Attribute:
            root = root.value
        yield from _names_of(root)


#: By kind of node: the variables that it binds, without those inside it.
_BINDERS: dict[type, Callable[[Any], Iterable[str]]] = {
    **dict.fromkeys(
        (cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.NamedExpr, cst.For, cst.Del),
        lambda node: _names_of(node.target),
    ),
    cst.AsName: lambda node: _names_of(node.name),
    cst.ImportAlias: _imported,
    cst.MatchAs: lambda node: () if node.name is None else (node.name.value,),
    cst.MatchStar: lambda node: () if node.name is None else (node.name.value,),
    cst.MatchMapping: lambda node: () if node.rest is None else (node.rest.value,),
}


#: Nodes that bind nothing inside.
_LEAVES = frozenset({cst.Name, cst.Attribute, cst.Integer, cst.Float, cst.SimpleString})


def _silent(reader: _Reader, node: Any, scope: _Scope) -> _Sources:
    return _NOTHING


#: Expressions whose value has no reference to that of a part.
_NEW = frozenset(
    {
        cst.Comparison, cst.UnaryOperation, cst.FormattedString, cst.ConcatenatedString, cst.Integer,
        cst.Float, cst.SimpleString, cst.Imaginary,
    }
)  # fmt: skip
_READERS: dict[type, Callable[[_Reader, Any, _Scope], _Sources]] = {
    cst.Name: _Reader._name,
    cst.Attribute: _Reader._attribute,
    cst.Subscript: _Reader._subscript,
    cst.IfExp: _Reader._if_expression,
    cst.Lambda: _Reader._lambda,
    cst.ListComp: _Reader._comprehension,
    cst.SetComp: _Reader._comprehension,
    cst.GeneratorExp: _Reader._comprehension,
    cst.DictComp: _Reader._comprehension,
    cst.NamedExpr: _Reader._walrus,
    cst.Return: _Reader._hand_on,
    cst.Yield: _Reader._hand_on,
    cst.Raise: _Reader._hand_on,
    cst.Assign: _Reader._assignment,
    cst.AnnAssign: _Reader._assignment,
    cst.AugAssign: _Reader._augmented,
    cst.Del: _Reader._delete,
    cst.For: _Reader._loop,
    cst.WithItem: _Reader._with_item,
    cst.Match: _Reader._match,
    cst.FunctionDef: _Reader._definition,
    cst.ClassDef: _Reader._class,
    cst.Call: _Reader._call,
    cst.Global: _silent,
    cst.Nonlocal: _silent,
    cst.Import: _silent,
    cst.ImportFrom: _silent,
    cst.Annotation: _silent,
}

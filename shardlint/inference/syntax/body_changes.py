"""The changes that a function's body may make outside of itself, read from its syntax.

Nothing is evaluated: every branch counts, and where a name may stand for another object, all that the body
names may change.
"""

from __future__ import annotations

import builtins
from collections import defaultdict
from copy import copy
from dataclasses import field

import libcst as cst

from shardlint.inference.syntax.node_fields import walk
from shardlint.support.lazy_dataclass import dataclass

_CHANGING = frozenset(
    "__import__ aiter anext breakpoint compile delattr eval exec globals help input locals next setattr "
    "vars".split()
)
#: Python's functions that mutate no argument other than iterators.
READING_FUNCTIONS = frozenset(name for name in dir(builtins) if name[0] != "_") - _CHANGING
_MUTATING_METHODS = frozenset(
    "add append clear difference_update discard extend insert intersection_update pop popitem remove reverse "
    "setdefault sort symmetric_difference_update update".split()
)
_CLASSES = (str, bytes, bytearray, int, float, complex, tuple, range, list, dict, set, frozenset)
#: Methods of Python's own classes that mutate nothing.
READING_METHODS = {
    name for kind in _CLASSES for name in dir(kind) if name[:2] != "__" and callable(getattr(kind, name))
} - _MUTATING_METHODS
#: Functions of `operator` that mutate an argument, or call a method of it.
MUTATING_OPERATORS = frozenset(
    "delitem iadd iand iconcat ifloordiv ilshift imatmul imod imul ior ipow irshift isub itruediv ixor "
    "methodcaller setitem".split()
)
#: Expressions whose value has no other reference.
_NEW = (
    cst.Integer, cst.Float, cst.SimpleString, cst.ConcatenatedString, cst.FormattedString, cst.Comparison,
    cst.List, cst.Dict, cst.Set, cst.ListComp, cst.DictComp, cst.SetComp, cst.BinaryOperation,
    cst.FunctionDef, cst.ClassDef, cst.Lambda,
)  # fmt: skip
#: What runs when it is called, or when items are drawn from it.
Body = cst.FunctionDef | cst.Lambda | cst.GeneratorExp
_BINDING = (cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.Del, cst.For, cst.CompFor)
#: Python's functions that return such a value.
_MAKERS = frozenset("bool bytes dict float frozenset hash int len list repr set sorted str tuple".split())


@dataclass(slots=True)
class BodyChanges:
    """The changes that a function's body may make outside of itself, and the names in it.

    ``bound`` are the variables that it binds; ``variables`` those whose objects it may mutate; ``attributes``
    the attributes of its first parameter that it may set, or whose objects it may mutate. ``anything`` means
    that it may mutate every object that it names; ``assigned`` are the attributes that it may set of these.
    ``names`` are the variables that it reads, and ``own`` the attributes of its first parameter and of
    ``super()``. ``called`` are the dotted names that it calls, ``own_called`` those of ``own`` that it calls.
    ``makers`` are names assumed to be classes. ``hands_over`` means that it names its first parameter itself,
    not only attributes of it.
    """

    bound: set[str] = field(default_factory=set)
    variables: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    anything: bool = False
    assigned: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    own: set[str] = field(default_factory=set)
    called: set[str] = field(default_factory=set)
    own_called: set[str] = field(default_factory=set)
    makers: set[str] = field(default_factory=set)
    hands_over: bool = False


#: The functions read so far, by the identity of their nodes.
_READ: dict[int, tuple[cst.CSTNode, BodyChanges]] = {}
_MAX_READ = 4_000


def body_changes(function: Body) -> BodyChanges:
    """Return the changes that a function may make, by syntax alone; the caller may extend ``variables``."""
    node, changes = _READ.get(id(function), (None, None))
    if node is not function or changes is None:
        reader = _Reader(function)
        for part in reader.nodes:
            reader.read(part)
        if len(_READ) >= _MAX_READ:
            _READ.clear()
        changes = reader.changes
        _READ[id(function)] = function, changes
    found = copy(changes)
    found.variables = set(changes.variables)
    return found


class _Reader:
    """Reads one function, including the functions and classes defined in it."""

    def __init__(self, function: Body) -> None:
        self.changes = BodyChanges()
        params = cst.Parameters() if isinstance(function, cst.GeneratorExp) else function.params
        self.nodes = list(walk(function if isinstance(function, cst.GeneratorExp) else function.body))
        first = next(iter((*params.posonly_params, *params.params)), None)
        self._own = first.name.value if first is not None else ""
        #: The expressions bound to each variable of the function; None stands for an unknown one.
        self._local: dict[str, list[cst.CSTNode | None]] = defaultdict(list)
        for node in (params, *self.nodes):
            self._note_bound(node)
        for name in self.changes.bound:
            self._local.pop(name, None)
        #: Occurrences of the first parameter before a dot.
        self._receivers = {id(node.value) for node in self.nodes if isinstance(node, cst.Attribute)}
        #: Names after a dot, and keywords.
        self._no_variables = {id(node.attr) for node in self.nodes if isinstance(node, cst.Attribute)} | {
            id(node.keyword) for node in self.nodes if isinstance(node, cst.Arg)
        }

    def _note_bound(self, node: cst.CSTNode) -> None:
        if isinstance(node, cst.Parameters):
            for part in walk(node):
                if isinstance(part, cst.Param):
                    self._local[part.name.value].append(None)
        elif isinstance(node, cst.Global | cst.Nonlocal):
            self.changes.bound |= {item.name.value for item in node.names}
        elif isinstance(node, cst.Assign):
            for target in node.targets:
                self._bind(target.target, node.value)
        elif isinstance(node, cst.NamedExpr | cst.AnnAssign):
            self._bind(node.target, node.value)
        elif isinstance(node, cst.For | cst.CompFor):
            self._bind(node.target, None)
        elif isinstance(node, cst.AsName):
            self._bind(node.name, None)
        elif isinstance(node, cst.FunctionDef | cst.ClassDef):
            self._local[node.name.value].append(node)
        elif isinstance(node, cst.ImportAlias) and node.asname is None:
            root: cst.BaseExpression = node.name
            while isinstance(root, cst.Attribute):
                root = root.value
            self._bind(root, None)
        elif isinstance(node, cst.MatchAs | cst.MatchStar) and node.name is not None:
            self._bind(node.name, None)
        elif isinstance(node, cst.MatchMapping) and node.rest is not None:
            self._bind(node.rest, None)

    def _bind(self, target: cst.CSTNode, value: cst.CSTNode | None) -> None:
        if isinstance(target, cst.Name):
            self._local[target.value].append(value)
        elif isinstance(target, cst.Tuple | cst.List):
            for element in target.elements:
                self._bind(element.value, None)

    def read(self, node: cst.CSTNode) -> None:
        """Record the changes and names of one node, without those of its children."""
        if isinstance(node, cst.Name):
            if id(node) in self._no_variables:
                return
            if node.value not in self._local:
                self.changes.names.add(node.value)
            elif node.value == self._own and id(node) not in self._receivers:
                self.changes.hands_over = True
        elif isinstance(node, cst.Attribute):
            if self._is_own(node.value):
                self.changes.own.add(node.attr.value)
            elif node.attr.value in _MUTATING_METHODS | MUTATING_OPERATORS:
                # It may be passed to a function that calls it: ``map(log.append, items)``.
                self._call(node)
        elif isinstance(
            node, cst.AssignTarget | cst.AnnAssign | cst.AugAssign | cst.Del | cst.For | cst.CompFor
        ):
            self._set(node.target)
            if isinstance(node, cst.AugAssign) and isinstance(node.target, cst.Name):
                # The object itself may be mutated.
                self._change(node.target)
        elif isinstance(node, cst.AsName):
            self._set(node.name)
        elif isinstance(node, cst.WithItem):
            if not isinstance(node.item, cst.Call):
                self._change(node.item)
        elif isinstance(node, cst.Call):
            self._call(node.func)

    def _is_own(self, node: cst.CSTNode) -> bool:
        """Return whether an expression is the first parameter, or ``super()``."""
        if isinstance(node, cst.Call):
            return isinstance(node.func, cst.Name) and node.func.value == "super"
        return isinstance(node, cst.Name) and node.value == self._own and self._local[self._own] == [None]

    def _set(self, target: cst.CSTNode) -> None:
        """Record that a target is bound or deleted."""
        if isinstance(target, cst.Attribute):
            if self._is_own(target.value):
                self.changes.attributes.add(target.attr.value)
            else:
                if self._change(target.value):
                    self.changes.assigned.add(target.attr.value)
        elif isinstance(target, cst.Subscript):
            self._change(target.value)
        elif isinstance(target, cst.Tuple | cst.List):
            for element in target.elements:
                self._set(element.value)

    def _change(self, node: cst.CSTNode) -> bool:
        """Record that an expression's object may be mutated; return whether it existed before the call."""
        direct = isinstance(node, cst.Name)
        while isinstance(node, cst.Attribute | cst.Subscript):
            if isinstance(node, cst.Attribute) and self._is_own(node.value):
                self.changes.attributes.add(node.attr.value)
                return True
            node = node.value
        if isinstance(node, cst.Name) and node.value not in self._local:
            self.changes.variables.add(node.value)
        elif direct and isinstance(node, cst.Name) and self._is_new(node.value):
            return False
        else:
            self.changes.anything = True
        return True

    def _is_new(self, name: str) -> bool:
        """Return whether every object bound to a variable was created here."""
        return all(self._is_made(value) for value in self._local[name])

    def _is_made(self, value: cst.CSTNode | None) -> bool:
        """Return whether an expression creates its value; a call of a class does (see `makers`)."""
        if not isinstance(value, cst.Call):
            return isinstance(value, _NEW)
        if isinstance(value.func, cst.Attribute):
            return value.func.attr.value == "__new__"
        if not isinstance(value.func, cst.Name) or value.func.value in self._local:
            return False
        if value.func.value not in _MAKERS:
            self.changes.makers.add(value.func.value)
        return True

    def _call(self, function: cst.BaseExpression) -> None:
        if isinstance(function, cst.Name):
            if function.value not in self._local:
                self.changes.called.add(function.value)
            elif not self._is_new(function.value):
                self.changes.anything = True
            return
        if not isinstance(function, cst.Attribute):
            self.changes.anything = True
            return
        name = function.attr.value
        if self._is_own(function.value):
            self.changes.own_called.add(name)
        elif (dotted := self._dotted(function)) is not None:
            self.changes.called.add(dotted)
        elif name not in READING_METHODS:
            self._change(function.value)

    def _dotted(self, node: cst.CSTNode) -> str | None:
        """Return the dotted name of an expression that begins with an outer variable."""
        names: list[str] = []
        while isinstance(node, cst.Attribute):
            names.append(node.attr.value)
            node = node.value
        if not isinstance(node, cst.Name) or node.value in self._local:
            return None
        return ".".join([node.value, *reversed(names)])

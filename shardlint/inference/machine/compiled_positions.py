"""Calls of `jax.jit` whose result a text calls at once, so that each run of it compiles anew."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum

import libcst as cst

from shardlint.inference.machine.reading_positions import stored, variables
from shardlint.inference.syntax.node_fields import walk

_SETTING = cst.For | cst.AssignTarget | cst.AugAssign | cst.AnnAssign | cst.NamedExpr


class Anew(Enum):
    """When what `jax.jit` is given is another function: never, in each run of the function around it, or in
    each pass of a loop there, too."""

    NEVER = 0
    EACH_RUN = 1
    EACH_PASS = 2


def made_anew(function: Sequence[cst.CSTNode], node: cst.CSTNode, written: bool) -> Anew:
    """Return when the function is another that ``node`` jits, by the text of the ``function`` around it, or
    of the module.

    ``node`` is a call, or a decorator. Its result is called there and not handed on, so that no later run has
    it; nor does it depend on what may differ in each run. ``written`` tells that the function is one of the
    program: what a call or an attribute returns may be the same one each time. Other ones are bound methods
    and results of JAX's transforms.
    """
    text = _Text([inner for outer in function for inner in walk(outer)])
    differing = text.computed_from(_parameters(function[0])) if function else frozenset[str]()
    for inner in text.functions:
        if any(one.decorator is node for one in inner.decorators):
            alone = text.only_calls(inner.name) and not _free_names(inner) & differing
            return Anew.EACH_RUN if alone else Anew.NEVER
    if not isinstance(node, cst.Call) or not node.args or node.args[0].star:
        return Anew.NEVER
    given = node.args[0].value
    derived = isinstance(given, cst.Call | cst.Attribute) and not written
    names = {given.value} if isinstance(given, cst.Name) else set[str]()
    local = [inner for inner in text.functions if inner.name.value in names]
    if not (derived or local or isinstance(given, cst.Lambda)) or not text.only_calls_result(node):
        return Anew.NEVER
    read = _free_names(node).union(*map(_free_names, local))
    if read & differing:
        return Anew.NEVER
    loops = [] if local else text.loops_around(node)
    if any(read & set_in(loop) for loop in loops):
        return Anew.NEVER
    return Anew.EACH_PASS if loops else Anew.EACH_RUN


def _parameters(node: cst.CSTNode) -> frozenset[str]:
    """Return the parameters of a function, without the object of a method."""
    if not isinstance(node, cst.FunctionDef | cst.Lambda):
        return frozenset()
    return frozenset(one.name.value for one in walk(node.params) if isinstance(one, cst.Param)) - {
        "self",
        "cls",
    }


def _assigned(node: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, cst.CSTNode]]:
    """Yield the targets of a statement, each with what it is set from."""
    if isinstance(node, cst.Assign):
        yield from ((one.target, node.value) for one in node.targets)
    elif isinstance(node, cst.AnnAssign | cst.AugAssign | cst.NamedExpr) and node.value is not None:
        yield node.target, node.value
    elif isinstance(node, cst.For):
        yield node.target, node.iter
    elif isinstance(node, cst.WithItem) and node.asname is not None:
        yield node.asname.name, node.item


def _free_names(node: cst.CSTNode) -> frozenset[str]:
    """Return the names that a node reads, except for the parameters of functions in it."""
    nodes = list(walk(node))
    own = frozenset[str]().union(*map(_parameters, nodes))
    return frozenset(name.value for name in variables(nodes)) - own


def set_in(loop: cst.CSTNode) -> frozenset[str]:
    """Return the names that a loop, or its body, may set."""
    targets = [one.target for one in walk(loop) if isinstance(one, _SETTING)]
    return frozenset(name for target in targets for name in _bound(target))


def _bound(target: cst.CSTNode) -> Iterator[str]:
    """Yield the names that a target binds; what it changes an item or attribute of is bound elsewhere."""
    return (one.value for one in stored(target) if isinstance(one, cst.Name))


class _Text:
    """The nodes of the text: functions in it, and what it calls."""

    def __init__(self, nodes: Sequence[cst.CSTNode]) -> None:
        self._nodes = nodes
        self.functions = [one for one in nodes if isinstance(one, cst.FunctionDef)]
        self._called = {id(one.func) for one in nodes if isinstance(one, cst.Call)}
        self._shared = any(isinstance(one, cst.Global | cst.Nonlocal) for one in nodes)

    def computed_from(self, names: frozenset[str]) -> frozenset[str]:
        """Return these names, and those of variables that are computed from them."""
        pairs = [pair for one in self._nodes for pair in _assigned(one)]
        found, before = set(names), -1
        while len(found) > before:
            before = len(found)
            for target, value in pairs:
                if not found.isdisjoint(_free_names(value)):
                    found.update(_bound(target))
        return frozenset(found)

    def loops_around(self, node: cst.CSTNode) -> list[cst.For | cst.While]:
        """Return the loops that evaluate a node in each pass."""
        loops = [one for one in self._nodes if isinstance(one, cst.For | cst.While)]
        return [loop for loop in loops if any(inner is node for inner in walk(loop.body))]

    def only_calls_result(self, node: cst.Call) -> bool:
        """Return whether what a call returns is called at once, or held by a variable that is only called."""
        if id(node) in self._called:
            return True
        holders = [
            one.targets[0].target
            for one in self._nodes
            if isinstance(one, cst.Assign) and one.value is node and len(one.targets) == 1
        ]
        return any(isinstance(holder, cst.Name) and self.only_calls(holder) for holder in holders)

    def only_calls(self, holder: cst.Name) -> bool:
        """Return whether a variable is local, and all its mentions but this one call it."""
        mentions = [
            id(name) for name in variables(self._nodes) if name.value == holder.value and name is not holder
        ]
        return not self._shared and bool(mentions) and self._called.issuperset(mentions)

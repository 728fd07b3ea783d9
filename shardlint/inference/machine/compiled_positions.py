"""Calls of `jax.jit` whose result a text calls at once, so that each run of it compiles anew."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

import libcst as cst

from shardlint.inference.syntax.node_fields import walk


class Anew(Enum):
    """When what `jax.jit` is given is another function: never, in each run of the function around it, or in
    each pass of a loop there, too."""

    NEVER = 0
    EACH_RUN = 1
    EACH_PASS = 2


def made_anew(code: Sequence[cst.CSTNode], node: cst.CSTNode, written: bool) -> Anew:
    """Return when the function is another that ``node`` jits, by the text around it.

    ``node`` is a call, or a decorator. Its result is called there and not handed on, so that no later run has
    it. ``written`` tells that the function is one of the program: what a call or an attribute returns may be
    the same one each time. Other ones are bound methods and results of JAX's transforms.
    """
    text = _Text([inner for outer in code for inner in walk(outer)])
    for function in text.functions:
        if any(one.decorator is node for one in function.decorators):
            return Anew.EACH_RUN if text.only_calls(function.name) else Anew.NEVER
    if not isinstance(node, cst.Call) or not node.args or node.args[0].star:
        return Anew.NEVER
    given = node.args[0].value
    derived = isinstance(given, cst.Call | cst.Attribute) and not written
    local = isinstance(given, cst.Name) and any(one.name.value == given.value for one in text.functions)
    if not (derived or local or isinstance(given, cst.Lambda)) or not text.only_calls_result(node):
        return Anew.NEVER
    return Anew.EACH_PASS if not local and text.is_in_loop(node) else Anew.EACH_RUN


class _Text:
    """The nodes of the text: functions in it, and what it calls."""

    def __init__(self, nodes: Sequence[cst.CSTNode]) -> None:
        self._nodes = nodes
        self.functions = [one for one in nodes if isinstance(one, cst.FunctionDef)]
        self._called = {id(one.func) for one in nodes if isinstance(one, cst.Call)}
        self._shared = any(isinstance(one, cst.Global | cst.Nonlocal) for one in nodes)

    def is_in_loop(self, node: cst.CSTNode) -> bool:
        """Return whether a loop evaluates a node in each pass."""
        loops = [one.body for one in self._nodes if isinstance(one, cst.For | cst.While)]
        return any(inner is node for body in loops for inner in walk(body))

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
        others = {id(one.attr) for one in self._nodes if isinstance(one, cst.Attribute)}
        others |= {id(one.keyword) for one in self._nodes if isinstance(one, cst.Arg)} | {id(holder)}
        names = [one for one in self._nodes if isinstance(one, cst.Name) and one.value == holder.value]
        mentions = [id(one) for one in names if id(one) not in others]
        return not self._shared and bool(mentions) and self._called.issuperset(mentions)

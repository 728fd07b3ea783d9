"""The expressions of a function whose arrays the function only reads, by its text.

The numbers in a numpy array are known only there: arrays have no identity here, so no other name may lead to
the same array where it is changed in place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import libcst as cst

from shardlint.inference.syntax.body_changes import READING_FUNCTIONS
from shardlint.inference.syntax.node_fields import walk

#: Functions of numpy that mutate no argument and return no view of one.
_COPYING = frozenset(
    "abs all any append argmax argmin argsort array ceil concatenate count_nonzero cumprod cumsum diff "
    "divide dot flatnonzero floor floor_divide full gcd isin lcm log2 max maximum mean min minimum mod "
    "multiply ones power prod repeat searchsorted setdiff1d sort sqrt subtract sum take tile unique zeros"
    .split()
)  # fmt: skip
#: Those that may return a view.
_VIEWING = frozenset("asarray atleast_1d flip ravel reshape roll squeeze split".split())
_COPYING_METHODS = frozenset(
    "all any argmax argmin argsort copy cumprod cumsum item max mean min prod sum take tolist".split()
)
_COPYING_ATTRIBUTES = frozenset("dtype ndim shape size".split())
_LIBRARIES = frozenset({"jax", "jnp", "np", "numpy"})
_STORING = (
    cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.Del, cst.For, cst.CompFor, cst.NamedExpr,
)  # fmt: skip

Function = cst.FunctionDef | cst.Lambda
#: The positions in the functions read so far, by the identity of their nodes.
_READ: dict[int, tuple[Function, frozenset[cst.CSTNode]]] = {}
_MAX_READ = 200


def reading_positions(function: Function) -> frozenset[cst.CSTNode]:
    """Return the expressions in a function whose value, if it is an array of one dimension, is only read."""
    node, found = _READ.get(id(function), (None, frozenset()))
    if node is not function:
        if len(_READ) >= _MAX_READ:
            _READ.clear()
        found = frozenset(_read(function))
        _READ[id(function)] = function, found
    return found


def _read(function: Function) -> Iterator[cst.CSTNode]:
    nodes = list(walk(function))
    stored = {id(target) for node in nodes for target in _targets(node)}
    #: Expressions that are read if the key, which may be a view of them, is.
    viewed: dict[int, list[cst.CSTNode]] = defaultdict(list)
    read: dict[int, cst.CSTNode] = {}
    for node in nodes:
        for part, view in _parts_read(node, id(node) in stored):
            if view:
                viewed[id(node)].append(part)
            else:
                read[id(part)] = part
    named = _Names(nodes)
    waiting = list(read.values())
    while waiting:
        node = waiting.pop()
        read[id(node)] = node
        waiting += viewed.pop(id(node), ())
        if type(node) is cst.Name:
            waiting += named.values_if_all_read(node.value, read)
    yield from read.values()


def _targets(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield all nodes in the targets of a statement."""
    if isinstance(node, _STORING):
        yield from stored(node.target)
    elif isinstance(node, cst.AsName):
        yield from stored(node.name)


def stored(target: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield a target, and the targets in it if it is a tuple or list."""
    yield target
    if isinstance(target, cst.Tuple | cst.List):
        for element in target.elements:
            yield from stored(element.value)
    elif isinstance(target, cst.StarredElement):
        yield from stored(target.value)


def variables(nodes: Sequence[cst.CSTNode]) -> list[cst.Name]:
    """Return the names among nodes that are variables: neither attributes nor keywords."""
    others = {id(node.attr) for node in nodes if isinstance(node, cst.Attribute)}
    others |= {id(node.keyword) for node in nodes if isinstance(node, cst.Arg)}
    return [node for node in nodes if isinstance(node, cst.Name) and id(node) not in others]


def _parts_read(node: cst.CSTNode, stored: bool) -> Iterator[tuple[cst.CSTNode, bool]]:
    """Yield the children of a node that it only reads, and whether its value may be a view of them."""
    if isinstance(node, cst.Subscript):
        slices = [one.slice for one in node.slice]
        if not stored:
            yield node.value, any(isinstance(one, cst.Slice) for one in slices)
        yield from ((one.value, False) for one in slices if isinstance(one, cst.Index))
    elif isinstance(node, cst.For | cst.CompFor):
        yield node.iter, False
    elif isinstance(node, cst.BinaryOperation):
        yield from ((node.left, False), (node.right, False))
    elif isinstance(node, cst.UnaryOperation):
        yield node.expression, False
    elif isinstance(node, cst.Comparison):
        yield node.left, False
        yield from ((one.comparator, False) for one in node.comparisons)
    elif isinstance(node, cst.Attribute) and not stored and node.attr.value in _COPYING_ATTRIBUTES:
        yield node.value, False
    elif isinstance(node, cst.Call):
        yield from _arguments_read(node)


def _arguments_read(node: cst.Call) -> Iterator[tuple[cst.CSTNode, bool]]:
    function = node.func
    if isinstance(function, cst.Name) and function.value in READING_FUNCTIONS - {"memoryview"}:
        yield from ((arg.value, False) for arg in node.args)
    elif isinstance(function, cst.Attribute):
        name, owner = function.attr.value, function.value
        if isinstance(owner, cst.Name) and owner.value in _LIBRARIES:
            if name in _COPYING or (owner.value == "jnp" and name != "asarray"):
                yield from ((arg.value, False) for arg in node.args)
            elif name in _VIEWING:
                yield from ((arg.value, True) for arg in node.args)
        elif name in _COPYING_METHODS:
            yield owner, False


class _Names:
    """The local variables of a function that plain assignments bind, and nothing else."""

    def __init__(self, nodes: list[cst.CSTNode]) -> None:
        #: The expressions that each variable is bound to, and the names by which it is mentioned.
        self._values: dict[str, list[cst.CSTNode]] = defaultdict(list)
        self._mentions: dict[str, list[cst.CSTNode]] = defaultdict(list)
        bound: set[int] = set()
        for node in nodes:
            if isinstance(node, cst.Assign) and len(node.targets) == 1:
                self._bind(node.targets[0].target, node.value, bound)
            elif isinstance(node, cst.AnnAssign) and node.value is not None:
                self._bind(node.target, node.value, bound)
        for name in variables(nodes):
            if id(name) not in bound:
                self._mentions[name.value].append(name)

    def _bind(self, target: cst.CSTNode, value: cst.CSTNode, bound: set[int]) -> None:
        if isinstance(target, cst.Name):
            self._values[target.value].append(value)
            bound.add(id(target))

    def values_if_all_read(self, name: str, read: dict[int, cst.CSTNode]) -> list[cst.CSTNode]:
        """Return, once, the values of a variable if each mention of it is among the expressions read."""
        if all(id(mention) in read for mention in self._mentions[name]):
            return self._values.pop(name, [])
        return []

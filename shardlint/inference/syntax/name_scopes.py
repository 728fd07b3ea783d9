"""Names of libraries in the syntax trees of a file: what its imports bind, resolved as in Python.

A variable counts as a library's name where nothing but imports of that one name binds it. A walk over the
trees yields the references that no test of a version and no ``try`` guards.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence, Set

from shardlint.source.lexing import words_in

#: What a name that is not there raises, and the classes above.
CATCHING = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (*_FUNCTIONS, ast.ClassDef, *_COMPREHENSIONS)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
_ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)
#: Nodes that may have a name in them, and none in theirs.
_NAMED = (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
#: Nodes that are looked at for what tells which JAX there is, or that bind names elsewhere.
_TELLING = (ast.Try, *_ASSIGNMENTS, ast.If, ast.FunctionDef, ast.Global, ast.Nonlocal)
_REFERRING = (*_IMPORTS, ast.Attribute, ast.Call)
#: Words of code that may tell which JAX there is, or bind names elsewhere.
_ASKING = frozenset({"TYPE_CHECKING", "except", "global", "nonlocal"})
#: The first argument of a call that asks for an attribute.
_ATTRIBUTE_OF = re.compile(r"\b[hg](?:as|et)attr\b([^,]*)")
#: Managers of a block in which an exception is expected, or does no harm.
_EXPECTING = ("suppress", "raises", "assertRaises", "assertRaisesRegex")


class Scope:
    """The names that a scope binds: the full names that imports give them, None for anything else."""

    def __init__(self, parent: Scope | None = None, is_class: bool = False) -> None:
        self.parent, self.is_class = parent, is_class
        self.targets: dict[str, set[str | None]] = {}

    def resolve(self, name: str) -> str | None:
        """Return the full name of the library's object that a variable holds here; None if not certain."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.targets and (scope is self or not scope.is_class):
                only = scope.targets[name]
                return next(iter(only)) if len(only) == 1 else None
            scope = scope.parent
        return None

    def bind(self, name: str, target: str | None = None) -> None:
        """Add a binding of a name."""
        self.targets.setdefault(name, set()).add(target)


class Names:
    """The scopes of a file, and the names in it that guard others; the cells of a notebook are one module."""

    def __init__(self, trees: Sequence[ast.Module]) -> None:
        self.module = Scope()
        self._scopes: dict[ast.AST, Scope] = {}
        nodes: list[ast.AST] = []
        for tree in trees:
            self._bind(tree, self.module, nodes)
        for node in nodes:
            if isinstance(node, (ast.Global, ast.Nonlocal)):
                for name in node.names:
                    self.module.bind(name)
        #: Variables and functions that tell which JAX there is.
        self.telling: set[str] = set()
        #: The lines of the functions that a walk has come to.
        self.functions: set[int] = set()
        self._learn(nodes)

    @staticmethod
    def inside(tree: ast.Module, module: Scope) -> Names:
        """Return the names of a function that asks for nothing about JAX, defined in a module or a class."""
        names = Names(())
        names.module = module
        names._bind(tree, Scope(module, is_class=True), [])
        return names

    def references(self, tree: ast.Module) -> Iterator[tuple[ast.AST, Scope]]:
        """Yield the imports, attributes and calls that nothing guards, each with its scope."""
        yield from self._block(tree.body, self.module, caught=False)

    def full_name(self, node: ast.AST, scope: Scope) -> str:
        """Return the full name of the library's object that an expression names, or ""."""
        if isinstance(node, ast.Name):
            return scope.resolve(node.id) or ""
        if isinstance(node, ast.Attribute) and (holder := self.full_name(node.value, scope)):
            return f"{holder}.{node.attr}"
        return ""

    # -- bindings -----------------------------------------------------------------------------

    def _bind(self, node: ast.AST, scope: Scope, telling: list[ast.AST]) -> None:
        """Collect the bindings below a node, which belongs to a scope, and the nodes that may tell."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Name):
                if not isinstance(child.ctx, ast.Load):
                    scope.bind(child.id)
                continue
            if not child._fields:
                continue
            inner = scope
            if isinstance(child, _TELLING):
                telling.append(child)
            if isinstance(child, _IMPORTS):
                for name, target in imported(child):
                    scope.bind(name, target)
            elif isinstance(child, ast.arg):
                scope.bind(child.arg)
            elif isinstance(child, _NAMED) and child.name:
                scope.bind(child.name)
            elif isinstance(child, ast.MatchMapping) and child.rest:
                scope.bind(child.rest)
            if isinstance(child, _DEFINITIONS):
                scope.bind(child.name)
            if isinstance(child, _SCOPES):
                inner = self._scopes[child] = Scope(scope, isinstance(child, ast.ClassDef))
            self._bind(child, inner, telling)

    # -- guards -------------------------------------------------------------------------------

    def _learn(self, nodes: Sequence[ast.AST]) -> None:
        """Find the variables and functions whose values depend on which JAX there is."""
        for node in nodes:
            if isinstance(node, ast.Try) and _catches(node):
                inside = (one for block in (node.body, *(h.body for h in node.handlers)) for one in block)
                self.telling |= {name for one in inside for name in _assigned(one)}
        waiting = [(node, *self._asked(value)) for node in nodes for value in _deciding(node)]
        while True:
            before = len(waiting)
            left = []
            for one in waiting:
                node, asks, words = one
                if asks or not words.isdisjoint(self.telling):
                    self.telling.update(_decided(node))
                else:
                    left.append(one)
            waiting = left
            if len(waiting) == before:
                return

    def _tells(self, test: ast.AST) -> bool:
        """Return whether a test asks which JAX there is."""
        asks, words = self._asked(test)
        return asks or not words.isdisjoint(self.telling)

    def _asked(self, test: ast.AST) -> tuple[bool, set[str]]:
        """Return whether a test itself asks which JAX there is, and its names and attributes.

        These may be incomplete if it asks.
        """
        words: set[str] = set()
        for node in ast.walk(test):
            if isinstance(node, (ast.Name, ast.Attribute)):
                word = node.id if isinstance(node, ast.Name) else node.attr
                if "version" in word.lower() or word == "TYPE_CHECKING":
                    return True, words
                words.add(word)
            if isinstance(node, ast.Call) and dotted(node.func) in ("hasattr", "getattr") and node.args:
                if self.full_name(node.args[0], self.module).partition(".")[0] in ("jax", "jaxlib"):
                    return True, words
                if "jax" in dotted(node.args[0]):
                    return True, words
        return False, words

    # -- the walk -----------------------------------------------------------------------------

    def _block(self, body: Sequence[ast.stmt], scope: Scope, caught: bool) -> Iterator[tuple[ast.AST, Scope]]:
        """Walk statements: behind a test of the version that leaves the block, nothing is yielded."""
        for statement in body:
            if isinstance(statement, ast.If) and self._tells(statement.test):
                if leaves(statement.body) or leaves(statement.orelse):
                    return
                continue
            if isinstance(statement, ast.Assert) and self._tells(statement.test):
                return
            yield from self._walk(statement, scope, caught)

    def _walk(self, node: ast.AST, scope: Scope, caught: bool) -> Iterator[tuple[ast.AST, Scope]]:
        if isinstance(node, (ast.Name, ast.Constant)):
            return
        if isinstance(node, (ast.IfExp, ast.If, ast.While)) and self._tells(node.test):
            return
        if isinstance(node, ast.BoolOp) and any(map(self._tells, node.values)):
            return
        if isinstance(node, ast.Try) and _catches(node):
            # What is defined in it runs elsewhere; what a handler does is for another JAX.
            yield from self._block([*node.body, *node.orelse], scope, True)
            yield from self._block(node.finalbody, scope, caught)
            return
        if isinstance(node, (ast.With, ast.AsyncWith)) and any(map(_expects, node.items)):
            yield from self._block(node.body, scope, True)
            return
        inner = self._scopes.get(node, scope)
        if isinstance(node, _SCOPES) and any(map(self._tells, getattr(node, "decorator_list", ()))):
            return
        if isinstance(node, _FUNCTIONS):
            self.functions.add(node.lineno)
            caught = False
        if isinstance(node, _REFERRING) and not caught:
            yield node, scope
        for _, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                yield from self._block(value, inner, caught)
            else:
                for child in value if isinstance(value, list) else (value,):
                    if isinstance(child, ast.AST) and child._fields:
                        yield from self._walk(child, inner, caught)


def is_apart(text: str, telling: Set[str], libraries: Set[str]) -> bool:
    """Return whether the code of a function neither changes the names around it nor has guards in it.

    ``telling`` are the variables that tell which JAX there is, ``libraries`` those of the module that may be
    JAX, or a part of it.
    """
    words = set(words_in(text))
    if not words.isdisjoint(_ASKING) or not words.isdisjoint(telling):
        return False
    if any("version" in word.lower() for word in words):
        return False
    asked = _ATTRIBUTE_OF.findall(text) if not words.isdisjoint(("hasattr", "getattr")) else ()
    return not any("jax" in one or not libraries.isdisjoint(words_in(one)) for one in asked)


def imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str | None]]:
    """Yield the names that an import binds, with the full names of their objects; None for relative ones."""
    for alias in node.names:
        if isinstance(node, ast.Import):
            first = alias.name.partition(".")[0]
            yield (alias.asname, alias.name) if alias.asname else (first, first)
        elif alias.name != "*":
            target = f"{node.module}.{alias.name}" if node.module and not node.level else None
            yield alias.asname or alias.name, target


def dotted(node: ast.AST) -> str:
    """Return a name with its attributes as text, or ""."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (holder := dotted(node.value)):
        return f"{holder}.{node.attr}"
    return ""


def leaves(body: Sequence[ast.stmt]) -> bool:
    """Return whether statements end by leaving their block."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        return dotted(last.value.func).rpartition(".")[2] in ("exit", "skip", "_exit", "fail", "skipTest")
    return isinstance(last, ast.Return | ast.Raise | ast.Continue | ast.Break)


def _deciding(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions that decide what the names of `_decided` are."""
    if isinstance(node, _ASSIGNMENTS):
        if node.value is not None:
            yield node.value
    elif isinstance(node, ast.If):
        yield node.test
    elif isinstance(node, ast.FunctionDef):
        for one in ast.walk(node):
            if isinstance(one, ast.Return) and one.value is not None:
                yield one.value


def _decided(node: ast.AST) -> Iterator[str]:
    """Yield the names that an assignment, a branch or a function's results decide over."""
    if isinstance(node, ast.FunctionDef):
        yield node.name
    elif isinstance(node, ast.If):
        for one in (*node.body, *node.orelse):
            yield from _assigned(one)
    else:
        yield from _assigned(node)


def _assigned(node: ast.AST) -> Iterator[str]:
    """Yield the variables and attributes that a statement assigns, by their last name."""
    for one in ast.walk(node):
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
            yield one.id
        elif isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store):
            yield one.attr


def _catches(node: ast.Try) -> bool:
    """Return whether a handler catches what a missing name raises."""
    return any(handler.type is None or _names_class(handler.type) for handler in node.handlers)


def _names_class(node: ast.expr) -> bool:
    kinds: Iterable[ast.expr] = node.elts if isinstance(node, ast.Tuple) else (node,)
    return any(dotted(kind).rpartition(".")[2] in CATCHING for kind in kinds)


def _expects(item: ast.withitem) -> bool:
    """Return whether a manager catches, or expects, what a missing name raises."""
    call = item.context_expr
    if not isinstance(call, ast.Call) or dotted(call.func).rpartition(".")[2] not in _EXPECTING:
        return False
    return any(map(_names_class, call.args))

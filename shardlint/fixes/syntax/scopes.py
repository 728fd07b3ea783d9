"""Resolution of names in a program, as far as it is certain.

Names are resolved as in Python. Where the text alone does not decide (`exec`, `global`, a star import that
may come later), a name is left unresolved.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property, lru_cache

import libcst as cst

from shardlint.fixes.syntax.program_tree import CannotFix, Program, Tree
from shardlint.inference.syntax.node_fields import parts, walk
from shardlint.support.lazy_dataclass import dataclass

_COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)
_SCOPES = (cst.FunctionDef, cst.ClassDef, cst.Lambda, *_COMPREHENSIONS)
#: What can bind names without naming them.
_REFLECTING = frozenset({"exec", "eval", "globals", "locals", "modules"})
_MAGIC = re.compile(
    r"^[ \t]*%%?(?:run|pylab|store|reset|reset_selective|xdel|load|capture)(?!\w)", re.MULTILINE
)

_ASSIGNING = (
    cst.AssignTarget | cst.AnnAssign | cst.AugAssign | cst.NamedExpr | cst.For | cst.CompFor | cst.Del
)
Scope = cst.Module | cst.FunctionDef | cst.ClassDef | cst.Lambda | cst.BaseExpression


@dataclass(frozen=True, slots=True)
class Binding:
    """A name that a node binds. ``target`` is the full name of the object that an import binds it to."""

    name: str
    node: cst.CSTNode
    target: str | None = None


class Scopes:
    """The scopes of a program and their names; the modules of all cells are one scope. Raises CannotFix."""

    def __init__(self, program: Program) -> None:
        self._trees = program.trees()
        self._cells = [cell.written for cell in program.source.cells if cell.index is not None]
        self._bindings: dict[int, list[Binding]] = {}

    def scope_of(self, tree: Tree, node: cst.CSTNode) -> Scope:
        """Return the innermost scope around a node."""
        return next((one for one in tree.parents(node) if isinstance(one, _SCOPES)), tree.module)

    def resolved(self, tree: Tree, node: cst.CSTNode, name: str) -> Scope:
        """Return the scope in which a name would be found if it were read at a node; a module for a global.

        Raises CannotFix if that is not certain.
        """
        if name in self._declared:
            raise CannotFix
        inner: cst.CSTNode = node
        for scope in tree.parents(node):
            if isinstance(scope, _SCOPES) and any(one.name == name for one in self.bindings(scope)):
                if isinstance(scope, cst.ClassDef) or inner is not getattr(scope, "body", inner):
                    raise CannotFix
                return scope
            inner = scope
        return tree.module

    def is_one(self, scope: Scope, other: Scope) -> bool:
        """Return whether two scopes are the same; the modules of all cells are one."""
        return scope is other or (isinstance(scope, cst.Module) and isinstance(other, cst.Module))

    def bindings(self, scope: Scope) -> list[Binding]:
        """Return the bindings in a scope; for a module, those in all cells."""
        if id(scope) not in self._bindings:
            if isinstance(scope, cst.Module):
                roots: list[cst.CSTNode] = [line for tree in self._trees for line in tree.module.body]
            elif isinstance(scope, cst.FunctionDef | cst.Lambda):
                roots = [scope.params, scope.body]
            else:
                roots = [*parts(scope)]
            self._bindings[id(scope)] = [binding for root in roots for binding in _bound(root)]
        return self._bindings[id(scope)]

    @cached_property
    def _nodes(self) -> list[cst.CSTNode]:
        return [node for tree in self._trees for node in tree.nodes]

    @cached_property
    def _declared(self) -> frozenset[str]:
        """Return the names in `global` and `nonlocal` statements."""
        items = (node for node in self._nodes if isinstance(node, cst.NameItem))
        return frozenset(item.name.value for item in items)

    @cached_property
    def stars(self) -> list[tuple[Tree, cst.ImportFrom]]:
        """Return the star imports."""
        found = ((tree, node) for tree in self._trees for node in tree.nodes)
        return [
            (tree, node)
            for tree, node in found
            if isinstance(node, cst.ImportFrom) and isinstance(node.names, cst.ImportStar)
        ]

    @cached_property
    def read(self) -> list[tuple[Tree, cst.Name]]:
        """Return the variables of the program, without those in imports."""
        return [(tree, name) for tree in self._trees for name in _variables(tree.module)]

    @cached_property
    def variables(self) -> frozenset[str]:
        """Return the names of all variables, in any scope."""
        return frozenset([name.value for _, name in self.read] + [one.name for one in self._everywhere])

    @cached_property
    def _everywhere(self) -> list[Binding]:
        """Return the bindings in all scopes."""
        return [binding for node in self._nodes for binding in _binds(node)]

    def is_only_imported(self, name: str) -> bool:
        """Return whether a name is bound by nothing but imports that name it, in any scope."""
        if self.is_open or self.stars:
            return False
        binding = (one.node for one in self._everywhere if one.name == name)
        return all(isinstance(node, cst.Import | cst.ImportFrom) for node in binding)

    @cached_property
    def is_open(self) -> bool:
        """Return whether the program may bind names that do not occur in its text, other than by star
        imports."""
        if any(map(_MAGIC.search, self._cells)):
            return True
        attributes = {node.attr.value for node in self._nodes if isinstance(node, cst.Attribute)}
        if not _REFLECTING.isdisjoint(self.variables) or "modules" in attributes:
            return True
        return "vars" in self.variables and any(map(_is_own_dict, self._nodes))


@lru_cache(maxsize=1)
def scopes_of(program: Program) -> Scopes:
    """Return the scopes of a program; those of the last program are cached. Raises CannotFix."""
    return Scopes(program)


def _is_own_dict(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Call) and dotted(node.func) == "vars" and not node.args


def _variables(root: cst.CSTNode) -> Iterator[cst.Name]:
    """Yield the variables in a tree: no attributes, no keywords, and nothing in an import."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, cst.Name):
            yield node
        elif isinstance(node, cst.Attribute | cst.Arg):
            waiting.append(node.value)
        elif not isinstance(node, cst.Import | cst.ImportFrom):
            waiting.extend(parts(node))


def _type_parameters(node: cst.CSTNode) -> Iterator[str]:
    """Yield the type parameters of a definition."""
    if (brackets := getattr(node, "type_parameters", None)) is not None:
        yield from (one.param.name.value for one in brackets.params)


def imports(statement: cst.Import | cst.ImportFrom) -> Iterator[Binding]:
    """Yield the bindings of an import; those of a relative one have no target."""
    if isinstance(statement.names, cst.ImportStar):
        return
    module = ""
    if isinstance(statement, cst.ImportFrom) and statement.module and not statement.relative:
        module = dotted(statement.module)
    for alias in statement.names:
        bound = alias.evaluated_alias
        if isinstance(statement, cst.ImportFrom):
            target = f"{module}.{dotted(alias.name)}" if module else None
        else:
            target = dotted(alias.name) if bound else dotted(alias.name).partition(".")[0]
        yield Binding(bound or dotted(alias.name).partition(".")[0], statement, target)


def dotted(node: cst.BaseExpression) -> str:
    """Return a name with its attributes as one text; empty for any other expression."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute) and (value := dotted(node.value)):
        return f"{value}.{node.attr.value}"
    return ""


def _bound(root: cst.CSTNode) -> Iterator[Binding]:
    """Yield the bindings in a part of a scope, without those in the scopes inside it.

    Names of a comprehension count as names of the scope around it too, since `:=` binds there.
    """
    waiting: list[cst.CSTNode] = [root]
    while waiting:
        node = waiting.pop()
        yield from _binds(node)
        if isinstance(node, cst.FunctionDef):
            waiting += [*node.decorators, *_defaults(node.params)]
        elif isinstance(node, cst.Lambda):
            waiting += _defaults(node.params)
        elif isinstance(node, cst.ClassDef):
            waiting += [*node.decorators, *node.bases, *node.keywords]
        elif not isinstance(node, cst.Import | cst.ImportFrom):
            waiting.extend(parts(node))


def _defaults(params: cst.Parameters) -> list[cst.CSTNode]:
    """Return the parts of the parameters that are evaluated outside the function."""
    found = [node for node in walk(params) if isinstance(node, cst.Param)]
    return [part for one in found for part in (one.default, one.annotation) if part is not None]


def _binds(node: cst.CSTNode) -> Iterator[Binding]:
    """Yield the bindings that a node makes by itself."""
    if isinstance(node, cst.Import | cst.ImportFrom):
        yield from imports(node)
    elif isinstance(node, cst.FunctionDef | cst.ClassDef | cst.Param | cst.TypeAlias):
        yield Binding(node.name.value, node)
        # Those are seen in what is defined, and counted as names of the scope around it.
        yield from (Binding(name, node) for name in _type_parameters(node))
    elif isinstance(node, _ASSIGNING):
        yield from _targets(node.target, node)
    elif isinstance(node, cst.WithItem):
        yield from _targets(node.asname and node.asname.name, node)
    elif isinstance(node, cst.ExceptHandler | cst.ExceptStarHandler):
        yield from _targets(node.name and node.name.name, node)
    elif isinstance(node, cst.MatchAs | cst.MatchStar):
        yield from _targets(node.name, node)
    elif isinstance(node, cst.MatchMapping):
        yield from _targets(node.rest, node)


def _targets(target: cst.CSTNode | None, node: cst.CSTNode) -> Iterator[Binding]:
    if isinstance(target, cst.Name):
        yield Binding(target.value, node)
    elif isinstance(target, cst.Tuple | cst.List):
        for element in target.elements:
            yield from _targets(element.value, node)

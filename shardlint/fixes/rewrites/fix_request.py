"""`FixRequest`: a finding, and the program in which it is to be fixed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

import libcst as cst

from shardlint.fixes.syntax.imports import Names
from shardlint.fixes.syntax.program_tree import CannotFix, Change, Program, Tree
from shardlint.laws.versions import Target
from shardlint.model.findings import Applicability, Edit, Finding, Fix
from shardlint.model.uses import Use
from shardlint.support.lazy_dataclass import dataclass

SAFE, UNSAFE = Applicability.SAFE, Applicability.UNSAFE


@dataclass(frozen=True, slots=True)
class FixRequest:
    """A finding to be fixed, with its program and its use. The fixed program is to run on the releases
    ``target``."""

    program: Program
    finding: Finding
    use: Use
    target: Target

    @property
    def tree(self) -> Tree:
        """Return the tree of the finding's cell, parsed when first asked for. Raises CannotFix."""
        return self.program.tree(self.finding.span.cell)

    def node(self) -> cst.BaseExpression:
        """Return the expression at the finding. Raises CannotFix."""
        return self.tree.expression(self.finding.span)

    def names(self, node: cst.CSTNode) -> Names:
        """Return the names in force at a node. Raises CannotFix."""
        return Names(self.program, self.tree, node)

    def around(self, node: cst.CSTNode) -> cst.CSTNode:
        """Return the innermost node around an expression: a call, a display, another expression or a
        statement."""
        parents = self.tree.parents(node)
        return next(one for one in parents if not isinstance(one, cst.Arg | cst.BaseElement))

    def is_argument(self, node: cst.CSTNode) -> bool:
        """Return whether an expression is an argument of a call, so that nothing else can read it."""
        return isinstance(next(self.tree.parents(node)), cst.Arg)

    def fix(
        self,
        message: str,
        applicability: Applicability,
        changes: Mapping[cst.CSTNode, Change],
        imports: tuple[Edit, ...] = (),
    ) -> Fix:
        """Return the fix that makes these changes, in any cells. Raises CannotFix if they change nothing."""
        edits = [*imports]
        trees = [self.tree] if all(node in self.tree for node in changes) else self.program.trees()
        for tree in trees:
            if ours := {node: change for node, change in changes.items() if node in tree}:
                edits += tree.edits(ours)
        if len(edits) == len(imports):
            raise CannotFix
        return Fix(message, applicability, tuple(sorted(edits, key=lambda edit: edit.span.order())))


#: Makes the fix of a finding. Raises CannotFix.
Rewrite = Callable[[FixRequest], Fix]


def literal(node: cst.CSTNode | None) -> object:
    """Return the value of a literal; ``...`` for any other node."""
    if isinstance(node, cst.Name):
        return {"None": None, "True": True, "False": False}.get(node.value, ...)
    if isinstance(node, cst.SimpleString | cst.ConcatenatedString | cst.BaseNumber):
        try:
            return ast.literal_eval(cst.Module([]).code_for_node(node.with_changes(lpar=(), rpar=())))
        except (SyntaxError, ValueError):
            return ...  # an f-string, or a number of too many digits
    return ...


def in_place_of(text: str) -> Change:
    """Return the change that writes an expression for another one, inside the parentheses around that, except
    a tuple's own."""
    replacement = cst.parse_expression(text)

    def change(old: cst.BaseExpression) -> cst.BaseExpression:
        own = int(isinstance(old, cst.Tuple))
        opened, closed = old.lpar[: len(old.lpar) - own], old.rpar[own:]
        return replacement.with_changes(lpar=[*opened, *replacement.lpar], rpar=[*replacement.rpar, *closed])

    return change

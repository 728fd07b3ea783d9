"""Names of `jax.sharding` in a program: what they are called where a fix needs them, or how to import them.

An import counts where it surely ran before: it stands in a block that the place is in too, before what the
place is in. A new one is written behind an import of JAX that counts, so that it makes nothing run sooner,
and only under a name that the program does not use.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

import libcst as cst

from shardlint.fixes.syntax.program_tree import CannotFix, Program, Tree
from shardlint.fixes.syntax.scopes import Binding, dotted, imports, scopes_of
from shardlint.model.findings import Edit
from shardlint.support.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Needed:
    """The name by which a program refers to an object, and the edits that import it."""

    name: str
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class _Ran:
    """An import that ran before a place is reached: its tree, its line, and the block around that.

    ``shared`` means that the place is on the same line.
    """

    tree: Tree
    line: cst.SimpleStatementLine | cst.SimpleStatementSuite
    statement: cst.Import | cst.ImportFrom
    block: cst.CSTNode
    shared: bool


class Names:
    """The names in force at a node. Raises CannotFix."""

    def __init__(self, program: Program, tree: Tree, node: cst.CSTNode) -> None:
        self._tree, self._node = tree, node
        self._scopes, self._trees = scopes_of(program), program.trees()
        self._own = [*self._before()]
        earlier = (one for one in self._trees[: self._trees.index(tree)])
        self._ran = [*(ran for one in earlier for ran in _imports_in(one, one.module, one.module.body))]
        self._ran += self._own

    def spec(self) -> Needed:
        """Return the name of `PartitionSpec`, imported as P if need be. Raises CannotFix."""
        return self.of("PartitionSpec", "P")

    def of(self, name: str, short: str | None = None) -> Needed:
        """Return the name of an object of `jax.sharding`, imported, as ``short``, if need be. Raises
        CannotFix."""
        full = f"jax.sharding.{name}"
        aliases = {full: "", "jax.sharding": f".{name}"} | ({f"jax.{short}": ""} if short else {})
        if (found := self._called(aliases)) is not None:
            return found
        place = self._place()
        if place is not None and _brings(place.statement, "jax.sharding"):
            return self._imported(place, name, short)
        if (found := self._called({"jax": f".sharding.{name}"})) is not None:
            return found
        if place is None:
            raise CannotFix
        return self._imported(place, name, short)

    def module(self) -> str | None:
        """Return the name of the module `jax`, None if no name certainly refers to it."""
        found = self._called({"jax": ""})
        return found.name if found else None

    def _called(self, targets: dict[str, str]) -> Needed | None:
        """Return the first name that certainly refers to one of the targets, with the attribute that leads
        from there to the object."""
        for ran in self._ran:
            for binding in imports(ran.statement):
                if binding.target in targets and self._is_in_force(ran, binding):
                    return Needed(binding.name + targets[binding.target])
        return None

    def _is_in_force(self, ran: _Ran, binding: Binding) -> bool:
        """Return whether a name still refers to the object that an import bound."""
        scopes = self._scopes
        try:
            scope = scopes.resolved(self._tree, self._node, binding.name)
        except CannotFix:
            return False
        made = scopes.scope_of(ran.tree, ran.statement)
        if not scopes.is_one(scope, made):
            return False
        if any(one.target != binding.target for one in scopes.bindings(scope) if one.name == binding.name):
            return False
        return not scopes.is_open and all(self._is_over(star, ran) for star in scopes.stars)

    def _is_over(self, star: tuple[Tree, cst.ImportFrom], ran: _Ran) -> bool:
        """Return whether a star import ran before a top-level import, so that it rebinds nothing."""
        tree, statement = star
        if tree is ran.tree:
            return isinstance(ran.block, cst.Module) and tree.start(statement) < tree.start(ran.statement)
        return isinstance(ran.block, cst.Module) and self._trees.index(tree) < self._trees.index(ran.tree)

    def _before(self) -> Iterator[_Ran]:
        """Yield the imports of the cell that ran before the place is reached, those of outer blocks first."""
        path = [self._node, *self._tree.parents(self._node)]
        for outer, inner in reversed([*zip(path[1:], path, strict=False)]):
            if isinstance(outer, cst.Module | cst.IndentedBlock):
                yield from _imports_in(self._tree, outer, _ahead(outer.body, inner))
            elif isinstance(outer, cst.SimpleStatementLine | cst.SimpleStatementSuite):
                for statement in _ahead(outer.body, inner):
                    if isinstance(statement, cst.Import | cst.ImportFrom):
                        yield _Ran(self._tree, outer, statement, outer, True)

    def _place(self) -> _Ran | None:
        """Return the import below which another one can be inserted: in the outermost block, preferably one
        of `jax.sharding`."""
        possible = [
            ran
            for ran in self._own
            if _brings(ran.statement, "jax")
            and not ran.shared
            and not isinstance(self._scopes.scope_of(ran.tree, ran.statement), cst.ClassDef)
        ]
        possible = [ran for ran in possible if ran.block is possible[0].block]
        nearest = (ran for ran in possible if _brings(ran.statement, "jax.sharding"))
        return next(nearest, possible[0] if possible else None)

    def _imported(self, place: _Ran, name: str, short: str | None) -> Needed:
        """Import a name on a new line below an import that ran. Raises CannotFix if the name may be taken."""
        scopes = self._scopes
        bound = next((one for one in (short, name) if one and one not in scopes.variables), None)
        if bound is None or scopes.stars or scopes.is_open:
            raise CannotFix
        assert isinstance(place.line, cst.SimpleStatementLine)
        alias = cst.ImportAlias(cst.Name(name), None if bound == name else cst.AsName(cst.Name(bound)))
        module = cst.Attribute(cst.Name("jax"), cst.Name("sharding"))
        line = place.tree.line_behind(place.line, cst.ImportFrom(module, [alias]))
        return Needed(bound, (line,))


def _ahead(body: Sequence[cst.CSTNode], inner: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the statements of a block before one of them."""
    return takewhile(lambda one: one is not inner, body)


def _imports_in(tree: Tree, block: cst.CSTNode, lines: Iterable[cst.CSTNode]) -> Iterator[_Ran]:
    for line in lines:
        if isinstance(line, cst.SimpleStatementLine):
            for statement in line.body:
                if isinstance(statement, cst.Import | cst.ImportFrom):
                    yield _Ran(tree, line, statement, block, False)


def _brings(statement: cst.Import | cst.ImportFrom, module: str) -> bool:
    """Return whether an import loads a module; for `jax.sharding` only one that imports names from it."""
    if isinstance(statement, cst.ImportFrom):
        name = dotted(statement.module) if statement.module and not statement.relative else ""
        return f"{name}.".startswith(f"{module}.")
    return module == "jax" and any(f"{dotted(one.name)}.".startswith("jax.") for one in statement.names)

"""Fixes of names that JAX has under another name: what to write instead, and where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import libcst as cst

from shardlint.fixes.rewrites.calls import appended, by_keyword, named, with_keyword
from shardlint.fixes.rewrites.fix_request import SAFE, UNSAFE, Desk, in_place_of
from shardlint.fixes.syntax.imports import Names
from shardlint.fixes.syntax.program_tree import CannotFix, Change
from shardlint.fixes.syntax.scopes import dotted, scopes_of
from shardlint.laws.versions import is_removed
from shardlint.laws.versions.equivalents import EQUIVALENT, RENAMED_ARGUMENTS
from shardlint.model.findings import Fix
from shardlint.model.uses import ApiReference

_PJIT, _SHARD_MAP, _WITH = "jax.experimental.pjit.pjit", "jax.experimental.shard_map.shard_map", "__enter__"
_PVARY = "jax.lax.pvary"
_Changes = dict[cst.CSTNode, Change]


def renamed(desk: Desk) -> Fix:
    """Write what a name or an argument is called in all releases that are meant."""
    use = desk.use
    if not isinstance(use, ApiReference):
        raise CannotFix
    if use.name in RENAMED_ARGUMENTS:
        return _argument(desk, use.name)
    if use.name.endswith(_WITH):
        new, fix = "jax.set_mesh", _set_mesh
    else:
        new, fix = EQUIVALENT.get(use.name, ""), _name
    if not new or is_removed(new, desk.target.low):
        raise CannotFix
    return fix(desk, use.name, new)


def _name(desk: Desk, name: str, new: str) -> Fix:
    for node in desk.tree.at(desk.finding.span):
        if isinstance(node, cst.ImportAlias):
            return _imported(desk, node, name, new)
        if isinstance(node, cst.Attribute) and name != _SHARD_MAP:
            calls = [call for call in desk.tree.nodes if isinstance(call, cst.Call) and _calls(call, node)]
            changes: _Changes = {node: in_place_of(_attribute(dotted(node), name, new))}
            if name == _PVARY:
                if not calls:
                    raise CannotFix
                changes |= {call: _cast(call) for call in calls}
            safe = name != _PJIT or not any(map(_shards, calls))
            return desk.fix(f"use {new}", SAFE if safe else UNSAFE, changes)
    raise CannotFix


def _attribute(written: str, name: str, new: str) -> str:
    """How the new name is written where the old one is: in full, or in the same module."""
    if written == name:
        return new
    if not written or name.rpartition(".")[0] != new.rpartition(".")[0]:
        raise CannotFix
    return f"{written.rpartition('.')[0]}.{new.rpartition('.')[2]}"


def _calls(call: cst.Call, function: cst.CSTNode) -> bool:
    """Whether a call is one of a function, or gives it to another one."""
    return call.func is function or any(argument.value is function for argument in call.args)


def _imported(desk: Desk, alias: cst.ImportAlias, name: str, new: str) -> Fix:
    """Import the new name as the old one was bound, and leave the rest of the statement."""
    statement = next(desk.tree.parents(alias))
    if not isinstance(statement, cst.ImportFrom) or statement.relative:
        raise CannotFix
    if isinstance(statement.names, cst.ImportStar):
        raise CannotFix
    bound = alias.evaluated_alias or alias.evaluated_name
    safe, changes = _of_calls(desk, statement, name, bound)
    module, _, imported = new.rpartition(".")
    made = alias.with_changes(name=cst.Name(imported))
    if alias.asname is None and bound != imported:
        made = made.with_changes(asname=cst.AsName(cst.Name(bound)))
    others = [other for other in statement.names if other is not alias]
    applicability = SAFE if safe else UNSAFE
    parent: Any = cst.parse_expression(module)
    if not others:
        changes[statement] = lambda old: old.with_changes(module=parent, names=[made])
        return desk.fix(f"use {new}", applicability, changes)
    line = next(desk.tree.parents(statement))
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) > 1:
        raise CannotFix
    if statement.lpar is not None and "#" in desk.tree.written(statement):
        raise CannotFix
    if others[-1] is not statement.names[-1]:
        others[-1] = others[-1].with_changes(comma=statement.names[-1].comma)
    changes[statement] = lambda old: old.with_changes(names=others)
    alone = cst.ImportFrom(parent, [made.with_changes(comma=cst.MaybeSentinel.DEFAULT)])
    return desk.fix(f"use {new}", applicability, changes, (desk.tree.line_behind(line, alone),))


def _of_calls(desk: Desk, statement: cst.ImportFrom, name: str, bound: str) -> tuple[bool, _Changes]:
    """Whether the calls of an imported name mean the same under the new one, and what to change in them."""
    changes: _Changes = {}
    if name not in (_SHARD_MAP, _PJIT, _PVARY):
        return True, changes
    mentions = {id(name) for name in _mentions(desk, statement, bound)}
    called = 0
    calls = (node for tree in desk.program.trees() for node in tree.nodes if isinstance(node, cst.Call))
    for call in calls:
        is_partial = dotted(call.func) in ("partial", "functools.partial") and bool(call.args)
        if id(call.args[0].value if is_partial else call.func) not in mentions:
            continue
        called += 1
        if name == _PJIT:
            if _shards(call):
                # A bare spec takes its mesh from `with mesh:` in pjit, and not in jit.
                return False, {}
        elif name == _PVARY:
            changes[call] = _cast(call)
        elif (change := _new_arguments(call, 1 + is_partial)) is not None:
            changes[call] = change
    if name == _PVARY and len(mentions) != called:
        raise CannotFix
    return len(mentions) == called, changes


def _mentions(desk: Desk, statement: cst.ImportFrom, bound: str) -> Iterator[cst.Name]:
    """Where the name of an import is read. Raises CannotFix where that is not sure."""
    scopes = scopes_of(desk.program)
    ours = scopes.scope_of(desk.tree, statement)
    bindings = [one.node for one in scopes.bindings(ours) if one.name == bound]
    if isinstance(ours, cst.ClassDef) or bindings != [statement] or not scopes.is_only_imported(bound):
        raise CannotFix
    for tree, node in scopes.read:
        if node.value == bound and scopes.is_one(scopes.resolved(tree, node, bound), ours):
            yield node


def _cast(call: cst.Call) -> Change:
    """Tell `jax.lax.pcast` what `pvary` did, after the last argument."""
    if len(call.args) != 2 or any(argument.star for argument in call.args):
        raise CannotFix
    return partial(appended, argument=by_keyword("to", '"varying"'))


def _new_arguments(call: cst.Call, first: int) -> Change | None:
    """Name what `jax.shard_map` takes by keyword only, as it calls it; None where nothing changes.

    Raises CannotFix for what it lacks.
    """
    written = [argument.keyword.value for argument in call.args if argument.keyword is not None]
    if any(argument.star for argument in call.args) or "auto" in written or "check_vma" in written:
        raise CannotFix
    by_position = len(call.args) - len(written)
    renames = "check_rep" in written
    if by_position <= first and not renames:
        return None
    names = named(call, first) if by_position > first else None

    def change(old: cst.Call) -> cst.Call:
        made: Any = names(old) if names is not None else old
        return made.with_changes(args=[_checked(argument) for argument in made.args])

    return change


def _checked(argument: cst.Arg) -> cst.Arg:
    """An argument, under its new name if it is the old one's ``check_rep=``."""
    if argument.keyword is not None and argument.keyword.value == "check_rep":
        return with_keyword(argument, "check_vma")
    return argument


def _shards(call: cst.Call) -> bool:
    """Whether a call gives more than a function, or what it gives cannot be read."""
    named_arguments = {argument.keyword.value for argument in call.args if argument.keyword is not None}
    if named_arguments & {"in_shardings", "out_shardings"} or any(argument.star for argument in call.args):
        return True
    return len(call.args) - len(named_arguments) > 1


def _argument(desk: Desk, name: str) -> Fix:
    """Rename the keyword whose value stands at the finding."""
    old, new = name.partition("(")[2].removesuffix("=)"), RENAMED_ARGUMENTS[name]
    for node in desk.tree.at(desk.finding.span):
        argument = next(desk.tree.parents(node), None)
        if isinstance(argument, cst.Arg) and argument.keyword is not None and argument.value is node:
            call = next(desk.tree.parents(argument))
            given = _keywords(call.args) if isinstance(call, cst.Call) else ()
            if argument.keyword.value != old or new in given:
                continue
            # What pjit took bare specs for, jit takes shardings for.
            applicability = UNSAFE if "axis_resources" in old else SAFE
            change: _Changes = {argument.keyword: lambda name: name.with_changes(value=new)}
            return desk.fix(f"use {new}=", applicability, change)
    raise CannotFix


def _keywords(arguments: Sequence[cst.Arg]) -> set[str]:
    return {argument.keyword.value for argument in arguments if argument.keyword is not None}


def _set_mesh(desk: Desk, name: str, new: str) -> Fix:
    """``with mesh:`` made a context for bare specs alone; `jax.set_mesh` makes one for everything."""
    node = desk.node()
    jax = Names(desk.program, desk.tree, node).module()
    if not isinstance(next(desk.tree.parents(node)), cst.WithItem) or jax is None:
        raise CannotFix
    function = cst.parse_expression(f"{jax}.set_mesh")

    def change(old: cst.BaseExpression) -> cst.Call:
        bare = old.with_changes(lpar=(), rpar=())
        return cst.Call(function, [cst.Arg(bare)], lpar=old.lpar, rpar=old.rpar)

    return desk.fix(f"use {new}", UNSAFE, {node: change})

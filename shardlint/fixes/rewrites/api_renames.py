"""Fixes of names that JAX has under another name: what to write instead, and where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import libcst as cst

from shardlint.fixes.rewrites.calls import appended, by_keyword, named, with_keyword
from shardlint.fixes.rewrites.fix_request import SAFE, UNSAFE, FixRequest, in_place_of
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


def renamed(request: FixRequest) -> Fix:
    """Return the fix that writes a name or an argument as all targeted releases know it."""
    use = request.use
    if not isinstance(use, ApiReference):
        raise CannotFix
    if use.name in RENAMED_ARGUMENTS:
        return _argument(request, use.name)
    if use.name.endswith(_WITH):
        new, fix = "jax.set_mesh", _set_mesh
    else:
        new, fix = EQUIVALENT.get(use.name, ""), _name
    if not new or is_removed(new, request.target.low):
        raise CannotFix
    return fix(request, use.name, new)


def _name(request: FixRequest, name: str, new: str) -> Fix:
    for node in request.tree.at(request.finding.span):
        if isinstance(node, cst.ImportAlias):
            return _imported(request, node, name, new)
        if isinstance(node, cst.Attribute) and name != _SHARD_MAP:
            calls = [call for call in request.tree.nodes if isinstance(call, cst.Call) and _calls(call, node)]
            changes: _Changes = {node: in_place_of(_attribute(dotted(node), name, new))}
            if name == _PVARY:
                if not calls:
                    raise CannotFix
                changes |= {call: _cast(call) for call in calls}
            safe = name != _PJIT or not any(map(_shards, calls))
            return request.fix(f"use {new}", SAFE if safe else UNSAFE, changes)
    raise CannotFix


def _attribute(written: str, name: str, new: str) -> str:
    """Return the new name as written in place of the old one: in full, or as a name of the same module."""
    if written == name:
        return new
    if not written or name.rpartition(".")[0] != new.rpartition(".")[0]:
        raise CannotFix
    return f"{written.rpartition('.')[0]}.{new.rpartition('.')[2]}"


def _calls(call: cst.Call, function: cst.CSTNode) -> bool:
    """Return whether a call is of this function, or passes it as an argument."""
    return call.func is function or any(argument.value is function for argument in call.args)


def _imported(request: FixRequest, alias: cst.ImportAlias, name: str, new: str) -> Fix:
    """Return the fix that imports the new name as the old one was bound; the rest of the statement stays."""
    statement = next(request.tree.parents(alias))
    if not isinstance(statement, cst.ImportFrom) or statement.relative:
        raise CannotFix
    if isinstance(statement.names, cst.ImportStar):
        raise CannotFix
    bound = alias.evaluated_alias or alias.evaluated_name
    safe, changes = _of_calls(request, statement, name, bound)
    module, _, imported = new.rpartition(".")
    renamed = alias.with_changes(name=cst.Name(imported))
    if alias.asname is None and bound != imported:
        renamed = renamed.with_changes(asname=cst.AsName(cst.Name(bound)))
    others = [other for other in statement.names if other is not alias]
    applicability = SAFE if safe else UNSAFE
    parent: Any = cst.parse_expression(module)
    if not others:
        changes[statement] = lambda old: old.with_changes(module=parent, names=[renamed])
        return request.fix(f"use {new}", applicability, changes)
    line = next(request.tree.parents(statement))
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) > 1:
        raise CannotFix
    if statement.lpar is not None and "#" in request.tree.written(statement):
        raise CannotFix
    if others[-1] is not statement.names[-1]:
        others[-1] = others[-1].with_changes(comma=statement.names[-1].comma)
    changes[statement] = lambda old: old.with_changes(names=others)
    alone = cst.ImportFrom(parent, [renamed.with_changes(comma=cst.MaybeSentinel.DEFAULT)])
    return request.fix(f"use {new}", applicability, changes, (request.tree.line_behind(line, alone),))


def _of_calls(request: FixRequest, statement: cst.ImportFrom, name: str, bound: str) -> tuple[bool, _Changes]:
    """Return whether all calls of an imported name mean the same under the new one, and the changes that they
    need."""
    changes: _Changes = {}
    if name not in (_SHARD_MAP, _PJIT, _PVARY):
        return True, changes
    mentions = {id(name) for name in _mentions(request, statement, bound)}
    called = 0
    calls = (node for tree in request.program.trees() for node in tree.nodes if isinstance(node, cst.Call))
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


def _mentions(request: FixRequest, statement: cst.ImportFrom, bound: str) -> Iterator[cst.Name]:
    """Yield the places that read an imported name. Raises CannotFix if that is not certain."""
    scopes = scopes_of(request.program)
    ours = scopes.scope_of(request.tree, statement)
    bindings = [one.node for one in scopes.bindings(ours) if one.name == bound]
    if isinstance(ours, cst.ClassDef) or bindings != [statement] or not scopes.is_only_imported(bound):
        raise CannotFix
    for tree, node in scopes.read:
        if node.value == bound and scopes.is_one(scopes.resolved(tree, node, bound), ours):
            yield node


def _cast(call: cst.Call) -> Change:
    """Return the change that adds ``to="varying"`` to a call, which `jax.lax.pcast` needs to do what `pvary`
    did."""
    if len(call.args) != 2 or any(argument.star for argument in call.args):
        raise CannotFix
    return partial(appended, argument=by_keyword("to", '"varying"'))


def _new_arguments(call: cst.Call, first: int) -> Change | None:
    """Return the change that passes arguments by keyword where `jax.shard_map` demands it, under its names;
    None if nothing changes.

    Raises CannotFix for arguments that it does not have.
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
        changed: Any = names(old) if names is not None else old
        return changed.with_changes(args=[_checked(argument) for argument in changed.args])

    return change


def _checked(argument: cst.Arg) -> cst.Arg:
    """Return an argument, with ``check_rep=`` renamed to ``check_vma=``."""
    if argument.keyword is not None and argument.keyword.value == "check_rep":
        return with_keyword(argument, "check_vma")
    return argument


def _shards(call: cst.Call) -> bool:
    """Return whether a call passes more than a function, or arguments that cannot be read."""
    named_arguments = {argument.keyword.value for argument in call.args if argument.keyword is not None}
    shardings = {"in_shardings", "out_shardings", "in_axis_resources", "out_axis_resources"}
    if named_arguments & shardings or any(argument.star for argument in call.args):
        return True
    return len(call.args) - len(named_arguments) > 1


def _argument(request: FixRequest, name: str) -> Fix:
    """Return the fix that renames the keyword of the value at the finding."""
    function, _, old = name.removesuffix("=)").partition("(")
    new = RENAMED_ARGUMENTS[name]
    if is_removed(f"{function}({new}=)", request.target.low):
        raise CannotFix
    for node in request.tree.at(request.finding.span):
        argument = next(request.tree.parents(node), None)
        if isinstance(argument, cst.Arg) and argument.keyword is not None and argument.value is node:
            call = next(request.tree.parents(argument))
            given = _keywords(call.args) if isinstance(call, cst.Call) else ()
            if argument.keyword.value != old or new in given:
                continue
            # What pjit took bare specs for, jit takes shardings for.
            applicability = UNSAFE if function == "jax.jit" and "axis_resources" in old else SAFE
            change: _Changes = {argument.keyword: lambda name: name.with_changes(value=new)}
            return request.fix(f"use {new}=", applicability, change)
    raise CannotFix


def _keywords(arguments: Sequence[cst.Arg]) -> set[str]:
    return {argument.keyword.value for argument in arguments if argument.keyword is not None}


def _set_mesh(request: FixRequest, name: str, new: str) -> Fix:
    """Return the fix that writes ``with jax.set_mesh(mesh):`` for ``with mesh:``.

    It is unsafe: ``with mesh:`` serves only bare specs, `jax.set_mesh` sets the mesh for everything.
    """
    node = request.node()
    jax = Names(request.program, request.tree, node).module()
    if not isinstance(next(request.tree.parents(node)), cst.WithItem) or jax is None:
        raise CannotFix
    function = cst.parse_expression(f"{jax}.set_mesh")

    def change(old: cst.BaseExpression) -> cst.Call:
        bare = old.with_changes(lpar=(), rpar=())
        return cst.Call(function, [cst.Arg(bare)], lpar=old.lpar, rpar=old.rpar)

    return request.fix(f"use {new}", UNSAFE, {node: change})

"""Fixes of names that JAX has under another name: what to write instead, and where.

Reads the text with `ast`: only where such a name is met.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache

from shardlint.files.pages import Page, parsed
from shardlint.files.sources import Source
from shardlint.findings import Applicability, Edit, Fix
from shardlint.laws.versions.equivalents import EQUIVALENT, RENAMED_ARGUMENTS
from shardlint.records import dataclass
from shardlint.spans import Span
from shardlint.uses import ApiReference, FileProblem, Use

_PJIT, _SHARD_MAP, _WITH = "jax.experimental.pjit.pjit", "jax.experimental.shard_map.shard_map", "__enter__"
_PVARY = "jax.lax.pvary"
#: What the old shard_map takes by position after the function, and the new one by keyword only.
_BY_KEYWORD = ("mesh", "in_specs", "out_specs", "check_vma")


class _NoFix(Exception):
    """The text is of a form that is not rewritten."""


def with_fixes(uses: Iterable[Use | FileProblem], sources: Iterable[Source]) -> list[Use | FileProblem]:
    """The uses, where a name has another one today with how to write that.

    Fixes are of the text as it is now: what stands in other places of it may have to change as well.
    """
    texts: dict[tuple[str, int | None], str] | None = None
    known: dict[tuple[Span, str], Fix | None] = {}
    found = list(uses)
    for number, use in enumerate(found):
        if not isinstance(use, ApiReference):
            continue
        if texts is None:
            texts = {(source.path, cell.index): cell.text for source in sources for cell in source.cells}
        span = use.place.resolve()
        key, text = (span, use.name), texts.get((span.path, span.cell))
        if text is not None:
            if key not in known:
                known[key] = fix_of(text, span, use.name)
            found[number] = replace(use, fix=known[key])
    return found


# A file is asked for once on each mesh, and once for each release on which it means something else.
@lru_cache(maxsize=100)
def fix_of(text: str, span: Span, name: str) -> Fix | None:
    """The fix of a reference to ``name`` that stands at ``span`` of a cell's text, None if there is none."""
    try:
        page = _Page(span.path, span.cell, *parsed(text), span)
        if name.endswith(_WITH):
            return _set_mesh(page)
        if name in RENAMED_ARGUMENTS:
            return _argument(page, name)
        return _name(page, name) if name in EQUIVALENT else None
    except (_NoFix, SyntaxError, ValueError, RecursionError):
        return None


@dataclass(frozen=True, slots=True)
class _Page(Page):
    """A cell, and the place that is meant in it."""

    span: Span

    def before(self, node: ast.expr, text: str) -> Edit:
        at = self.span_of(node)
        return Edit(Span(at.path, at.line, at.column, at.line, at.column, at.cell), text)

    def at_span(self) -> Iterator[ast.AST]:
        """The nodes that stand where the span does."""
        for node in ast.walk(self.tree):
            if not isinstance(node, ast.expr | ast.alias) or node.lineno != self.span.line:
                continue
            if self.span_of(node) == self.span:
                yield node

    @property
    def has_jax(self) -> bool:
        """Whether ``jax`` is imported under its own name at the top."""
        return any(
            alias.name.split(".")[0] == "jax"
            and (alias.asname is None or alias.asname == alias.name == "jax")
            for statement in self.tree.body
            if isinstance(statement, ast.Import)
            for alias in statement.names
        )


def _fix(new: str, edits: list[Edit], safe: bool) -> Fix:
    applicability = Applicability.SAFE if safe else Applicability.UNSAFE
    return Fix(f"use {new}", applicability, tuple(edits))


def _name(page: _Page, name: str) -> Fix:
    new = EQUIVALENT[name]
    for node in page.at_span():
        if isinstance(node, ast.alias):
            statement, bound = _importing(page, node), node.asname or node.name
            safe, edits = _calls(page, name, bound)
            return _fix(new, [_import(page, statement, node, new), *edits], safe)
        if isinstance(node, ast.Attribute) and name != _SHARD_MAP:
            written = _attribute(ast.unparse(node), name, new)
            calls = list(_calls_of(page, node))
            safe = name != _PJIT or not any(_shards(call) for call in calls)
            edits = [_cast(page, call) for call in calls] if name == _PVARY else []
            if name == _PVARY and not edits:
                raise _NoFix
            return _fix(new, [Edit(page.span, written), *edits], safe)
    raise _NoFix


def _attribute(written: str, name: str, new: str) -> str:
    """How the new name is written where the old one is: in full, or in the same module."""
    if written == name:
        return new
    if name.rpartition(".")[0] != new.rpartition(".")[0]:
        raise _NoFix
    return f"{written.rpartition('.')[0]}.{new.rpartition('.')[2]}"


def _importing(page: _Page, alias: ast.alias) -> ast.ImportFrom:
    for node in ast.walk(page.tree):
        if isinstance(node, ast.ImportFrom) and alias in node.names:
            return node
    raise _NoFix


def _import(page: _Page, statement: ast.ImportFrom, alias: ast.alias, new: str) -> Edit:
    """Import the new name as the old one was bound, and leave the rest of the statement."""
    module, _, imported = new.rpartition(".")
    bound = alias.asname or alias.name
    line = f"from {module} import {imported}" + (f" as {bound}" if bound != imported else "")
    others = [other for other in statement.names if other is not alias]
    at = page.span_of(statement)
    if others:
        written = page.lines[at.line - 1]
        if at.line != at.end_line or written[: at.column - 1].strip() or ";" in written:
            raise _NoFix
        kept = ast.unparse(ast.ImportFrom(statement.module, others, statement.level))
        line = f"{kept}\n{written[: at.column - 1]}{line}"
    return Edit(at, line)


def _calls(page: _Page, name: str, bound: str) -> tuple[bool, list[Edit]]:
    """Whether a file's calls of a name mean the same under the new one, and what to change in them."""
    if name not in (_SHARD_MAP, _PJIT, _PVARY):
        return True, []
    if any(
        isinstance(n, ast.Name) and n.id == bound and not isinstance(n.ctx, ast.Load) for n in _nodes(page)
    ):
        raise _NoFix
    called, edits = 0, list[Edit]()
    for call in _nodes(page):
        if not isinstance(call, ast.Call):
            continue
        partial = ast.unparse(call.func) in ("partial", "functools.partial") and bool(call.args)
        target = call.args[0] if partial else call.func
        if not (isinstance(target, ast.Name) and target.id == bound):
            continue
        called += 1
        if name == _PJIT:
            if _shards(call):
                # A bare spec takes its mesh from `with mesh:` in pjit, and not in jit.
                return False, []
            continue
        if name == _PVARY:
            edits.append(_cast(page, call))
            continue
        edits += _new_arguments(page, call, call.args[1:] if partial else call.args)
    mentioned = sum(isinstance(n, ast.Name) and n.id == bound for n in _nodes(page))
    if name == _PVARY and mentioned != called:
        raise _NoFix
    return mentioned == called, edits


def _cast(page: _Page, call: ast.Call) -> Edit:
    """Tell `jax.lax.pcast` what `pvary` did, after the last argument."""
    given: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    ends = [page.span_of(argument) for argument in given]
    if len(given) != 2 or any(isinstance(a, ast.Starred) for a in call.args):
        raise _NoFix
    last = max(ends, key=lambda at: (at.end_line, at.end_column))
    at = Span(last.path, last.end_line, last.end_column, last.end_line, last.end_column, last.cell)
    return Edit(at, ', to="varying"')


def _new_arguments(page: _Page, call: ast.Call, given: list[ast.expr]) -> Iterator[Edit]:
    """Name what `jax.shard_map` takes by keyword only, as it calls it. Raises _NoFix for what it lacks."""
    if any(isinstance(arg, ast.Starred) for arg in given) or len(given) > 1 + len(_BY_KEYWORD):
        raise _NoFix
    for keyword, argument in zip(_BY_KEYWORD, given[1:], strict=False):
        yield page.before(argument, f"{keyword}=")
    for written in call.keywords:
        if written.arg is None or written.arg == "auto":
            raise _NoFix
        if written.arg == "check_rep":
            yield _rename(page, written, "check_vma")


def _rename(page: _Page, keyword: ast.keyword, new: str) -> Edit:
    at = page.span_of(keyword)
    assert keyword.arg is not None
    return Edit(Span(at.path, at.line, at.column, at.line, at.column + len(keyword.arg), at.cell), new)


def _shards(call: ast.Call) -> bool:
    named = {keyword.arg for keyword in call.keywords}
    return bool(named & {None, "in_shardings", "out_shardings"}) or len(call.args) > 1


def _nodes(page: _Page) -> Iterator[ast.AST]:
    return ast.walk(page.tree)


def _calls_of(page: _Page, function: ast.AST) -> Iterator[ast.Call]:
    for node in _nodes(page):
        if isinstance(node, ast.Call) and (node.func is function or function in node.args):
            yield node


def _argument(page: _Page, name: str) -> Fix:
    """Rename the keyword whose value stands at the span, which leaves out the parentheses of a tuple."""
    old, new = name.partition("(")[2].removesuffix("=)"), RENAMED_ARGUMENTS[name]
    for node in _nodes(page):
        if isinstance(node, ast.keyword) and node.arg == old and _is_at(page, node.value):
            # What pjit took bare specs for, jit takes shardings for.
            return _fix(f"{new}=", [_rename(page, node, new)], safe="axis_resources" not in old)
    raise _NoFix


def _is_at(page: _Page, value: ast.expr) -> bool:
    at = page.span_of(value)
    inner = page.text_of(at)[1:-1].strip() if isinstance(value, ast.Tuple) else None
    return at == page.span or (at.line == page.span.line and inner == page.text_of(page.span).strip())


def _set_mesh(page: _Page) -> Fix:
    """``with mesh:`` made a context for bare specs alone; `jax.set_mesh` makes one for everything."""
    for node in _nodes(page):
        if isinstance(node, ast.With) and page.has_jax:
            for item in node.items:
                if page.span_of(item.context_expr) == page.span:
                    written = page.written(item.context_expr)
                    return _fix("jax.set_mesh", [Edit(page.span, f"jax.set_mesh({written})")], safe=False)
    raise _NoFix

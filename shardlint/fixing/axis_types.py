"""Saying of what types a mesh's axes are, where it is made: `axis_types=` with members of `AxisType`."""

from __future__ import annotations

import ast

from shardlint.files.pages import Page, parsed
from shardlint.files.sources import Source
from shardlint.findings import Applicability, Edit, Fix
from shardlint.fixing.importing import CannotImport, Names
from shardlint.laws.values import AxisType
from shardlint.laws.versions import Release, holds
from shardlint.laws.versions.rows import EXPLICIT_BY_DEFAULT
from shardlint.spans import Span
from shardlint.uses import MeshUse

#: Those that take ``axis_types=``, and what the axes are without it.
_MAKERS = ("make_mesh", "Mesh", "AbstractMesh")


def with_axis_types(use: MeshUse, source: Source, types: AxisType, release: Release) -> Fix | None:
    """The fix that gives all axes of a mesh this type, None where the call says so already or cannot be read.

    It is safe where that is the type that they have without it.
    """
    span = use.place.resolve()
    cell = next((cell for cell in source.cells if cell.index == span.cell), None)
    if use.function not in _MAKERS or not isinstance(use.names, tuple) or not use.names or cell is None:
        return None
    if span.path != source.path:
        return None
    try:
        page = Page(source.path, cell.index, *parsed(cell.text))
        node = _call(page, span)
        if node is None or any(keyword.arg in (None, "axis_types") for keyword in node.keywords):
            return None
        if len(node.args) > 2 or any(isinstance(argument, ast.Starred) for argument in node.args):
            return None
        needed = Names(source, page).of("AxisType")
    except (CannotImport, SyntaxError, ValueError, RecursionError, IndexError):
        return None
    member = f"{needed.name}.{types.value}"
    members = ", ".join([member] * len(use.names)) + ("," if len(use.names) == 1 else "")
    insertion = _appended(page, node, f"axis_types=({members})")
    if insertion is None:
        return None
    safe = types is _default(use.function, release)
    what = f"say that the axes are {types.value}" if safe else f"make the axes {types.value}"
    applicability = Applicability.SAFE if safe else Applicability.UNSAFE
    return Fix(what, applicability, (*needed.edits, insertion))


def _default(function: str, release: Release) -> AxisType:
    explicit = function == "make_mesh" and holds(EXPLICIT_BY_DEFAULT, release)
    return AxisType.EXPLICIT if explicit else AxisType.AUTO


def _call(page: Page, span: Span) -> ast.Call | None:
    calls = (node for node in ast.walk(page.tree) if isinstance(node, ast.Call))
    return next((node for node in calls if page.span_of(node) == span), None)


def _appended(page: Page, node: ast.Call, argument: str) -> Edit | None:
    """Write another argument behind the last one of a call, behind its comma if it has one."""
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    if not given:
        return None
    whole = page.span_of(node)
    last = max((page.span_of(one) for one in given), key=lambda at: (at.end_line, at.end_column))
    rest = page.text_of(
        Span(page.path, last.end_line, last.end_column, whole.end_line, whole.end_column - 1, page.cell)
    )
    before = rest.rstrip()
    if before.strip("), \t\n"):
        return None  # a comment
    lines = before.split("\n")
    line = last.end_line + len(lines) - 1
    column = len(lines[-1]) + (last.end_column if len(lines) == 1 else 1)
    place = Span(page.path, line, column, line, column, page.cell)
    return Edit(place, f" {argument}," if before.endswith(",") else f", {argument}")

"""The fix that states the types of a mesh's axes where it is made: ``axis_types=`` with members of
`AxisType`."""

from __future__ import annotations

import libcst as cst

from shardlint.fixes.rewrites.calls import appended, by_keyword
from shardlint.fixes.syntax.imports import Names
from shardlint.fixes.syntax.program_tree import CannotFix, program_of
from shardlint.laws.core.values import AxisType
from shardlint.laws.versions import Release, holds
from shardlint.laws.versions.api_changes import TYPES_BY_DEFAULT
from shardlint.model.findings import Applicability, Fix
from shardlint.model.uses import MeshUse
from shardlint.source.sources import Source

#: Those that take ``axis_types=``, and what the axes are without it.
_MAKERS = ("make_mesh", "Mesh", "AbstractMesh")


def with_axis_types(use: MeshUse, source: Source, types: AxisType, *releases: Release) -> Fix | None:
    """Return the fix that gives all axes of a mesh this type; None if the call states types already, or
    cannot be read.

    It is safe if the axes have that type by default on all of the releases.
    """
    span = use.place.resolve()
    if use.function not in _MAKERS or not isinstance(use.names, tuple) or not use.names:
        return None
    if span.path != source.path:
        return None
    program = program_of(source)
    try:
        tree = program.tree(span.cell)
        node = tree.expression(span)
        if not isinstance(node, cst.Call) or not node.args or any(map(_is_in_the_way, node.args)):
            return None
        by_position = [argument for argument in node.args if argument.keyword is None]
        if len(by_position) > 2 or "#" in tree.from_to(node.args[-1].value, node):
            return None
        needed = Names(program, tree, node).of("AxisType")
        member = f"{needed.name}.{types.value}"
        members = ", ".join([member] * len(use.names)) + ("," if len(use.names) == 1 else "")
        argument = by_keyword("axis_types", f"({members})")
        edits = tree.edits({node: lambda old: appended(old, argument)})
    except (CannotFix, RecursionError):
        return None
    safe = all(types is _default(use.function, release) for release in releases)
    what = f"say that the axes are {types.value}" if safe else f"make the axes {types.value}"
    applicability = Applicability.SAFE if safe else Applicability.UNSAFE
    return Fix(what, applicability, (*needed.edits, *edits))


def _default(function: str, release: Release) -> AxisType:
    change = TYPES_BY_DEFAULT.get(function)
    return AxisType.EXPLICIT if change is not None and holds(change, release) else AxisType.AUTO


def _is_in_the_way(argument: cst.Arg) -> bool:
    """Return whether an argument may state the types already."""
    return bool(argument.star) or (argument.keyword is not None and argument.keyword.value == "axis_types")

"""Fixes of axes and names that are not known: which is meant, only the author knows."""

from __future__ import annotations

import re
from difflib import get_close_matches

import libcst as cst

from shardlint.fixes.rewrites.fix_request import UNSAFE, Desk, in_place_of, literal
from shardlint.fixes.syntax.program_tree import CannotFix, Change
from shardlint.inference.syntax.node_fields import walk
from shardlint.laws.core.values import Mesh, Unknown
from shardlint.laws.core.verdicts import Rejected
from shardlint.model.findings import Fix
from shardlint.model.uses import CollectiveUse, LogicalAxesUse, Use

_LITERAL = re.compile(r"(?P<open>[rRuU]?(?P<quote>['\"]))(?P<body>[^'\"\\]*)(?P=quote)")


def axis(desk: Desk, instead: str | None = None) -> Fix:
    """Write the axis that the wrong one is nearest to, or ``instead``; several in one string are a tuple."""
    wrong, known = wrong_axis(desk.use)
    if not wrong or not known or wrong in known:
        raise CannotFix
    parts = [part for part in re.split(r"[,\s]+", wrong) if part]
    several = instead is None and len(parts) > 1 and set(parts) <= set(known)
    near = get_close_matches(wrong, list(known), n=1) if instead is None else [instead]
    if not several and not near:
        raise CannotFix
    node = desk.node()
    if several and literal(node) == wrong:
        names = ", ".join(f'"{part}"' for part in parts)
        return desk.fix(f"write ({names})", UNSAFE, {node: in_place_of(f"({names})")})
    if not near:
        raise CannotFix
    changes: dict[cst.CSTNode, Change] = {}
    for inner in walk(node):
        if literal(inner) == wrong:
            written = _LITERAL.fullmatch(desk.tree.written(inner))
            if written is None or written["body"] != wrong:
                raise CannotFix
            text = f"{written['open']}{near[0]}{written['quote']}"
            changes[inner] = lambda old, text=text: old.with_changes(value=text)  # type: ignore[misc]
    return desk.fix(f'write "{near[0]}"', UNSAFE, changes)


def wrong_axis(use: Use) -> tuple[str, tuple[str, ...]]:
    """The axis that is not known where it is named, and those that are."""
    if isinstance(use, LogicalAxesUse):
        return use.text, use.known
    verdict = use.verdict
    if not isinstance(verdict, Rejected) or verdict.axis is None:
        return "", ()
    if isinstance(use, CollectiveUse):
        bound = use.environment.bound_axes
        return verdict.axis, () if isinstance(bound, Unknown) else tuple(name for name, _ in bound)
    mesh = getattr(use, "mesh", None)
    return verdict.axis, mesh.names if isinstance(mesh, Mesh) else ()

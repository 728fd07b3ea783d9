"""Fixes of unknown axes and names. They are unsafe, since only the author knows which one is meant."""

from __future__ import annotations

import re
from difflib import get_close_matches

import libcst as cst

from shardlint.fixes.rewrites.fix_request import UNSAFE, FixRequest, in_place_of, literal
from shardlint.fixes.syntax.program_tree import CannotFix, Change
from shardlint.inference.syntax.node_fields import walk
from shardlint.laws.core.values import Mesh, Unknown
from shardlint.laws.core.verdicts import Rejected
from shardlint.model.findings import Fix
from shardlint.model.uses import CollectiveUse, LogicalAxesUse, Use

_LITERAL = re.compile(r"(?P<open>[rRuU]?(?P<quote>['\"]))(?P<body>[^'\"\\]*)(?P=quote)")


def axis(request: FixRequest, instead: str | None = None) -> Fix:
    """Return the fix that writes the known axis nearest to the wrong one, or ``instead``.

    Several axes in one string become a tuple.
    """
    wrong, known = wrong_axis(request.use)
    if not wrong or not known or wrong in known:
        raise CannotFix
    parts = [part for part in re.split(r"[,\s]+", wrong) if part]
    several = instead is None and len(parts) > 1 and set(parts) <= set(known)
    near = get_close_matches(wrong, list(known), n=1) if instead is None else [instead]
    if not several and not near:
        raise CannotFix
    node = request.node()
    if several and literal(node) == wrong:
        names = ", ".join(f'"{part}"' for part in parts)
        return request.fix(f"write ({names})", UNSAFE, {node: in_place_of(f"({names})")})
    if not near:
        raise CannotFix
    changes: dict[cst.CSTNode, Change] = {}
    for inner in walk(node):
        if literal(inner) == wrong:
            written = _LITERAL.fullmatch(request.tree.written(inner))
            if written is None or written["body"] != wrong:
                raise CannotFix
            text = f"{written['open']}{near[0]}{written['quote']}"
            changes[inner] = lambda old, text=text: old.with_changes(value=text)  # type: ignore[misc]
    return request.fix(f'write "{near[0]}"', UNSAFE, changes)


def wrong_axis(use: Use) -> tuple[str, tuple[str, ...]]:
    """Return the unknown axis that a use names, and the axes that are known there."""
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

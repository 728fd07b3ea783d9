"""Fixes of specs and their entries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import libcst as cst

from shardlint.fixes.rewrites.fix_request import SAFE, UNSAFE, Desk, in_place_of, literal
from shardlint.fixes.syntax.program_tree import CannotFix
from shardlint.inference.syntax.node_fields import walk
from shardlint.laws.core.values import Junk, Unknown
from shardlint.model.findings import Fix
from shardlint.model.uses import ParameterUse, Placement, ShardingUse


def spec(desk: Desk) -> Fix:
    """Make a spec of a tuple, a list or a string that stands where one is meant."""
    use = desk.use
    if not isinstance(use, ShardingUse | Placement):
        raise CannotFix
    if isinstance(use, Placement) and not use.api.value.startswith("shard_map"):
        raise CannotFix  # a bare spec would need a mesh in the context
    if isinstance(use.spec, Junk) and "P(" in use.spec.text:
        raise CannotFix  # a tuple or list of specs: which is meant, only the author knows
    node = desk.node()
    nothing = literal(node) is None
    if not nothing and not isinstance(literal(node), str) and not isinstance(node, cst.Tuple | cst.List):
        raise CannotFix
    needed = desk.names(node).spec()
    if isinstance(node, cst.Tuple) and not node.lpar:
        raise CannotFix
    function = cst.parse_expression(needed.name)
    return desk.fix(
        f"make it a {needed.name}",
        UNSAFE if nothing else SAFE,
        {node: lambda old: _called(function, old)},
        needed.edits,
    )


def _called(function: cst.BaseExpression, old: cst.BaseExpression) -> cst.Call:
    """A call with the elements of a tuple or list, or with what else there is, None apart."""
    if literal(old) is None:
        return cst.Call(function, lpar=old.lpar, rpar=old.rpar)
    if not isinstance(old, cst.Tuple | cst.List):
        bare = old.with_changes(lpar=(), rpar=())
        return cst.Call(function, [cst.Arg(bare)], lpar=old.lpar, rpar=old.rpar)
    if isinstance(old, cst.Tuple):
        opened, closed = old.lpar[-1].whitespace_after, old.rpar[0].whitespace_before
        outside = old.lpar[:-1], old.rpar[1:]
    else:
        opened, closed = old.lbracket.whitespace_after, old.rbracket.whitespace_before
        outside = old.lpar, old.rpar
    arguments = []
    for element in old.elements:
        star: Literal["", "*"] = "*" if isinstance(element, cst.StarredElement) else ""
        arguments.append(cst.Arg(element.value, star=star, comma=element.comma))
    if arguments and isinstance(comma := arguments[-1].comma, cst.Comma):
        behind = cst.Comma(comma.whitespace_before, closed)
        arguments[-1] = arguments[-1].with_changes(comma=behind)
    elif arguments:
        arguments[-1] = arguments[-1].with_changes(whitespace_after_arg=closed)
    return cst.Call(function, arguments, *outside, whitespace_before_args=opened)


def surplus(desk: Desk) -> Fix:
    """Drop the entries of a spec, or of a parameter's names, that are beyond the rank and None."""
    use = desk.use
    if not isinstance(use, Placement | ParameterUse) or isinstance(use.shape, Unknown):
        raise CannotFix
    node, rank = desk.node(), len(use.shape)
    holder = node if isinstance(node, cst.Tuple) else desk.around(node)
    entries: Sequence[cst.Arg | cst.BaseElement]
    if isinstance(holder, cst.Call):
        entries = holder.args
    elif isinstance(holder, cst.Tuple) and holder.lpar:
        entries = holder.elements
    else:
        raise CannotFix
    if len(entries) <= rank or any(_is_special(entry) for entry in entries):
        raise CannotFix
    if any(literal(entry.value) is not None for entry in entries[rank:]):
        raise CannotFix
    first = entries[rank - 1].value if rank else entries[0].value
    if "#" in desk.tree.from_to(first, holder):
        raise CannotFix
    dropped = len(entries) - rank
    what = "the surplus None" if dropped == 1 else f"{dropped} surplus entries None"
    # Who else reads a spec that has a name could count its entries.
    applicability = SAFE if desk.is_argument(holder) else UNSAFE
    return desk.fix(f"drop {what}", applicability, {holder: lambda old: _shortened(old, rank)})


def _is_special(entry: cst.Arg | cst.BaseElement) -> bool:
    """Whether it is no single positional value."""
    return isinstance(entry, cst.StarredElement) or (
        isinstance(entry, cst.Arg) and bool(entry.star or entry.keyword)
    )


def _shortened(old: cst.Call | cst.Tuple, rank: int) -> cst.Call | cst.Tuple:
    """A call or tuple with its first entries; what stood behind the last one stays there."""
    entries = old.args if isinstance(old, cst.Call) else old.elements
    kept: list[Any] = [*entries[:rank]]
    last: Any = entries[-1]
    if not isinstance(last.comma, cst.Comma) and isinstance(old, cst.Tuple) and rank == 1:
        kept[-1] = kept[-1].with_changes(comma=cst.Comma())
    elif kept:
        kept[-1] = kept[-1].with_changes(comma=last.comma)
    nothing = cst.SimpleWhitespace("")
    if isinstance(old, cst.Call):
        if kept:
            kept[-1] = kept[-1].with_changes(whitespace_after_arg=last.whitespace_after_arg)
            return old.with_changes(args=kept)
        return old.with_changes(args=(), whitespace_before_args=nothing)
    if kept:
        return old.with_changes(elements=kept)
    opened = old.lpar[-1].with_changes(whitespace_after=nothing)
    closed = old.rpar[0].with_changes(whitespace_before=nothing)
    return old.with_changes(elements=(), lpar=[*old.lpar[:-1], opened], rpar=[closed, *old.rpar[1:]])


def nothing_for_false(desk: Desk) -> Fix:
    """Write None for an entry that shards nothing."""
    node = desk.node()
    value = literal(node)
    empty = value == "" or (isinstance(node, cst.Tuple) and not node.elements)
    if not empty and (value is None or value):
        raise CannotFix
    return desk.fix("write None", SAFE if empty else UNSAFE, {node: in_place_of("None")})


def nothing_for_unconstrained(desk: Desk) -> Fix:
    """Write None for a layout that is left open."""
    node = desk.node()
    if not isinstance(node, cst.Attribute):
        raise CannotFix
    return desk.fix("write None", UNSAFE, {node: in_place_of("None")})


def flat(desk: Desk) -> Fix:
    """Write the names of a nested tuple as one tuple, or as one name."""
    node = desk.node()
    if not isinstance(node, cst.Tuple | cst.List):
        raise CannotFix
    leaves = [*_leaves(node)]
    names = [leaf for leaf in leaves if isinstance(literal(leaf), str)]
    nothing = [leaf for leaf in leaves if literal(leaf) is None]
    if len(names) + len(nothing) != len(leaves) or not names:
        raise CannotFix
    written = ", ".join(desk.tree.written(name) for name in names)
    if "\n" in written or "#" in desk.tree.written(node):
        raise CannotFix
    text = written if len(names) == 1 else f"({written})"
    return desk.fix(f"write {text}", UNSAFE if nothing else SAFE, {node: in_place_of(text)})


def _leaves(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    if isinstance(node, cst.Tuple | cst.List):
        for element in node.elements:
            yield from _leaves(element.value)
    else:
        yield node


def whole(desk: Desk) -> Fix:
    """Say by a spec that an argument of a shard_map is whole on every device."""
    node = desk.node()
    nothing = [inner for inner in walk(node) if literal(inner) is None]
    if len(nothing) != 1:
        raise CannotFix
    needed = desk.names(nothing[0]).spec()
    text = f"{needed.name}()"
    return desk.fix(f"write {text}", UNSAFE, {nothing[0]: in_place_of(text)}, needed.edits)

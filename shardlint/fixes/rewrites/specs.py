"""Rewritten specs and entries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import libcst as cst

from shardlint.fixes.rewrites.fix_request import SAFE, UNSAFE, FixRequest, literal
from shardlint.fixes.syntax.program_tree import CannotFix
from shardlint.laws.core.values import Unknown
from shardlint.model.findings import Fix
from shardlint.model.uses import ParameterUse, Placement


def called(function: cst.BaseExpression, old: cst.BaseExpression) -> cst.Call:
    """Return a call of a function with the elements of a tuple or list as arguments, or with any other
    expression as the only one; None becomes an empty call."""
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


def surplus(request: FixRequest) -> Fix:
    """Return the fix that drops the entries beyond the rank from a spec, or from a parameter's names, if they
    are all None."""
    use = request.use
    if not isinstance(use, Placement | ParameterUse) or isinstance(use.shape, Unknown):
        raise CannotFix
    node, rank = request.node(), len(use.shape)
    holder = node if isinstance(node, cst.Tuple) else request.around(node)
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
    if "#" in request.tree.from_to(first, holder):
        raise CannotFix
    dropped = len(entries) - rank
    what = "the surplus None" if dropped == 1 else f"{dropped} surplus entries None"
    # Who else reads a spec that has a name could count its entries.
    applicability = SAFE if request.is_argument(holder) else UNSAFE
    return request.fix(f"drop {what}", applicability, {holder: lambda old: _shortened(old, rank)})


def _is_special(entry: cst.Arg | cst.BaseElement) -> bool:
    """Return whether an entry is anything but a single positional value."""
    return isinstance(entry, cst.StarredElement) or (
        isinstance(entry, cst.Arg) and bool(entry.star or entry.keyword)
    )


def _shortened(old: cst.Call | cst.Tuple, rank: int) -> cst.Call | cst.Tuple:
    """Return a call or tuple with only its first entries; whatever follows the last entry stays."""
    entries = old.args if isinstance(old, cst.Call) else old.elements
    remaining: list[Any] = [*entries[:rank]]
    last: Any = entries[-1]
    if not isinstance(last.comma, cst.Comma) and isinstance(old, cst.Tuple) and rank == 1:
        remaining[-1] = remaining[-1].with_changes(comma=cst.Comma())
    elif remaining:
        remaining[-1] = remaining[-1].with_changes(comma=last.comma)
    nothing = cst.SimpleWhitespace("")
    if isinstance(old, cst.Call):
        if remaining:
            remaining[-1] = remaining[-1].with_changes(whitespace_after_arg=last.whitespace_after_arg)
            return old.with_changes(args=remaining)
        return old.with_changes(args=(), whitespace_before_args=nothing)
    if remaining:
        return old.with_changes(elements=remaining)
    opened = old.lpar[-1].with_changes(whitespace_after=nothing)
    closed = old.rpar[0].with_changes(whitespace_before=nothing)
    return old.with_changes(elements=(), lpar=[*old.lpar[:-1], opened], rpar=[closed, *old.rpar[1:]])


def leaves_of(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yield the expressions in a nested tuple or list, in order."""
    if isinstance(node, cst.Tuple | cst.List):
        for element in node.elements:
            yield from leaves_of(element.value)
    else:
        yield node

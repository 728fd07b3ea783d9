"""Fixes of what calls are given: names of arguments, types of axes, names of parameters, rules."""

from __future__ import annotations

import libcst as cst

from shardlint.fixes.rewrites.fix_request import SAFE, UNSAFE, Desk, in_place_of, literal
from shardlint.fixes.syntax.program_tree import CannotFix, Change
from shardlint.laws.core.verdicts import Rejected
from shardlint.model.findings import Fix
from shardlint.model.uses import ParameterUse

#: What `jax.shard_map` takes by keyword only, in the order in which the old one took it.
BY_KEYWORD = ("mesh", "in_specs", "out_specs", "check_vma")


def keywords(desk: Desk) -> Fix:
    """Name the arguments that `jax.shard_map` takes by keyword only."""
    verdict = desk.use.verdict
    if not isinstance(verdict, Rejected) or "by position" not in verdict.detail:
        raise CannotFix
    node = desk.node()
    if not isinstance(node, cst.Call):
        raise CannotFix
    return desk.fix("name the arguments", SAFE, {node: named(node, 1)})


def named(node: cst.Call, first: int) -> Change:
    """Name the arguments of a shard_map by position from a number on. Raises CannotFix."""
    given = [argument for argument in node.args if argument.keyword is None]
    names = {argument.keyword.value for argument in node.args if argument.keyword is not None}
    if any(argument.star for argument in node.args) or names & {*BY_KEYWORD[: len(given) - first]}:
        raise CannotFix
    if not first < len(given) <= first + len(BY_KEYWORD):
        raise CannotFix

    def change(old: cst.Call) -> cst.Call:
        arguments = list(old.args)
        for number, name in enumerate(BY_KEYWORD[: len(given) - first], first):
            arguments[number] = with_keyword(arguments[number], name)
        return old.with_changes(args=arguments)

    return change


def with_keyword(argument: cst.Arg, name: str) -> cst.Arg:
    """An argument by keyword, without blanks around the sign if it was by position."""
    if argument.keyword is not None:
        return argument.with_changes(keyword=argument.keyword.with_changes(value=name))
    blank = cst.SimpleWhitespace("")
    return argument.with_changes(keyword=cst.Name(name), equal=cst.AssignEqual(blank, blank))


def by_keyword(name: str, value: str) -> cst.Arg:
    """An argument by keyword, without blanks around the sign."""
    return with_keyword(cst.Arg(cst.parse_expression(value)), name)


def appended(old: cst.Call, argument: cst.Arg) -> cst.Call:
    """A call with another argument behind the last one, behind its comma if it has one."""
    last, blank = old.args[-1], cst.SimpleWhitespace(" ")
    if isinstance(last.comma, cst.Comma):
        kept = last.with_changes(comma=last.comma.with_changes(whitespace_after=blank))
        added = argument.with_changes(comma=cst.Comma(whitespace_after=last.comma.whitespace_after))
    else:
        nothing = cst.SimpleWhitespace("")
        kept = last.with_changes(comma=cst.Comma(whitespace_after=blank), whitespace_after_arg=nothing)
        added = argument.with_changes(whitespace_after_arg=last.whitespace_after_arg)
    return old.with_changes(args=[*old.args[:-1], kept, added])


def axis_types(desk: Desk) -> Fix:
    """Write the members of `AxisType` for their names."""
    node = desk.node()
    words = {"auto": "Auto", "explicit": "Explicit", "manual": "Manual"}
    if not isinstance(node, cst.Tuple) or not node.elements:
        raise CannotFix
    members = [(one.value, words.get(str(literal(one.value)).lower())) for one in node.elements]
    if any(member is None for _, member in members):
        raise CannotFix
    needed = desk.names(node).of("AxisType")
    changes: dict[cst.CSTNode, Change] = {
        element: in_place_of(f"{needed.name}.{member}") for element, member in members
    }
    return desk.fix(f"write the members of {needed.name}", SAFE, changes, needed.edits)


def names(desk: Desk) -> Fix:
    """Make a tuple of a parameter's names that are one string."""
    node, use = desk.node(), desk.use
    if not isinstance(literal(node), str):
        raise CannotFix
    # nnx ignores a string, and will shard by the tuple; linen can make nothing of the string.
    nnx = isinstance(use, ParameterUse) and use.library.endswith("nnx")
    text = f"({desk.tree.written(node)},)"
    return desk.fix(f"write {text}", UNSAFE if nnx else SAFE, {node: in_place_of(text)})


def rules(desk: Desk) -> Fix:
    """Write a dict of logical axis rules as pairs."""
    node = desk.node()
    if not isinstance(node, cst.Dict) or not node.elements or not all(map(_is_pair, node.elements)):
        raise CannotFix
    applicability = SAFE if desk.is_argument(node) else UNSAFE
    return desk.fix("write the rules as pairs", applicability, {node: _pairs})


def _is_pair(element: cst.BaseDictElement) -> bool:
    """Whether it is a key and a value on one line, so that no comment is between them."""
    return (
        isinstance(element, cst.DictElement)
        and isinstance(element.whitespace_before_colon, cst.SimpleWhitespace)
        and isinstance(element.whitespace_after_colon, cst.SimpleWhitespace)
    )


def _pairs(old: cst.Dict) -> cst.Tuple:
    """The items of a dict as pairs in a tuple."""
    elements = []
    for item in old.elements:
        assert isinstance(item, cst.DictElement)
        comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        pair = [cst.Element(item.key, comma), cst.Element(item.value)]
        elements.append(cst.Element(cst.Tuple(pair), item.comma))
    if len(elements) == 1 and not isinstance(elements[0].comma, cst.Comma):
        elements[0] = elements[0].with_changes(comma=cst.Comma())
    opened = cst.LeftParen(old.lbrace.whitespace_after)
    closed = cst.RightParen(old.rbrace.whitespace_before)
    return cst.Tuple(elements, [*old.lpar, opened], [closed, *old.rpar])

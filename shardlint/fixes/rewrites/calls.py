"""Rewritten calls and arguments."""

from __future__ import annotations

import libcst as cst

from shardlint.fixes.syntax.program_tree import CannotFix, Change

#: What `jax.shard_map` takes by keyword only, in the order in which the old one took it.
BY_KEYWORD = ("mesh", "in_specs", "out_specs", "check_vma")


def named(node: cst.Call, first: int) -> Change:
    """Return the change that names a shard_map's positional arguments from the one at index ``first`` on.
    Raises CannotFix."""
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
    """Return an argument passed by this keyword, with no blanks around the ``=`` if it was positional."""
    if argument.keyword is not None:
        return argument.with_changes(keyword=argument.keyword.with_changes(value=name))
    blank = cst.SimpleWhitespace("")
    return argument.with_changes(keyword=cst.Name(name), equal=cst.AssignEqual(blank, blank))


def by_keyword(name: str, value: str) -> cst.Arg:
    """Return a keyword argument, with no blanks around the ``=``."""
    return with_keyword(cst.Arg(cst.parse_expression(value)), name)


def appended(old: cst.Call, argument: cst.Arg) -> cst.Call:
    """Return a call with another argument behind the last one; a trailing comma stays."""
    last, blank = old.args[-1], cst.SimpleWhitespace(" ")
    if isinstance(last.comma, cst.Comma):
        kept = last.with_changes(comma=last.comma.with_changes(whitespace_after=blank))
        added = argument.with_changes(comma=cst.Comma(whitespace_after=last.comma.whitespace_after))
    else:
        nothing = cst.SimpleWhitespace("")
        kept = last.with_changes(comma=cst.Comma(whitespace_after=blank), whitespace_after_arg=nothing)
        added = argument.with_changes(whitespace_after_arg=last.whitespace_after_arg)
    return old.with_changes(args=[*old.args[:-1], kept, added])


def is_pair(element: cst.BaseDictElement) -> bool:
    """Return whether an element of a dict is a key and a value on one line, with no comment between them."""
    return (
        isinstance(element, cst.DictElement)
        and isinstance(element.whitespace_before_colon, cst.SimpleWhitespace)
        and isinstance(element.whitespace_after_colon, cst.SimpleWhitespace)
    )


def pairs(old: cst.Dict) -> cst.Tuple:
    """Return the items of a dict as a tuple of pairs."""
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

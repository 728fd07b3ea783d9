"""Regular expressions: `re` itself matches known texts, if that cannot take long.

Patterns and matches are constants that hold Python's own objects.
"""

from __future__ import annotations

import fnmatch
import math
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from shardlint.inference.domain.iteration import constant
from shardlint.inference.domain.values import (
    Bound,
    Const,
    DictValue,
    ListValue,
    Native,
    Value,
    as_int,
    as_str,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.iterators import iterator_of
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Place
from shardlint.model.uses import PatternUse

#: Longest pattern and text that are matched, and the most steps that a match may take.
_MAX_LENGTH, _MAX_STEPS = 1_000, 1_000_000
_Method = Callable[[Call], Value]


def _endless(node: Iterable[Any], repeated: bool = False) -> int | None:
    """Return the number of parts of a pattern that can match in many ways, or None if repeats nest.

    Python tries all ways to divide a text among them, so their number bounds the steps. Choices inside
    repeats multiply without bound, so such a pattern has no number.
    """
    total = 0
    for code, argument in node:
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            low, high, body = argument
            inner = _endless(body, repeated or high > 1)
            if inner is None or (repeated and high != low):
                return None
            total += inner + (high != low)
        elif code is codes.BRANCH:
            if repeated:
                return None
            counts = [_endless(branch) for branch in argument[1]]
            if any(count is None for count in counts):
                return None
            total += 1 + sum(count for count in counts if count is not None)
        elif code in (codes.SUBPATTERN, codes.ATOMIC_GROUP, codes.ASSERT, codes.ASSERT_NOT):
            inner = _endless(argument if code is codes.ATOMIC_GROUP else argument[-1], repeated)
            if inner is None:
                return None
            total += inner
        elif code not in (codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN, codes.AT):
            # A back-reference to a group, or a condition on one.
            return None
    return total


@lru_cache(maxsize=1_000)
def _compiled(text: str, flags: int) -> tuple[re.Pattern[str], int] | None:
    """Return a pattern and the number of its parts that match in many ways; None if invalid or possibly
    slow."""
    if len(text) > _MAX_LENGTH:
        return None
    try:
        endless = _endless(parser.parse(text, flags))
        return None if endless is None else (re.compile(text, flags), endless)
    except (re.error, OverflowError, RecursionError, ValueError):
        return None


def _pattern(value: Value | None, flags: int = 0) -> re.Pattern[str] | None:
    """Return the pattern that a value is, if matching with it is fast."""
    if not isinstance(value, Const):
        return None
    if isinstance(value.value, re.Pattern):
        return value.value if flags == 0 else None
    found = _compiled(value.value, flags) if isinstance(value.value, str) else None
    return None if found is None else found[0]


def _subject(pattern: re.Pattern[str] | None, value: Value | None) -> str | None:
    """Return the text to match, if that ends soon."""
    text = as_str(value)
    if pattern is None or text is None or len(text) > _MAX_LENGTH:
        return None
    found = _compiled(pattern.pattern, pattern.flags & ~re.UNICODE)
    steps = math.inf if found is None else math.comb(len(text) + found[1] + 1, found[1] + 1)
    return text if steps <= _MAX_STEPS else None


def _unmatched() -> Unknown:
    return Unknown("a regular expression that is not followed")


def _compile(call: Call) -> Value:
    given, flags = call.bind("pattern", flags=Const(0))
    number = as_int(flags)
    pattern = None if number is None else _pattern(given, number)
    return _unmatched() if pattern is None else Const(pattern, getattr(given, "origin", None))


def _result(found: Any, call: Call) -> Value:
    if isinstance(found, list):
        return ListValue([constant(part) for part in found], path=call.interpreter.path)
    return constant(found)


def _matching(name: str) -> _Method:
    """Return ``match``, ``search``, ``fullmatch``, ``findall`` or ``finditer`` of a pattern and a text."""

    def apply(call: Call) -> Value:
        given, text, flags = call.bind("pattern", "string", flags=Const(0))
        number = as_int(flags)
        pattern = None if number is None else _pattern(given, number)
        subject = _subject(pattern, text)
        matched: Any = None if pattern is None or subject is None else getattr(pattern, name)(subject)
        if pattern is not None and name in _DECIDING:
            _record_try(call, name, pattern, getattr(given, "origin", None), subject, matched is not None)
        if pattern is None or subject is None:
            return _unmatched()
        if name == "finditer":
            return iterator_of(call.interpreter, _result(list(matched), call), call.place)
        return _result(matched, call)

    return apply


#: Methods that decide whether a pattern applies to a text.
_DECIDING = frozenset({"match", "search", "fullmatch"})


def _record_try(
    call: Call,
    method: str,
    pattern: re.Pattern[str],
    written: Place | None,
    subject: str | None,
    matched: bool,
) -> None:
    if written is None or not call.interpreter.is_called:
        return
    call.interpreter.record(
        PatternUse(
            place=written,
            environment=call.interpreter.environment(),
            method=method,
            pattern=pattern.pattern,
            subject=subject,
            matched=matched,
            anything=pattern.search("") is not None,
            site=call.place,
        )
    )


def _splitting(call: Call) -> Value:
    given, text, most, flags = call.bind("pattern", "string", maxsplit=Const(0), flags=Const(0))
    number, limit = as_int(flags), as_int(most)
    pattern = None if number is None else _pattern(given, number)
    subject = _subject(pattern, text)
    if pattern is None or subject is None or limit is None:
        return _unmatched()
    return _result(pattern.split(subject, limit), call)


def _substituting(call: Call) -> Value:
    """``sub``, with a text or with a function, which the evaluator calls."""
    given, new, text, most, flags = call.bind("pattern", "repl", "string", count=Const(0), flags=Const(0))
    number, limit = as_int(flags), as_int(most)
    pattern = None if number is None else _pattern(given, number)
    subject = _subject(pattern, text)
    if pattern is None or subject is None or limit is None or new is None:
        return _unmatched()
    replacement = as_str(new)
    if replacement is not None:
        try:
            return (
                Const(pattern.sub(replacement, subject, limit))
                if len(replacement) <= _MAX_LENGTH
                else _unmatched()
            )
        except (re.error, IndexError):
            return Unknown("raises in Python")
    matches = pattern.finditer(subject)
    parts = [as_str(call.interpreter.call(new, [Const(found)], {}, call.place)) for found in matches]
    if any(part is None for part in parts):
        return _unmatched()
    replaced = iter(parts)
    return Const(pattern.sub(lambda match: next(replaced) or "", subject, limit))


def _globbing(call: Call) -> Value:
    """`fnmatch.fnmatch(name, pat)`, on a file system that is case-sensitive."""
    text, glob = call.bind("name", "pat")
    wanted = as_str(glob)
    pattern = None if wanted is None else _pattern(Const(fnmatch.translate(wanted)))
    subject = _subject(pattern, text)
    if pattern is None:
        return _unmatched()
    matched = subject is not None and pattern.match(subject) is not None
    _record_try(call, "match", pattern, getattr(glob, "origin", None), subject, matched)
    return _unmatched() if subject is None else Const(matched)


def _escape(call: Call) -> Value:
    text = as_str(call.args[0]) if len(call.args) == 1 else None
    return _unmatched() if text is None else Const(re.escape(text))


_FUNCTIONS: dict[str, _Method] = {
    **{name: _matching(name) for name in ("match", "search", "fullmatch", "findall", "finditer")},
    "split": _splitting,
    "sub": _substituting,
}


def _of_match(name: str) -> _Method:
    """Return a method of a match: ``group``, ``groups``, ``groupdict``, ``span``…"""

    def apply(call: Call) -> Value:
        match, *given = [arg.value if isinstance(arg, Const) else None for arg in call.args]
        if call.opaque or call.kwargs or not isinstance(match, re.Match) or None in given:
            return _unmatched()
        try:
            found = getattr(match, name)(*given)
        except (IndexError, TypeError, re.error):
            return Unknown("raises in Python")
        if isinstance(found, dict):
            items: dict[Any, Value] = {key: Const(value) for key, value in found.items()}
            return DictValue(items, path=call.interpreter.path)
        return constant(found)

    return apply


_MATCH_METHODS = frozenset("group groups groupdict span start end expand __getitem__".split())


def regex_attribute(value: Const, name: str) -> Value:
    """Return an attribute of a pattern or a match."""
    match = value.value
    if isinstance(match, re.Pattern):
        if name in _FUNCTIONS:
            return Bound(Native(f"re.{name}", _FUNCTIONS[name]), value)
        if name in ("pattern", "flags", "groups"):
            return Const(getattr(match, name))
    elif name in _MATCH_METHODS:
        return Bound(Native(f"re.Match.{name}", _of_match(name)), value)
    elif name in ("string", "lastgroup", "lastindex", "pos", "endpos", "re"):
        return Const(getattr(match, name))
    return Unknown(f"`{name}` of a regular expression")


TABLE: dict[str, _Method] = {
    "re.compile": _compile,
    "re.escape": _escape,
    "fnmatch.fnmatch": _globbing,
    "fnmatch.fnmatchcase": _globbing,
    **{f"re.{name}": function for name, function in _FUNCTIONS.items()},
}

#: Flags, by their short and long names.
CONSTANTS: dict[str, Value] = {
    f"re.{name}": Const(int(flag))
    for name, flag in re.RegexFlag.__members__.items()
    if name not in ("TEMPLATE", "T", "DEBUG", "LOCALE", "L")
}

"""Methods of strings, and ways to format values into them."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Sequence
from typing import Any

from shardlint.inference.domain.builtin_bases import mixed_in_value, seen_as
from shardlint.inference.domain.classes import class_attribute, library_bases
from shardlint.inference.domain.iteration import constant
from shardlint.inference.domain.values import Const, DictValue, Instance, ListValue, Tuple, Value, as_str
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.iterators import items_of
from shardlint.inference.overlays.jax.tree_paths import key_text
from shardlint.laws.core.values import Unknown
from shardlint.model.origins import origins_of, remembering

#: Length of the longest string that a method may make, and a pattern of numbers too large for a format.
_MAX_LENGTH, _WIDE = 10_000, re.compile(r"\d{4}|\*")
_PLAIN = (str, int, float, type(None))


def text_of(value: Value) -> str | None:
    """Return ``str(value)``, or None if it is unknown."""
    if isinstance(value, Const) and isinstance(value.value, _PLAIN):
        return str(value.value)
    if isinstance(value, Instance) and value.cls.members is not None:
        return _member_text(value)
    if isinstance(held := seen_as(value, "__str__", "__repr__", "__format__"), Const):
        value = held
        if isinstance(value.value, _PLAIN):
            return str(value.value)
    return key_text(value)


def _member_text(member: Instance) -> str | None:
    """Return the text of an enumeration's member, or None if its class may define another."""
    bases = library_bases(member.cls)
    if any(class_attribute(member.cls, name) is not None for name in ("__str__", "__format__", "__repr__")):
        return None
    if "enum.StrEnum" in bases:
        return as_str(mixed_in_value(member))
    name = as_str(member.attributes.get("name"))
    return f"{member.cls.name}.{name}" if bases == {"enum.Enum"} and name is not None else None


def _python(value: Value) -> tuple[bool, Any]:
    """Return (True, the object) for a plain constant or a value that prints as text, else (False, None)."""
    if isinstance(value, Const):
        return isinstance(value.value, (*_PLAIN, bytes)), value.value
    if isinstance(value, Tuple):
        parts = [_python(item) for item in value.items]
        return all(found for found, _ in parts), tuple(part for _, part in parts)
    text = text_of(value)
    return text is not None, text


def _method(name: str) -> Callable[[Call], Value]:
    def apply(call: Call) -> Value:
        parts = [_python(arg) for arg in call.args]
        named = {key: _python(value) for key, value in call.kwargs.items()}
        if not all(found for found, _ in (*parts, *named.values())) or call.opaque:
            return Unknown(f"str.{name} of something unknown")
        given = [part for _, part in parts]
        if _length(given) > _MAX_LENGTH:
            return Unknown("too long to compute")
        try:
            result = getattr(given[0], name)(*given[1:], **{key: part for key, (_, part) in named.items()})
        except (TypeError, ValueError, AttributeError, LookupError):
            return Unknown("raises in Python")
        known = origins_of(*given)
        if isinstance(result, list):
            return ListValue([Const(remembering(part, known)) for part in result], path=call.interpreter.path)
        return constant(remembering(result, known))

    return apply


def _length(given: Sequence[Any]) -> int:
    """Return an upper bound of the length of a method's result, since replacing and padding make it
    longer."""
    texts = [part for part in given if isinstance(part, str)]
    widths = [part for part in given[1:] if isinstance(part, int)]
    longest = max(map(len, texts[1:]), default=0)
    return max([len(texts[0]) * max(longest, 1) if len(texts) > 2 else len(texts[0]), *widths])


def _join(call: Call) -> Value:
    text = as_str(call.args[0])
    items = items_of(call.interpreter, call.args[1], call.place) if len(call.args) == 2 else None
    parts = [as_str(mixed_in_value(item) or item) for item in items or ()]
    if text is None or items is None or any(part is None for part in parts):
        return Unknown("a joined string")
    known = [part for part in parts if part is not None]
    if sum(map(len, known)) + len(text) * len(known) > _MAX_LENGTH:
        return Unknown("too long to compute")
    return Const(text.join(known))


def _format(call: Call) -> Value:
    """``text.format(...)``, if its fields are plain names or numbers."""
    text = as_str(call.args[0])
    parts = [_python(arg) for arg in call.args[1:]]
    named = {key: _python(value) for key, value in call.kwargs.items()}
    if text is None or call.opaque or not all(found for found, _ in (*parts, *named.values())):
        return Unknown("a formatted string")
    try:
        for _, field, spec, _ in string.Formatter().parse(text):
            if field is not None and (not (field + "x").isidentifier() and not field.isdigit()):
                return Unknown("a field with attributes or items")
            if spec and (_WIDE.search(spec) or "{" in spec):
                return Unknown("a formatted string")
        return _short(text.format(*(p for _, p in parts), **{key: p for key, (_, p) in named.items()}))
    except (ValueError, LookupError, TypeError):
        return Unknown("raises in Python")


def percent(text: str, given: Value) -> Value:
    """``text % given``."""
    found, values = _python(given)
    if isinstance(given, DictValue) and given.items is not None:
        parts = {key: _python(item) for key, item in given.items.items()}
        found = all(known for known, _ in parts.values())
        values = {key: part for key, (_, part) in parts.items()}
    if not found or _WIDE.search(text):
        return Unknown("a formatted string")
    try:
        return _short(text % values)
    except (TypeError, ValueError, LookupError):
        return Unknown("raises in Python")


_CONVERSIONS: dict[str, Callable[[object], str]] = {"r": repr, "a": ascii, "s": str}


def formatted(value: Value, spec: str, conversion: str | None) -> str | None:
    """Return the text of a field of an f-string, or None if it is unknown."""
    found, python_value = _python(value)
    if not found or isinstance(python_value, bytes | tuple) or _WIDE.search(spec):
        return None
    if not isinstance(value, Const) and conversion not in (None, "s"):
        return None
    try:
        if conversion is not None:
            python_value = _CONVERSIONS[conversion](python_value)
        made: str = remembering(format(python_value, spec), origins_of(python_value))
        return made
    except (TypeError, ValueError):
        return None


def _short(text: str) -> Value:
    return Const(text) if len(text) <= _MAX_LENGTH else Unknown("too long to compute")


METHODS: dict[str, Callable[[Call], Value]] = {
    "join": _join,
    "format": _format,
    **{
        name: _method(name)
        for name in (
            "split rsplit splitlines strip lstrip rstrip lower upper replace startswith endswith "
            "removeprefix removesuffix partition rpartition isdigit isalpha isalnum isidentifier isupper "
            "islower find rfind index rindex count title capitalize casefold swapcase zfill center ljust "
            "rjust encode isspace isnumeric isdecimal isascii isprintable istitle"
        ).split()
    },
}

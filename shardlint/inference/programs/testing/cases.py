"""The cases of a test: the arguments that its parameters, and those of its fixtures, are given."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import NamedTuple

from shardlint.inference.domain.iteration import iterate
from shardlint.inference.domain.values import (
    Const,
    DictValue,
    LibraryObject,
    Tuple,
    Value,
    as_bool,
    as_items,
    as_str,
)
from shardlint.inference.overlays.testing.marks import args_of, marks_in, name_of, option_of, skips
from shardlint.inference.overlays.testing.parameterized import CASES, UNKNOWN_CASES
from shardlint.inference.overlays.testing.pytest import PARAM
from shardlint.laws.core.values import Unknown
from shardlint.support.lazy_dataclass import dataclass

#: The most cases of one test that are followed, and that are made.
MAX_CASES, _MAX_MADE = 32, 10_000


@dataclass(frozen=True, slots=True)
class Case:
    """One run of a test: its arguments, and the parameters of fixtures by name.

    A case that is ``open`` has parameters that are not known; one that ``fails`` is expected to.
    """

    args: tuple[Value, ...] = ()
    kwargs: Mapping[str, Value] = field(default_factory=dict)
    requests: Mapping[str, Value] = field(default_factory=dict)
    fails: bool = False
    open: bool = False

    def with_(self, other: Case) -> Case:
        """Return the case with the parameters of another one too."""
        return Case(
            (*self.args, *other.args),
            {**self.kwargs, **other.kwargs},
            {**self.requests, **other.requests},
            self.fails or other.fails,
            self.open or other.open,
        )

    def text(self, names: Sequence[str]) -> str | None:
        """Return the parameters that are plain values, in words; ``names`` are those of the function."""
        given = {**dict(zip(names, self.args, strict=False)), **self.requests, **self.kwargs}
        shown = [f"{name}={text}" for name, value in given.items() if (text := _text(value)) is not None]
        return f"with {', '.join(shown)}" if shown and len(shown) == len(given) else None


def _text(value: Value) -> str | None:
    if isinstance(value, Const) and isinstance(value.value, int | float | str | None):
        return repr(value.value)
    items = as_items(value)
    if items is None:
        return None
    texts = [_text(item) for item in items]
    known = [text for text in texts if text is not None]
    return f"({', '.join(known)}{',' * (len(known) == 1)})" if len(known) == len(texts) < 8 else None


def cases_of(marks: Iterable[LibraryObject], fixtures: Iterable[tuple[str, Value]]) -> list[Case]:
    """Return the cases that marks and the ``params`` of fixtures give a test; of many, some spread evenly."""
    columns = [found for mark in marks if (found := _column(mark)) is not None]
    taken = {name for column in columns for case in column for name in case.requests}
    columns += [_params(name, params) for name, params in fixtures if name not in taken]
    rows = list(itertools.islice(itertools.product(*columns), _MAX_MADE))
    if len(rows) > MAX_CASES:
        rows = [rows[i * len(rows) // MAX_CASES] for i in range(MAX_CASES)]
    found = []
    for row in rows:
        case = Case()
        for part in row:
            case = case.with_(part)
        found.append(case)
    return found


def _column(mark: LibraryObject) -> list[Case] | None:
    """Return the alternatives that one mark gives; None for marks that give none."""
    name = name_of(mark)
    if name == CASES:
        return [_absl_case(one) for one in args_of(mark)]
    if name == UNKNOWN_CASES:
        return [Case(open=True)]
    return _parametrize(mark) if name == "parametrize" else None


def _absl_case(one: Value) -> Case:
    if isinstance(one, Tuple):
        return Case(one.items)
    if isinstance(one, DictValue) and one.items is not None:
        return Case(kwargs={str(key): value for key, value in one.items.items()})
    return Case(open=True)


def _parametrize(mark: LibraryObject) -> list[Case]:
    """Return the cases of ``@pytest.mark.parametrize(argnames, argvalues, indirect=False)``."""
    args = args_of(mark)
    given = args[0] if args else option_of(mark, "argnames")
    names = _names(given)
    values = iterate(args[1] if len(args) > 1 else option_of(mark, "argvalues") or Unknown("no values"))
    indirect = args[2] if len(args) > 2 else option_of(mark, "indirect") or Const(False)
    chosen = as_items(indirect)
    if names is None or (chosen is None and as_bool(indirect) is None):
        return [Case(open=True)]
    requested = set(map(as_str, chosen)) if chosen is not None else set(names) if as_bool(indirect) else set()
    # Of one name that is written in a list, each set is a sequence.
    plain = len(names) == 1 and as_str(given) is not None
    rows: list[_Row | None] = (
        [_Row(None)] if values is None else [_row(value, len(names), plain) for value in values]
    )
    found = []
    for row in (one for one in rows if one is not None):
        unknown: tuple[Value, ...] = tuple(Unknown(f"the parameter `{name}`") for name in names)
        pairs = dict(zip(names, row.items or unknown, strict=True))
        kwargs = {name: value for name, value in pairs.items() if name not in requested}
        found.append(Case((), kwargs, {name: pairs[name] for name in names if name in requested}, row.fails))
    return found


class _Row(NamedTuple):
    """The values of one parameter set, None if they are not known, and whether it is expected to fail."""

    items: tuple[Value, ...] | None
    fails: bool = False


def _names(value: Value | None) -> list[str] | None:
    """Return the names in ``"a, b"`` or ``["a", "b"]``."""
    text = as_str(value)
    if text is not None:
        return [name.strip() for name in text.split(",") if name.strip()]
    names = [as_str(item) for item in as_items(value) or ()]
    return [name for name in names if name is not None] if names and None not in names else None


def _row(value: Value, count: int, plain: bool) -> _Row | None:
    """Return one parameter set, None if it is skipped; ``plain`` ones are single values."""
    fails = False
    if isinstance(value, LibraryObject) and value.kind == PARAM:
        marks = list(marks_in(value.fields["marks"]))
        if any(map(skips, marks)):
            return None
        fails = any(name_of(mark) == "xfail" for mark in marks)
        items = as_items(value.fields["values"])
    else:
        items = (value,) if plain else iterate(value)
    return _Row(items if items is not None and len(items) == count else None, fails)


def _params(name: str, params: Value) -> list[Case]:
    """Return a case for each of the ``params`` of a fixture."""
    values = iterate(params)
    if values is None:
        return [Case(requests={name: Unknown(f"a parameter of `{name}` that is not known")})]
    rows = [row for value in values if (row := _row(value, 1, plain=True)) is not None]
    unknown: tuple[Value, ...] = (Unknown(f"a parameter of `{name}`"),)
    return [Case((), {}, {name: (row.items or unknown)[0]}, row.fails) for row in rows]

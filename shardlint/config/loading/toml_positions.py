"""The lines of keys in a TOML file, which `tomllib` does not report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Path = tuple[str, ...]


def key_lines(text: str) -> dict[Path, tuple[int, int]]:
    """Return the first and last line, from 1, of the statement that first names each key, by its path.

    Each statement of TOML is also a valid document: lines are joined until they parse. Statements that never
    do are left out.
    """
    found: dict[Path, tuple[int, int]] = {}
    header: Path = ()
    lines = text.splitlines(keepends=True)
    start = 0
    while start < len(lines):
        if not lines[start].strip() or lines[start].lstrip().startswith("#"):
            start += 1
            continue
        end, table = _statement(lines, start)
        if table is not None:
            paths = list(_paths(table))
            if lines[start].lstrip().startswith("["):
                header = paths[-1]
                paths = [header[:length] for length in range(1, len(header) + 1)]
            else:
                paths = [header + path for path in paths]
            for path in paths:
                found.setdefault(path, (start + 1, end))
        start = end
    return found


def line_of(text: str, path: Path, word: str | None = None) -> int | None:
    """Return the line of a key, or of the nearest enclosing one; or of a word in its value, if found."""
    lines = key_lines(text)
    while path and path not in lines:
        path = path[:-1]
    if not path:
        return None
    first, last = lines[path]
    if word is not None:
        numbered = enumerate(text.splitlines()[first - 1 : last], first)
        return next((n for n, line in numbered if f'"{word}"' in line or f"'{word}'" in line), first)
    return first


def _statement(lines: list[str], start: int) -> tuple[int, dict[str, Any] | None]:
    """Return the line after a statement, and its value; the next line and None if it does not parse."""
    import tomllib

    text = ""
    for end in range(start, len(lines)):
        text += lines[end]
        # Only an open bracket or string continues on the next line.
        try:
            return end + 1, tomllib.loads(text)
        except (ValueError, RecursionError):
            if not any(opening in text for opening in ("[", '"""', "'''")):
                break
    return start + 1, None


def _paths(table: Any, above: Path = ()) -> Iterator[Path]:
    """Yield the paths of all keys in a table; those in an array of tables are relative to its items."""
    if isinstance(table, list) and len(table) == 1:
        table = table[0]
    if isinstance(table, dict):
        for key, value in table.items():
            yield (*above, key)
            yield from _paths(value, (*above, key))

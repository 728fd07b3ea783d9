"""Locations in the form that code-review services expect."""

from __future__ import annotations

import os
from collections.abc import Callable

from shardlint.model.spans import Span

#: Converts a span inside a notebook's cell to its position in the file; other spans are unchanged.
InFile = Callable[[Span], Span]

#: Environment variables with the root of the checkout in CI services.
_CHECKOUTS = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")


def project_path(path: str) -> str:
    """Return a path with slashes, relative to the checkout of a CI service, else to the working directory.

    Paths outside of it stay absolute.
    """
    root = next((os.environ[name] for name in _CHECKOUTS if os.environ.get(name)), os.getcwd())
    absolute = os.path.abspath(path)
    for base, file in ((root, absolute), (os.path.realpath(root), os.path.realpath(absolute))):
        if file.startswith(os.path.join(base, "")):
            return os.path.relpath(file, base).replace(os.sep, "/")
    return absolute.replace(os.sep, "/")


def cell_text(span: Span) -> str:
    """Return the cell of a span as a prefix of a message: ``cell 3, line 2: ``; empty in a file."""
    return "" if span.cell is None else f"cell {span.cell}, line {span.line}: "

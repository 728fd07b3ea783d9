"""Locations in the form that code-review services expect."""

from __future__ import annotations

import os
from collections.abc import Callable

from shardlint.model.spans import Span

#: From a span that counts inside a notebook's cell to where its text is in the file; others as they are.
InFile = Callable[[Span], Span]

#: What CI services call the root of the checkout.
_CHECKOUTS = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")


def project_path(path: str) -> str:
    """Return a path with slashes, relative to the checkout of a CI service, else to where the user is.

    What lies outside of it stays absolute.
    """
    root = next((os.environ[name] for name in _CHECKOUTS if os.environ.get(name)), os.getcwd())
    absolute = os.path.abspath(path)
    for base, file in ((root, absolute), (os.path.realpath(root), os.path.realpath(absolute))):
        if file.startswith(os.path.join(base, "")):
            return os.path.relpath(file, base).replace(os.sep, "/")
    return absolute.replace(os.sep, "/")


def cell_text(span: Span) -> str:
    """Say which cell of a notebook a span is in, for a message: ``cell 3, line 2: ``; nothing in a file."""
    return "" if span.cell is None else f"cell {span.cell}, line {span.line}: "

"""The page of a rule: its address, and its first paragraph."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

#: Returns the address of a rule's page by the rule's name, None where it is not published.
PageOf = Callable[[str], str | None]

_LINK = re.compile(r"https://[^\s<>()\[\]\"'`]+[^\s<>()\[\]\"'`.,;:]")
_HEADING = re.compile(r"^#+ .*$", re.MULTILINE)


class Page(Protocol):
    """A documented rule: ``docs`` is Markdown."""

    @property
    def code(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def summary(self) -> str: ...
    @property
    def docs(self) -> str: ...


def address(page: Page, page_of: PageOf | None = None) -> str | None:
    """Return the address that explains a rule: its page, else the first link of its documentation."""
    published = None if page_of is None else page_of(page.name)
    link = _LINK.search(page.docs)
    return published or (link and link[0])


def description(page: Page) -> str:
    """Return the first paragraph of a rule's documentation, on one line."""
    texts = (_HEADING.sub("", part) for part in page.docs.split("\n\n"))
    return next((" ".join(text.split()) for text in texts if text.strip()), page.summary)

"""Strings that speak to whatever shows them, and what to look for in what was shown."""

from __future__ import annotations

import importlib.util
import json
import re
import unicodedata
from collections.abc import Iterator

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

FRAGMENTS = [
    "\n::error title=x::y\n", "::stop-commands::t", " ::add-mask::x", "##[add-mask]x",
    "##vso[task.setvariable]x", "\x1b[2J", "\x1b]8;;https://evil.example\x07", "\x9b31m", "\x07", "\x08",
    "\x00", "\x7f", "\x85", "\r", "\r\n", "\n", "\n\n", "\t", " ", "\u00a0", "\u00ad", "\u061c", "\u200b",
    "\u200d", "\u200e", "\u200f", "\u2028", "\u2029", "\u202a", "\u202e", "\u2060", "\u2066", "\u2069",
    "\ufeff", "\ufe0f", "\U000e0041", "\ud800", "\udcff", "\ufffe", "[a](command:b)",
    "[a](https://evil.example)", "![x](https://evil.example/i.png)", "[a]: https://evil.example",
    "<https://evil.example>", "<img src=x onerror=alert(1)>", "<script>alert(1)</script>", "</code>",
    "</title>", "<!--", "]]>", "&lt;", "&#x3c;", "https://evil.example", "HTTP://EVIL.example",
    "www.evil.example", "a@evil.example", "mailto:a@evil.example", "`", "``", "```", "~~~", "\n# heading\n",
    "\n---\n", "===", "- ", "+ ", "* ", "> ", "1. ", "1) ", "    ", "**", "_", "__", "~~", "|", "\n|-|\n",
    "\\", "$", "{0}", '"', "'", "%0A", ":", "#", "a", "model", "é", "轴", "x::y",
]  # fmt: skip
#: However slow the machine is.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
#: Surrogates stand alone: JSON joins those that stand as a pair.
texts = (
    st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=3)), max_size=6)
    .map("".join)
    .map(lambda text: str(json.loads(json.dumps(text))))
)
#: Names that files may have, on Linux.
names = texts.map(lambda text: re.sub("[/\0]|[\ud800-\udc7f\udd00-\udfff]", "", text)[:40]).map(
    lambda name: f"{name}.py"
)

_SILENT = {"Cc", "Cf", "Zl", "Zp", "Cs"}
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def silent(text: str) -> list[str]:
    """The characters of a line that nobody sees, and that may speak to a terminal."""
    return [char for char in text if unicodedata.category(char) in _SILENT or _BIDI.match(char)]


def commands(text: str) -> list[str]:
    """The lines that a CI service would obey, as GitHub's runner finds them.

    Two colons and a space are no command: it would have no name.
    """
    return [
        line
        for line in text.split("\n")
        if re.match(r"[^!-~]*:[^!-~]*:(?! )", line) or re.search(r"##\w*\[", line)
    ]


def assert_shown(text: str) -> None:
    """Check what is printed in lines."""
    assert silent(text.replace("\n", "")) == []
    assert commands(text) == []


class _Willing(MarkdownIt):
    """A parser that takes any address for one."""

    def validateLink(self, url: str) -> bool:
        return True


def parsers() -> Iterator[MarkdownIt]:
    """Parsers that know as much of Markdown as editors do, and more."""
    yield _Willing("commonmark", {"html": True}).enable(["table", "strikethrough"])
    if importlib.util.find_spec("linkify_it") is not None:
        yield _Willing("gfm-like", {"html": True})


def tokens(parser: MarkdownIt, text: str) -> list[Token]:
    """All tokens of a text, also those within lines."""
    found = parser.parse(text)
    return [*found, *(child for token in found for child in token.children or ())]


def rendered(parser: MarkdownIt, text: str) -> str:
    """The text that a reader sees."""
    return "".join(
        token.content
        for token in tokens(parser, text)
        if token.type in ("text", "code_inline", "text_special")
    )

"""Untrusted text, escaped for each medium that shows it: one function for each medium.

Names of files and axes, and all quoted source, may hold newlines, escape sequences, bidirectional controls,
Markdown, HTML, and strings that CI services take for commands. Whatever is shown goes through one of these.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Any

#: The replacement for a character that is not shown.
MARK = "\ufffd"
#: Controls, formats (bidirectional, joiners, tags, ...), ends of lines and paragraphs, halves of surrogates.
_SILENT = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs"})

#: GitHub's runner obeys a line that begins with `::`, and a `##[` anywhere in one, as other services obey
#: `##vso[` and `##teamcity[`. It compares by a culture, which may ignore characters beyond ASCII.
_FIRST = re.compile(r"^(?:[^!-~]|:)*:(?=[^!-~]*:)")
_ANYWHERE = re.compile(r"(#[^\x00-\x7f]*)#(?=[^\x00-\x7f]*\w*\[)")

_LINK = re.compile(r"\](?=\()")
#: Characters that Markdown, or GitHub's or VS Code's, may read as markup; not an underscore within a word.
_MARKUP = re.compile(
    r"[\\`*\[\]<>&~|$@] | (?<![^\W_])_ | _(?![^\W_]) | :(?=//) | (?<=www)\.", re.VERBOSE | re.IGNORECASE
)
_BLOCK = re.compile(r"^(?:(?=[#+=-])|(?P<number>\d+)(?=[.)]))")
_CODE = re.compile(r"(`[^`]+`)")
#: Characters with a meaning in an address, and brackets, which would end Markdown's.
_RESERVED = "%:/?#@!$&'*+,;=-._~"
#: Characters that XML 1.0 cannot represent.
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_XML_CODES = {ord(char): f"&#{ord(char)};" for char in "\t\r\x7f"}


# -- plain text -------------------------------------------------------------------------------------


def plain(text: str) -> str:
    """Return a text as one line of visible characters, for a label or a message in an editor."""
    if text.isprintable():
        return text
    return "".join(MARK if unicodedata.category(char) in _SILENT else char for char in text)


def message(text: str) -> str:
    """Return a text for a message in which ``[text](address)`` would become a link, of SARIF or VS Code."""
    return _LINK.sub("] ", plain(text))


def messages(text: str) -> str:
    """Return a text of several lines for such a message."""
    return "\n".join(map(message, text.split("\n")))


# -- terminals and logs -----------------------------------------------------------------------------


def terminal(text: str, *, begins: bool = True) -> str:
    """Return a text for a line of a terminal or of a CI service's log.

    ``begins`` is true if it may be the beginning of its line.
    """
    return _inert(plain(text), begins)


def lines(text: str) -> str:
    """Return a text of several lines for a terminal or a log."""
    return "\n".join(map(terminal, text.split("\n")))


def drawn(text: str) -> str:
    """Return lines that were laid out of texts for a terminal, where any of them may now begin a line."""
    return "\n".join(_inert(line, True) for line in text.split("\n"))


def _inert(line: str, begins: bool) -> str:
    if "::" not in line and "#" not in line and line.isascii():
        return line
    line = _ANYWHERE.sub(rf"\1{MARK}", line)
    return _FIRST.sub(lambda found: found[0].replace(":", MARK), line) if begins else line


# -- Markdown ---------------------------------------------------------------------------------------


def markdown(text: str) -> str:
    """Return a text in Markdown, in which only backticks are markup: they delimit code."""
    parts = _CODE.split(plain(text).strip())
    return "".join(code(part[1:-1]) if _CODE.fullmatch(part) else _escaped(part) for part in parts)


def code(text: str) -> str:
    """Return a text as code in Markdown."""
    shown = plain(text) or " "
    fence = "`" * (max(map(len, re.findall("`+", shown)), default=0) + 1)
    # Markdown strips one space from each end of a code span, unless it is all spaces.
    space = " " if shown.strip(" ") and {shown[0], shown[-1]} & {"`", " "} else ""
    return f"{fence}{space}{shown}{space}{fence}"


def cell(text: str, *, as_code: bool = False) -> str:
    """Return a text for a cell of a table in Markdown, in which nothing is markup nor ends the cell."""
    # A bar ends a cell within code too, and parsers differ on how to escape it there.
    return code(text) if as_code and not set(text) & {"|", "`"} else _escaped(plain(text).strip())


def link(text: str, address: str) -> str:
    """Return a link in Markdown to a trusted address."""
    from urllib.parse import quote

    # VS Code's parser strips the backslashes of brackets within a link, and then finds links in it.
    label = _escaped(plain(text).strip()).replace("\\[", "&#91;").replace("\\]", "&#93;")
    return f"[{label}]({quote(address, safe=_RESERVED, errors='replace').replace('&', '&amp;')})"


def block(rows: Iterable[str]) -> str:
    """Return lines as a block of text in Markdown."""
    return "\n".join(["```text", *(plain(row).replace("```", f"{MARK}``") for row in rows), "```"])


def _escaped(text: str) -> str:
    text = _BLOCK.sub(lambda found: f"{found['number'] or ''}\\", _MARKUP.sub(r"\\\g<0>", text))
    # It also ignores the escape of a backtick when it looks for code.
    return text.replace("\\`", "&#96;")


# -- documents --------------------------------------------------------------------------------------


def html(text: str) -> str:
    """Return a text in HTML, also within quotes."""
    from html import escape

    return escape(terminal(text))


def xml(text: str) -> str:
    """Return a text whose characters that XML cannot represent are replaced."""
    return _NOT_XML.sub(MARK, text)


def xml_document(written: str) -> str:
    """Return an XML document in ASCII in which no log finds a command."""
    lines = (line.translate(_XML_CODES) for line in written.split("\n"))
    lines = (re.sub(r"##(?=\w*\[)", "#&#35;", line) for line in lines)
    return "\n".join(re.sub("^( *):(?=:)", r"\1&#58;", line) for line in lines)


def json_document(value: Any) -> str:
    """Return a value as JSON in ASCII, with a newline at its end; nothing of a text is lost."""
    import json

    return quoted(json.dumps(value, indent=2)) + "\n"


def quoted(written: str) -> str:
    """Return JSON or TOML whose strings escape the characters that a terminal or a log would interpret."""
    written = re.sub(r"##(?=\w*\[)", r"#\\u0023", written)
    return "\n".join(_escapes(line) for line in written.split("\n"))


def _escapes(line: str) -> str:
    if line.isprintable():
        return line
    codes = {ord(char) for char in line if unicodedata.category(char) in _SILENT}
    return line.translate({code: f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}" for code in codes})

"""Comments that address shardlint: what to ignore, and how many devices there are."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from shardlint.files.lexing import comments, next_code_line

_DIRECTIVE = re.compile(r"#\s*shardlint:\s*(?P<verb>ignore-file|ignore)\b(?:\[(?P<codes>[^\]]*)\])?")
_DEVICES = re.compile(r"#\s*shardlint:.*?\bdevices\s*=\s*(?P<count>\d+)")
#: A notebook sets XLA's flags by a magic, which is blanked before anything evaluates the cell.
_DEVICES_MAGIC = re.compile(
    r"^%(?:set_)?env\s+XLA_FLAGS\b[^\r\n]*--xla_force_host_platform_device_count=(?P<count>\d+)", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Suppression:
    """``# shardlint: ignore[SHL202, SHL3]`` on a line; ``codes`` are codes, their beginnings, or names.

    ``line`` is the line it speaks of, None for the whole file. Without codes it ignores everything.
    """

    line: int | None
    codes: tuple[str, ...]

    def covers(self, code: str, name: str, first: int, last: int) -> bool:
        """Whether a finding with this code and name on these lines is ignored."""
        if self.line is not None and not first <= self.line <= last:
            return False
        return not self.codes or matches(code, name, self.codes)


def matches(code: str, name: str, selectors: Iterable[str]) -> bool:
    """Whether a rule is meant by one of the selectors: a code, the beginning of one, a name, ``ALL``."""
    return any(s == "ALL" or s == name or code.startswith(s.upper()) for s in selectors if s)


@lru_cache(maxsize=16)
def suppressions(text: str) -> tuple[Suppression, ...]:
    """Return the suppressions of a cell. A comment on a line of its own speaks of the next line of code.

    Every finding asks for those of its file.
    """
    if "shardlint:" not in text:
        return ()
    found = []
    for comment in comments(text):
        if (match := _DIRECTIVE.match(comment.text)) is None:
            continue
        codes = tuple(code.strip() for code in (match["codes"] or "").split(",") if code.strip())
        if match["verb"] == "ignore-file":
            found.append(Suppression(None, codes))
        else:
            line = next_code_line(text, comment.line) if comment.alone else comment.line
            found.append(Suppression(line, codes))
    return tuple(found)


def device_count(text: str) -> int | None:
    """Return the number of devices that a comment (or a notebook's ``%env XLA_FLAGS``) states."""
    if "shardlint:" in text:
        for comment in comments(text):
            if match := _DEVICES.match(comment.text):
                return int(match["count"])
    match = _DEVICES_MAGIC.search(text) if "XLA_FLAGS" in text else None
    return int(match["count"]) if match else None

"""All formats by name, each imported on demand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from shardlint.model.findings import Finding
from shardlint.model.spans import Span
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.output.formats.locations import InFile
    from shardlint.output.rule_links import Page, PageOf
    from shardlint.output.terminal_styles import Styles

#: Formats for people, which may end in a summary, and those for services.
TEXT_FORMATS = ("full", "concise")
FORMATS = (*TEXT_FORMATS, "json", "sarif", "github", "gitlab", "junit")


@dataclass(frozen=True, slots=True)
class Results:
    """The input of a format.

    ``shown`` are the findings, in reading order; ``lines`` returns the lines of a span's file or cell,
    ``in_file`` the position of a span in its file; ``pages`` are the rules' documentation by code, and
    ``page_of`` returns the address of a page. ``asked`` is true if JAX was to confirm the findings, ``notes``
    are further messages, ``failed`` is true if not everything could be checked.
    """

    shown: tuple[Finding, ...]
    lines: Callable[[Span], Sequence[str]]
    in_file: InFile
    pages: Callable[[], Mapping[str, Page]]
    version: str
    asked: bool = False
    notes: tuple[str, ...] = ()
    failed: bool = False
    page_of: PageOf | None = None


def render(name: str, results: Results, styles: Styles) -> str:
    """Return the findings in a format."""
    if name in TEXT_FORMATS and not results.shown:
        return ""
    if name == "full":
        from shardlint.output.formats import full

        pages = results.pages() if styles.links else {}
        return full.render(
            results.shown, results.lines, styles, asked=results.asked, pages=pages, page_of=results.page_of
        )
    if name == "concise":
        from shardlint.output.formats import concise

        return concise.render(results.shown)
    if name == "sarif":
        from shardlint.output.formats import sarif

        run = sarif.Run(results.version, results.notes, results.failed, results.page_of)
        return sarif.render(results.shown, results.pages(), results.lines, results.in_file, run)
    if name == "github":
        from shardlint.output.formats import github

        return github.render(results.shown, results.in_file)
    if name == "gitlab":
        from shardlint.output.formats import gitlab

        return gitlab.render(results.shown, results.lines, results.in_file)
    if name == "junit":
        from shardlint.output.formats import junit

        return junit.render(results.shown)
    from shardlint.output.formats import json

    return json.render(results.shown)

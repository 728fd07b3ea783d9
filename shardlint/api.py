"""The one facade: what the command line, the server and the tests call.

It takes what they need from the rooms of the package and does nothing itself; the work is the
`linter`'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardlint.config import (
    CommandLine,
    ConfigError,
    Configurations,
    Settings,
    known_rules,
    load_settings,
    parse_mesh,
)
from shardlint.engine.results import Report
from shardlint.ide import compiling
from shardlint.ide import session as editing
from shardlint.ide.analysis import Analysis, axes_of
from shardlint.laws.versions import Release
from shardlint.linter import Linter
from shardlint.output.rule_links import address
from shardlint.source import Source, read_source, source_from_cells, source_from_text
from shardlint.source.excerpts import Excerpts
from shardlint.support import media

if TYPE_CHECKING:
    from shardlint.engine.analyzer import Progress as Progress
    from shardlint.ide.axis_index import Axis as Axis
    from shardlint.ide.axis_index import AxisIndex as AxisIndex
    from shardlint.ide.hover_facts import Hint as Hint
    from shardlint.ide.hover_facts import Knowledge as Knowledge
    from shardlint.ide.hover_facts import Known as Known
    from shardlint.ide.outline import Symbol as Symbol
    from shardlint.ide.word_completion import Word as Word
    from shardlint.report.values import InitReport as InitReport
    from shardlint.report.values import ParameterReport as ParameterReport

__all__ = [
    "Analysis", "CommandLine", "ConfigError", "Configurations", "Excerpts", "Linter", "Release", "Report",
    "Settings", "Source", "address", "axes_of", "compiling", "editing", "known_rules", "load_settings",
    "media", "parse_mesh", "read_source", "source_from_cells", "source_from_text",
]  # fmt: skip

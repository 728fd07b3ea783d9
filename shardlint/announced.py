"""What the comments of a fixture announce."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from shardlint.model.findings import Finding
from shardlint.source import Source

if TYPE_CHECKING:
    from shardlint.confirm.expectations import Expectation


def expectations_of(source: Source) -> list[Expectation]:
    """Return what a source's comments announce, cell by cell."""
    from shardlint.confirm.expectations import parse_expectations

    return [
        dataclasses.replace(expectation, cell=cell.index)
        for cell in source.cells
        for expectation in parse_expectations(cell.written)
    ]


def announces(expectation: Expectation, finding: Finding) -> bool:
    """Whether a comment announces a finding: by its code, on one of its lines."""
    span = finding.span
    here = expectation.cell == span.cell and span.line <= expectation.line <= span.end_line
    return here and finding.code in expectation.codes

"""The compiled programs of a fixture, judged under its settings."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING

from shardlint.config import Settings
from shardlint.config.selection import ignored_codes, selected_codes, severities
from shardlint.cost.chips import Slice
from shardlint.cost.judgement import Budget, judge
from shardlint.cost.runs import compile_file
from shardlint.cost.values import Compilation
from shardlint.engine.suppression import Suppressor
from shardlint.model.findings import Finding, Severity
from shardlint.source import read_source

if TYPE_CHECKING:
    from shardlint.confirm.child_process import Child


def compile_fixture(
    path: str,
    settings: Settings,
    python: str | None = None,
    devices: int | None = None,
    timeout: float = 600,
    started: Callable[[Child], None] | None = None,
    slice_: Slice | None = None,
) -> tuple[Compilation, list[Finding]]:
    """Run a fixture, the user's own code, and return what it compiles to, and the findings about that.

    The arguments are those of `compile_file`.
    """
    compilation = compile_file(
        path, python=python, devices=devices, timeout=timeout, started=started, slice_=slice_
    )
    return compilation, findings_about(compilation, settings)


def findings_about(compilation: Compilation, settings: Settings) -> list[Finding]:
    """Return the findings that are selected and not ignored, with their configured severities."""
    has = None if compilation.slice is None else compilation.slice.chip.hbm
    hbm = has if settings.cost_hbm is None else settings.cost_hbm
    budget = Budget(hbm, settings.cost_sent, settings.cost_reshard, settings.replicated_bytes)
    source = read_source(compilation.path)
    suppressor = Suppressor([source])
    codes = selected_codes(settings) - ignored_codes(settings, compilation.path)
    levels = severities(settings)
    return [
        dataclasses.replace(finding, severity=Severity(levels.get(finding.code, finding.severity)))
        for finding in judge(compilation, source, budget)
        if finding.code in codes and not suppressor.ignores(finding)
    ]

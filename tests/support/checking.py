"""Findings in the text of one program."""

from __future__ import annotations

from typing import Any

from shardlint.api import Linter, Settings, source_from_text
from shardlint.laws.versions import parse_target
from shardlint.model.findings import Finding


def check(text: str, path: str = "program.py", target: str | None = None, **settings: Any) -> list[Finding]:
    """Return what is found in a program, for a target, and on 8 devices unless settings say otherwise."""
    if target is not None:
        settings["target_jax"] = parse_target(target)
    return Linter(Settings(**{"devices": 8, **settings})).check_source(source_from_text(path, text))

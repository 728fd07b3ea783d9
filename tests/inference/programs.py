"""The programs of `small_programs.md`, and what stands before each of them."""

from __future__ import annotations

from pathlib import Path

from support.documents import read_programs

PROGRAMS = read_programs(Path(__file__).with_name("small_programs.md"))
SETUP = PROGRAMS[0].parts[0]

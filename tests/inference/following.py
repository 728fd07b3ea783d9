"""Random edits of a program that stays, each compared with a check that knows nothing of those before."""

from __future__ import annotations

import ast
import dataclasses
import keyword
import random
import re

import pytest
from support.sizes import size

from shardlint.api import Linter, source_from_text
from shardlint.config import Settings
from shardlint.engine.analyzer import Analyzer
from shardlint.engine.open_programs import Programs
from shardlint.inference.programs.session import Resumable
from shardlint.model.findings import Finding
from shardlint.source.sources import Source

#: Edits of each file; the environment may ask for more.
EDITS = size("SHARDLINT_EDITS", 4, 8)
#: Sequences of edits of each program.
SEEDS = range(size("SHARDLINT_EDIT_SEEDS", 2, 4))


def told(findings: list[Finding]) -> list[str]:
    """Findings as they can be compared: objects in them have addresses."""
    return [re.sub(r" at 0x\w+|id=\d+", "", repr(finding)) for finding in findings]


def edited(text: str, chance: random.Random) -> str:
    """A text with something else in one line, or a line more or less."""
    lines = text.split("\n")
    at = chance.randrange(len(lines))
    line = lines[at]
    indent = re.match(r"\s*", line)[0]  # type: ignore[index]
    match chance.randrange(10):
        case 0 | 9:
            # Names of variables too: what reads one depends on it.
            words = [word for word in re.findall(r"[^\W\d]\w*", text) if not keyword.iskeyword(word)]
            value = chance.choice((str(chance.randrange(9)), chance.choice(words or ["x"])))
            lines.insert(at, f"{indent}{chance.choice(('note = ', 'return ', ''))}{value}")
        case 1:
            lines[at] = line + "  # seen"
        case 2 if line.strip():
            del lines[at]
        case 3:
            lines[at] = re.sub(r"\d+", lambda _: str(chance.randrange(1, 9)), line)
        case 4:
            lines[at] = line.replace('"data"', '"model"').replace("x", "y")
        case 5:
            lines.insert(at, line)
        case 6 | 7 if line.strip():
            # A key that is hit twice, or missed.
            place = chance.choice([match.start() for match in re.finditer(r"\S", line)])
            lines[at] = line[:place] + chance.choice(("", line[place] * 2)) + line[place + 1 :]
        case _:
            place = chance.randrange(len(line) + 1)
            lines[at] = line[:place] + chance.choice("x1 (,:#'\n") + line[place:]
    return "\n".join(lines)


def programs_made(patch: pytest.MonkeyPatch) -> list[Source]:
    """The sources of all programs that are made from now on."""
    made: list[Source] = []
    begin = Resumable._begin

    def beginning(program: Resumable, source: Source) -> None:
        made.append(source)
        begin(program, source)

    patch.setattr(Resumable, "_begin", beginning)
    return made


def follow(path: str, text: str, edits: int, seed: str) -> tuple[int, int]:
    """Edit a text step by step and compare; return how often a program was made, and how often asked."""
    asked = 0
    chance = random.Random(seed)
    settings = dataclasses.replace(Settings(devices=8), editing=True)
    staying = Linter(settings, analyzer=Analyzer(programs=Programs()))
    with pytest.MonkeyPatch.context() as patch:
        made = programs_made(patch)
        for step in range(edits):
            if step:
                after = edited(text, chance)
                if chance.random() < 0.7 and not parses(after):
                    continue
                # Some edits are taken back, so that the next one is two edits away.
                text, before = after, text
            source = source_from_text(path, text)
            asked += 1
            assert told(staying.check_source(source)) == told(Linter(settings).check_source(source)), text
            if step and chance.random() < 0.3:
                text = before
    return len(made), asked


def parses(text: str) -> bool:
    """Whether Python can read a text."""
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True

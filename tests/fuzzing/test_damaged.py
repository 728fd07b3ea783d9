"""Damaged programs: whatever is deleted or doubled in a real file, analysis ends without an exception.

And it is deterministic: the same text gives the same findings, whatever the hash seed, and whether or
not functions that cannot matter are evaluated too.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from pathlib import Path

import jax
import pytest
from fuzz_texts import damaged
from support.checking import check

from shardlint.api import Linter, source_from_text
from shardlint.config import Settings
from shardlint.inference import InferenceSettings, analyze
from shardlint.source.sources import read_source

FIXTURES = Path(__file__).parents[2] / "fixtures"
FILES = sorted(FIXTURES.glob("*.py"))
#: Damaged copies of each file, and a folder of more files; the environment may ask for more.
COPIES = int(os.environ.get("SHARDLINT_DAMAGED", "2"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_damaged_programs_end_without_an_exception(file: Path) -> None:
    chance = random.Random(file.name)
    text = file.read_text(encoding="utf-8")
    for _ in range(COPIES):
        for use in analyze(
            [source_from_text("damaged.py", damaged(text, chance))], InferenceSettings(devices=8)
        ):
            use.place.resolve()


SHOW = """
import sys
from shardlint.api import Linter
from shardlint.config import Settings
for finding in Linter(Settings()).check_paths(sys.argv[1:]).findings:
    print(finding)
"""


def test_findings_do_not_depend_on_the_hash_seed() -> None:
    def shown(seed: str) -> str:
        command = [sys.executable, "-c", SHOW, *map(str, FILES)]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return re.sub(r" at 0x\w+|id=\d+", "", result.stdout)

    lines = [
        re.findall(r"code='(\w+)'.*?message=(.*?), span=(Span\(.*?\))", shown(seed)) for seed in ("0", "1")
    ]
    assert lines[0] == lines[1]
    assert len(lines[0]) > 20


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_functions_that_are_left_out_would_add_nothing(file: Path) -> None:
    source = read_source(str(file))
    plain, exhaustive = (
        [(f.code, f.message, f.span) for f in Linter(Settings(exhaustive=flag)).check_source(source)]
        for flag in (False, True)
    )
    assert plain == exhaustive


def test_removed_names_that_say_nothing_of_sharding_matter_too() -> None:
    program = (
        "import jax\nmesh = jax.make_mesh((1,), ('x',))\n"
        "def spread(prefix, tree):\n"
        "    def each(leaf, tree):\n        return jax.tree_map(lambda _: leaf, tree)\n"
        "    return jax.tree_map(each, prefix, tree)\n"
    )
    for flag in (False, True):
        found = check(program, devices=None, exhaustive=flag)
        assert [(finding.code, finding.span.line) for finding in found] == [("SHL802", 5), ("SHL802", 6)]
    assert not hasattr(jax, "tree_map")

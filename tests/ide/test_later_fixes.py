"""In an editor, fixes that no common cause depends on are computed when it offers them."""

from __future__ import annotations

import pytest

from shardlint.api import Analysis, Linter, Settings, source_from_text

RENAMED = "from jax.experimental.shard_map import shard_map\nfrom jax.experimental.pjit import pjit\n"
UNKNOWN = """import jax
from jax.sharding import NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((4, 2), ("data", "model"))
"""


def analysis(text: str, editing: bool) -> Analysis:
    return Linter(Settings(devices=8, editing=editing)).analysis(source_from_text("program.py", text))


@pytest.mark.parametrize(
    ("text", "at_once"),
    [
        (RENAMED, False),
        (UNKNOWN + 'a = NamedSharding(mesh, P("modle"))\n', False),
        (UNKNOWN + 'a = NamedSharding(mesh, P("modle"))\nb = NamedSharding(mesh, P("dta"))\n', True),
    ],
    ids=["renamed names", "one mistake", "mistakes that may have one cause"],
)
def test_fixes_are_the_same_sooner_or_later(text: str, at_once: bool) -> None:
    later, whole = analysis(text, editing=True), analysis(text, editing=False)
    assert [f.fix for f in later.fixable] == [f.fix for f in whole.findings] and whole.findings
    assert all(f.fix is not None for f in whole.findings)
    assert all((f.fix is not None) is at_once for f in later.findings)
    assert [f.cause for f in later.findings] == [f.cause for f in whole.findings]

"""The ecosystem check itself, on a checkout of one file."""

from __future__ import annotations

from pathlib import Path

import compare_revisions as ecosystem
import pytest

BROKEN = """\
import jax
from jax.sharding import PartitionSpec as P

spec = P({"data"})
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(BROKEN)
    return tmp_path


def test_a_revision_against_itself(checkout: Path) -> None:
    found = ecosystem.run(ecosystem.ROOT, checkout)
    assert [key[:3] for key in found.findings] == [("train.py", 4, "SHL101")]
    lines = list(ecosystem.report("checkout", found, found))
    assert len(lines) == 1
    assert "1 findings, then 1 (+0 -0); crashes 0, then 0" in lines[0]


def test_what_is_gained_and_lost(checkout: Path) -> None:
    found = ecosystem.run(ecosystem.ROOT, checkout)
    nothing = ecosystem.Run({}, 1.0)
    gained, _ = ecosystem.report("checkout", nothing, found)
    lost, _ = ecosystem.report("checkout", found, nothing)
    assert gained.startswith("+ checkout/train.py:4: error[SHL101]")
    assert lost.startswith("- checkout/train.py:4: error[SHL101]")


def test_a_crash_is_seen(checkout: Path, tmp_path: Path) -> None:
    """A folder that holds no working shardlint."""
    broken = tmp_path / "broken" / "shardlint"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("")
    (broken / "__main__.py").write_text("raise RuntimeError('no such luck')")
    found = ecosystem.run(broken.parent, checkout)
    assert (found.crashes, found.findings) == (1, {})
    assert any("no such luck" in line for line in ecosystem.report("checkout", found, found))


def test_revisions_are_unpacked_and_removed(tmp_path: Path) -> None:
    with ecosystem.unpacked(str(tmp_path), tmp_path / "unused") as folder:
        assert folder == tmp_path
    assert not (tmp_path / "unused").exists()

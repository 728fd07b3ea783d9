"""The laws beside every release that was measured: nothing is wrong that is not known."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parents[1] / name) for name in ("laws", "propagation")]

import law_checks  # noqa: E402
import published  # noqa: E402
import release_files  # noqa: E402

from shardlint.laws.versions.public_names import PUBLISHED  # noqa: E402


@pytest.mark.parametrize("release", release_files.stored())
def test_no_law_contradicts_a_release_that_did_not_before(release: str) -> None:
    checked = law_checks.check(release)
    over = law_checks.more_than_known(release, checked)
    examples = [one for one in checked.wrong if any(what.endswith(one.kind) for what in over)]
    assert not over, "\n".join([str(over), *map(str, examples[:5])])


def test_the_public_names_are_those_of_the_measured_releases() -> None:
    assert {module: frozenset(names) for module, names in published.published().items()} == PUBLISHED


def test_the_keywords_are_those_of_the_measured_releases() -> None:
    assert published.keywords_text() == published.KEYWORDS.read_text(encoding="utf-8")


@pytest.mark.parametrize("release", release_files.stored())
def test_a_file_is_written_alike_in_whatever_order_it_was_measured(
    release: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = release_files.read(release)
    held["matrix"] = {group: dict(reversed(cells.items())) for group, cells in held["matrix"].items()}
    before = (release_files.FOLDER / f"{release}.json").read_text(encoding="utf-8")
    monkeypatch.setattr(release_files, "FOLDER", tmp_path)
    assert release_files.write(release, held).read_text(encoding="utf-8") == before

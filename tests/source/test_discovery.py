"""Which files are checked: folders, excludes, `.gitignore`, links, and files named by the user."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from shardlint.config import DEFAULT_EXCLUDE
from shardlint.source.workspace.discovery import Discovered, Filter, discover


def tree(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")


def discovered(root: Path, *paths: Path, **options: Any) -> list[Discovered]:
    filter = Filter(**{"root": str(root), "exclude": DEFAULT_EXCLUDE, **options})
    return discover(map(str, paths), lambda folder: filter)


def found(root: Path, *paths: str, **options: Any) -> list[str]:
    files = discovered(root, *(root / path for path in paths or (".",)), **options)
    return [os.path.relpath(file.path, root).replace(os.sep, "/") for file in files]


def test_folders_are_walked_in_name_order(tmp_path: Path) -> None:
    tree(tmp_path, "b.py", "a/z.py", "a/b/c.ipynb", "a.pyi", "a/notes.txt", "c/x.pyc")
    assert found(tmp_path) == ["a.pyi", "b.py", "a/z.py", "a/b/c.ipynb"]


def test_folders_without_code_of_the_project_are_left_out(tmp_path: Path) -> None:
    tree(
        tmp_path,
        ".git/a.py",
        ".venv/a.py",
        "x/node_modules/a.py",
        "build/a.py",
        "x/__pycache__/a.py",
        "x/a.py",
    )
    tree(tmp_path, "env.egg-info/a.py", "x/builder/a.py", ".ipynb_checkpoints/a.ipynb")
    assert found(tmp_path) == ["x/a.py", "x/builder/a.py"]


def test_a_named_file_or_folder_is_always_taken(tmp_path: Path) -> None:
    tree(tmp_path, "build/a.py", "build/b.txt", "c.py")
    assert found(tmp_path, "build") == ["build/a.py"]
    assert found(tmp_path, "build/b.txt", "no.py") == ["build/b.txt", "no.py"]
    assert [file.named for file in discovered(tmp_path, tmp_path / "c.py", tmp_path)] == [True]
    assert [file.named for file in discovered(tmp_path, tmp_path, tmp_path / "c.py")] == [True]


def test_gitignore_files_hold_below_where_they_stand(tmp_path: Path) -> None:
    tree(tmp_path, "a.py", "gen/a.py", "x/a.py", "x/keep/gen.py", "x/out_1.py", "x/y/out_2.py", "y/out_3.py")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("/gen/\n")
    (tmp_path / "x" / ".gitignore").write_text("out_*\n!out_2.py\n")
    assert found(tmp_path) == ["a.py", "x/a.py", "x/keep/gen.py", "x/y/out_2.py", "y/out_3.py"]


def test_gitignore_files_above_hold_up_to_the_repository(tmp_path: Path) -> None:
    tree(tmp_path, "repo/src/a.py", "repo/src/b.py")
    (tmp_path / ".gitignore").write_text("a.py\n")
    (tmp_path / "repo" / ".gitignore").write_text("b.py\n")
    assert found(tmp_path, "repo/src") == ["repo/src/a.py", "repo/src/b.py"]
    (tmp_path / "repo" / ".git").mkdir()
    assert found(tmp_path, "repo/src") == ["repo/src/a.py"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"exclude": ("x/",)}, ["a.py", "b.ipynb"]),
        ({"exclude": ("*.ipynb",)}, ["a.py", "x/c.py"]),
        ({"include": ("x/**",)}, ["x/c.py"]),
        ({"include": ("*.py",), "exclude": ("a.py",)}, ["x/c.py"]),
    ],
)
def test_the_configuration_includes_and_excludes(
    tmp_path: Path, options: dict[str, Any], expected: list[str]
) -> None:
    tree(tmp_path, "a.py", "b.ipynb", "x/c.py")
    assert found(tmp_path, **options) == expected


def test_links_are_walked_once_and_what_is_no_file_is_left_out(tmp_path: Path) -> None:
    tree(tmp_path, "a/x.py")
    (tmp_path / "a" / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "b").symlink_to(tmp_path / "a", target_is_directory=True)
    (tmp_path / "a" / "dead.py").symlink_to(tmp_path / "nowhere.py")
    os.mkfifo(tmp_path / "a" / "pipe.py")
    assert found(tmp_path) == ["a/x.py"]


def test_a_file_is_taken_once(tmp_path: Path) -> None:
    tree(tmp_path, "a/x.py")
    assert found(tmp_path, "a", "a/x.py", ".") == ["a/x.py"]


def test_exclude_takes_the_place_of_the_default(tmp_path: Path) -> None:
    tree(tmp_path, "a.py", "build/b.py", "gen/c.py")
    assert found(tmp_path, exclude=("gen",)) == ["a.py", "build/b.py"]


def test_what_is_in_a_named_folder_is_judged_by_its_own_name(tmp_path: Path) -> None:
    tree(tmp_path, "x/a.py", "x/node_modules/b.py", "x/y/x/c.py")
    assert found(tmp_path, "x", exclude=("x", "node_modules")) == ["x/a.py"]
    assert found(tmp_path, "x", exclude=("/x", "node_modules")) == ["x/a.py", "x/y/x/c.py"]
    # A folder above the project does not exclude all of it.
    outside = tmp_path / "build" / "project"
    tree(outside, "d.py", "build/e.py")
    assert found(tmp_path / "elsewhere", str(outside)) == ["../build/project/d.py"]


def test_patterns_of_the_command_line_are_relative_to_where_the_user_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree(tmp_path, "x/gen/a.py", "x/b.py", "gen/c.py")
    monkeypatch.chdir(tmp_path)
    assert found(tmp_path / "x", str(tmp_path), here=("x/gen",)) == ["../gen/c.py", "b.py"]


def test_gitignore_can_be_left_aside(tmp_path: Path) -> None:
    tree(tmp_path, "a.py", "b.py")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("a.py")
    assert found(tmp_path) == ["b.py"]
    assert found(tmp_path, gitignore=False) == ["a.py", "b.py"]


def test_named_files_may_be_excluded(tmp_path: Path) -> None:
    tree(tmp_path, "gen/deep/a.py", "b.py")
    paths = ("gen/deep/a.py", "b.py", "not_there.py")
    assert found(tmp_path, *paths, exclude=("gen",)) == list(paths)
    assert found(tmp_path, *paths, exclude=("gen", "b.py"), force=True) == ["not_there.py"]


def test_each_folder_has_its_own_filter(tmp_path: Path) -> None:
    tree(tmp_path, "a.py", "b.py", "x/a.py", "x/b.py")
    filters = {
        str(tmp_path): Filter(str(tmp_path), ("/a.py",)),
        str(tmp_path / "x"): Filter(str(tmp_path / "x"), ("b.py",)),
    }
    names = [os.path.relpath(file.path, tmp_path) for file in discover([str(tmp_path)], filters.__getitem__)]
    assert names == ["b.py", "x/a.py"]

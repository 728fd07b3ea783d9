"""Which files are checked: folders, excludes, `.gitignore`, links, and files named by the user."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from shardlint.files.discovery import discover


def tree(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")


def found(root: Path, *paths: str, **options: list[str]) -> list[str]:
    files = discover([str(root / path) for path in paths or (".",)], str(root), **options)
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
    assert [file.named for file in discover([str(tmp_path / "c.py"), str(tmp_path)], str(tmp_path))] == [True]
    assert [file.named for file in discover([str(tmp_path), str(tmp_path / "c.py")], str(tmp_path))] == [True]


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
        ({"exclude": ["x/"]}, ["a.py", "b.ipynb"]),
        ({"exclude": ["*.ipynb"]}, ["a.py", "x/c.py"]),
        ({"include": ["x/**"]}, ["x/c.py"]),
        ({"include": ["*.py"], "exclude": ["a.py"]}, ["x/c.py"]),
    ],
)
def test_the_configuration_includes_and_excludes(
    tmp_path: Path, options: dict[str, list[str]], expected: list[str]
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

"""In a workspace that is not trusted an interpreter that the user chose asks JAX."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hostile import is_clean, payload
from raw_client import Client

from shardlint.confirm.isolation import leads_into

pytest.importorskip("pygls")
pytest.importorskip("jax")

TEXT = """\
import jax
from jax.sharding import NamedSharding, PartitionSpec as P

NamedSharding(jax.make_mesh((2, 4), ("data", "model")), P("rows"))
"""


def installed() -> str:
    """Where JAX is installed."""
    import jax

    return str(Path(jax.__file__).parents[1])


def executable(path: Path, tree: Path) -> Path:
    """A program that leaves a trace."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{sys.executable}\n{payload(tree)}")
    path.chmod(0o755)
    return path


def virtual(folder: Path, *named: str, home: str = os.path.dirname(os.path.realpath(sys.executable))) -> Path:
    """A virtual environment with a ``.pth`` file; return its interpreter."""
    python = folder / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(os.path.realpath(sys.executable))
    (folder / "pyvenv.cfg").write_text(f"home = {home}\n")
    packages = folder / "lib" / f"python{sysconfig.get_python_version()}" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "more.pth").write_text("".join(f"{line}\n" for line in named))
    return python


def confirmed(tree: Path, python: str | None, **variables: str) -> tuple[dict[str, Any] | None, list[str]]:
    """What JAX says of the mistake in the tree, and what the user is shown besides."""
    client = Client(["-m", "shardlint_server"], tree, **variables)
    options = {} if python is None else {"python": python}
    folder = {"uri": tree.as_uri(), "name": "tree"}
    hello: dict[str, Any] = {
        "processId": None,
        "rootUri": tree.as_uri(),
        "workspaceFolders": [folder],
        "capabilities": {},
    }
    client.send("initialize", {**hello, "initializationOptions": options}, 1)
    client.wait_for(1)
    client.send("initialized", {})
    uri = (tree / "train.py").as_uri()
    document = {"uri": uri, "languageId": "python", "version": 1, "text": TEXT}
    client.send("textDocument/didOpen", {"textDocument": document})
    (found,) = client.wait_for("textDocument/publishDiagnostics")["params"]["diagnostics"]
    about = {"textDocument": {"uri": uri}, "range": found["range"], "context": {"diagnostics": [found]}}
    client.send("textDocument/codeAction", about, 2)
    commands = [one["command"] for one in client.wait_for(2)["result"] if one.get("command")]
    client.send("workspace/executeCommand", commands[0], 3)
    shown = []
    while (message := client.receive()).get("id") != 3:
        if message.get("method") == "window/showMessage":
            shown.append(message["params"]["message"])
    client.end()
    return message["result"], shown


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "train.py").write_text(TEXT)
    executable(tree / ".venv" / "bin" / "python", tree)
    return tree


def in_the_workspace(tree: Path) -> str:
    return str(tree / ".venv" / "bin" / "python")


def a_relative_path(tree: Path) -> str:
    return ".venv/bin/python"


def a_link_into_it(tree: Path) -> str:
    (tree.parent / "venv").symlink_to(tree / ".venv")
    return str(tree.parent / "venv" / "bin" / "python")


def a_link_in_it(tree: Path) -> str:
    """To a program elsewhere, which the workspace has named by the link."""
    (tree / "python").symlink_to(executable(tree.parent / "elsewhere" / "python", tree))
    return str(tree / "python")


def a_link_by_way_of_it(tree: Path) -> str:
    executable(tree.parent / "elsewhere" / "python", tree)
    (tree / "way").symlink_to(tree.parent / "elsewhere")
    (tree.parent / "way").symlink_to(tree / "way")
    return str(tree.parent / "way" / "python")


def made_from_one_in_it(tree: Path) -> str:
    return str(virtual(tree.parent / "venv", installed(), home=str(tree / ".venv" / "bin")))


@pytest.mark.parametrize(
    "way",
    [
        in_the_workspace,
        a_relative_path,
        a_link_into_it,
        a_link_in_it,
        a_link_by_way_of_it,
        made_from_one_in_it,
    ],
)
def test_an_interpreter_that_the_workspace_names_is_not_run(tree: Path, way: Callable[[Path], str]) -> None:
    answer, shown = confirmed(tree, way(tree))
    assert answer is None
    assert any("not trusted" in message for message in shown)
    assert is_clean(tree)


@pytest.mark.parametrize("entry", ["{tree}/.venv/bin", ".venv/bin", "", "{tree}/../venv/bin"])
def test_a_name_is_not_looked_up_in_the_workspace(tree: Path, entry: str) -> None:
    """Shells that enter a folder's environment put its programs on PATH."""
    executable(tree / "python-of-tests", tree)
    executable(tree / ".venv" / "bin" / "python-of-tests", tree)
    (tree.parent / "venv").symlink_to(tree / ".venv")
    path = os.pathsep.join((entry.format(tree=tree), "/usr/bin"))
    answer, shown = confirmed(tree, "python-of-tests", PATH=path)
    assert answer is None
    assert any("python-of-tests outside of the workspace" in message for message in shown)
    assert is_clean(tree)


def test_a_name_is_found_where_the_user_has_it(tree: Path) -> None:
    ours = virtual(tree.parent / "venv", installed())
    path = os.pathsep.join((str(tree / ".venv" / "bin"), str(ours.parent)))
    answer, _ = confirmed(tree, "python", PATH=path)
    assert answer is not None
    assert answer["confirmation"] == "confirmed"
    assert is_clean(tree)


def test_packages_of_the_workspace_are_not_imported(tree: Path) -> None:
    """The user installed the workspace for development: Python by itself would run its `sitecustomize`."""
    for name in ("jax", "jaxlib", "numpy", "sitecustomize", "usercustomize"):
        (tree / f"{name}.py").write_text(payload(tree))
    python = virtual(tree.parent / "venv", str(tree), f"import sys; {payload(tree).strip()}", installed())
    answer, _ = confirmed(tree, str(python))
    assert answer is not None
    assert answer["confirmation"] == "confirmed"
    assert is_clean(tree)
    subprocess.run([str(python), "-I", "-c", ""], check=True)
    assert not is_clean(tree), "the trap is set"


def test_a_jax_that_lies_in_the_workspace_is_none(tree: Path) -> None:
    packages = tree / "packages"
    (packages / "jax").mkdir(parents=True)
    (packages / "jax" / "__init__.py").write_text(payload(tree))
    python = virtual(tree.parent / "venv", str(packages))
    answer, shown = confirmed(tree, str(python))
    assert answer == {"confirmation": "unconfirmed", "said": None}
    assert any("jax is not installed" in message and "not trusted" in message for message in shown)
    assert is_clean(tree)


def test_site_packages_that_are_a_link_into_the_workspace_are_none(tree: Path) -> None:
    python = virtual(tree.parent / "venv", installed())
    lib = tree.parent / "venv" / "lib"
    lib.rename(tree / "lib")
    lib.symlink_to(tree / "lib")
    answer, _ = confirmed(tree, str(python))
    assert answer == {"confirmation": "unconfirmed", "said": None}


def test_what_leads_into_a_folder(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "file").touch()
    (outside / "in").symlink_to(inside)
    (outside / "loop").symlink_to(outside / "loop")
    (outside / "relative").symlink_to("../inside/file")
    (outside / "beside").symlink_to("file")
    (tmp_path / "other").symlink_to(inside)

    def leads(path: str) -> bool:
        answers = {leads_into(str(tmp_path / path), [str(folder)]) for folder in (inside, tmp_path / "other")}
        (answer,) = answers
        return answer

    ways = (
        "inside",
        "inside/file",
        "inside/none",
        "outside/in/file",
        "outside/relative",
        "inside/../outside/file",
    )
    assert [path for path in (*ways, "outside/../inside/file", "outside/loop") if not leads(path)] == []
    assert [path for path in ("outside/file", "outside/beside", "outside", "", "none") if leads(path)] == []
    assert leads_into("/usr/bin/env", ["/"])
    assert not leads_into(str(outside), [str(tmp_path / "none")])

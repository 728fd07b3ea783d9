"""A tree that runs code wherever it can, and shardlint run in it as a user runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: What the command `shardlint` is: a program beside the interpreter, not in the tree.
_PROGRAM = "import sys\nfrom shardlint.cli.commands import main\nsys.exit(main())\n"
#: Modules that shardlint, or Python for it, may import before or while it works.
MODULES = sorted(
    {
        *sys.stdlib_module_names,
        "attr",
        "flax",
        "jax",
        "libcst",
        "lsprotocol",
        "markdown_it",
        "numpy",
        "pathspec",
    }
    | {"pygls", "pygments", "rich", "shardlint_server", "sitecustomize", "tomli", "usercustomize", "yaml"}
)
#: What no command may make appear.
CANARY = "canary"


def environment(**more: str) -> dict[str, str]:
    """The environment of a user who has shardlint installed, and nothing else set."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SHARDLINT", "PYTHON", "FORCE_COLOR"))
    }
    return {**kept, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "server"))), **more}


def run(
    tree: Path, *arguments: str, interpreter: Iterable[str] = (), **more: str
) -> subprocess.CompletedProcess[str]:
    """Run shardlint in a tree; ``interpreter`` are the arguments of Python, if it is to run otherwise."""
    program = tree.parent / "program.py"
    program.write_text(_PROGRAM)
    done = subprocess.run(
        [sys.executable, *(interpreter or [str(program)]), *arguments],
        cwd=tree,
        env=environment(**more),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=300,
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert "internal error" not in done.stderr, done.stderr
    return done


def payload(tree: Path) -> str:
    """A statement that leaves a trace beside the tree when it is executed."""
    return f"open({str(tree.parent / CANARY)!r}, 'a').write(__name__ + '\\n')\n"


def is_clean(tree: Path) -> bool:
    """Whether nothing of the tree was executed."""
    return not (tree.parent / CANARY).exists()


def contents(folder: Path) -> dict[str, bytes | str]:
    """What lies in a folder, but for caches: links by where they lead."""
    return {
        str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if ".shardlint_cache" not in path.parts and (path.is_symlink() or path.is_file())
    }

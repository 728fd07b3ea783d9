"""The examples of the documentation, done as a reader would: in a folder of their own, from top to bottom.

A page's code blocks with a ``title`` are files. Those in ``console`` are sessions: what follows ``$`` is run by
bash, and what it prints must stand below it. Those in ``python`` are programs, which JAX runs on 8 fake devices:
they raise what a comment ``# raises NameOfTheClass`` says, else nothing. ``diff`` changes files.

``python docs/tools/examples.py PAGE...`` puts what is printed today into the pages; look at what that changes.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

_BLOCK = re.compile(r"^(?P<fence>`{3,})(?P<language>\w+)(?P<info>.*)\n(?P<text>(?:.*\n)*?)(?P=fence)$", re.MULTILINE)
_TITLE = re.compile(r'title="([^"]+)"')
_RAISES = re.compile(r"# raises (\w+)")
_SHARDLINT = """#!{python}
import sys
sys.path[:0] = {paths}
from shardlint.cli import main
sys.exit(main())
"""


@dataclass(frozen=True)
class Block:
    """A block of code: ``start`` and ``end`` say where its text stands in the page."""

    language: str
    title: str | None
    info: str
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Session:
    """A block of ``console`` as it stands in the page, and as it comes out."""

    block: Block
    printed: str


@dataclass(frozen=True)
class Program:
    """A program of a page: the class that it should raise, and that it does."""

    block: Block
    raises: str | None
    raised: str | None
    message: str = ""


def blocks(page: str) -> Iterator[Block]:
    """Yield the blocks of code of a page that name a language."""
    for match in _BLOCK.finditer(page):
        title = _TITLE.search(match["info"])
        yield Block(
            match["language"], title and title[1], match["info"].strip(), match["text"], *match.span("text")
        )


class Reader:
    """Who does what a page shows, in a folder. ``root`` is the tree whose shardlint is used."""

    def __init__(self, folder: Path, root: Path = ROOT) -> None:
        self.folder = folder
        tools = folder.parent / f"{folder.name}-tools"
        tools.mkdir()
        paths = [str(root), str(root / "server")]
        shim = tools / "shardlint"
        shim.write_text(_SHARDLINT.format(python=sys.executable, paths=paths), encoding="utf-8")
        shim.chmod(0o755)
        (tools / "python").symlink_to(sys.executable)
        self.environment = {
            **{key: value for key, value in os.environ.items() if key not in ("FORCE_COLOR", "XLA_FLAGS")},
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join([str(folder), *paths]),
            "NO_COLOR": "1",
            "COLUMNS": "100",
        }

    def sessions(self, page: str) -> list[Session]:
        """Make the files of a page, and run its sessions."""
        done = []
        for block in blocks(page):
            if block.language == "diff":
                self._apply(block)
            elif block.title is not None:
                file = self.folder / block.title
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(block.text, encoding="utf-8")
            elif block.language == "console":
                done.append(Session(block, "".join(self._run(block))))
        return done

    def programs(self, page: str) -> list[Program]:
        """Have JAX run the programs of a page, whose files are there."""
        found = [block for block in blocks(page) if block.language == "python" and "fragment" not in block.info]
        if not found:
            return []
        answer = subprocess.run(
            [sys.executable, str(HERE / "run_examples.py")],
            input=json.dumps({str(number): block.text for number, block in enumerate(found)}),
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        outcomes: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])["outcomes"]
        done = []
        for number, block in enumerate(found):
            announced, said = _RAISES.search(block.text), outcomes[str(number)] or {}
            raised = said["classes"][0] if said else None
            done.append(Program(block, announced and announced[1], raised, said.get("message", "")))
        return done

    def _apply(self, block: Block) -> None:
        subprocess.run(["git", "apply", "-"], input=block.text, text=True, cwd=self.folder, check=True)

    def _run(self, block: Block) -> Iterator[str]:
        for command in re.findall(r"^\$ (.+)$", block.text, re.MULTILINE):
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=self.folder,
                env=self.environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                text=True,
                timeout=300,
            )
            yield f"$ {command}\n{done.stdout}"


def renewed(page: str) -> str:
    """Return a page with what its sessions print today."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "page"
        home.mkdir()
        reader = Reader(home)
        for session in reversed(reader.sessions(page)):
            page = page[: session.block.start] + session.printed + page[session.block.end :]
        for program in reader.programs(page):
            if program.raised != program.raises:
                print(f"{program.raised}: {program.message}, of\n{program.block.text}", file=sys.stderr)
    return page


if __name__ == "__main__":
    for name in sys.argv[1:]:
        file = Path(name)
        file.write_text(renewed(file.read_text(encoding="utf-8")), encoding="utf-8")

"""The examples of the documentation, done as a reader would: in a folder of their own, from top to bottom.

A page's code blocks with a ``title`` are files. Those in ``console`` are sessions: what follows ``$`` is run
by bash, and what it prints must stand below it. Those in ``python`` are programs, which JAX runs on 8 fake
devices: they raise what a comment ``# raises NameOfTheClass`` says, else nothing. ``diff`` changes files.

A page that adds files to shardlint itself is followed in a copy of the tree, where its ``sh`` is run as well.

``python docs/tools/examples.py PAGE...`` puts what is printed today into the pages: look at what that changes
before you commit it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

_BLOCK = re.compile(
    r"^(?P<fence>`{3,})(?P<language>\w+)(?P<info>.*)\n(?P<text>(?:.*\n)*?)(?P=fence)$", re.MULTILINE
)
_TITLE = re.compile(r'title="([^"]+)"')
_RAISES = re.compile(r"# raises (\w+)")
_SHARDLINT = """#!{python}
import sys
sys.path[:0] = {paths}
from shardlint.cli.commands import main
sys.exit(main())
"""


@dataclass(frozen=True)
class Block:
    """A block of code: ``start`` and ``end`` say where its text stands in the page."""

    language: str
    title: str | None
    text: str
    start: int
    end: int

    @property
    def is_part(self) -> bool:
        """Whether it is a file of shardlint's own, and no program."""
        return self.title is not None and self.title.startswith(("shardlint/", "tests/"))


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
        yield Block(match["language"], title and title[1], match["text"], *match.span("text"))


class Reader:
    """Who does what a page shows, in a folder that is made for it.

    ``program`` is the text of the command ``shardlint``, if it is not this tree's.
    """

    def __init__(self, page: str, folder: Path, program: str | None = None) -> None:
        self.page, self.folder = page, folder
        self.changes_shardlint = any(block.is_part for block in blocks(page))
        root = folder if self.changes_shardlint else ROOT
        if self.changes_shardlint:
            copy_tree(folder)
        tools = folder.parent / f"{folder.name}-tools"
        for made in (folder, tools):
            made.mkdir(exist_ok=True)
        paths = [str(root), str(root / "server")]
        shim = tools / "shardlint"
        text = None if self.changes_shardlint else program
        shim.write_text(text or _SHARDLINT.format(python=sys.executable, paths=paths), encoding="utf-8")
        shim.chmod(0o755)
        self.environment = {
            **{key: value for key, value in os.environ.items() if key not in ("FORCE_COLOR", "XLA_FLAGS")},
            "PATH": os.pathsep.join([str(tools), os.path.dirname(sys.executable), os.environ["PATH"]]),
            "PYTHONPATH": os.pathsep.join(paths),
            "NO_COLOR": "1",
            "COLUMNS": "100",
        }

    def sessions(self) -> list[Session]:
        """Make the files of the page, and run its sessions."""
        done = []
        for block in blocks(self.page):
            if block.language == "diff":
                self._apply(block)
            elif block.title is not None:
                file = self.folder / block.title
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(block.text, encoding="utf-8")
            elif block.language == "console":
                done.append(Session(block, "".join(self._run(block))))
        return done

    def commands(self) -> Iterator[subprocess.CompletedProcess[str]]:
        """Run what the page does to the tree."""
        for block in blocks(self.page):
            if block.language == "sh":
                yield self._bash(f"set -e\n{block.text}")

    def _apply(self, block: Block) -> None:
        subprocess.run(
            ["git", "apply", "--recount", "-"], input=block.text, text=True, cwd=self.folder, check=True
        )

    def _run(self, block: Block) -> Iterator[str]:
        for command in re.findall(r"^\$ (.+)$", block.text, re.MULTILINE):
            yield f"$ {command}\n{self._bash(command).stdout}"

    def _bash(self, commands: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", commands],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=600,
        )


def copy_tree(folder: Path) -> None:
    """Copy what belongs to the tree, committed or not."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def programs(
    pages: Sequence[str], ask: Callable[[Mapping[str, str]], Mapping[str, Any]] | None = None
) -> list[Program]:
    """Return the programs of pages with what each raises, as ``ask`` says: else JAX, which runs them."""
    found = [
        block for page in pages for block in blocks(page) if block.language == "python" and not block.is_part
    ]
    outcomes = (ask or _ask_jax)({str(number): block.text for number, block in enumerate(found)})
    done = []
    for number, block in enumerate(found):
        announced, said = _RAISES.search(block.text), outcomes[str(number)] or {}
        raised = said["classes"][0] if said else None
        done.append(Program(block, announced and announced[1], raised, said.get("message", "")))
    return done


def _ask_jax(texts: Mapping[str, str]) -> Mapping[str, Any]:
    """Have JAX run programs, each by itself."""
    answer = subprocess.run(
        [sys.executable, str(HERE / "run_examples.py")],
        input=json.dumps(dict(texts)),
        capture_output=True,
        text=True,
        check=True,
    )
    outcomes: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])["outcomes"]
    return outcomes


def renewed(page: str) -> str:
    """Return a page with what its sessions print today."""
    with tempfile.TemporaryDirectory() as folder:
        sessions = Reader(page, Path(folder) / "page").sessions()
    for session in reversed(sessions):
        page = page[: session.block.start] + session.printed + page[session.block.end :]
    return page


def main(names: Sequence[str]) -> None:
    """Renew pages, and say which of their programs JAX does not run as they say."""
    pages = [renewed(Path(name).read_text(encoding="utf-8")) for name in names]
    for name, page in zip(names, pages, strict=True):
        Path(name).write_text(page, encoding="utf-8")
    for program in programs(pages):
        if program.raised != program.raises:
            print(f"{program.raised}: {program.message}, of\n{program.block.text}", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])

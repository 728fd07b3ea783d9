"""Measure how much memory the server holds while a file is edited: it must not grow with the edits.

    python tests/benchmarks/memory_of_edits.py [FILE] [--edits 5000] [--every 500]

Makes random edits of a file in a server that is a process of its own, asks for its diagnostics after each,
and prints the resident memory now and then. FILE is a fixture unless one is named.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "server"), str(ROOT / "tests")]

from lsp_editor import Editor  # noqa: E402
from lsprotocol import types  # noqa: E402
from pytest_lsp import LanguageClient  # noqa: E402
from random_edits import RandomEdits  # noqa: E402


def resident(pid: int) -> float:
    """The resident memory of a process, in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


async def measure(file: Path, count: int, every: int) -> list[float]:
    """Edit a file so many times; return the memory after each so many edits."""
    editor = Editor()
    # Not by a fork, as the tests start theirs.
    await LanguageClient.start_io(editor, sys.executable, "-m", "shardlint_server")
    assert editor._server is not None
    pid = editor._server.pid
    found = []
    with tempfile.TemporaryDirectory() as folder:
        await editor.start(pulls=True, options={"debounce": 0})
        edits = RandomEdits(file.read_text(encoding="utf-8"), seed=1)
        uri = editor.open(Path(folder, file.name), edits.text)
        await editor.pull(uri)
        print(
            f"{file.name}: {len(edits.text.splitlines())} lines\n     0 edits: {resident(pid):.0f} MB",
            flush=True,
        )
        start = time.monotonic()
        for version in range(2, count + 2):
            editor.text_document_did_change(
                types.DidChangeTextDocumentParams(
                    text_document=types.VersionedTextDocumentIdentifier(uri=uri, version=version),
                    content_changes=edits.next(),
                )
            )
            await editor.pull(uri)
            if (version - 1) % every == 0:
                found.append(resident(pid))
                taken = time.monotonic() - start
                print(f"{version - 1:6} edits: {found[-1]:.0f} MB, {taken:.0f} s", flush=True)
    await editor.shutdown_session()
    await editor.stop()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", nargs="?", type=Path, default=ROOT / "fixtures" / "dense_layouts.py")
    parser.add_argument("--edits", type=int, default=5_000)
    parser.add_argument("--every", type=int, default=500)
    options = parser.parse_args()
    found = asyncio.run(measure(options.file, options.edits, options.every))
    if len(found) > 1:
        middle = found[len(found) // 2 - 1]
        print(f"from the middle to the end: {found[-1] - middle:+.0f} MB, at most {max(found):.0f} MB")


if __name__ == "__main__":
    main()

"""Measure a search for the references of an axis over a whole workspace, and what an edit costs meanwhile.

    python tests/benchmarks/run_references.py FOLDER FILE TEXT

Asks for the references of the axis whose name stands at the first TEXT of FILE, such as ``'"data"'``; every
two minutes until the answer comes, a comment is added to FILE. Printed are the server's CPU seconds and its
peak memory (Linux), the time from each edit to its diagnostics, the references found, and the time that the
same search takes once more. Results stored in the project's ``.shardlint_cache`` are used: remove it first.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient

_PAUSE = 120


async def measure(folder: Path, file: Path, name: str) -> None:
    """Ask a fresh server, and print what that took."""
    client = LanguageClient("benchmark", "1")
    published: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()
    client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: published.put_nowait(params))
    client.feature(types.WINDOW_WORK_DONE_PROGRESS_CREATE)(lambda _: None)
    await client.start_io(sys.executable, "-m", "shardlint_server")
    assert client._server is not None
    pid = client._server.pid
    await client.initialize_async(
        types.InitializeParams(
            capabilities=types.ClientCapabilities(),
            workspace_folders=[types.WorkspaceFolder(folder.absolute().as_uri(), folder.name)],
            initialization_options={"diagnosticMode": "openFilesOnly"},
        )
    )
    client.initialized(types.InitializedParams())
    text, uri = file.read_text(encoding="utf-8"), file.absolute().as_uri()
    client.text_document_did_open(
        types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "python", 1, text))
    )
    await _of(published, uri)
    print(f"opened: {_cpu(pid):.1f} s of CPU", flush=True)
    before, _, _ = text.partition(name)
    at = types.Position(before.count("\n"), len(before.rpartition("\n")[2]) + 1)
    asked = types.ReferenceParams(types.ReferenceContext(True), types.TextDocumentIdentifier(uri), at)
    start, spent, version = time.perf_counter(), _cpu(pid), 1
    search = asyncio.ensure_future(client.text_document_references_async(asked))
    while not (await asyncio.wait([search], timeout=_PAUSE))[0]:
        version += 1
        text += "# an edit\n"
        edited, cpu = time.perf_counter(), _cpu(pid)
        client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version, uri),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )
        await _of(published, uri, version)
        seconds = time.perf_counter() - edited
        print(f"an edit: {seconds:.2f} s to its diagnostics, {_cpu(pid) - cpu:.2f} s of CPU", flush=True)
    found = search.result() or ()
    print(f"references: {len(found)} in {len({one.uri for one in found})} files", flush=True)
    print(f"  {time.perf_counter() - start:.0f} s, {_cpu(pid) - spent:.0f} s of CPU, {_peak(pid)}")
    start = time.perf_counter()
    await client.text_document_references_async(asked)
    print(f"once more: {time.perf_counter() - start:.2f} s")
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()


async def _of(
    published: asyncio.Queue[types.PublishDiagnosticsParams], uri: str, version: int | None = None
) -> None:
    """Wait for the diagnostics of a document, or of its version."""
    while True:
        found = await published.get()
        if found.uri == uri and version in (None, found.version):
            return


def _cpu(pid: int) -> float:
    """Return the CPU seconds of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _peak(pid: int) -> str:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(line for line in lines if line.startswith("VmHWM")).replace("\t", " ")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("file", type=Path)
    parser.add_argument("text")
    arguments = parser.parse_args()
    asyncio.run(measure(arguments.folder, arguments.file, arguments.text))

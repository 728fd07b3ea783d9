"""Measure what an editor asks of the language server once a text is analysed: hover, completion, inlay hints.

    python tests/benchmarks/run_editor_features.py FILE [FILE...]

For each file a server of its own is started. Printed are, in milliseconds from the request to the answer over
the protocol, the first request (which works out what is known of the text), and the median and the slowest of
the later ones: a hover at each of many places, a completion at the start of each of many lines and inside the
strings of specs, and all hints of the file.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import statistics
import sys
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

#: Places of a file that are asked about.
_PLACES = 300
_STRING = re.compile(r"[\"']\w")


async def measure(file: Path) -> None:
    """Ask a fresh server about a file, and print what that took."""
    client = LanguageClient("benchmark", "1")
    done: asyncio.Event = asyncio.Event()

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def published(params: types.PublishDiagnosticsParams) -> None:
        done.set()

    await client.start_io(sys.executable, "-m", "shardlint_server")
    capabilities = types.ClientCapabilities()
    await client.initialize_async(types.InitializeParams(capabilities=capabilities, root_uri=None))
    client.initialized(types.InitializedParams())
    text, uri = file.read_text(encoding="utf-8"), file.absolute().as_uri()
    start = time.perf_counter()
    client.text_document_did_open(
        types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "python", 1, text))
    )
    await done.wait()
    lines = text.split("\n")
    print(f"{file}: {len(lines)} lines, first diagnostics after {time.perf_counter() - start:.2f} s")
    document = types.TextDocumentIdentifier(uri)
    whole = types.Range(types.Position(0, 0), types.Position(len(lines), 0))
    names = [found for n, line in enumerate(lines) for found in _positions(n, line, re.compile(r"\b\w"))]
    strings = [found for n, line in enumerate(lines) for found in _positions(n, line, _STRING)]
    step = max(1, len(names) // _PLACES)

    async def timed(request: Awaitable[Any]) -> float:
        before = time.perf_counter()
        await request
        return (time.perf_counter() - before) * 1_000

    def hover(at: types.Position) -> Awaitable[Any]:
        return client.text_document_hover_async(types.HoverParams(document, at))

    def complete(at: types.Position) -> Awaitable[Any]:
        return client.text_document_completion_async(types.CompletionParams(document, at))

    print(f"  first hover       {await timed(hover(types.Position(0, 0))):8.1f} ms")
    _say("hover", [await timed(hover(at)) for at in names[::step]])
    _say("completion", [await timed(complete(at)) for at in [*names[::step], *strings[:_PLACES]]])
    hints = client.text_document_inlay_hint_async
    _say("inlay hints", [await timed(hints(types.InlayHintParams(document, whole))) for _ in range(50)])
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()


def _positions(number: int, line: str, wanted: re.Pattern[str]) -> list[types.Position]:
    return [types.Position(number, len(line[: found.end()])) for found in wanted.finditer(line)]


def _say(what: str, times: list[float]) -> None:
    if times:
        middle, count = statistics.median(times), len(times)
        print(f"  {what:<12} median {middle:8.1f} ms, slowest of {count}: {max(times):.1f} ms")


def main() -> None:
    """Measure each file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+", metavar="FILE", type=Path)
    for file in parser.parse_args().files:
        asyncio.run(measure(file))


if __name__ == "__main__":
    main()

"""From the start of the server to its first diagnostics, beside a bare pygls server that has libcst imported.

    python tests/benchmarks/run_server_start.py [--rounds N]

Both are processes of their own, started in turn; each is greeted, opens one file, and publishes. Wall-clock
and CPU seconds, medians.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "fixtures" / "placement_apis.py"
BARE = """
import libcst
from lsprotocol import types
from pygls.lsp.server import LanguageServer

server = LanguageServer("bare", "1")

@server.feature(types.TEXT_DOCUMENT_DID_OPEN)
def opened(params):
    server.text_document_publish_diagnostics(
        types.PublishDiagnosticsParams(uri=params.text_document.uri, diagnostics=[])
    )

server.start_io()
"""
COMMANDS = {
    "bare pygls and libcst": [sys.executable, "-c", BARE],
    "shardlint server": [sys.executable, "-m", "shardlint", "server"],
}


def message(method: str, params: Any, number: int | None = None) -> bytes:
    """A message of the protocol, a request if it has a number."""
    body = {"jsonrpc": "2.0", "method": method, "params": params} | ({} if number is None else {"id": number})
    data = json.dumps(body).encode()
    return b"Content-Length: %d\r\n\r\n" % len(data) + data


def first_diagnostics(command: list[str]) -> tuple[float, float]:
    """The wall-clock and CPU seconds from the start to the first diagnostics."""
    uri = FILE.as_uri()
    document = {"uri": uri, "languageId": "python", "version": 1, "text": FILE.read_text(encoding="utf-8")}
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT)
    assert process.stdin is not None and process.stdout is not None
    greeting: dict[str, object] = {"processId": None, "rootUri": ROOT.as_uri(), "capabilities": {}}
    process.stdin.write(message("initialize", greeting, 1))
    process.stdin.write(message("initialized", {}))
    process.stdin.write(message("textDocument/didOpen", {"textDocument": document}))
    process.stdin.flush()
    while True:
        length = 0
        while line := process.stdout.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        said = json.loads(process.stdout.read(length))
        if said.get("method") == "textDocument/publishDiagnostics":
            break
    wall = time.perf_counter() - start
    process.kill()
    process.communicate()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime


def main() -> None:
    """Run, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in COMMANDS}
    for _ in range(options.rounds):
        for name, command in COMMANDS.items():
            found[name].append(first_diagnostics(command))
    medians = {
        name: [statistics.median(one) for one in zip(*rounds, strict=True)] for name, rounds in found.items()
    }
    for name, (wall, cpu) in medians.items():
        print(f"{name:24} {wall:.2f} s, {cpu:.2f} s of CPU")
    bare, ours = medians.values()
    print(f"shardlint takes {ours[0] / bare[0]:.2f} times the time, {ours[1] / bare[1]:.2f} times the CPU")


if __name__ == "__main__":
    main()

"""The language server's entry: it is built from its features, and speaks on stdin and stdout."""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Sequence

from lsprotocol import types

import shardlint
from shardlint_server import (
    axis_symbols,
    completion,
    diagnostics,
    hover,
    inlay_hints,
    notebooks,
    rename,
    watching,
)
from shardlint_server.session import ShardlintServer

STACK_BYTES = 64 * 2**20
"""Stack of a thread. Deeply nested code needs more than the default, which is 512 KiB on macOS."""


def build_server() -> ShardlintServer:
    """Build a server with all its features; whether it offers pull is decided when the client is known."""
    server = ShardlintServer()

    @server.feature(types.INITIALIZE)
    def initialize(server: ShardlintServer, params: types.InitializeParams) -> None:
        server.begin(params)
        if server.client_pulls:
            diagnostics.register_pull(server)

    diagnostics.register(server)
    watching.register(server)
    notebooks.register(server)
    for feature in (hover, inlay_hints, completion, axis_symbols, rename):
        feature.register(server)
    return server


def main(argv: Sequence[str] = ()) -> int:
    """Serve one client until it says ``exit`` or goes away."""
    parser = argparse.ArgumentParser(prog="shardlint server", description=__doc__)
    parser.add_argument("--stdio", action="store_true", help="speak on stdin and stdout (the only way)")
    parser.add_argument("--version", action="version", version=f"shardlint {shardlint.__version__}")
    parser.parse_args(argv)

    threading.stack_size(STACK_BYTES)
    protocol_out = sys.stdout.buffer
    sys.stdout = sys.stderr  # a stray print must not end up between two messages
    build_server().start_io(stdout=protocol_out)
    return 0

"""The language server's entry: it is built from its features, and speaks on stdin and stdout."""

from __future__ import annotations

import argparse
import ipaddress
import logging
import os
import sys
import threading
import warnings
from collections.abc import Sequence

from lsprotocol import types
from pygls.exceptions import JsonRpcException

import shardlint
from shardlint_server.features import (
    baseline,
    code_actions,
    code_lens,
    completion,
    confirm_command,
    diagnostics,
    fixture_commands,
    hover,
    inlay_hints,
    layout_panel,
    notebook_diagnostics,
    semantic_tokens,
    workspace_changes,
    workspace_diagnostics,
)
from shardlint_server.features.navigation import axes, mesh_types, rename, symbols
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
            if server.options.diagnosticMode != "openFilesOnly":
                workspace_diagnostics.register(server)

    diagnostics.register(server)
    workspace_changes.register(server)
    code_actions.register(server)
    code_lens.register(server)
    baseline.register(server)
    confirm_command.register(server)
    fixture_commands.register(server)
    notebook_diagnostics.register(server)
    displays = (hover, inlay_hints, completion, semantic_tokens, layout_panel)
    for feature in (*displays, axes, mesh_types, symbols, rename):
        feature.register(server)
    return server


def main(argv: Sequence[str] = ()) -> int:
    """Serve one client until it requests ``exit`` or disconnects."""
    parser = argparse.ArgumentParser(prog="shardlint server", description=__doc__)
    parser.add_argument("--stdio", action="store_true", help="speak on stdin and stdout, as it does anyway")
    parser.add_argument("--tcp", type=_address, metavar="PORT", help="listen on a port of loopback instead")
    parser.add_argument("--python", metavar="PATH", help="an interpreter with JAX, for what is to be run")
    parser.add_argument("--version", action="version", version=f"shardlint {shardlint.__version__}")
    options = parser.parse_args(argv)

    threading.stack_size(STACK_BYTES)
    # What Python's parser warns of in a text that somebody types is no news of the server's.
    warnings.simplefilter("ignore", SyntaxWarning)
    log = logging.StreamHandler()
    log.addFilter(_is_failure)
    logging.getLogger("pygls").addHandler(log)
    server = build_server()
    server.python = options.python
    if options.tcp is not None:
        # Whoever reaches the port is not known to be the user.
        server.executes = False
        server.start_tcp(*options.tcp)
        return 0
    protocol_out = sys.stdout.buffer
    sys.stdout = sys.stderr  # a stray print must not end up between two messages
    server.start_io(stdout=protocol_out)
    sys.stderr.flush()
    # An analysis under way is not waited for, and what others have made need not be taken apart: that takes
    # seconds in a large project.
    os._exit(0)


def _is_failure(record: logging.LogRecord) -> bool:
    """Return whether a log record of the protocol is a failure; rejected and late requests are not."""
    refused = record.exc_info is not None and isinstance(record.exc_info[1], JsonRpcException)
    return record.levelno >= logging.ERROR and not refused


def _address(text: str) -> tuple[str, int]:
    """Return the address and port in ``port`` or ``address:port``, which must be of this machine."""
    host, _, port = text.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    try:
        number = int(port)
        local = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host).is_loopback
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no port of this machine") from None
    if not local:
        raise argparse.ArgumentTypeError(f"{host} is not of this machine alone: only loopback is listened to")
    if not 0 <= number < 2**16:
        raise argparse.ArgumentTypeError(f"{number} is no port")
    return host, number

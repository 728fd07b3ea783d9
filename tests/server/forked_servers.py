"""Servers that need not import what they are made of: forks of a process that has, once for all tests.

Tests of how a server starts and ends (`test_lsp_starting.py`) start theirs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import cache

from support import forking
from support.command import WARM_UP
from support.fork_server import ForkServer

#: Imports what a server does by the time that it has published its first diagnostics.
TEXT = WARM_UP + "from shardlint_server.server import build_server"


def forking_command(arguments: Sequence[str]) -> list[str]:
    """Return the command that is ``python ARGUMENTS``, by a fork."""
    return [sys.executable, "-I", "-S", forking.__file__, _server().address, *arguments]


@cache
def _server() -> ForkServer:
    return ForkServer(TEXT, os.environ)

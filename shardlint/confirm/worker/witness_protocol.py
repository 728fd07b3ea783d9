"""JSON lines in, JSON lines out. The first line out says whether jax could be imported."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

MESSAGE_LIMIT = 500
Answer = dict[str, Any]


def serve(begin: Callable[[], Callable[[str], Answer]]) -> None:
    """Answer requests until there are no more. ``begin`` imports jax and returns the function that answers
    one.

    The protocol's stream is reserved: output of JAX and of programs goes to stderr.
    """
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def say(data: Answer) -> None:
        out.write(json.dumps(data, default=str) + "\n")
        out.flush()

    try:
        answer = begin()
        import jax
    except ImportError as error:
        say({"ready": False, "message": str(error)})
        return
    warnings.simplefilter("ignore")
    say({"ready": True, "jax": jax.__version__, "devices": len(jax.devices())})
    for line in iter(sys.stdin.readline, ""):
        say({"jax": jax.__version__, **answer(line)})


def message_of(error: BaseException) -> str:
    """Return the first line of an exception's message."""
    try:
        lines = str(error).strip().splitlines() or [""]
    except Exception:
        lines = [""]
    return lines[0][:MESSAGE_LIMIT]

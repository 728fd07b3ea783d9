"""Write into program documents what shardlint finds and JAX raises now: for a new program, or a new message.

usage: python tests/renew_documents.py [--messages] DOCUMENT...
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from support.document_tests import renewed


def main(arguments: Sequence[str]) -> None:
    """Renew the documents; with ``--messages`` the whole message of each finding is written."""
    for name in arguments:
        if name != "--messages":
            path = Path(name)
            path.write_text(renewed(path, "--messages" in arguments), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

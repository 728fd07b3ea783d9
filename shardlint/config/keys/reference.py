"""The reference of all keys, as Markdown.

``python -m shardlint.config.keys.reference docs/configuration.md`` updates that page.
"""

from __future__ import annotations

import sys
from pathlib import Path

from shardlint.config.keys.table import KEYS, Key
from shardlint.config.keys.value_kinds import written

BEGIN, END = "<!-- keys: begin -->", "<!-- keys: end -->"


def reference() -> str:
    """Return a section on each key: its purpose, its values, its default, an example."""
    return "\n".join(_section(key) for key in KEYS)


def _section(key: Key) -> str:
    default = "not set" if key.default is None else f"`{written(key.default)}`"
    facts = f"Takes {key.kind.words}. Default: {default}."
    return f"### `{key.name}`\n\n{key.docs}\n\n{facts}\n\n```toml\n{key.example}\n```\n"


def renewed(page: str) -> str:
    """Return a page with the current reference between its two marks."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{reference()}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        file = Path(name)
        file.write_text(renewed(file.read_text(encoding="utf-8")), encoding="utf-8")

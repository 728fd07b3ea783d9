"""The table of the VS Code extension's settings in docs/editors.md, made from its package.json.

``python docs/tools/editor_settings.py`` writes it anew.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "editors.md"
MANIFEST = ROOT / "server" / "vscode" / "package.json"
_TABLE = re.compile(r"(?:\| `shardlint\..*\n)+")


def manifest() -> dict[str, Any]:
    """Read what the extension says of itself."""
    return json.loads(MANIFEST.read_text(encoding="utf-8"))


def rows() -> str:
    """Return the rows of the table, one for each setting."""
    settings = manifest()["contributes"]["configuration"]["properties"]
    return "".join(
        f"| `{name}` | `{json.dumps(setting['default'])}` | {_told(setting)} |\n"
        for name, setting in settings.items()
    )


def _told(setting: dict[str, Any]) -> str:
    told = setting["markdownDescription"]
    for value, meaning in zip(
        setting.get("enum", ()), setting.get("markdownEnumDescriptions", ()), strict=False
    ):
        told += f" `{value}`: {meaning}"
    return re.sub(r"`#(shardlint\.[\w.]+)#`", r"`\1`", told).replace("|", r"\|")


def with_table(page: str) -> str:
    """Return the page with the table as it should be."""
    changed, tables = _TABLE.subn(lambda _: rows(), page)
    if tables != 1:
        raise ValueError(f"{tables} tables of settings")
    return changed


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

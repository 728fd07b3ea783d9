"""The pictures of the terminal in the README: programs of its pages, as shardlint prints of them in colours.

``python docs/tools/picture.py`` draws them anew; a test compares their text with what is printed.
"""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

import examples

README = examples.ROOT / "README.md"
_PICTURES = examples.HERE.parent / "pictures"


@dataclass(frozen=True)
class Picture:
    """What commands print of the first program of a page, as ``program``, in lines of ``width``."""

    file: Path
    page: Path
    program: str
    commands: tuple[str, ...]
    width: int = 118


CHECKED = Picture(
    _PICTURES / "terminal.svg",
    README,
    "train.py",
    ("shardlint check train.py --confirm", "shardlint layout train.py:8"),
)
COMPILED = Picture(
    _PICTURES / "compile.svg",
    examples.ROOT / "docs" / "howto" / "slow-step.md",
    "fixtures/step.py",
    ("shardlint compile fixtures/step.py",),
    132,
)
PICTURES = (CHECKED, COMPILED)

#: As rich has it, but for the font, which would be fetched from elsewhere.
_FORMAT = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
  <style>
    .{unique_id}-matrix {{
      font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
      font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width;
    }}
    .{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
    {styles}
  </style>
  <defs>
    <clipPath id="{unique_id}-clip-terminal">
      <rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
    </clipPath>
    {lines}
  </defs>
  {chrome}
  <g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
    {backgrounds}
    <g class="{unique_id}-matrix">
    {matrix}
    </g>
  </g>
</svg>
"""


def printed(picture: Picture, colours: bool) -> str:
    """Return the session: what the commands print of the page's first program."""
    page = picture.page.read_text(encoding="utf-8")
    program = next(block for block in examples.blocks(page) if block.language == "python")
    said = []
    with tempfile.TemporaryDirectory() as folder:
        reader = examples.Reader(page, Path(folder) / "page")
        written = reader.folder / picture.program
        written.parent.mkdir(exist_ok=True)
        written.write_text(program.text, encoding="utf-8")
        environment = {**reader.environment, "NO_COLOR": "", "FORCE_COLOR": "1" if colours else "0"}
        for command in picture.commands:
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=reader.folder,
                env={**environment, "TERM": "xterm-256color"},
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            said.append(f"$ {command}\n{done.stdout.rstrip()}\n")
    return "\n".join(said)


def drawn(session: str, width: int = CHECKED.width) -> str:
    """Draw a session as SVG."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=width, file=nowhere, force_terminal=True, legacy_windows=False)
        console.print(Text.from_ansi(session), soft_wrap=False, overflow="fold")
        return console.export_svg(title="shardlint", theme=MONOKAI, code_format=_FORMAT, unique_id="terminal")


def text_of(picture: str) -> str:
    """Return the text in a picture, without any space: words, but not how they are broken into lines."""
    matrix = picture.partition('class="terminal-matrix"')[2]
    return re.sub(r"\s", "", html.unescape("".join(re.findall(r"<text [^>]*>([^<]*)</text>", matrix))))


if __name__ == "__main__":
    _PICTURES.mkdir(exist_ok=True)
    for one in PICTURES:
        one.file.write_text(drawn(printed(one, colours=True), one.width), encoding="utf-8")
    sys.exit(0)

"""Stores what JAX says of the names that it lacks or deprecates, and which release raises what.

usage: python tests/versions/words.py FOLDER

FOLDER has the output of `ask_words.py` under each release, as ``<release>.json``. The words go into
`shardlint/laws/versions/jax_words.py`, but for messages that any missing name brings about, and the classes
into `tests/data/names.json`, which `test_names.py` sets beside the table.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from pathlib import Path

OUTCOMES = Path(__file__).parents[1] / "data" / "names.json"
MODULE = Path(__file__).parents[2] / "shardlint" / "laws" / "versions" / "jax_words.py"
GENERAL = re.compile(
    r"ModuleNotFoundError|.*not callable"
    r"|AttributeError: (?:Unrecognized config|module '|type object|'Config'|.*no attribute)"
)
WIDTH = 108


def spans(folder: Path) -> dict[str, list[list[str]]]:
    """Return, by name, the first and last release that say the same, and the words."""
    found: dict[str, list[list[str]]] = {}
    files = sorted(folder.glob("*.json"), key=lambda path: [int(part) for part in path.stem.split(".")])
    for file in files:
        answer = json.loads(file.read_text(encoding="utf-8"))
        release = ".".join(answer["jax"].split(".")[:3])
        for name, words in answer["words"].items():
            words = re.sub(r" object at 0x\w+", "", words)
            if GENERAL.match(words):
                continue
            known = found.setdefault(name, [])
            if known and known[-1][2] == words:
                known[-1][1] = release
            else:
                known.append([release, release, words])
    return found


def table(found: dict[str, list[list[str]]]) -> str:
    """Return the table as Python: names of which the same is said are together."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for name, told in sorted(found.items()):
        for first, last, words in told:
            plain = words.replace(name, "{name}").replace(name.rpartition(".")[2], "{last}")
            groups.setdefault((first, last, plain), []).append(name)
    lines = ['WORDS = """']
    for (first, last, words), names in groups.items():
        entry = f"{first} {last} {' '.join(names)} | {words}".replace("\\", "\\\\")
        lines += textwrap.wrap(entry, WIDTH, subsequent_indent="    ", break_on_hyphens=False)
    return "\n".join([*lines, '"""'])


def outcomes(folder: Path) -> dict[str, dict[str, str]]:
    """Return, by release and class, the names whose use raises or warns."""
    found: dict[str, dict[str, str]] = {}
    for file in folder.glob("*.json"):
        answer = json.loads(file.read_text(encoding="utf-8"))
        classes: dict[str, list[str]] = {}
        for name, words in sorted(answer["words"].items()):
            classes.setdefault(words.partition(":")[0], []).append(name)
        release = ".".join(answer["jax"].split(".")[:3])
        found[release] = {kind: " ".join(names) for kind, names in classes.items()}
    return found


def main() -> None:
    """Write both: what stands around the table in the module stays."""
    stored = json.dumps(outcomes(Path(sys.argv[1])), indent=0, sort_keys=True)
    OUTCOMES.write_text(f"{stored}\n", encoding="utf-8")
    text = MODULE.read_text(encoding="utf-8")
    start, end = text.index("WORDS = "), text.index("\n\n\ndef words_of")
    MODULE.write_text(text[:start] + table(spans(Path(sys.argv[1]))) + text[end:], encoding="utf-8")


if __name__ == "__main__":
    main()

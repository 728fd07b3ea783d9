"""Run the extension in VS Code in a browser: ``python tests/editors/run_browser.py [--install] [SCENARIO]``.

Packages the extension, starts code-server with it, and has Chromium do what `scenarios/*.mjs` say, each of
which asserts what a user sees. Pictures of how each ended are written to ``build/editors``. Exits with 1 when
one failed, and with 3 when the editor is not in its cache (``--install`` fetches it).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import editor_cache
import editor_workspaces
import python_extension_of_tests
from editor_cache import CODE_SERVER, EDITOR_MODULES, NODE_BINARY, ROOT

HERE = Path(__file__).resolve().parent
PICTURES = ROOT / "build" / "editors"
#: In ``restricted`` folders are not trusted when they are opened.
SCENARIOS = sorted(
    file.relative_to(HERE / "scenarios").with_suffix("").as_posix()
    for file in (HERE / "scenarios").rglob("*.mjs")
)
PATIENCE = 60
"""Seconds until what is not seen has failed."""

SETTINGS = {
    "security.workspace.trust.enabled": False,
    "files.autoSave": "off",
    "telemetry.telemetryLevel": "off",
    "update.mode": "none",
    "workbench.startupEditor": "none",
    "workbench.colorTheme": "Default Light Modern",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "chat.disableAIFeatures": True,
    "extensions.ignoreRecommendations": True,
    "editor.minimap.enabled": False,
    "terminal.integrated.gpuAcceleration": "off",  # else what it shows is but a picture
    "shardlint.interpreter": [sys.executable],
}
RESTRICTED = {
    "security.workspace.trust.enabled": True,
    "security.workspace.trust.startupPrompt": "never",
}


@dataclass(frozen=True)
class Outcome:
    """How a scenario ended: ``error`` is None when all was seen."""

    name: str
    seconds: float
    error: str | None


def run(scenarios: Sequence[str], pictures: Path = PICTURES) -> Iterator[Outcome]:
    """Run scenarios in one editor, and tell of each as it ends."""
    restricted = [name for name in scenarios if name.startswith("restricted/")]
    trusted = [name for name in scenarios if name not in restricted]
    pictures.mkdir(parents=True, exist_ok=True)
    extensions = [editor_cache.package()]
    if trusted:
        yield from _run(trusted, pictures, extensions, SETTINGS)
    if restricted:
        yield from _run(restricted, pictures, extensions, SETTINGS | RESTRICTED)


def _run(
    scenarios: Sequence[str], pictures: Path, extensions: Sequence[Path], settings: Mapping[str, object]
) -> Iterator[Outcome]:
    with tempfile.TemporaryDirectory(prefix="shardlint-editors-") as folder:
        work = Path(folder)
        editor_workspaces.write(work / "workspaces")
        python_extension = python_extension_of_tests.write(work / "python.vsix")
        with code_server(work, [*extensions, python_extension], settings) as url:
            given = {
                "url": url,
                "workspaces": str(work / "workspaces"),
                "scenarios": list(scenarios),
                "pictures": str(pictures),
                "chromium": editor_cache.chromium(),
                "modules": str(EDITOR_MODULES),
                "backups": str(work / "user" / "Backups"),
                "patience": PATIENCE,
            }
            driver = subprocess.Popen(
                [NODE_BINARY, HERE / "drive.mjs", json.dumps(given)], stdout=subprocess.PIPE, text=True
            )
            assert driver.stdout is not None
            for line in driver.stdout:
                yield Outcome(**json.loads(line))
            if driver.wait():
                raise RuntimeError("the driver of the browser broke off")


@contextlib.contextmanager
def code_server(work: Path, extensions: Sequence[Path], settings: Mapping[str, object]) -> Iterator[str]:
    """Start VS Code with extensions and settings, and nothing of the user's; give its address."""
    user = work / "user"
    (user / "User").mkdir(parents=True)
    (user / "User" / "settings.json").write_text(json.dumps(settings))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    own: list[str | Path] = [
        "--user-data-dir",
        user,
        "--extensions-dir",
        user / "extensions",
        "--config",
        work / "config.yaml",
    ]
    install = [*own, *(part for file in extensions for part in ("--install-extension", file))]
    serve = [*own, "--bind-addr", address, "--auth", "none", "--disable-telemetry", "--disable-update-check"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("VSCODE")}
    environment |= {"PATH": "/usr/bin:/bin", "PYTHON_OF_TESTS": sys.executable}
    log = work / "log"
    with log.open("wb") as output:
        subprocess.run(
            [NODE_BINARY, CODE_SERVER, *install], env=environment, stdout=output, stderr=output, check=True
        )
        server = subprocess.Popen(
            [NODE_BINARY, CODE_SERVER, *serve], env=environment, stdout=output, stderr=output
        )
    try:
        _wait_for(f"http://{address}/healthz", server, log)
        yield f"http://{address}"
    finally:
        server.terminate()
        server.wait(20)


def _wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            if server.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"code-server did not start:\n{log.read_text()}") from None
            time.sleep(0.1)


def main(argv: Sequence[str] | None = None) -> int:
    """Run what was asked for, and say how it went."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = f"of {', '.join(SCENARIOS)}; default: all"
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=names)
    parser.add_argument("--install", action="store_true", help="fetch the editor first, where it is missing")
    options = parser.parse_args(argv)
    if unknown := set(options.scenarios) - set(SCENARIOS):
        parser.error(f"no scenario {', '.join(sorted(unknown))}")
    if options.install:
        editor_cache.install()
    if (missing := editor_cache.missing_editor()) is not None:
        print(f"skipped: {missing}; --install fetches it")
        return 3
    failed = 0
    for outcome in run(options.scenarios or SCENARIOS):
        print(
            f"{'ok' if outcome.error is None else 'FAILED'}  {outcome.name} ({outcome.seconds:.1f} s)",
            flush=True,
        )
        if outcome.error is not None:
            failed += 1
            print(outcome.error)
    print(f"pictures in {PICTURES}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

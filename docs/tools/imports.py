"""Who imports whom: the imports of shardlint and its server, by module and by package.

The packages are the rows of the table in `docs/architecture.md`, which also says what each may import.
Imports are read from the text with `ast`, those inside functions as well; those under ``TYPE_CHECKING`` are
told apart.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "architecture.md"
SOURCES = {"shardlint": ROOT / "shardlint", "shardlint_server": ROOT / "server" / "shardlint_server"}
#: Stands for every package above it in the table.
ALL_ABOVE = "all above"


@dataclass(frozen=True)
class Import:
    """A module that another one imports, and whether only for its types."""

    target: str
    for_types: bool


@dataclass(frozen=True)
class Package:
    """A row of the table: a package, the packages that it may import, and those whose types it may name."""

    name: str
    may_import: frozenset[str]
    may_name: frozenset[str]
    holds: str


def module_name(package: str, folder: Path, file: Path) -> str:
    """Return the dotted name of a file: ``shardlint/laws/__init__.py`` is ``shardlint.laws``."""
    parts = [package, *file.relative_to(folder).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def modules() -> dict[str, Path]:
    """Return the files of all modules, by dotted name."""
    return {
        module_name(package, folder, file): file
        for package, folder in SOURCES.items()
        for file in sorted(folder.rglob("*.py"))
    }


@cache
def imported(name: str, text: str, *, is_package: bool = False) -> tuple[Import, ...]:
    """Return every name that a module imports; what ``from a import b`` takes out of ``a`` is ``a.b``."""
    return tuple(_imported(name, text, is_package))


def _imported(name: str, text: str, is_package: bool) -> Iterator[Import]:
    package = name if is_package else name.rpartition(".")[0]
    tree = ast.parse(text)
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, id(node) in for_types)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, base] if base else above)
            for alias in node.names:
                yield Import(f"{base}.{alias.name}", id(node) in for_types)


def table(page: str) -> dict[str, Package]:
    """Return the packages of the table in the page, in its order: the lowest first."""
    found: dict[str, Package] = {}
    for line in page.splitlines():
        row = re.fullmatch(r"\| `([\w./]+)` \| (.*?) \| (.*?) \| (.*?) \|", line)
        if row is not None:
            name, may_import, may_name, holds = row.groups()
            above = frozenset(found)
            found[name] = Package(name, _names(may_import, above), _names(may_name, above), holds)
    return found


def _names(cell: str, above: frozenset[str]) -> frozenset[str]:
    return above if cell == ALL_ABOVE else frozenset(re.findall(r"`([\w./]+)`", cell))


def package_of(name: str, packages: Iterable[str]) -> str:
    """Return the package of a module: the longest name in the table that it begins with, else ``(root)``."""
    path = "server" if name.startswith("shardlint_server") else name.removeprefix("shardlint").lstrip(".")
    path = path.replace(".", "/")
    return max(
        (one for one in packages if path == one or path.startswith(one + "/")), key=len, default="(root)"
    )


def within(target: str, known: Mapping[str, Path]) -> str:
    """Return the module that an imported name is, or is in."""
    while target not in known and "." in target:
        target = target.rpartition(".")[0]
    return target


def arrows(packages: Iterable[str], *, types: bool = False) -> dict[str, set[str]]:
    """Return for each package those that its modules import; with ``types``, those whose types they name."""
    known, packages = modules(), list(packages)
    found: dict[str, set[str]] = {name: set() for name in packages}
    for name, file in known.items():
        package = package_of(name, packages)
        for one in imported(name, file.read_text(encoding="utf-8"), is_package=file.name == "__init__.py"):
            if one.target.partition(".")[0] in SOURCES and one.for_types == types:
                other = package_of(within(one.target, known), packages)
                if other != package and "(root)" not in (package, other):
                    found[package].add(other)
    return found


def circles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the groups of names that reach each other (Tarjan), each sorted."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(one: str) -> None:
        index[one] = low[one] = len(index)
        stack.append(one)
        for other in sorted(graph.get(one, ())):
            if other not in index:
                visit(other)
                low[one] = min(low[one], low[other])
            elif other in stack:
                low[one] = min(low[one], index[other])
        if low[one] == index[one]:
            group = stack[stack.index(one) :]
            del stack[stack.index(one) :]
            if len(group) > 1:
                found.append(sorted(group))

    for one in sorted(graph):
        if one not in index:
            visit(one)
    return found

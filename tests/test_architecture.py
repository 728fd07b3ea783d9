"""The rooms of the house: what each may import, how long its files are, what a start costs.

Imports are read from the text with `ast`: also those inside functions and under ``TYPE_CHECKING``.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = {"shardlint": ROOT / "shardlint", "shardlint_server": ROOT / "server" / "shardlint_server"}
LONGEST = 500

RECORDS = {"shardlint.support.lazy_dataclass"}
TYPES = {
    "shardlint.model.spans",
    "shardlint.model.findings",
    "shardlint.model.uses",
    "shardlint.source.workspace.file_access",
} | RECORDS
VERSION = {"shardlint.__version__"}
LAWS = {"shardlint.laws"}

# Abstract values, operations on them, and what the evaluator shows of itself (`Evaluator`). Overlays
# build on these alone, and none of these knows syntax trees: so a library's functions never see how
# a program is written or evaluated, only the values that it computes.
VALUES = {
    f"shardlint.inference.{name}"
    for name in (
        "effects", "circumstances", "looks", "values", "calls", "evaluator", "context", "once", "settings",
        "assumed", "releases", "joins", "alternatives", "truth", "iteration", "classes", "forgetting",
        "iterators", "mutation", "library_names", "naming", "private_names", "descriptors", "choices",
    )
}  # fmt: skip
OVERLAYS = "shardlint.inference.overlays"

# What is done with any value, by Python's rules or a library's: they ask the overlays, and the
# overlays reach them through the evaluator. They know no syntax either.
OPERATIONS = {f"shardlint.inference.{name}" for name in ("operators", "indexing", "instances")}

# What a room may import of ours: modules, and packages with all they hold. The first room that a
# module's name begins with is its own. Every room may import itself.
ROOMS: dict[str, set[str]] = {
    "shardlint.support.lazy_dataclass": set(),
    "shardlint.source.workspace.file_access": RECORDS,
    "shardlint.support.cancellation": set(),
    "shardlint.model.spans": TYPES | LAWS,
    "shardlint.model.findings": TYPES | LAWS,
    "shardlint.model.uses": TYPES | LAWS,
    "shardlint.laws": RECORDS,
    "shardlint.source": TYPES,
    OVERLAYS: TYPES | LAWS | VALUES,
    **dict.fromkeys(sorted(VALUES), TYPES | LAWS | VALUES),
    **dict.fromkeys(sorted(OPERATIONS), TYPES | LAWS | VALUES | OPERATIONS | {OVERLAYS}),
    "shardlint.inference": TYPES
    | LAWS
    | {"shardlint.support.gc_policy", "shardlint.source", "shardlint.support.cancellation"},
    "shardlint.fixes": TYPES
    | LAWS
    | {
        "shardlint.source",
        "shardlint.inference.syntax.node_fields",
        "shardlint.inference.syntax.node_offsets",
    },
    "shardlint.engine.suppression": TYPES
    | LAWS
    | {"shardlint.source", "shardlint.rules.all_rules", "shardlint.rules.base"},
    "shardlint.engine.baseline": TYPES | {"shardlint.source", "shardlint.fixes.documents"},
    "shardlint.rules": TYPES | LAWS | {"shardlint.support.cancellation"},
    "shardlint.confirm.worker": set(),
    "shardlint.confirm": TYPES | LAWS,
    "shardlint.confirm.fixtures.announcements": TYPES
    | {"shardlint.confirm.fixtures.expectations", "shardlint.source"},
    "shardlint.ide": TYPES | LAWS | {"shardlint.source", "shardlint.output.layout"},
    "shardlint.report.api_coverage": TYPES | LAWS | {"shardlint.source"},
    "shardlint.report": TYPES
    | LAWS
    | {
        "shardlint.source",
        "shardlint.config",
        "shardlint.confirm.init_request",
        "shardlint.rules.messages.common",
    },
    "shardlint.output.report": TYPES
    | LAWS
    | {
        "shardlint.support.media",
        "shardlint.output.tables.writer",
        "shardlint.report.values",
        "shardlint.rules.messages.common",
    },
    "shardlint.output": TYPES
    | LAWS
    | {"shardlint.report.api_coverage", "shardlint.source.api_sites", "shardlint.confirm.fixtures.results"},
    "shardlint.engine.release_merge": TYPES | LAWS,
    "shardlint.cache": TYPES | LAWS | VERSION | {"shardlint.source"},
    "shardlint.engine.work_item": TYPES
    | {"shardlint.source", "shardlint.inference", "shardlint.cache.codec"},
    "shardlint.engine.open_programs": TYPES
    | {
        "shardlint.cache.validation",
        "shardlint.source",
        "shardlint.inference",
        "shardlint.support.cancellation",
        "shardlint.engine.work_item",
    },
    "shardlint.cli.watch": TYPES
    | {
        "shardlint.engine.check_cache",
        "shardlint.inference.programs.module_loader",
        "shardlint.support.media",
    },
    "shardlint.engine.results": TYPES | {"shardlint.source"},
    "shardlint.cli.check": {"shardlint."},
    "shardlint.engine.check_cache": TYPES
    | {"shardlint.cache", "shardlint.engine.results", "shardlint.source"},
    "shardlint.support.gc_policy": set(),
    "shardlint.engine.process_pool": RECORDS
    | {
        "shardlint.support.gc_policy",
        "shardlint.source",
        "shardlint.inference",
        "shardlint.engine.work_item",
    },
    "shardlint.engine.analyzer": TYPES
    | LAWS
    | {
        "shardlint.support.gc_policy",
        "shardlint.source",
        "shardlint.cache",
        "shardlint.inference",
        "shardlint.engine.work_item",
        "shardlint.engine.process_pool",
        "shardlint.engine.open_programs",
    },
    "shardlint.engine.source_selection": TYPES
    | {"shardlint.config", "shardlint.source", "shardlint.inference"},
    "shardlint.cli.config_options": {"shardlint.config", "shardlint.support.media"},
    "shardlint.confirm.fixtures.results": TYPES | {"shardlint.confirm", "shardlint.source"},
    "shardlint.engine.deployment_merge": TYPES | LAWS | {"shardlint.config.deployments"},
    "shardlint.config.loading.jax_requirement": LAWS,
    "shardlint.config": VERSION | {"shardlint."},
    "shardlint.config.loading.logical_axes": {"shardlint.config", "shardlint.source.workspace.file_access"},
    "shardlint.ide.session": {"shardlint."},
    "shardlint.api": VERSION | {"shardlint."},
    "shardlint.cli.check_edits": {"shardlint."},
    "shardlint.cli.report_output": VERSION | {"shardlint."},
    "shardlint.cli.commands": VERSION | {"shardlint.", "shardlint_server.server"},
    "shardlint.__main__": {"shardlint.cli.commands"},
    "shardlint_server": TYPES | VERSION | {"shardlint.api"},
    "shardlint": set(),
}

# Who may import a library that is slow to load, or that is not a dependency of the package.
LIBRARIES: dict[str, tuple[str, ...]] = {
    "jax": ("shardlint.confirm.worker",),
    "jaxlib": ("shardlint.confirm.worker",),
    "flax": ("shardlint.confirm.worker",),
    "pygls": ("shardlint_server",),
    "lsprotocol": ("shardlint_server",),
    "libcst": ("shardlint.inference", "shardlint.fixes"),
}

HEAVY = ("libcst", "rich", "pathspec", "jax", "flax", "numpy", "pygls", "lsprotocol")

MACHINE_PATH = re.compile(r"(?<![\w.])/(?:home|Users|root|work|tmp)/\w")


def module_name(package: str, folder: Path, file: Path) -> str:
    """``shardlint/laws/__init__.py`` → ``shardlint.laws``."""
    parts = [package, *file.relative_to(folder).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def modules() -> Iterator[tuple[str, Path]]:
    for package, folder in PACKAGES.items():
        for file in sorted(folder.rglob("*.py")):
            yield module_name(package, folder, file), file


MODULES = dict(modules())


def imported(name: str, text: str, *, is_package: bool = False) -> Iterator[str]:
    """Every name that a module imports, with what ``from a import b`` takes out of ``a`` as ``a.b``."""
    package = name if is_package else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, base] if base else above)
            yield from (f"{base}.{alias.name}" for alias in node.names)


def within(name: str, place: str) -> bool:
    """Whether a name is a place or something in it; ``shardlint.`` stands for all that package holds."""
    return name.startswith(place) if place.endswith(".") else name == place or name.startswith(place + ".")


def room_of(name: str) -> str:
    return next(room for room in ROOMS if within(name, room))


def violations(name: str, text: str, *, is_package: bool = False) -> list[str]:
    """What a module imports and may not."""
    room = room_of(name)
    found = []
    for target in imported(name, text, is_package=is_package):
        library = target.partition(".")[0]
        owners = LIBRARIES.get(library)
        if owners is not None and not any(within(name, owner) for owner in owners):
            found.append(f"{name} imports {target}: only {' and '.join(owners)} may")
        if library == "libcst" and room in VALUES | OPERATIONS | {OVERLAYS}:
            found.append(f"{name} imports {target}: {room} knows no syntax")
        if library in PACKAGES and not may_import(room, target):
            found.append(f"{name} imports {target}, outside what {room} may")
    return found


def may_import(room: str, target: str) -> bool:
    if target == "shardlint":
        target = "shardlint.__version__"  # all that the package itself holds
    own = {room} - {"shardlint"}
    return any(within(target, place) for place in ROOMS[room] | own)


@pytest.mark.parametrize("name", MODULES)
def test_each_room_imports_only_what_it_may(name: str) -> None:
    file = MODULES[name]
    assert not violations(name, file.read_text(encoding="utf-8"), is_package=file.name == "__init__.py")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("shardlint.laws.placement", "from shardlint.model.spans import Span"),
        ("shardlint.laws.placement", "from ..findings import Finding"),
        ("shardlint.laws.placement", "from .. import uses"),
        ("shardlint.rules.unknown_axis", "def f():\n    import shardlint.inference.domain.values"),
        ("shardlint.rules.unknown_axis", "from shardlint import inference"),
        ("shardlint.inference.evaluate", "if TYPE_CHECKING:\n    from shardlint.rules import Rule"),
        (
            "shardlint.inference.overlays.numpy",
            "from shardlint.inference.interpreter.interpreter import Interpreter",
        ),
        (
            "shardlint.inference.overlays.numpy",
            "from shardlint.inference.interpreter.expressions import evaluate",
        ),
        ("shardlint.inference.overlays.numpy", "import libcst as cst"),
        ("shardlint.inference.domain.lattice", "import libcst as cst"),
        (
            "shardlint.inference.semantics.operators",
            "if TYPE_CHECKING:\n    from shardlint.inference.interpreter.interpreter import interpreter",
        ),
        ("shardlint.source.workspace.prefilter", "import libcst"),
        ("shardlint.source.notebooks", "from shardlint.laws.core.values import Mesh"),
        ("shardlint.output.formats.full", "from shardlint.api import Linter"),
        ("shardlint.confirm.witnesses.builder", "import jax.numpy as jnp"),
        ("shardlint.confirm.worker", "from shardlint.laws.core.values import Mesh"),
        ("shardlint.api", "import flax"),
        ("shardlint.api", "from shardlint_server.server import main"),
        ("shardlint.cli.commands", "from lsprotocol import types"),
        ("shardlint_server.features.diagnostics", "from shardlint.inference.domain.values import Const"),
        ("shardlint_server.features.diagnostics", "import shardlint.config"),
        ("shardlint", "from shardlint.api import Linter"),
    ],
)
def test_a_planted_import_is_caught(name: str, text: str) -> None:
    assert violations(name, text)


@pytest.mark.parametrize(
    ("name", "text", "is_package"),
    [
        ("shardlint.laws.placement", "from shardlint.laws.core.dims import Dim\nimport math", False),
        ("shardlint.laws", "from .dims import Dim", True),
        ("shardlint.rules.unknown_axis", "from shardlint.model.uses import Placement", False),
        ("shardlint.rules.unknown_axis", "from shardlint.model import findings", False),
        ("shardlint.inference.overlays.numpy", "from shardlint.inference.domain.values import Const", False),
        (
            "shardlint.inference.overlays.numpy",
            "from shardlint.inference.domain.iteration import iterate",
            False,
        ),
        ("shardlint.inference.interpreter.interpreter", "import libcst as cst", False),
        ("shardlint.confirm.worker", "import jax, flax.linen", False),
        ("shardlint.cli.commands", "def serve():\n    from shardlint_server.server import main", False),
        ("shardlint_server.session", "import shardlint\nfrom shardlint.api import Linter", False),
    ],
)
def test_a_permitted_import_is_not(name: str, text: str, is_package: bool) -> None:
    assert not violations(name, text, is_package=is_package)


@pytest.mark.parametrize("name", MODULES)
def test_files_are_short(name: str) -> None:
    lines = len(MODULES[name].read_text(encoding="utf-8").splitlines())
    assert lines <= LONGEST, f"{MODULES[name].relative_to(ROOT)} has {lines} lines"


def test_version_loads_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from shardlint.cli.commands import main\n"
        "try:\n    main(['--version'])\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        f"loaded = [name for name in {HEAVY!r} if name in sys.modules]\n"
        "assert not loaded, loaded\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("shardlint ")


def tracked_files() -> list[Path]:
    """What git tracks; in a tree without git, everything but hidden files and caches."""
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True)
    if listed.returncode == 0:
        return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]
    return [
        file
        for file in ROOT.rglob("*")
        if file.is_file() and not any(part.startswith((".", "__")) for part in file.relative_to(ROOT).parts)
    ]


def machine_paths(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if MACHINE_PATH.search(line)]


def test_no_file_names_a_path_of_one_machine() -> None:
    found = []
    for file in tracked_files():
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # pictures, and deliberately broken fixtures
        found += [f"{file.relative_to(ROOT)}: {line}" for line in machine_paths(text)]
    assert not found


def test_a_planted_machine_path_is_caught() -> None:
    planted = "/".join(["cache = '", "home", "ada", "x'"])
    assert machine_paths(planted)
    assert not machine_paths("https://example.com/home/page and docs/work/notes and a/tmp/b")

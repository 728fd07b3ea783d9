"""The house: which package may import which, how large files and folders are, what a start costs.

The table of packages is read from `docs/architecture.md`, and imports from the text: also those inside
functions and under ``TYPE_CHECKING``.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import draw_architecture
import imports

ROOT = imports.ROOT
LONGEST = 500
#: Modules in a folder, but for its ``__init__``.
MOST_MODULES = 14

PAGE = imports.PAGE.read_text(encoding="utf-8")
PACKAGES = imports.table(PAGE)
MODULES = imports.modules()

#: Modules above all packages, and what they import of ours.
ABOVE = {"shardlint": set(), "shardlint.__main__": {"cli"}}

# Who may import a library that is slow to load, or that is not a dependency of the package.
LIBRARIES: dict[str, tuple[str, ...]] = {
    "jax": ("confirm/worker",),
    "jaxlib": ("confirm/worker",),
    "flax": ("confirm/worker",),
    "pygls": ("server",),
    "lsprotocol": ("server",),
    "libcst": (
        "inference/syntax", "inference/machine", "inference/semantics", "inference/conditions",
        "inference/facts", "inference/recording", "inference/summaries", "inference/interpreter",
        "inference/incremental", "inference/programs", "fixes", "rules",
    ),
}  # fmt: skip

HEAVY = ("libcst", "rich", "pathspec", "jax", "flax", "numpy", "pygls", "lsprotocol")

MACHINE_PATH = re.compile(r"(?<![\w.])/(?:home|Users|root|work|tmp)/\w")


def violations(name: str, text: str, *, is_package: bool = False) -> list[str]:
    """Return what a module imports and may not."""
    package = imports.package_of(name, PACKAGES)
    found = []
    for one in imports.imported(name, text, is_package=is_package):
        library = one.target.partition(".")[0]
        if library in LIBRARIES and package not in LIBRARIES[library]:
            found.append(f"{name} imports {one.target}: only {' and '.join(LIBRARIES[library])} may")
        if library in imports.SOURCES and one.target not in ("shardlint", "shardlint.__version__"):
            other = imports.package_of(one.target, PACKAGES)
            if other not in may_import(name, package, for_types=one.for_types):
                found.append(f"{name} imports {one.target}: {package} may not import {other}")
    return found


def may_import(name: str, package: str, *, for_types: bool) -> set[str]:
    if package == "(root)":
        return ABOVE[name]
    row = PACKAGES[package]
    return {package, *row.may_import, *(row.may_name if for_types else ())}


@pytest.mark.parametrize("name", MODULES)
def test_each_package_imports_only_what_it_may(name: str) -> None:
    file = MODULES[name]
    assert not violations(name, file.read_text(encoding="utf-8"), is_package=file.name == "__init__.py")


def test_packages_import_only_what_stands_above_them_in_the_table() -> None:
    names = list(PACKAGES)
    for position, row in enumerate(PACKAGES.values()):
        assert row.may_import <= set(names[:position]), row.name
        assert row.may_name <= set(names) - row.may_import, row.name


def upward_names(name: str, text: str, *, is_package: bool = False) -> list[str]:
    """Return what a module names of packages below its own in the table, other than protocols."""
    order = [*PACKAGES, "(root)"]
    position = order.index(imports.package_of(name, PACKAGES))
    return [
        one.target
        for one in imports.imported(name, text, is_package=is_package)
        if one.for_types and one.target.partition(".")[0] in imports.SOURCES
        if order.index(imports.package_of(one.target, PACKAGES)) > position
        if not is_protocol(one.target)
    ]


def is_protocol(target: str) -> bool:
    """Return whether a dotted name is that of a class that states `Protocol` among its bases."""
    module, _, called = target.rpartition(".")
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8")) if module in MODULES else ast.Module([], [])
    return any(
        isinstance(one, ast.ClassDef)
        and one.name == called
        and any(ast.unparse(base).partition("[")[0] == "Protocol" for base in one.bases)
        for one in tree.body
    )


@pytest.mark.parametrize("name", MODULES)
def test_types_of_packages_below_in_the_table_are_protocols(name: str) -> None:
    file = MODULES[name]
    assert not upward_names(name, file.read_text(encoding="utf-8"), is_package=file.name == "__init__.py")


def test_a_planted_type_that_is_no_protocol_is_caught() -> None:
    line = "if TYPE_CHECKING:\n    from shardlint.inference.evaluation.{} import {}"
    assert not upward_names("shardlint.inference.domain.values", line.format("call", "OnCall"))
    assert not upward_names("shardlint.inference.domain.classes", line.format("evaluator", "Evaluator"))
    assert upward_names("shardlint.inference.domain.values", line.format("call", "Call"))
    assert upward_names("shardlint.inference.domain.values", line.format("context", "Scope"))
    assert not upward_names("shardlint.inference.overlays.registry", line.format("call", "Call"))


def test_the_table_has_nothing_that_is_not_so() -> None:
    """What the table permits is also done: else it may go."""
    imported, named = imports.arrows(PACKAGES), imports.arrows(PACKAGES, types=True)
    for row in PACKAGES.values():
        if f"| `{row.name}` | {imports.ALL_ABOVE} |" not in PAGE:
            assert row.may_import <= imported[row.name] | named[row.name], row.name
        assert row.may_name <= named[row.name], row.name


def test_every_folder_is_in_the_table() -> None:
    assert {name for name in MODULES if imports.package_of(name, PACKAGES) == "(root)"} == set(ABOVE)


def test_no_imports_go_in_a_circle() -> None:
    graph: dict[str, set[str]] = {}
    for name, file in MODULES.items():
        found = imports.imported(
            name, file.read_text(encoding="utf-8"), is_package=file.name == "__init__.py"
        )
        # A package's face is imported with each of its modules: it is no arrow of theirs.
        targets = {imports.within(one.target, MODULES) for one in found if not one.for_types}
        graph[name] = (targets & MODULES.keys()) - {name}
    assert not imports.circles(graph)


def test_circles_are_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"a"}}
    assert imports.circles(graph) == [["b", "c"]]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("shardlint.laws.placement.judge", "from shardlint.model.spans import Span"),
        ("shardlint.laws.placement.judge", "from ...model.findings import Finding"),
        ("shardlint.laws.placement.judge", "from ... import model"),
        ("shardlint.rules.specs.unknown_axis", "def f():\n    import shardlint.inference.domain.values"),
        ("shardlint.rules.specs.unknown_axis", "from shardlint import inference"),
        ("shardlint.inference.evaluation.call", "if TYPE_CHECKING:\n    from shardlint.rules import Rule"),
        (
            "shardlint.inference.overlays.numpy.functions",
            "from shardlint.inference.interpreter.interpreter import Interpreter",
        ),
        (
            "shardlint.inference.overlays.numpy.functions",
            "from shardlint.inference.machine.machine import Machine",
        ),
        ("shardlint.inference.overlays.numpy.functions", "import libcst as cst"),
        ("shardlint.inference.domain.lattice", "import libcst as cst"),
        ("shardlint.source.workspace.prefilter", "import libcst"),
        ("shardlint.source.notebooks.cells", "from shardlint.inference import analyze"),
        ("shardlint.output.formats.full", "from shardlint.api import Linter"),
        ("shardlint.confirm.witnesses.builder", "import jax.numpy as jnp"),
        ("shardlint.confirm.worker.initializer", "from shardlint.laws.core.values import Mesh"),
        ("shardlint.api", "import flax"),
        ("shardlint.api", "from shardlint_server.server import main"),
        ("shardlint.cli.commands", "from lsprotocol import types"),
        (
            "shardlint_server.features.diagnostics",
            "from shardlint.inference.domain.values import Const",
        ),
        ("shardlint_server.features.diagnostics", "import shardlint.config"),
        ("shardlint", "from shardlint.api import Linter"),
    ],
)
def test_a_planted_import_is_caught(name: str, text: str) -> None:
    assert violations(name, text)


@pytest.mark.parametrize(
    ("name", "text", "is_package"),
    [
        ("shardlint.laws.placement.judge", "from shardlint.laws.core.dims import Dim\nimport math", False),
        ("shardlint.laws", "from .core.dims import Dim", True),
        ("shardlint.rules.specs.unknown_axis", "from shardlint.model.uses import Placement", False),
        ("shardlint.rules.specs.unknown_axis", "from shardlint.model import findings", False),
        (
            "shardlint.inference.overlays.numpy.functions",
            "from shardlint.inference.domain.values import Const",
            False,
        ),
        ("shardlint.inference.interpreter.interpreter", "import libcst as cst", False),
        ("shardlint.confirm.worker.initializer", "import jax, flax.linen", False),
        ("shardlint.cli.commands", "def serve():\n    from shardlint_server.server import main", False),
        ("shardlint_server.session", "import shardlint\nfrom shardlint.api import Linter", False),
    ],
)
def test_a_permitted_import_is_not(name: str, text: str, is_package: bool) -> None:
    assert not violations(name, text, is_package=is_package)


def test_the_picture_shows_the_imports() -> None:
    drawn = draw_architecture.PICTURE.read_text(encoding="utf-8")
    assert drawn == draw_architecture.picture(), "python docs/tools/draw_architecture.py"


@pytest.mark.parametrize("name", MODULES)
def test_files_are_short(name: str) -> None:
    lines = len(MODULES[name].read_text(encoding="utf-8").splitlines())
    assert lines <= LONGEST, f"{MODULES[name].relative_to(ROOT)} has {lines} lines"


def test_folders_are_small() -> None:
    counted = Counter(file.parent for file in MODULES.values() if file.name != "__init__.py")
    large = {str(folder.relative_to(ROOT)): n for folder, n in counted.items() if n > MOST_MODULES}
    assert not large


@pytest.mark.parametrize("name", [name for name, file in MODULES.items() if file.name == "__init__.py"])
def test_packages_say_what_they_hold(name: str) -> None:
    text = MODULES[name].read_text(encoding="utf-8")
    assert re.match(r'"""(?!(?:What|Whether|Where|Which|How|Those)\b)', text)


def test_version_loads_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from shardlint.cli import main\n"
        "try:\n    main(['--version'])\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        f"loaded = [name for name in {HEAVY!r} if name in sys.modules]\n"
        "assert not loaded, loaded\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("shardlint ")


def test_rules_load_nothing_heavy() -> None:
    """A fix takes what it is made with where it runs: every start reads the rules, and few make a fix."""
    code = (
        "import sys\n"
        "from shardlint.rules import all_rules\n"
        "assert all_rules()\n"
        f"loaded = [name for name in {HEAVY!r} if name in sys.modules]\n"
        "assert not loaded, loaded\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


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

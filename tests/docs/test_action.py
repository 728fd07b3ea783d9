"""The GitHub Action does what docs/ci.md says: bash runs its steps in a workspace, as on a runner."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

import examples

ROOT = examples.ROOT
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
INSTALL, CHECK, COMPILE = ACTION["runs"]["steps"]

GOOD = """\
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
x = jax.device_put(jnp.zeros((8, 16)), NamedSharding(mesh, P("data", "model")))
"""
BAD = GOOD.replace('P("data", "model")', 'P("data", "modle")')


@dataclass
class Runner:
    """What a runner has: folders, and the files that a step writes for it."""

    home: Path
    inputs: dict[str, str] = field(default_factory=dict)

    @property
    def workspace(self) -> Path:
        return self.home / "work space"

    def value(self, expression: str) -> str:
        """What an expression of the action means."""
        known = {
            "github.action_path": str(ROOT),
            "runner.temp": str(self.home / "temp"),
            **{f"inputs.{name}": given["default"] for name, given in ACTION["inputs"].items()},
            **{f"inputs.{name}": value for name, value in self.inputs.items()},
        }
        return re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda match: known[match[1]], expression)

    def run(self, step: dict[str, Any]) -> tuple[subprocess.CompletedProcess[str], dict[str, str]]:
        """Run a step, and return what it did and its outputs."""
        assert step["shell"] == "bash"
        for folder in (self.workspace, self.home / "temp"):
            folder.mkdir(exist_ok=True)
        script, output = self.home / "step.sh", self.home / "output"
        script.write_text(self.value(step["run"]), encoding="utf-8")
        output.write_text("")
        ours = ("PYTHONPATH", "NO_COLOR", "FORCE_COLOR", "SHARDLINT_CACHE_DIR")
        environment = {name: value for name, value in os.environ.items() if name not in ours}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.workspace,
            env={
                **environment,
                "CI": "true",
                "GITHUB_ACTIONS": "true",
                "GITHUB_WORKSPACE": str(self.workspace),
                "GITHUB_OUTPUT": str(output),
                "GITHUB_STEP_SUMMARY": str(self.home / "summary.md"),
                "RUNNER_TEMP": str(self.home / "temp"),
                **{name: self.value(value) for name, value in step["env"].items()},
            },
            capture_output=True,
            text=True,
            timeout=600,
        )
        return done, dict(line.split("=", 1) for line in output.read_text().splitlines())


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the first step has installed this tree."""
    runner = Runner(tmp_path_factory.mktemp("runner"), {"python": sys.executable})
    done, _ = runner.run(INSTALL)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("shardlint ")
    return runner.home / "temp"


@pytest.fixture
def runner(installed: Path, tmp_path: Path) -> Callable[..., Runner]:
    """Makes a runner on which shardlint is installed, with a workspace of these files."""
    (tmp_path / "temp").symlink_to(installed)

    def made(files: dict[str, str], **inputs: str) -> Runner:
        one = Runner(tmp_path, {name.replace("_", "-"): value for name, value in inputs.items()})
        for name, text in files.items():
            (one.workspace / name).parent.mkdir(parents=True, exist_ok=True)
            (one.workspace / name).write_text(text)
        return one

    return made


def test_findings_are_annotations_and_fail_the_step(runner: Callable[..., Runner]) -> None:
    done, outputs = runner({"src/bad.py": BAD, "good.py": GOOD}).run(CHECK)
    assert (done.returncode, outputs) == (1, {"exit-code": "1"}), done.stderr
    (annotation,) = done.stdout.splitlines()
    assert annotation.startswith("::error ")
    assert ",file=src/bad.py,line=7," in annotation
    assert "modle" in annotation


def test_a_right_tree_passes(runner: Callable[..., Runner]) -> None:
    done, outputs = runner({"good.py": GOOD}).run(CHECK)
    assert (done.returncode, done.stdout, outputs) == (0, "", {"exit-code": "0"}), done.stderr


def test_paths_and_arguments_are_words(runner: Callable[..., Runner]) -> None:
    files = {"a/bad.py": BAD, "b c/bad.py": BAD, "d/bad.py": BAD, "mesh.py": BAD}
    one = runner(files, paths="a 'b c'\nmesh.py", args="--mesh data=2,model=4 --ignore 'SHL2, SHL6'")
    done, outputs = one.run(CHECK)
    found = re.findall(r"^::error .*?,file=(.+?),", done.stdout, re.MULTILINE)
    assert (found, outputs) == (["a/bad.py", "b c/bad.py", "mesh.py"], {"exit-code": "1"}), done.stderr


STEP = """\
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((8,), ("model",), axis_types=(AxisType.Auto,))


def row(x, w):
    return x @ w


def array(shape, *spec):
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, P(*spec)))


jax.jit(row).lower(array((16, 64), None, "model"), array((64, 16), "model"))
"""


def test_what_a_change_costs_is_in_the_summary(runner: Callable[..., Runner]) -> None:
    one = runner(
        {"fixtures/step.py": STEP}, compile="fixtures/step.py", against="HEAD", python=sys.executable
    )
    author = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for command in (["init", "-q"], ["add", "."], [*author, "commit", "-qm", "before"]):
        subprocess.run(["git", *command], cwd=one.workspace, check=True)
    (one.workspace / "fixtures" / "step.py").write_text(STEP.replace("(16, 64)", "(32, 64)"))
    done, _ = one.run(COMPILE)
    assert done.returncode == 0, done.stdout + done.stderr
    summary = (one.home / "summary.md").read_text()
    assert "Each device sends 3.5 KiB; it was 1.8 KiB: +1.8 KiB (+100%)." in summary
    assert "| `row` | all-reduce model (dot_general) | 1.8 KiB | 3.5 KiB | +1.8 KiB (+100%) |" in summary


@pytest.mark.parametrize("name", ["paths", "args", "sarif_file", "fail"])
def test_an_input_is_no_script(name: str, runner: Callable[..., Runner]) -> None:
    text = "good.py $(touch hacked) `touch hacked` ; touch hacked && touch hacked\ntouch hacked"
    one = runner({"good.py": GOOD}, **{name: text})
    one.run(CHECK)
    assert not list(one.home.rglob("hacked"))


def test_findings_need_not_fail_the_step_and_go_to_sarif(runner: Callable[..., Runner]) -> None:
    one = runner({"bad.py": BAD}, fail="false", sarif_file="out/my findings.sarif")
    done, outputs = one.run(CHECK)
    assert (done.returncode, outputs) == (0, {"exit-code": "1"}), done.stderr
    assert ",file=bad.py," in done.stdout
    log = json.loads((one.workspace / "out" / "my findings.sarif").read_text())
    (result,) = log["runs"][0]["results"]
    assert result["ruleId"] == "SHL103"


@pytest.mark.parametrize("fail", ["true", "false"])
def test_what_cannot_be_checked_fails_the_step(fail: str, runner: Callable[..., Runner]) -> None:
    done, outputs = runner({"good.py": GOOD}, paths="nowhere.py", fail=fail).run(CHECK)
    assert (done.returncode, outputs) == (2, {"exit-code": "2"})


def schema_errors(name: str, document: Any) -> list[str]:
    """What a schema that check-jsonschema ships says against a document."""
    package = importlib.util.find_spec("check_jsonschema")
    assert package is not None
    assert package.submodule_search_locations
    folder = Path(package.submodule_search_locations[0]) / "builtin_schemas" / "vendor"
    schema = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    validator = jsonschema.validators.validator_for(schema)(schema)
    return [error.message for error in validator.iter_errors(document)]


def test_the_action_is_one_by_githubs_schema() -> None:
    assert not schema_errors("github-actions", ACTION)
    assert schema_errors("github-actions", {**ACTION, "runs": {"using": "composite"}})


RECIPES = {b.title: b.text for b in examples.blocks(PAGE) if b.language == "yaml" and b.title}


@pytest.mark.parametrize("name", RECIPES)
def test_recipes_are_right_by_their_schemas(name: str) -> None:
    schema = "gitlab-ci" if "gitlab" in name else "github-workflows"
    text = RECIPES[name]
    broken = text.replace("runs-on:", "runs_on:").replace("  script:", "  scripts:")
    assert not schema_errors(schema, document(text))
    assert schema_errors(schema, document(broken))


def document(text: str) -> Any:
    """What YAML 1.2 reads, to which "on" is a word."""
    return yaml.safe_load(re.sub(r"^on:", '"on":', text, flags=re.MULTILINE))


def test_recipes_use_what_the_action_has() -> None:
    for text in RECIPES.values():
        for step in re.findall(r"uses: OWNER/shardlint@.*?\n +with:\n((?: {10}.*\n)+)", text):
            assert set(yaml.safe_load(step)) <= set(ACTION["inputs"])
    rows = re.findall(r"^\| `([\w-]+)` \|.*\| (?:`(.+)`)? ?\|$", PAGE.partition("| input |")[2], re.MULTILINE)
    assert dict(rows) == {name: given["default"] for name, given in ACTION["inputs"].items()}


def test_the_recipe_of_gitlab_runs(runner: Callable[..., Runner]) -> None:
    one = runner({"bad.py": BAD})
    commands = yaml.safe_load(RECIPES[".gitlab-ci.yml"])["shardlint"]["script"]
    path = f"{one.home / 'temp' / 'shardlint' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-ec", commands[1]],
        cwd=one.workspace,
        env={**os.environ, "PATH": path, "CI_PROJECT_DIR": str(one.workspace)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stderr
    (issue,) = json.loads((one.workspace / "gl-code-quality-report.json").read_text())
    assert issue["location"]["path"] == "bad.py"

"""Each fix runs under JAX: it takes what it refused, or gives the same; and nothing is left to find."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import jax
import numpy as np
import pytest
from programs_with_fixes import CASES, HEADER, MAPPED, Case
from support.checking import check

from shardlint.api import Linter, Settings
from shardlint.fixes.documents import Document, read_document
from shardlint.fixes.fixpoint import fix_all
from shardlint.fixes.syntax.program_tree import Tree
from shardlint.model.findings import Applicability, Finding
from shardlint.rules import all_rules
from shardlint.source.sources import Source

FIXTURES = sorted((Path(__file__).parents[2] / "fixtures").rglob("*.*"))
FIXTURES = [path for path in FIXTURES if path.suffix in (".py", ".ipynb")]


def run(program: str) -> np.ndarray:
    """What a program leaves in ``y``, run where no other has set a mesh."""

    def executed() -> np.ndarray:
        names: dict[str, object] = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(program, "program.py", "exec"), names)
        return np.asarray(jax.device_get(names["y"]))

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(executed).result()


@pytest.mark.parametrize("name", CASES)
def test_a_fixed_program_runs(name: str) -> None:
    case: Case = CASES[name]
    program = case.header + case.body + "\n"
    findings = [finding for finding in check(program, devices=None) if finding.code == case.code]
    assert findings
    fix = findings[0].fix
    assert fix is not None
    assert fix.applicability is (Applicability.SAFE if case.safe else Applicability.UNSAFE)
    repaired = Document("program.py", program.encode()).edited(fix.edits).data.decode()
    assert case.fixed in repaired
    assert {f.code for f in check(repaired, devices=None)} <= {
        f.code for f in check(program, devices=None)
    } - {case.code}
    after = run(repaired)
    if case.raises:
        with pytest.raises(Exception):  # noqa: B017 each refuses in its own way
            run(program)
    else:
        before = run(program)
        if case.safe:
            np.testing.assert_array_equal(before, after)


def test_every_rule_with_a_fix_is_tried() -> None:
    renames = {"SHL801", "SHL802"}  # see the tests of versions
    assert {rule.code for rule in all_rules() if rule.fix} - renames <= {case.code for case in CASES.values()}


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.name)
def test_every_fix_removes_its_finding(path: Path) -> None:
    """Also in fixtures, where findings are expected; else that is an internal error."""

    def check_all(sources: Sequence[Source]) -> list[Finding]:
        found = Linter(Settings(devices=8)).check_sources(sources)
        return [replace(finding, expected=False) for finding in found]

    document = read_document(str(path))
    made = fix_all([document], check_all([document.source]), True, check_all)
    assert not [note for note in made.notes if "would make a new error" not in note]


UNTOUCHED = {
    "an axis in a variable": 'axis = "modle"\ns = NamedSharding(mesh, P(axis))',
    "an axis nothing is near to": 'NamedSharding(mesh, P("zzz"))',
    "an axis of a vmap, which shard_map does not split": MAPPED.format(
        body='jax.vmap(lambda row: jax.lax.psum(row, "row"), axis_name="row")(x)',
        specs='P("data")',
        out='P("data")',
    ),
    "an axis in two strings": 'NamedSharding(mesh, P("mod" "le"))',
    "a spec in a variable": 'spec = ("data",)\nNamedSharding(mesh, spec)',
    "a tuple of specs": 'NamedSharding(mesh, (P("data"),))',
    "a list of specs": 'NamedSharding(mesh, [P("data")])',
    "a bare spec of jit": 'jax.jit(lambda x: x, in_shardings="data")',
    "surplus entries that are not None": 'jax.device_put(x, NamedSharding(mesh, P(None, None, "data")))',
    "surplus entries that are unpacked": 'jax.device_put(x, NamedSharding(mesh, P(*["data", None, None])))',
    "surplus entries with a comment": 'jax.device_put(x, NamedSharding(mesh, P("data", None,  # why\nNone)))',
}


@pytest.mark.parametrize("name", UNTOUCHED)
def test_what_is_of_another_form_has_no_fix(name: str) -> None:
    findings = check(HEADER + UNTOUCHED[name] + "\n", devices=None)
    assert findings
    assert [finding.fix for finding in findings] == [None] * len(findings)


PLACED = 'jax.device_put(jnp.zeros(4), NamedSharding(mesh, P("data", None)))\n'


def test_the_tree_of_a_file_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a file with many findings takes minutes."""
    made: list[str] = []
    init = Tree.__init__

    def counting(tree: Tree, path: str, cell: int | None, text: str) -> None:
        made.append(path)
        init(tree, path, cell, text)

    monkeypatch.setattr(Tree, "__init__", counting)
    findings = check(HEADER + PLACED * 40, devices=None)
    assert len([finding for finding in findings if finding.fix is not None]) == 40
    assert made == ["program.py"]

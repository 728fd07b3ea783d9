"""Projects of several modules in pairs: the mistake is found and the right program left alone, as by JAX."""

from __future__ import annotations

from pathlib import Path

import pytest
from projects import Project, outcomes, read_projects

from shardlint.api import Linter
from shardlint.config import Settings
from shardlint.model.findings import Finding, Severity
from shardlint.source.sources import read_source

PROJECTS = read_projects()


def errors(folder: Path, project: Project) -> list[Finding]:
    """The errors found in a program, started from its main file."""
    source = read_source(str(folder / project.main))
    settings = Settings(root=str(folder), devices=8)
    return [f for f in Linter(settings).check_source(source) if f.severity is Severity.ERROR]


@pytest.fixture(scope="module")
def said_by_jax(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str | None, str | None]]:
    """What the broken and the right program of each project raise in JAX, by the project's name."""
    top = tmp_path_factory.mktemp("projects")
    runnable = [project for project in PROJECTS if project.runs_here]
    folders = {project.name: project.write(top / str(i)) for i, project in enumerate(runnable)}
    programs = [(folder, p.main) for p in runnable for folder in folders[p.name]]
    raised = outcomes(programs)
    return {name: (raised[str(a)], raised[str(b)]) for name, (a, b) in folders.items()}


@pytest.mark.parametrize("project", PROJECTS, ids=lambda project: project.name)
def test_the_mistake_is_found_and_only_there(
    project: Project, tmp_path: Path, said_by_jax: dict[str, tuple[str | None, str | None]]
) -> None:
    broken, fixed = project.write(tmp_path)
    if project.runs_here:
        raised, runs = said_by_jax[project.name]
        assert raised is not None
        assert runs is None
    assert {finding.code for finding in errors(broken, project)} == {project.code}
    assert errors(fixed, project) == []

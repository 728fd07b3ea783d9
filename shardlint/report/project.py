"""The report of a project, from runs of inference or of its model's init."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Protocol

from shardlint.config import ConfigError, Settings
from shardlint.confirm.init_request import InitFailed, abstract_init
from shardlint.model.uses import FileProblem, Use
from shardlint.report.init_run import Run, init_report
from shardlint.report.parameters import parameter_report
from shardlint.report.values import InitReport, NamedMesh, ParameterReport
from shardlint.source import Source
from shardlint.source.workspace.prefilter import mentions_sharding

Progress = Callable[[str, int, int], None]


class Reader(Protocol):
    """An object that reads files and runs inference over them (`shardlint.linter.Linter`)."""

    def read_paths(
        self, paths: Iterable[str], progress: Progress | None = None, broken: bool = False
    ) -> tuple[int, list[Source]]: ...

    def programs(
        self, sources: Sequence[Source], progress: Progress | None = None
    ) -> list[Sequence[Use | FileProblem]]: ...


def report_paths(
    reader: Callable[[Settings], Reader],
    settings: Settings,
    paths: Iterable[str],
    progress: Progress | None = None,
) -> ParameterReport:
    """Report the parameters that the modules in files and folders declare.

    Files that can create parameters are analyzed completely, even if they never mention sharding; other files
    only as far as these import them. Unreadable files are listed in the notes.
    """
    settings, paths = replace(settings, exhaustive=True), list(paths)
    _, read = reader(settings).read_paths(paths, progress, broken=True)
    requested = {os.path.realpath(path) for path in paths}
    sources = [one for one in read if os.path.realpath(one.path) in requested or _makes_parameters(one)]
    runs: list[tuple[NamedMesh | None, list[list[Use]]]] = []
    notes: dict[str, None] = {}
    for named in deployed(settings):
        on = replace(settings, mesh=named.mesh) if named else settings
        programs = reader(on).programs(sources, progress)
        runs.append((named, [[use for use in uses if isinstance(use, Use)] for uses in programs]))
        for problem in (use for uses in programs for use in uses):
            if isinstance(problem, FileProblem) and not problem.is_answer:
                notes[f"{problem.place.resolve().path}: {problem.message}"] = None
    report = parameter_report(runs, sources, settings.replicated_bytes, settings.logical_rules)
    return replace(report, notes=tuple(notes))


def report_init(
    settings: Settings,
    init: str | None = None,
    rules: str | None = None,
    python: str | None = None,
    progress: Progress | None = None,
) -> InitReport:
    """Run a model's init, the user's own code, on each mesh, and report the parameters it creates.

    ``init`` and ``rules`` are written ``package.module:name``, and default to the configured ones. Raises
    ConfigError where there is nothing to run.
    """
    init, rules = init or settings.report_init, rules or settings.report_rules
    if init is None:
        raise ConfigError("nothing says what makes the parameters: --init package.module:function")
    for name in (init, rules):
        if name is not None and not all(part for part in name.partition(":")):
            raise ConfigError(f'"{name}" is not written as package.module:name')
    meshes = deployed(settings)
    runs: list[Run] = []
    for number, named in enumerate(meshes):
        if progress is not None:
            progress("running init", number, len(meshes))
        try:
            made = abstract_init(
                init,
                rules,
                named.mesh if named else None,
                roots=import_roots(settings),
                python=python,
                devices=settings.devices or settings.confirm_devices,
                timeout=2 * settings.confirm_timeout,
            )
        except InitFailed as failure:
            runs.append((named, str(failure)))
        else:
            runs.append((named, made))
    return init_report(init, runs, settings.replicated_bytes, settings.logical_rules)


def deployed(settings: Settings) -> list[NamedMesh | None]:
    """Return the meshes to report on: that of the command line, else those of the configuration, else
    None.
    """
    return [NamedMesh(one.name or "--mesh", one.mesh) for one in settings.deployments] or [None]


def _makes_parameters(source: Source) -> bool:
    """Return whether a file's text mentions the library that declares parameters, or sharding."""
    texts = [cell.text for cell in source.cells]
    return bool(source.problems) or any("flax" in text or mentions_sharding(text.encode()) for text in texts)


def import_roots(settings: Settings) -> list[str]:
    """Return the folders in which the project's modules are searched, its own first."""
    own = [settings.root, os.path.join(settings.root, "src"), os.getcwd()]
    given = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    return list(dict.fromkeys(os.path.abspath(path) for path in (*own, *given)))

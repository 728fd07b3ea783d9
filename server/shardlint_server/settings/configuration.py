"""The settings of each file: those of the nearest configuration, and what the editor says."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable, Mapping

from shardlint.api import CommandLine, ConfigError, Configurations, Release, Settings, editing
from shardlint.support.lazy_dataclass import dataclass
from shardlint_server.settings.options import Options


@dataclass(frozen=True, slots=True)
class Problem:
    """An error in a configuration: its file, None for the editor's settings, and line from 1.

    ``brief`` is the message without the file and line, and ``word`` the wrong key or value in the line.
    """

    message: str
    brief: str
    file: str | None = None
    line: int | None = None
    word: str | None = None


@dataclass(frozen=True, slots=True)
class _Made:
    options: Options
    settings: Settings
    record: editing.Record
    problem: Problem | None


class Configuration:
    """Finds settings, and caches them while they are valid. Its methods are for the analysis thread.

    Args:
        complain: called with all present problems whenever they have changed.
    """

    def __init__(self, complain: Callable[[frozenset[Problem]], None]) -> None:
        self._complain = complain
        self._made: dict[str, _Made] = {}
        self._problems: frozenset[Problem] = frozenset()
        #: The options, and those of workspace folders by the folder's path: replaced as a whole.
        self.options = Options()
        self.of_folders: Mapping[str, Options] = {}
        #: The release of the JAX at hand, which is judged where a project names none.
        self.present_jax: Release | None = None

    def options_of(self, path: str) -> Options:
        """Return the editor's options for a file or folder: those of the innermost workspace folder around
        it."""
        of_folders = self.of_folders
        folder = _innermost(of_folders, path)
        return self.options if folder is None else of_folders[folder]

    def folder_of(self, path: str) -> str | None:
        """Return the innermost workspace folder that is, or contains, a path; None if there is none."""
        return _innermost(self.of_folders, path)

    def settings_of(self, path: str) -> Settings:
        """Return the settings for a file."""
        return self.settings_of_folder(os.path.dirname(path) or ".")

    def settings_of_folder(self, folder: str) -> Settings:
        """Return the settings for the files in a folder, and record the files they were read from.

        While the configuration has an error, its last valid settings apply, or else the defaults.
        """
        options = self.options_of(folder)
        settings = self._made.get(folder)
        if settings is None or settings.options != options or not settings.record.holds():
            settings = self._made[folder] = self._make(folder, options, settings)
            problems = frozenset(one.problem for one in self._made.values() if one.problem is not None)
            if problems != self._problems:
                self._problems = problems
                self._complain(problems)
        settings.record.include()
        return settings.settings

    def look(self) -> None:
        """Read changed configurations again, so that their errors are known before a file needs them."""
        for folder in list(self._made):
            self.settings_of_folder(folder)

    def forget_folders(self) -> None:
        """Drop all settings, since folders may no longer belong to the workspace."""
        self._made.clear()
        if self._problems:
            self._problems = frozenset()
            self._complain(self._problems)

    def _make(self, folder: str, options: Options, before: _Made | None) -> _Made:
        around = self.folder_of(folder)
        with editing.recorded() as record:
            try:
                settings = _settings(folder, options, around, self.present_jax)
                problem = None
            except ConfigError as error:
                problem = _problem(error)
                settings = before.settings if before else _rooted(Settings(root=around or folder), around)
                settings = dataclasses.replace(settings, devices=options.devices)
        return _Made(options, settings, record, problem)


def _problem(error: ConfigError) -> Problem:
    file = error.file and os.path.abspath(error.file)
    word = error.word or (error.at[-1] if error.at else None)
    return Problem(str(error), error.brief, file, error.line, word)


def _settings(folder: str, options: Options, around: str | None, present_jax: Release | None) -> Settings:
    given: tuple[str, ...] = ()
    if options.configuration is not None:
        given = (os.path.join(around or os.getcwd(), os.path.expanduser(options.configuration)),)
    line = CommandLine(given, options=options.settings, mark="settings.")
    settings = Configurations(line, devices=options.devices, present_jax=present_jax).of_folder(
        os.path.abspath(folder)
    )
    if around is not None and not _holds(settings.root, folder):
        # Nothing configures this folder, and where the server was started says nothing about it.
        settings = dataclasses.replace(settings, root=around)
    return _rooted(settings, around)


def _rooted(settings: Settings, around: str | None) -> Settings:
    """Return settings that look modules up in the workspace folder too."""
    if around is None or around in (settings.root, *settings.outer_roots):
        return settings
    return dataclasses.replace(settings, outer_roots=(*settings.outer_roots, around))


def _innermost(folders: Iterable[str], path: str) -> str | None:
    return max((folder for folder in folders if _holds(folder, path)), key=len, default=None)


def _holds(folder: str, path: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))

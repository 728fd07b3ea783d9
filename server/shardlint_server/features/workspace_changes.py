"""Changes other than those of open texts: files, the editor's settings, and the workspace's folders."""

from __future__ import annotations

from lsprotocol import types
from pygls import uris

from shardlint_server.documents.documents import file_of
from shardlint_server.session import ShardlintServer
from shardlint_server.settings.options import Options, parse_options

#: The files that may affect findings: programs, configurations, and tables of logical axes.
WATCHED = ("**/*.{py,pyi,ipynb}", "**/*.toml", "**/*.{yaml,yml,json}", "**/.gitignore")
SECTION = "shardlint"


def register(server: ShardlintServer) -> None:
    """Register the handlers for changes."""
    server.feature(types.INITIALIZED)(initialized)
    server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)(files_changed)
    server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)(settings_changed)
    server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)(folders_changed)


async def initialized(server: ShardlintServer, params: types.InitializedParams) -> None:
    """Ask the client for notifications of changes, and for the settings, where it supports that."""
    workspace = server.client_capabilities.workspace
    if workspace is None:
        return
    wanted = []
    files = workspace.did_change_watched_files
    if files is not None and files.dynamic_registration:
        watchers = [types.FileSystemWatcher(glob_pattern=pattern) for pattern in WATCHED]
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers=watchers)
        wanted.append(_registration(types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options))
    changes = workspace.did_change_configuration
    if changes is not None and changes.dynamic_registration:
        section = types.DidChangeConfigurationRegistrationOptions(section=SECTION)
        wanted.append(_registration(types.WORKSPACE_DID_CHANGE_CONFIGURATION, section))
    if wanted:
        await server.client_register_capability_async(types.RegistrationParams(registrations=wanted))
        server.analyses.told_of_changes = bool(files is not None and files.dynamic_registration)
    if workspace.configuration:
        await _ask_settings(server)


def _registration(method: str, options: object) -> types.Registration:
    return types.Registration(id=f"{SECTION} {method}", method=method, register_options=options)


def files_changed(server: ShardlintServer, params: types.DidChangeWatchedFilesParams) -> None:
    """Files were changed, created or deleted outside the editor."""
    paths = [path for change in params.changes if (path := file_of(change.uri)) is not None]
    names = any(change.type != types.FileChangeType.Changed for change in params.changes)
    server.touched(paths, names=names)
    server.look_at_configuration()


async def settings_changed(server: ShardlintServer, params: types.DidChangeConfigurationParams) -> None:
    """Apply changed settings of the editor, which are in the notification or are requested."""
    workspace = server.client_capabilities.workspace
    if workspace is not None and workspace.configuration:
        await _ask_settings(server)
        return
    given = params.settings
    if isinstance(given, dict) and isinstance(given.get(SECTION), dict):
        given = given[SECTION]
    options, problems = parse_options(given, server.options)
    _take(server, options, {}, problems)


async def folders_changed(server: ShardlintServer, params: types.DidChangeWorkspaceFoldersParams) -> None:
    """Folders were added to the workspace, or removed from it."""
    configuration = server.configuration
    _take(server, configuration.options, dict(configuration.of_folders), [])
    workspace = server.client_capabilities.workspace
    if workspace is not None and workspace.configuration:
        await _ask_settings(server)


async def _ask_settings(server: ShardlintServer) -> None:
    """Request the settings, and those of each folder of the workspace."""
    folders = server.folders()
    items = [
        types.ConfigurationItem(section=SECTION),
        *(
            types.ConfigurationItem(section=SECTION, scope_uri=uris.from_fs_path(folder))
            for folder in folders
        ),
    ]
    try:
        given = await server.workspace_configuration_async(types.ConfigurationParams(items=items))
    except Exception as error:
        server.log_failure("the editor did not tell its settings", error)
        return
    read = [parse_options(one, server.options) for one in given]
    if len(read) != len(items):
        return
    problems = dict.fromkeys(problem for _, wrong in read for problem in wrong)
    of_folders = {folder: options for folder, (options, _) in zip(folders, read[1:], strict=True)}
    _take(server, read[0][0], of_folders, list(problems))


def _take(
    server: ShardlintServer, options: Options, of_folders: dict[str, Options], problems: list[str]
) -> None:
    """Apply settings, and report again if they have changed."""
    configuration = server.configuration
    before = (configuration.options, dict(configuration.of_folders))
    server.set_options(options, of_folders)
    for problem in problems:
        server.warn(problem)
    if before != (options, dict(configuration.of_folders)):
        server.generation += 1
        server.analyses.forget()
        server.renew_all()
        server.look_at_configuration(forget=True)

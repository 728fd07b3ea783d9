"""The server as features see it: it knows the open documents, and how to report on them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import traceback
from collections.abc import Callable, Collection
from typing import Any, TypeVar

from lsprotocol import types
from pygls.exceptions import FeatureRequestError
from pygls.lsp.server import LanguageServer

import shardlint
from shardlint.api import Release, editing, media
from shardlint_server.analysis.analyses import Analyses, Report
from shardlint_server.analysis.insights import Insights
from shardlint_server.analysis.linting import TargetLinter
from shardlint_server.analysis.project_files import ProjectFiles
from shardlint_server.analysis.publishing import Publisher
from shardlint_server.analysis.refresh_requests import Refresher, pulls
from shardlint_server.analysis.worker import Urgency, Worker
from shardlint_server.confirmation import interpreters
from shardlint_server.confirmation.compilations import Compilations
from shardlint_server.confirmation.fixture_runs import FixtureRuns
from shardlint_server.confirmation.witnesses import Witnesses
from shardlint_server.documents.documents import Documents, Target, file_of, target_of
from shardlint_server.protocol import Protocol
from shardlint_server.settings.configuration import Configuration, Problem
from shardlint_server.settings.options import Options, parse_options

T = TypeVar("T")

NOTEBOOKS = types.NotebookDocumentSyncOptions(
    notebook_selector=[
        types.NotebookDocumentFilterWithCells(
            notebook="*", cells=[types.NotebookCellLanguage(language="python")]
        )
    ]
)


class ShardlintServer(LanguageServer):
    """One editor's session.

    ``linter`` is set when the client says what it wants; ``publisher`` is None for a client that pulls.
    ``options`` are those that the client began with. ``generation`` counts what has changed that any report
    may depend on. ``executes`` is False where nothing may be run, whatever the client says; ``python`` is the
    interpreter that has JAX, None for the one that runs this. ``asking`` asks it about functions, if wanted.
    """

    linter: TargetLinter
    configuration: Configuration
    documents: Documents
    projects: ProjectFiles
    publisher: Publisher | None = None
    asking: editing.LaterAsking | None = None
    executes = True
    python: str | None = None

    def __init__(self) -> None:
        super().__init__(
            "shardlint", shardlint.__version__, protocol_cls=Protocol, notebook_document_sync=NOTEBOOKS
        )
        self.worker = Worker()
        self.analyses = Analyses(self.worker, self._current, self._begin, self._failed)
        self.insights = Insights(self.analyses, self.worker)
        self.refresher = Refresher(self, self.analyses)
        self.witnesses = Witnesses()
        self.fixture_runs = FixtureRuns()
        self.compilations = Compilations()
        #: Whether a change of files may change what is known of files that are not open.
        self.elsewhere: Callable[[Collection[str]], bool] = lambda paths: False
        self.options = Options()
        self.generation = 0
        self._names_changed = False
        self._complaints: frozenset[Problem] = frozenset()

    def begin(self, params: types.InitializeParams) -> None:
        """Apply the client's options; publish diagnostics unless the client pulls them."""
        self.protocol._workspace = self.documents = Documents(
            self.workspace.root_uri,
            self._text_document_sync_kind,
            params.workspace_folders,
            self.workspace.position_encoding,
        )
        self.options, problems = parse_options(params.initialization_options)
        for problem in problems:
            self.warn(problem)
        self.python = self.options.python or self.python
        loop = asyncio.get_running_loop()

        def complain(problems: frozenset[Problem]) -> None:
            loop.call_soon_threadsafe(self._complain, problems)

        self.configuration = Configuration(complain)
        self.configuration.present_jax = self._present_jax()
        self.projects = ProjectFiles(
            self.documents,
            self.configuration,
            self._submit,
            lambda: self.generation,
            self.analyses.settled,
        )

        def answered() -> None:
            with contextlib.suppress(RuntimeError):  # The loop may have ended.
                loop.call_soon_threadsafe(self._answered)

        self.asking = self._asking(answered)
        self.linter = TargetLinter(
            self.configuration,
            self.workspace.position_codec,
            self.witnesses.recalled,
            self.fixture_runs.of,
            self.asking,
        )
        self.set_options(self.options, {})
        if not self.client_pulls:
            self.publisher = Publisher(self.analyses, self.text_document_publish_diagnostics)

    @property
    def client_pulls(self) -> bool:
        """Return whether the client pulls diagnostics, rather than having them pushed."""
        return pulls(self)

    def folders(self) -> list[str]:
        """Return the paths of the workspace's folders."""
        uris = list(self.workspace.folders) or [uri for uri in (self.workspace.root_uri,) if uri]
        return [path.rstrip(os.sep) or os.sep for uri in uris if (path := file_of(uri)) is not None]

    def _present_jax(self) -> Release | None:
        """Return the release of the JAX that confirms; None if it has none.

        Another interpreter reads ``.pth`` files, which may run code of the workspace: it is asked only where
        that is trusted.
        """
        python = interpreters.found(self.python, [] if self.options.trusted else self.folders())
        asked = self.options.trusted or python == sys.executable
        return editing.installed_release(python) if asked else None

    def _asking(self, told: Callable[[], None]) -> editing.LaterAsking | None:
        """Return what asks JAX about functions; None if the user does not want that, or it may not run."""
        if not self.options.askJax:
            return None
        if not self.executes:
            self.warn("JAX is not asked: nothing is run over TCP")
            return None
        if not self.options.trusted:
            self.warn("JAX is not asked: the workspace is not trusted (option `trusted`)")
            return None
        return editing.asking(interpreters.found(self.python, []), told)

    def _answered(self) -> None:
        """Report again, with more answers of JAX."""
        self.analyses.forget()
        self.renew_all()

    def shunned(self, path: str) -> list[str]:
        """Return the folders from which nothing is run for a file: the workspace's and its own, unless
        trusted."""
        if self.options.trusted:
            return []
        folders, folder = self.folders(), os.path.dirname(path)
        return (
            folders if self.configuration.folder_of(path) is not None else [*folders, folder or os.getcwd()]
        )

    def set_options(self, options: Options, of_folders: dict[str, Options]) -> None:
        """Set the options, and those of some workspace folders, by path."""
        self.configuration.options = options
        self.configuration.of_folders = {folder: of_folders.get(folder, options) for folder in self.folders()}
        self.analyses.pause = options.debounce / 1000

    # -- what is open ---------------------------------------------------------------------------

    def opened(self, uri: str) -> None:
        """Handle an opened file or notebook."""
        self._text_replaced(uri)
        if self.publisher is not None:
            self.publisher.schedule(uri)

    def changed(self, uri: str) -> None:
        """Handle an edit of an open file or notebook."""
        self.analyses.changed(uri)
        if self.publisher is not None:
            self.publisher.schedule(uri)
        if (path := file_of(uri)) is not None:
            self.touched([path], but=uri)

    def saved(self, uri: str) -> None:
        """Handle a saved file: other files may import it, so their reports are renewed."""
        if self.analyses.told_of_changes:
            return  # of the file itself, too, if it is not open; else nothing has changed
        self._names_changed = True
        self.generation += 1
        self.analyses.forget()
        self.renew_all()

    def closed(self, uri: str) -> None:
        """Handle a closed file or notebook."""
        self.analyses.closed(uri)
        self.insights.forget(uri)
        if self.publisher is not None:
            self.publisher.clear(uri)
        self._text_replaced(uri)

    def _text_replaced(self, uri: str) -> None:
        """Handle a file whose text on disk and in the editor replaced one another."""
        path = file_of(uri)
        if path is None or not path.endswith((".py", ".pyi", ".ipynb")):
            return
        if not os.path.isfile(path):
            self._names_changed = True
        self.touched([path], but=uri)
        if path.endswith(".ipynb"):
            # Its findings stand in its cells while it is open, in its file else.
            self.refresher.soon()

    # -- what has changed -----------------------------------------------------------------------

    def touched(self, paths: Collection[str], but: str | None = None, names: bool = False) -> None:
        """Renew the reports that depend on changed files, ``but`` for one target.

        ``names`` is true if some files were created or deleted.
        """
        self.generation += 1
        self._names_changed |= names
        affected = [uri for uri in self.analyses.touch(paths) if uri != but]
        if not affected and not self.elsewhere(paths):
            return
        if self.publisher is not None:
            self.publisher.renew(affected)
        self.refresher.soon()

    def renew_all(self) -> None:
        """Renew the reports on all open targets."""
        if self.publisher is not None:
            self.publisher.schedule_all()
        self.refresher.soon()

    def look_at_configuration(self, forget: bool = False) -> None:
        """Have changed configurations read again; with ``forget``, all of them."""

        def look(_: object) -> None:
            if forget:
                self.configuration.forget_folders()
            else:
                self.configuration.look()

        self.worker.submit(lambda: self.in_worker(look), Urgency.OPEN)

    def warn(self, message: str) -> None:
        """Show the user a problem that does not stop shardlint."""
        self.window_show_message(
            types.ShowMessageParams(
                type=types.MessageType.Warning, message=f"shardlint: {media.messages(message)}"
            )
        )

    def shutdown(self) -> None:
        """End the session."""
        self.worker.close()
        self.witnesses.close()
        self.fixture_runs.close()
        self.compilations.close()
        if self.asking is not None:
            self.asking.close()
        super().shutdown()

    # -- analyses -------------------------------------------------------------------------------

    def _current(self, uri: str) -> Target | None:
        return target_of(self.workspace, uri)

    def _begin(self, target: Target) -> Callable[[], Report]:
        return self.in_worker(lambda opened: self.linter.report(target, opened))

    def _submit(self, work: Callable[[dict[str, bytes]], T], urgency: Urgency) -> asyncio.Future[T]:
        """Have work done in the analysis thread, with the texts that are open when it begins."""
        return self.worker.submit(lambda: self.in_worker(work), urgency)

    def in_worker(self, work: Callable[[dict[str, bytes]], T]) -> Callable[[], T]:
        """Return work for the analysis thread, with the texts that are open now."""
        opened, names_changed = self.documents.opened(), self._names_changed
        self._names_changed = False

        def ready() -> T:
            if names_changed:
                editing.forget()
            return work(opened)

        return ready

    def _failed(self, target: Target, error: BaseException) -> None:
        self.log_failure(f"shardlint failed on {target.path}", error)

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log what is wrong with a message: the user has not written it."""
        if source != FeatureRequestError:
            text = media.messages(f"a message cannot be handled: {error}")
            self.window_log_message(types.LogMessageParams(type=types.MessageType.Warning, message=text))

    def log_failure(self, what: str, error: BaseException) -> None:
        """Log a failure of shardlint itself."""
        trace = "".join(traceback.format_exception(error))
        self.window_log_message(
            types.LogMessageParams(type=types.MessageType.Error, message=media.messages(f"{what}:\n{trace}"))
        )

    def _complain(self, problems: frozenset[Problem]) -> None:
        """Show errors in configurations, in a message and at their places."""
        before, self._complaints = self._complaints, problems
        for problem in sorted(problems - before, key=str):
            self.warn(problem.message)
        for file in sorted({problem.file for problem in problems | before if problem.file is not None}):
            self.refresher.publish_configuration(file, [p for p in problems if p.file == file])

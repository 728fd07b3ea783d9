"""The parts of the engine that an editor's session needs besides checks.

Open texts replace files (`opened`); an analysis can be cancelled (`Stop`); and the files it read can be
validated (`Record`). Analyses, and queries of files, belong to one thread at a time.
"""

from __future__ import annotations

import io
import os
import tokenize
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from shardlint.cache.validation import CurrentFiles, now, written
from shardlint.confirm.installed import installed_release
from shardlint.confirm.isolation import home_of, leads_into
from shardlint.engine.analyzer import Analyzer
from shardlint.engine.open_programs import Programs
from shardlint.model.spans import Span
from shardlint.source import Source
from shardlint.source.lexing import lines_of
from shardlint.source.workspace import file_access
from shardlint.source.workspace.file_access import NOTHING, FileAccesses, opened
from shardlint.support import gc_policy
from shardlint.support.cancellation import Stop, Stopped, look, stoppable
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.config import Settings
    from shardlint.confirm.child_process import Child
    from shardlint.confirm.confirmer import Confirmer
    from shardlint.confirm.later_asking import LaterAsking
    from shardlint.ide.hover_facts import Known
    from shardlint.ide.word_completion import Word
    from shardlint.model.findings import Edit, Finding, Fix
    from shardlint.model.uses import MeshUse

__all__ = [
    "Analyzer", "Placed", "Ran", "Record", "Source", "Stop", "Stopped", "Verdict", "add_known",
    "alternatives", "asking", "axis_types", "comment_words", "configuration_words", "confirmer", "encoded",
    "fixed", "forget", "home_of", "ignoring", "ignoring_everywhere", "installed_release", "is_confirmable",
    "leads_into", "look", "may_be_known", "opened", "page_of", "placed", "recorded", "rest", "run_fixture",
    "staying", "stoppable", "storing", "without_known",
]  # fmt: skip


class Record:
    """A record of the files read for a result."""

    def __init__(self) -> None:
        self._read = FileAccesses()
        self._since = now()

    def include(self) -> None:
        """Add these reads to the active recording."""
        file_access.include(self._read)

    def holds(self) -> bool:
        """Return whether all files that were read are unchanged."""
        return not self._read.inconsistent and CurrentFiles().match(written(self._read, self._since))

    def touched(self, paths: Collection[str]) -> bool:
        """Return whether a change of one of these absolute paths may matter: it was read, or looked for."""
        return any(self._mentions(path) for path in paths)

    def _mentions(self, path: str) -> bool:
        read = self._read
        if path in read.texts or path in read.kinds or os.path.dirname(path) in read.folders:
            return True
        # A new entry in a folder changes the folder.
        above = os.path.dirname(path)
        while above != os.path.dirname(above):
            if read.kinds.get(above) == NOTHING:
                return True
            above = os.path.dirname(above)
        return False


@contextmanager
def recorded() -> Iterator[Record]:
    """Record file accesses; the record is complete at the end."""
    record = Record()
    with file_access.recording(apart=True) as read:
        yield record
    record._read = read.whole()


def staying(asking: LaterAsking | None = None) -> Analyzer:
    """Return an analyzer for texts being edited: it retains programs, and re-evaluates only what may have
    changed.
    """
    return Analyzer(programs=Programs(), asking=asking)


def asking(python: str, told: Callable[[], None]) -> LaterAsking:
    """Return what asks an interpreter's JAX about functions, and calls ``told`` in its own thread once there
    are answers.
    """
    from shardlint.confirm.later_asking import LaterAsking

    return LaterAsking(python, told)


def storing(folder: str) -> tuple[Analyzer, Callable[[], None]]:
    """Return an analyzer for the files of a folder on disk, and what saves its results.

    They are kept where the command line keeps its own, in the project around the folder; where there is no
    project, nowhere.
    """
    from shardlint.engine.check_cache import kept_for

    store = kept_for(folder)
    return (Analyzer(), lambda: None) if store is None else (Analyzer(store), store.save)


def rest() -> None:
    """Do slow preparations while idle: load the modules that explain findings, and collect garbage."""
    from shardlint.ide import axis_completion, axis_index, hover_facts  # noqa: F401

    gc_policy.rest()


def forget() -> None:
    """Drop the modules that programs share: after files came or went, names may resolve differently."""
    import sys

    if "shardlint.inference.programs.module_loader" in sys.modules:
        from shardlint.inference.programs.module_loader import forget

        forget()


def encoded(text: str) -> bytes:
    """Return a text encoded as in its file: in UTF-8, unless it declares otherwise (PEP 263)."""
    data = text.encode("utf-8", "surrogatepass")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return text.encode(encoding)
    except (SyntaxError, LookupError, UnicodeError):
        return data


def layout_page(title: str, values: Sequence[Known]) -> str:
    """Return a page that shows what each device holds of the arrays that some facts are about."""
    from shardlint.ide.layout_page import layout_page

    return layout_page(title, values)


def page_of(finding: Finding, settings: Settings) -> str | None:
    """Return the address that explains a finding: its rule's page, else JAX's own."""
    from shardlint.config import known_rules
    from shardlint.output.rule_links import address

    rule = next((rule for rule in known_rules() if rule.name == finding.name), None)
    return None if rule is None else address(rule, settings.page_of)


def ignoring(source: Source, finding: Finding, reason: str) -> tuple[Edit, ...]:
    """Return the edits that add a comment which ignores a finding; none where that is impossible."""
    from shardlint.fixes.ignore_comments import ignoring

    return ignoring(source, [finding], reason).edits


def ignoring_everywhere(source: Source, finding: Finding, reason: str) -> tuple[Edit, ...]:
    """Return the edits that add a comment which ignores a finding's rule in the whole file."""
    from shardlint.fixes.ignore_comments import ignoring_everywhere

    return ignoring_everywhere(source, finding.code, reason)


def comment_words(
    lines: Sequence[str], line: int, column: int, near: Mapping[str, int], settings: Settings
) -> list[Word] | None:
    """Return the words for a comment to shardlint under the cursor; None where there is none.

    ``near`` are the codes of findings nearby, and how many lines off they are.
    """
    from shardlint.ide.word_completion import in_comment

    return in_comment(lines, line, column, near, [name for name, _ in settings.meshes])


def configuration_words(lines: Sequence[str], line: int, column: int, path: str) -> list[Word]:
    """Return the keys and values that a configuration file may have under the cursor."""
    from shardlint.ide.word_completion import in_configuration

    name = os.path.basename(path)
    if name not in ("shardlint.toml", ".shardlint.toml", "pyproject.toml"):
        return []
    return in_configuration(lines, line, column, name == "pyproject.toml")


def alternatives(source: Source, finding: Finding) -> list[Fix]:
    """Return the fixes that write something else in place of the mistake."""
    from shardlint.rules.fixes import alternatives

    return alternatives(finding, source)


def axis_types(source: Source, use: MeshUse, settings: Settings) -> list[Fix]:
    """Return the fixes that state the types of a mesh's axes."""
    from shardlint.fixes.rewrites.axis_types import with_axis_types
    from shardlint.laws.core.values import AxisType
    from shardlint.laws.versions import is_removed

    target = settings.target
    if is_removed("jax.sharding.AxisType", target.low):
        return []
    types = AxisType.AUTO, AxisType.EXPLICIT
    fixes = (with_axis_types(use, source, kind, target.low, target.high) for kind in types)
    return [fix for fix in fixes if fix is not None]


def without_known(source: Source, findings: Sequence[Finding], settings: Settings) -> tuple[Finding, ...]:
    """Return the findings in a source that the configured baseline does not have.

    A baseline that cannot be read has none.
    """
    if settings.baseline is None:
        return tuple(findings)
    from shardlint.engine import baseline

    folder = os.path.dirname(os.path.abspath(settings.baseline))
    try:
        with suppress(OSError):
            file_access.read(settings.baseline, file_access.MOST_BYTES)  # its changes are followed
        entries = baseline.read(settings.baseline)
    except baseline.BaselineError:
        return tuple(findings)
    found = baseline.entries_of(findings, [source], folder)
    return baseline.compare(entries, findings, found, (), folder).new


def add_known(source: Source, findings: Sequence[Finding], settings: Settings) -> str | None:
    """Add findings to the configured baseline; return the reason if that is impossible."""
    from shardlint.engine import baseline

    if settings.baseline is None:
        return "no baseline is configured"
    folder = os.path.dirname(os.path.abspath(settings.baseline))
    try:
        entries = baseline.read(settings.baseline)
        added = baseline.entries_of(filter(baseline.may_be_known, findings), [source], folder)
        baseline.save(settings.baseline, [*entries, *added])
    except baseline.BaselineError as error:
        return str(error)
    return None


def may_be_known(finding: Finding, settings: Settings) -> bool:
    """Return whether a finding can be added to the configured baseline."""
    from shardlint.engine import baseline

    return settings.baseline is not None and baseline.may_be_known(finding)


def fixed(
    source: Source, findings: Sequence[Finding], check: Callable[[Sequence[Source]], list[Finding]]
) -> dict[int | None, str]:
    """Return the text of each cell that changes when all safe fixes are applied until none is left.

    ``findings`` are the initial ones, and ``check`` returns those of later rounds.
    """
    from shardlint.fixes.fixpoint import fix_all
    from shardlint.fixes.open_documents import OpenDocument, open_document

    before = open_document(source)
    after = fix_all([before], findings, False, check).after.get(source.path, before)
    assert isinstance(after, OpenDocument)
    return {index: text for index, text in after.cells if text != dict(before.cells)[index]}


def is_confirmable(finding: Finding) -> bool:
    """Return whether a finding has a witness that JAX can run."""
    from shardlint.confirm.witnesses.builder import witness_of

    return witness_of(finding) is not None


def confirmer(python: str, settings: Settings, shunned: Sequence[str] = ()) -> Confirmer:
    """Return a confirmer whose interpreter is not in the ``shunned`` folders."""
    from shardlint.confirm.confirmer import Confirmer

    return Confirmer(python, settings.confirm_timeout, settings.confirm_devices, shunned=shunned)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome in JAX of a part of a fixture, in words, and the part's first line (from 1)."""

    cell: int | None
    line: int
    said: str


@dataclass(frozen=True, slots=True)
class Ran:
    """The run of a fixture: its version of JAX, its parts, and a finding for each disagreement.

    ``problem`` is the reason why it ended early, if it did.
    """

    jax: str | None
    verdicts: tuple[Verdict, ...]
    disagreements: tuple[Finding, ...]
    problem: str | None


def run_fixture(
    source: Source,
    findings: Sequence[Finding],
    settings: Settings,
    python: str | None,
    started: Callable[[Child], None],
) -> Ran:
    """Run a fixture, the user's own code, and compare JAX's behaviour with the findings.

    ``started`` receives the process, which another thread may close.
    """
    from shardlint.confirm.fixtures.announcements import expectations_of
    from shardlint.confirm.fixtures.comparison import compare
    from shardlint.confirm.fixtures.results import jax_outcome
    from shardlint.confirm.fixtures.runs import run_fixture
    from shardlint.source.file_problems import fixture_finding

    run = run_fixture(source.path, python=python, timeout=2 * settings.confirm_timeout, started=started)
    lines = {cell.index: lines_of(cell.written) or [""] for cell in source.cells}
    disagreements = []
    for found in compare(run, expectations_of(source, settings.target.high), findings):
        cell = found.cell if found.cell in lines else source.cells[0].index
        line = min(max(found.line, 1), len(lines[cell]))
        end = len(lines[cell][line - 1]) + 1
        disagreements.append(fixture_finding(Span(source.path, line, 1, line, end, cell), found.message))
    verdicts = tuple(Verdict(unit.place.cell, unit.place.line, jax_outcome(unit)) for unit in run.units)
    return Ran(run.jax, verdicts, tuple(disagreements), run.problem)


@dataclass(frozen=True, slots=True)
class Placed:
    """A file's text on disk, and findings with their positions in it."""

    text: str
    findings: tuple[Finding, ...]


def placed(source: Source, findings: Sequence[Finding]) -> Placed:
    """Return findings with their positions in the file's text: a notebook's in its JSON."""
    ours = tuple(f for f in findings if f.span.path == source.path)
    if not source.path.endswith(".ipynb"):
        return Placed("".join(cell.written for cell in source.cells), ours)
    from shardlint.source.notebooks.json_positions import NotebookPlaces

    try:
        data = file_access.read(source.path, file_access.MOST_BYTES)
    except OSError:
        data = b""
    places = NotebookPlaces(data)

    def moved(span: Span) -> Span:
        return replace(places.span(span), cell=None) if span.path == source.path else span

    return Placed(
        data.decode("utf-8-sig", "replace"),
        tuple(
            replace(
                f,
                span=moved(f.span),
                related=tuple(replace(one, span=moved(one.span)) for one in f.related),
            )
            for f in ours
        ),
    )

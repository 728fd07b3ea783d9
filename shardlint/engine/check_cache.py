"""A cache of whole checks: valid while files, settings and shardlint are unchanged."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, overload

from shardlint.cache import validation
from shardlint.cache.codec import CannotDecode, CannotEncode, decode, encode
from shardlint.cache.store import FOLDER, Store
from shardlint.cache.tool_digest import tool_digest
from shardlint.engine.results import Report
from shardlint.laws.versions import ASSUMED
from shardlint.model.findings import Finding
from shardlint.source.workspace import file_access
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.confirm.installed import Versions
    from shardlint.source import Source

#: Options that do not affect findings: how they are shown, what is done with them, and how they are computed.
_ASIDE = frozenset(
    "command timeout output_format output_file statistics quiet exit_zero show_expected no_cache cache_dir "
    "jobs watch fix fix_only unsafe_fixes diff show_fixes add_ignores baseline write_baseline python "
    "stdin_filename".split()
)
#: Files that mark a project's root, if nothing else determines where results are stored.
_ROOTS = (".git", "pyproject.toml", "shardlint.toml", ".shardlint.toml")


def store_of(folder: str | None, path: str) -> Store:
    """Return the store in a folder, or in that of the environment, or in the project that contains a path."""
    given = folder or os.environ.get("SHARDLINT_CACHE_DIR")
    return Store(given or os.path.join(project_of(path), FOLDER))


def kept_for(folder: str) -> Store | None:
    """Return the store for a folder that an editor has open; None where no project is around it."""
    given = os.environ.get("SHARDLINT_CACHE_DIR")
    root = _root_around(folder)
    return Store(given) if given else None if root is None else Store(os.path.join(root, FOLDER))


def project_of(path: str) -> str:
    """Return the root of the project that contains a path, else the working directory."""
    return _root_around(path) or os.getcwd()


def _root_around(path: str) -> str | None:
    folder = os.path.abspath(path)
    while True:
        if any(os.path.lexists(os.path.join(folder, name)) for name in _ROOTS):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


@dataclass(frozen=True, slots=True)
class Recalled:
    """A cached check: its report, and whether the configuration names a baseline.

    The name of the baseline is not stored, since that file is written to.
    """

    report: Report
    has_baseline: bool


class Recall:
    """Caches one check."""

    def __init__(self, store: Store, options: argparse.Namespace) -> None:
        self._store = store
        self._since = validation.now()
        arguments = {name: value for name, value in sorted(vars(options).items()) if name not in _ASIDE}
        digest = blake2b(tool_digest(store), digest_size=20)
        digest.update(repr((os.getcwd(), str(ASSUMED), arguments)).encode(errors="surrogatepass"))
        self._key = b"check" + digest.digest()

    def recalled(self, python: str | None = None) -> Recalled | None:
        """Return the cached check, None if anything that it read has changed, or the JAX that was asked."""
        stored = self._store.get(self._key)
        if stored is None:
            return None
        try:
            before, _, result = stored.partition(b"\n")
            record, now = json.loads(before), validation.CurrentFiles()
            if not now.match(record):
                return None
            findings, notes, files, paths, has_baseline, asked = decode(result.decode())
            texts = set(record["texts"])
            if not _is_report(findings, notes, files, paths, has_baseline, texts):
                return None
            if asked and not _are_present(asked, python):
                return None
        except (ValueError, TypeError, RecursionError, CannotDecode):
            return None
        if now.read:
            # Their stamps will be older the next time, and need not be verified by reading.
            record = validation.written(now.accesses, self._since)
            self._store.put(self._key, _line(record) + result)
        return Recalled(Report(findings, notes, files, _Sources(paths)), has_baseline)

    def put(
        self, report: Report, has_baseline: bool, read: file_access.FileAccesses, asked: Versions = ()
    ) -> None:
        """Store a finished check, unless a file changed meanwhile or something failed.

        ``asked`` are the releases of the JAX that was asked, and its libraries.
        """
        read = read.whole()
        failed = any(finding.name == "internal-error" for finding in report.findings)
        if failed or read.inconsistent or report.unreached:
            return
        findings = tuple(replace(finding, use=None) for finding in report.findings)
        paths = tuple(source.path for source in report.sources)
        try:
            result = encode((findings, report.notes, report.files, paths, has_baseline, asked))
        except CannotEncode:
            return
        self._store.put(self._key, _line(validation.written(read, self._since)) + result.encode())


def _are_present(versions: object, python: str | None) -> bool:
    """Return whether the JAX that was asked, and its libraries, are those at hand."""
    from shardlint.confirm.installed import asked_versions

    return versions == asked_versions(python)


def _line(record: object) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def _is_report(
    findings: object, notes: object, files: object, paths: object, has_baseline: object, texts: set[str]
) -> bool:
    """Return whether this is in the form that `put` writes: the store is untrusted.

    Findings may only refer to files that were read, so that no other file is ever shown.
    """
    match findings, notes, files, paths, has_baseline:
        case tuple(), tuple(), int(), tuple(), bool():
            spans = [
                span
                for one in findings
                if isinstance(one, Finding)
                for span in (one.span, *(related.span for related in one.related))
            ]
            return (
                all(isinstance(one, Finding) for one in findings)
                and all(isinstance(note, str) for note in notes)
                and texts.issuperset(span.path for span in spans)
                and texts.issuperset(paths)
            )
    return False


class _Sources(Sequence["Source"]):
    """Sources by their paths, read lazily."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self._read: tuple[Source, ...] | None = None

    def _all(self) -> tuple[Source, ...]:
        if self._read is None:
            from shardlint.source import read_source

            self._read = tuple(read_source(path) for path in self._paths)
        return self._read

    def __len__(self) -> int:
        return len(self._paths)

    def __iter__(self) -> Iterator[Source]:
        return iter(self._all())

    @overload
    def __getitem__(self, index: int) -> Source: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Source]: ...
    def __getitem__(self, index: int | slice) -> Source | Sequence[Source]:
        return self._all()[index]

"""Cached results of inference by source, each with the files that it depends on."""

from __future__ import annotations

import json
import os
from collections.abc import Hashable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from shardlint.cache import validation
from shardlint.cache.codec import CannotDecode, decode
from shardlint.cache.store import Store
from shardlint.cache.tool_digest import tool_digest
from shardlint.source.sources import Source
from shardlint.source.workspace import file_access


class Stored(NamedTuple):
    """A result whose modules may have changed since: ``changed`` are their paths.

    ``digests`` are those of all texts that its program read, ``functions`` the first lines of functions whose
    text mattered, and ``names`` the names that were looked up from outside, all by path.
    """

    result: Any
    changed: tuple[str, ...]
    digests: Mapping[str, str]
    functions: Mapping[str, Sequence[int]]
    names: Mapping[str, Sequence[str]]


def _text_key(digest: str) -> bytes:
    return b"text" + digest.encode()


class Results:
    """The cached results, for one run, which may have read some files already (``known``).

    A result is stored for the text of a source and the settings, with everything else that its program read:
    the modules it imports, and the absence of those it searched first. The texts of these modules are stored
    too, so that what changed in them can be told.
    """

    def __init__(self, store: Store, known: file_access.FileAccesses) -> None:
        self.store = store
        self._tool = tool_digest(store)
        self._files = validation.CurrentFiles(known)
        #: The digests of texts that are stored.
        self._texts: set[str] = set()

    def key(self, source: Source, settings: Hashable) -> bytes:
        """Return a key that is equal for sources with the same own text and settings."""
        digest = blake2b(digest_size=20)
        inputs = (os.getcwd(), source.path, source.devices, source.problems, settings)
        digest.update(self._tool + repr(inputs).encode(errors="surrogatepass"))
        for cell in source.cells:
            digest.update(f"\0{cell.index}\0{len(cell.text)}\0".encode())
            digest.update(cell.text.encode(errors="surrogatepass"))
        return b"uses" + digest.digest()

    def get(self, key: bytes) -> Stored | None:
        """Return the result for a key; None if there is none, or if more than texts has changed."""
        stored = self.store.get(key)
        if stored is None:
            return None
        try:
            before, _, result = stored.partition(b"\n")
            record = json.loads(before)
            changed = self._files.changed(record)
            if changed is None:
                return None
            functions, names = (dict(record[name]) for name in ("functions", "names"))
            digests = {path: str(text[0]) for path, text in record["texts"].items()}
            return Stored(decode(result.decode()), tuple(changed), digests, functions, names)
        except (ValueError, TypeError, KeyError, RecursionError, CannotDecode):
            return None

    def text(self, digest: str) -> bytes | None:
        """Return the bytes of a module with this digest, if they are stored."""
        data = self.store.get(_text_key(digest))
        return data if data is not None and file_access.digest_of(data) == digest else None

    def put(self, key: bytes, result: str, read: file_access.FileAccesses) -> None:
        """Store an encoded result with the file accesses it depends on."""
        if read.inconsistent:
            return
        record = validation.written(read, None)
        for name, pairs in (("functions", read.functions), ("names", read.names)):
            by_path: dict[str, list[object]] = {}
            for path, item in sorted(pairs):
                if path in read.texts:
                    by_path.setdefault(path, []).append(item)
            record[name] = by_path
        self.store.put(key, json.dumps(record, separators=(",", ":")).encode() + b"\n" + result.encode())
        for path, (digest, _) in read.texts.items():
            if digest is not None and path.endswith(".py") and digest not in self._texts:
                self._put_text(path, digest)

    def _put_text(self, path: str, digest: str) -> None:
        self._texts.add(digest)
        if self.store.holds(_text_key(digest)):
            return
        try:
            with file_access.recording(apart=True):
                data = file_access.read(path, file_access.MOST_BYTES)
        except OSError:
            return
        if file_access.digest_of(data) == digest:
            self.store.put(_text_key(digest), data)

    @property
    def accesses(self) -> file_access.FileAccesses:
        """Return the file accesses made to validate results."""
        return self._files.accesses

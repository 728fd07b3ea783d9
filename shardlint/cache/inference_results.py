"""Cached results of inference by source, each with the files that it depends on."""

from __future__ import annotations

import json
import os
from collections.abc import Hashable
from hashlib import blake2b
from typing import Any

from shardlint.cache import validation
from shardlint.cache.codec import CannotDecode, decode
from shardlint.cache.store import Store
from shardlint.cache.tool_digest import tool_digest
from shardlint.source.sources import Source
from shardlint.source.workspace import file_access


class Results:
    """The cached results, for one run, which may have read some files already (``known``).

    A result is reused for the same text of a source under the same settings, if everything else that its
    program read is unchanged: the modules it imports, and the absence of those it searched first.
    """

    def __init__(self, store: Store, known: file_access.FileAccesses) -> None:
        self.store = store
        self._tool = tool_digest(store)
        self._files = validation.CurrentFiles(known)

    def key(self, source: Source, settings: Hashable) -> bytes:
        """Return a key that is equal for sources with the same own text and settings."""
        digest = blake2b(digest_size=20)
        inputs = (os.getcwd(), source.path, source.devices, source.problems, settings)
        digest.update(self._tool + repr(inputs).encode(errors="surrogatepass"))
        for cell in source.cells:
            digest.update(f"\0{cell.index}\0{len(cell.text)}\0".encode())
            digest.update(cell.text.encode(errors="surrogatepass"))
        return b"uses" + digest.digest()

    def get(self, key: bytes) -> Any:
        """Return the valid result for a key, None if there is none."""
        stored = self.store.get(key)
        if stored is None:
            return None
        try:
            before, _, result = stored.partition(b"\n")
            if not self._files.match(json.loads(before)):
                return None
            return decode(result.decode())
        except (ValueError, RecursionError, CannotDecode):
            return None

    def put(self, key: bytes, result: str, read: file_access.FileAccesses) -> None:
        """Store an encoded result with the file accesses it depends on."""
        if not read.inconsistent:
            made_from = validation.written(read, None)
            self.store.put(
                key, json.dumps(made_from, separators=(",", ":")).encode() + b"\n" + result.encode()
            )

    @property
    def accesses(self) -> file_access.FileAccesses:
        """Return the file accesses made to validate results."""
        return self._files.accesses

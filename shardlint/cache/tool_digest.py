"""The dependencies of a result besides the files read: shardlint's own code, its parser, and Python."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import lru_cache
from hashlib import blake2b
from importlib.util import find_spec

from shardlint import __version__
from shardlint.cache.store import Store


@lru_cache(maxsize=8)
def tool_digest(store: Store) -> bytes:
    """Return a digest that is equal for installations that produce the same results.

    Reading all of shardlint's code takes as long as a small run: while its files' stamps are unchanged, the
    digest is taken from the store.
    """
    files = sorted(_files())
    digest = blake2b(digest_size=16)
    for path, status in files:
        identity = (path, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
        digest.update(repr(identity).encode(errors="surrogatepass"))
    digest.update(repr((sys.version, sys.platform)).encode())
    key = b"tool" + digest.digest()
    found = store.get(key)
    if found is None or len(found) != 16:
        found = _digest([path for path, _ in files])
        store.put(key, found)
    return found


def _digest(paths: list[str]) -> bytes:
    whole = blake2b(digest_size=16)
    whole.update(repr((__version__, sys.version, sys.platform)).encode())
    for path in paths:
        with open(path, "rb") as file:
            text = file.read()
        whole.update(f"{os.path.basename(path)} {len(text)}\0".encode(errors="surrogatepass"))
        whole.update(text)
    return whole.digest()


def _files() -> Iterator[tuple[str, os.stat_result]]:
    """Yield shardlint's own modules, and the files with the versions of the libraries that affect results."""
    waiting = [os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    yield entry.path, entry.stat()
                elif entry.is_dir() and entry.name != "__pycache__":
                    waiting.append(entry.path)
    for library, file in (("libcst", "_version.py"), ("pathspec", "_version.py"), ("yaml", "__init__.py")):
        spec = find_spec(library)
        if spec is not None and spec.origin is not None:
            path = os.path.join(os.path.dirname(spec.origin), file)
            if os.path.isfile(path):
                yield path, os.stat(path)

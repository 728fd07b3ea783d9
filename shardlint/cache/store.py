"""The cache on disk: an SQLite database in a folder of its own.

The store never makes a run fail: if anything is wrong with it, it returns nothing and stores nothing. Its
contents are untrusted: a folder or file that is a link is not used, nor is a database with tables other than
ours; callers validate what they read.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import time
import zlib
from collections.abc import Iterator, Set

FOLDER = ".shardlint_cache"
_FILE = "shardlint.sqlite3"
#: Suffixes of the files that SQLite writes beside a database.
_BESIDE = ("", "-journal", "-wal", "-shm")
_TABLE = (
    "CREATE TABLE results (key BLOB PRIMARY KEY, used INTEGER NOT NULL, value BLOB NOT NULL) WITHOUT ROWID"
)
#: Seconds to wait while another process writes.
_PATIENCE = 2.0
#: Seconds after which an unused result is deleted, and the size beyond which the oldest ones are.
MAX_AGE = 30 * 24 * 3600
MAX_BYTES = 256 * 2**20
#: Bytes that may be pending before they are written.
_MUCH = 8 * 2**20
#: The largest result when uncompressed.
MAX_VALUE = 128 * 2**20
#: Seconds after which a use of a result is recorded again.
_USED_AGAIN = 24 * 3600
#: The most steps of SQLite's machine for one statement; only a malicious database takes more.
_MAX_STEPS = 2_000
_STEP = 100_000

_CACHEDIR_TAG = (
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# This folder was made by shardlint. It can be deleted at any time.\n"
    "# For information about cache directory tags see https://bford.info/cachedir/\n"
)


class Unusable(Exception):
    """A store that cannot be used; the message states why."""


class Store:
    """Values by keys, stored on disk.

    Args:
        folder: the folder of the store, created when something is first stored.

    ``problem`` states why the store is disabled, if it is.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.problem: str | None = None
        self._connection: sqlite3.Connection | None = None
        self._waiting: dict[bytes, bytes] = {}
        self._stale: set[bytes] = set()
        self._size = 0

    def get(self, key: bytes) -> bytes | None:
        """Return the value of a key, None where there is none."""
        return self.get_all({key}).get(key)

    def get_all(self, keys: Set[bytes]) -> dict[bytes, bytes]:
        """Return the values that are stored for some of these keys."""
        found: dict[bytes, bytes] = {}
        for key in self._waiting.keys() & keys:
            if (value := _unpacked(self._waiting[key])) is not None:
                found[key] = value
        with self._trying():
            connection = self._opened(make=False)
            if connection is None:
                return {}
            now = int(time.time())
            for key in keys - found.keys():
                row = connection.execute(
                    "SELECT value, used FROM results WHERE key = ? AND length(value) < ?", (key, MAX_VALUE)
                ).fetchone()
                if row is not None and (value := _unpacked(row[0])) is not None:
                    found[key] = value
                    if not 0 <= now - row[1] < _USED_AGAIN:
                        self._stale.add(key)
        return found

    def holds(self, key: bytes) -> bool:
        """Return whether a value is stored for a key."""
        if key in self._waiting:
            return True
        with self._trying():
            connection = self._opened(make=False)
            if connection is not None:
                return (
                    connection.execute("SELECT 1 FROM results WHERE key = ?", (key,)).fetchone() is not None
                )
        return False

    def put(self, key: bytes, value: bytes) -> None:
        """Store a value: it is written by `save`, or once many are pending."""
        if self.problem is not None:
            return
        self._waiting[key] = packed = _packed(value)
        self._size += len(packed)
        if self._size > _MUCH:
            self.save()

    def save(self) -> None:
        """Write all pending values, in one transaction."""
        waiting, stale = self._waiting, self._stale - self._waiting.keys()
        self._waiting, self._stale, self._size = {}, set(), 0
        if not waiting and not stale:
            return
        with self._trying():
            connection = self._opened(make=True)
            if connection is None:
                return
            now = int(time.time())
            with _transaction(connection):
                connection.executemany("UPDATE results SET used = ? WHERE key = ?", [(now, k) for k in stale])
                rows = [(key, now, value) for key, value in waiting.items()]
                connection.executemany("INSERT OR REPLACE INTO results VALUES (?, ?, ?)", rows)
                _prune(connection, now)

    def close(self) -> None:
        """Close the database."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(sqlite3.Error):
                connection.close()

    @contextlib.contextmanager
    def _trying(self) -> Iterator[None]:
        """Disable the store for this run if anything is wrong with it."""
        try:
            yield
        except Exception as error:
            self.problem = str(error) or type(error).__name__
            self.close()
            if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
                _remove(self.folder)

    def _opened(self, make: bool) -> sqlite3.Connection | None:
        if self.problem is not None:
            return None
        if self._connection is None:
            path = os.path.join(self.folder, _FILE)
            check(self.folder)
            if not os.path.lexists(path) and not make:
                return None
            if make:
                _make(self.folder)
            self._connection = _connected(path)
        return self._connection


def check(folder: str) -> None:
    """Raise Unusable unless a store's folder is absent, or holds no links that lead out of it."""
    try:
        mode = os.lstat(folder).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(mode):
        raise Unusable(f"{folder} is not a folder of its own")
    for name in _BESIDE:
        path = os.path.join(folder, _FILE + name)
        with contextlib.suppress(FileNotFoundError):
            status = os.lstat(path)
            if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
                raise Unusable(f"{path} is not a file of its own")


def _make(folder: str) -> None:
    """Create the folder, with the files that mark it as a cache."""
    os.makedirs(folder, exist_ok=True)
    check(folder)
    for name, text in (("CACHEDIR.TAG", _CACHEDIR_TAG), (".gitignore", "*\n")):
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        with contextlib.suppress(FileExistsError):
            handle = os.open(os.path.join(folder, name), flags, 0o644)
            with os.fdopen(handle, "w") as file:
                file.write(text)


def _connected(path: str) -> sqlite3.Connection:
    """Open a database, and create the table in an empty one. Raises sqlite3.Error and Unusable."""
    connection = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
    try:
        steps = [0]

        def too_long() -> bool:
            steps[0] += 1
            return steps[0] > _MAX_STEPS

        connection.set_progress_handler(too_long, _STEP)
        for setting in ("trusted_schema = OFF", "cell_size_check = ON", "synchronous = OFF", "mmap_size = 0"):
            connection.execute(f"PRAGMA {setting}")
        if not _holds_ours(connection):
            with _transaction(connection):
                if not _holds_ours(connection):
                    connection.execute(_TABLE)
    except BaseException:
        connection.close()
        raise
    return connection


def _holds_ours(connection: sqlite3.Connection) -> bool:
    """Return whether the database holds our table, False where it is empty. Raises Unusable for anything
    else.
    """
    found = connection.execute("SELECT type, name, sql FROM sqlite_master LIMIT 5").fetchall()
    if found and found != [("table", "results", _TABLE)]:
        raise Unusable("the database is not ours")
    return bool(found)


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _prune(connection: sqlite3.Connection, now: int) -> None:
    """Delete old results, and the oldest ones beyond the size limit."""
    connection.execute("DELETE FROM results WHERE used < ? OR used > ?", (now - MAX_AGE, now + MAX_AGE))
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    over = (pages - free) * size - MAX_BYTES
    if over <= 0:
        return
    # A quarter more, so that not every run has to delete.
    over += MAX_BYTES // 4
    for key, length in connection.execute("SELECT key, length(value) FROM results ORDER BY used").fetchall():
        if over <= 0:
            break
        connection.execute("DELETE FROM results WHERE key = ?", (key,))
        over -= length


def _remove(folder: str) -> None:
    """Delete a database that SQLite finds broken: the next run starts with an empty one."""
    for name in _BESIDE:
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(folder, _FILE + name))


def _packed(value: bytes) -> bytes:
    return zlib.crc32(value).to_bytes(4, "big") + zlib.compress(value, 1)


def _unpacked(value: object) -> bytes | None:
    """Return a value uncompressed, None if it is malformed or too large."""
    if not isinstance(value, bytes):
        return None
    try:
        unpacker = zlib.decompressobj()
        found = unpacker.decompress(value[4:], MAX_VALUE)
    except zlib.error:
        return None
    if not unpacker.eof or zlib.crc32(found).to_bytes(4, "big") != value[:4]:
        return None
    return found

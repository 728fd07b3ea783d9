"""The store: whatever is wrong with it, a run goes on; and nothing is written outside its folder."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from shardlint.cache import store as stores
from shardlint.cache.store import Store, Unusable, check


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def kept(folder: Path, key: bytes = b"k") -> bytes | None:
    store = Store(str(folder))
    try:
        return store.get(key)
    finally:
        store.close()


def keep(folder: Path, value: bytes = b"value", key: bytes = b"k") -> Store:
    store = Store(str(folder))
    store.put(key, value)
    store.save()
    store.close()
    return store


def test_what_is_kept_is_found(folder: Path) -> None:
    assert kept(folder) is None
    assert not folder.exists(), "looking makes nothing"
    assert keep(folder).problem is None
    assert kept(folder) == b"value"
    keep(folder, b"another")
    assert kept(folder) == b"another"
    assert kept(folder, b"other key") is None
    store = Store(str(folder))
    store.put(b"k", b"not yet written")
    assert store.get(b"k") == b"not yet written" and kept(folder) == b"another"
    store.close()
    assert (folder / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55")
    assert (folder / ".gitignore").read_text() == "*\n"


def database(folder: Path) -> Path:
    return folder / "shardlint.sqlite3"


def _broken(folder: Path) -> None:
    keep(folder)
    database(folder).write_bytes(b"no database at all" * 1000)


def _torn(folder: Path) -> None:
    keep(folder, os.urandom(200_000))
    data = database(folder).read_bytes()
    database(folder).write_bytes(data[: len(data) // 2])


def _foreign(folder: Path) -> None:
    folder.mkdir()
    with sqlite3.connect(database(folder)) as connection:
        connection.execute("CREATE TABLE accounts (name)")


def _hanging(folder: Path) -> None:
    """A view in place of the table, which never ends."""
    folder.mkdir()
    with sqlite3.connect(database(folder)) as connection:
        connection.execute(
            "CREATE VIEW results AS WITH RECURSIVE r(key, used, value) AS "
            "(VALUES (x'6b', 1, x'00') UNION ALL SELECT key, used + 1, value FROM r) SELECT * FROM r"
        )


def _triggered(folder: Path) -> None:
    keep(folder)
    with sqlite3.connect(database(folder)) as connection:
        connection.execute("CREATE TRIGGER t AFTER INSERT ON results BEGIN DELETE FROM results; END")


def _folder_in_place(folder: Path) -> None:
    database(folder).mkdir(parents=True)


def _file_in_place(folder: Path) -> None:
    folder.write_text("a file")


def _link(folder: Path) -> None:
    (folder.parent / "elsewhere").mkdir()
    folder.symlink_to("elsewhere", target_is_directory=True)


def _linked_file(folder: Path) -> None:
    folder.mkdir()
    (folder.parent / "precious").write_text("precious")
    database(folder).symlink_to(folder.parent / "precious")


def _linked_journal(folder: Path) -> None:
    keep(folder)
    (folder.parent / "precious").write_text("precious")
    Path(f"{database(folder)}-journal").symlink_to(folder.parent / "precious")


def _second_name(folder: Path) -> None:
    folder.mkdir()
    (folder.parent / "precious").write_bytes(b"")
    os.link(folder.parent / "precious", database(folder))


def _dangling(folder: Path) -> None:
    folder.mkdir()
    database(folder).symlink_to(folder.parent / "made by us")


WRONG: dict[str, Callable[[Path], None]] = {
    "no database": _broken, "half a database": _torn, "another database": _foreign, "a view": _hanging,
    "a trigger": _triggered, "a folder for a file": _folder_in_place, "a file for the folder": _file_in_place,
    "a link": _link, "a linked file": _linked_file, "a linked journal": _linked_journal,
    "a second name": _second_name, "a link to nothing": _dangling,
}  # fmt: skip


def _tree(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize("what", WRONG)
def test_nothing_wrong_with_it_is_an_error(what: str, folder: Path) -> None:
    WRONG[what](folder)
    outside = {name: data for name, data in _tree(folder.parent).items() if not name.startswith("cache")}
    start = time.monotonic()
    value = kept(folder)
    assert value is None or what in ("a trigger", "half a database", "a linked journal")
    keep(folder, b"new")
    assert time.monotonic() - start < 20
    after = {name: data for name, data in _tree(folder.parent).items() if not name.startswith("cache")}
    assert after == outside


@pytest.mark.parametrize("what", ["no database", "half a database"])
def test_a_broken_database_is_made_anew(what: str, folder: Path) -> None:
    WRONG[what](folder)
    for _ in range(3):
        kept(folder)
        keep(folder, b"new")
    assert kept(folder) == b"new"


def test_links_are_refused(folder: Path) -> None:
    _link(folder)
    with pytest.raises(Unusable):
        check(str(folder))


def test_a_value_that_was_changed_is_none(folder: Path) -> None:
    keep(folder)
    bomb = zlib.compress(bytes(2**20)) * 2
    for wrong in (b"", b"1234", b"1234" + zlib.compress(b"value"), b"1234" + bomb, "text", 7):
        with sqlite3.connect(database(folder)) as connection:
            connection.execute("UPDATE results SET value = ?", (wrong,))
        connection.close()
        assert kept(folder) is None


def test_a_value_that_would_be_too_large_is_not_unpacked(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(folder, bytes(100_000))
    monkeypatch.setattr(stores, "MAX_VALUE", 50_000)
    assert kept(folder) is None


def test_times_that_make_no_sense(folder: Path) -> None:
    keep(folder)
    for used in (-1, 2**62, "yesterday", None):
        with sqlite3.connect(database(folder)) as connection:
            connection.execute("UPDATE OR IGNORE results SET used = ?", (used,))
        connection.close()
        kept(folder)
        keep(folder, b"again", b"other")
        assert kept(folder, b"other") in (None, b"again")


def test_a_locked_database(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "_PATIENCE", 0.1)
    keep(folder)
    other = sqlite3.connect(database(folder), isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    assert kept(folder) is None
    assert keep(folder, b"new").problem
    other.execute("ROLLBACK")
    other.close()
    assert kept(folder) == b"value", "a lock is no reason to throw anything away"


def test_a_full_disk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(folder)
    before = stores._connected

    def small(path: str) -> sqlite3.Connection:
        connection = before(path)
        connection.execute("PRAGMA max_page_count = 4")
        return connection

    monkeypatch.setattr(stores, "_connected", small)
    assert "full" in str(keep(folder, os.urandom(200_000), b"large").problem)
    monkeypatch.undo()
    assert kept(folder) == b"value"
    assert kept(folder, b"large") is None


def test_old_and_unused_results_go(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(folder, key=b"old")
    with sqlite3.connect(database(folder)) as connection:
        connection.execute("UPDATE results SET used = ?", (int(time.time()) - stores.MAX_AGE - 10,))
    connection.close()
    keep(folder, key=b"new")
    assert kept(folder, b"old") is None
    assert kept(folder, b"new") == b"value"
    monkeypatch.setattr(stores, "MAX_BYTES", 100_000)
    for number in range(30):
        keep(folder, os.urandom(10_000), b"large %d" % number)
    assert database(folder).stat().st_size < 250_000
    assert kept(folder, b"large 29") is not None
    assert sum(kept(folder, b"large %d" % number) is not None for number in range(30)) < 15


def test_a_result_that_is_used_stays(folder: Path) -> None:
    keep(folder)
    week = int(time.time()) - 7 * 24 * 3600
    with sqlite3.connect(database(folder)) as connection:
        connection.execute("UPDATE results SET used = ?", (week,))
    connection.close()
    store = Store(str(folder))
    assert store.get(b"k") == b"value"
    store.save()
    store.close()
    with sqlite3.connect(database(folder)) as connection:
        (used,) = connection.execute("SELECT used FROM results").fetchone()
    connection.close()
    assert used > week + 3600


WRITER = """
import os, sys
from shardlint.cache.store import Store
number = 0
while True:
    store = Store(sys.argv[1])
    for _ in range(20):
        number += 1
        store.put(b"%s %d" % (sys.argv[2].encode(), number % 50), sys.argv[2].encode() * 5000)
    store.save()
    if store.problem:
        print(store.problem, flush=True)
    store.close()
    print(number, flush=True)
"""


def test_many_write_and_are_killed(folder: Path) -> None:
    """Processes that write at once, and die at any point of it, leave a store that holds what it should."""
    for turn in range(4):
        writers = [
            subprocess.Popen(
                [sys.executable, "-c", WRITER, str(folder), f"{turn}{name}"], stdout=subprocess.PIPE
            )
            for name in "abc"
        ]
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline().strip() == b"20"
        time.sleep(0.05 * turn)
        for writer in writers:
            writer.send_signal(signal.SIGKILL)
            writer.wait()
            assert writer.stdout is not None
            assert all(line.strip().isdigit() for line in writer.stdout)
            writer.stdout.close()
        connection = sqlite3.connect(database(folder))
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()
        for name in "abc":
            assert kept(folder, f"{turn}{name} 1".encode()) == f"{turn}{name}".encode() * 5000

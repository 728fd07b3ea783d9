"""Tracked file access: every read is recorded, so that a cached result can be validated later.

All reads of the project's files go through these functions: a text, whether a path exists, and the names in a
folder. They record what they find in the innermost `recording`, if there is one. The text that an editor has
open replaces that on disk (`opened`).
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field

from shardlint.support.lazy_dataclass import dataclass

#: The kind of a path: a file, a folder, something else, or nothing.
FILE, FOLDER, OTHER, NOTHING = "file", "folder", "other", ""
#: A larger file is neither a program nor a notebook.
MOST_BYTES = 200 * 2**20
#: Names of files to check, and of the files that select them.
SUFFIXES, IGNORES = (".py", ".pyi", ".ipynb"), ".gitignore"
#: Folders that tools create beside their input, and that hold no sources.
MADE = frozenset({"__pycache__", ".shardlint_cache"})
#: Metadata of a file that cannot be the same for another text that is written later.
Stamp = tuple[int, ...]
#: The digest of a file's text, None if it could not be read; and its stamp when it was opened.
Text = tuple[str | None, Stamp | None]


@dataclass(slots=True, eq=False)
class FileAccesses:
    """A record of file accesses; paths are as requested, relative ones to the working directory.

    ``texts`` holds the texts read, ``kinds`` the kinds of paths, ``folders`` the digests of their entries,
    None for one that could not be listed. Of modules that ran, ``functions`` holds the functions whose text
    mattered, by path and first line, and ``names`` the names that others looked up, by path. ``nested`` are
    the records of nested recordings, by id. ``inconsistent`` is true if one path was read with two different
    texts: it changed during the run.
    """

    texts: dict[str, Text] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    folders: dict[str, str | None] = field(default_factory=dict)
    functions: set[tuple[str, int]] = field(default_factory=set)
    names: set[tuple[str, str]] = field(default_factory=set)
    nested: dict[int, FileAccesses] = field(default_factory=dict)
    inconsistent: bool = False

    def whole(self) -> FileAccesses:
        """Return this record merged with all nested ones, which may contain each other."""
        found = FileAccesses()
        waiting, known = [self], {id(self)}
        while waiting:
            part = waiting.pop()
            found.add(part)
            waiting += [one for number, one in part.nested.items() if number not in known]
            known.update(part.nested)
        return found

    def add(self, other: FileAccesses) -> None:
        """Merge another record, without its nested ones."""
        self.inconsistent |= other.inconsistent
        for path, text in other.texts.items():
            self.note_text(path, text)
        self.kinds.update(other.kinds)
        self.folders.update(other.folders)
        self.functions |= other.functions
        self.names |= other.names

    def note_text(self, path: str, text: Text) -> None:
        """Record a text that was read."""
        self.inconsistent |= self.texts.setdefault(path, text)[0] != text[0]


#: The active recordings, the innermost last.
_recordings: list[FileAccesses] = []


@contextmanager
def recording(apart: bool = False) -> Iterator[FileAccesses]:
    """Record what is read, nested in the surrounding recording unless ``apart``."""
    accesses = FileAccesses()
    if not apart:
        include(accesses)
    _recordings.append(accesses)
    try:
        yield accesses
    finally:
        _recordings.pop()


def current() -> FileAccesses:
    """Return a copy of the innermost record."""
    return _recordings[-1].whole() if _recordings else FileAccesses()


def include(accesses: FileAccesses) -> None:
    """Add an earlier record with its nested ones to the active recording."""
    if _recordings and accesses is not _recordings[-1]:
        _recordings[-1].nested[id(accesses)] = accesses


def merge(accesses: FileAccesses) -> None:
    """Add an earlier record without its nested ones to the active recording; it is not retained."""
    if _recordings:
        _recordings[-1].add(accesses)


def note_function(path: str, line: int) -> None:
    """Record that the text of a function matters, which begins on this line of a file."""
    if _recordings:
        _recordings[-1].functions.add((path, line))


def note_name(path: str, name: str) -> None:
    """Record that a name is looked up in a module from outside, whether or not it is there."""
    if _recordings:
        _recordings[-1].names.add((path, name))


#: The texts that replace files, by absolute path.
_open: Mapping[str, bytes] = {}


@contextmanager
def opened(texts: Mapping[str, bytes]) -> Iterator[None]:
    """Let texts replace the files with these absolute paths, whether or not these exist on disk."""
    global _open
    before, _open = _open, texts
    try:
        yield
    finally:
        _open = before


def open_texts() -> Mapping[str, bytes]:
    """Return the texts that replace files, by absolute path."""
    return _open


def _opened(path: str) -> bytes | None:
    return _open.get(path if os.path.isabs(path) else os.path.abspath(path)) if _open else None


def read(path: str, limit: int) -> bytes:
    """Read at most one byte more than ``limit``. Raises OSError."""
    if (data := _opened(path)) is not None:
        if _recordings:
            _recordings[-1].note_text(path, (digest_of(data), _stamp_of_text(data)))
        return data[: limit + 1]
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            # Allocating a buffer for the limit costs more than reading the actual size.
            data = file.read(min(status.st_size, limit) + 1)
            if len(data) > status.st_size:
                data += file.read(limit + 1 - len(data))
    except OSError:
        if _recordings:
            _recordings[-1].note_text(path, (None, None))
        raise
    if _recordings:
        _recordings[-1].note_text(path, (digest_of(data), stamp_of(status)))
    return data


def stamp_of(status: os.stat_result) -> Stamp:
    """Return the stamp of a file; a program cannot set its time of the last change (POSIX's ctime)."""
    return (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_dev)


def _stamp_of_text(data: bytes) -> Stamp:
    """Return the stamp of an open text; no file has one of this length."""
    return (len(data), hash(data))


def stamp(path: str) -> Stamp | None:
    """Return a stamp that changes with a path's text, None where there is no file."""
    if (data := _opened(path)) is not None:
        return _stamp_of_text(data)
    try:
        return stamp_of(os.stat(path))
    except (OSError, ValueError):
        return None


def digest_of(data: bytes) -> str:
    """Return a digest that is equal for equal texts."""
    from hashlib import blake2b

    return blake2b(data, digest_size=16).hexdigest()


def kind_of(path: str) -> str:
    """Return the kind of a path or its target: `FILE`, `FOLDER`, `OTHER` or `NOTHING`; recorded."""
    kind = look(path)
    if _recordings:
        _recordings[-1].kinds[path] = kind
    return kind


def look(path: str) -> str:
    """Return the kind of a path, without recording it."""
    if _opened(path) is not None:
        return FILE
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return NOTHING
    return FILE if stat.S_ISREG(mode) else FOLDER if stat.S_ISDIR(mode) else OTHER


def is_file(path: str) -> bool:
    """Return whether a path is a file, or leads to one."""
    return kind_of(path) == FILE


def is_folder(path: str) -> bool:
    """Return whether a path is a folder, or leads to one."""
    return kind_of(path) == FOLDER


def exists(path: str) -> bool:
    """Return whether there is anything at a path."""
    return kind_of(path) != NOTHING


def entries(folder: str) -> list[os.DirEntry[str]]:
    """Return a folder's subfolders, and its files with relevant names. Raises OSError."""
    try:
        listed = _entries(folder)
    except OSError:
        if _recordings:
            _recordings[-1].folders[folder] = None
        raise
    if _recordings:
        _recordings[-1].folders[folder] = _listing(listed)
    return listed


def kind_of_entry(entry: os.DirEntry[str]) -> str:
    """Return the kind of an entry's target: a broken link is `OTHER`, an inaccessible one a `FILE`."""
    try:
        return FOLDER if entry.is_dir() else FILE if entry.is_file() else OTHER
    except OSError as error:
        return OTHER if error.errno == errno.ELOOP else FILE


def listing(folder: str) -> str | None:
    """Return the digest of a folder's entries, None where it cannot be listed."""
    try:
        return _listing(_entries(folder))
    except OSError:
        return None


def _entries(folder: str) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as found:
        return sorted(filter(_matters, found), key=lambda entry: entry.name)


def _matters(entry: os.DirEntry[str]) -> bool:
    if entry.name.endswith((*SUFFIXES, IGNORES)) or entry.is_symlink():
        return True
    return entry.name not in MADE and entry.is_dir()


def _listing(entries: list[os.DirEntry[str]]) -> str:
    """Return a digest that is equal for folders with the same entries (names, kinds and link targets)."""
    lines = []
    for entry in entries:
        try:
            link = os.readlink(entry.path) if entry.is_symlink() else ""
        except OSError:
            link = ""
        lines.append(f"{entry.name}\0{kind_of_entry(entry)}\0{link}")
    return digest_of("\n".join(lines).encode(errors="surrogatepass"))

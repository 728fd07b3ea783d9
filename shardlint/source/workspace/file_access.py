"""What a run reads of the file system, noted at one place, so that it can be asked whether it is still so.

Whatever reads the project's files does it by these functions: a text, whether something is there, and the
names in a folder. They note what they found in the innermost `recording`, if there is one. A text that an
editor has open stands for what is on the disk (`opened`).
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field

from shardlint.support.lazy_dataclass import dataclass

#: What lies at a path: a file, a folder, something else, or nothing.
FILE, FOLDER, OTHER, NOTHING = "file", "folder", "other", ""
#: What is larger is no program, and no notebook either.
MOST_BYTES = 200 * 2**20
#: What files to check are called, and what tells which of them not to.
SUFFIXES, IGNORES = (".py", ".pyi", ".ipynb"), ".gitignore"
#: Folders that tools make beside the files that they read, and that hold none.
MADE = frozenset({"__pycache__", ".shardlint_cache"})
#: What the file system tells of a file, and cannot be the same of another text that is written later.
Stamp = tuple[int, ...]
#: The digest of a file's text, None for one that could not be read; and its stamp as it was opened.
Text = tuple[str | None, Stamp | None]


@dataclass(slots=True, eq=False)
class Seen:
    """What was found: paths as they were asked for, relative ones to the folder the user is in.

    ``texts`` holds what was read of files, ``kinds`` what lies at paths, ``folders`` the digests of their
    entries, None for one that could not be listed. ``within`` is what parts of their own read, by id.
    ``torn`` tells that one path was found with two texts: the run saw a change half way.
    """

    texts: dict[str, Text] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    folders: dict[str, str | None] = field(default_factory=dict)
    within: dict[int, Seen] = field(default_factory=dict)
    torn: bool = False

    def whole(self) -> Seen:
        """This with all that its parts have read, which may have each other as parts."""
        found = Seen()
        waiting, met = [self], {id(self)}
        while waiting:
            part = waiting.pop()
            found.add(part)
            waiting += [one for number, one in part.within.items() if number not in met]
            met.update(part.within)
        return found

    def add(self, other: Seen) -> None:
        """Add what another one has found, but not its parts."""
        self.torn |= other.torn
        for path, text in other.texts.items():
            self.note_text(path, text)
        self.kinds.update(other.kinds)
        self.folders.update(other.folders)

    def note_text(self, path: str, text: Text) -> None:
        """Note a text that was read."""
        self.torn |= self.texts.setdefault(path, text)[0] != text[0]


#: The recordings that are under way, the innermost last.
_under_way: list[Seen] = []


@contextmanager
def recording(apart: bool = False) -> Iterator[Seen]:
    """Record what is read, as a part of what the recording around it records unless it is to stay apart."""
    seen = Seen()
    if not apart:
        hand_on(seen)
    _under_way.append(seen)
    try:
        yield seen
    finally:
        _under_way.pop()


def so_far() -> Seen:
    """All that the innermost recording has found so far."""
    return _under_way[-1].whole() if _under_way else Seen()


def hand_on(seen: Seen) -> None:
    """Count what was read before, with all its parts, as read now."""
    if _under_way and seen is not _under_way[-1]:
        _under_way[-1].within[id(seen)] = seen


def take_in(seen: Seen) -> None:
    """Count what was read before, but for its parts, as read now; it need not be kept."""
    if _under_way:
        _under_way[-1].add(seen)


#: The texts that an editor has open, by absolute path.
_open: Mapping[str, bytes] = {}


@contextmanager
def opened(texts: Mapping[str, bytes]) -> Iterator[None]:
    """Let texts stand for the files with these absolute paths, whether these are on the disk or not."""
    global _open
    before, _open = _open, texts
    try:
        yield
    finally:
        _open = before


def _opened(path: str) -> bytes | None:
    return _open.get(path if os.path.isabs(path) else os.path.abspath(path)) if _open else None


def read(path: str, limit: int) -> bytes:
    """Read at most one byte more than ``limit``. Raises OSError."""
    if (data := _opened(path)) is not None:
        if _under_way:
            _under_way[-1].note_text(path, (digest_of(data), _stamp_of_text(data)))
        return data[: limit + 1]
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            # Room for all that may be asked for costs more than reading what is there.
            data = file.read(min(status.st_size, limit) + 1)
            if len(data) > status.st_size:
                data += file.read(limit + 1 - len(data))
    except OSError:
        if _under_way:
            _under_way[-1].note_text(path, (None, None))
        raise
    if _under_way:
        _under_way[-1].note_text(path, (digest_of(data), stamp_of(status)))
    return data


def stamp_of(status: os.stat_result) -> Stamp:
    """The stamp of a file: of these, a program cannot set the time of the last change (POSIX's ctime)."""
    return (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_dev)


def _stamp_of_text(data: bytes) -> Stamp:
    """The stamp of an open text; no file has one of this length."""
    return (len(data), hash(data))


def stamp(path: str) -> Stamp | None:
    """What tells that a path's text is the same, None where there is no file."""
    if (data := _opened(path)) is not None:
        return _stamp_of_text(data)
    try:
        return stamp_of(os.stat(path))
    except (OSError, ValueError):
        return None


def digest_of(data: bytes) -> str:
    """What two equal texts have in common."""
    from hashlib import blake2b

    return blake2b(data, digest_size=16).hexdigest()


def kind_of(path: str) -> str:
    """What lies at a path, or where it leads to: `FILE`, `FOLDER`, `OTHER` or `NOTHING`."""
    kind = look(path)
    if _under_way:
        _under_way[-1].kinds[path] = kind
    return kind


def look(path: str) -> str:
    """What lies at a path, noted nowhere."""
    if _opened(path) is not None:
        return FILE
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return NOTHING
    return FILE if stat.S_ISREG(mode) else FOLDER if stat.S_ISDIR(mode) else OTHER


def is_file(path: str) -> bool:
    """Whether a path is a file, or leads to one."""
    return kind_of(path) == FILE


def is_folder(path: str) -> bool:
    """Whether a path is a folder, or leads to one."""
    return kind_of(path) == FOLDER


def exists(path: str) -> bool:
    """Whether there is anything at a path."""
    return kind_of(path) != NOTHING


def entries(folder: str) -> list[os.DirEntry[str]]:
    """The folders in a folder, and its files whose names tell that they could matter. Raises OSError."""
    try:
        listed = _entries(folder)
    except OSError:
        if _under_way:
            _under_way[-1].folders[folder] = None
        raise
    if _under_way:
        _under_way[-1].folders[folder] = _listing(listed)
    return listed


def kind_of_entry(entry: os.DirEntry[str]) -> str:
    """What an entry is, or leads to: a broken link is `OTHER`, and what may not be looked at a `FILE`."""
    try:
        return FOLDER if entry.is_dir() else FILE if entry.is_file() else OTHER
    except OSError as error:
        return OTHER if error.errno == errno.ELOOP else FILE


def listing(folder: str) -> str | None:
    """The digest of a folder's entries, None where it cannot be listed."""
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
    """What two folders with the same entries have in common: their names, kinds, and where links lead."""
    lines = []
    for entry in entries:
        try:
            link = os.readlink(entry.path) if entry.is_symlink() else ""
        except OSError:
            link = ""
        lines.append(f"{entry.name}\0{kind_of_entry(entry)}\0{link}")
    return digest_of("\n".join(lines).encode(errors="surrogatepass"))

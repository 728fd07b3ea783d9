"""Where a module is, by the path that its dotted name leads to; every look is noted (`seen`)."""

from __future__ import annotations

import os
from collections.abc import Sequence

from shardlint import seen


def module_file(folder: str, parts: Sequence[str]) -> str | None:
    """The file of a module, or of a package's ``__init__``, under a folder by the parts of its name.

    Without parts it is the folder itself. Where a part is missing nothing behind it is looked for, so that
    few looks tell that nothing is there.
    """
    for part in parts[:-1]:
        folder = os.path.join(folder, part)
        if not seen.is_folder(folder):
            return None
    path = os.path.join(folder, *parts[-1:])
    # A path without a name (`from .. import x` above everything) can only be a package.
    if os.path.basename(path) not in ("", os.curdir, os.pardir) and seen.is_file(f"{path}.py"):
        return f"{path}.py"
    if parts and not seen.is_folder(path):
        return None
    package = os.path.join(path, "__init__.py")
    return package if seen.is_file(package) else None

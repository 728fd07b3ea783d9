"""Files of tests, by their names."""

from __future__ import annotations

import re
from pathlib import PurePath

_TESTS = re.compile(r"(test_.*|.*_test|conftest)\.(py|ipynb)")


def is_named_as_test(path: str) -> bool:
    """Return whether a file is named as pytest and unittest find tests."""
    return _TESTS.fullmatch(PurePath(path).name) is not None

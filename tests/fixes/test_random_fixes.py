"""Safe fixes of random programs, each run before and after under Python and JAX.

``SHARDLINT_FIXES`` is the number of programs.
"""

from __future__ import annotations

import pytest
from random_fixes import faults
from support.sizes import size

#: The programs run here, under JAX.
pytestmark = pytest.mark.slow

COUNT = size("SHARDLINT_FIXES", 60, 400)
_AT_ONCE = 20


@pytest.mark.parametrize("first", range(0, COUNT, _AT_ONCE))
def test_a_safe_fix_breaks_nothing(first: int) -> None:
    changed = 0
    for seed in range(first, min(first + _AT_ONCE, COUNT)):
        found, fixes = faults(seed)
        assert not found, "\n".join([f"seed {seed}", *found])
        changed += fixes
    assert changed > _AT_ONCE // 2

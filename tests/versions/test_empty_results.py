"""Arrays of size 0 that a jit returns, as JAX 0.7.2 and 0.8.3 refuse them: measured by `empty_results.py`."""

from __future__ import annotations

import pytest
from empty_results import HEAD, PROGRAMS
from support.checking import codes, errors


@pytest.mark.parametrize("release", ["0.7.2", "0.8.3", "0.9.2"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_what_jax_refuses_is_an_error(program: str, release: str) -> None:
    wanted = ["SHL202"] if PROGRAMS[program] and release != "0.9.2" else []
    assert codes(errors(HEAD + program, target=release)) == wanted

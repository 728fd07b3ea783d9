"""Arrays of size 0 that a jit returns, as JAX 0.7.2 and 0.8.3 refuse them: measured by `empty_results.py`."""

from __future__ import annotations

import pytest
from empty_results import HEAD, PROGRAMS

from shardlint.api import Linter, Settings, source_from_text
from shardlint.laws.versions import Release, Target
from shardlint.model.findings import Severity


@pytest.mark.parametrize("release", ["0.7.2", "0.8.3", "0.9.2"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_what_jax_refuses_is_an_error(program: str, release: str) -> None:
    settings = Settings(devices=8, target_jax=Target(Release.parse(release), Release.parse(release)))
    found = Linter(settings).check_source(source_from_text("program.py", HEAD + program))
    errors = [finding.code for finding in found if finding.severity is Severity.ERROR]
    assert errors == (["SHL202"] if PROGRAMS[program] and release != "0.9.2" else [])

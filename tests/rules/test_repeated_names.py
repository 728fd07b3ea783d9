"""Names of one expression that a release has deprecated, or not any more: one finding says so."""

from __future__ import annotations

import pytest
from support.checking import check

TEXT = "import jax\nprint(jax.lib.xla_bridge.get_backend().platform)\n"


@pytest.mark.parametrize(
    ("target", "code", "says"),
    [
        ("==0.7.2", "SHL801", "get_backend` is deprecated"),
        ("==0.8.3", "SHL802", "get_backend` is gone since JAX 0.8.0"),
        ("==0.9.2", "SHL802", "xla_bridge` is gone since JAX 0.9.0"),
        (">=0.8", "SHL802", "get_backend` is gone since JAX 0.8.0"),
        (">=0.4.35", "SHL802", "(on JAX 0.8.0 to "),
        (">=0.4.35,<0.8", "SHL801", "get_backend` is deprecated"),
    ],
)
def test_one_finding_for_one_expression(target: str, code: str, says: str) -> None:
    found = check(TEXT, target=target)
    assert [finding.code for finding in found] == [code]
    assert says in found[0].message

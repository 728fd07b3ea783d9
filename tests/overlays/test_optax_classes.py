"""optax's classes of states: their fields beside optax itself."""

from __future__ import annotations

import optax
import pytest

from shardlint.inference.overlays.optax.state_classes import FIELDS


@pytest.mark.parametrize("name", FIELDS)
def test_fields(name: str) -> None:
    cls = getattr(optax, name)
    assert cls._fields == FIELDS[name]
    assert not cls._field_defaults

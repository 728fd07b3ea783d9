"""Names of `jax._src…` beside JAX itself: each is the public object that it is taken for."""

from __future__ import annotations

import importlib
import sys
import warnings
from typing import Any

import jax
import jax.experimental.mesh_utils
import jax.experimental.pallas
import jax.experimental.pjit

from shardlint.inference.domain.values import External
from shardlint.inference.overlays.internal_names import INTERNAL
from shardlint.inference.overlays.registry import canonical

#: Public functions that only warn that they are deprecated, and one that is public in other releases.
_OTHERWISE = {"jax.lax.pvary", "jax.lax.psum_scatter_start"}


def _public(name: str) -> Any:
    found: Any = jax
    first, *parts = name.split(".")
    for i, part in enumerate(parts, 1):
        if not hasattr(found, part):
            importlib.import_module(".".join([first, *parts[:i]]))
        found = getattr(found, part)
    return found


def test_internal_names_are_public_objects() -> None:
    seen = 0
    modules = [(name, one) for name, one in sys.modules.items() if name.startswith(INTERNAL)]
    for module, contents in modules:
        for name, value in vars(contents).items():
            found = canonical(f"{module}.{name}")
            if isinstance(found, External) and not found.name.startswith(INTERNAL):
                seen += 1
                if found.name not in _OTHERWISE:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        # Methods are made anew each time.
                        assert _public(found.name) == value, f"{module}.{name}"
    assert seen > 500

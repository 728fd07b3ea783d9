"""Let the devices of a TPU topology stand in for those of a program: they compile, and cannot run.

Self-contained, beside `compiling`, which imports it.
"""

from __future__ import annotations

import functools
import math
import os
from typing import Any

#: Nothing is asked of a TPU's host.
QUIET = {"TPU_SKIP_MDS_QUERY": "1", "TPU_WORKER_HOSTNAMES": "localhost", "TPU_ACCELERATOR_TYPE": "v5e-16"}


def stand_in(name: str) -> str | None:
    """Replace the devices that programs ask JAX for; return why that is not possible, if it is not."""
    os.environ.update(QUIET)
    try:
        import jax
        from jax.experimental import topologies
    except ImportError as error:
        return f"jax cannot be imported: {error}"
    try:
        described = topologies.get_topology_desc(
            platform="tpu", topology_name=name, chips_per_host_bounds=(2, 2, 1)
        )
    except Exception as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        return f"no topology {name}: {lines[0]} (shardlint[tpu] installs the compiler)"
    replace(jax, list(described.devices))
    return None


def replace(jax: Any, devices: list[Any]) -> None:
    """Let JAX's functions return these devices where no other backend is named."""

    def returning(name: str, answer: Any) -> None:
        before = getattr(jax, name)

        @functools.wraps(before)
        def asked(*arguments: Any, **keywords: Any) -> Any:
            backend = keywords.get("backend", arguments[0] if arguments and name != "local_devices" else None)
            return before(*arguments, **keywords) if backend not in (None, "tpu") else answer

        setattr(jax, name, asked)

    returning("devices", devices)
    returning("local_devices", devices)
    returning("device_count", len(devices))
    returning("local_device_count", len(devices))
    make = jax.make_mesh

    @functools.wraps(make)
    def make_mesh(axis_shapes: Any, *arguments: Any, **keywords: Any) -> Any:
        if keywords.get("devices") is None:
            keywords["devices"] = devices[: math.prod(axis_shapes)]
        return make(axis_shapes, *arguments, **keywords)

    jax.make_mesh = make_mesh

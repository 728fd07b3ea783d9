"""Programs of which JAX computes nothing."""

from __future__ import annotations

from typing import Any

import jax


def run_traced(text: str, names: dict[str, Any]) -> None:
    """Execute a program while it is traced: arrays have shapes and dtypes, and nothing is compiled.

    What the program raises is raised. For programs of which shapes, dtypes and structures are compared. One
    that sets a mesh, which JAX refuses while it traces, or asks for the value of an array, is executed as it
    is.
    """
    if "set_mesh" not in text:
        given = dict(names)
        try:
            jax.eval_shape(lambda: exec(text, names))
        except (jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError):
            names.clear()
            names.update(given)
        else:
            return
    exec(text, names)

"""The random calls of each entry of the tables."""

from __future__ import annotations

import cases_creation
import cases_jax
import cases_lax
import cases_numpy
import cases_others
import cases_rarer
import cases_scipy
from overlay_harness import Generator

from shardlint.inference.overlays.jax import numpy

#: Names that JAX has removed, under which old programs still call these.
REMOVED = {"jax.tree_map": "jax.tree.map"}

_DTYPES = {f"{library}.{name}" for library in ("jax.numpy", "numpy") for name in numpy.DTYPES} | {
    f"jax.numpy.{name}" for name in numpy.MORE_DTYPES
}


def generator(name: str) -> Generator | None:
    """The cases of an entry."""
    if name in _DTYPES:
        return cases_numpy.cast
    name = REMOVED.get(name, name)
    for prefix, cases in (
        ("jax.numpy.", {**cases_numpy.SHARED, **cases_rarer.NUMPY}),
        ("jax.lax.linalg.", cases_scipy.LAX_LINALG),
        ("jax.lax.", {**cases_lax.LAX, **cases_jax.CONTROL, **cases_others.LAX}),
        ("jax.random.", {**cases_jax.RANDOM, **cases_others.RANDOM}),
        ("jax.nn.", {**cases_jax.NN, **cases_others.NN}),
        ("jax.scipy.special.", {**cases_jax.NN, **cases_scipy.SPECIAL, **cases_others.SPECIAL}),
        ("jax.scipy.linalg.", cases_scipy.LINALG),
        ("jax.scipy.stats.", cases_others.STATS),
        ("jax.scipy.signal.", cases_others.SIGNAL),
        ("jax.scipy.fft.", cases_others.FFT),
        ("jax.scipy.ndimage.", cases_others.IMAGES),
        ("jax.scipy.integrate.", cases_others.INTEGRALS),
        ("jax.ops.", cases_scipy.OPS),
        ("jax.image.", cases_scipy.IMAGE),
        ("jax.tree.", cases_jax.TREES),
        ("jax.tree_util.tree_", cases_jax.TREES),
        ("numpy.random.", cases_creation.RANDOM),
        ("numpy.", {**cases_rarer.WINDOWS, **cases_numpy.SHARED, **cases_numpy.NUMPY_ONLY}),
    ):
        if name.startswith(prefix):
            return cases.get(name.removeprefix(prefix))
    return None

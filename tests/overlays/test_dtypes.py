"""What is asked of dtypes: limits and promotions, beside the libraries' answers."""

from __future__ import annotations

import itertools

import jax.numpy as jnp
import numpy as np
import pytest
from overlay_harness import PLACE, FakeInterpreter

from shardlint.inference.domain.values import Array, Const, External, LibraryObject, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.dtypes import as_dtype
from shardlint.inference.overlays.registry import canonical, transfer

NAMES = ("float32", "bfloat16", "float16", "int32", "int8", "uint8", "bool", "float64", "int64")
LIBRARIES = {"numpy": np, "jax.numpy": jnp}


def asked(name: str, *args: Value) -> Value:
    """What the overlay answers."""
    found = transfer(name)
    assert found is not None
    return found(Call(FakeInterpreter(), name, list(args), {}, PLACE))  # type: ignore[arg-type]


@pytest.mark.parametrize("module", LIBRARIES)
def test_promotions(module: str) -> None:
    """Dtypes, and arrays with dtypes, are promoted as the library promotes them."""
    library = LIBRARIES[module]
    for one, other in itertools.product(NAMES, NAMES):
        if module == "numpy" and "bfloat16" in (one, other):
            continue
        true = library.promote_types(np.dtype(one) if one != "bfloat16" else jnp.bfloat16, other)
        true = jnp.zeros((), true).dtype if module == "jax.numpy" else true
        dtypes = asked(f"{module}.promote_types", Const(one), External(f"{module}.{other}"))
        array = Array((2,), one, numpy=module == "numpy")
        mixed = asked(f"{module}.result_type", array, Const(other))
        assert (as_dtype(dtypes), as_dtype(mixed)) == (str(true), str(true)), (one, other)
    weak = asked("jax.numpy.result_type", Array((2,), "bfloat16"), Const(1.5))
    assert as_dtype(weak) == str(jnp.result_type(jnp.ones(2, jnp.bfloat16), 1.5))


@pytest.mark.parametrize("module", LIBRARIES)
def test_limits(module: str) -> None:
    """Limits of floats are scalars of their dtype, those of integers are numbers."""
    library = LIBRARIES[module]
    for name in NAMES[:3] if module == "jax.numpy" else NAMES[:1]:
        made, true = asked(f"{module}.finfo", Const(name)), library.finfo(name)
        assert isinstance(made, LibraryObject)
        for field in ("min", "max", "eps", "tiny"):
            limit = made.fields[field]
            assert isinstance(limit, Array)
            assert (limit.shape, limit.dtype) == ((), str(getattr(true, field).dtype))
        assert made.fields["bits"] == Const(true.bits)
    for name in ("int32", "int8", "uint8"):
        made, true = asked(f"{module}.iinfo", Const(name)), library.iinfo(name)
        assert isinstance(made, LibraryObject)
        assert [made.fields[n] for n in ("min", "max", "bits")] == [
            Const(int(n)) for n in (true.min, true.max, true.bits)
        ]


@pytest.mark.parametrize("name", ["inf", "pi", "e"])
def test_constants(name: str) -> None:
    """Names of numbers are numbers."""
    assert canonical(f"jax.numpy.{name}") == Const(getattr(jnp, name))
    assert canonical(f"numpy.{name}") == Const(getattr(np, name))

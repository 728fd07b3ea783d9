"""What is asked of dtypes: limits and promotions, beside the libraries' answers."""

from __future__ import annotations

import itertools
import string

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from overlay_harness import PLACE, FakeInterpreter, resolve

from shardlint.inference.domain.values import Array, Const, External, LibraryObject, Tuple, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.dtypes import as_dtype, dtype_value
from shardlint.inference.overlays.registry import canonical, transfer
from shardlint.laws.core.values import Unknown

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


CLASSES = (
    "generic number inexact floating complexfloating integer signedinteger unsignedinteger character "
    "flexible bool_ float32 int32 float64"
).split()


@pytest.mark.parametrize("module", LIBRARIES)
def test_classes_of_dtypes(module: str) -> None:
    library = LIBRARIES[module]
    for name, other in itertools.product((*NAMES, "int4", "float8_e4m3fn", "complex64"), CLASSES):
        dtype = getattr(jnp, name)
        found = asked(f"{module}.issubdtype", External(f"jax.numpy.{name}"), External(f"{module}.{other}"))
        assert found == Const(bool(library.issubdtype(dtype, getattr(library, other)))), (name, other)
        made = asked("numpy.dtype", External(f"jax.numpy.{name}"))
        assert as_dtype(made) == str(jnp.dtype(dtype))
        again = asked(f"{module}.issubdtype", made, External(f"{module}.{other}"))
        assert again == found


def test_classes_of_keys() -> None:
    key, dtype = jax.random.key(0).dtype, dtype_value("key<fry>")
    for other in ("jax.dtypes.prng_key", "jax.dtypes.extended"):
        assert asked("jax.numpy.issubdtype", dtype, External(other)) == Const(True)
        assert jnp.issubdtype(key, resolve(other))
        assert asked("jax.numpy.issubdtype", Const("float32"), External(other)) == Const(False)
        assert not jnp.issubdtype("float32", resolve(other))
    assert isinstance(asked("jax.numpy.issubdtype", dtype, External("numpy.floating")), Unknown)


@pytest.mark.parametrize("module", LIBRARIES)
def test_scalars(module: str) -> None:
    isscalar = LIBRARIES[module].isscalar
    for plain in (1, 2.5, True, "a", None):
        assert asked(f"{module}.isscalar", Const(plain)) == Const(isscalar(plain))
    for shape in ((), (2,)):
        found = asked(f"{module}.isscalar", Array(shape, "float32"))
        assert found == Const(isscalar(jnp.ones(shape))) or isinstance(found, Unknown)
    assert asked(f"{module}.isscalar", Tuple(())) == Const(isscalar(()))


@pytest.mark.parametrize("name", ["inf", "pi", "e"])
def test_constants(name: str) -> None:
    """Names of numbers are numbers."""
    assert canonical(f"jax.numpy.{name}") == Const(getattr(jnp, name))
    assert canonical(f"numpy.{name}") == Const(getattr(np, name))


def test_texts() -> None:
    """Codes such as "f" and "<i4" are numpy's, and no other text of up to three characters is a dtype."""
    letters = string.ascii_letters + "?<=|>1248"
    for text in map("".join, itertools.chain(*(itertools.product(letters, repeat=n) for n in (1, 2, 3)))):
        if (ours := as_dtype(Const(text))) is not None:
            assert ours == np.dtype(text).name, text
    codes = ("f", "d", "?", "i", "B", "<f4", "=i8", "|u1", "F", "|b1")
    assert [as_dtype(Const(text)) for text in codes] == [np.dtype(text).name for text in codes]
    # Bytes in another order than the machine's are another dtype.
    assert as_dtype(Const(">f4")) is None

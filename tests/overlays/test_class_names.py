"""The classes of arrays and shardings, which programs compare by name."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AbstractMesh, Mesh, NamedSharding, PartitionSpec

from shardlint.inference.domain.class_names import LibraryClass, ModuleName, same_class
from shardlint.inference.domain.values import Const


def below(cls: type) -> Iterator[type]:
    derived: list[type] = cls.__subclasses__()
    for one in derived:
        yield one
        yield from below(one)


def classes_of_arrays() -> set[type]:
    """Return the classes that an array, a key, a struct or a sharding may be of."""
    seen: list[object] = [
        jnp.ones(1), np.ones(1), np.ma.ones(1), np.float32(1), np.bool_(True), jax.random.key(0),
        jax.ShapeDtypeStruct((1,), jnp.float32), PartitionSpec(), AbstractMesh((1,), ("x",)),
        mesh := Mesh(np.array(jax.devices()[:1]), ("x",)), NamedSharding(mesh, PartitionSpec()),
    ]  # fmt: skip

    def see(x: jax.Array) -> jax.Array:
        seen.append(x)
        return x

    jax.jit(jax.vmap(jax.grad(see)))(jnp.ones(1))
    return {type(one) for one in seen} | {*below(jax.core.Tracer), *below(np.ndarray), *below(np.generic)}


def test_no_class_of_arrays_is_taken_for_another() -> None:
    classes = classes_of_arrays()
    assert len(classes) > 40
    found = LibraryClass("the class of an array")
    for cls in classes:
        for name in (cls.__name__, cls.__qualname__, cls.__module__):
            assert same_class(found, Const(name)) is not False or name in ("builtins", "__main__"), name
    for name in ("QuantArray", "Param", "Layer", "__main__"):
        assert same_class(Const(name), found) is False


def test_modules_are_compared_by_their_names() -> None:
    model = ModuleName("", name="project.model")
    assert same_class(model, ModuleName("", name="project.model")) is True
    assert same_class(model, ModuleName("", name="project.layers")) is False
    # The same file, or another one that is called the same.
    assert same_class(model, ModuleName("", name="model")) is None
    assert same_class(model, Const("__main__")) is False
    assert same_class(model, Const("project.model")) is None

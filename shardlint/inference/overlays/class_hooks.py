"""Classes of the program that derive from a library's: hooks of the overlays for them and their instances."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from shardlint.inference.domain.values import Bound, ClassValue, External, Instance, Native, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.registry import derived, merged
from shardlint.model.spans import Place

if TYPE_CHECKING:
    from shardlint.inference.evaluation.evaluator import Evaluator

#: Library classes whose subclasses take their annotated fields as constructor arguments.
FIELD_BASES = frozenset({"flax.linen.Module", "flax.struct.PyTreeNode", "equinox.Module"})
#: Library classes that set no attributes that a program would read as sizes or specs.
_TRANSPARENT_BASES = frozenset(
    {"equinox.Module", "flax.linen.Module", "flax.nnx.Module", "flax.struct.PyTreeNode"}
)


@derived
def followed_bases() -> frozenset[str]:
    """Return the library classes whose instances have no attributes besides those that the program sets."""
    return _TRANSPARENT_BASES | frozenset(merged("BASES"))


def base_class(base: Value) -> Value:
    """Return a base of a class; a library class with a model is a class of its own."""
    make = merged("BASES").get(base.name) if isinstance(base, External) else None
    created: Value = base if make is None else make()
    return created


def hides_attributes(bases: frozenset[str]) -> bool:
    """Return whether instances of these library classes have attributes that are not modelled."""
    return not merged("BASES").keys().isdisjoint(bases)


def call_library_class(call: Call, cls: ClassValue, bases: frozenset[str]) -> Value | None:
    """Return the result of calling a class of the program if that is no `Instance`, else None."""
    for base in bases & merged("INSTANCES").keys():
        found: Value | None = merged("INSTANCES")[base](call, cls)
        if found is not None:
            return found
    return None


def instance_attribute(base: str, value: Instance, name: str) -> Value | None:
    """Return an attribute that an instance inherits from a library's class, or None."""
    method = merged("METHODS").get((base, name))
    return Bound(Native(f"{base}.{name}", method), value) if method is not None else None


def created(interpreter: Evaluator, instance: Instance, bases: frozenset[str]) -> None:
    """Call the hooks of an instance's library bases for a new instance."""
    for base in bases:
        hook = merged("CREATED").get(base)
        if hook is not None:
            hook(interpreter, instance)


def method_context(
    interpreter: Evaluator, instance: Instance, bases: frozenset[str], place: Place
) -> AbstractContextManager[object]:
    """Return the context manager in which a method of such an instance runs."""
    for base in bases:
        hook = merged("METHOD_CONTEXTS").get(base)
        if hook is not None:
            context: AbstractContextManager[object] = hook(interpreter, instance, place)
            return context
    return nullcontext()

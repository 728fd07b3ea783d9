"""What shardlint knows of libraries: tables from canonical names to functions on abstract values.

Each module of this package exposes some of these tables; here they are merged once and asked.

- ``TABLE``: a library's functions and classes, by canonical name.
- ``CONSTANTS``: names that are values.
- ``CALLS``, ``ATTRIBUTES``, ``METHODS``: objects of library classes (`LibraryObject`), by kind. The methods
  ``__getitem__``, ``__setitem__`` and ``__setattr__`` are what brackets and assignments mean.
- ``CREATED``, ``METHOD_CONTEXTS``: what happens when a class of the program that derives from a
  library's is instantiated, and around each call of its methods.
- ``BASES``, ``INSTANCES``: library classes as classes that a program's derive from, and what calling one
  of the program's makes where that is no `Instance`.
- ``CHILDREN``, ``DELEGATES``: kinds that are pytrees, and kinds that stand for one of their fields.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from shardlint.inference.calls import Call
from shardlint.inference.classes import class_attribute, stands_for
from shardlint.inference.overlays import aliases
from shardlint.inference.releases import is_there
from shardlint.inference.values import (
    Array,
    Bound,
    ClassValue,
    Devices,
    DictValue,
    External,
    Instance,
    LibraryObject,
    MeshValue,
    Native,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
)
from shardlint.laws.values import Unknown
from shardlint.spans import Place

if TYPE_CHECKING:
    from shardlint.inference.evaluator import Evaluator

Transfer = Callable[[Call], Value]

#: Library classes whose subclasses take their annotated fields as constructor arguments.
FIELD_BASES = frozenset({"flax.linen.Module", "flax.struct.PyTreeNode", "equinox.Module"})
#: Library classes that set no attributes a program would read as sizes or specs.
_TRANSPARENT_BASES = frozenset(
    {"equinox.Module", "flax.linen.Module", "flax.nnx.Module", "flax.struct.PyTreeNode"}
)


#: The overlays of what most programs meet, in order: those of Python, numpy and JAX.
_BASE = (
    "py_builtins", "py_stdlib", "py_versions", "py_collections", "py_iterators", "py_itertools", "py_objects",
    "py_dataclasses", "py_enums", "py_records", "py_caches", "py_descriptors", "py_namespaces", "py_literals",
    "py_re", "py_imports", "py_mocks", "jax_tree_paths", "numpy_", "numpy_types", "jax_numpy", "jax_lax",
    "jax_convolution", "jax_control", "jax_nn", "jax_random", "jax_initializers", "jax_tree",
    "jax_specs", "jax_sharding", "jax_meshes", "jax_devices", "jax_contexts", "jax_jit", "jax_shard_map",
    "jax_collectives", "jax_transforms", "jax_derivatives", "jax_placement", "jaxtyping",
    "explicit.axes",
)  # fmt: skip
#: Those of other libraries, by the word that their names begin with: loaded once a program writes it.
_LIBRARIES = {
    "flax": (
        "flax_boxes", "flax_derived", "flax_linen", "flax_lifted", "flax_logical", "flax_logical_rules",
        "flax_param_with_axes", "flax_nnx", "flax_training",
    ),
    "optax": ("optax_losses", "optax_states", "optax_wrappers"),
    "equinox": ("equinox",),
    "einops": ("einops",),
}  # fmt: skip
_loaded: set[str] = set()
_tables: defaultdict[str, dict[Any, Any]] = defaultdict(dict)
_NAMES_OF_TABLES = (
    "TABLE", "CONSTANTS", "ALIASES", "CALLS", "ATTRIBUTES", "METHODS", "CREATED", "METHOD_CONTEXTS", "BASES",
    "INSTANCES", "CHILDREN", "DELEGATES",
)  # fmt: skip


def load_mentioned(text: str) -> bool:
    """Load the overlays of the libraries that a text mentions; whether some were not there yet."""
    new = [library for library in _LIBRARIES if library not in _loaded and library in text]
    for library in new:
        _load(library)
    return bool(new)


def loaded() -> frozenset[str]:
    """The libraries whose overlays are there: what is known of all of them depends on these."""
    return frozenset(_loaded)


def _load(library: str) -> None:
    if library in _loaded:
        return
    _load_base()
    _loaded.add(library)
    for name in _LIBRARIES[library]:
        _take_in(name)
    for known in (_prefixes, sharding_names, layer_names, followed_bases):
        known.cache_clear()


def _take_in(name: str) -> None:
    module = import_module(f"{__name__}.{name}")
    for table in _NAMES_OF_TABLES:
        _tables[table].update(getattr(module, table, {}))


@cache
def _merged(table: str) -> dict[Any, Any]:
    """One table of all overlays that are loaded."""
    _load_base()
    return _tables[table]


@cache
def _load_base() -> None:
    for name in _BASE:
        _take_in(name)
    _place_what_is_created(_tables["TABLE"])


def _place_what_is_created(found: dict[Any, Any]) -> None:
    """What makes arrays also puts them somewhere."""
    from shardlint.inference.overlays.jax_placement import created, on_device, sampled
    from shardlint.inference.overlays.out_shardings import CREATION, ON_DEVICES, SAMPLED

    for name in CREATION:
        found[f"jax.numpy.{name}"] = created(found[f"jax.numpy.{name}"])
    for name, apis in ON_DEVICES.items():
        found[f"jax.numpy.{name}"] = on_device(found[f"jax.numpy.{name}"], apis)
    for name in SAMPLED:
        found[f"jax.random.{name}"] = sampled(found[f"jax.random.{name}"])


@cache
def _prefixes() -> frozenset[str]:
    """Every module path above a name that some table knows."""
    found: set[str] = set()
    for name in (*_merged("TABLE"), *_merged("CONSTANTS"), *aliases.NAMES, *aliases.MODULES):
        while "." in name:
            name = name.rpartition(".")[0]
            found.add(name)
    return frozenset(found)


def transfer(name: str) -> Transfer | None:
    """The function that evaluates calls of a library's name, or None."""
    found: Transfer | None = _merged("TABLE").get(name)
    return found


def canonical(name: str) -> Value:
    """A library's name as a value: a constant, or `External` in its canonical spelling."""
    spelled = _spelled(name)
    constant: Value | None = _merged("CONSTANTS").get(spelled)
    return constant if constant is not None else External(spelled)


@cache
def _spelled(name: str) -> str:
    if (library := name.partition(".")[0]) in _LIBRARIES:
        _load(library)
    if name in aliases.NAMES:
        return aliases.NAMES[name]
    more: dict[str, str] = _merged("ALIASES")
    if name in more:
        return more[name]
    for prefix, target in aliases.MODULES.items():
        if name == prefix or name.startswith(f"{prefix}."):
            return _spelled(target + name[len(prefix) :])
    return name


def is_known(interpreter: Evaluator, name: str) -> bool:
    """Whether the libraries are known to have a name, JAX in the release that is assumed."""
    there = is_there(interpreter, name)
    if there is not None:
        return there
    spelled = _spelled(name)
    return spelled in _merged("TABLE") or spelled in _merged("CONSTANTS") or spelled in _prefixes()


#: Parts of the names of functions that meet shardings, but for what numpy has, too.
_ABOUT_SHARDING = re.compile(
    "harding|[Mm]esh|shard|artition|pmap|pjit|device_put|logical_|axis_rules|_axes$|psum|pmean|pmax|pmin|permute|"
    "pbroadcast|pshuffle|pswapaxes|pvary|pcast|all_gather|all_to_all|axis_index|axis_size|make_array_from"
)
_TELLING = frozenset({"get_abstract_mesh", "get_axis_rules", "get_logical_axis_rules"})


@cache
def sharding_names() -> frozenset[str]:
    """The last names of the functions and classes that are about sharding: only they can meet a use.

    Functions of arrays meet one by a sharding that they are given, or by what such a function made. What only
    tells of the surroundings meets none.
    """
    others = ("jax.numpy.", "numpy.", "jax.nn.", "optax.", "equinox.partition")
    ours = (name for name in _merged("TABLE") if not name.startswith(others))
    return frozenset(
        last
        for name in ours
        if _ABOUT_SHARDING.search(last := name.rpartition(".")[2]) is not None and last not in _TELLING
    ) | {"P", "PS", "xmap", "PARTITION_NAME", "metadata_params", "transform_metadata", "kernel_metadata"}


@cache
def layer_names() -> frozenset[str]:
    """The last names of what makes parameters: Flax's layers, ``self.param`` and its like."""
    layers = (name for name in _merged("TABLE") if name.startswith(("flax.linen.", "flax.nnx.")))
    classes = (last for name in layers if (last := name.rpartition(".")[2])[0].isupper())
    return frozenset(classes) | {"param", "variable", "init", "lazy_init"}


def names_under(module: str) -> Iterator[str]:
    """The names directly in a module that some table knows."""
    prefix = _spelled(module) + "."
    for name in _merged("TABLE"):
        if name.startswith(prefix) and "." not in name[len(prefix) :]:
            yield name[len(prefix) :]


# -- objects ----------------------------------------------------------------------------------------


def object_call(kind: str) -> Transfer | None:
    """What calling an object of a library's class does, or None."""
    found: Transfer | None = _merged("CALLS").get(kind)
    return found


def delegate(value: Value) -> Value:
    """The value an object stands for in operators and indexing (`nnx.Param` for its array)."""
    if isinstance(value, LibraryObject):
        field = _merged("DELEGATES").get(value.kind)
        if field is not None:
            return value.fields.get(field, Unknown(f"the value of {value.kind}"))
    if isinstance(value, Tuple) and any(isinstance(item, Instance) for item in value.items):
        # Sizes and names of axes may be members of enumerations.
        return replace(value, items=tuple(map(delegate, value.items)))
    return (stands_for(value) or value) if isinstance(value, Instance) else value


def as_argument(value: Value) -> Value:
    """What JAX and numpy get as an argument: the array a variable stands for. A tree keeps its class."""
    meant = delegate(value)
    return value if isinstance(meant, DictValue) else meant


def children(value: LibraryObject) -> tuple[str, ...] | None:
    """The fields that hold a pytree's children; None for those that hold data, whichever these are."""
    found: tuple[str, ...] | None = _merged("CHILDREN").get(value.kind, ())
    return found


def object_item(interpreter: Evaluator, receiver: LibraryObject, key: Value, place: Place) -> Value:
    """``receiver[key]`` for an object of a library's class."""
    from shardlint.inference.overlays.array_methods import at_index

    if receiver.kind == "jax.Array.at":
        return at_index(receiver, key)
    method = _merged("METHODS").get((receiver.kind, "__getitem__"))
    if method is not None:
        return interpreter.call(Native(f"{receiver.kind}.__getitem__", method), [receiver, key], {}, place)
    meant = delegate(receiver)
    if meant is receiver:
        return Unknown(f"indexed a {receiver.kind}")
    return interpreter.item(meant, key, place)


def object_attribute(interpreter: Evaluator, value: Value, name: str, place: Place) -> Value:
    """``value.name`` for arrays, devices, meshes, specs, shardings and library objects."""
    if isinstance(value, Array):
        from shardlint.inference.overlays.array_attributes import array_attribute

        return array_attribute(interpreter, value, name)
    if isinstance(value, Devices):
        return _devices_attribute(value, name)
    if isinstance(value, MeshValue):
        from shardlint.inference.overlays.mesh_values import mesh_attribute

        return mesh_attribute(interpreter, value, name, place)
    if isinstance(value, SpecValue):
        from shardlint.inference.overlays.jax_specs import spec_attribute

        return spec_attribute(interpreter, value, name, place)
    if isinstance(value, ShardingValue):
        from shardlint.inference.overlays.jax_sharding import sharding_attribute

        return sharding_attribute(interpreter, value, name, place)
    assert isinstance(value, LibraryObject)
    return _library_attribute(interpreter, value, name, place)


def _devices_attribute(value: Devices, name: str) -> Value:
    from shardlint.inference.overlays import devices
    from shardlint.inference.overlays.jax_devices import reshape_devices

    if name == "reshape":
        return Bound(Native("reshape", reshape_devices), value)
    if name in devices.ATTRIBUTES:
        found = devices.ATTRIBUTES[name](value)
        return replace(found, origin=value.origin) if isinstance(found, Devices) else found
    if name in devices.METHODS:
        return Bound(Native(name, devices.METHODS[name]), value)
    return Unknown(f"attribute `{name}` of devices")


def _library_attribute(interpreter: Evaluator, value: LibraryObject, name: str, place: Place) -> Value:
    if value.kind == "builtins.super":
        from shardlint.inference.overlays.py_objects import super_attribute

        return super_attribute(interpreter, value, name, place)
    reader = _merged("ATTRIBUTES").get(value.kind)
    found: Value | None = reader(value, name) if reader is not None else value.fields.get(name)
    if found is not None:
        return found
    own = value.fields.get("__class__")
    if isinstance(own, ClassValue) and class_attribute(own, name) is not None:
        return Unknown(f"`{own.name}.{name}` is not followed")
    method = _merged("METHODS").get((value.kind, name))
    if method is not None:
        return Bound(Native(f"{value.kind}.{name}", method), value)
    stands_for = delegate(value)
    if stands_for is not value:
        return interpreter.attribute(stands_for, name, place)
    return Unknown(f"`{value.kind}.{name}`")


# -- classes of the program that derive from a library's ------------------------------------------------


@cache
def followed_bases() -> frozenset[str]:
    """Library classes whose instances hold nothing else than is seen."""
    return _TRANSPARENT_BASES | frozenset(_merged("BASES"))


def base_class(base: Value) -> Value:
    """A base of a class: one of a library's that is followed as a class of its own."""
    make = _merged("BASES").get(base.name) if isinstance(base, External) else None
    made: Value = base if make is None else make()
    return made


def hides_attributes(bases: frozenset[str]) -> bool:
    """Whether instances of these library classes have attributes that are not followed."""
    return not _merged("BASES").keys().isdisjoint(bases)


def made_instance(call: Call, cls: ClassValue, bases: frozenset[str]) -> Value | None:
    """What calling a class of the program makes where that is no `Instance`, else None."""
    for base in bases & _merged("INSTANCES").keys():
        found: Value | None = _merged("INSTANCES")[base](call, cls)
        if found is not None:
            return found
    return None


def instance_attribute(base: str, value: Instance, name: str) -> Value | None:
    """An attribute that an instance inherits from a library's class, or None."""
    method = _merged("METHODS").get((base, name))
    return Bound(Native(f"{base}.{name}", method), value) if method is not None else None


def created(interpreter: Evaluator, instance: Instance, bases: frozenset[str]) -> None:
    """Tell the overlays of an instance's library bases that it was made."""
    for base in bases:
        hook = _merged("CREATED").get(base)
        if hook is not None:
            hook(interpreter, instance)


def method_context(
    interpreter: Evaluator, instance: Instance, bases: frozenset[str], place: Place
) -> AbstractContextManager[object]:
    """What a method of such an instance runs inside."""
    for base in bases:
        hook = _merged("METHOD_CONTEXTS").get(base)
        if hook is not None:
            context: AbstractContextManager[object] = hook(interpreter, instance, place)
            return context
    return nullcontext()

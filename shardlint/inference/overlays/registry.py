"""The merged tables of all overlays, and the canonical names of library objects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from shardlint.inference.domain.values import External, LibraryObject, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.release_queries import is_there
from shardlint.inference.overlays import aliases
from shardlint.inference.overlays.internal_names import INTERNAL, public_names, shared_name

if TYPE_CHECKING:
    from shardlint.inference.evaluation.evaluator import Evaluator

T = TypeVar("T")
Transfer = Callable[[Call], Value]

#: The overlays that most programs need, in order: those of Python, numpy and JAX.
_BASE = (
    "python.builtins.functions", "python.stdlib.environment", "python.stdlib.versions",
    "python.stdlib.collections", "python.builtins.iterators", "python.stdlib.itertools",
    "python.builtins.objects", "python.builtins.derived_classes",
    "python.stdlib.dataclasses", "python.stdlib.enums", "python.stdlib.records",
    "python.stdlib.function_caches", "python.builtins.descriptors", "python.builtins.namespaces",
    "python.stdlib.literals",
    "python.stdlib.regex", "python.stdlib.imports", "python.stdlib.mocks", "jax.tree_paths",
    "numpy.functions", "numpy.types", "jax.numpy",
    "jax.lax.functions", "jax.lax.linalg",
    "jax.lax.convolution", "jax.lax.gathers", "jax.lax.control_flow", "jax.lax.linear_solvers",
    "jax.nn", "jax.random", "jax.initializers", "jax.tree",
    "jax.sharding.specs", "jax.sharding.shardings", "jax.sharding.meshes", "jax.sharding.devices",
    "jax.configuration", "jax.callbacks",
    "jax.sharding.mesh_contexts", "jax.transforms.jit", "jax.shard_map.api",
    "jax.shard_map.collectives", "jax.transforms.function_transforms",
    "jax.differentiation.custom_derivatives", "jax.differentiation.derivatives",
    "jax.numerics.scipy_linalg", "jax.numerics.segments", "jax.numerics.images", "jax.numerics.flat_trees",
    "jax.numerics.special", "jax.numerics.distributions", "jax.numerics.scipy_signal",
    "jax.sharding.placement", "jaxtyping",
    "jax.explicit.axis_switches", "jax.explicit.forbidden_collectives", "arrays.attributes",
    "jax.sharding.mesh_attributes",
)  # fmt: skip
_TESTING = ("testing.pytest", "testing.unittest", "testing.parameterized")
_RUNNERS = ("command_lines.runners",)
#: Words of programs that name another memory than that of the devices.
MEMORY_WORDS = ("pinned_host", "memory.Space")
#: Overlays of other libraries, by the first word of their names: loaded when a program contains that word.
_LIBRARIES = {
    "flax": (
        "flax.common.boxes", "flax.common.derived_classes", "flax.linen.module", "flax.linen.lifted",
        "flax.logical.constraints", "flax.logical.rules",
        "flax.logical.param_with_axes", "flax.nnx.module", "flax.common.training",
        "flax.pmap.device_copies", "flax.pmap.batch_helpers", "flax.common.state_dicts",
    ),
    "optax": (
        "optax.factored", "optax.losses", "optax.state_classes", "optax.states", "optax.trees",
        "optax.wrappers",
    ),
    "equinox": ("equinox.modules",),
    "einops": ("einops",),
    **dict.fromkeys(("threading", "concurrent"), ("python.stdlib.threads",)),
    "orbax": ("orbax",),
    "pytest": _TESTING,
    "unittest": _TESTING,
    "absl": (*_TESTING, "command_lines.flags"),
    "argparse": ("command_lines.argument_parsers",),
    **dict.fromkeys(
        ("click", "typer", "fire", "tyro", "jsonargparse", "draccus", "pyrallis", "chz", "transformers"),
        _RUNNERS,
    ),
    "simple_parsing": (*_RUNNERS, "command_lines.argument_parsers"),
    "omegaconf": ("configurations.omegaconf",),
    "hydra": ("configurations.omegaconf", "configurations.hydra"),
    "_src": ("jax.internal_functions",),
    "multihost_utils": ("jax.multihost",),
    **dict.fromkeys(MEMORY_WORDS, ()),
    "test_util": (*_TESTING, "testing.jax_test_util"),
}  # fmt: skip
_loaded: set[str] = set()
_tables: defaultdict[str, dict[Any, Any]] = defaultdict(dict)
_NAMES_OF_TABLES = (
    "TABLE", "CONSTANTS", "ALIASES", "CALLS", "ATTRIBUTES", "METHODS", "CREATED", "METHOD_CONTEXTS", "BASES",
    "INSTANCES", "CHILDREN", "DELEGATES", "AROUND", "READERS", "DEFAULTS", "LINEAGES",
)  # fmt: skip

#: Functions that clear the caches of what is derived from all tables.
_derived: list[Callable[[], None]] = []


def derived(found: Callable[[], T]) -> Callable[[], T]:
    """Cache what is derived from all tables, until the overlays of another library are loaded."""
    cached = cache(found)
    _derived.append(cached.cache_clear)
    return cached


def load_mentioned(text: str) -> bool:
    """Load the overlays of the libraries that a text mentions; return whether any was not loaded before."""
    new = [library for library in _LIBRARIES if library not in _loaded and library in text]
    for library in new:
        _load(library)
    return bool(new)


def loaded() -> frozenset[str]:
    """Return the libraries whose overlays are loaded. Everything derived from all tables depends on them."""
    return frozenset(_loaded)


def names_memory() -> bool:
    """Return whether a program names another memory than that of the devices."""
    return not _loaded.isdisjoint(MEMORY_WORDS)


def _load(library: str) -> None:
    if library in _loaded:
        return
    _load_base()
    _loaded.add(library)
    for name in _LIBRARIES[library]:
        _take_in(name)
    for forget in _derived:
        forget()


def _take_in(name: str) -> None:
    module = import_module(f"{__package__}.{name}")
    for table in _NAMES_OF_TABLES:
        _tables[table].update(getattr(module, table, {}))


@cache
def merged(table: str) -> dict[Any, Any]:
    """Return one table, merged from all loaded overlays."""
    _load_base()
    return _tables[table]


@cache
def _load_base() -> None:
    for name in _BASE:
        _take_in(name)
    table = _tables["TABLE"]
    for name, put_around in _tables["AROUND"].items():
        table[name] = put_around(table[name])


@derived
def _prefixes() -> frozenset[str]:
    """Return every module path above a name in a table."""
    found: set[str] = set()
    for name in (*merged("TABLE"), *merged("CONSTANTS"), *aliases.NAMES, *aliases.MODULES):
        while "." in name:
            name = name.rpartition(".")[0]
            found.add(name)
    return frozenset(found)


def knows_library(library: str) -> bool:
    """Return whether overlays know anything of a library."""
    return library in _LIBRARIES or library in _prefixes()


def transfer(name: str) -> Transfer | None:
    """Return the function that evaluates calls of a library's name, or None."""
    found: Transfer | None = merged("TABLE").get(name)
    return found


def canonical(name: str) -> Value:
    """Return a library's name as a value: a constant, or `External` in its canonical spelling."""
    spelled = _spelled(name)
    constant: Value | None = merged("CONSTANTS").get(spelled)
    return constant if constant is not None else External(spelled)


@cache
def _spelled(name: str) -> str:
    if (library := name.partition(".")[0]) in _LIBRARIES:
        _load(library)
    if name in aliases.NAMES:
        return aliases.NAMES[name]
    more: dict[str, str] = merged("ALIASES")
    if name in more:
        return more[name]
    for prefix, target in aliases.MODULES.items():
        if name == prefix or name.startswith(f"{prefix}."):
            return _spelled(target + name[len(prefix) :])
    if name.startswith(INTERNAL):
        if (shared := shared_name(name)) is not None:
            return shared
        public = map(_spelled, public_names(name))
        return next((one for one in public if one in merged("TABLE") or one in merged("CONSTANTS")), name)
    return name


def is_known(interpreter: Evaluator, name: str) -> bool:
    """Return whether the libraries certainly have a name; JAX in the assumed release."""
    there = is_there(interpreter, name)
    if there is not None:
        return there
    spelled = _spelled(name)
    return spelled in merged("TABLE") or spelled in merged("CONSTANTS") or spelled in _prefixes()


def names_under(module: str) -> Iterator[str]:
    """Yield the names directly in a module that are in a table."""
    prefix = _spelled(module) + "."
    for name in merged("TABLE"):
        if name.startswith(prefix) and "." not in name[len(prefix) :]:
            yield name[len(prefix) :]


def children(value: LibraryObject) -> tuple[str, ...] | None:
    """Return the fields with a pytree's children; None if the children are all fields that hold data."""
    found: tuple[str, ...] | None = merged("CHILDREN").get(value.kind, ())
    return found


@derived
def _classes_with_lineage() -> frozenset[str]:
    """Return every class that a table of lineages lists."""
    return frozenset(name for names in merged("LINEAGES").values() for name in names)


def has_lineage(kind: str) -> bool:
    """Return whether the classes are listed of which objects of a kind are instances."""
    return kind in merged("LINEAGES")


def is_of_library_class(kind: str | None, name: str) -> bool | None:
    """Return whether an object of a kind is an instance of a library's class, whose own ancestors are listed;
    of no kind is what certainly derives from no class that is listed. None: not known."""
    lineages: dict[str, tuple[str, ...]] = merged("LINEAGES")
    listed = _spelled(name) in _classes_with_lineage()
    if kind is None:
        return False if listed else None
    own = lineages.get(kind)
    return None if own is None or not listed else _spelled(name) in own

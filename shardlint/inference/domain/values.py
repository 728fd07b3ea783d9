"""Abstract values: what the evaluator knows of each value a program computes.

Frozen values compare by content; lists, dicts and instances have identity, since programs mutate them, and a
number (``born``). ``origin`` is where a value was written, and does not count in equality.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Union

from shardlint.inference.domain.histories import Gathered, Gone, Joints, Product
from shardlint.inference.store.effect_log import born
from shardlint.laws.core.array_types import TypeSharding
from shardlint.laws.core.dims import Dim, Expr, Shape
from shardlint.laws.core.values import Mesh, Spec, Unknown
from shardlint.laws.transforms.traits import NO_TRAITS, Traits
from shardlint.laws.transforms.varying import Variation
from shardlint.model.spans import Place
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.inference.evaluation.call import OnCall

MAX_ALTERNATIVES = 8
Numbers = int | float | tuple[int | float, ...]  # A scalar, or a vector.


@dataclass(frozen=True, slots=True)
class Generated(Unknown):
    """The items that a generator's body yielded, each with the `Context` of its yield.

    ``sure`` if these are exactly the items, in this order; an ``endless`` one continues like that.
    ``uses_before`` is the number of uses recorded before each.
    """

    yields: tuple[tuple[Value, Any], ...] = field(default=(), compare=False)
    sure: bool = field(default=False, compare=False)
    endless: bool = field(default=False, compare=False)
    uses_before: tuple[int, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Missing(Unknown):
    """The result of reading a missing attribute, unless unknown code has set it."""


@dataclass(frozen=True, slots=True)
class Never(Unknown):
    """The result of a call that does not return: it raises, or skips the test."""


@dataclass(frozen=True, slots=True)
class Const:
    """A Python constant: None, bool, int, float, complex, str, bytes or ``...``; also results of `re`.

    ``key`` is the name by which it was looked up: ``getattr(rules, name)``, ``rules[name]``.
    """

    value: Any
    origin: Place | None = field(default=None, compare=False)
    key: Const | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer whose value is symbolic (``x.shape[0]``, ``len(jax.devices())``)."""

    dim: Expr
    origin: Place | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Tuple:
    """A tuple. ``fields`` names the items of a namedtuple, ``cls`` is its class if the program's."""

    items: tuple[Value, ...]
    origin: Place | None = field(default=None, compare=False)
    fields: tuple[str, ...] | None = None
    cls: ClassValue | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Sized(Unknown):
    """An unknown value that is ``dim`` if it is a size at all, as the user states of its name.

    It counts only where an integer is required (`as_size`). Values computed from it are unknown.
    """

    dim: Dim = field(compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Reader(Unknown):
    """An unknown library object whose methods do not mutate their arguments, such as a logger."""


@dataclass(frozen=True, slots=True)
class SomeMesh(Unknown):
    """An unknown mesh that is set and has axes."""


@dataclass(eq=False, slots=True)
class ListValue:
    """A list, a range or a deque, as ``kind`` says. ``items`` is None once an operation on it was not
    followed; ``path`` is the branch on which it was created: changes on another branch are not followed."""

    items: list[Value] | None
    origin: Place | None = None
    path: tuple[int, ...] = ()
    kind: str = "list"
    born: int = field(default_factory=born, init=False, repr=False)


@dataclass(eq=False, slots=True)
class DictValue:
    """A dict with known, hashable keys. ``items`` is None once an operation on it was not followed.

    ``kind`` is its class in `collections`, if it is not a plain dict; ``default`` creates the value of a
    missing key, and is a constant if that adds no key.
    """

    items: dict[Hashable, Value] | None
    origin: Place | None = None
    path: tuple[int, ...] = ()
    kind: str = "dict"
    default: Value | None = None
    born: int = field(default_factory=born, init=False, repr=False)


@dataclass(eq=False, slots=True)
class SetValue:
    """A set of known constants, or a ``frozen`` one; ``items`` and ``path`` as for `ListValue`."""

    items: frozenset[Any] | None
    origin: Place | None = field(default=None, compare=False)
    frozen: bool = False
    path: tuple[int, ...] = ()
    born: int = field(default_factory=born, init=False, repr=False)


@dataclass(frozen=True, slots=True)
class Slice:
    """``start:stop:step`` inside brackets; ``single`` if it takes one item: ``i:i + 1``."""

    start: Value
    stop: Value
    step: Value
    single: bool = False


@dataclass(frozen=True, slots=True)
class Array:
    """An array, or its `jax.ShapeDtypeStruct`.

    ``shape`` is None when even the rank is unknown. ``dtype`` is a numpy-style name (``bfloat16``) or None;
    ``weak`` is JAX's weak type. ``numpy`` tells a numpy array from a JAX one. ``sharding`` is what it was
    placed with; ``name`` is what the user calls it. ``typed`` is the sharding in its type, None where that is
    not known. Inside shard_map ``varying`` are mesh axes that it varies over for sure, ``may_vary`` all that
    it may vary over (None: any), ``equal`` and ``traits`` as in `laws.varying.Variation`; ``summed`` are axes
    that JAX summed it over, being a gradient; ``drawn_at`` is where it was drawn at random, or counted;
    ``indexed`` the axes of an `axis_index`, where it names them in another order than the specs, and its
    stride. ``laid`` is its certain layout inside jit, on Auto axes, ``columns`` of a product whose weight
    splits its columns, ``gathered`` the constraint that gathered its rows, or those of what it was computed
    from, ``product`` what was multiplied, if its elements are a product's; ``made`` is where it was made from
    no other array, or the jit that returned it. ``committed`` is where it lies outside jit surely, a sharding
    (then also its ``sharding``) or devices, as the program put it there, or what it was computed from.
    ``gone`` is the donation that deleted it, ``joined`` where it was joined of several, ``memory`` the space
    in its type. ``numbers`` are those in a numpy scalar or vector.
    """

    shape: Shape | None
    dtype: str | None = None
    weak: bool = False
    numpy: bool = False
    sharding: ShardingValue | None = field(default=None, compare=False)
    struct: bool = False
    origin: Place | None = field(default=None, compare=False)
    name: str | None = field(default=None, compare=False)
    varying: frozenset[str] = frozenset()
    typed: TypeSharding | None = None
    committed: ShardingValue | Devices | None = None
    may_vary: frozenset[str] | None = None
    equal: frozenset[str] = frozenset()
    summed: frozenset[str] = frozenset()
    traits: Traits = NO_TRAITS
    drawn_at: Place | None = field(default=None, compare=False)
    indexed: tuple[tuple[str, ...], Place, int] | None = field(default=None, compare=False)
    laid: ShardingValue | None = field(default=None, compare=False)
    columns: ShardingValue | None = field(default=None, compare=False)
    gathered: Gathered | None = field(default=None, compare=False)
    product: Product | None = field(default=None, compare=False)
    made: Place | None = field(default=None, compare=False)
    gone: Gone | None = None
    joined: Joints | None = None
    memory: str | None = None
    numbers: Numbers | None = None

    @property
    def variation(self) -> Variation:
        """Return the mesh axes over which it varies."""
        return Variation(self.varying, self.may_vary, self.equal, self.traits)

    def vary(self, variation: Variation, summed: frozenset[str] = frozenset()) -> Array:
        """Return the same array with this variation."""
        # `replace` inspects each field, and most results come through here.
        return Array(
            self.shape, self.dtype, self.weak, self.numpy, self.sharding, self.struct, self.origin, self.name,
            variation.surely, self.typed, self.committed, variation.perhaps, variation.equal, summed,
            variation.traits, self.drawn_at, joined=self.joined, memory=self.memory, numbers=self.numbers,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Devices:
    """A list (``numpy`` false) or numpy array of JAX devices; ``shape`` as numpy would say. ``ids`` are their
    places in `jax.devices()`, in C order, if known. Of an array that was put on this one, ``collected`` has
    its name, over how many devices it was split, and the call, ``typed`` the Explicit mesh in its type."""

    shape: Shape
    numpy: bool = False
    origin: Place | None = field(default=None, compare=False)
    ids: tuple[int, ...] | None = None
    collected: tuple[str, int, Place] | None = field(default=None, compare=False)
    typed: Mesh | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class MeshValue:
    """A mesh. ``name`` is the variable that holds it; ``ids`` are its devices', as in `Devices`; ``entered``
    is where it was set, if it is the one in force."""

    mesh: Mesh
    origin: Place | None = field(default=None, compare=False)
    name: str | None = field(default=None, compare=False)
    ids: tuple[int, ...] | None = None
    entered: Place | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class SpecValue:
    """A `PartitionSpec`; ``places`` holds one place an entry, where it has one."""

    spec: Spec
    origin: Place | None = field(default=None, compare=False)
    places: tuple[Place | None, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class ShardingValue:
    """A `NamedSharding`; either half may be unknown. ``memory`` names another than the device's, "" any."""

    mesh: MeshValue | Unknown
    spec: SpecValue | Unknown
    origin: Place | None = field(default=None, compare=False)
    memory: str | None = None


@dataclass(frozen=True, slots=True)
class External:
    """A name of a library, by its canonical qualified name (``jax.numpy.zeros``)."""

    name: str
    origin: Place | None = field(default=None, compare=False)


@dataclass(eq=False, slots=True)
class Native:
    """A callable made by an overlay: ``jit(f)``, ``shard_map(f, ...)``, ``x.reshape``.

    ``call`` evaluates a call of it; ``wraps`` is the function it transforms, if any. ``whole`` tells of a
    call whether it is evaluated just once where arguments may be several values: if nothing is asked of them.
    """

    description: str
    call: OnCall[Value]
    wraps: Value | None = None
    origin: Place | None = None
    attributes: dict[str, Value] = field(default_factory=dict)
    whole: OnCall[bool] | None = None
    born: int = field(default_factory=born, init=False, repr=False)


@dataclass(eq=False, slots=True)
class LibraryObject:
    """An instance of a library class that an overlay understands (``nn.Dense(8)``).

    ``fields`` holds what the overlay needs of the constructor's arguments and may be added to. ``path`` is
    the branch an iterator was made in, ``drawn`` the last one on which it gave an item (see `iterators`).
    """

    kind: str
    fields: dict[str, Value]
    origin: Place | None = None
    path: tuple[int, ...] = ()
    drawn: tuple[int, ...] | None = None
    born: int = field(default_factory=born, init=False, repr=False)


@dataclass(eq=False, slots=True)
class Function:
    """A function of the program: ``code`` is the evaluator's own (`interpreter.Code`).

    ``opaque``: it may run other code, or with other defaults; ``renamed``: it has another name;
    ``wrapped``: what `functools.wraps` says that it wraps.
    """

    name: str
    code: Any
    scope: Any
    defaults: dict[str, Value] = field(default_factory=dict)
    owner: ClassValue | None = None
    origin: Place | None = None
    opaque: bool = False
    renamed: bool = False
    wrapped: Value | None = None


@dataclass(frozen=True, slots=True)
class Bound:
    """A method with its object."""

    function: Value
    receiver: Value
    origin: Place | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Partial:
    """`functools.partial(function, *args, **kwargs)`; ``places`` are those of `Call.arg_places`."""

    function: Value
    args: tuple[Value, ...]
    kwargs: tuple[tuple[str, Value], ...]
    origin: Place | None = field(default=None, compare=False)
    places: tuple[tuple[int | str, Place], ...] = field(default=(), compare=False)


@dataclass(eq=False, slots=True)
class ClassValue:
    """A class of the program. ``fields`` are annotated names in order, ``annotations`` what is written of
    them, ``types`` what that says of arrays, and where. ``module`` defines it, on the branch ``path``.
    ``lineage`` is its method resolution order, ``libraries`` an order with the names of the library classes
    in it, once asked. ``nodes`` are the fields with a pytree node's children, Unknown where not followed,
    None without a decorator that says. ``members`` are an enumeration's, ``metaclass`` is the program's.
    ``opaque``: it may have any attributes. ``intercepts``: an object's need not be what it holds.
    ``volatile`` ones may change unseen."""

    name: str
    bases: tuple[Value, ...]
    attributes: dict[str, Value]
    fields: dict[str, Value | None] = field(default_factory=dict)
    dataclass: bool = False
    origin: Place | None = None
    module: Any = None
    path: tuple[int, ...] = ()
    types: dict[str, tuple[Value, Place]] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    lineage: tuple[Value, ...] = ()
    libraries: tuple[tuple[Value, ...], frozenset[str]] | None = None
    nodes: tuple[str, ...] | Unknown | None = None
    members: dict[str, Instance] | None = None
    metaclass: Value | None = None
    opaque: bool = False
    intercepts: bool = False
    volatile: set[str] = field(default_factory=set)
    born: int = field(default_factory=born, init=False, repr=False)


@dataclass(eq=False, slots=True)
class Instance:
    """An instance of a class of the program. ``opaque``: unknown code may have set attributes;
    ``forgotten``: also such as its class defines.
    """

    cls: ClassValue
    attributes: dict[str, Value]
    opaque: bool = False
    origin: Place | None = None
    path: tuple[int, ...] = ()
    forgotten: bool = False
    born: int = field(default_factory=born, init=False, repr=False)


@dataclass(eq=False, slots=True)
class ModuleValue:
    """A module of the project (`interpreter.ModuleRun`)."""

    name: str
    run: Any


#: The identity of a test: the number of its scope or its own number, its text, and what it reads.
Test = tuple[Any, ...]
#: A condition: tests with their outcomes, and what is compared with constants, with the set of those that it
#: may be.
Tag = frozenset[tuple[Test, Hashable]]


@dataclass(frozen=True, slots=True)
class Alternatives:
    """One of several values, at most `MAX_ALTERNATIVES`; never nested.

    ``tags`` holds, for each, the branches it comes from: values of one test's other branch never meet it.
    """

    options: tuple[Value, ...]
    origin: Place | None = field(default=None, compare=False)
    tags: tuple[Tag, ...] = field(default=(), compare=False)


Value = Union[
    Const, Integer, Tuple, ListValue, DictValue, SetValue, Slice, Array, Devices, MeshValue,
    SpecValue, ShardingValue, External, Native, LibraryObject, Function, Bound, Partial, ClassValue,
    Instance, ModuleValue, Alternatives, Unknown,
]  # fmt: skip

NONE = Const(None)


def integer(dim: Dim, origin: Place | None = None) -> Const | Integer:
    """Return the integer value of a dimension."""
    return Const(dim, origin) if isinstance(dim, int) else Integer(dim, origin)


def as_dim(value: Value | None) -> Dim | None:
    """Return an integer value as a dimension, or None. Booleans do not count."""
    if isinstance(value, Integer):
        return value.dim
    if isinstance(value, Const) and isinstance(value.value, int) and not isinstance(value.value, bool):
        return value.value
    if isinstance(value, Array) and isinstance(value.numbers, int) and value.dtype == "int64":
        return value.numbers
    return None


def as_size(value: Value | None) -> Dim | None:
    """Return the dimension of a value used where an integer is required, or None."""
    return value.dim if isinstance(value, Sized) else as_dim(value)


def unsized(value: Unknown) -> Unknown:
    """Return an unknown value derived from another: distinct in tests, and without a size."""
    return Unknown(value.reason) if isinstance(value, Sized) else replace(value)


def as_int(value: Value | None) -> int | None:
    """Return a known integer, or None."""
    dim = as_dim(value)
    return dim if isinstance(dim, int) else None


def as_str(value: Value | None) -> str | None:
    """Return a known string, or None."""
    return value.value if isinstance(value, Const) and isinstance(value.value, str) else None


def as_bool(value: Value | None) -> bool | None:
    """Return a known boolean, or None."""
    return value.value if isinstance(value, Const) and isinstance(value.value, bool) else None


def is_none(value: Value | None) -> bool:
    """Return whether the value is the constant None."""
    return isinstance(value, Const) and value.value is None


def looked_up(found: Value, key: Value | None) -> Value:
    """Return a value found by a name, with that name attached."""
    if isinstance(found, Const) and isinstance(key, Const) and isinstance(key.value, str):
        return replace(found, key=key)
    return found


def as_items(value: Value | None) -> tuple[Value, ...] | None:
    """Return the items of a known tuple or list, or None."""
    if isinstance(value, Tuple):
        return value.items
    if isinstance(value, ListValue) and value.items is not None:
        return tuple(value.items)
    return None


def as_shape(value: Value | None) -> Shape | None:
    """Return a shape from a tuple or list of integers or one integer, or None."""
    if (dim := as_size(value)) is not None:
        return (dim,)
    if isinstance(value, Array) and isinstance(value.numbers, tuple) and value.dtype == "int64":
        return tuple(n for n in value.numbers if isinstance(n, int))
    items = as_items(value)
    if items is None:
        return None
    dims = [as_size(item) for item in items]
    return None if any(d is None for d in dims) else tuple(d for d in dims if d is not None)


def shape_value(shape: Shape) -> Tuple:
    """Return ``x.shape`` as a value."""
    return Tuple(tuple(integer(dim) for dim in shape))

"""Uses: the results of inference, and the only thing rules look at.

A use is one call of a sharding API, or one operation on sharded arrays, as reached from one caller. It holds
the bound arguments, the environment, the source of each fact, and the verdict of JAX's laws. A value that is
not known is an `Unknown`.
"""

from __future__ import annotations

from dataclasses import field

from shardlint.laws.core.array_types import ArrayType
from shardlint.laws.core.dims import Dim, Shape
from shardlint.laws.core.values import Data, Junk, Mesh, Spec, Unknown
from shardlint.laws.core.verdicts import Api, Undecided, Verdict
from shardlint.laws.flax.logical_axes import Mistake
from shardlint.laws.versions import ASSUMED, Release
from shardlint.model.spans import Place
from shardlint.support.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Fact:
    """Something inference learned, in words, and its place; ``mesh`` is set if it is about that mesh.

    ``kind`` is ``call`` for a call that leads there, ``shape`` for the place that gives an array its shape,
    ``use`` for the place where a spec that is written elsewhere is used.
    """

    message: str
    place: Place
    mesh: Mesh | None = None
    kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """The context of a use.

    ``context_mesh`` is the mesh of `jax.set_mesh`: None when there is none, Unknown when it is the caller's.
    ``bound_axes`` are the axis names a collective may use, with their sizes, or Unknown. ``mapped`` is true
    inside a transform such as `vmap` or `scan`, where arrays are single examples or layers of larger ones.
    ``caught`` names the exception classes that an enclosing ``try`` catches, ``expected`` is true under
    ``pytest.raises``, and ``entry`` describes how the place is reached where that is not obvious.
    ``forbidden`` are the axes of `jax.sharding.no_collectives`. ``test``: a framework runs this as a test.
    """

    context_mesh: Mesh | Unknown | None = None
    in_jit: bool = False
    bound_axes: tuple[tuple[str, Dim], ...] | Unknown = ()
    mapped: bool = False
    caught: frozenset[str] = frozenset()
    expected: bool = False
    entry: str | None = None
    forbidden: frozenset[str] = frozenset()
    test: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """The fields that all uses share.

    ``variant`` of ``variants`` is the index of one of the possible values at this place. ``supposed`` values
    are hypothetical: they stand for something unknown, which may be any of them. ``doubted`` is true on a
    path that depends on an undecided test, and so may never run.
    """

    place: Place
    environment: Environment
    verdict: Verdict = Undecided("not judged")
    facts: tuple[Fact, ...] = ()
    variant: int = 0
    variants: int = 1
    supposed: bool = False
    doubted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecUse(Use):
    """``P(...)`` itself. ``entry_places`` holds one place for each entry, None where there is none.

    ``computed`` are the indices of the entries whose values are not written literally.
    """

    spec: Spec
    entry_places: tuple[Place | None, ...] = ()
    computed: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardingUse(Use):
    """``NamedSharding(mesh, spec)``."""

    mesh: Mesh | Unknown
    spec: Spec | Junk
    entry_places: tuple[Place | None, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement(Use):
    """A spec applied to an array by an API.

    ``subject`` is the array in the user's words (``kernel``, ``argument 0 of `step```); ``raw`` is true for a
    bare ``P`` that takes its mesh from the context. ``spec`` is Junk where the argument is not a spec at all.
    ``dtype`` is a numpy-style name. ``held`` is the array's present sharding on that mesh, None where it is
    not known. ``made_at`` is the call of a jitted function that made the array whole. ``beside`` is true
    where the placing code also creates the spec, or is nested in a function that does. ``spec_place`` is
    where the spec is made.
    """

    api: Api
    mesh: Mesh | Unknown | None
    spec: Spec | Junk | Unknown
    shape: Shape | Unknown
    dtype: str | None = None
    subject: str = "the array"
    raw: bool = False
    held: Spec | None = None
    made_at: Place | None = None
    entry_places: tuple[Place | None, ...] = ()
    beside: bool = False
    spec_place: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BareTreeUse(Use):
    """A tree without boxes of which linen's names are asked (`nn.get_partition_spec`).

    ``leaves`` are its arrays of known shape, each with the steps of its path.
    """

    function: str
    leaves: tuple[tuple[tuple[str, ...], Shape], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArityUse(Use):
    """Specs or shardings for a function's arguments or results: the number given, and the number expected.

    ``function`` is the name of the wrapped function. ``mismatch`` describes a difference of two trees other
    than their number of leaves: a list of specs for a tuple of arguments, keys that differ.
    """

    api: Api
    function: str
    given: int = 0
    due: int = 0
    mismatch: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveUse(Use):
    """A collective such as ``lax.psum(x, axes)``; the bound axes are in the environment.

    ``varying`` are the axes that its array is known to vary over, where one is judged. ``silent`` describes
    the surely unintended effect of an accepted call; of a rejected call, that of the releases that accept it.
    """

    function: str
    axes: tuple[str, ...]
    shape: Shape | Unknown = Unknown("not inferred")
    arguments: tuple[tuple[str, object], ...] = ()
    axis_places: tuple[Place | None, ...] = ()
    varying: frozenset[str] | None = None
    silent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationUse(Use):
    """An operation of jax.numpy or lax whose operands have shardings on Explicit axes in their types.

    ``function`` is the operation as users know it (``jnp.add``). ``call`` is the call as data, None where it
    is not completely known; ``out_sharding`` is its argument of that name. ``concrete`` tells that JAX
    refuses it of concrete arrays, which traced ones need not share.
    """

    function: str
    operands: tuple[ArrayType, ...]
    call: Data | None = None
    out_sharding: Spec | Unknown | None = None
    concrete: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CarryUse(Use):
    """The carry of a loop, the results of two branches, or an argument of a custom derivative and its
    cotangent: both types must be equal.

    ``function`` is ``scan``, ``while_loop``, ``cond``, …; ``path`` names the leaf of the carry (empty where
    the carry is a single array), ``before`` is its type when the loop begins (or in the first branch's
    result), ``after`` its type in the body's result (or in the other branch's). ``doubt`` is a condition
    under which alone JAX compares them.
    """

    function: str
    path: str
    before: ArrayType
    after: ArrayType
    doubt: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallUse(Use):
    """A call judged as a whole: JAX rejects its arguments, or the call does not have the intended effect.

    ``function`` is its canonical name; the verdict's ``detail`` states in words what JAX requires, ``silent``
    what an accepted call fails to do. ``call`` is the call as data, with its arguments' values, and
    ``repaired`` a call that JAX accepts; None where that is not completely known.
    """

    function: str
    call: Data | None = None
    repaired: Data | None = None
    silent: str | None = None


#: The function of a `CallUse` for trees that differ (`jax.tree.map_with_path`, too).
TREE_MAP = "jax.tree.map"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartUse(CallUse):
    """An operation in a body of shard_map that sees one device's part of a dimension only.

    ``axes`` split the dimension; ``alone``: it is a mistake only in a body that moves nothing along them.
    """

    axes: tuple[str, ...]
    alone: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadVariableUse(CallUse):
    """A layout that gets a name which nothing reads; ``local``: a variable of a function."""

    name: str
    local: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LogicalAxesUse(CallUse):
    """Logical axis names of Flax that the rules, or a lifted transform, do not handle as intended.

    ``library`` is ``linen`` or ``nnx``, ``mistake`` the kind of mistake and ``text`` the name, the rule or
    the rules at fault, as written. ``axes`` are the mesh axes in question, ``known`` the valid names,
    ``mesh_axes`` all mesh axes of the rules, or of the mesh.
    """

    library: str
    mistake: Mistake
    text: str
    axes: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    mesh_axes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MeshUse(Use):
    """A mesh or device array built by ``function`` (`Mesh`, `make_mesh`, `create_device_mesh`, …).

    ``shape`` is the device array's shape, ``names`` the axis names, ``devices`` their number. ``mentioned``
    are the axis names that occur elsewhere in the program's text, None where that is not known. ``written``
    are the sizes as the program writes them, where they are names, attributes or items.
    """

    function: str
    shape: Shape | Unknown
    names: tuple[str, ...] | Unknown | None = None
    devices: Dim | None = None
    names_place: Place | None = None
    shape_place: Place | None = None
    mentioned: frozenset[str] | None = None
    written: tuple[str | None, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterUse(Use):
    """A parameter that a Flax layer owns.

    ``owner`` is the layer or module in words (``nn.Dense``), ``owner_place`` the call that creates it (shared
    by all uses of one layer), ``name`` the parameter (``kernel``). ``names`` is the partitioning of the
    initializer: None when it has none, a str when a bare string was passed. ``logical`` names are those that
    rules translate; ``axes`` is their translation where the rules are known, ``path`` the parameter's path in
    the result of `init`. ``initializer_place`` is where an initializer received the names, which may be
    written elsewhere. ``state`` is true for what an optimizer, say, keeps of a parameter, ``copies`` times.
    """

    library: str
    owner: str
    owner_place: Place
    name: str
    shape: Shape | Unknown
    dtype: str | None = None
    names: Spec | str | Unknown | None = None
    names_place: Place | None = None
    entry_places: tuple[Place | None, ...] = ()
    mesh: Mesh | Unknown | None = None
    logical: bool = False
    axes: Spec | None = None
    path: tuple[str, ...] = ()
    initializer_place: Place | None = None
    state: bool = False
    copies: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiReference(Use):
    """A qualified name, or an argument (``f(x=)``), that exists only in some JAX releases.

    ``release`` is the one that was assumed. ``reached`` is false where only the text shows the reference: it
    may never run.
    """

    name: str
    release: Release = ASSUMED
    reached: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalUse(Use):
    """A parameter of a shard_map's body, or a variable that the body assigns, for an editor's hover.

    ``shape`` is that of the array on each device, Unknown where it is not an array of known shape.
    """

    name: str
    parameter: bool
    shape: Shape | Unknown
    dtype: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueUse(Use):
    """A name bound to a mesh, a spec, a sharding, or (with ``shape``) a placed array, for an editor's hover.

    Its facts state where mesh and spec are created.
    """

    name: str
    mesh: Mesh | None
    spec: Spec | None
    shape: Shape | None = None
    dtype: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayUse(Use):
    """A name bound to an array of known shape that the program has not placed, for an editor's hover."""

    name: str
    shape: Shape
    dtype: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NameUse(Use):
    """Two places that write one name, for an editor: the program compares them, or looks one up by the other.

    ``names`` are the texts; a text that is not a single literal is a plain str. ``logical`` names are those
    that Flax looks up in its rules.
    """

    names: tuple[str, str]
    logical: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternUse(Use):
    """A regular expression of the program, tried on the text ``subject``, None where that is not known.

    ``site`` is the call of ``method`` (``search``); ``anything`` is true if the expression also matches the
    empty text.
    """

    method: str
    pattern: str
    subject: str | None
    matched: bool
    anything: bool
    site: Place


#: The kind of problem of a file that was not analyzed, since the check ended before.
UNREACHED = "unreached"


@dataclass(frozen=True, slots=True)
class FileProblem:
    """Something wrong with a file itself: unreadable, not Python, too deep, a broken notebook.

    The answer to a ``reveal`` comment is also one, though nothing is wrong.
    """

    kind: str
    message: str
    place: Place
    facts: tuple[Fact, ...] = field(default=())

    @property
    def is_answer(self) -> bool:
        """Return whether this is information that was asked for, and not a problem."""
        return self.kind == "revealed"

    @property
    def leaves_open(self) -> bool:
        """Return whether part of the file was not analyzed."""
        return self.kind in ("cut-short", UNREACHED)

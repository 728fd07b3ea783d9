"""Uses: what inference found, and the only thing rules look at.

A use is one meeting of a program with a sharding API, as one caller reaches it. It holds the bound
arguments, the environment, where each fact came from, and JAX's verdict by the laws. What is not
known is an `Unknown`.
"""

from __future__ import annotations

from dataclasses import field

from shardlint.laws.core.array_types import ArrayType
from shardlint.laws.core.dims import Dim, Shape
from shardlint.laws.core.values import Data, Junk, Mesh, Spec, Unknown
from shardlint.laws.core.verdicts import Api, Undecided, Verdict
from shardlint.laws.flax.logical_axes import Mistake
from shardlint.laws.versions import NEWEST, Release
from shardlint.model.spans import Place
from shardlint.support.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Fact:
    """Something inference learned, in words, and where it stands; ``mesh`` if it is about that one."""

    message: str
    place: Place
    mesh: Mesh | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What surrounds a use.

    ``context_mesh`` is the mesh of `jax.set_mesh`: None when there is none, Unknown when it is the
    caller's. ``bound_axes`` are the axis names a collective may use, with their sizes, or Unknown.
    ``mapped`` is true where arrays are examples, or layers, of larger ones that a transform maps over.
    ``caught`` names the exception classes that an enclosing ``try`` catches, ``expected`` is true
    under ``pytest.raises``, and ``entry`` says how the place is reached when that is not plain.
    """

    context_mesh: Mesh | Unknown | None = None
    in_jit: bool = False
    bound_axes: tuple[tuple[str, Dim], ...] | Unknown = ()
    mapped: bool = False
    caught: frozenset[str] = frozenset()
    expected: bool = False
    entry: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """What all uses have. ``variant`` of ``variants``: one of the possible values met here.

    ``supposed`` values are not the program's: what is not known may be any of them. ``doubted`` tells that a
    test led here which is decided by what is not known: it may never come out so.
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
    """``P(...)`` itself. ``entry_places`` holds one place an entry, None where it has none.

    ``computed`` are the numbers of the entries whose values are not written in it.
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
    """A spec meets an array through an API.

    ``subject`` is the array in the user's words (``kernel``, ``argument 0 of `step```); ``raw`` is
    true for a bare ``P`` that takes its mesh from the context. ``spec`` is Junk
    when something else stands where a spec is meant. ``dtype`` is a numpy-style name. ``held``
    is how the array is sharded on that mesh already, None where that is not known. ``beside`` tells that the
    code that places the array makes the spec too, or stands in a function that does.
    """

    api: Api
    mesh: Mesh | Unknown | None
    spec: Spec | Junk | Unknown
    shape: Shape | Unknown
    dtype: str | None = None
    subject: str = "the array"
    raw: bool = False
    held: Spec | None = None
    entry_places: tuple[Place | None, ...] = ()
    beside: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ArityUse(Use):
    """Specs or shardings given for a function's arguments or results: how many, and how many are due.

    ``function`` is the name of the wrapped function. ``mismatch`` says in words where two trees
    differ when it is not their number: a list of specs for a tuple of arguments, keys that differ.
    """

    api: Api
    function: str
    given: int = 0
    due: int = 0
    mismatch: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveUse(Use):
    """``lax.psum(x, axes)`` and its kin; the axes it may use are in the environment.

    ``varying`` are axes that its array surely varies over, where one is judged; ``silent`` says what an
    accepted call does that is surely not meant, of a rejected one where JAX rejects it, if not everywhere.
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
    """Operands meet in jax.numpy or lax, and their types hold shardings on Explicit axes.

    ``function`` is the operation as users know it (``jnp.add``). ``call`` is the call as data, None where it
    is not wholly known; ``out_sharding`` is what it was given.
    """

    function: str
    operands: tuple[ArrayType, ...]
    call: Data | None = None
    out_sharding: Spec | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CarryUse(Use):
    """What a loop carries, or the results of two branches: both types must be equal.

    ``function`` is ``scan``, ``while_loop``, ``cond``, …; ``path`` names the leaf of the carry (empty where
    it is one array), ``before`` is its type as the loop begins (or the first branch's result), ``after``
    what the body returns (or the other branch).
    """

    function: str
    path: str
    before: ArrayType
    after: ArrayType


@dataclass(frozen=True, slots=True, kw_only=True)
class CallUse(Use):
    """A call judged as a whole: JAX does not take what it is given, or it does not do what it says.

    ``function`` is its canonical name; the verdict's ``detail`` says in words what JAX wants, ``silent``
    what an accepted call does not do. ``call`` is the call as data, with its arguments' values in place, and
    ``repaired`` one that JAX accepts; None where that is not wholly known.
    """

    function: str
    call: Data | None = None
    repaired: Data | None = None
    silent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogicalAxesUse(CallUse):
    """Flax's logical names meet rules, or a lifted transform, and something is wrong.

    ``library`` is ``linen`` or ``nnx``, ``mistake`` what is wrong and ``text`` the name, the rule or the
    rules at fault as written. ``axes`` are the mesh axes in question, ``known`` the names that would do,
    ``mesh_axes`` all mesh axes that the rules give, or that the mesh has.
    """

    library: str
    mistake: Mistake
    text: str
    axes: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    mesh_axes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MeshUse(Use):
    """A mesh or device array is built by ``function`` (`Mesh`, `make_mesh`, `create_device_mesh`, …).

    ``shape`` is the device array's shape, ``names`` the axis names, ``devices`` how many there are.
    ``mentioned`` are the names that the program's text writes again, None where that is not known.
    """

    function: str
    shape: Shape | Unknown
    names: tuple[str, ...] | Unknown | None = None
    devices: Dim | None = None
    names_place: Place | None = None
    shape_place: Place | None = None
    mentioned: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterUse(Use):
    """A parameter that a Flax layer owns.

    ``owner`` is the layer or module in words (``nn.Dense``), ``owner_place`` the call that makes it
    (uses of one layer share it), ``name`` the parameter (``kernel``). ``names`` is the partitioning
    the initializer carries: None when it is bare, a str when a bare string was given. ``logical`` names are
    those that rules translate; ``axes`` is what they make of the names where rules are known, ``path`` where
    `init` puts the parameter.
    ``initializer_place`` is where an initializer was given the names, which may be written elsewhere.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiReference(Use):
    """A name that belongs to some JAX versions, by its qualified name, or an argument: ``f(x=)``.

    ``release`` is the one that was assumed.
    """

    name: str
    release: Release = NEWEST


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalUse(Use):
    """A parameter of a shard_map's body, or a variable that the body assigns, as an editor asks for them.

    ``shape`` is that of the array on each device, Unknown where it is no array, or not one of known shape.
    """

    name: str
    parameter: bool
    shape: Shape | Unknown
    dtype: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueUse(Use):
    """A name that holds a mesh, a spec, both (a sharding), or with a ``shape`` an array so placed, as an
    editor asks for them; its facts tell where mesh and spec are made.
    """

    name: str
    mesh: Mesh | None
    spec: Spec | None
    shape: Shape | None = None
    dtype: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NameUse(Use):
    """Two places write one name, as an editor asks for them: the program compares them, or looks one up by
    the other. ``names`` are the texts; what no single literal writes is a plain str. ``logical`` names are
    those that Flax looks up in its rules.
    """

    names: tuple[str, str]
    logical: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternUse(Use):
    """A regular expression that a program writes, where it is tried on a text: ``subject``, None where that
    is not known. ``site`` is the call; ``anything`` says whether it matches the empty text too.
    """

    pattern: str
    subject: str | None
    matched: bool
    anything: bool
    site: Place


@dataclass(frozen=True, slots=True)
class FileProblem:
    """Something wrong with a file itself: unreadable, not Python, too deep, a broken notebook.

    What a comment asks shardlint to reveal is answered as one, though nothing is wrong.
    """

    kind: str
    message: str
    place: Place
    facts: tuple[Fact, ...] = field(default=())

    @property
    def is_answer(self) -> bool:
        """Whether nothing is wrong."""
        return self.kind == "revealed"

    @property
    def leaves_open(self) -> bool:
        """Whether not all of the file was looked at."""
        return self.kind == "cut-short"

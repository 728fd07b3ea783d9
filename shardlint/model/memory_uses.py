"""Uses about the memory that arrays take: where they lie whole, are moved, gathered, or made."""

from __future__ import annotations

from shardlint.laws.core.dims import Dim, Shape
from shardlint.laws.core.values import Mesh, Spec, Unknown
from shardlint.model.spans import Place
from shardlint.model.uses import Use
from shardlint.support.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenUse(Use):
    """An array inside jit that lies whole on all devices, and into which something is written that is split.

    ``dimension`` of the array is the one that ``axes`` split in what is written, at the place ``written``.
    """

    written: Place
    mesh: Mesh
    spec: Spec
    dimension: int
    axes: tuple[str, ...]
    shape: Shape
    dtype: str | None
    subject: str


#: The function of a `MoveUse` for the arguments of a shard_map.
SHARD_MAP = "in_specs"
#: The function of a `GatherUse` for arguments that `vmap` maps a shard_map over, without spmd_axis_name.
MAPPED_SHARD_MAP = "vmap of shard_map"


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveUse(Use):
    """An array inside jit that is certainly laid out by ``before``, and asked for in another layout.

    ``function`` asks for it. ``computed``: row by row from a batch, by a product or a layer; only the
    layout of its rows is known, and ``before`` is otherwise as ``after``. ``idle`` are the axes along which
    all devices hold the same afterwards, and multiply it by the same.
    """

    function: str
    mesh: Mesh
    before: Spec
    after: Spec
    shape: Shape | Unknown
    dtype: str | None
    subject: str
    computed: bool = False
    idle: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GatherUse(Use):
    """An array on Auto axes that the compiler gathers, for a function that does not work on its parts.

    ``spec`` certainly splits the array along ``dimensions``. ``loop``: the function takes it slice by slice
    along the first one; ``bounds``: it cuts the array there along it into pieces, which are not gathered, but
    split over the same devices anew. ``partly``: of the other dimensions nothing is known.
    ``chosen``: outside of jit, it returns those elements that the data choose.
    """

    function: str
    mesh: Mesh
    spec: Spec
    dimensions: tuple[int, ...]
    shape: Shape | Unknown
    dtype: str | None
    subject: str
    loop: bool = False
    bounds: tuple[int, ...] = ()
    partly: bool = False
    chosen: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnsUse(Use):
    """A product inside jit whose operand is gathered: it came of a weight that splits its columns, and the
    weight that it is multiplied with now, laid out by ``spec``, splits its own over the same axes.

    ``shape`` and ``held`` are the operand's; of its dimensions but the first and the last nothing is known.
    ``columns`` is how many the weight has.
    """

    mesh: Mesh
    spec: Spec
    held: Spec
    shape: Shape
    columns: Dim
    dtype: str | None
    subject: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApartUse(Use):
    """An operand inside jit, of which ``axis`` splits dimension ``held``, while what it meets, laid out by
    ``other``, is split along its dimension ``met``.

    ``function`` computes of both; without one, ``other`` is the layout that a constraint asks for, for the
    product of the operand with an array that the axis does not split.
    """

    function: str
    mesh: Mesh
    axis: str
    spec: Spec
    held: int
    met: int
    other: Spec
    other_subject: str | None
    shape: Shape
    dtype: str | None
    subject: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectedUse(Use):
    """An array that lay split over so many ``devices``, is put on one of them, and given to a jitted
    ``function``, which runs there alone."""

    subject: str
    devices: int
    function: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleUse(Use):
    """A jitted function in which some axes of its mesh split nothing.

    All its arrays are known; ``axes`` are those axes, each of several devices. It ``trains`` if it computes
    gradients; otherwise ``shapes`` are those of arguments that are whole on the mesh, whatever others are, or
    ``rows`` those of arguments of two dimensions or more that lie on no mesh.
    """

    function: str
    mesh: Mesh
    axes: tuple[str, ...]
    trains: bool = True
    shapes: tuple[Shape, ...] = ()
    rows: tuple[Shape, ...] = ()


#: Where a `MadeUse` is made that is a numpy array.
HOST = "the host"


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeUse(Use):
    """Arrays that a jitted function without out_shardings makes itself, and so leaves whole.

    ``subject`` is the largest of them, with ``shape`` and ``dtype``; ``total`` are the bytes of all,
    ``number`` how many they are. ``split`` describes an argument of the same shape that is split, None if
    there is none. ``outside`` tells on which devices the program made them, before any jit, and gives them to
    the function; None if the function makes them. ``leaves`` are those that lie on one device, each with the
    steps of its path and its shape, given to a function that computes on ``mesh``.
    """

    function: str
    subject: str
    shape: Shape
    dtype: str | None
    total: int
    number: int
    split: str | None = None
    outside: str | None = None
    leaves: tuple[tuple[tuple[str, ...], Shape], ...] = ()
    mesh: Mesh | None = None


#: What `MadeUse.outside` says of arrays on one device that each call of a `pmap` copies to the others.
EACH_CALL = "one device, for a pmap"
#: The same of a jitted function, which gets arrays on a mesh, too.
EACH_JITTED_CALL = "one device, for a mesh"
#: The function of a `MadeUse` of an array that is assigned to a variable.
ASSIGNED = "nnx.Variable(assigned)"
#: The function of a `CallUse` of a jitted function without out_shardings that makes arrays, outside of any
#: mesh that is set: they lie on one device.
MADE_IN_JIT = "jax.jit(makes)"
#: The function of a `CallUse` that saves a checkpoint with arrays that lie on one device.
SAVED_ALONE = "orbax.save(one device)"
#: The function of one that saves arrays that are split.
SAVED_SPLIT = "orbax.save(split)"


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedUse(Use):
    """An array on a mesh that a jitted function takes from outside: a constant of its program.

    ``function`` is the jitted function that is called here; None where an operation in it reads the array.
    ``subject`` is what the program calls the array, if it has a name there. ``returned``: a numpy array that
    is a result as it is, for which out_shardings have ``spec``.
    """

    function: str | None
    subject: str | None
    shape: Shape
    dtype: str | None
    mesh: Mesh
    spec: Spec
    returned: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreUse(Use):
    """Arrays that a checkpointer restores without being told where to.

    ``subject`` is the largest of them, None without a target; ``total`` are the bytes of all, ``number`` how
    many they are. ``alone``: the target's arrays are on one device, and so are the restored ones, however
    they were saved; otherwise they lie as they were saved. ``shapes`` are those of matrices and larger
    arrays among them. ``given_to`` is a jitted function that gets them as numpy arrays beside arrays that
    are split.
    """

    subject: str | None
    total: int = 0
    number: int = 0
    alone: bool = False
    shapes: tuple[Shape, ...] = ()
    given_to: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiesUse(Use):
    """A stack of one copy for each device (`flax.jax_utils.replicate`) that meets a mesh of the program.

    ``copies`` is how many they are.
    """

    subject: str
    copies: Dim

"""The collectives of a partitioned module: kind, mesh axes, bytes, and how often each runs.

The module is read as the SPMD partitioner leaves it, in the program's own dtypes: what follows depends on
the backend (a CPU's compiler makes f32 of bf16, and merges all-reduces). One later step is foreseen, since
GPUs and TPUs take it: an all-reduce of which each device keeps only its own slice is a reduce-scatter.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from shardlint.cost.hlo import Computation, Instruction, Module, arrays_of, bytes_of, element_of
from shardlint.cost.layouts import UNKNOWN, LayoutFinder, Layouts
from shardlint.cost.loops import run_counts
from shardlint.cost.meshes import DeviceMesh, Groups, groups_of
from shardlint.cost.values import Kind
from shardlint.laws.placement.movement import exchanged_bytes, gathered_bytes, reduced_bytes
from shardlint.support.lazy_dataclass import dataclass

_KINDS = {
    "all-gather": Kind.ALL_GATHER,
    "all-reduce": Kind.ALL_REDUCE,
    "reduce-scatter": Kind.REDUCE_SCATTER,
    "all-to-all": Kind.ALL_TO_ALL,
    "ragged-all-to-all": Kind.ALL_TO_ALL,
    "collective-permute": Kind.COLLECTIVE_PERMUTE,
    "collective-broadcast": Kind.COLLECTIVE_PERMUTE,
}
#: Those that belong to the operation whose parts they add up.
_SUMS = (Kind.ALL_REDUCE, Kind.REDUCE_SCATTER)
#: What changes only how an array is written down.
_LAYOUT = ("copy", "bitcast", "reshape", "transpose")


_LAYOUT_NAMES = ("squeeze", "reshape", "transpose", "expand_dims", "broadcast_in_dim", "convert_element_type")
_MOVES = (
    *_LAYOUT,
    *_KINDS,
    "convert",
    "broadcast",
    "dynamic-slice",
    "slice",
    "pad",
    "concatenate",
    "select",
    "dynamic-update-slice",
)


@dataclass(frozen=True, slots=True)
class Found:
    """A collective in a module: the operation that needs it, and what `Collective` says of it."""

    cause: Instruction
    kind: Kind
    axes: tuple[str, ...]
    bytes: int
    count: int | None
    shape: str
    ways: int
    weight: str = ""
    layouts: Layouts = UNKNOWN


def collectives_of(
    module: Module, mesh: DeviceMesh | None, whole: dict[str, int], unpartitioned: Module
) -> Iterator[Found]:
    """Yield the collectives that a module runs, in its order.

    Axes are those of the mesh; where none is known, there are none. ``whole`` is the number of elements of
    each argument on all devices, by its number in the module. ``unpartitioned`` is the module as it was
    before, with the layouts of its values.
    """
    counts = run_counts(module)
    layouts = LayoutFinder(unpartitioned, module, mesh)
    for name, count in counts.items():
        if count == 0:
            continue
        inside = module.computations[name]
        for one in inside.instructions:
            opcode = one.opcode.removesuffix("-start")
            if opcode not in _KINDS:
                continue
            groups = groups_of(one.attributes, module.partitions)
            kind = _KINDS[opcode]
            ways = max(map(len, groups), default=1)
            if kind is Kind.ALL_REDUCE and _is_sliced(one, inside, ways):
                kind = Kind.REDUCE_SCATTER
            moved, shape = moved_bytes(kind, one, inside, groups)
            if not moved:
                continue
            axes = () if mesh is None else mesh.axes_between(groups)
            cause = one if kind in _SUMS else _cause(one, inside)
            weight = _weight(one, inside, whole) if kind is Kind.ALL_GATHER else ""
            around = layouts.around(one, kind, inside, axes, name == module.entry)
            yield Found(cause, kind, axes, moved, count, shape, ways, weight, around)


def _cause(one: Instruction, inside: Computation) -> Instruction:
    """Return the operation that needs a collective.

    A collective that lays an array out anew is needed by what takes it. XLA notes that, or (since JAX 0.11)
    what the array comes from, or an operation in between that only changes how the array is written down, as
    `lax.scan` takes a layer out of a stack. Then it is the next operation of another kind.
    """
    source = inside.by_name.get(one.operands[0][0]) if one.operands else None
    if (source is None or _origin(one) != _origin(source)) and not _only_lays_out(one):
        return one
    at, between = one, one
    while at.opcode in _MOVES and (users := inside.users.get(at.name)):
        at = next((user for user in users if user.op_name and _origin(user) != _origin(one)), users[0])
        if at.op_name and _origin(at) != _origin(one):
            if not _only_lays_out(at):
                return at
            between = at if between is one else between
    return between


def _only_lays_out(one: Instruction) -> bool:
    """Return whether JAX's operation behind an instruction computes nothing."""
    return one.op_name.rpartition("/")[2] in _LAYOUT_NAMES


def _weight(one: Instruction, inside: Computation, whole: dict[str, int]) -> str:
    """Return the argument that a gather assembles on each device, "" if it gathers anything else."""
    at: Instruction | None = one
    while at is not None and at.opcode in ("all-gather", "convert", *_LAYOUT) and at.operands:
        at = inside.by_name.get(at.operands[0][0])
    if at is None or at.opcode != "parameter" or whole.get(at.arguments) != _elements(one.shape):
        return ""
    return at.op_name


def _origin(one: Instruction) -> tuple[str, int]:
    return one.op_name, one.frame


def moved_bytes(kind: Kind, one: Instruction, inside: Computation, groups: Groups) -> tuple[int, str]:
    """Return the bytes that a device sends in a collective, and the shape of which they are parts.

    With n devices in a group and S bytes on each (of a gather: of the result), a ring moves S (n-1)/n for a
    gather, a scatter or an all-to-all, and twice that for an all-reduce; a permutation moves S.
    """
    operands = [
        inside.by_name[name].shape if number is None else element_of(inside.by_name[name].shape, number)
        for name, number in one.operands
        if name in inside.by_name
    ]
    taken = operands[0] if len(operands) == 1 else f"({', '.join(operands)})"
    ways = max(map(len, groups), default=1)
    if kind is Kind.COLLECTIVE_PERMUTE:
        moves = any(len(set(group)) > 1 for group in groups)
        return (bytes_of(taken) if moves else 0), taken
    if kind is Kind.ALL_GATHER:
        return gathered_bytes(bytes_of(taken), ways), one.shape
    count = reduced_bytes if kind is Kind.ALL_REDUCE else exchanged_bytes
    return count(bytes_of(taken), ways), taken


def _is_sliced(one: Instruction, inside: Computation, ways: int) -> bool:
    """Return whether a device keeps only its own part of a sum: one of as many as the group has devices."""
    users = inside.users.get(one.name, [])
    while len(users) == 1 and users[0].opcode in _LAYOUT and not users[0].is_root:
        users = inside.users.get(users[0].name, [])
    if ways < 2 or len(users) != 1 or users[0].opcode != "dynamic-slice":
        return False
    whole, part = _elements(one.shape), _elements(users[0].shape)
    return whole == part * ways and _depends_on_device(users[0], inside)


def _elements(shape: str) -> int:
    return sum(math.prod(sizes) for _, sizes in arrays_of(shape))


def _depends_on_device(slice_: Instruction, inside: Computation) -> bool:
    """Return whether a slice begins where the number of the device says."""
    pending = [name for name, _ in slice_.operands[1:]]
    seen: set[str] = set()
    while pending:
        one = inside.by_name.get(pending.pop())
        if one is None or one.name in seen:
            continue
        seen.add(one.name)
        if one.opcode in ("partition-id", "replica-id"):
            return True
        if not one.opcode.startswith("all-"):
            pending += [name for name, _ in one.operands]
    return False

"""Arguments that are donated to a jitted function: what no result can take is kept for nothing, and what a
result takes cannot be another argument as well.

The runtime refuses to take a buffer that it is given twice, whether both arguments are donated or one of them
(`JaxRuntimeError` on one device of JAX 0.10.2; on several CPU devices the process ends).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence

from shardlint.inference.domain.values import (
    Array,
    Const,
    DictValue,
    Instance,
    Integer,
    LibraryObject,
    ListValue,
    MeshValue,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
    as_int,
    as_items,
    as_str,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.jax.sharding.movement import certain_layout
from shardlint.inference.overlays.jax.transforms.taint import following
from shardlint.inference.overlays.pytrees.nodes import BESIDE, is_whole, parts
from shardlint.inference.overlays.pytrees.prefixes import arrays_in, traced
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.core.values import Mesh, Spec
from shardlint.laws.core.verdicts import Accepted, Cause, Rejected, Verdict
from shardlint.laws.placement.array_bytes import text_of_bytes
from shardlint.laws.transforms.donation import Buffer, Kept, deleted, unusable
from shardlint.model.spans import Place
from shardlint.model.uses import CallUse, Fact, Use
from shardlint.support.lazy_dataclass import dataclass


def note_donated(
    made: Call, called: Call, names: Sequence[str], received: Sequence[Value], result: Value
) -> None:
    """Record arguments most of whose bytes no result can take.

    ``made`` is the call of `jax.jit`, ``called`` that of its function, whose parameters are ``names``;
    ``received`` are its arguments by position.
    """
    options = chosen(made, names)
    given = {index: value for index, value in enumerate(received) if index in options}
    if not given:
        return
    results = _buffers(result, placed=True)
    trees = {index: _buffers(value, placed=False) for index, value in given.items()}
    if not results or any(tree is None for tree in trees.values()):
        return
    donated = [(index, buffer) for index, tree in trees.items() for buffer in tree or ()]
    idle = unusable([buffer for _, buffer in donated], results)
    for index in given if idle else ():
        total = sum(buffer.count or 0 for at, buffer in donated if at == index)
        lost = sum(donated[i][1].count or 0 for i in idle or () if donated[i][0] == index)
        if 2 * lost > total:
            name = names[index] if index < len(names) else f"argument {index}"
            _record(made, called, options[index], name, lost)


def chosen(made: Call, names: Sequence[str]) -> dict[int, str]:
    """Return the positions of the parameters that `jax.jit` donates, each with the option that says so."""
    options = ("donate_argnums", "donate_argnames")
    return {index: option for option in options for index in _chosen(made, option, names)}


def _chosen(made: Call, option: str, names: Sequence[str]) -> list[int]:
    """Return the positions of the parameters that an option of `jax.jit` donates."""
    value = made.kwargs.get(option)
    items = as_items(value)
    found = [] if value is None else [value] if items is None else items
    texts, numbers = [as_str(item) for item in found], [as_int(item) for item in found]
    by_name = [names.index(text) for text in texts if text in names]
    by_number = [number for number in numbers if number is not None]
    return by_name + [number if number >= 0 else number + len(names) for number in by_number]


def _buffers(tree: Value, *, placed: bool) -> list[Buffer] | None:
    """Return the arrays of a tree as buffers; None if they are not all known."""
    found: list[Buffer] = []
    for array in arrays_in(tree):
        if array.shape is None:
            return None
        home = array.sharding if placed else None
        known = certain_layout(array) if home is None else _requested(home)
        found.append(Buffer(array.shape, array.dtype, known))
    return found if is_known(tree) else None


def _requested(home: ShardingValue) -> tuple[Mesh, Spec] | None:
    """Return mesh and spec of out_shardings; None if they are not known."""
    if not isinstance(home.mesh, MeshValue) or not isinstance(home.spec, SpecValue):
        return None
    return home.mesh.mesh, home.spec.spec


def is_known(tree: Value) -> bool:
    """Return whether a tree is known to have these leaves and no others."""
    match tree:
        case Array() | Integer() | Const():
            return True
        case LibraryObject() if tree.kind == BESIDE:
            return True
        case Tuple() | ListValue() if tree.items is not None:
            return all(map(is_known, tree.items))
        case DictValue() if tree.items is not None:
            return all(map(is_known, tree.items.values()))
        case LibraryObject() | Instance():
            held = parts(tree)
            return held is not None and is_whole(tree) and all(map(is_known, held.values()))
    return False


def _record(made: Call, called: Call, option: str, name: str, lost: int) -> None:
    place = made.place_of(None, option)
    facts = [Fact("it is called here", called.place)] if called.place is not place else []
    silent = f"`{name}` is donated, but no result has the size of {text_of_bytes(lost)} of it"
    record_of_value(called.interpreter, "jax.jit(donate)", Accepted(), place, facts=facts, silent=silent)


# -- donated inside ----------------------------------------------------------------------------------------
#
# A jitted function that another one calls is a part of the other's program, for which what it is donated has
# no meaning: its caller keeps the arrays (`is_deleted()` is false, JAX 0.10.2 and 0.12.0.1). Outside of any
# jit, `vmap` and `grad` of it do delete them.

#: The event that a jitted function is called inside another and is donated arguments.
INSIDE = "jax.jit(donate inside)"
#: What is said of a function whose caller does not donate what it gives away.
IGNORED = "jax.jit(donation ignored)"


@dataclass(frozen=True, slots=True)
class _Inside:
    """A call inside a jitted function, of another that is donated some arguments."""

    function: str
    place: Place
    donated: tuple[Array, ...]


def note_inside(made: Call, called: Call, function: str, names: Sequence[str], args: Sequence[Value]) -> None:
    """Record that a function is donated arguments inside another, or tell those for which it is followed."""
    positions = [index for index in chosen(made, names) if index < len(args)]
    if not positions or called.interpreter.context.in_jit is not True or called.opaque:
        return
    watched = called.interpreter.context.watched
    if watched is None:
        record_of_value(called.interpreter, INSIDE, Accepted(), called.place)
        return
    trees = [args[index] for index in positions]
    if all(map(is_known, trees)):
        donated = tuple(array for tree in trees for array in arrays_in(tree))
        watched.append(_Inside(function, called.place, donated))


def note_ignored(
    made: Call,
    called: Call,
    function: Value,
    label: str,
    names: Sequence[str],
    args: Sequence[Value],
    seen: Sequence[Value],
    result: Value,
    body: Sequence[Use],
) -> None:
    """Record arguments of a jitted function that it gives away to others inside as they are, while it is not
    donated them itself, though its results could take them.

    ``seen`` are the arguments ``args`` as the body receives them; ``body`` are the uses in it.
    """
    results = _buffers(result, placed=True)
    if not results or not any(isinstance(use, CallUse) and use.function == INSIDE for use in body):
        return
    found: list[object] = []
    with following(called.interpreter, watched=found):
        called.interpreter.call(
            function, seen, {k: traced(v) for k, v in called.kwargs.items()}, called.place
        )
    own = chosen(made, names)
    owners = {
        id(array): index
        for index, (arg, trace) in enumerate(zip(args, seen, strict=True))
        if index not in own and not any(array.numpy or array.struct for array in arrays_in(arg))
        for array in arrays_in(trace)
    }
    taken = [
        buffer for index in own if index < len(args) for buffer in _buffers(args[index], placed=False) or ()
    ]
    for inside in (one for one in found if isinstance(one, _Inside)):
        kept = [(owners[id(array)], array) for array in inside.donated if id(array) in owners]
        buffers = [Buffer(a.shape, a.dtype, certain_layout(a)) for _, a in kept if a.shape is not None]
        idle = unusable([*taken, *buffers], results)
        reused = sum(one.count or 0 for at, one in enumerate(buffers, len(taken)) if at not in (idle or ()))
        total = sum(one.count or 0 for one in buffers)
        if idle is not None and total and 2 * reused > total:
            given = [
                names[at] if at < len(names) else f"argument {at}" for at in sorted({at for at, _ in kept})
            ]
            listed = " and ".join(f"`{name}`" for name in given)
            silent = (
                f"`{inside.function}` is donated {listed} inside `{label}`, which is not: "
                f"{text_of_bytes(reused)} are kept"
            )
            facts = [Fact("it is given away here", inside.place)]
            record_of_value(called.interpreter, IGNORED, Accepted(), made.place, facts=facts, silent=silent)


# -- given twice -----------------------------------------------------------------------------------------

#: An argument's position, and the path of an array in it.
Leaf = tuple[int, str]


def note_donated_twice(
    called: Call,
    function: str,
    args: Sequence[Value],
    donated: dict[Leaf, Kept],
    results: Sequence[Kept],
    is_used: Callable[[int, str], bool],
) -> None:
    """Record an array that is donated and certainly is another argument, or part of one, as well."""
    groups: dict[Hashable, list[Leaf]] = {}
    for index, value in enumerate(args):
        written = called.interpreter.written(called.place_of(index, "")) or ""
        # An attribute or item may be another array each time that it is asked for: a property, `x[0]`.
        for path, held in _holders(value, ("variable", written) if written.isidentifier() else None):
            groups.setdefault(held, []).append((index, path))
    twins = [leaves for leaves in groups.values() if len(leaves) > 1 and donated.keys() & set(leaves)]
    if not twins:
        return
    # A buffer that is donated twice may be taken once.
    repeated = {leaf for leaves in twins for leaf in [one for one in leaves if one in donated][1:]}
    once = [leaf for leaf in donated if leaf not in repeated]
    taken = dict(zip(once, deleted([donated[leaf] for leaf in once], results), strict=True))
    for leaves in twins:
        answer = next(taken[leaf] for leaf in leaves if leaf in taken)
        used = [leaf for leaf in leaves if is_used(*leaf)]
        if answer is not False and len(used) > 1 and donated.keys() & set(used):
            _record_twice(called, function, used, answer is True)
            return


def _holders(
    tree: Value, held: Hashable | None, path: str = "", within: str = ""
) -> Iterator[tuple[str, Hashable]]:
    """Yield the path of each array of a tree with what tells it from others: the object that holds it, and
    its path ``within`` that object."""
    match tree:
        case Array() if not tree.numpy and not tree.struct and held is not None:
            yield path, (held, within)
        case Tuple():
            for i, item in enumerate(tree.items):
                yield from _holders(item, held, f"{path}[{i}]", f"{within}[{i}]")
        case ListValue() if tree.items is not None:
            for i, item in enumerate(tree.items):
                yield from _holders(item, id(tree), f"{path}[{i}]", f"[{i}]")
        case DictValue() if tree.items is not None:
            for key, item in tree.items.items():
                yield from _holders(item, id(tree), f"{path}[{key!r}]", f"[{key!r}]")
        case Instance() | LibraryObject():
            children = parts(tree) or {}
            named = isinstance(tree, Instance) or len(children) > 1
            for name, item in children.items():
                yield from _holders(item, id(tree), f"{path}.{name}" if named else path, f".{name}")


def _record_twice(called: Call, function: str, leaves: Sequence[Leaf], certain: bool) -> None:
    (first, path), (second, other) = leaves[0], leaves[1]
    names = [_name(called, first, path), _name(called, second, other)]
    same = "is given twice" if names[0] == names[1] else f"and {names[1]} are the same array"
    detail = f"{names[0]} {same}, and `{function}` is donated it"
    verdict: Verdict = Accepted()
    if certain:
        verdict = Rejected(Cause.DELETED, "RuntimeError", "call", detail=detail)
    place = called.place_of(second, "")
    record_of_value(called.interpreter, "jax.Array(donated twice)", verdict, place, silent=detail)


def _name(called: Call, index: int, path: str) -> str:
    written = called.interpreter.written(called.place_of(index, ""))
    return f"argument {index}{path}" if written is None else f"`{written}{path}`"

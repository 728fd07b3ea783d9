"""One array given to a jitted function twice, and donated: a result takes the buffer that is still needed.

The runtime refuses such a call, whether both arguments are donated or one of them (`JaxRuntimeError` on one
device of JAX 0.10.2 and 0.12.0.1; on several CPU devices the process ends). What the function does not use, or
no result can take, may be given twice.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence

from shardlint.inference.domain.values import (
    Array,
    DictValue,
    Instance,
    LibraryObject,
    ListValue,
    Tuple,
    Value,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.pytrees.nodes import parts
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.core.verdicts import Accepted, Cause, Rejected, Verdict
from shardlint.laws.transforms.donation import Kept, deleted

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
        written = called.interpreter.written(called.place_of(index, ""))
        for path, held in _holders(value, None if written is None else ("written", written)):
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
            _record(called, function, used, answer is True)
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


def _record(called: Call, function: str, leaves: Sequence[Leaf], certain: bool) -> None:
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

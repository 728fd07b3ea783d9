"""Ahead-of-time compilation: ``jax.jit(f).lower(...).compile()``, and what its result takes.

A compiled function takes arguments of the structure, the shapes, the dtypes and the layouts that it was
lowered for, and no others (`stages.Compiled`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod

from shardlint.inference.domain.lattice import combined, tagged
from shardlint.inference.domain.values import (
    MAX_ALTERNATIVES,
    Array,
    Const,
    Devices,
    DictValue,
    LibraryObject,
    Native,
    ShardingValue,
    Tag,
    Tuple,
    Value,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.disjunction import each
from shardlint.inference.overlays.arrays.operands import Stop
from shardlint.inference.overlays.jax.explicit.device_lists import devices_text, order_of
from shardlint.inference.overlays.jax.transforms.donation import is_known
from shardlint.inference.overlays.jax.transforms.jit_arguments import (
    Argument,
    is_used,
    layout_of,
    layout_text,
    placement,
)
from shardlint.inference.overlays.pytrees.prefixes import arrays_in, map_arrays, traced
from shardlint.inference.overlays.pytrees.trees import leaves_with_path
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.core.dims import equal
from shardlint.laws.core.values import Spec, Unknown
from shardlint.laws.core.verdicts import Api, Cause, Rejected, Verdict
from shardlint.laws.placement.jit_arguments import judge_committed, judge_devices
from shardlint.model.memory_uses import CapturedUse
from shardlint.model.spans import Place
from shardlint.model.uses import CollectiveUse, LogicalAxesUse, OperationUse, ParameterUse, Placement, Use

#: What `lower` and `trace` return, and what `compile` makes of it.
STAGE, COMPILED = "jax.stages", "jax.stages.Compiled"
#: Whether a result depends on an array, by its argument and the path in it; JAX drops one that is not used.
Used = Callable[[int | str, str], bool]


#: Uses that lay arrays out, or may do so.
_LAID_OUT = (CapturedUse, CollectiveUse, LogicalAxesUse, OperationUse, ParameterUse, Placement)
#: The positions and names of static arguments.
Static = tuple[frozenset[int], frozenset[str]]


def ahead_of_time(
    description: str, run: Callable[[Call, list[Argument]], Value], function: Value, static: Static | None
) -> dict[str, Value]:
    """Return the methods `lower` and `trace` of a jitted function, which make the checks of a call.

    ``run`` evaluates a call and adds the placed arguments to a list.
    """

    def stage(call: Call) -> Value:
        placed: list[Argument] = []
        before = len(call.interpreter.uses)
        result = run(call, placed)
        if call.opaque or static is None or isinstance(result, Unknown):
            return LibraryObject(STAGE, {"result": result})
        positions = [i for i in range(len(call.args)) if i not in static[0]]
        named = {key: value for key, value in call.kwargs.items() if key not in static[1]}
        others = None
        if is_known(result):
            given = [*(call.args[i] for i in positions), *named.values()]
            others = _home_of_others(call, given, placed, call.interpreter.uses[before:])
        args = tuple(_committed_to(placed, i, call.args[i], others) for i in positions)
        named = {key: _committed_to(placed, key, value, others) for key, value in named.items()}
        kwargs = dict(call.kwargs)

        def used(key: int | str, path: str) -> bool:
            return is_used(
                call, function, call.args, kwargs, positions[key] if isinstance(key, int) else key, path
            )

        return _lowered(result, {"arguments": Tuple(args), "keywords": _mapping(named)}, used)

    return {name: Native(f"{description}.{name}", stage) for name in ("lower", "trace")}


def _mapping(values: Mapping[str, Value]) -> DictValue:
    return DictValue(dict(values.items()))


def _lowered(result: Value, due: dict[str, Value], used: Used) -> Value:
    """Return what `lower` returns; ``due`` are the arguments, each array committed to where it is to lie."""
    compiled = Native(COMPILED, lambda call: _compiled(call, result, due, used), whole=lambda _: True)
    stage = LibraryObject(
        STAGE, {"result": result, "compile": Native(f"{STAGE}.compile", lambda _: compiled)}
    )
    stage.fields["lower"] = Native(f"{STAGE}.lower", lambda _: stage)
    return stage


def _compiled(call: Call, result: Value, due: Mapping[str, Value], used: Used) -> Value:
    """Return the result of a call of a compiled function, unless its arguments are certainly others."""
    context = call.interpreter.context
    if call.opaque or context.in_jit is not False or context.mapped or context.staged is not False:
        return Unknown("a compiled function of traced arguments") if context.in_jit is not False else result

    def judge(given: dict[str, Value]) -> Value:
        try:
            verdict, place = _judge(call, due, given, used)
        except Stop:
            return result
        if verdict is None:
            return result
        record_of_value(call.interpreter, COMPILED, verdict, place)
        return Unknown("JAX rejects these arguments")

    try:
        rows = _choices(call, due)
    except Stop:
        return result
    return each(call.interpreter, rows, judge, limit=MAX_ALTERNATIVES**2) if rows else result


def _choices(call: Call, due: Mapping[str, Value]) -> list[tuple[dict[str, Value], Tag]]:
    """Return the arguments of a call, once for each choice where one may be several values, each with its
    condition. Of these it has the shapes that the function was lowered for, if any has: programs choose both
    alike."""
    ours: dict[int | str, Value] = dict([*enumerate(_positional(due)), *_named(due).items()])
    theirs: dict[int | str, Value] = dict([*enumerate(call.args), *call.kwargs.items()])
    columns: list[Sequence[tuple[Value, Tag]]] = []
    for key, value in theirs.items():
        several = tagged(value)
        fitting = [one for one in several if len(several) > 1 and key in ours and _fits(ours[key], one[0])]
        columns.append(fitting or several)
    if prod(map(len, columns)) > MAX_ALTERNATIVES**2:
        return []
    rows: list[tuple[dict[str, Value], Tag]] = []
    for row in product(*columns):
        values = [value for value, _ in row]
        tag = combined(call.interpreter.assumed, *(tag for _, tag in row))
        if tag is not None:
            named = dict(zip(call.kwargs, values[len(call.args) :], strict=True))
            given: dict[str, Value] = {
                "arguments": Tuple(tuple(values[: len(call.args)])),
                "keywords": _mapping(named),
            }
            rows.append((given, tag))
    return rows


def _fits(due: Value, given: Value) -> bool:
    """Return whether an argument has the structure, shapes and dtypes that a function was lowered for."""
    ours, theirs = (_leaves({"arguments": Tuple((tree,)), "keywords": _mapping({})}) for tree in (due, given))
    return ours.keys() == theirs.keys() and not any(_types_differ(ours[at], theirs[at]) for at in ours)


def _judge(
    call: Call, due: Mapping[str, Value], given: Mapping[str, Value], used: Used
) -> tuple[Verdict | None, Place]:
    """Judge the arguments of a compiled function. Stops where a part of them is not known."""
    ours, theirs = _leaves(due), _leaves(given)
    for path in ours:
        if path not in theirs:
            return _structure(f"it was lowered with {_where(path)}, which is not given"), call.place
    for path in theirs:
        if path not in ours:
            return _structure(f"it was not lowered with {_where(path)}"), _place(call, path)
    for path, one in ours.items():
        other = theirs[path]
        detail = _types_differ(one, other)
        if detail is not None:
            return Rejected(Cause.MISUSE, "TypeError", "call", detail=f"{_where(path)} {detail}"), _place(
                call, path
            )
    for path, one in ours.items():
        detail = _layouts_differ(call, one, theirs[path])
        if detail is not None and used(*path):
            verdict = Rejected(Cause.OTHER_SHARDING, "ValueError", "call", detail=f"{_where(path)} {detail}")
            return verdict, _place(call, path)
    return None, call.place


def _structure(detail: str) -> Rejected:
    return Rejected(Cause.ARITY, "TypeError", "call", detail=detail)


Path = tuple[int | str, str]


def _leaves(trees: Mapping[str, Value]) -> dict[Path, Value]:
    """Return the leaves of arguments by the argument, and the path in it. Stops if a tree is not known."""
    found: dict[Path, Value] = {}
    keyed: list[tuple[int | str, Value]] = [*enumerate(_positional(trees)), *_named(trees).items()]
    for key, tree in keyed:
        for path, leaf in leaves_with_path(tree):
            found[key, "".join(map(_text, path))] = leaf
    return found


def _positional(trees: Mapping[str, Value]) -> tuple[Value, ...]:
    positional = trees["arguments"]
    return positional.items if isinstance(positional, Tuple) else ()


def _named(trees: Mapping[str, Value]) -> dict[str, Value]:
    named = trees["keywords"]
    items = named.items if isinstance(named, DictValue) else None
    return {str(key): value for key, value in (items or {}).items()}


def _text(key: Value) -> str:
    """Return a key of a path as JAX writes it."""
    if not isinstance(key, LibraryObject):
        return "?"
    ((kind, held),) = key.fields.items()
    value = held.value if isinstance(held, Const) else "?"
    return f".{value}" if kind == "name" else f"[{value!r}]"


def _where(path: Path) -> str:
    key, inside = path
    return f"`{key}{inside}`" if isinstance(key, str) else f"argument {key}{inside}"


def _place(call: Call, path: Path) -> Place:
    key = path[0]
    return call.place_of(key, "") if isinstance(key, int) else call.place_of(None, key)


def _types_differ(due: Value, given: Value) -> str | None:
    """Return in words that two arrays have other shapes or dtypes, or None."""
    one, other = traced(due), traced(given)
    if not isinstance(one, Array) or not isinstance(other, Array):
        return None
    if one.shape is not None and other.shape is not None:
        same = [equal(a, b) for a, b in zip(one.shape, other.shape, strict=False)]
        if len(one.shape) != len(other.shape) or False in same:
            return f"has shape {other.shape}, and it was lowered for {one.shape}"
    if one.dtype is not None and other.dtype is not None and one.dtype != other.dtype:
        return f"is of {other.dtype}, and it was lowered for {one.dtype}"
    return None


def _layouts_differ(call: Call, due: Value, given: Value) -> str | None:
    """Return in words that two arrays are committed to other layouts or devices, or None."""
    if not isinstance(due, Array) or not isinstance(given, Array) or due.shape is None:
        return None
    wanted, held = due.committed, placement(call, given)
    one, other = layout_of(wanted), layout_of(held)
    if wanted is None or held is None or one is None or other is None:
        return None
    if isinstance(judge_committed(one, other, len(due.shape)), Rejected):
        return f"is committed to {layout_text(other)}, and it was compiled for {layout_text(one)}"
    orders = [order_of(home) for home in (held, wanted)]
    if isinstance(judge_devices([order for order in orders if order is not None]), Rejected):
        return f"lies on {devices_text(orders[0])}, and it was compiled for {devices_text(orders[1])}"
    return None


def _committed_to(
    arguments: Sequence[Argument], key: int | str, tree: Value, others: ShardingValue | Devices | None
) -> Value:
    """Return an argument with its arrays committed to where a jitted function has them; ``others`` is where
    those lie that are committed to nothing."""
    homes = {one.path: one.home for one in arguments if one.key == key}

    def place(array: Array, path: str) -> Array:
        return replace(array, committed=homes.get(path, others))

    return map_arrays(tree, place)


def _home_of_others(
    call: Call, given: Sequence[Value], placed: Sequence[Argument], recorded: Sequence[Use]
) -> ShardingValue | Devices | None:
    """Return where a function that is lowered has the arguments that are committed to nothing: on one device,
    if none lies on a mesh, or whole on the devices of those that do, if these are whole there (JAX 0.10.2 and
    0.12.0.1).

    Where an argument is split, or the function asks for a layout, the compiler chooses. ``recorded`` are the
    uses in the function.
    """
    interpreter = call.interpreter
    context = interpreter.context
    if context.mesh is not None or context.legacy_mesh is not None or interpreter.is_silent:
        return None
    if any(map(_lays_out, recorded)) or not all(map(is_known, given)):
        return None
    arrays = [array for tree in given for array in arrays_in(tree)]
    free = [array for array in arrays if array.committed is None and array.sharding is None]
    alone = all(array.struct or array.numpy or array.made is not None for array in free)
    if not alone or len(free) + len(placed) < len(arrays):
        return None
    homes = [one.home for one in placed]
    if not homes:
        return Devices(())
    whole = all(isinstance(home, ShardingValue) and _is_whole(home) for home in homes)
    return homes[0] if whole and all(home == homes[0] for home in homes) else None


def _lays_out(use: Use) -> bool:
    """Return whether a use lays an array out, or may do so, other than an argument that stays whole."""
    if isinstance(use, Placement) and use.api in (Api.JIT_ARGUMENT, Api.JIT_IN):
        return not isinstance(use.spec, Spec) or any(use.spec.entries)
    return isinstance(use, _LAID_OUT)


def _is_whole(home: ShardingValue) -> bool:
    known = layout_of(home)
    return known is not None and not any(known.spec.entries) and not known.spec.unreduced

"""Control flow of `jax.lax`: scan, loops, cond, switch, map. The evaluator calls each body.

JAX requires a carry, and the results of branches, to have one type; if it runs, the type is known from the
side on which more is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from shardlint.inference.domain.values import (
    NONE,
    Array,
    Const,
    DictValue,
    External,
    Integer,
    ListValue,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
    as_dim,
    as_int,
    as_items,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import (
    Stop,
    Transfer,
    given,
    operand,
    same_dim,
    same_shape,
    table,
    unresolved,
)  # fmt: skip
from shardlint.inference.overlays.jax.explicit.recording import record_operation, short_name
from shardlint.inference.overlays.jax.explicit.type_conversion import compiled, type_of
from shardlint.inference.overlays.jax.lax import loop_sums
from shardlint.inference.overlays.jax.shard_map.split_dimensions import split_of
from shardlint.inference.overlays.jax.shard_map.varying import manual_axes, variation_of, vary
from shardlint.inference.overlays.jax.sharding.movement import note_loop
from shardlint.inference.overlays.jax.transforms.taint import (
    MARK,
    is_following,
    is_marked,
    made_from_marked,
    note_end,
    unmarked,
)
from shardlint.inference.overlays.pytrees.trees import leaves, tree_map
from shardlint.laws.core.array_types import ArrayType, TypeSharding
from shardlint.laws.core.dims import Dim, equal, fresh
from shardlint.laws.core.values import Spec, Unknown
from shardlint.laws.core.verdicts import Rejected
from shardlint.laws.transforms.loop_carries import Carried, judge_carry, judge_rows
from shardlint.laws.transforms.varying import CONSTANT, UNKNOWN, Variation, of_equal_types, one_of
from shardlint.model.uses import CarryUse

_COUNTER = Array((), "int32").vary(CONSTANT)
#: Loops whose variables decide when they end.
_ENDING = ("jax.lax.while_loop",)
#: How often a loop's body is evaluated at most to follow a taint from carry to carry.
_ROUNDS = 8
#: After how many more rounds a loop's body is to have settled what its carry varies over.
_SETTLING = 3


def traced(tree: Value) -> Value:
    """Return the tree with arrays instead of numbers, as a traced function receives it."""
    return tree_map(_traced_leaf, tree)


def _traced_leaf(leaf: Value) -> Value:
    numbers = isinstance(leaf, Integer) or (
        isinstance(leaf, Const) and isinstance(leaf.value, (bool, int, float, complex))
    )
    if not numbers and not isinstance(leaf, Array):
        return leaf
    found = operand(leaf).vary(variation_of(leaf))
    return replace(found, laid=leaf.laid) if isinstance(leaf, Array) and split_of(leaf) else found


def agreed(first: Value, second: Value, checked: bool = True, runs: bool = False) -> Value:
    """Return the value of a carry or branch result that both values describe. Stops if structures differ.

    Where types are ``checked`` for what varies, both have one type; else it may be either, or is the second
    if a loop surely ``runs``.
    """
    if isinstance(first, Unknown):
        return second
    if isinstance(second, Unknown):
        return first
    together = of_equal_types if checked else _last_of if runs else one_of

    def leaf(a: Value, b: Value) -> Value:
        held = variation_of(a), variation_of(b)
        # A value computed from one of the two is computed from the marked value.
        return _agreed_leaf(a, b, together(*held).over((held[0].surely | held[1].surely) & {MARK}))

    return tree_map(
        leaf,
        traced(first),
        traced(second),
    )


def _last_of(_: Variation, last: Variation) -> Variation:
    return last


def _agreed_leaf(first: Value, second: Value, variation: Variation) -> Value:
    if isinstance(first, Array) and isinstance(second, Array):
        shape = same_shape([first.shape, second.shape])
        better = second if (first.weak and not second.weak) or first.dtype is None else first
        weak = first.weak and second.weak
        typed = first.typed or second.typed
        found = replace(better, shape=shape, weak=weak, sharding=None, typed=typed).vary(variation)
        return found if split_of(first) != split_of(second) else replace(found, laid=first.laid)
    return second if isinstance(first, Unknown) else first


def carried(call: Call, before: Value, after: Value, runs: bool = False) -> Value:
    """Return the final carry of a loop, or the result of one of two branches, judged by their types; the loop
    surely ``runs``."""
    context = call.interpreter.context
    checked, local = context.check_vma is True, manual_axes(context) != frozenset()
    for path, first, second in _pairs(traced(before), traced(after)):
        kinds = [_kind(leaf, local, checked) for leaf in (first, second)]
        verdict = judge_carry(*kinds)
        if isinstance(verdict, Rejected):
            call.interpreter.record(
                CarryUse(
                    place=call.place,
                    environment=call.interpreter.environment(),
                    verdict=verdict,
                    function=call.name,
                    path=path,
                    before=_shown(first),
                    after=_shown(second),
                )
            )
            return Unknown("JAX rejects this carry")
    return agreed(before, after, checked or context.bound_axes == (), runs)


def _pairs(first: Value, second: Value, path: str = "") -> Iterator[tuple[str, Array, Array]]:
    """Yield the arrays at the same positions of two trees, as far as their structures agree."""
    if isinstance(first, Array) and isinstance(second, Array):
        yield path, first, second
    elif isinstance(first, Tuple | ListValue) and isinstance(second, Tuple | ListValue):
        one, other = first.items or (), second.items or ()
        for i, (a, b) in enumerate(zip(one, other, strict=False) if len(one) == len(other) else ()):
            yield from _pairs(a, b, f"{path}[{i}]")
    elif isinstance(first, DictValue) and isinstance(second, DictValue):
        items = second.items or {}
        for key, value in (first.items or {}).items():
            if key in items:
                yield from _pairs(value, items[key], f"{path}[{key!r}]")


def _kind(array: Array, local: bool, checked: bool) -> Carried:
    """Return the parts of a type that must agree; the shape is one of them only inside shard_map."""
    shape = array.shape if local else None
    return Carried(shape, unmarked(variation_of(array)) if checked else CONSTANT, array.typed)


def _shown(array: Array) -> ArrayType:
    return ArrayType(array.shape, array.dtype, array.typed, array.varying)


def _begun(call: Call, init: Value) -> Value:
    """Return the carry that a loop's body receives; if types do not track variation, it may vary more
    later."""
    carry = traced(init)
    context = call.interpreter.context
    return carry if context.check_vma is True or context.bound_axes == () else vary(carry, UNKNOWN)


def _rounds(
    call: Call, carry: Value, body: Callable[[Value], tuple[Value, Value]], begun: Value, several: bool
) -> tuple[Value, Value, Value]:
    """Return the carry that a loop's body begins with and the one that it leaves behind, and what it returns
    besides.

    Inside shard_map the body is evaluated as it runs first, with ``begun``, and once more with what that
    leaves behind, if there are ``several`` rounds: a value that the first has reduced, the second may reduce
    again. Where types do not track what varies, it is evaluated until another round changes nothing, and the
    result is one of any round; if that takes too long, the last evaluation is for any ``carry``.

    While a taint is followed, after as many rounds as it takes to go from carry to carry: JAX drops a carry
    only if no round brings it into a result.
    """
    if is_following(call.interpreter.context) or not manual_axes(call.interpreter.context):
        return (carry, *_followed(call, carry, body))
    checked = call.interpreter.context.check_vma is True
    after, answer = _first_round(call, body, begun, several and not checked and call.name not in _ENDING)
    if any(isinstance(leaf, Unknown) for leaf in leaves(after)):
        return (begun, after, answer) if checked else (carry, *body(carry))
    if _held(after) == _held(begun):
        return begun, after, answer
    last = after
    for _ in range((1 if checked else _SETTLING) if several else 0):
        later, row = body(tree_map(_as_after, begun, traced(last)))
        if checked:
            break
        if any(isinstance(leaf, Unknown) for leaf in leaves(later)):
            return (carry, *body(carry))
        answer = tree_map(_either, traced(answer), traced(row))
        if _held(later) == _held(last):
            return begun, after, answer
        after, last = tree_map(_either, traced(after), traced(later)), later
    return (begun, after, answer) if checked or not several else (carry, *body(carry))


def _first_round(
    call: Call, body: Callable[[Value], tuple[Value, Value]], begun: Value, followed: bool
) -> tuple[Value, Value]:
    """Return the carry that a first round leaves behind, and what it returns besides; sums over devices
    that the loop only adds up are recorded."""
    interpreter = call.interpreter
    marked = loop_sums.begun(begun) if followed and not interpreter.context.looping else None
    if marked is None:
        return body(begun)
    with interpreter.within(looping=True):
        after, answer = body(marked)
    loop_sums.note(call, after, answer)
    return loop_sums.ended(after), loop_sums.ended(answer)


def _held(tree: Value) -> list[tuple[Variation, Spec | None]]:
    """Return how the leaves of a carry vary, and which of their dimensions are split."""
    arrays = ((leaf, split_of(leaf) if isinstance(leaf, Array) else None) for leaf in leaves(traced(tree)))
    return [(variation_of(leaf), spec) for leaf, spec in arrays]


def _as_after(begun: Value, after: Value) -> Value:
    """Return a leaf of a carry as it begins the second round."""
    if not isinstance(begun, Array) or not isinstance(after, Array):
        return begun
    return replace(begun.vary(after.variation), laid=after.laid, drawn_at=after.drawn_at)


def _either(first: Value, second: Value) -> Value:
    """Return a leaf of what a body returns in its first round or in a later one."""
    if not isinstance(first, Array) or not isinstance(second, Array):
        return first
    found = first.vary(one_of(variation_of(first), variation_of(second)))
    return found if split_of(first) != split_of(second) else replace(found, laid=first.laid)


def _followed(call: Call, carry: Value, body: Callable[[Value], tuple[Value, Value]]) -> tuple[Value, Value]:
    """Return the carry that a loop's body leaves behind, and what it returns besides, once a taint has gone
    as far as it goes."""
    after, answer = body(carry)
    for _ in range(_ROUNDS if is_following(call.interpreter.context) else 0):
        found: list[bool] = []

        def mark(one: Value, other: Value, found: list[bool] = found) -> Value:
            if isinstance(one, Array) and isinstance(other, Array) and is_marked(other) > is_marked(one):
                found.append(True)
                return made_from_marked(one)
            return one

        if isinstance(after, Unknown):
            break
        carry = tree_map(mark, carry, traced(after))
        if not found:
            break
        after, answer = body(carry)
    return after, answer


def _leading(tree: Value) -> Dim | None:
    """Return the size of the leading axis that all leaves share."""
    sizes = [x.shape[0] for leaf in leaves(tree) if (x := operand(leaf)).shape]
    return same_dim(sizes) if sizes else None


def _row(leaf: Value) -> Value:
    """Return one slice of a leaf along its leading axis; an unknown leaf may be a whole tree."""
    if isinstance(leaf, Unknown):
        return leaf
    x = operand(leaf)
    if x.shape == ():
        raise Stop("a scalar has no leading axis", rejected=True)
    shape = None if x.shape is None else x.shape[1:]
    row = Array(shape, x.dtype, typed=_shifted(x.typed, -1)).vary(variation_of(leaf))
    return replace(row, laid=_moved(x, -1))


def _moved(array: Array, by: int) -> ShardingValue | None:
    """Return the layout of an array in a body of shard_map with a leading dimension added or removed."""
    spec = split_of(array)
    if spec is None or array.laid is None or (by < 0 and spec.entries[:1] != (None,)):
        return None
    entries = (None, *spec.entries) if by > 0 else spec.entries[1:]
    return replace(array.laid, spec=SpecValue(Spec(entries)))


def _shifted(typed: TypeSharding | None, by: int) -> TypeSharding | None:
    """Return the sharding of an array with a leading dimension added or removed; that dimension must not be
    split."""
    if typed is None or (by < 0 and typed.spec.entries[:1] not in ((), (None,))):
        return None
    entries = (None, *typed.spec.entries) if by > 0 else typed.spec.entries[1:]
    return replace(typed, spec=replace(typed.spec, entries=entries))


def _piled(size: Dim, tree: Value) -> Value:
    """Return the tree with a leading axis of this size added to each leaf."""

    def pile(leaf: Value) -> Value:
        if isinstance(leaf, Unknown):
            return leaf
        x = operand(leaf)
        shape = None if x.shape is None else (size, *x.shape)
        piled = Array(shape, x.dtype, x.weak, typed=_shifted(x.typed, 1)).vary(variation_of(leaf))
        return replace(piled, laid=_moved(x, 1))

    return tree_map(pile, tree)


def _traced_call(call: Call, function: Value, args: list[Value]) -> Value:
    """Call a body or a branch, which is always traced."""
    with call.interpreter.within(in_jit=True):
        return call.interpreter.call(function, args, {}, call.place)


def _takes_split_rows(call: Call, xs: Value) -> bool:
    """Record an array that a loop takes row by row though its type splits the rows; return whether any is."""
    for leaf in leaves(xs):
        if isinstance(leaf, Array) and leaf.shape and (found := type_of(leaf)) is not None:
            verdict = judge_rows(found)
            if isinstance(verdict, Rejected):
                name = short_name(call.name)
                record_operation(call.interpreter, call.place, verdict, name, [leaf], {}, lambda *_: None)
                return True
    return False


def scan(call: Call) -> Value:
    """`scan(f, init, xs, length)`: the carry, in the type of ``init``, and the stacked outputs."""
    function, init, xs, length, *_ = call.bind(
        "f", "init", xs=Const(None), length=None, reverse=None, unroll=None, _split_transpose=None
    )
    if function is None or init is None or xs is None:
        unresolved("the arguments are not known")
    unknown_xs = isinstance(xs, Unknown)
    size = None if unknown_xs or is_none(xs) else _leading(xs)
    if size is None:
        size = as_dim(length) if given(length) else None
    carry = _begun(call, init)
    if not unknown_xs:
        if _takes_split_rows(call, xs):
            return Unknown("JAX rejects this loop")
        note_loop(call.interpreter, xs, "scan", call.place)
    step = xs if unknown_xs else tree_map(_row, xs)
    unknown = call.unknown("the body's result is not known")

    def body(begun: Value) -> tuple[Value, Value]:
        pair = as_items(_traced_call(call, function, [begun, step]))
        return (unknown, unknown) if pair is None or len(pair) != 2 else (pair[0], pair[1])

    carry, after, row = _rounds(call, carry, body, traced(init), size is None or equal(size, 1) is not True)
    if row is unknown:
        return Tuple((carry, unknown))
    last = carried(call, carry, after, size is not None and equal(size, 0) is False)
    if isinstance(last, Unknown):
        return last
    if size == 0:
        last = carry
    return Tuple((last, _piled(fresh() if size is None else size, row)))


def fori_loop(call: Call) -> Value:
    """`fori_loop(lower, upper, body_fun, init_val)`."""
    lower, upper, body, init, _ = call.bind("lower", "upper", "body_fun", "init_val", unroll=None)
    if body is None or init is None:
        unresolved("the arguments are not known")
    carry = _begun(call, init)
    bounds = as_int(lower), as_int(upper)
    times = None if bounds[0] is None or bounds[1] is None else bounds[1] - bounds[0]
    carry, after, _ = _rounds(
        call,
        carry,
        lambda begun: (_traced_call(call, body, [_COUNTER, begun]), NONE),
        traced(init),
        times is None or times > 1,
    )
    last = _decided(carried(call, carry, after, times is not None and times > 0), lower, upper)
    runs = times is None or times > 0
    return last if runs or isinstance(last, Unknown) else carry


def while_loop(call: Call) -> Value:
    """`while_loop(cond_fun, body_fun, init_val)`."""
    condition, body, init = call.bind("cond_fun", "body_fun", "init_val")
    if condition is None or body is None or init is None:
        unresolved("the arguments are not known")
    carry = _begun(call, init)
    again = _traced_call(call, condition, [carry])
    carry, after, _ = _rounds(
        call, carry, lambda begun: (_traced_call(call, body, [begun]), NONE), traced(init), several=True
    )
    ends = (_traced_call(call, condition, [one]) for one in (traced(init), after))
    note_end(call.interpreter.context, ends, call.place)
    found = _decided(carried(call, carry, after), again)
    return tree_map(lambda leaf: compiled(call.interpreter, leaf) if isinstance(leaf, Array) else leaf, found)


def cond(call: Call) -> Value:
    """`cond(pred, true_fun, false_fun, *operands)`: both branches are traced."""
    if call.opaque or len(call.args) < 3 or call.kwargs.keys() - {"operand"}:
        unresolved("the arguments are not known")
    operands = [*call.args[3:], *call.kwargs.values()]
    return _branches(call, list(call.args[1:3]), operands)


def switch(call: Call) -> Value:
    """`switch(index, branches, *operands)`."""
    branches = as_items(call.args[1]) if not call.opaque and len(call.args) >= 2 else None
    if not branches or call.kwargs:
        unresolved("the branches are not known")
    return _branches(call, list(branches), list(call.args[2:]))


def _branches(call: Call, branches: list[Value], operands: list[Value]) -> Value:
    """Return the common result of all branches. If types do not track variation, the choice of the branch may
    vary."""
    arguments = [traced(value) for value in operands]
    answer: Value = Unknown("no branch")
    for branch in branches:
        result = _traced_call(call, branch, arguments)
        answer = result if isinstance(answer, Unknown) else carried(call, answer, result)
        if isinstance(answer, Unknown) and not isinstance(result, Unknown):
            return answer
    context = call.interpreter.context
    if context.check_vma is True or context.bound_axes == ():
        return _decided(traced(answer), call.args[0])
    if variation_of(call.args[0]) == CONSTANT:
        return traced(answer)
    return tree_map(lambda leaf: operand(leaf).vary(Variation(variation_of(leaf).surely)), traced(answer))


def _decided(tree: Value, *deciding: Value | None) -> Value:
    """Return results whose values, unlike their types, may differ along the axes over which that varies which
    decides on a branch, or on the number of rounds (JAX 0.10.2 and 0.12.0.1)."""
    variations = [variation_of(one) for one in deciding if one is not None]
    if all(one == CONSTANT for one in variations):
        return tree

    def leaf(value: Value) -> Value:
        array, own = operand(value), variation_of(value)
        kept = {axis for axis in own.equal if all(axis in one.equal or one.never(axis) for one in variations)}
        return value if kept == own.equal else array.vary(replace(own, equal=frozenset(kept)))

    return tree_map(leaf, tree)


def map_(call: Call) -> Value:
    """`lax.map(f, xs)`: the stacked results of f on each slice."""
    function, xs, batch = call.bind("f", "xs", batch_size=None)
    if function is None or xs is None or isinstance(xs, Unknown):
        unresolved("the arguments are not known")
    size = _leading(xs)
    if not given(batch) and _takes_split_rows(call, xs):
        return Unknown("JAX rejects this loop")
    note_loop(call.interpreter, xs, "map", call.place)
    row = tree_map(_row, xs)
    answer = _traced_call(call, function, [row])
    return _piled(fresh() if size is None else size, answer)


def associative_scan(call: Call) -> Value:
    """`associative_scan(fn, elems)`: like the elements, unless the function makes them vary more."""
    function, elements, *_ = call.bind("fn", "elems", reverse=None, axis=None)
    if elements is None:
        return Unknown("the elements are not known")
    found = tree_map(operand, elements)
    return found if isinstance(function, External) else vary(found, UNKNOWN)


TABLE: dict[str, Transfer] = table("jax.lax.", {
    "scan": scan,
    "fori_loop": fori_loop,
    "while_loop": while_loop,
    "cond": cond,
    "switch": switch,
    "map": map_,
    "associative_scan": associative_scan,
})  # fmt: skip

"""`jax.custom_vjp` and `jax.custom_jvp`: functions whose derivatives have rules of their own.

Inside shard_map a cotangent has the type of its argument: it varies over the same axes
(`custom_derivatives._flatten_bwd`). JAX asks for it only where a derivative is computed, so a rule that
returns another is recorded with a doubt (`CarryUse.doubt`), which a gradient removes that surely runs it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from shardlint.inference.domain.values import (
    NONE,
    Array,
    DictValue,
    Native,
    Value,
    as_int,
    as_items,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.dtypes import is_inexact
from shardlint.inference.overlays.jax.shard_map.varying import variation_of
from shardlint.inference.overlays.jax.transforms.function_transforms import Transfer, transform, transparent
from shardlint.inference.overlays.jax.transforms.jit import function_name
from shardlint.inference.overlays.jax.transforms.taint import (
    following,
    holds_marked,
    is_following,
    made_from_marked,
    marked,
    unmarked,
)
from shardlint.inference.overlays.pytrees.prefixes import NO_PATH, arrays_at, map_arrays, traced
from shardlint.inference.store.effect_log import changed_for_all
from shardlint.inference.store.identity_set import Once
from shardlint.laws.core.array_types import ArrayType
from shardlint.laws.core.values import Unknown
from shardlint.laws.core.verdicts import Rejected, Undecided
from shardlint.laws.transforms.loop_carries import judge_cotangent
from shardlint.laws.transforms.traits import Trait
from shardlint.laws.transforms.varying import Variation
from shardlint.model.spans import Place
from shardlint.model.uses import CarryUse, Fact

VJP, JVP = "jax.custom_vjp", "jax.custom_jvp"
#: The condition under which JAX runs the rule of a custom derivative.
DOUBT = "where a derivative is computed of it"
_RULES = "rules"


def _custom(name: str) -> Transfer:
    """Return `custom_vjp(f, nondiff_argnums)` or `custom_jvp`, whose results are those of the function."""

    def run(call: Call, function: Value, options: dict[str, Value]) -> Value:
        # Under a derivative its rule takes its place, without the effects that it has.
        with call.interpreter.within(compiles=False):
            result = transparent(call, function, options)
        if call.interpreter.context.deriving:
            return _followed(call, result)
        if name == VJP and call.interpreter.context.check_vma is True:
            _note_cotangents(call, function, options, result)
        return map_arrays(result, _traced_by_hand, NO_PATH, several=True)

    make = transform(name, run, once=True)

    def wrap(call: Call) -> Value:
        rules = DictValue({}, path=call.interpreter.path)
        made = make(replace(call, kwargs={**call.kwargs, _RULES: rules}))
        if name == VJP and isinstance(made, Native) and made.wraps is not None:
            made.attributes |= {
                "defvjp": Native("defvjp", lambda inner: _define(inner, rules)),
                _RULES: rules,
            }
        return made

    return wrap


def _define(call: Call, rules: DictValue) -> Value:
    """``f.defvjp(fwd, bwd)``."""
    known = call.interpreter.certain(rules.path) and not call.opaque and len(call.args) == 2
    # Calls of the function read them unnoticed.
    changed_for_all(rules)
    rules.items = dict(zip(("fwd", "bwd"), call.args, strict=True)) if known and not call.kwargs else None
    rules.origin = call.place_of(1, "bwd")
    return NONE


def _traced_by_hand(array: Array, _: str) -> Array:
    """Return a result of which it is not known how the sums in it are transposed."""
    traits = frozenset(trait for trait in array.traits if trait[0] not in (Trait.SUMMED, Trait.SPLIT))
    return array if traits == array.traits else replace(array, traits=traits)


def _followed(call: Call, result: Value) -> Value:
    """Return a result while a taint goes where derivatives do: as the rule passes it on."""
    context = call.interpreter.context
    reached = any(map(holds_marked, (*call.args, *call.kwargs.values())))
    if reached and context.watched is not None:
        context.watched.append(call.place)
    passes = reached or context.marking == call.place

    def pass_on(array: Array, _: str) -> Array:
        plain = array.vary(unmarked(array.variation))
        return made_from_marked(plain) if passes and is_inexact(array.dtype) else plain

    return map_arrays(result, pass_on, NO_PATH, several=True)


# -- rules ----------------------------------------------------------------------------------------------


def _note_cotangents(call: Call, function: Value, options: dict[str, Value], result: Value) -> None:
    """Record a cotangent that the function's rule returns, and whose type is not its argument's."""
    interpreter, held = call.interpreter, options.get(_RULES)
    rules = held.items if isinstance(held, DictValue) else None
    static = _static(options)
    if not rules or static is None or call.opaque or call.kwargs or is_following(interpreter.context):
        return
    if interpreter.context.deriving is None or interpreter.is_silent:
        return
    args = [arg if i in static else traced(arg) for i, arg in enumerate(call.args)]
    given = _cotangents(call, rules, args, static)
    primals = [(i, arg) for i, arg in enumerate(args) if i not in static]
    if given is None or len(given) != len(primals):
        return
    names = interpreter.parameter_names(function)
    for (i, primal), cotangent in zip(primals, given, strict=True):
        found = {path: array for array, path in arrays_at(cotangent)}
        for array, path in arrays_at(primal):
            other = found.get(path)
            if other is None or not is_inexact(array.dtype):
                continue
            if isinstance(judge_cotangent(array.variation, other.variation), Rejected):
                name = f"`{names[i]}{path}`" if i < len(names) else f"argument {i}{path}"
                stated = held.origin if isinstance(held, DictValue) else None
                _record(call, stated or call.place, f"{name} of `{function_name(function)}`", array, other)
                return


def _static(options: dict[str, Value]) -> frozenset[int] | None:
    """Return the numbers of the arguments that are not differentiated; None if they are not known."""
    if "nondiff_argnames" in options:
        return None
    stated = options.get("nondiff_argnums", options.get("#1"))
    if stated is None:
        return frozenset()
    items = as_items(stated)
    numbers = [as_int(item) for item in ((stated,) if items is None else items)]
    known = frozenset(number for number in numbers if number is not None and number >= 0)
    return known if len(known) == len(numbers) else None


def _cotangents(
    call: Call, rules: dict[object, Value], args: Sequence[Value], static: frozenset[int]
) -> Sequence[Value] | None:
    """Return what the rule returns for a cotangent in the type of the function's result; None where that is
    not known, or JAX refuses something in the rules."""
    interpreter = call.interpreter
    outer, interpreter.uses = interpreter.uses, Once()
    try:
        with (
            interpreter.forked(guards=False),
            interpreter.within(in_jit=True, deriving=None, caught=frozenset()),
        ):
            pair = as_items(interpreter.call(rules["fwd"], args, {}, call.place))
            if pair is None or len(pair) != 2 or isinstance(pair[0], Unknown):
                return None
            cotangent = map_arrays(traced(pair[0]), _as_cotangent)
            first = [args[i] for i in sorted(static) if i < len(args)]
            found = as_items(interpreter.call(rules["bwd"], [*first, pair[1], cotangent], {}, call.place))
        # What the rules do otherwise comes first.
        refused = any(isinstance(use.verdict, Rejected) for use in interpreter.uses)
        return None if refused else found
    finally:
        interpreter.uses = outer


def _as_cotangent(array: Array, _: str) -> Array:
    own = variation_of(array)
    return Array(array.shape, array.dtype, typed=array.typed).vary(Variation(own.surely, own.perhaps))


def _record(call: Call, rule: Place, name: str, primal: Array, cotangent: Array) -> None:
    call.interpreter.record(
        CarryUse(
            place=call.place,
            environment=call.interpreter.environment(),
            verdict=Undecided(DOUBT),
            facts=(Fact("the rule is given here", rule),),
            function=VJP,
            path=name,
            before=ArrayType(primal.shape, primal.dtype, primal.typed, primal.varying),
            after=ArrayType(cotangent.shape, cotangent.dtype, cotangent.typed, cotangent.varying),
            doubt=DOUBT,
        )
    )


# -- gradients ------------------------------------------------------------------------------------------


def differentiated(
    call: Call, args: Sequence[Value], chosen: Callable[[Sequence[Value]], Value],
    evaluate: Callable[[Sequence[Value]], Value],
) -> tuple[Value, bool]:  # fmt: skip
    """Return the value of a function of which the gradient by its ``chosen`` arguments is computed, and
    whether JAX rejects a rule of a custom derivative in it.

    ``evaluate`` is called once more for each use in doubt.
    """
    interpreter = call.interpreter
    if is_following(interpreter.context) or interpreter.context.deriving is None:
        return evaluate(args), False
    outer, interpreter.uses = interpreter.uses, Once()
    try:
        value = evaluate(args)
    finally:
        uses, interpreter.uses = interpreter.uses, outer
        outer.extend(uses)
    doubts = [use for use in uses if isinstance(use, CarryUse) and use.doubt == DOUBT]
    sure = [use for use in doubts if _is_run(call, args, chosen, evaluate, use)]
    for use in sure:
        rule = use.facts[0]
        axes = (kind.varying or frozenset() for kind in (use.before, use.after))
        verdict = judge_cotangent(*(Variation(surely, surely) for surely in axes))
        where = Fact(f"{use.path.rpartition(' of ')[2]} is called here", use.place, kind="call")
        interpreter.record(replace(use, place=rule.place, facts=(where,), verdict=verdict, doubt=None))
    return value, bool(sure)


def _is_run(
    call: Call, args: Sequence[Value], chosen: Callable[[Sequence[Value]], Value],
    evaluate: Callable[[Sequence[Value]], Value], use: CarryUse,
) -> bool:  # fmt: skip
    """Return whether JAX certainly runs the rule: derivatives lead from the value to the call, and from there
    to a chosen argument."""
    with following(call.interpreter, inside=True, deriving=True, marking=use.place):
        if not holds_marked(evaluate(args)):
            return False
    by = chosen(args)
    several = all(by is not arg for arg in args)
    differentiated_by = {id(one) for one in (as_items(by) or () if several else (by,))}
    reached: list[object] = []
    with following(call.interpreter, inside=True, deriving=True, watched=reached):
        evaluate([marked(arg) if id(arg) in differentiated_by else arg for arg in args])
    return use.place in reached


TABLE: dict[str, Transfer] = {VJP: _custom(VJP), JVP: _custom(JVP)}

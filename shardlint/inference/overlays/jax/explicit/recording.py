"""Records of operations that the laws of explicit sharding reject."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from shardlint.inference.domain.values import (
    Array,
    Const,
    Integer,
    LibraryObject,
    ListValue,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.jax.explicit.type_conversion import type_of
from shardlint.inference.overlays.jax.sharding.placement_check import text_of
from shardlint.inference.overlays.recording import record_of_value
from shardlint.inference.overlays.witness_values import call_of, data_of, operand
from shardlint.laws.core.array_types import ArrayType
from shardlint.laws.core.values import Spec, Unknown
from shardlint.laws.core.verdicts import Accepted, Cause, Rejected, Undecided
from shardlint.laws.core.witness_data import Known, array_data, call_data
from shardlint.model.spans import Place
from shardlint.model.uses import OperationUse

#: Returns the call of an operation as data; None if a value in it is unknown.
Written = Callable[[Sequence[Value], dict[str, Value]], Known]

_SHORT = {"jax.numpy.": "jnp.", "jax.lax.": "lax."}


def short_name(name: str) -> str:
    """Return a function as programs name it: ``jnp.add``, ``lax.reshape``, ``jax.nn.softmax``."""
    prefix = next((long for long in _SHORT if name.startswith(long)), "")
    return _SHORT.get(prefix, "") + name[len(prefix) :]


def record_operation(
    interpreter: Evaluator,
    place: Place,
    verdict: Rejected,
    function: str,
    args: Sequence[Value],
    kwargs: dict[str, Value],
    written: Written,
    *,
    concrete: bool = False,
) -> None:
    """Record that a law rejects an operation, perhaps of concrete arrays only. ``function`` is its name for
    users."""
    operands: list[ArrayType] = []
    named = [_named(arg, operands) for arg in args]
    options = {key: _named(value, operands) for key, value in kwargs.items()}
    requested = kwargs.get("out_sharding")
    interpreter.record(
        OperationUse(
            place=place,
            environment=interpreter.environment(),
            verdict=verdict,
            function=function,
            operands=tuple(operands),
            call=written(named, options),
            out_sharding=_spec_in(requested),
            concrete=concrete,
        )
    )


def refuse_no_sharding(call: Call, name: str) -> bool:
    """Record a tuple, a string or a number for ``out_sharding=``; return whether there is one.

    `sharding_impls.canonicalize_sharding` takes specs and NamedShardings only: TypeError, whatever the mesh.
    """
    requested = call.kwargs.get("out_sharding")
    if (
        not name.startswith(tuple(_SHORT))
        or is_none(requested)
        or not isinstance(requested, Const | Integer | Tuple)
    ):
        return False
    if isinstance(requested, Tuple) and not all(
        isinstance(item, Const | SpecValue) for item in requested.items
    ):
        return False
    verdict = Rejected(Cause.NOT_A_SPEC, "TypeError", "call", detail=text_of(requested))
    args, options = (array_data((8,)), ("tuple", 8)), {"out_sharding": data_of(requested)}
    calls = [call_data("jax.lax.reshape", args, kwargs) for kwargs in (options, {})]
    place = call.place_of(None, "out_sharding")
    record_of_value(call.interpreter, f"{short_name(name)}(out_sharding=)", verdict, place, *calls)
    return True


def record_result(call: Call, function: str, result: ArrayType | None, reason: Unknown | None) -> None:
    """Record that JAX accepts an ``out_sharding=``; ``reason`` is the reason why the result's type is
    unknown."""
    requested = call.kwargs["out_sharding"]
    why = (
        requested.reason
        if isinstance(requested, Unknown)
        else "no mesh is set"
        if reason is None
        else reason.reason
    )
    known = result is not None and result.shape is not None and result.sharding is not None
    call.interpreter.record(
        OperationUse(
            place=call.place,
            environment=call.interpreter.environment(),
            verdict=Accepted() if known else Undecided(why),
            function=function,
            operands=() if result is None else (result,),
            out_sharding=_spec_in(requested),
        )
    )


def _spec_in(requested: Value | None) -> Spec | Unknown | None:
    """Return the spec of what is given as ``out_sharding=``; None where nothing is."""
    spec = requested.spec if isinstance(requested, ShardingValue) else requested
    if spec is None or is_none(spec):
        return None
    return spec.spec if isinstance(spec, SpecValue) else Unknown("spec not known")


def _named(value: Value, operands: list[ArrayType]) -> Value:
    """Return the value with its arrays replaced by operands, whose types are appended."""
    if isinstance(value, Array):
        kind = type_of(value)
        assert kind is not None
        operands.append(kind)
        return operand(len(operands) - 1)
    if isinstance(value, Tuple):
        return Tuple(tuple(_named(item, operands) for item in value.items))
    if isinstance(value, ListValue) and value.items is not None:
        return ListValue([_named(item, operands) for item in value.items])
    if isinstance(value, LibraryObject) and isinstance(array := value.fields.get("value"), Array):
        return _named(array, operands)
    return value


def as_function(name: str) -> Written:
    """Return an operation: a call of a library's function."""
    return lambda args, kwargs: call_of(name, args, kwargs)


def as_method(name: str) -> Written:
    """Return an operation: a call of a method of its first operand."""
    return as_function(f"jax.Array.{name}")


def as_operator(symbol: str) -> Written:
    """Return an operation: an operator on one or two operands."""
    return lambda args, kwargs: call_of(f"{len(args)} {symbol}", args, kwargs)


def as_update(name: str) -> Written:
    """``x0.at[key].set(x1)``."""
    return as_function(f"at[].{name}")


#: ``x0[key]``.
as_index = as_function("[]")

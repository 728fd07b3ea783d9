"""Derivatives: `grad`, `value_and_grad`, `vjp`, `jvp`, `linearize` and the Jacobians."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from shardlint.inference.domain.values import (
    Array,
    Const,
    Native,
    Tuple,
    Value,
    as_bool,
    as_int,
    as_items,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.release_queries import holds
from shardlint.inference.overlays.jax.differentiation.custom_derivatives import differentiated
from shardlint.inference.overlays.jax.explicit.memory_spaces import known_on_device
from shardlint.inference.overlays.jax.lax import loop_sums
from shardlint.inference.overlays.jax.shard_map.reduced_values import scaled_gradient
from shardlint.inference.overlays.jax.shard_map.split_dimensions import own_parts
from shardlint.inference.overlays.jax.shard_map.varying import variation_of, variations
from shardlint.inference.overlays.jax.transforms.function_transforms import Run, Transfer, forward, transform
from shardlint.inference.overlays.jax.transforms.idle_axes import note_gradient
from shardlint.inference.overlays.jax.transforms.taint import MARK, unmarked
from shardlint.inference.overlays.pytrees.prefixes import map_arrays, traced
from shardlint.laws.core.values import Unknown
from shardlint.laws.transforms.traits import Trait
from shardlint.laws.transforms.varying import UNKNOWN, Variation
from shardlint.laws.versions.api_changes import GRADIENTS_ARE_SUMMED


def _parts(result: Value, has_aux: Value | None) -> tuple[Value, tuple[Value, ...]]:
    """Return the parts of a function's result: the differentiated value, and its auxiliary output if it has
    one."""
    known = False if has_aux is None else as_bool(has_aux)
    if known is False:
        return traced(result), ()
    pair = as_items(result)
    if known is None or pair is None or len(pair) != 2:
        return Unknown("auxiliary output"), (Unknown("auxiliary output"),)
    return traced(pair[0]), (traced(pair[1]),)


def _transposed(call: Call) -> AbstractContextManager[None]:
    """Return the context of a function that is transposed: under `vmap` alone, its cotangents need not be
    mapped, and JAX makes a call on these at once.
    """
    context = call.interpreter.context
    mapped = context.in_jit is True and context.staged is not True
    return call.interpreter.within(in_jit=None, staged=context.staged) if mapped else nullcontext()


def _gradient(with_value: bool) -> Run:
    def run(call: Call, function: Value, options: dict[str, Value]) -> Value:
        """Return `grad` and `value_and_grad`: gradients have the form of the arguments."""
        note_gradient(call)
        args = [traced(arg) for arg in call.args]
        has_aux = _has_aux(options)
        results: list[Value] = []

        def evaluate(given: Sequence[Value]) -> Value:
            with _transposed(call):
                results.append(forward(call, function, given))
            return _parts(results[-1], has_aux)[0]

        _, rejected = differentiated(call, args, lambda given: _chosen(options, given), evaluate)
        result = results[0]
        if rejected:
            return Unknown("JAX rejects a rule of a custom derivative")
        if has_aux is not None and as_bool(has_aux) is None:
            return Unknown("a gradient, perhaps with auxiliary output")
        value, aux = _parts(result, has_aux)
        gradients = _cotangent(call, _chosen(options, args), variation_of(value), of_value=True)
        if with_value:
            return Tuple((Tuple((value, *aux)) if aux else value, gradients))
        return Tuple((gradients, *aux)) if aux else gradients

    return run


def _has_aux(options: dict[str, Value]) -> Value | None:
    return options.get("has_aux", options.get("#2"))


def _chosen(options: dict[str, Value], parts: Sequence[Value]) -> Value:
    """Return the parts for the arguments that ``argnums`` selects: one, or a tuple."""
    wanted = options.get("argnums", options.get("#1", Const(0)))
    number = as_int(wanted)
    if number is not None:
        return parts[number] if -len(parts) <= number < len(parts) else Unknown("no such argument")
    numbers = [as_int(item) for item in as_items(wanted) or ()]
    if not numbers or any(n is None or not -len(parts) <= n < len(parts) for n in numbers):
        return Unknown("gradients that are not known")
    return Tuple(tuple(parts[n] for n in numbers if n is not None))


def _tangent(tree: Value) -> Value:
    """Return the form of a tree's derivative; derivatives of integers have no data."""

    def tangent(array: Array, _: str) -> Value:
        exact = array.dtype is None or array.dtype.startswith(("float", "bfloat", "complex"))
        dtype = array.dtype if exact else "float0"
        # An array without a mesh gets one from a result with a mesh that was computed from it.
        typed = array.typed if array.typed is not None and array.typed.mesh is not None else None
        memory = known_on_device(array)
        return Array(
            array.shape, dtype, array.weak and exact, origin=array.origin, typed=typed, memory=memory
        )

    return map_arrays(tree, tangent)


def _cotangent(call: Call, argument: Value, value: Variation, *, of_value: bool = False) -> Value:
    """Return the gradient by an argument of a function whose value has this variation.

    It has the argument's type, with unreduced and reduced axes exchanged. If types track variation, JAX sums
    it over the axes that the value varies over and the argument does not; otherwise each device has its own.
    ``of_value`` tells that it is of nothing but that value.
    """
    checked = call.interpreter.context.check_vma is True
    sums = checked and holds(call.interpreter, GRADIENTS_ARE_SUMMED)

    def vary(array: Array, _: str) -> Value:
        variation = variation_of(array)
        summed = frozenset(axis for axis in value.surely if sums and variation.never(axis))
        own = UNKNOWN if checked else scaled_gradient(call, array, value)
        cotangent = replace(variation, equal=variation.equal | summed) if sums else own
        if summed:
            means = {(Trait.GRADIENT, axis) for axis in value.axes_of(Trait.MEAN) & summed}
            cotangent = replace(cotangent, traits=cotangent.traits | means)
        typed = array.typed
        if typed is not None:
            # `core.primal_sharding_to_cotangent_sharding`
            spec = replace(typed.spec, unreduced=typed.spec.reduced, reduced=typed.spec.unreduced)
            typed = replace(typed, spec=spec)
        gradient = _tangent(replace(array, typed=typed))
        # The derivative of a linear function depends neither on its arguments nor on its value.
        if not isinstance(gradient, Array):
            return gradient
        gradient = replace(gradient.vary(unmarked(cotangent), summed - {MARK}), drawn_at=call.place)
        gradient = own_parts(call.interpreter, array, gradient)
        return loop_sums.gradient(call.interpreter, value, array, gradient) if of_value else gradient

    return map_arrays(argument, vary)


def _vjp(call: Call) -> Value:
    """`vjp(f, *primals, has_aux=)`: the value, and a function from cotangents to gradients."""
    if not call.args or call.opaque or set(call.kwargs) - {"has_aux", "reduce_axes"}:
        return Unknown("vjp")
    function, *rest = call.args
    args = [traced(arg) for arg in rest]
    value, aux = _parts(call.interpreter.call(function, args, {}, call.place), call.kwargs.get("has_aux"))
    variation = variation_of(value)
    back = Native(
        "a vjp function", lambda inner: Tuple(tuple(_cotangent(inner, arg, variation) for arg in args))
    )
    return _known_aux(call, Tuple((value, back, *aux)))


def _varying_as(call: Call, value: Value) -> Value:
    """Return the derivative of a value, where each tangent has the type of its primal: then the derivative
    has that of the value (`core.AbstractValue.to_tangent_aval`), on JAX 0.10.2 and 0.12.0.1."""
    if call.interpreter.context.check_vma is not True:
        return _tangent(value)

    def tangent(array: Array, _: str) -> Value:
        found = _tangent(array)
        own = Variation(array.varying, array.may_vary)
        return found.vary(own) if isinstance(found, Array) else found

    return map_arrays(value, tangent)


def _are_alike(primals: Value, tangents: Value) -> bool:
    """Return whether all arrays of two trees certainly vary over the same axes."""
    found = {(one.surely, one.perhaps) for tree in (primals, tangents) for one in variations(tree)}
    return len(found) == 1 and all(surely == perhaps for surely, perhaps in found)


def _jvp(call: Call) -> Value:
    """`jvp(f, primals, tangents, has_aux=)`: the value and its derivative.

    Where a tangent varies over other axes than its primal, so may the derivative.
    """
    function, primals, tangents, has_aux = call.bind("fun", "primals", "tangents", has_aux=None)
    items = as_items(primals)
    if function is None or primals is None or items is None:
        return Unknown("jvp")
    result = call.interpreter.call(function, [traced(arg) for arg in items], {}, call.place)
    value, aux = _parts(result, has_aux)
    alike = tangents is not None and _are_alike(primals, tangents)
    derivative = _varying_as(call, value) if alike else _tangent(value)
    return _known_aux(call, Tuple((value, derivative, *aux)))


def _linearize(call: Call) -> Value:
    """`linearize(f, *primals, has_aux=)`: the value, and a function from tangents to its derivative."""
    if not call.args or call.opaque or set(call.kwargs) - {"has_aux"}:
        return Unknown("linearize")
    function, *rest = call.args
    result = call.interpreter.call(function, [traced(arg) for arg in rest], {}, call.place)
    value, aux = _parts(result, call.kwargs.get("has_aux"))
    forwards = Native("a linear function", lambda inner: _varying_as(call, value))
    return _known_aux(call, Tuple((value, forwards, *aux)))


def _known_aux(call: Call, result: Tuple) -> Value:
    has_aux = call.argument(None, "has_aux")
    return (
        Unknown("perhaps with auxiliary output")
        if has_aux is not None and as_bool(has_aux) is None
        else result
    )


def _jacobian(levels: int, forwards: bool) -> Run:
    def run(call: Call, function: Value, options: dict[str, Value]) -> Value:
        """`jacfwd`, `jacrev`, `hessian`: a tree like the arguments for each leaf of the result."""
        args = [traced(arg) for arg in call.args]
        result, has_aux = forward(call, function, args), _has_aux(options)
        if has_aux is not None and as_bool(has_aux) is None:
            return Unknown("a Jacobian, perhaps with auxiliary output")
        value, aux = _parts(result, has_aux)
        chosen = _chosen(options, args)
        for _ in range(levels):
            value = map_arrays(value, lambda leaf, _: _beside(leaf, chosen, forwards))
        return Tuple((value, *aux)) if aux else value

    return run


def _beside(out: Array, tree: Value, forwards: bool) -> Value:
    """Return the derivative of one leaf by each leaf of a tree: their shapes are concatenated."""

    def join(leaf: Array, _: str) -> Value:
        shape = None if out.shape is None or leaf.shape is None else (*out.shape, *leaf.shape)
        return Array(shape, out.dtype if forwards else leaf.dtype, out.weak if forwards else leaf.weak)

    return map_arrays(tree, join)


TABLE: dict[str, Transfer] = {
    "jax.grad": transform("jax.grad", _gradient(with_value=False)),
    "jax.value_and_grad": transform("jax.value_and_grad", _gradient(with_value=True)),
    "jax.jacfwd": transform("jax.jacfwd", _jacobian(1, forwards=True)),
    "jax.jacrev": transform("jax.jacrev", _jacobian(1, forwards=False)),
    "jax.jacobian": transform("jax.jacobian", _jacobian(1, forwards=False)),
    "jax.hessian": transform("jax.hessian", _jacobian(2, forwards=True)),
    "jax.vjp": _vjp,
    "jax.jvp": _jvp,
    "jax.linearize": _linearize,
}

"""`jax.jit`: shardings of arguments and results, and traced functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial

from shardlint.inference.domain.values import (
    Array,
    Bound,
    Const,
    Devices,
    DictValue,
    External,
    Function,
    ListValue,
    MeshValue,
    Native,
    Partial,
    SetValue,
    ShardingValue,
    Tuple,
    Value,
    as_int,
    as_items,
    as_str,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.jax.compiling.jitted_calls import note_compilations
from shardlint.inference.overlays.jax.configuration import DISABLE_JIT, is_set
from shardlint.inference.overlays.jax.explicit.captured_arrays import note_captured, note_returned
from shardlint.inference.overlays.jax.explicit.device_lists import is_put
from shardlint.inference.overlays.jax.explicit.memory_spaces import returned_to
from shardlint.inference.overlays.jax.explicit.unplaced_arguments import note_on_mesh
from shardlint.inference.overlays.jax.sharding.made_arrays import note_given, note_given_again, returned
from shardlint.inference.overlays.jax.sharding.movement import arrived, laid
from shardlint.inference.overlays.jax.sharding.placement_check import (
    device_of,
    place_array,
    place_unknown,
    record_mismatch,
)
from shardlint.inference.overlays.jax.transforms import jit_results
from shardlint.inference.overlays.jax.transforms.ahead_of_time import ahead_of_time
from shardlint.inference.overlays.jax.transforms.donation import note_donated, note_ignored, note_inside
from shardlint.inference.overlays.jax.transforms.given_away import (
    deleted_arguments,
    has_mesh,
    note_given_away,
    refuse_gone,
)
from shardlint.inference.overlays.jax.transforms.idle_axes import note_idle_axes
from shardlint.inference.overlays.jax.transforms.jit_arguments import (
    TRACING,
    Argument,
    argument_name,
    calls,
    check_committed,
    committed_arguments,
    homes,
    is_used,
    lowers,
    refuse_arguments,
    refuse_keywords,
    refuse_options,
    refuse_static,
    rejected_at_once,
    runs,
)
from shardlint.inference.overlays.jax.transforms.jit_devices import (
    JittedCall,
    check_devices,
    lying_with,
    refuse_ordered,
)
from shardlint.inference.overlays.jax.transforms.lowering import lowered
from shardlint.inference.overlays.jax.transforms.stacked_copies import note_arguments
from shardlint.inference.overlays.pytrees.nodes import Trees
from shardlint.inference.overlays.pytrees.prefixes import (
    NO_PATH,
    arrays_at,
    is_leaf,
    map_arrays,
    map_prefix,
    mismatch,
    traced,
)
from shardlint.laws.core.values import Unknown
from shardlint.laws.core.verdicts import Api
from shardlint.laws.placement.spec_arity import judge_arity
from shardlint.model.spans import Place
from shardlint.model.uses import ArityUse, Fact, Use

_OPTIONS = frozenset(
    "in_shardings out_shardings static_argnums static_argnames donate_argnums donate_argnames keep_unused "
    "device backend inline abstracted_axes compiler_options in_axis_resources out_axis_resources".split()
)


def _jit(call: Call) -> Value:
    """``jit(f, in_shardings=, out_shardings=, static_argnums=, static_argnames=)``."""
    if call.opaque or set(call.kwargs) - _OPTIONS - {"fun", "f"}:
        return Unknown("jit with arguments that are not known")
    function = call.argument(0, "fun") or call.argument(0, "f")
    if function is None:
        # ``@jax.jit(static_argnums=0)``: a decorator that gets its options first.
        options = dict(call.kwargs)
        return Native(
            "jax.jit(...)",
            lambda inner: _jit(Call(inner.interpreter, call.name, inner.args, options, inner.place)),
        )
    in_shardings, out_shardings = call.kwargs.get("in_shardings"), call.kwargs.get("out_shardings")
    if call.name.endswith("pjit"):  # `jax.jit` takes them as keywords only.
        in_shardings = call.argument(1, "in_shardings")
        out_shardings = call.argument(2, "out_shardings")
    return jitted(call, function, in_shardings, out_shardings)


def jitted(call: Call, function: Value, in_shardings: Value | None, out_shardings: Value | None) -> Value:
    """Return the jitted function; each call checks arguments and results and evaluates the body."""
    static, name = _static_arguments(call, function), function_name(function)
    # The old options move committed arguments too.
    moves = any(given(call.kwargs.get(option)) for option in ("device", "backend"))
    if refuse_options(call, in_shardings, out_shardings):
        return Unknown("JAX rejects these options")
    for api, shardings in ((Api.JIT_IN, in_shardings), (Api.JIT_OUT, out_shardings)):
        if given(shardings):
            assert shardings is not None
            with _meshes(call.interpreter, call.name):
                if rejected_at_once(call, api, shardings):
                    return Unknown("JAX rejects these shardings")
    jit_results.note_whole(call)

    def run(inner: Call, held: list[Argument] | None = None) -> Value:
        """Evaluate a call; ``held`` is given the placed arguments."""
        interpreter, args = inner.interpreter, list(inner.args)
        if is_set(interpreter, DISABLE_JIT) and calls(inner):
            return interpreter.call(function, args, inner.kwargs, inner.place, inner.opaque)
        note_inside(call, inner, name, interpreter.parameter_names(function), args)
        before = len(interpreter.uses)
        dynamic = None if static is None else [i for i in range(len(args)) if i not in static[0]]
        names = frozenset() if static is None else static[1]
        if static is not None and refuse_static(inner, "jax.jit", function, *static):
            return Unknown("JAX refuses a static argument")
        places = {i: inner.place_of(i, "") for i in range(len(args))}
        arguments: list[Argument] | None = []
        outermost = interpreter.context.in_jit is False
        trees = Trees()  # Until the body runs nothing changes the arguments.
        arrives = frozenset(dynamic or ()) if outermost else frozenset()
        received = [arrived(arg, trees) if i in arrives else arg for i, arg in enumerate(args)]
        if given(in_shardings) and dynamic is not None:
            assert in_shardings is not None
            if refuse_keywords(inner, in_shardings, name):
                return Unknown("jit with in_shardings takes no keyword arguments")
            with _meshes(interpreter, call.name):
                arguments = _place_arguments(
                    inner, function, in_shardings, args, dynamic, places, call.place, received
                )
        elif dynamic is not None and not moves:
            arguments = committed_arguments(inner, function, args, dynamic, places, trees)
        if lowers(inner) and dynamic is not None:
            note_arguments(inner, interpreter.parameter_names(function), received, trees)
        if refuse_arguments(inner, dynamic, names, trees):
            return Unknown("JAX rejects a leaf that is no array")
        seen = [
            traced(arg, trees) if dynamic is None or i in dynamic else arg for i, arg in enumerate(received)
        ]
        kwargs = {k: v if k in names else traced(v) for k, v in inner.kwargs.items()}
        if static is None:
            seen = [Unknown("static or traced") for _ in args]
            kwargs = {k: Unknown("static or traced") for k in kwargs}

        body: list[Use] = []
        made: list[Value] = []

        def evaluate() -> Value:
            compiles = interpreter.context.compiles and not inner.name.endswith(TRACING)
            with _body(interpreter, call.name), interpreter.within(in_jit=True, compiles=compiles):
                result = interpreter.call(function, seen, kwargs, inner.place, inner.opaque)
            # Outside of any jit these are all uses of the body.
            body.extend(interpreter.uses)
            made.append(result)
            return traced(map_arrays(result, _without_home, NO_PATH, several=True, keeps=True))

        def refuses() -> bool:
            """Return whether an argument is an array that was donated before, and is used."""
            found = deleted_arguments(inner, dynamic, trees) if runs(inner) else ()
            return any(
                refuse_gone(interpreter, array, places[at], f"`{name}`")
                for at, path, array in found
                if is_used(inner, function, seen, kwargs, at, path)
            )

        def note(result: Value) -> None:
            """Record donated arguments that no result can take, deleted ones, idle axes, captured arrays."""
            names = interpreter.parameter_names(function)
            if lowers(inner):
                traces = (*(seen[i] for i in dynamic or ()), *kwargs.values())
                note_captured(inner, name, traces, tuple(body), evaluate)
                note_donated(call, inner, names, received, result)
                note_ignored(call, inner, function, name, names, args, seen, result, body)
                note_given(inner, name, names, args, received, after)
                if not given(in_shardings):
                    note_given_again(inner, name, args, received)
            if runs(inner):
                recorded = [*body, *interpreter.uses[before:]]
                if dynamic is not None:
                    arriving = [*(received[i] for i in dynamic), *inner.kwargs.values()]
                    note_idle_axes(inner, name, arriving, result, recorded, after)
                    note_on_mesh(inner, () if given(in_shardings) else arriving, after)
                on = placed or any(map(has_mesh, recorded))
                shown = [*(args[i] for i in dynamic or ()), *inner.kwargs.values()]
                used = partial(is_used, inner, function, seen, kwargs)
                if on or any(map(is_put, (one for arg in shown for one, _ in arrays_at(arg)))):
                    note_compilations(call, inner, function, name, static, seen, kwargs)
                note_given_away(call, inner, name, names, args, result, placed=on, traced=shown, is_used=used)

        def meet(result: Value) -> bool:
            """Return whether the arguments and results lie on different devices, or on more than a callback
            in the body allows."""
            called = JittedCall(inner, function, seen, kwargs, arguments or (), result)
            with _body(interpreter, call.name):
                apart = lowers(inner) and check_devices(called, tuple(body), evaluate)
                return apart or refuse_ordered(called, body)

        if refuses():
            return Unknown("JAX has deleted an argument")
        result, after = lowered(interpreter, evaluate), Trees()
        if arguments is None or meet(result):
            return Unknown("JAX rejects these arguments")
        if moves:
            return result
        if held is not None:
            held += arguments
        if not given(out_shardings):
            note(result)
            jit_results.note_results(inner, name, [*args, *inner.kwargs.values()], result)
            if not lowers(inner):
                return result
            if jit_results.refuse_empty(inner, name, result):
                return Unknown("JAX does not split this array")
            given_names = interpreter.parameter_names(function)
            result = returned(inner, name, given_names, received, result)
            result = jit_results.passed_on(inner, received, [*seen, *kwargs.values()], body, result, after)
            return lying_with(JittedCall(inner, function, seen, kwargs, arguments, result), name)
        assert out_shardings is not None
        with _meshes(interpreter, call.name):
            result = _place_results(inner, function, out_shardings, result, call.place)
        if meet(result):
            return Unknown("JAX rejects these out_shardings")
        if lowers(inner):
            note_returned(inner, name, made[0], result)
        note(result)
        return _committed(inner, result)

    placed, description = given(in_shardings) or given(out_shardings), f"jit({name})"
    native = Native(
        description,
        run,
        wraps=function,
        origin=call.place,
        attributes=ahead_of_time(description, run, function, None if moves else static),
        # Inside another jit, only shardings are checked on arguments.
        whole=lambda inner: not placed and inner.interpreter.context.in_jit is True,
    )
    return call.interpreter.wrapped(native)


def _meshes(interpreter: Evaluator, name: str) -> AbstractContextManager[None]:
    """Return the context in which bare specs among shardings find a mesh: for `jax.jit` never that of ``with
    mesh:`` (`pjit.get_ctx_mesh`, JAX 0.10.2)."""
    return _body(interpreter, name) if name.endswith("pjit") else interpreter.within(legacy_mesh=None)


def _body(interpreter: Evaluator, name: str) -> AbstractContextManager[None]:
    """Return the context of a jitted body: `pjit` prefers the mesh of ``with mesh:`` to that of
    `jax.set_mesh`."""
    legacy = interpreter.context.legacy_mesh
    takes = name.endswith("pjit") and isinstance(legacy, MeshValue)
    return interpreter.within(mesh=legacy) if takes else nullcontext()


def _without_home(array: Array, _: str) -> Array:
    """Return a result without its sharding if it is an array from outside that the function returns: of
    these jit takes the values."""
    return array if array.committed is None else replace(array, sharding=None, laid=None)


def _committed(call: Call, result: Value) -> Value:
    """Return the result of a jit with out_shardings: outside any other jit, its arrays are committed to
    them."""
    if call.interpreter.context.in_jit is not False:
        return result

    def commit(array: Array, _: str) -> Array:
        if isinstance(array.committed, Devices):
            return array
        return replace(array, committed=array.sharding, memory=returned_to(array))

    return map_arrays(result, commit, NO_PATH)


def given(value: Value | None) -> bool:
    """Return whether shardings are passed: None leaves the choice to JAX."""
    return value is not None and not is_none(value)


def function_name(function: Value) -> str:
    """Return a function's name for users."""
    if isinstance(function, Function):
        return function.name
    if isinstance(function, Native) and function.wraps is not None:
        return function_name(function.wraps)
    if isinstance(function, Bound | Partial):
        return function_name(function.function)
    return function.name if isinstance(function, External) else "the function"


def _static_arguments(call: Call, function: Value) -> tuple[frozenset[int], frozenset[str]] | None:
    """Return positions and names of static arguments; None if they are unknown."""
    numbers, names = call.kwargs.get("static_argnums"), call.kwargs.get("static_argnames")
    while isinstance(function, Function) and function.wrapped is not None:
        # `inspect.signature` follows `functools.wraps`.
        function = function.wrapped
    parameters = call.interpreter.parameter_names(function)
    positions: set[int] = set()
    keywords: set[str] = set()
    for item in _sequence(numbers):
        number = as_int(item)
        if number is None:
            return None
        positions.add(number if number >= 0 else number + len(parameters))
    for item in _sequence(names):
        name = as_str(item)
        if name is None:
            return None
        keywords.add(name)
    if keywords and not parameters and not isinstance(function, Function):
        return None
    # JAX infers each of the two from the other if the signature is known.
    positions |= {parameters.index(name) for name in keywords if name in parameters}
    keywords |= {parameters[i] for i in positions if 0 <= i < len(parameters)}
    return frozenset(positions), frozenset(keywords)


def _sequence(value: Value | None) -> Sequence[Value]:
    if value is None or is_none(value):
        return ()
    if isinstance(value, SetValue) and value.items is not None:
        return [Const(item) for item in value.items]
    items = as_items(value)
    return items if items is not None else (value,)


def _place_arguments(
    call: Call,
    function: Value,
    shardings: Value,
    args: Sequence[Value],
    dynamic: Sequence[int],
    places: dict[int, Place],
    wrapped_at: Place,
    received: list[Value],
) -> list[Argument] | None:
    """Judge the arguments of a call against ``in_shardings``, and return the devices they are on.

    None if an argument is committed to another sharding. ``wrapped_at`` is the `jit`; ``received`` are the
    arguments as the function receives them, and get their layouts.
    """
    interpreter = call.interpreter
    columns = as_items(shardings)
    if columns is not None and not is_leaf(shardings):
        if len(columns) != len(dynamic) and not call.opaque:
            _record_arity(call, Api.JIT_IN, function, len(columns), len(dynamic), shardings)
            return []
    elif is_leaf(shardings):
        columns = (shardings,) * len(dynamic)
    elif isinstance(shardings, DictValue) and shardings.items and not call.opaque:
        problem = "a dict of shardings for the tuple of arguments; give one an argument"
        record_mismatch(interpreter, Api.JIT_IN, function_name(function), shardings, problem, call.place)
        return []
    else:
        place_unknown(interpreter, (Api.JIT_IN,), shardings, call.place, wrapped_at=wrapped_at)
        return []
    arguments: list[Argument] = []
    placements: list[tuple[Array, ShardingValue | Devices, str, Place]] = []
    for sharding, position in zip(columns, dynamic, strict=False):
        name = argument_name(call, function, position)

        def place_leaf(
            leaf: Value, array: Array, path: str, name: str = name, position: int = position
        ) -> Value:
            subject = f"`{name}{path}`" if not array.name or path else f"`{array.name}`"
            if is_none(leaf):
                arguments.extend(
                    replace(one, path=path) for one in homes(call, position, arrays_at(array), name)
                )
                return array
            placed = place_array(interpreter, (Api.JIT_IN,), array, leaf, call.place, subject, wrapped_at)
            home = device_of(leaf) or placed.sharding
            if home is not None:
                arguments.append(Argument(position, path, subject, home))
                placements.append((array, home, subject, places[position]))
            return laid(array, placed.sharding)

        text = mismatch(sharding, args[position], f"`{name}`")
        if text is not None:
            record_mismatch(interpreter, Api.JIT_IN, function_name(function), shardings, text, call.place)
            return []
        with interpreter.within(in_jit=True):
            if isinstance(args[position], Unknown) and given(sharding):
                place_unknown(interpreter, (Api.JIT_IN,), sharding, call.place, f"`{name}`", wrapped_at)
            placed = map_prefix(sharding, args[position], place_leaf)
        if interpreter.context.in_jit is False and not isinstance(placed, Unknown):
            received[position] = placed
    refused = [lowers(call) and check_committed(call, *one) for one in placements]
    return None if any(refused) else arguments


def _record_arity(call: Call, api: Api, function: Value, count: int, due: int, shardings: Value) -> None:
    origin = getattr(shardings, "origin", None)
    call.interpreter.record(
        ArityUse(
            place=origin or call.place,
            environment=call.interpreter.environment(),
            verdict=judge_arity(api, count, due),
            facts=(Fact(f"`{function_name(function)}` is called here", call.place, kind="call"),),
            api=api,
            function=function_name(function),
            given=count,
            due=due,
        )
    )


def _place_results(call: Call, function: Value, shardings: Value, result: Value, wrapped_at: Place) -> Value:
    """Judge the results of a jitted function against ``out_shardings``; ``wrapped_at`` is the `jit`."""
    interpreter = call.interpreter
    columns, results = as_items(shardings), as_items(result)
    if columns is not None and results is not None and len(columns) != len(results):
        _record_arity(call, Api.JIT_OUT, function, len(columns), len(results), shardings)
        return result

    alone = jit_results.only_array(result) is not None

    def place_leaf(leaf: Value, array: Array, path: str) -> Value:
        if is_none(leaf):
            return array
        subject = (
            f"result{path} of `{function_name(function)}`"
            if path
            else f"the result of `{function_name(function)}`"
        )
        if (device := device_of(leaf)) is not None:
            return replace(array, sharding=None, committed=device, memory=None)
        place, apis = call.place, (Api.JIT_OUT,)
        return place_array(interpreter, apis, array, leaf, place, subject, wrapped_at, alone=alone)

    if isinstance(shardings, Tuple | ListValue) and isinstance(result, Tuple | ListValue):
        # jit accepts a list of shardings for a tuple of results.
        shardings = (
            Tuple(tuple(columns or ())) if isinstance(result, Tuple) else ListValue(list(columns or ()))
        )
    text = mismatch(shardings, result)
    if text is not None:
        record_mismatch(interpreter, Api.JIT_OUT, function_name(function), shardings, text, call.place)
        return Unknown("the trees differ")
    with interpreter.within(in_jit=True):
        if isinstance(result, Unknown) or isinstance(shardings, Unknown):
            subject = f"the result of `{function_name(function)}`"
            place_unknown(interpreter, (Api.JIT_OUT,), shardings, call.place, subject, wrapped_at)
        placed = map_prefix(shardings, result, place_leaf)
    return map_arrays(result, lambda array, _: array) if isinstance(placed, Unknown) else placed


TABLE: dict[str, Callable[[Call], Value]] = {
    "jax.jit": _jit,
    "jax.experimental.pjit.pjit": _jit,
}

"""The placement of arguments of jitted functions: the devices and shardings to which they are committed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from shardlint.inference.domain.unhashable_values import unhashable
from shardlint.inference.domain.values import (
    Alternatives,
    Array,
    Devices,
    External,
    MeshValue,
    ShardingValue,
    SpecValue,
    Value,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.jax.explicit.device_lists import (
    runs_eagerly,
)
from shardlint.inference.overlays.jax.sharding.placement_check import (
    context_mesh,
    place_array,
    rejected_at,
)
from shardlint.inference.overlays.jax.transforms.taint import following, holds_marked, marked
from shardlint.inference.overlays.pytrees.nodes import Trees
from shardlint.inference.overlays.pytrees.prefixes import arrays_at, leaves_in
from shardlint.inference.overlays.pytrees.strange_leaves import refuse_leaves
from shardlint.inference.overlays.recording import record_of_value
from shardlint.inference.overlays.witness_values import data_of
from shardlint.laws.core.values import Unknown
from shardlint.laws.core.verdicts import Api, Cause, Rejected
from shardlint.laws.core.witness_data import (
    ANY_FUNCTION,
    IDENTITY,
    NONE,
    Known,
    apply_data,
    array_data,
    call_data,
)
from shardlint.laws.placement.jit_arguments import Layout, judge_committed
from shardlint.laws.placement.judge import judge_placement
from shardlint.model.spans import Place
from shardlint.model.uses import Fact
from shardlint.support.lazy_dataclass import dataclass

#: Ahead-of-time forms that only trace: placement is checked when the function is lowered.
TRACING = (".trace", ".eval_shape")


def lowers(call: Call) -> bool:
    """Return whether a call of a jitted function does more than trace it, outside any jit."""
    return call.interpreter.context.in_jit is False and not call.name.endswith(TRACING)


def calls(call: Call) -> bool:
    """Return whether a jitted function is called, rather than one of its ahead-of-time forms."""
    return not call.name.endswith((*TRACING, ".lower"))


def runs(call: Call) -> bool:
    """Return whether a call of a jitted function runs it, outside any other transformation."""
    return lowers(call) and calls(call) and runs_eagerly(call.interpreter)


def refuse_options(call: Call, in_shardings: Value | None, out_shardings: Value | None) -> bool:
    """Record options of jit that exclude one another (`pjit._parse_jit_arguments`); return whether there
    are any."""
    given = {
        name: value
        for name, value in (
            ("in_shardings", in_shardings),
            ("out_shardings", out_shardings),
            ("device", call.kwargs.get("device")),
            ("backend", call.kwargs.get("backend")),
        )
        if value is not None and not isinstance(value, Unknown | Alternatives) and not is_none(value)
    }
    old = [name for name in ("device", "backend") if name in given]
    if not old or len(given) == 1:
        return False
    first, second = list(given)[:2] if len(old) < 2 else old
    detail = f"{first} and {second} exclude each other"
    verdict = Rejected(Cause.MISUSE, "ValueError", "jit()", detail=detail)
    record_of_value(call.interpreter, "jax.jit options", verdict, call.place_of(None, old[0]))
    return True


def rejected_at_once(call: Call, api: Api, shardings: Value) -> bool:
    """Judge each leaf of shardings when jit is called, before any argument: leaves that are no shardings,
    axes used twice, and unconstrained dimensions (`sharding_impls.prepare_axis_resources`)."""
    place = call.place_of(None, "in_shardings" if api is Api.JIT_IN else "out_shardings")
    here = (Fact("jit is called here", call.place, kind="call"),)
    return any(
        rejected_at(call.interpreter, api, "jit()", leaf, _written_at(leaf) or place, here)
        for leaf in leaves_in(shardings)
        if not is_none(leaf)
    )


def _written_at(leaf: Value) -> Place | None:
    """Return where a spec or sharding was written; None for other values, which are mistakes of the call."""
    return leaf.origin if isinstance(leaf, SpecValue | ShardingValue) else None


def refuse_arguments(call: Call, dynamic: Sequence[int] | None, static: frozenset[str], trees: Trees) -> bool:
    """Record a leaf that is no array in an argument that is not static; return whether there is one.
    ``dynamic`` are the positions of these, if they are known, ``static`` the names of the others,
    ``trees`` as for `nodes.parts`."""
    keywords = [] if dynamic is None else [key for key in call.kwargs if key not in static]
    given = [(call.args[i], call.place_of(i, ""), "") for i in dynamic or ()]
    given += [(call.kwargs[key], call.place_of(None, key), key) for key in keywords]
    return any(
        refuse_leaves(call, "jax.jit", tree, place, subject, trees=trees) for tree, place, subject in given
    )


def refuse_static(
    call: Call,
    transform: str,
    function: Value,
    positions: Iterable[int],
    keywords: frozenset[str] = frozenset(),
) -> bool:
    """Record a static argument of a transformed function that has no hash; return whether there is one."""
    found = [(i, call.args[i], call.place_of(i, "")) for i in positions if 0 <= i < len(call.args)]
    given = [(argument_name(call, function, i), value, place) for i, value, place in found]
    given += [(key, call.kwargs[key], call.place_of(None, key)) for key in call.kwargs if key in keywords]
    for name, value, place in given if not call.opaque else ():
        if (what := unhashable(value)) is not None:
            detail = f"`{name}` is static, and is {what}"
            verdict = Rejected(Cause.MISUSE, "ValueError", "call", detail=detail)
            # The object of a program's class is replaced by another one without a hash.
            values = (data_of(value) or call_data("an object without a hash"), NONE)
            calls = (_with_static(transform, static) for static in values)
            record_of_value(call.interpreter, f"{transform}(static)", verdict, place, *calls)
            return True
    return False


def _with_static(transform: str, static: Known) -> Known:
    """Return the call of a transformed function with a static argument, and an array beside it."""
    option = "static_broadcasted_argnums" if transform == "jax.pmap" else "static_argnums"
    made = call_data(transform, (ANY_FUNCTION,), {option: 0})
    return apply_data(made, (static, array_data((1,))))


def refuse_keywords(call: Call, in_shardings: Value, function: str) -> bool:
    """Record keyword arguments of a function with in_shardings (`pjit._trace_for_jit`), including static
    ones.

    An unknown value may be None, and so may one that only sets a layout (`Format(Layout.AUTO)`).
    """
    if not call.kwargs or isinstance(in_shardings, Unknown | External):
        return False
    names = ", ".join(f"`{name}`" for name in call.kwargs)
    detail = f"`{function}` is jitted with in_shardings, and takes no keyword arguments: {names}"
    verdict = Rejected(Cause.MISUSE, "ValueError", "trace", detail=detail)
    name = next(iter(call.kwargs))
    calls = [
        apply_data(call_data("jax.jit", (ANY_FUNCTION,), options), (), {name: array_data(())})
        for options in ({"in_shardings": data_of(in_shardings)}, {})
    ]
    record_of_value(call.interpreter, "jax.jit", verdict, call.place_of(None, name), *calls)
    return True


def judge_structs(call: Call, arrays: Leaves, subject: str, place: Place) -> None:
    """Judge the shardings of `ShapeDtypeStruct`s with which a function is traced and lowered."""
    later = not call.name.endswith(".lower")
    for array, path in arrays:
        sharding = array.sharding
        if not array.struct or sharding is None or not isinstance(sharding.mesh, MeshValue):
            continue
        spec = sharding.spec.spec if isinstance(sharding.spec, SpecValue) else sharding.spec
        shape, context = array.shape, context_mesh(call.interpreter, legacy=False)
        if shape is not None:
            verdict = judge_placement(Api.JIT_ARGUMENT, sharding.mesh.mesh, spec, shape, context=context)
            if not (later and isinstance(verdict, Rejected) and verdict.stage == "lower"):
                place_array(
                    call.interpreter, (Api.JIT_ARGUMENT,), array, sharding, place, f"`{subject}{path}`"
                )


def check_committed(
    call: Call, array: Array, wanted: ShardingValue | Devices | None, subject: str, place: Place
) -> bool:
    """Record an argument committed to another layout than that of in_shardings; return whether it is."""
    committed, requested = layout_of(placement(call, array)), layout_of(wanted)
    if committed is None or requested is None or array.shape is None:
        return False
    verdict = judge_committed(requested, committed, len(array.shape))
    if not isinstance(verdict, Rejected):
        return False
    held, due = layout_text(committed), layout_text(requested)
    detail = f"{subject} is committed to {held}, but in_shardings say {due}"
    target = data_of(wanted) if isinstance(wanted, ShardingValue) else None
    jitted = call_data("jax.jit", (IDENTITY,), {"in_shardings": target})
    calls = [apply_data(jitted, (given,)) for given in (_committed(array), _plain(array))]
    record_of_value(call.interpreter, "jax.jit", replace(verdict, detail=detail), place, *calls)
    return True


#: Arrays of a tree, each with its path.
Leaves = Sequence[tuple[Array, str]]


@dataclass(frozen=True, slots=True)
class Argument:
    """An array passed to a jitted function: its position in the call, and its placement.

    ``home`` is the sharding of in_shardings if there is one.
    """

    key: int | str
    path: str
    subject: str
    home: ShardingValue | Devices


def homes(call: Call, key: int | str, arrays: Leaves, name: str) -> list[Argument]:
    """Return the committed arrays of an argument without in_shardings."""
    return [
        Argument(key, path, f"`{array.name or name + path}`", home)
        for array, path in arrays
        if (home := placement(call, array)) is not None
    ]


def committed_arguments(
    call: Call,
    function: Value,
    args: Sequence[Value],
    dynamic: Sequence[int],
    places: dict[int, Place],
    trees: Trees,
) -> list[Argument]:
    """Return the committed arrays among the arguments of a jit without in_shardings; structs are judged."""
    arguments: list[Argument] = []
    for position in dynamic:
        name, arrays = argument_name(call, function, position), arrays_at(args[position], trees)
        judge_structs(call, arrays, name, places[position])
        arguments += homes(call, position, arrays, name)
    for key, value in call.kwargs.items():
        arrays = arrays_at(value, trees)
        judge_structs(call, arrays, key, call.place_of(None, key))
        arguments += homes(call, key, arrays, key)
    return arguments


def argument_name(call: Call, function: Value, position: int) -> str:
    """Return the name of the parameter for an argument, or its number."""
    names = call.interpreter.parameter_names(function)
    return names[position] if position < len(names) else f"argument {position}"


def placement(call: Call, array: Array) -> ShardingValue | Devices | None:
    """Return the certain placement of an argument; a struct's is its sharding."""
    if array.struct:
        return array.sharding if call.name.endswith(".lower") else None
    committed = array.committed
    return committed if isinstance(committed, Devices) or committed == array.sharding else None


def layout_of(home: ShardingValue | Devices | None) -> Layout | None:
    """Return a placement in the form of the laws; None if it is not wholly known."""
    if isinstance(home, Devices):
        return Layout(None) if home.shape == () else None
    if home is None or not isinstance(home.mesh, MeshValue) or not isinstance(home.spec, SpecValue):
        return None
    mesh = home.mesh.mesh
    return None if mesh.abstract or not mesh.names else Layout(mesh, home.spec.spec)


def layout_text(layout: Layout) -> str:
    """Return a layout in words."""
    return "one device" if layout.mesh is None else f"{layout.spec} on {layout.mesh}"


def is_used(
    call: Call, function: Value, args: Sequence[Value], kwargs: dict[str, Value], key: int | str, path: str
) -> bool:
    """Return whether a result certainly depends on an array in an argument; an unused one is dropped, and
    may be anywhere."""

    def given(at: int | str, value: Value) -> Value:
        return marked(value, path) if at == key else value

    positional = [given(at, value) for at, value in enumerate(args)]
    named = {at: given(at, value) for at, value in kwargs.items()}
    with following(call.interpreter):
        return holds_marked(call.interpreter.call(function, positional, named, call.place))


def _plain(value: Value) -> Known:
    """Return an uncommitted array of this shape."""
    if not isinstance(value, Array) or value.shape is None or value.dtype is None:
        return None
    return array_data(value.shape, value.dtype, numpy=False)


def _committed(array: Array) -> Known:
    if not isinstance(array.committed, Devices):
        return data_of(array)
    ids = array.committed.ids
    return (
        None
        if ids is None or len(ids) > 1
        else call_data("jax.device_put", (_plain(array), ("device", ids[0])))
    )

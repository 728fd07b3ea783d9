"""`jax.lax` collectives: the axes they name, their result on a shard, and the axes over which it varies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace

from shardlint.inference.domain.values import (
    Array,
    Const,
    MeshValue,
    ShardingValue,
    Value,
    as_bool,
    as_int,
    as_items,
    as_str,
    integer,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import given
from shardlint.inference.overlays.jax.lax import loop_sums
from shardlint.inference.overlays.jax.shard_map.axis_order import disordered, reordered
from shardlint.inference.overlays.jax.shard_map.collective_layouts import layout_after
from shardlint.inference.overlays.jax.shard_map.indices.local_numbers import note_gathered
from shardlint.inference.overlays.jax.shard_map.reduced_values import note_misread
from shardlint.inference.overlays.jax.shard_map.varying import manual_axes, variation_of
from shardlint.inference.overlays.jax.transforms.lowering import DOUBT
from shardlint.inference.overlays.jax.transforms.taint import followed
from shardlint.inference.overlays.pytrees.prefixes import arrays_in, map_arrays, traced
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.core.dims import Dim, fresh, product
from shardlint.laws.core.values import Unknown
from shardlint.laws.core.verdicts import Accepted, Rejected, Undecided, Verdict
from shardlint.laws.transforms.collectives import (
    ORDERED,
    Groups,
    Permutation,
    judge_axes,
    judge_forbidden,
    judge_groups,
    judge_permutation,
    local_result,
    without_receiver,
)
from shardlint.laws.transforms.traits import Trait
from shardlint.laws.transforms.varying import (
    CONSTANT,
    UNKNOWN,
    collective_result,
    judge_foreign,
    judge_operand,
    misread,
    repeats,
    unmoved,
)
from shardlint.model.spans import Place
from shardlint.model.uses import CollectiveUse
from shardlint.support.lazy_dataclass import dataclass

#: The result of a collective that JAX refuses.
REJECTED = Unknown("JAX rejects this collective")


@dataclass(frozen=True, slots=True)
class Collective:
    """A call of a collective over ``axes`` of ``size`` devices in total (None: unknown), in ``groups``.

    ``to`` is how the result is to vary; ``arguments`` are its own options, as far as they are known.
    """

    call: Call
    function: str
    axes: tuple[str, ...]
    size: Dim | None
    groups: Groups | Unknown | None = None
    to: str | None = "varying"
    arguments: dict[str, object] = field(default_factory=dict)

    @property
    def checked(self) -> bool | None:
        """Return the ``check_vma`` of the enclosing shard_map."""
        return self.call.interpreter.context.check_vma

    @property
    def manual(self) -> frozenset[str] | None:
        """Return the axes that values may vary over here."""
        return manual_axes(self.call.interpreter.context)

    @property
    def ways(self) -> Dim | None:
        """Return the number of devices that work together."""
        if self.groups is None:
            return self.size
        return None if isinstance(self.groups, Unknown) or not self.groups else len(self.groups[0])

    def record(self, verdict: Verdict, array: Array | None = None, silent: str | None = None) -> None:
        """Record a verdict on the call, or on its operation on one array."""
        call = self.call
        known = array is not None and array.shape is not None
        call.interpreter.record(
            CollectiveUse(
                place=call.place,
                environment=call.interpreter.environment(),
                verdict=verdict,
                function=self.function,
                axes=self.axes,
                shape=array.shape if known and array and array.shape is not None else Unknown("not known"),
                varying=None if array is None else array.varying,
                arguments=tuple(self.arguments.items()),
                axis_places=(_axis_place(call, self.function),) * len(self.axes),
                silent=silent,
            )
        )

    def refuses(self, verdict: Rejected, array: Array | None = None) -> bool:
        """Record a rejection, and return whether JAX raises while tracing; otherwise the call may be dropped
        if its result is unused."""
        later = verdict.stage == "lower"
        self.record(verdict, array, DOUBT if later else None)
        return not later

    def followed(self, result: Value) -> Value:
        """Return a result that may be dropped, marked if `lowering` checks this call."""
        return followed(self.call.interpreter.context, self.call.place, result)

    def each(self, tree: Value, make: Callable[[Array], Value]) -> Value:
        """Map a tree of arrays by ``make``, after judging each; the results vary as in JAX."""
        axes, manual = frozenset(self.axes), self.manual

        def one(array: Array, _: str) -> Value:
            verdict = self._judge(array, manual)
            if isinstance(verdict, Rejected):
                self.record(verdict, array)
                return REJECTED
            result = make(array)
            if not isinstance(result, Array) or manual is None or self.to is None:
                return result
            if self.checked and self.to in ("reduced", "unreduced"):
                # Operations on reduced and unreduced values have their own laws: nothing is claimed.
                return result.vary(UNKNOWN)
            varied = collective_result(
                self.function, axes & manual, variation_of(array), manual=manual,
                checked=self.checked is True, to=self.to, groups=self.groups is not None,
            )  # fmt: skip
            changed = result.vary(varied.over(result.varying))
            told_here = any(trait in (Trait.TIMES, Trait.GRADIENT, Trait.MEANS) for trait, _ in varied.traits)
            if result.laid is not None or told_here:
                changed = replace(changed, laid=result.laid, drawn_at=self.call.place)
            changed = loop_sums.reduced(self.call.interpreter, self.function, self.axes, array, changed)
            if varied.axes_of(Trait.PLACES):
                changed = replace(changed, drawn_at=array.drawn_at)
            if self.function not in ORDERED or not self.call.interpreter.context.orders:
                return changed
            return reordered(
                self.call, self.function, self.axes, array, changed, _axis_place(self.call, self.function)
            )

        return map_arrays(tree, one)

    def _is_ring(self) -> bool:
        """Return whether it is a permutation in which each device receives something."""
        pairs = self.arguments.get("perm")
        return (
            isinstance(pairs, tuple) and isinstance(self.size, int) and not without_receiver(pairs, self.size)
        )

    def _judge(self, array: Array, manual: frozenset[str] | None) -> Verdict:
        """Judge the operand by the axes it varies over, and record a reduction that only multiplies it."""
        if manual is None or self.to is None:
            return Undecided("what it varies over is not known")
        variation, checked = variation_of(array), self.checked
        if not manual.issuperset(self.axes):
            if array.shape is None:
                return Undecided("what vmap makes of the array is not known")
            return judge_foreign(self.function, self.axes, variation, manual=manual, checked=checked)
        grouped = self.groups is not None
        verdict = judge_operand(
            self.function, self.axes, variation, checked=checked, to=self.to, grouped=grouped
        )
        if isinstance(verdict, Accepted):
            verdict = judge_forbidden(self.function, self.axes, self.call.interpreter.context.forbidden)
        if not isinstance(verdict, Accepted) or grouped:
            return verdict
        bound = self.call.interpreter.context.bound_axes
        sizes = {} if isinstance(bound, Unknown) else dict(bound)
        silent = repeats(self.function, self.axes, variation, array.summed, sizes)
        if silent is None and self._is_ring():
            silent = unmoved(self.function, self.axes, variation, sizes)
        if silent is not None:
            self.record(verdict, array, silent)
        elif (trait := misread(self.function, self.axes, variation)) is not None:
            note_misread(self.call, array, self.function, *trait)
        return verdict


def _axis_place(call: Call, function: str) -> Place:
    position = {"axis_index": 0, "axis_size": 0, "ragged_all_to_all": None}.get(function, 1)
    return call.place_of(position, "axis_name")


def _axes(value: Value | None) -> tuple[str, ...] | None:
    """Return the axis names of an argument, or None if they are unknown or not names."""
    text = as_str(value)
    if text is not None:
        return (text,)
    items = as_items(value)
    names = [as_str(item) for item in items or ()]
    return None if items is None or None in names else tuple(name for name in names if name is not None)


def _started(
    call: Call, function: str, axis: Value | None, groups: Value | None = None, **options: Value | None
) -> Collective | None:
    """Judge the axis names and the groups and record the verdict; None if they are rejected or unknown."""
    axes = _axes(axis)
    if axes is None:
        reason = axis.reason if isinstance(axis, Unknown) else "they are not known"
        record_of_value(call.interpreter, f"jax.lax.{function}", Undecided(f"its axes: {reason}"), call.place)
        return None
    context = call.interpreter.context
    bound = context.bound_axes
    sizes = {} if isinstance(bound, Unknown) else dict(bound)
    size = product(sizes[name] for name in axes) if all(name in sizes for name in axes) else None
    to = options.pop("to", None)
    collective = Collective(
        call, function, axes, size, _groups(groups), as_str(to) if given(to) else "varying"
    )
    inside = context.mesh.mesh.names if isinstance(context.mesh, MeshValue) else ()
    open_names = [name for name in inside if name not in sizes]
    verdict = judge_axes(function, axes, bound, check_vma=context.check_vma, kept=open_names)
    collective.record(verdict)
    if isinstance(verdict, Rejected):
        return None
    if collective.groups is not None and not isinstance(collective.groups, Unknown):
        verdict = judge_groups(collective.groups)
        if isinstance(verdict, Rejected):
            collective.record(verdict)
            return None
    return collective


def _groups(value: Value | None) -> Groups | Unknown | None:
    """Return the groups of devices in which a collective runs, each by its indices."""
    if not given(value):
        return None
    rows = [as_items(row) for row in as_items(value) or ()]
    numbers = [[as_int(item) for item in row] for row in rows if row is not None]
    if not rows or len(numbers) < len(rows) or any(number is None for row in numbers for number in row):
        return Unknown("the groups are not known")
    return tuple(tuple(number for number in row if number is not None) for row in numbers)


def _reduction(function: str) -> Callable[[Call], Value]:
    """Return psum or a relative, which preserves the shape of every leaf."""

    def reduce(call: Call) -> Value:
        tree, axis, groups = call.bind("x", "axis_name", axis_index_groups=None)
        started = _started(call, function, axis, groups)
        if tree is None or started is None:
            return REJECTED if _axes(axis) is not None else call.unknown("the axes are not known")
        if isinstance(tree, Const) and started.ways is not None:
            # ``psum(1, axis)`` is the size of the axis, known while tracing.
            number = as_int(tree)
            if function == "psum" and number is not None:
                return integer(started.ways * number)
        if not started.axes:
            return tree if function in ("psum", "pmean") else call.unknown("no axes")

        def reduced(array: Array) -> Value:
            dtype = _reduced(function, array.dtype)
            weak = array.weak and started.checked is True
            return Array(array.shape, dtype, weak, origin=call.place, laid=_laid(started, array))

        return started.each(traced(tree), reduced)

    return reduce


def _reduced(function: str, dtype: str | None) -> str | None:
    """Return the dtype of a reduction: psum counts booleans, and pmean divides."""
    exact = dtype == "bool" or (dtype is not None and dtype.startswith(("int", "uint")))
    if exact and function == "pmean":
        return "float32"
    return "int32" if dtype == "bool" and function == "psum" else dtype


def _reshaping(function: str, required: tuple[str, ...], options: tuple[str, ...]) -> Callable[[Call], Value]:
    """Return all_gather, psum_scatter or all_to_all: shapes by `laws.transforms.collectives.local_result`."""

    def reshape(call: Call) -> Value:
        others = ("axis_index_groups", "to") if function == "all_gather" else ("axis_index_groups",)
        rest = dict.fromkeys((*options, *others))
        names = ("x", "axis_name", *required, *rest)
        bound = dict(zip(names, call.bind("x", "axis_name", *required, **rest), strict=True))
        tree = bound["x"]
        started = _started(call, function, bound["axis_name"], bound["axis_index_groups"], to=bound.get("to"))
        if tree is None or started is None:
            return call.unknown("a collective that is not known")
        if not started.axes:
            return tree if function != "all_to_all" else call.unknown("no axes")
        tree = traced(tree)
        for name in (*required, *options):
            value = bound[name]
            if value is not None:
                known = as_bool(value) if name == "tiled" else as_int(value)
                started.arguments[name] = Unknown(name) if known is None else known
        if function == "all_gather":
            for array in arrays_in(tree):
                note_gathered(call.interpreter, array, started.axes)
        return started.each(tree, lambda array: _local(started, array))

    return reshape


def _local(started: Collective, array: Array) -> Value:
    """Return the result of a reshaping collective on one array."""
    if array.shape is None or any(isinstance(value, Unknown) for value in started.arguments.values()):
        return Array(None, array.dtype, origin=started.call.place)
    ways = fresh(1) if started.ways is None else started.ways
    result = local_result(started.function, array.shape, ways, **started.arguments)
    dimension, later = started.arguments.get("scatter_dimension"), False
    if isinstance(result, Rejected):
        later = not started.refuses(result, array)
        if not later or not isinstance(dimension, int):
            return REJECTED
        # Until the program is lowered, a negative dimension counts from the end.
        arguments = {**started.arguments, "scatter_dimension": dimension % len(array.shape)}
        result = local_result(started.function, array.shape, ways, **arguments)
    shape = None if isinstance(result, Unknown | Rejected) else result
    weak = array.weak and started.function not in ("all_to_all", "pswapaxes")
    local = Array(shape, array.dtype, weak, origin=started.call.place, laid=_laid(started, array))
    return started.followed(local) if later else local


def _laid(started: Collective, array: Array) -> ShardingValue | None:
    """Return the layout of the result of a collective on one array, if it is known."""
    names = sorted(started.manual or ())
    return layout_after(started.function, array, started.axes, started.arguments, names)


def _same(function: str, *names: str) -> Callable[[Call], Value]:
    """Return a collective that preserves shapes: pbroadcast, pcast, pvary."""

    def keep(call: Call) -> Value:
        bound = dict(zip(("x", "axis_name", *names), call.bind("x", "axis_name", *names), strict=True))
        started = _started(call, function, bound["axis_name"], to=bound.get("to"))
        tree = bound["x"]
        if tree is None or started is None:
            return call.unknown("a collective that is not known")
        if (to := bound.get("to")) is not None:
            started.arguments["to"] = as_str(to)
        if not started.axes:
            return tree if function in ("pcast", "pvary") else call.unknown("no axes")
        return started.each(traced(tree), lambda array: _same_shape(call, array))

    return keep


def _same_shape(call: Call, array: Array) -> Array:
    laid = array.laid if call.name in ("jax.lax.pcast", "jax.lax.pvary") else None
    return Array(array.shape, array.dtype, array.weak, origin=call.place, laid=laid)


def _permuting(function: str) -> Callable[[Call], Value]:
    """Return ppermute or pshuffle: each device sends its shard to at most one other."""

    def permute(call: Call) -> Value:
        tree, axis, written = call.bind("x", "axis_name", "perm")
        started = _started(call, function, axis)
        if tree is None or started is None:
            return call.unknown("a collective that is not known")
        permutation = _permutation(function, written)
        manual = started.manual
        if (
            permutation is not None
            and started.axes
            and manual is not None
            and manual.issuperset(started.axes)
        ):
            started.arguments["perm"] = permutation
            verdict = judge_permutation(function, permutation, started.size)
            if isinstance(verdict, Rejected):
                if started.refuses(verdict):
                    return REJECTED
                return started.each(traced(tree), lambda array: started.followed(_same_shape(call, array)))
            if missed := without_receiver(permutation, started.size):
                named = ", ".join(map(str, missed))
                who = f"device {named} receives" if len(missed) == 1 else f"devices {named} receive"
                started.record(verdict, silent=f"{who} nothing, and will hold zeros")
        return started.each(traced(tree), lambda array: _same_shape(call, array))

    return permute


def _permutation(function: str, value: Value | None) -> Permutation | None:
    """Return the pairs of a ppermute or the sources of a pshuffle, or None if they are unknown."""
    items = as_items(value)
    if items is None:
        return None
    if function == "pshuffle":
        sources = [as_int(item) for item in items]
        return tuple((s, i) for i, s in enumerate(sources) if s is not None) if None not in sources else None
    pairs = [tuple(as_int(part) for part in as_items(item) or ()) for item in items]
    if any(len(pair) != 2 or None in pair for pair in pairs):
        return None
    return tuple((source, target) for source, target in pairs)  # type: ignore[misc]


def _swap(call: Call) -> Value:
    """`pswapaxes(x, axis_name, axis)`: an `all_to_all` that splits and concatenates the same dimension."""
    tree, axis_name, axis, groups = call.bind("x", "axis_name", "axis", axis_index_groups=None)
    started = _started(call, "pswapaxes", axis_name, groups)
    if tree is None or started is None or not started.axes:
        return call.unknown("a collective that is not known")
    known = as_int(axis)
    started.arguments["axis"] = Unknown("axis") if known is None else known
    return started.each(traced(tree), lambda array: _local(started, array))


def _ragged(call: Call) -> Value:
    """`ragged_all_to_all(operand, output, ...)`: the output, with the received data written into it."""
    output = call.argument(1, "output")
    started = _started(call, "ragged_all_to_all", call.argument(None, "axis_name"))
    if output is None or started is None:
        return call.unknown("a collective that is not known")
    return map_arrays(traced(output), lambda array, _: _same_shape(call, array).vary(variation_of(array)))


def _axis_index(call: Call) -> Value:
    (axis,) = call.bind("axis_name")
    started, index = _started(call, "axis_index", axis), Array((), "int32", origin=call.place)
    if started is None or started.manual is None:
        return index
    varied = index.vary(CONSTANT.over(frozenset(started.axes) & started.manual))
    return disordered(call, varied, started.axes)


def _axis_size(call: Call) -> Value:
    (axis,) = call.bind("axis_name")
    started = _started(call, "axis_size", axis)
    return Unknown("an axis size") if started is None or started.size is None else integer(started.size)


_scatter = _reshaping("psum_scatter", (), ("scatter_dimension", "tiled"))


def _started_scatter(call: Call) -> Value:
    """Judge `psum_scatter_start` as `psum_scatter`; what is under way is not followed."""
    _scatter(call)
    return Unknown("what is under way")


TABLE: dict[str, Callable[[Call], Value]] = {
    **{f"jax.lax.{name}": _reduction(name) for name in ("psum", "pmean", "pmax", "pmin")},
    "jax.lax.all_gather": _reshaping("all_gather", (), ("axis", "tiled")),
    "jax.lax.psum_scatter": _scatter,
    "jax.lax.psum_scatter_start": _started_scatter,
    "jax.lax.all_to_all": _reshaping("all_to_all", ("split_axis", "concat_axis"), ("tiled",)),
    "jax.lax.pswapaxes": _swap,
    "jax.lax.ragged_all_to_all": _ragged,
    **{f"jax.lax.{name}": _permuting(name) for name in ("ppermute", "pshuffle")},
    "jax.lax.pbroadcast": _same("pbroadcast", "source"),
    "jax.lax.pcast": _same("pcast", "to"),
    "jax.lax.pvary": _same("pvary"),
    "jax.lax.axis_index": _axis_index,
    "jax.lax.axis_size": _axis_size,
}

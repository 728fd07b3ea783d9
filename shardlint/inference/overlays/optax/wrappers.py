"""optax's transformations of transformations, and functions that use transformations.

From optax 0.2.8 (`transforms`, `schedules`, `tree_utils`). `optax.tree_map_params` calls ``init`` with a
placeholder for parameters, as optax does.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial

from shardlint.inference.domain.values import (
    NONE,
    Array,
    Const,
    DictValue,
    LibraryObject,
    Native,
    Tuple,
    Value,
    as_items,
    as_str,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import given, table
from shardlint.inference.overlays.jax.explicit.memory_spaces import refuse_trees
from shardlint.inference.overlays.optax.states import (
    COUNT,
    EMPTY,
    PLACEHOLDER,
    TRANSFORMATION,
    Rule,
    added,
    chained,
    follows_gradients,
    init_of,
    is_callable,
    like,
    masked,
    state_after,
    stepped,
    transformation,
)
from shardlint.inference.overlays.pytrees.trees import tree_map
from shardlint.laws.core.values import Unknown

# -- transformations of transformations -----------------------------------------------------------------


def _chain(call: Call) -> Value:
    """``optax.chain(*transformations)``: a tuple of their states."""
    if call.opaque:
        return call.unknown("starred arguments")
    follows = bool(call.args) and all(map(follows_gradients, call.args))
    return transformation(call, chained(*map(init_of, call.args)), follows)


def _named_chain(call: Call) -> Value:
    """``optax.named_chain((name, transformation), ...)``."""
    parts = [as_items(arg) or () for arg in call.args]
    names = [as_str(part[0]) for part in parts if len(part) == 2]
    if call.opaque or len(names) < len(parts) or None in names:
        return call.unknown("the names are not known")

    def init(inner: Call, params: Value) -> Value:
        states: dict[Hashable, Value] = {}
        for name, part in zip(names, parts, strict=True):
            states[name] = init_of(part[1])(inner, params)
        return DictValue(states, inner.place, kind="OrderedDict")

    return transformation(call, init)


def _partition(call: Call) -> Value:
    """``optax.partition(transforms, param_labels)``: each transformation has the state of its own
    parameters."""
    transforms, labels, _ = call.bind("transforms", "param_labels", mask_compatible_extra_args=None)
    if not isinstance(transforms, DictValue) or transforms.items is None or labels is None:
        return call.unknown("the transformations are not known")
    known = dict(transforms.items)

    def init(inner: Call, params: Value) -> Value:
        is_placeholder = isinstance(params, LibraryObject) and params.kind == PLACEHOLDER
        labelled: Value = labels
        if is_callable(labels) and not is_placeholder:
            labelled = inner.interpreter.call(labels, [params], {}, inner.place)
        states: dict[Hashable, Value] = {}
        for group, one in known.items():
            mask = NONE if is_placeholder else tree_map(partial(_is_group, group), labelled)
            states[group] = masked(init_of(one), mask)(inner, params)
        return Tuple((DictValue(states),), inner.place, ("inner_states",))

    return transformation(call, init)


def _is_group(group: object, label: Value) -> Value:
    return Const(label.value == group) if isinstance(label, Const) else Unknown("the label is not known")


def _multi_steps(call: Call) -> Value:
    """``optax.MultiSteps(opt, every_k_schedule)``: accumulated gradients beside the state of ``opt``."""
    inner, _, _, skips, dtype = call.bind(
        "opt", "every_k_schedule", use_grad_mean=None, should_skip_update_fn=None, accumulator_dtype=None
    )
    find = init_of(inner)

    def init(started: Call, params: Value) -> Value:
        gathered = like(params, dtype or Const("float32"))
        skip = started.unknown("what it skips by") if given(skips) else EMPTY
        names = ("mini_step", "gradient_step", "inner_opt_state", "acc_grads", "skip_state")
        return Tuple((COUNT, COUNT, find(started, params), gathered, skip), started.place, names)

    return transformation(call, init)


def _apply_if_finite(call: Call) -> Value:
    """``optax.apply_if_finite(inner, max_consecutive_errors)``."""
    inner, _ = call.bind("inner", "max_consecutive_errors")
    find = init_of(inner)
    names = ("notfinite_count", "last_finite", "total_notfinite", "inner_state")

    def init(started: Call, params: Value) -> Value:
        return Tuple((COUNT, Array((), "bool"), COUNT, find(started, params)), started.place, names)

    return transformation(call, init)


def _injected(call: Call) -> Value:
    """``optax.inject_hyperparams(factory)(...)``: numeric arguments become arrays in the state."""
    factory, *_ = call.bind("inner_factory", static_args=None, hyperparam_dtype=None)

    def make(outer: Call) -> Value:
        # A schedule is called for its first value.
        args = [Const(0.0) if is_callable(arg) else arg for arg in outer.args]
        kwargs = {
            name: Const(0.0) if is_callable(arg) and "mask" not in name else arg
            for name, arg in outer.kwargs.items()
        }
        inner = outer.interpreter.call(factory or NONE, args, kwargs, outer.place, outer.opaque)
        names = ("count", "hyperparams", "hyperparams_states", "inner_state")

        def init(started: Call, params: Value) -> Value:
            injected = started.unknown("which arguments are numbers is not followed")
            return Tuple((COUNT, injected, injected, init_of(inner)(started, params)), started.place, names)

        return transformation(outer, init)

    return Native("optax.inject_hyperparams(...)", make)


def _custom_transformation(call: Call) -> Value:
    """``optax.GradientTransformation(init, update)`` from the program's own functions."""
    init, update = call.bind("init", "update")
    if init is None or update is None:
        return call.unknown("no functions")
    return LibraryObject(TRANSFORMATION, {"init": init, "update": update}, call.place)


# -- uses of transformations ----------------------------------------------------------------------------


def _update(call: Call) -> Value:
    """``tx.update(updates, state, params)``: updates like the gradients, and a state like the old one."""
    grads, state = call.argument(1, "updates"), call.argument(2, "state")
    if grads is None or state is None:
        return call.unknown("no gradients")
    if refuse_trees(call, "`tx.update`", grads, state):
        return Unknown("JAX rejects this state")
    updates, varies = stepped(
        call.interpreter, grads, [state, *call.args[3:], *call.kwargs.values()], call.args[0]
    )
    return Tuple((updates, state_after(call.interpreter, state, varies)))


def _apply_updates(call: Call) -> Value:
    """``optax.apply_updates(params, updates)``: new parameters like the old ones."""
    params, updates = call.argument(0, "params"), call.argument(1, "updates")
    if params is None or updates is None:
        return call.unknown("no parameters")
    if refuse_trees(call, "`optax.apply_updates`", params, updates):
        return Unknown("JAX rejects these updates")
    return added(call.interpreter, params, updates)


def _tree_map_params(call: Call) -> Value:
    """``optax.tree_map_params(initable, f, state, *rest)``: ``f`` on the parts of a state that are like
    parameters."""
    if call.opaque or len(call.args) < 3 or call.kwargs.keys() - {"transform_non_params", "is_leaf"}:
        return call.unknown("the arguments are not known")
    initable, function, state, *rest = call.args
    other = call.kwargs.get("transform_non_params") or NONE
    if given(call.kwargs.get("is_leaf")):
        return call.unknown("what counts as a leaf is not known")
    placeholder = LibraryObject(PLACEHOLDER, {})
    known = isinstance(initable, LibraryObject) and initable.kind == TRANSFORMATION
    start = initable.fields["init"] if known and isinstance(initable, LibraryObject) else initable
    interpreter, place = call.interpreter, call.place
    shape = interpreter.call(start, [placeholder], {}, place)

    def visit(marked: Value, held: Value) -> Value:
        if isinstance(marked, LibraryObject) and marked.kind == PLACEHOLDER:
            return tree_map(lambda *parts: interpreter.call(function, list(parts), {}, place), held, *rest)
        if isinstance(marked, Unknown) or isinstance(held, Unknown):
            return Unknown("a state that is not known")
        return held if is_none(other) else interpreter.call(other, [held], {}, place)

    return tree_map(visit, shape, state)


def _schedule(call: Call) -> Value:
    """Return a schedule: a function of the step, whose result is unknown."""
    return Native("a schedule", lambda inner: inner.unknown("a schedule"))


_SCHEDULES = (
    "constant_schedule cosine_decay_schedule cosine_onecycle_schedule exponential_decay join_schedules "
    "linear_onecycle_schedule linear_schedule piecewise_constant_schedule piecewise_interpolate_schedule "
    "polynomial_schedule sgdr_schedule warmup_constant_schedule warmup_cosine_decay_schedule "
    "warmup_exponential_decay_schedule"
).split()

#: Those that `optax.transforms` defines.
_TRANSFORMS = (
    "MultiSteps adaptive_grad_clip add_decayed_weights add_noise apply_if_finite chain clip "
    "clip_by_block_rms clip_by_global_norm conditionally_mask conditionally_transform ema flatten freeze "
    "keep_params_nonnegative masked measure_with_ema named_chain partition selective_transform snapshot "
    "trace zero_nans"
).split()

_OTHERS: dict[str, Rule] = {
    "chain": _chain,
    "named_chain": _named_chain,
    "partition": _partition,
    "multi_transform": _partition,
    "MultiSteps": _multi_steps,
    "apply_if_finite": _apply_if_finite,
    "GradientTransformation": _custom_transformation,
    "GradientTransformationExtraArgs": _custom_transformation,
}

TABLE: dict[str, Rule] = {
    **{f"optax.inject_{name}": _injected for name in ("hyperparams", "stateful_hyperparams")},
    **{f"optax.{name}": rule for name, rule in _OTHERS.items()},
    **{f"{module}.{name}": _schedule for name in _SCHEDULES for module in ("optax", "optax.schedules")},
    "optax.apply_updates": _apply_updates,
    **table("optax.", {"tree_map_params": _tree_map_params, "tree_utils.tree_map_params": _tree_map_params}),
}
#: The modules in which transformations and schedules are defined.
ALIASES: dict[str, str] = {
    "optax.schedules.inject_hyperparams": "optax.inject_hyperparams",
    "optax.schedules.inject_stateful_hyperparams": "optax.inject_stateful_hyperparams",
    **{f"optax.transforms.{name}": f"optax.{name}" for name in _TRANSFORMS},
    "optax.tree.map_params": "optax.tree_utils.tree_map_params",
}
METHODS: dict[tuple[str, str], Rule] = {
    (TRANSFORMATION, "update"): _update,
    (TRANSFORMATION, "gradient_transformation"): lambda call: call.args[0],
}

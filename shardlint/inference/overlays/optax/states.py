"""optax's gradient transformations: the trees of state that their ``init`` makes from parameters.

From optax 0.2.8 (`_src.transform`, `_src.alias`). A transformation is a `LibraryObject` whose field ``init``
is a function on abstract values, composed like optax composes it. A transformation that is not in the tables
here is Unknown, and so is its part of a chain's state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from shardlint.inference.domain.truthiness import truth
from shardlint.inference.domain.values import (
    NONE,
    Array,
    Bound,
    Const,
    DictValue,
    Function,
    Integer,
    LibraryObject,
    Native,
    Partial,
    ShardingValue,
    Tuple,
    Value,
    as_bool,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.arrays.dtypes import as_dtype
from shardlint.inference.overlays.arrays.operands import Stop, given
from shardlint.inference.overlays.jax.explicit.device_lists import runs_eagerly
from shardlint.inference.overlays.jax.explicit.memory_spaces import known_on_device
from shardlint.inference.overlays.jax.shard_map.varying import computed, variations
from shardlint.inference.overlays.jax.sharding.made_arrays import is_alone, is_split
from shardlint.inference.overlays.pytrees.prefixes import map_arrays
from shardlint.inference.overlays.pytrees.trees import tree_map
from shardlint.laws.core.values import Unknown
from shardlint.laws.transforms.traits import Trait
from shardlint.laws.transforms.varying import NO_AXES, UNKNOWN, Variation, combined
from shardlint.model.spans import Place
from shardlint.support.lazy_dataclass import dataclass

Rule = Callable[[Call], Value]
#: A transformation's ``init``: from parameters to a state.
Init = Callable[[Call, Value], Value]

TRANSFORMATION = "optax.GradientTransformation"
COUNT = Array((), "int32")
#: The placeholder that `tree_map_params` passes to ``init`` as parameters.
PLACEHOLDER = "optax.params"
EMPTY = Tuple(())
#: The field of a transformation that tells whether its updates follow their gradients.
FOLLOWS = "follows"
#: That which tells whether they are linear in them.
LINEAR = "linear"
_LINEAR = frozenset(
    f"optax.{name}" for name in "sgd trace scale scale_by_learning_rate scale_by_schedule identity".split()
)
#: What a gradient has that was summed over devices, or comes multiplied by their number.
_OF_GRADIENTS = (Trait.TIMES, Trait.GRADIENT)


#: That which tells whether they clip them: by a number that is no linear function of them.
CLIPS = "clips"
_CLIPPING = frozenset(
    f"optax.{name}" for name in ("adaptive_grad_clip", "clip", "clip_by_block_rms", "clip_by_global_norm")
)


def like(tree: Value, dtype: Value | None = None, stays: bool = False, place: Place | None = None) -> Value:
    """Return a tree of new arrays with the shapes and boxes of another: `optax.tree.zeros_like(tree,
    dtype)`, made at a place. With ``stays`` they lie where the others are committed to, as outside of jit;
    on Explicit axes they are split as the others are."""
    cast = dtype is not None and not is_none(dtype)

    def fresh(array: Array, _: str) -> Value:
        own_dtype = as_dtype(dtype) if cast and dtype is not None else array.dtype
        home = array.committed if stays and isinstance(array.committed, ShardingValue) else None
        alone = (is_alone(array) or not stays) and not is_split(array)
        made = (place or array.origin) if alone else None
        return replace(array, dtype=own_dtype, weak=False, numpy=False, sharding=home, committed=home,
                       struct=False, name=None, laid=None, made=made,
                       memory=known_on_device(array))  # fmt: skip

    return map_arrays(tree, fresh)


def updated(tree: Value) -> Value:
    """Return the tree after an update: arrays narrower than ``float32`` may have been promoted. They are
    computed from others, which have layouts."""

    def wide(array: Array, _: str) -> Value:
        narrow = array.dtype in ("bfloat16", "float16")
        return replace(array, dtype=None if narrow else array.dtype, made=None)

    return map_arrays(like(tree), wide)


def stepped(
    interpreter: Evaluator, gradients: Value, others: Sequence[Value], optimizer: Value | None
) -> tuple[Value, Variation]:
    """Return the updates made of gradients, and what the new state varies over inside `shard_map`."""
    follows, linear = _says(optimizer, FOLLOWS), _says(optimizer, LINEAR)
    updates, checked = updated(gradients), interpreter.context.check_vma is True
    together = combined([v for one in (gradients, *others) for v in variations(one)], checked=checked)
    rest = Variation(NO_AXES, together.perhaps, together.equal)

    def vary(array: Array, _: str) -> Value:
        # What the state holds was computed from gradients, too.
        surely = array.varying if follows else NO_AXES
        # An update need not be a multiple of its gradient.
        lost = () if linear else _OF_GRADIENTS
        traits = frozenset(trait for trait in array.traits if trait[0] not in lost)
        if _says(optimizer, CLIPS):
            traits |= {(Trait.CLIPPED, axis) for axis in array.variation.axes_of(Trait.AVERAGED)}
        return array.vary(Variation(surely, together.perhaps, together.equal, traits))

    return (map_arrays(updates, vary) if interpreter.context.bound_axes else updates), rest


def state_after(interpreter: Evaluator, state: Value, varies: Variation) -> Value:
    """Return a state after an update: like the old one, but for what it varies over."""
    new = updated(state)
    if not interpreter.context.bound_axes:
        return new
    return map_arrays(new, lambda array, _: array.vary(replace(varies, traits=array.traits)))


def added(interpreter: Evaluator, params: Value, updates: Value) -> Value:
    """Return parameters plus their updates: like the old ones, but for what they vary over."""
    new = map_arrays(like(params), lambda array, _: replace(array, made=None))
    if not interpreter.context.bound_axes:
        return new
    try:
        return tree_map(lambda one, update: _sum(interpreter, one, update), new, updates)
    except Stop:
        return map_arrays(new, lambda array, _: array.vary(UNKNOWN))


def _sum(interpreter: Evaluator, one: Value, update: Value) -> Value:
    """Return a parameter plus its update."""
    found = computed(interpreter, one, (one, update))
    if not isinstance(found, Array) or not isinstance(update, Array):
        return found
    kept = frozenset(trait for trait in update.traits if trait[0] in _OF_GRADIENTS)
    return replace(found, traits=found.traits | kept, drawn_at=update.drawn_at) if kept else found


# -- transformations ------------------------------------------------------------------------------------


def transformation(call: Call, init: Init, follows: bool = False) -> LibraryObject:
    """Return the transformation with this ``init``; ``follows``: each update surely depends on its
    gradient."""

    def run(inner: Call) -> Value:
        (params,) = inner.bind("params")
        try:
            return inner.unknown("no parameters") if params is None else init(inner, params)
        except Stop as stop:
            return stop.answer(call.name)

    parts = call.args if call.name == "optax.chain" else ()
    linear = call.name in _LINEAR or (bool(parts) and all(_says(part, LINEAR) for part in parts))
    if call.name == "optax.scale":
        # A positive factor may be one over the number of devices.
        factor = call.argument(0, "step_size")
        linear = isinstance(factor, Const) and isinstance(factor.value, float) and factor.value < 0
    fields: dict[str, Value] = {
        "init": Native(f"{call.name}.init", run), FOLLOWS: Const(follows), LINEAR: Const(linear),
        CLIPS: Const(call.name in _CLIPPING or any(_says(part, CLIPS) for part in parts)),
    }  # fmt: skip
    return LibraryObject(TRANSFORMATION, fields, call.place)


def follows_gradients(value: Value | None) -> bool:
    """Return whether each update of a transformation surely depends on its gradient."""
    return _says(value, FOLLOWS)


def _says(value: Value | None, field: str) -> bool:
    known = value.fields.get(field) if isinstance(value, LibraryObject) else None
    return isinstance(known, Const) and known.value is True


def init_of(value: Value | None) -> Init:
    """Return the ``init`` of a transformation; one that returns Unknown for other values."""
    if not isinstance(value, LibraryObject) or value.kind != TRANSFORMATION:
        return lambda call, params: call.unknown("what state a transformation has is not known")
    function = value.fields["init"]
    return lambda call, params: call.interpreter.call(function, [params], {}, call.place)


def empty(call: Call, params: Value) -> Value:
    return EMPTY


def chained(*parts: Init) -> Init:
    return lambda call, params: Tuple(tuple(part(call, params) for part in parts), call.place)


def masked(inner: Init, mask: Value) -> Init:
    """``optax.masked``: leaves of the parameters that the mask excludes become empty nodes."""

    def init(call: Call, params: Value) -> Value:
        if isinstance(params, LibraryObject) and params.kind == PLACEHOLDER:
            return Tuple((inner(call, params),), call.place, ("inner_state",))
        selected = mask
        if is_callable(mask):
            selected = call.interpreter.call(mask, [params], {}, call.place)

        def choose(wanted: Value, part: Value) -> Value:
            decided = truth(wanted)
            return Unknown("what is masked is not known") if decided is None else part if decided else EMPTY

        return Tuple((inner(call, tree_map(choose, selected, params)),), call.place, ("inner_state",))

    return init


def is_callable(value: Value | None) -> bool | None:
    """Return whether a value, a rate or a mask, is a function; None if that is unknown."""
    if isinstance(value, Function | Native | Bound | Partial):
        return True
    plain = value is None or isinstance(value, Const | Integer | Array | Tuple | DictValue)
    return False if plain else None


# -- states of fields -----------------------------------------------------------------------------------

#: Transformations whose state is a named tuple: arguments, and fields. A field is a ``count`` (or ``t``), or
#: a tree like the parameters, of the dtype that the argument after the colon names; ``:scalar`` and ``:flag``
#: are trees of scalars.
_STATES = {
    "scale_by_adam": ("b1 b2 eps eps_root mu_dtype nesterov", "count mu:mu_dtype nu"),
    "scale_by_adamax": ("b1 b2 eps", "count mu nu"),
    "scale_by_adadelta": ("rho eps", "e_g e_x"),
    "scale_by_adan": ("b1 b2 b3 eps eps_root", "m v n g t"),
    "scale_by_amsgrad": (
        "b1 b2 eps eps_root mu_dtype bias_correction_mu bias_correction_nu",
        "count mu:mu_dtype nu nu_max",
    ),
    "scale_by_belief": ("b1 b2 eps eps_root nesterov", "count mu nu"),
    "scale_by_lion": ("b1 b2 mu_dtype mode smooth_beta", "count mu:mu_dtype"),
    "scale_by_novograd": ("b1 b2 eps eps_root weight_decay mu_dtype", "count mu:mu_dtype nu:scalar"),
    "scale_by_radam": ("b1 b2 eps eps_root threshold nesterov", "count mu nu"),
    "scale_by_rprop": (
        "learning_rate eta_minus eta_plus min_step_size max_step_size",
        "step_sizes prev_updates",
    ),
    "scale_by_rss": ("initial_accumulator_value eps", "sum_of_squares"),
    "scale_by_yogi": ("b1 b2 eps eps_root initial_accumulator_value", "count mu nu"),
    "scale_by_schedule": ("step_size_fn", "count"),
    "trace": ("decay nesterov accumulator_dtype", "trace:accumulator_dtype"),
    "ema": ("decay debias accumulator_dtype", "count ema:accumulator_dtype"),
    "apply_every": ("k", "count grad_acc"),
    "zero_nans": ("", "found_nan:flag"),
}
_STATELESS = (
    "adaptive_grad_clip centralize clip clip_by_block_rms clip_by_global_norm identity "
    "keep_params_nonnegative normalize_by_update_norm scale scale_by_param_block_norm "
    "scale_by_param_block_rms scale_by_sign scale_by_trust_ratio set_to_zero stateless "
    "stateless_with_tree_map"
).split()
#: Transformations whose state is not modelled.
_UNFOLLOWED = (
    "add_noise conditionally_mask conditionally_transform flatten freeze fromage lars lbfgs "
    "lookahead measure_with_ema noisy_sgd optimistic_adam optimistic_adam_v2 optimistic_gradient_descent "
    "polyak_sgd scale_by_backtracking_linesearch scale_by_distance_over_gradients "
    "scale_by_lbfgs scale_by_optimistic_gradient scale_by_polyak scale_by_sm3 scale_by_zoom_linesearch "
    "selective_transform signum sm3 snapshot"
).split()


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a transformation by name."""

    given: Mapping[str, Value | None]

    def __getitem__(self, name: str) -> Value | None:
        return self.given.get(name)

    def has(self, name: str) -> bool:
        """Return whether an argument is given, and certainly not None."""
        return given(self[name])

    def flag(self, name: str) -> bool | None:
        """Return a boolean argument, which is False by default."""
        value = self[name]
        return False if value is None else as_bool(value)


def arguments_of(call: Call, names: str) -> Arguments:
    """Return the arguments of a call by the names of a signature. Raises CannotBind."""
    order = names.split()
    return Arguments(dict(zip(order, call.bind(**dict.fromkeys(order)), strict=True)))


def _state(fields: str, args: Arguments) -> Init:
    """Return the ``init`` of a state with fields, as `_STATES` describes them."""

    def made(call: Call, params: Value, field: str) -> Value:
        name, _, kind = field.partition(":")
        if name in ("count", "t"):
            return COUNT
        if kind in ("scalar", "flag"):
            return map_arrays(
                like(params), lambda array, _: Array((), "bool" if kind == "flag" else array.dtype)
            )
        # Inside jit zeros have no layout on Auto axes, whatever that of the parameters is.
        return like(params, args[kind] if kind else None, runs_eagerly(call.interpreter), call.place)

    names = fields.split()
    keys = tuple(field.partition(":")[0] for field in names)
    return lambda call, params: Tuple(tuple(made(call, params, field) for field in names), call.place, keys)


def part_of(name: str, args: Arguments | None = None) -> Init:
    """Return the ``init`` of an entry of `_STATES`."""
    return _state(_STATES[name][1], args or Arguments({}))


def rate_of(value: Value | None) -> Init:
    """Return the ``init`` of a rate, of learning or decay: a schedule counts steps."""
    decided = is_callable(value)
    if decided is None:
        return lambda call, params: call.unknown("whether it is a schedule is not known")
    return part_of("scale_by_schedule") if decided else empty


def decay_of(value: Value | None, mask: Value | None) -> Init:
    """``add_decayed_weights(weight_decay, mask)``."""
    inner = rate_of(value)
    return inner if mask is None or is_none(mask) else masked(inner, mask)


def _rms(args: Arguments, fields: str) -> Init:
    """Return the ``init`` of ``scale_by_rms`` or ``scale_by_stddev``, which count steps to correct a bias."""
    corrects = args.flag("bias_correction")
    if corrects is None:
        return lambda call, params: call.unknown("whether it counts is not known")
    return _state(f"count {fields}" if corrects else fields, args)


def _momentum(args: Arguments) -> Init:
    momentum = args["momentum"]
    if isinstance(momentum, Unknown):
        return lambda call, params: call.unknown("whether it has momentum is not known")
    return part_of("trace", args) if args.has("momentum") else empty


def _rmsprop(args: Arguments) -> Init:
    centered = args.flag("centered")
    if centered is None:
        return lambda call, params: call.unknown("whether it is centered is not known")
    scaled = _rms(args, "mu nu" if centered else "nu")
    return chained(scaled, rate_of(args["learning_rate"]), _momentum(args))


def _alias(part: str, decays: bool = False, more: tuple[Init, ...] = ()) -> Callable[[Arguments], Init]:
    """Return an optimizer that chains a first part, weight decay, the parts in ``more``, and the learning
    rate."""

    def init(args: Arguments) -> Init:
        decay = (decay_of(args["weight_decay"], args["mask"]),) if decays else ()
        return chained(part_of(part, args), *decay, *more, rate_of(args["learning_rate"]))

    return init


#: Optimizers by name: arguments, and the transformations that they chain.
_ALIASES: dict[str, tuple[str, Callable[[Arguments], Init]]] = {
    "adam": ("learning_rate b1 b2 eps eps_root mu_dtype nesterov", _alias("scale_by_adam")),
    "adamw": (
        "learning_rate b1 b2 eps eps_root mu_dtype weight_decay mask nesterov",
        _alias("scale_by_adam", decays=True),
    ),
    "nadam": ("learning_rate b1 b2 eps eps_root mu_dtype nesterov", _alias("scale_by_adam")),
    "nadamw": (
        "learning_rate b1 b2 eps eps_root mu_dtype weight_decay mask nesterov",
        _alias("scale_by_adam", decays=True),
    ),
    "lion": ("learning_rate b1 b2 mu_dtype weight_decay mask", _alias("scale_by_lion", decays=True)),
    "lamb": (
        "learning_rate b1 b2 eps eps_root weight_decay mask",
        _alias("scale_by_adam", decays=True, more=(empty,)),
    ),
    "adan": ("learning_rate b1 b2 b3 eps eps_root weight_decay mask", _alias("scale_by_adan", decays=True)),
    "adamax": ("learning_rate b1 b2 eps", _alias("scale_by_adamax")),
    "adamaxw": ("learning_rate b1 b2 eps weight_decay mask", _alias("scale_by_adamax", decays=True)),
    "adabelief": ("learning_rate b1 b2 eps eps_root nesterov", _alias("scale_by_belief")),
    "amsgrad": (
        "learning_rate b1 b2 eps eps_root mu_dtype bias_correction_mu bias_correction_nu",
        _alias("scale_by_amsgrad"),
    ),
    "radam": ("learning_rate b1 b2 eps eps_root threshold nesterov", _alias("scale_by_radam")),
    "yogi": ("learning_rate b1 b2 eps", _alias("scale_by_yogi")),
    "novograd": ("learning_rate b1 b2 eps eps_root weight_decay", _alias("scale_by_novograd")),
    "adagrad": ("learning_rate initial_accumulator_value eps", _alias("scale_by_rss")),
    "rprop": (
        "learning_rate eta_minus eta_plus min_step_size max_step_size",
        lambda args: chained(part_of("scale_by_rprop"), empty),
    ),
    "adadelta": (
        "learning_rate rho eps weight_decay weight_decay_mask",
        lambda args: chained(
            decay_of(args["weight_decay"], args["weight_decay_mask"]),
            part_of("scale_by_adadelta"),
            rate_of(args["learning_rate"]),
        ),
    ),
    "sgd": (
        "learning_rate momentum nesterov accumulator_dtype",
        lambda args: chained(_momentum(args), rate_of(args["learning_rate"])),
    ),
    "sign_sgd": ("learning_rate", lambda args: chained(empty, rate_of(args["learning_rate"]))),
    "rmsprop": (
        "learning_rate decay eps initial_scale eps_in_sqrt centered momentum nesterov bias_correction",
        _rmsprop,
    ),
    "scale_by_rms": ("decay eps initial_scale eps_in_sqrt bias_correction", lambda args: _rms(args, "nu")),
    "scale_by_stddev": (
        "decay eps initial_scale eps_in_sqrt bias_correction",
        lambda args: _rms(args, "mu nu"),
    ),
    "scale_by_learning_rate": ("learning_rate flip_sign", lambda args: rate_of(args["learning_rate"])),
    "add_decayed_weights": ("weight_decay mask", lambda args: decay_of(args["weight_decay"], args["mask"])),
    "masked": (
        "inner mask mask_compatible_extra_args",
        lambda args: masked(init_of(args["inner"]), args["mask"] or NONE),
    ),
    **{name: (names, partial(_state, fields)) for name, (names, fields) in _STATES.items()},
}


def _known(call: Call) -> Value:
    name = call.name.rpartition(".")[2]
    names, made = _ALIASES[name]
    return transformation(call, made(arguments_of(call, names)), follows=name != "masked")


def _stateless(call: Call) -> Value:
    return transformation(call, empty, follows=not call.name.endswith((".set_to_zero", "stateless")))


def _unfollowed(call: Call) -> Value:
    return transformation(call, lambda inner, params: inner.unknown("what state it has is not followed"))


TABLE: dict[str, Rule] = {
    **{f"optax.{name}": _known for name in _ALIASES},
    **{f"optax.{name}": _stateless for name in _STATELESS},
    **{f"optax.{name}": _unfollowed for name in _UNFOLLOWED},
}

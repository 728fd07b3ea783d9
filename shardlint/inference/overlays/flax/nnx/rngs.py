"""Random streams of nnx, and draws from them: ``rngs.normal((8, 16))``, ``rngs.lecun_normal()``.

`flax.nnx.rnglib` (0.12.8) has `jax.random`'s functions and the makers of initializers as methods of `Rngs`
and of `RngStream`; each takes its key from the stream. Both are objects with variables; those of an `Rngs`
from elsewhere are unknown. The types of a key, and of the count of keys taken, have the mesh that was set
when they were made: JAX refuses them under another mesh of Explicit axes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace

from shardlint.inference.domain.values import (
    NONE,
    Array,
    Const,
    DictValue,
    External,
    Integer,
    LibraryObject,
    Native,
    Value,
    as_bool,
    as_dim,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.flax.linen.module_runs import KEY
from shardlint.inference.overlays.flax.nnx.assignment import assign
from shardlint.inference.overlays.jax import initializers, random
from shardlint.inference.overlays.jax.explicit.type_conversion import replicated_here
from shardlint.laws.core.dims import Dim, Shape
from shardlint.laws.core.values import Unknown
from shardlint.laws.transforms.varying import CONSTANT
from shardlint.model.spans import Place

_Rule = Callable[[Call], Value]

RNGS, STREAM = "flax.nnx.Rngs", "flax.nnx.RngStream"

_DRAWS = (
    "bits uniform randint permutation choice normal multivariate_normal truncated_normal bernoulli beta "
    "cauchy dirichlet exponential gamma loggamma poisson gumbel categorical laplace logistic pareto t "
    "chisquare f rademacher maxwell double_sided_maxwell weibull_min orthogonal generalized_normal ball "
    "rayleigh wald geometric triangular lognormal binomial multinomial"
).split()
_KINDS = ("glorot", "he", "kaiming", "lecun", "xavier")
_INITIALIZERS = [f"{kind}_{law}" for kind in _KINDS for law in ("normal", "uniform")]
_INITIALIZERS += ["delta_orthogonal", "variance_scaling"]

#: Attributes of a stream that are not names of streams.
NAMES = frozenset((*_DRAWS, *_INITIALIZERS, "broadcast", "fork", "items", "split"))


# -- streams ------------------------------------------------------------------------------------------------


def stream(call: Call, shape: Shape = (), key: Array | None = None) -> LibraryObject:
    """Return a stream of keys (new ones by default), with a count of taken keys for each."""
    typed = replicated_here(call.interpreter, shape)
    key_value = Array(shape, KEY.dtype, typed=typed) if key is None else key
    counts = _counts(call, key_value)
    variables = {
        "key": LibraryObject("flax.nnx.RngKey", {"value": key_value}, call.place),
        "count": LibraryObject("flax.nnx.RngCount", {"value": counts}, call.place),
    }
    return LibraryObject(STREAM, dict(variables), call.place)


def _counts(call: Call, key: Array) -> Array:
    typed = None if key.shape is None else replicated_here(call.interpreter, key.shape)
    return Array(key.shape, "uint32", typed=typed, may_vary=frozenset())


def _seeded(call: Call, seed: Value) -> LibraryObject:
    """Return a stream of a seed, or of a key; raw keys have a type of their own."""
    if not isinstance(seed, Array):
        same = replace(KEY, typed=replicated_here(call.interpreter, ())).vary(CONSTANT)
        return stream(call, key=same if isinstance(seed, Const) else None)
    if seed.dtype == KEY.dtype:
        return stream(call, key=seed)
    return stream(call, key=replace(KEY, typed=None).vary(seed.variation))


def take_key(call: Call, held: Value) -> Value:
    """Take a key from a stream, or from the default one of several, and increase its count."""
    if isinstance(held, LibraryObject) and held.kind == RNGS:
        held = (streams_of(held) or {}).get("default", NONE)
    if not isinstance(held, LibraryObject) or not streams_like(held):
        return KEY
    key, count = held.fields["key"], held.fields["count"]
    assert isinstance(key, LibraryObject) and isinstance(count, LibraryObject)
    one, drawn = key.fields["value"], count.fields["value"]
    if not isinstance(one, Array) or not isinstance(drawn, Array) or one.shape != ():
        return call.unknown("several keys")
    interpreter, place = call.interpreter, call.place
    folded = interpreter.call(External("jax.random.fold_in"), [one, drawn], {}, place)
    after = interpreter.operation("Add", drawn, Const(1), place)
    after = after if isinstance(after, Array) else replace(drawn, typed=None)
    # Of a count that stays the same kind of array nothing changes: what takes keys only is a pure call.
    if after != drawn:
        assign(interpreter, count, after, place)
    return folded


def key_for_parameter(call: Call) -> Value:
    """Return the key that a layer takes for a parameter: from its ``rngs=``, the stream ``params`` or the
    default."""
    rngs = call.kwargs.get("rngs")
    if not isinstance(rngs, LibraryObject) or rngs.kind not in (RNGS, STREAM):
        return KEY
    return take_key(call, rngs if rngs.kind == STREAM else attribute(rngs, "params") or NONE)


def key_from(call: Call, rngs: Value, name: str) -> Value:
    """Return the key that a layer takes from what its call is given: a key, a stream, or several by name."""
    if isinstance(rngs, LibraryObject) and rngs.kind == RNGS:
        rngs = attribute(rngs, name) or NONE
    return rngs if isinstance(rngs, Array) else take_key(call, rngs)


def elsewhere(kind: str, origin: Place | None, split: Value | None = None) -> LibraryObject:
    """Return streams with unknown variables; ``split`` is the number of keys in each."""
    unknown: Value = Unknown("the streams are not known")
    fields = dict.fromkeys(("streams",) if kind == RNGS else ("key", "count"), unknown)
    return LibraryObject(kind, fields if split is None else {**fields, "split": split}, origin)


def make_streams(call: Call) -> Value:
    """``nnx.Rngs(default, **streams)``."""
    default = call.argument(0, "default")
    seeds: dict[Hashable, Value] = {name: seed for name, seed in call.kwargs.items() if name != "default"}
    plain = default is None or is_none(default) or isinstance(default, Const | Integer | Array)
    if call.opaque or not plain:
        return elsewhere(RNGS, call.place)
    if default is not None and not is_none(default):
        seeds["default"] = default
    streams = DictValue({name: _seeded(call, seed) for name, seed in seeds.items()})
    return LibraryObject(RNGS, {"streams": streams}, call.place)


def _fresh(names: Iterable[Hashable], call: Call, shape: Shape = ()) -> DictValue:
    return DictValue({name: stream(call, shape) for name in names})


def streams_of(rngs: LibraryObject) -> dict[Hashable, Value] | None:
    """Return the streams of an `Rngs` by name, None if they are unknown."""
    streams = rngs.fields.get("streams")
    return streams.items if isinstance(streams, DictValue) else None


def attribute(rngs: LibraryObject, name: str) -> Value | None:
    """``rngs.dropout``: the stream of this name, or else the default one."""
    if name in NAMES or name.startswith("__"):
        return None
    known = streams_of(rngs)
    found = None if known is None else known.get(name, known.get("default"))
    if found is not None:
        return found
    return elsewhere(STREAM, rngs.origin, rngs.fields.get("split"))


def fork(call: Call) -> Value:
    """``rngs.fork(split=n)``: streams of n keys each, or of one."""
    receiver, split = call.args[0], call.argument(1, "split")
    plain = split is None or is_none(split)
    size = None if plain else as_dim(split)
    known = streams_of(receiver) if isinstance(receiver, LibraryObject) else None
    if known is None or (size is None and not plain):
        return split_streams(call, receiver, split if size is not None else None, plain)
    forked: dict[Hashable, Value] = {}
    for name, one in known.items():
        key = take_key(call, one)
        if size is not None and split is not None:
            key = call.interpreter.call(External("jax.random.split"), [key, split], {}, call.place)
        forked[name] = stream(call, key=key) if isinstance(key, Array) else elsewhere(STREAM, call.place)
    return LibraryObject(RNGS, {"streams": DictValue(forked)}, call.place)


def split_streams(call: Call, rngs: Value, split: Value | None, plain: bool = False) -> LibraryObject:
    """Return streams like others, each of ``split`` keys; of one key if ``plain``."""
    known = streams_of(rngs) if isinstance(rngs, LibraryObject) else None
    size = as_dim(split)
    if known is None or (size is None and not plain):
        return elsewhere(RNGS, call.place, split)
    streams: dict[str, Value] = {"streams": _fresh(known, call, () if size is None else (size,))}
    return LibraryObject(RNGS, streams if split is None else {**streams, "split": split}, call.place)


def split_of(rngs: LibraryObject) -> Dim | None:
    """Return the number of keys in each stream; None for a single key, or if it is unknown."""
    for one in (streams_of(rngs) or {}).values():
        key = one.fields["key"] if isinstance(one, LibraryObject) and streams_like(one) else NONE
        value = key.fields["value"] if isinstance(key, LibraryObject) else NONE
        if isinstance(value, Array) and value.shape:
            return value.shape[0]
    return as_dim(rngs.fields.get("split"))


def one_stream(call: Call) -> Value:
    """``stream.fork()``: a new stream."""
    known = isinstance(call.args[0], LibraryObject) and streams_like(call.args[0])
    return stream(call) if known and len(call.args) == 1 and not call.kwargs else call.args[0]


def streams_like(held: LibraryObject) -> bool:
    """Return whether the contents of a stream are known."""
    return isinstance(held.fields.get("key"), LibraryObject)


def stored_stream(call: Call, class_name: str, args: Mapping[str, Value]) -> dict[str, Value]:
    """Return the stream that a layer stores as ``rngs``, by attribute."""
    if class_name not in _KEEPING:
        return {}
    flag, default = _KEEPING[class_name]
    keeps = as_bool(args.get(flag, default)) if flag != "dropout_rate" else _drops(args)
    rngs = call.kwargs.get("rngs", Const(True) if flag == "" else NONE)
    if keeps is False or is_none(rngs) or (isinstance(rngs, Const) and rngs.value is False):
        return {"rngs": NONE}
    known = isinstance(rngs, Const)
    if isinstance(rngs, LibraryObject):
        known = "split" not in rngs.fields and (bool(streams_of(rngs)) or streams_like(rngs))
    if keeps is None or call.opaque or not known:
        return {"rngs": elsewhere(STREAM, call.place)}
    return {"rngs": stream(call)}


def _drops(args: Mapping[str, Value]) -> bool | None:
    """Return whether attention stores a stream for dropout."""
    rate, keeps = args.get("dropout_rate", Const(0.0)), as_bool(args.get("keep_rngs", Const(True)))
    if not isinstance(rate, Const) or keeps is None:
        return None
    return keeps and isinstance(rate.value, int | float) and rate.value > 0


_CELLS = ("LSTMCell", "OptimizedLSTMCell", "SimpleCell", "GRUCell")
#: Layers that store a stream: the argument that decides, and its default. Layers without one always do.
_KEEPING: dict[str, tuple[str, Const]] = {
    "Dropout": ("always", Const(True)),
    "MultiHeadAttention": ("dropout_rate", Const(True)),
    "RNN": ("", Const(True)),
    "Bidirectional": ("", Const(True)),
    **dict.fromkeys(_CELLS, ("keep_rngs", Const(False))),
}

# -- draws --------------------------------------------------------------------------------------------------


def _is_split(call: Call) -> bool:
    """Return whether the streams hold several keys each, as mapped functions slice them."""
    receiver = call.args[0]
    return not isinstance(receiver, LibraryObject) or "split" in receiver.fields


def next_key(call: Call) -> Value:
    """``rngs()``, ``rngs.params()``."""
    return take_key(call, call.args[0])


def _draw(name: str) -> _Rule:
    rule = random.TABLE.get(f"jax.random.{name}")

    def draw(call: Call) -> Value:
        if rule is None or _is_split(call):
            return call.unknown("what is drawn is not known")
        args = [take_key(call, call.args[0]), *call.args[1:]]
        return call.interpreter.call(External(f"jax.random.{name}"), args, dict(call.kwargs), call.place)

    return draw


def _initializer(name: str) -> _Rule:
    make_initializer = initializers.TABLE[f"jax.nn.initializers.{name}"]

    def make(call: Call) -> Value:
        initializer = make_initializer(replace(call, args=call.args[1:], arg_places={}))
        if not isinstance(initializer, Native) or _is_split(call):
            return call.unknown("an initializer that is not known")

        def initialize(inner: Call) -> Value:
            key = take_key(inner, call.args[0])
            return initializer.call(replace(inner, args=[key, *inner.args], arg_places={}))

        return Native(f"rngs.{name}(...)", initialize, origin=call.place)

    return make


def random_methods(kind: str) -> dict[tuple[str, str], _Rule]:
    """Return the methods of a kind of stream; the object is the call's first argument."""
    return {
        **{(kind, name): _draw(name) for name in _DRAWS},
        **{(kind, name): _initializer(name) for name in _INITIALIZERS},
    }

"""Random streams of Flax's nnx, and draws from them: ``rngs.normal((8, 16))``, ``rngs.lecun_normal()``.

`flax.nnx.rnglib` (0.12.8) has `jax.random`'s functions and the makers of initializers as methods of `Rngs`
and of `RngStream`; each takes its key from the stream. Both are objects with variables; those of an `Rngs`
that came from elsewhere are not known, nor are those of one that was split.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace

from shardlint.inference.calls import Call
from shardlint.inference.overlays import jax_initializers, jax_random
from shardlint.inference.overlays.explicit.types import made_here
from shardlint.inference.overlays.flax_linen_layers import KEY
from shardlint.inference.values import (
    NONE,
    Array,
    Const,
    DictValue,
    Integer,
    LibraryObject,
    Native,
    Value,
    as_bool,
    as_dim,
    is_none,
)
from shardlint.laws.dims import Shape
from shardlint.laws.values import Unknown
from shardlint.spans import Place

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

#: All that a stream has of its own, and no stream's name.
NAMES = frozenset((*_DRAWS, *_INITIALIZERS, "broadcast", "fork", "items", "split"))


# -- streams ------------------------------------------------------------------------------------------------


def stream(call: Call, shape: Shape = ()) -> LibraryObject:
    """A stream of keys, and of a count for each of how many were taken."""
    typed = made_here(call.interpreter, shape)
    key = LibraryObject("flax.nnx.RngKey", {"value": Array(shape, KEY.dtype, typed=typed)}, call.place)
    count = LibraryObject("flax.nnx.RngCount", {"value": Array(shape, "uint32", typed=typed)}, call.place)
    return LibraryObject(STREAM, {"key": key, "count": count}, call.place)


def elsewhere(kind: str, origin: Place | None, split: Value | None = None) -> LibraryObject:
    """Streams whose variables are not known; ``split`` is how many keys each holds."""
    unknown: Value = Unknown("the streams are not known")
    held = dict.fromkeys(("streams",) if kind == RNGS else ("key", "count"), unknown)
    return LibraryObject(kind, held if split is None else {**held, "split": split}, origin)


def make_streams(call: Call) -> Value:
    """``nnx.Rngs(default, **streams)``."""
    default = call.argument(0, "default")
    names = [name for name in call.kwargs if name != "default"]
    plain = default is None or is_none(default) or isinstance(default, Const | Integer | Array)
    if call.opaque or not plain:
        return elsewhere(RNGS, call.place)
    if default is not None and not is_none(default):
        names.append("default")
    return LibraryObject(RNGS, {"streams": _fresh(names, call)}, call.place)


def _fresh(names: Iterable[Hashable], call: Call, shape: Shape = ()) -> DictValue:
    return DictValue({name: stream(call, shape) for name in names})


def streams_of(rngs: LibraryObject) -> dict[Hashable, Value] | None:
    """The streams of an `Rngs` by name, None where they are not known."""
    held = rngs.fields.get("streams")
    return held.items if isinstance(held, DictValue) else None


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
    return split_streams(call, receiver, split if size is not None else None, plain)


def split_streams(call: Call, rngs: Value, split: Value | None, plain: bool = False) -> LibraryObject:
    """Streams like others, each of ``split`` keys; ``plain`` of one."""
    known = streams_of(rngs) if isinstance(rngs, LibraryObject) else None
    size = as_dim(split)
    if known is None or (size is None and not plain):
        return elsewhere(RNGS, call.place, split)
    streams: dict[str, Value] = {"streams": _fresh(known, call, () if size is None else (size,))}
    return LibraryObject(RNGS, streams if split is None else {**streams, "split": split}, call.place)


def one_stream(call: Call) -> Value:
    """``stream.fork()``: a stream of its own."""
    known = isinstance(call.args[0], LibraryObject) and streams_like(call.args[0])
    return stream(call) if known and len(call.args) == 1 and not call.kwargs else call.args[0]


def streams_like(held: LibraryObject) -> bool:
    """Whether what a stream holds is known."""
    return isinstance(held.fields.get("key"), LibraryObject)


def kept_stream(call: Call, class_name: str, args: Mapping[str, Value]) -> dict[str, Value]:
    """The stream that a layer keeps as ``rngs``, by attribute."""
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
    """Whether attention keeps a stream to drop by."""
    rate, keeps = args.get("dropout_rate", Const(0.0)), as_bool(args.get("keep_rngs", Const(True)))
    if not isinstance(rate, Const) or keeps is None:
        return None
    return keeps and isinstance(rate.value, int | float) and rate.value > 0


_CELLS = ("LSTMCell", "OptimizedLSTMCell", "SimpleCell", "GRUCell")
#: Layers that keep a stream: the argument that decides, and its default. Those of none always do.
_KEEPING: dict[str, tuple[str, Const]] = {
    "Dropout": ("always", Const(True)),
    "MultiHeadAttention": ("dropout_rate", Const(True)),
    "RNN": ("", Const(True)),
    "Bidirectional": ("", Const(True)),
    **dict.fromkeys(_CELLS, ("keep_rngs", Const(False))),
}

# -- draws --------------------------------------------------------------------------------------------------


def _is_split(call: Call) -> bool:
    """Whether the streams hold several keys each, as mapped functions take them apart."""
    receiver = call.args[0]
    return not isinstance(receiver, LibraryObject) or "split" in receiver.fields


def _draw(name: str) -> _Rule:
    rule = jax_random.TABLE.get(f"jax.random.{name}")

    def draw(call: Call) -> Value:
        if rule is None or _is_split(call):
            return call.unknown("what is drawn is not known")
        return rule(replace(call, name=f"jax.random.{name}", args=[KEY, *call.args[1:]]))

    return draw


def _initializer(name: str) -> _Rule:
    make_initializer = jax_initializers.TABLE[f"jax.nn.initializers.{name}"]

    def make(call: Call) -> Value:
        made = make_initializer(replace(call, args=call.args[1:], arg_places={}))
        if not isinstance(made, Native) or _is_split(call):
            return call.unknown("an initializer that is not known")

        def initialize(inner: Call) -> Value:
            return made.call(replace(inner, args=[KEY, *inner.args], arg_places={}))

        return Native(f"rngs.{name}(...)", initialize, origin=call.place)

    return make


def random_methods(kind: str) -> dict[tuple[str, str], _Rule]:
    """The methods of a kind of stream; the object is the call's first argument."""
    return {
        **{(kind, name): _draw(name) for name in _DRAWS},
        **{(kind, name): _initializer(name) for name in _INITIALIZERS},
    }

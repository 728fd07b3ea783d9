"""Draws from the random streams of Flax's nnx: ``rngs.normal((8, 16))``, ``rngs.lecun_normal()((8, 16))``.

`flax.nnx.rnglib` (0.12.8) has `jax.random`'s functions and the makers of initializers as methods of `Rngs`
and of `RngStream`; each takes its key from the stream.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shardlint.inference.calls import Call
from shardlint.inference.overlays import jax_initializers, jax_random
from shardlint.inference.overlays.flax_linen_layers import KEY
from shardlint.inference.values import LibraryObject, Native, Value

_Rule = Callable[[Call], Value]

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

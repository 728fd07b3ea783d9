"""The names of the functions that create arrays and are judged as placements."""

from __future__ import annotations

from shardlint.laws.core.verdicts import Api

#: Creation functions whose ``device=`` goes through `Sharding.shard_shape`.
CREATION = ("zeros", "ones", "full", "empty", "zeros_like", "ones_like", "full_like", "empty_like")
#: Other functions that create arrays on a ``device=``: by device_put, or by a constraint.
ON_DEVICES = {
    "arange": (Api.ARANGE, Api.ARANGE_IN_JIT),
    "eye": (Api.DEVICE_PUT, Api.DEVICE_PUT_IN_JIT),
    "array": (Api.CONVERT, Api.CONVERT_IN_JIT),
    "asarray": (Api.CONVERT, Api.CONVERT_IN_JIT),
    "linspace": (Api.LINSPACE,),
}
#: Draws whose ``out_sharding=`` goes through `random.core.maybe_auto_axes`.
SAMPLED = (
    "normal uniform bits randint bernoulli beta categorical cauchy chisquare exponential f gamma "
    "generalized_normal gumbel laplace loggamma logistic pareto poisson rademacher rayleigh t triangular "
    "truncated_normal wald"
).split()
#: All of them by their canonical names.
PLACED = frozenset([f"jax.numpy.{name}" for name in CREATION] + [f"jax.random.{name}" for name in SAMPLED])

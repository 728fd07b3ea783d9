"""The functions that make arrays, and are judged as placements: their names."""

from __future__ import annotations

#: Creation functions whose ``device=`` goes through `Sharding.shard_shape`.
CREATION = ("zeros", "ones", "full", "empty", "zeros_like", "ones_like", "full_like", "empty_like")
#: Draws whose ``out_sharding=`` goes through `random.core.maybe_auto_axes`.
SAMPLED = (
    "normal uniform bits randint bernoulli beta categorical cauchy chisquare exponential f gamma "
    "generalized_normal gumbel laplace loggamma logistic pareto poisson rademacher rayleigh t triangular "
    "truncated_normal wald"
).split()
#: All of them by their canonical names.
PLACED = frozenset([f"jax.numpy.{name}" for name in CREATION] + [f"jax.random.{name}" for name in SAMPLED])

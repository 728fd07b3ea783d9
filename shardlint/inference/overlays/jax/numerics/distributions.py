"""`jax.scipy.stats`: densities and probabilities of each element, with parameters that broadcast."""

from __future__ import annotations

from shardlint.inference.domain.values import Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.dtypes import floating
from shardlint.inference.overlays.arrays.operands import (
    Transfer,
    broadcast,
    mixed,
    operands,
    result,
)
from shardlint.inference.overlays.jax.explicit.rules import elementwise as elementwise_rules
from shardlint.inference.overlays.operations import Operation, library_table

#: The functions of JAX 0.10.2, by their parameters before ``loc`` and ``scale``.
CONTINUOUS = {
    "beta": "x a b: cdf logcdf logpdf logsf pdf sf",
    "cauchy": "x: cdf logcdf logpdf logsf pdf sf; q: isf ppf",
    "chi2": "x df: cdf logcdf logpdf logsf pdf sf",
    "expon": "x: cdf logcdf logpdf logsf pdf sf; q: ppf",
    "gamma": "x a: cdf logcdf logpdf logsf pdf sf",
    "gumbel_l": "x: cdf logcdf logpdf logsf pdf sf; p: ppf",
    "gumbel_r": "x: cdf logcdf logpdf logsf pdf sf; p: ppf",
    "laplace": "x: cdf logpdf pdf",
    "logistic": "x: cdf isf logpdf pdf ppf sf",
    "norm": "x: cdf logcdf logpdf logsf pdf sf; q: isf ppf",
    "pareto": "x b: cdf logcdf logpdf logsf pdf sf; q b: ppf",
    "t": "x df: logpdf pdf",
    "truncnorm": "x a b: cdf logcdf logpdf logsf pdf sf",
    "uniform": "x: cdf logpdf pdf; q: ppf",
}


def _of_elements(*names: str) -> Transfer:
    """Return a function of elements and of parameters, which all broadcast."""

    def transfer(call: Call) -> Value:
        values = call.bind(*names, loc=None, scale=None)
        arrays = operands(value for value in values if value is not None)
        dtype, _ = mixed(call, arrays)
        weak = any(x.weak for x in arrays) and not any(x.dtype == dtype and not x.weak for x in arrays)
        return result(call, broadcast(x.shape for x in arrays), None if weak else floating(dtype, False))

    return transfer


def _records() -> tuple[Operation, ...]:
    found = []
    for distribution, text in CONTINUOUS.items():
        for part in text.split("; "):
            names, functions = part.split(": ")
            transfer = _of_elements(*names.split())
            listed = " ".join(f"{distribution}.{name}" for name in functions.split())
            found.append(Operation(listed, transfer, sharding=elementwise_rules.composed, reads_values=False))
    return tuple(found)


OPERATIONS: tuple[Operation, ...] = _records()

TABLE: dict[str, Transfer] = library_table("jax.scipy.stats.", OPERATIONS)

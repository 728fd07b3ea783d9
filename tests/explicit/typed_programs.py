"""Shardings in types under every kind of mesh: what `jax.typeof` says, beside what the evaluator knows."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import jax
from explicit_probes import evaluate

from shardlint.inference.domain.values import Array
from shardlint.laws.core.verdicts import Rejected

MESHES = """
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

A, E = AxisType.Auto, AxisType.Explicit
auto = jax.make_mesh((4, 2), ("x", "y"), axis_types=(A, A))
expl = jax.make_mesh((4, 2), ("x", "y"), axis_types=(E, E))
mixed = jax.make_mesh((4, 2), ("x", "y"), axis_types=(E, A))
"""


def real_type(expression: str, context: str | None, scope: dict[str, Any]) -> Any:
    """The sharding in the type of an expression under a mesh of the scope, or the exception."""
    with nullcontext() if context is None else jax.set_mesh(scope[context]):
        try:
            return jax.typeof(eval(expression, scope)).sharding
        except Exception as problem:
            return problem


def under(context: str | None) -> str:
    """The line of a program that sets a mesh, or none."""
    return "if True:" if context is None else f"with jax.set_mesh({context}):"


@dataclass
class Tally:
    """How many programs JAX accepts, how many of their types are known, and the same of rejections."""

    accepted: int = 0
    known: int = 0
    rejected: int = 0
    found: int = 0

    def meet(self, program: str, real: Any) -> None:
        """Compare what a program probes with its real type, or the exception that it raises."""
        probes, uses = evaluate(program)
        refused = [use.verdict for use in uses if isinstance(use.verdict, Rejected)]
        told = (program, real, refused)
        if isinstance(real, Exception):
            self.rejected += 1
            self.found += bool(refused)
            assert not refused or type(real).__name__ == refused[0].exception, told
            return
        assert not refused, told
        self.accepted += 1
        value = probes.get(0)
        if isinstance(value, Array) and value.numpy:
            assert real.mesh.empty, told
            self.known += 1
        elif isinstance(value, Array) and value.typed is not None:
            self.known += 1
            assert value.typed.spec.entries == tuple(real.spec), (*told, value.typed)
            names = () if value.typed.mesh is None else value.typed.mesh.names
            assert names == real.mesh.axis_names, (*told, value.typed)

"""Shardings in types under every kind of mesh: what `jax.typeof` says, beside what the evaluator knows."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Any

import jax
from explicit_probes import evaluate
from support.jax_answers import answer

from shardlint.inference.domain.values import Array
from shardlint.laws.core.verdicts import Rejected

MESHES = """
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

A, E = AxisType.Auto, AxisType.Explicit
auto = jax.make_mesh((4, 2), ("x", "y"), axis_types=(A, A))
expl = jax.make_mesh((4, 2), ("x", "y"), axis_types=(E, E))
mixed = jax.make_mesh((4, 2), ("x", "y"), axis_types=(E, A))
"""


Scope = Callable[[], dict[str, Any]]


def once(prelude: str) -> Scope:
    """Return a function that returns the names of an executed prelude, which is executed when first asked."""

    @cache
    def scope() -> dict[str, Any]:
        names: dict[str, Any] = {}
        exec(prelude, names)
        return names

    return scope


def real_type(expression: str, context: str | None, scope: Scope) -> dict[str, Any]:
    """Return the sharding in the type of an expression under a mesh of the scope, or what it raises."""
    names = scope()
    with nullcontext() if context is None else jax.set_mesh(names[context]):
        try:
            sharding = jax.typeof(eval(expression, names)).sharding
        except Exception as problem:
            return {"raises": type(problem).__name__}
    mesh = sharding.mesh
    return {"empty": mesh.empty, "axes": [*mesh.axis_names], "spec": repr((*sharding.spec,))}


#: What asks JAX: the answers depend on it.
_RUNNER = inspect.getsource(real_type)


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

    def meet(self, program: str, ask: Callable[[], dict[str, Any]]) -> None:
        """Compare what a program probes with its real type, or the exception that it raises.

        ``ask`` asks JAX for it, where no answer is stored.
        """
        real = answer(program, ask, _RUNNER)
        probes, uses = evaluate(program)
        refused = [use.verdict for use in uses if isinstance(use.verdict, Rejected)]
        told = (program, real, refused)
        if "raises" in real:
            self.rejected += 1
            self.found += bool(refused)
            assert not refused or real["raises"] == refused[0].exception, told
            return
        assert not refused, told
        self.accepted += 1
        value = probes.get(0)
        if isinstance(value, Array) and value.numpy:
            assert real["empty"], told
            self.known += 1
        elif isinstance(value, Array) and value.typed is not None:
            self.known += 1
            assert repr(value.typed.spec.entries) == real["spec"], (*told, value.typed)
            names = () if value.typed.mesh is None else value.typed.mesh.names
            assert [*names] == real["axes"], (*told, value.typed)

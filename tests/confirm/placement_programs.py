"""Placements under transforms: JAX on the whole program, beside the verdict and the witness.

usage: python tests/confirm/transform_programs.py [WORD...]

Runs every API under every transform, on Auto and Explicit meshes, with specs that fit and that do not, and
prints where a verdict or a witness differs from JAX. With words, only the programs whose names have them all.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from support.checking import check

from shardlint.confirm.confirmer import Confirmer
from shardlint.confirm.fixtures.runs import UnitRun, run_fixture
from shardlint.model.findings import Confirmation, Finding, Severity

_HEAD = """\
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.{kind},) * 2)
KEY = jax.random.key(0)
"""
#: What places the array `x`, or makes one like it.
APIS = {
    "device_put named": "jax.device_put(x, NamedSharding(mesh, {spec}))",
    "device_put bare": "jax.device_put(x, {spec})",
    "constraint named": "jax.lax.with_sharding_constraint(x, NamedSharding(mesh, {spec}))",
    "constraint bare": "jax.lax.with_sharding_constraint(x, {spec})",
    "reshard named": "jax.sharding.reshard(x, NamedSharding(mesh, {spec}))",
    "reshard bare": "jax.sharding.reshard(x, {spec})",
    "zeros device": "jnp.zeros(({rows}, 4), device=NamedSharding(mesh, {spec}))",
    "full device": "jnp.full(({rows}, 4), x[0, 0], device=NamedSharding(mesh, {spec}))",
    "ones_like device": "jnp.ones_like(x, device=NamedSharding(mesh, {spec}))",
    "array device": "jnp.array(x, device=NamedSharding(mesh, {spec}))",
    "random out": "jax.random.normal(KEY, ({rows}, 4), out_sharding=NamedSharding(mesh, {spec}))",
    "zeros out named": "jnp.zeros(({rows}, 4), out_sharding=NamedSharding(mesh, {spec}))",
    "zeros out bare": "jnp.zeros(({rows}, 4), out_sharding={spec})",
}
#: Calls of a function `f` of an array, given one, `x`, or a pile of two, `xs`.
TRANSFORMS = {
    "none": "f(x)",
    "jit": "jax.jit(f)(x)",
    "vmap": "jax.vmap(f)(xs)",
    "grad": "jax.grad(lambda x: f(x).sum())(x)",
    "jvp": "jax.jvp(f, (x,), (x,))",
    "checkpoint": "jax.checkpoint(f)(x)",
    "scan": "jax.lax.scan(lambda c, x: (c, f(x)), 0.0, xs)",
    "while_loop": "jax.lax.while_loop(lambda c: c[0] < 1, lambda c: (c[0] + 1, (f(c[1]), c[1])[1]), (0, x))",
    "fori_loop": "jax.lax.fori_loop(0, 2, lambda i, c: (f(c), c)[1], x)",
    "cond": "jax.lax.cond(True, f, f, x)",
    "map": "jax.lax.map(f, xs)",
    "custom_jvp": "g = jax.custom_jvp(f); g.defjvp(lambda x, d: (f(*x), f(*d))); g(x)",
    "eval_shape": "jax.eval_shape(f, x)",
    "vmap of grad": "jax.vmap(jax.grad(lambda x: f(x).sum()))(xs)",
    "jit of vmap": "jax.jit(jax.vmap(f))(xs)",
    "vmap of jit": "jax.vmap(jax.jit(f))(xs)",
    "grad of jit": "jax.grad(jax.jit(lambda x: f(x).sum()))(x)",
    "grad of checkpoint": "jax.grad(lambda x: jax.checkpoint(f)(x).sum())(x)",
    "grad of scan": "jax.grad(lambda xs: jax.lax.scan(lambda c, x: (c, f(x)), 0.0, xs)[1].sum())(xs)",
    "vmap of scan": "jax.vmap(lambda x: jax.lax.fori_loop(0, 2, lambda i, c: (f(c), c)[1], x))(xs)",
    "vmap of vmap": "jax.vmap(jax.vmap(f))(jnp.ones((2, 2, {rows}, 4)))",
}
SPECS = {
    "fits": (8, 'P("data", None)'),
    "uneven": (6, 'P("data", None)'),
    "unknown": (8, 'P("fsdp", None)'),
    "long": (8, 'P("data", None, "model")'),
    "replicated": (8, "P()"),
}
#: What must not be: the rest is missed, or not shown.
CLAIMS = ("false error", "witness raises", "witness accepts")


@dataclass(frozen=True)
class Case:
    """A program: an API under a transform."""

    name: str
    kind: str
    body: tuple[str, ...]


def cases() -> Iterator[Case]:
    """Yield all programs."""
    whole = itertools.product(("Auto", "Explicit"), (False, True), APIS, SPECS, TRANSFORMS)
    for kind, context, api, spec, transform in whole:
        rows, written = SPECS[spec]
        fill = {"rows": rows, "spec": written}
        lines = [
            f"x, xs = jnp.ones(({rows}, 4)), jnp.ones((2, {rows}, 4))",
            f"f = lambda x: {APIS[api].format(**fill)}",
            TRANSFORMS[transform].format(**fill),
        ]
        if context:
            lines = ["with jax.set_mesh(mesh):", *(f"    {line}" for line in lines)]
        where = "set" if context else "unset"
        yield Case(f"{kind}, {where}, {api}, {spec}, {transform}", kind, tuple(lines))


@dataclass(frozen=True)
class Answer:
    """What is said of a case: JAX's exception, our findings, each with its witness's."""

    case: Case
    jax: UnitRun
    findings: tuple[Finding, ...]

    @property
    def wrong(self) -> Iterator[str]:
        """What differs, in words: of what kind, and what was said."""
        raised = self.jax.exception
        errors = [f for f in self.findings if f.severity is Severity.ERROR]
        accepted = [f for f in self.findings if f.confirmed_by and ": accepted" in f.confirmed_by]
        if errors and raised is None:
            yield "false error"
        if raised and not errors:
            yield f"missed {raised}"
        for finding in errors:
            if raised and finding.confirmation is not Confirmation.CONFIRMED:
                yield f"error not shown: {finding.confirmation}"
            if raised is None and finding.confirmation is Confirmation.CONFIRMED:
                yield "witness raises"
        if accepted and raised:
            yield "witness accepts"


def answers(confirmer: Confirmer, chosen: Sequence[Case]) -> Iterator[Answer]:
    """Check and run cases, many in a process: each kind of mesh makes programs of a hundred cases."""
    for kind in ("Auto", "Explicit"):
        alike = [case for case in chosen if case.kind == kind]
        for start in range(0, len(alike), 100):
            yield from _answers(confirmer, kind, alike[start : start + 100])


def _answers(confirmer: Confirmer, kind: str, chosen: Sequence[Case]) -> Iterator[Answer]:
    lines = _HEAD.format(kind=kind).splitlines()
    for number, case in enumerate(chosen):
        lines += ["", f"def case_{number}():", *(f"    {line}" for line in case.body)]
    text = "\n".join((*lines, ""))
    found = check(text)
    findings = confirmer.confirm([finding for finding in found if finding.use is not None])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.py"
        path.write_text(text, encoding="utf-8")
        run = run_fixture(path, timeout=600)
    assert run.problem is None, run.problem
    units = {unit.name: unit for unit in run.units}
    for number, case in enumerate(chosen):
        unit = units[f"case_{number}"]
        assert unit.ran, (case, run.problem)
        held = tuple(f for f in findings if unit.place.holds(None, f.span.line))
        yield Answer(case, unit, held)


def main(words: Sequence[str]) -> int:
    """Compare all, and return how the process is to exit."""
    chosen = [case for case in cases() if all(word in case.name for word in words)]
    counts: Counter[str] = Counter(programs=len(chosen))
    with Confirmer() as confirmer:
        for answer in answers(confirmer, chosen):
            for said in answer.wrong:
                counts[said] += 1
                print(f"{said}: {answer.case.name}", answer.jax.exception or "", flush=True)
            for finding in answer.findings:
                counts[f"({finding.severity}, {finding.confirmation})"] += 1
    print(", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    return 1 if any(counts[said] for said in CLAIMS) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

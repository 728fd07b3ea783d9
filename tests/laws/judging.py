"""A case of the laws, judged from the spec's construction to its meeting with the array."""

from __future__ import annotations

from dataclasses import dataclass, replace

from real_jax import BARE_SPECS, NAMES, Outcome, trimmed

from shardlint.laws.core.dims import Shape
from shardlint.laws.core.values import Entry, Junk, Mesh, Spec, Unknown
from shardlint.laws.core.verdicts import Accepted, Api, Rejected, Returned, Verdict
from shardlint.laws.placement.judge import judge_placement
from shardlint.laws.placement.named_sharding import judge_sharding
from shardlint.laws.placement.partition_spec import canonical, judge_spec
from shardlint.laws.versions.era import since


@dataclass(frozen=True)
class Case:
    """One call: ``mesh`` is the sharding's (shard_map's, the metadata's), or when ``raw`` the context's.

    ``under`` tells that a call that is not raw is made under `jax.set_mesh` of the mesh, None that this
    is not known. ``held`` is the array's own sharding, None when that is not known.
    """

    api: Api
    mesh: Mesh | Unknown | None
    spec: Spec | Junk | Unknown | None
    shape: Shape | Unknown
    raw: bool = False
    under: bool | None = False
    held: Spec | None = Spec()

    @property
    def context(self) -> Mesh | Unknown | None:
        """The mesh of `jax.set_mesh`."""
        if self.under is None:
            return Unknown("hidden")
        return self.mesh if self.under else None


def judge_case(case: Case) -> Verdict:
    """Judge P() and NamedSharding() where there are such calls, then the API."""
    spec = case.spec
    if isinstance(spec, Spec) and case.api not in NAMES:
        made = judge_spec(spec)
        if not isinstance(made, Accepted):
            return made
        spec = made.spec
    if not case.raw and case.api not in BARE_SPECS | NAMES and case.mesh is not None:
        sharding = judge_sharding(case.mesh, spec)
        if not isinstance(sharding, Accepted):
            return sharding
    return judge_placement(
        case.api, case.mesh, spec, case.shape, raw=case.raw, context=case.context, held=case.held
    )


#: What stands for the functions that `real_jax` draws, where the one drawn is `jnp.empty`.
_EMPTY = {Api.CREATE_OUT: Api.EMPTY_OUT, Api.CREATE_OUT_IN_JIT: Api.EMPTY_OUT_IN_JIT}
_PUT = {Api.CREATE: Api.DEVICE_PUT, Api.CREATE_IN_JIT: Api.DEVICE_PUT_IN_JIT}


def judge_drawn(case: Case) -> Verdict:
    """Judge a case whose function `real_jax` draws by the rank: for some ranks it is `jnp.empty`."""
    rank = len(case.shape) if isinstance(case.shape, tuple) else 0
    if case.api in _EMPTY and rank % 5 == 2:
        return judge_case(replace(case, api=_EMPTY[case.api]))
    if case.api in _PUT and rank % 4 == 2 and since("0.11.0"):
        verdict = judge_case(replace(case, api=_PUT[case.api]))
        if isinstance(verdict, Rejected) and verdict.stage == "device_put":
            return replace(verdict, stage="jnp.zeros(device=)")
        return verdict
    return judge_case(case)


#: What JAX raises as a jit returns what it cannot name.
REFUSALS = ("IndivisibleError", "AssertionError")
#: Of these the programs only trace, and what JAX refuses when it compiles is not seen.
ONLY_TRACED = frozenset({Api.JIT_OUT})


def contradiction(case: Case, verdict: Verdict, outcome: Outcome) -> str | None:
    """Say how a verdict that claims something disagrees with what JAX did; None when it does not."""
    if isinstance(verdict, Rejected):
        if outcome.ok:
            return None if verdict.stage == "compile" and case.api in ONLY_TRACED else "JAX accepts"
        if verdict.exception not in (outcome.exception, "Exception"):
            return "another exception"
        return None if verdict.stage == outcome.stage else "another stage"
    if isinstance(verdict, Accepted):
        if not outcome.ok:
            # The programs return what they place from jit, some from one without arguments.
            expected = verdict.returned is Returned.REFUSED and outcome.exception in REFUSALS
            nameless = verdict.returned is Returned.NAMELESS and outcome.exception == "KeyError" and case.raw
            return None if expected or nameless else "JAX rejects"
        if verdict.returned is Returned.REFUSED and outcome.spec is not None:
            return "JAX accepts"
        if verdict.spec is not None and outcome.spec is not None:
            alike = _same(_split(case.mesh, verdict.spec), _split(case.mesh, outcome.spec))
            return None if alike else "another result"
    return None


def _split(mesh: Mesh | Unknown | None, spec: Spec) -> Spec:
    """What a spec says of a layout: the axes of more than one device."""
    single = {name for name in mesh.names if mesh.size_of(name) == 1} if isinstance(mesh, Mesh) else set()

    def left(entry: Entry) -> Entry:
        if isinstance(entry, tuple):
            return canonical(tuple(part for part in entry if part not in single))
        return None if entry in single else entry

    return Spec(tuple(left(entry) for entry in spec.entries))


def _same(law: Spec, real: Spec) -> bool:
    """Whether two specs of results are equal, dimensions left to the compiler aside."""
    if any(isinstance(entry, Unknown) for entry in law.entries):
        width = max(len(law), len(real))
        pairs = zip(_padded(law, width), _padded(real, width), strict=True)
        return all(isinstance(ours, Unknown) or ours == theirs for ours, theirs in pairs)
    return trimmed(law) == trimmed(real)


def _padded(spec: Spec, width: int) -> tuple[object, ...]:
    return (*spec.entries, *[None] * (width - len(spec)))

"""Records of parameters that Flax makes or reads, with the verdict on their names on a mesh.

linen (`flax.core.meta.Partitioned.unbox`) constrains a boxed parameter whenever it is read under
`jax.set_mesh` or with a mesh in the box; nnx (`flax.core.spmd.shard_value`) shards a new variable, and raises
without a mesh. Neither sees ``with mesh:``. A new parameter is one `ParameterUse`, with the verdict on its
names; one that is only read is a `Placement`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardlint.inference.domain.values import Array, Value
from shardlint.inference.evaluation.context import assumed_rules
from shardlint.inference.overlays.flax.common.metadata import Names
from shardlint.inference.overlays.jax.explicit.placement_types import spec_in_type
from shardlint.laws.core.dims import Shape
from shardlint.laws.core.values import Junk, Mesh, Spec, Unknown
from shardlint.laws.core.verdicts import Accepted, Api, Cause, Rejected, Undecided, Verdict
from shardlint.laws.placement.judge import judge_placement
from shardlint.model.spans import Place
from shardlint.model.uses import Fact, ParameterUse, Placement
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.inference.evaluation.evaluator import Evaluator


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of a parameter: `linen` or `nnx`, the layer in words (``nn.Dense``), and the place that makes
    it."""

    library: str
    name: str
    place: Place

    def subject(self, parameter: str) -> str:
        """Return a parameter of the owner in words."""
        return f"`{parameter}` of `{self.name}`"


@dataclass(frozen=True, slots=True)
class NameCheck:
    """Names on a mesh: judged by the API ``eager`` outside jit and by ``traced`` inside.

    ``raw``: the mesh is that of `jax.set_mesh`; ``in_jit`` is None if the caller decides. Unless they are
    ``ruled``, the caller may have set logical rules, which nnx applies to names, or have switched eager
    sharding off.
    """

    eager: Api
    traced: Api
    mesh: Mesh | Unknown | None
    raw: bool
    in_jit: bool | None
    ruled: bool

    @staticmethod
    def linen(interpreter: Evaluator, mesh: Mesh | Unknown | None) -> NameCheck:
        """Return the judge of a linen box that is unboxed; ``mesh`` is the box's own, if any."""
        return _name_check(interpreter, Api.LINEN_UNBOX_EAGER, Api.LINEN_UNBOX, mesh)

    @staticmethod
    def nnx(interpreter: Evaluator, mesh: Mesh | Unknown | None) -> NameCheck:
        """Return the judge of a new nnx variable; ``mesh`` is its own, if any."""
        return _name_check(interpreter, Api.NNX_PARAM, Api.NNX_PARAM_IN_JIT, mesh)

    @property
    def api(self) -> Api:
        """Return the API that judges here."""
        return self.eager if self.in_jit is False else self.traced

    def judge(self, names: Names, shape: Shape | Unknown, held: Spec | None = None) -> Verdict:
        """Return JAX's verdict on names; ``held`` is the current sharding on the mesh, if known."""
        # linen unpacks names into a `PartitionSpec`: each letter of a bare string is an axis.
        spec = Spec(tuple(names.spec)) if isinstance(names.spec, str) else names.spec
        if not isinstance(spec, Spec):
            return Undecided("the names are not known")
        verdict = judge_placement(self.api, self.mesh, spec, shape, raw=self.raw, held=held)
        if not self.ruled and self.eager is Api.NNX_PARAM and _by_name(verdict):
            return Undecided("logical rules may give the names another meaning")
        if self.in_jit is None:
            # The caller decides whether this is traced, so both verdicts must agree.
            other = judge_placement(self.eager, self.mesh, spec, shape, raw=self.raw, held=held)
            return verdict if type(other) is type(verdict) else Undecided("in or outside jit")
        return verdict

    def record(
        self,
        interpreter: Evaluator,
        names: Names,
        value: Value,
        subject: str,
        place: Place,
        verdict: Verdict,
        facts: tuple[Fact, ...] = (),
    ) -> None:
        """Record the names on the mesh, at the place of the names, or else at ``place``."""
        if names.spec is None:
            return
        interpreter.record(
            Placement(
                place=names.place or place,
                environment=interpreter.environment(),
                verdict=verdict,
                facts=facts,
                api=self.api,
                mesh=self.mesh,
                spec=Junk(names.spec, "str", data=names.spec) if isinstance(names.spec, str) else names.spec,
                shape=shape_known(value),
                dtype=value.dtype if isinstance(value, Array) else None,
                subject=subject,
                raw=self.raw,
                entry_places=names.entry_places,
            )
        )


def _by_name(verdict: Verdict) -> bool:
    return isinstance(verdict, Rejected) and verdict.cause in (Cause.UNKNOWN_AXIS, Cause.DUPLICATE_AXIS)


def _name_check(interpreter: Evaluator, eager: Api, traced: Api, mesh: Mesh | Unknown | None) -> NameCheck:
    raw, context = mesh is None, interpreter.context
    mesh = interpreter.environment().context_mesh if raw else mesh
    rules, unknown = context.logical_rules, Unknown("the caller's")
    assumed = isinstance(rules, Unknown) or rules is assumed_rules(interpreter.settings, unknown)
    ruled = context.program or not assumed
    return NameCheck(eager, traced, mesh, raw, context.in_jit, ruled)


def held_by(interpreter: Evaluator, value: Value, mesh: Mesh | Unknown | None) -> Spec | None:
    """Return the sharding of a value on a mesh, as far as its type has it."""
    return spec_in_type(interpreter, value, mesh) if isinstance(value, Array) else None


#: Nothing constrains the names here.
INERT: Verdict = Accepted()


def shape_known(value: Value) -> Shape | Unknown:
    """Return the shape of an array in the form of uses."""
    if isinstance(value, Array) and value.shape is not None:
        return value.shape
    return Unknown("shape not known")


def record_parameter(
    interpreter: Evaluator,
    owner: Owner,
    name: str,
    value: Value,
    names: Names,
    mesh: Mesh | Unknown | None,
    verdict: Verdict,
    axes: Spec | None = None,
    path: tuple[str, ...] = (),
    initializer_place: Place | None = None,
    logical: bool = False,
    state: bool = False,
    copies: int = 1,
) -> None:
    """Record that a layer made a parameter; for the last six arguments see `ParameterUse`.

    A bare parameter is not judged here, even if there is a mesh: it is placed later.
    """
    interpreter.record(
        ParameterUse(
            place=owner.place,
            environment=interpreter.environment(),
            verdict=verdict,
            library=owner.library,
            owner=owner.name,
            owner_place=owner.place,
            name=name,
            shape=shape_known(value),
            dtype=value.dtype if isinstance(value, Array) else None,
            names=names.spec,
            names_place=names.place,
            entry_places=names.entry_places,
            mesh=None if names.spec is None else mesh,
            logical=logical,
            axes=axes,
            path=path,
            initializer_place=initializer_place,
            state=state,
            copies=copies,
        )
    )

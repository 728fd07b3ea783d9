"""Recording of operands inside `jax.jit` that an Auto axis splits along different dimensions."""

from __future__ import annotations

from shardlint.inference.domain.histories import Factor
from shardlint.inference.domain.values import Array, ShardingValue
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.jax.sharding.movement import layout, note_constraint
from shardlint.laws.core.values import Mesh
from shardlint.laws.core.verdicts import Accepted
from shardlint.laws.placement.movement import Operand, apart, split_by
from shardlint.model.memory_uses import ApartUse
from shardlint.model.spans import Place
from shardlint.model.uses import Fact


def note_requested(
    interpreter: Evaluator,
    array: Array,
    wanted: ShardingValue | None,
    function: str,
    place: Place,
    subject: str | None,
) -> None:
    """Record an array that is asked for in another layout than it has, or than an operand of it permits."""
    note_constraint(interpreter, array, wanted, function, place, subject)
    product, known = array.product, None if wanted is None else layout(wanted)
    if product is None or known is None or known[0] != product.mesh or not is_followed(interpreter):
        return
    asked = Operand(product.letters, known[1], array.shape or ())
    weight = product.weight
    shared = "".join(name for name in product.letters if name in weight.operand.letters)
    found = apart(product.mesh, weight.operand, asked, shared)
    if found is not None and split_by(product.beside, found.axis) is None:
        note_apart(interpreter, product.mesh, weight, asked, None, shared, "", place)


def is_followed(interpreter: Evaluator) -> bool:
    """Return whether the compiler lays out what is computed here: inside jit, not mapped over."""
    context = interpreter.context
    return context.in_jit is True and not context.mapped and not context.bound_axes


def together(first: tuple[Array, str], second: tuple[Array, str]) -> tuple[Mesh, Operand, Operand] | None:
    """Return the layouts of two arrays with these letters, if they are certain, and on one mesh."""
    found = []
    for array, letters in (first, second):
        known = None if array.laid is None or array.numpy else layout(array.laid)
        if known is None or array.shape is None or len(array.shape) != len(letters):
            return None
        found.append((known[0], Operand(letters, known[1], array.shape)))
    (mesh, one), (other_mesh, other) = found
    return (mesh, one, other) if mesh == other_mesh else None


def factor_of(array: Array, operand: Operand, otherwise: str = "the array") -> Factor:
    """Return an array as it is laid out; one without a name is called something else."""
    subject = f"`{array.name}`" if array.name else otherwise
    return Factor(operand, subject, array.dtype, array.laid.origin if array.laid is not None else None)


def note_apart(
    interpreter: Evaluator,
    mesh: Mesh,
    factor: Factor,
    beside: Operand,
    beside_name: str | None,
    shared: str,
    function: str,
    place: Place,
) -> bool:
    """Record an operand that an axis splits apart from what it meets; return whether there is one."""
    operand, origin = factor.operand, factor.origin
    found = apart(mesh, operand, beside, shared)
    if found is None:
        return False
    interpreter.record(
        ApartUse(
            place=origin or place,
            environment=interpreter.environment(),
            verdict=Accepted(),
            facts=() if origin is None else (Fact("it meets another layout here", place),),
            function=function,
            mesh=mesh,
            axis=found.axis,
            spec=operand.spec,
            held=found.held,
            met=found.met,
            other=beside.spec,
            other_subject=f"`{beside_name}`" if beside_name else None,
            shape=operand.shape,
            dtype=factor.dtype,
            subject=factor.subject,
        )
    )
    return True

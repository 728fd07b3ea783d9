"""`jnp.einsum` of one or two operands (`jnp.einsum._einsum`): sums, then a contraction, then a transpose.

With more operands the optimizer chooses the order: the result's type is known if it is the same in any.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from shardlint.inference.domain.values import Value, as_str
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import given
from shardlint.inference.overlays.jax.explicit.primitives import Open, Trace, dimensions, rank, shape_of
from shardlint.laws.core.array_types import ArrayType, TypeSharding
from shardlint.laws.core.dims import Dim
from shardlint.laws.core.values import Entry, Mesh, Spec, entry_axes

#: Letters for the dimensions of an ellipsis, aligned at the last one.
_HIDDEN = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def einsum(t: Trace, call: Call) -> ArrayType:
    """`jnp.einsum(subscripts, *operands, out_sharding=)`."""
    subscripts = as_str(call.args[0]) if call.args and not call.opaque else None
    if subscripts is None or "optimize" in call.kwargs:
        raise Open
    operands = [t.operand(arg) for arg in call.args[1:]]
    out = call.kwargs.get("out_sharding")
    inputs, output = written_out(subscripts, [rank(x) for x in operands])
    if len(operands) == 1:
        return _alone(t, operands[0], inputs[0], output, out)
    if len(operands) == 2:
        return _together(t, operands, inputs, output, out)
    if given(out):
        return t.iota(t.result_shape(), out)
    return _in_any_order(t, operands, inputs, output)


def written_out(subscripts: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """Return the terms of operands of these ranks and the output, with letters for ellipses."""
    terms, arrow, output = subscripts.replace(" ", "").partition("->")
    inputs = terms.split(",")
    if len(inputs) != len(ranks) or any(c in _HIDDEN for c in subscripts):
        raise Open
    full = [_spelled(term, width) for term, width in zip(inputs, ranks, strict=True)]
    longest = max((hidden for _, hidden in full), key=len)
    if not arrow:
        plain = "".join(inputs).replace(".", "")
        output = "..." * ("..." in terms) + "".join(sorted(c for c in set(plain) if plain.count(c) == 1))
    return [term for term, _ in full], output.replace("...", longest)


def _spelled(term: str, width: int) -> tuple[str, str]:
    """Return a term with letters for its ellipsis, and these letters."""
    before, dots, after = term.partition("...")
    missing = width - len(before) - len(after)
    if missing < 0 or (missing and not dots) or missing > len(_HIDDEN):
        raise Open
    hidden = _HIDDEN[len(_HIDDEN) - missing :] if missing else ""
    return before + hidden + after, hidden


def _alone(t: Trace, x: ArrayType, names: str, output: str, out: Value | None) -> ArrayType:
    if max(Counter(names).values(), default=1) > 1:
        raise Open
    gone = [i for i, name in enumerate(names) if name not in output]
    if gone:
        x = t.reduce_sum(x, gone, out)
    remaining = [name for name in names if name in output]
    return _ordered(t, x, "".join(remaining), output)


def _together(
    t: Trace, operands: list[ArrayType], inputs: list[str], output: str, out: Value | None
) -> ArrayType:
    """Contract two operands; the optimizer puts the second one first."""
    (b, a), (b_names, a_names) = operands, inputs
    if any(max(Counter(names).values(), default=1) > 1 for names in inputs):
        raise Open
    a, a_names = _without_singles(t, a, a_names, b, b_names)
    b, b_names = _without_singles(t, b, b_names, a, a_names)
    a, a_names = _summed(t, a, a_names, b_names + output)
    b, b_names = _summed(t, b, b_names, a_names + output)
    contracted = sorted(name for name in a_names if name in b_names and name not in output)
    batch = [name for name in output if name in a_names and name in b_names]
    own_a = "".join(n for n in a_names if n not in contracted and n not in batch)
    own_b = "".join(n for n in b_names if n not in contracted and n not in batch)
    lead = "".join(batch)
    # Use the order that needs no transpose, if there is one.
    if lead + own_b + own_a == output:
        (a, a_names, own_a), (b, b_names, own_b) = (b, b_names, own_b), (a, a_names, own_a)
    names = lead + own_a + own_b
    pairs = tuple(tuple(x.index(n) for n in contracted) for x in (a_names, b_names))
    batches = tuple(tuple(x.index(n) for n in batch) for x in (a_names, b_names))
    found = t.dot_general(
        a, b, (pairs[0], pairs[1]), (batches[0], batches[1]), out, order=[output.index(n) for n in names]
    )
    return _ordered(t, found, names, output)


def _in_any_order(t: Trace, operands: list[ArrayType], inputs: list[str], output: str) -> ArrayType:
    """Contract operands of which all agree along each letter, and sum over none that is sharded: in whatever
    order, nothing is in doubt."""
    entries: dict[str, Entry] = {}
    sizes: dict[str, Dim] = {}
    meshes: set[Mesh] = set()
    for x, names in zip(operands, inputs, strict=True):
        if x.sharding is None or x.sharding.spec.unreduced or x.sharding.spec.reduced:
            raise Open
        if x.sharding.mesh is not None:
            meshes.add(x.sharding.mesh)
        if len(names) > len(set(names)):
            raise Open
        for name, (size, entry) in zip(names, dimensions(x), strict=True):
            if entries.setdefault(name, entry) != entry or not t.same(sizes.setdefault(name, size), size):
                raise Open
    axes = [axis for entry in entries.values() for axis in entry_axes(entry)]
    summed = any(entry is not None for name, entry in entries.items() if name not in output)
    if summed or len(axes) > len(set(axes)) or len(meshes) != 1 or not set(output) <= entries.keys():
        raise Open
    typed = TypeSharding(meshes.pop(), Spec(tuple(entries[name] for name in output)))
    return ArrayType(tuple(sizes[name] for name in output), None, typed)


def _without_singles(
    t: Trace, x: ArrayType, names: str, other: ArrayType, other_names: str
) -> tuple[ArrayType, str]:
    """Remove the dimensions of size 1 whose counterpart is larger."""
    gone = [
        i
        for i, name in enumerate(names)
        if name in other_names
        and t.same(shape_of(x)[i], 1)
        and not t.same(shape_of(other)[other_names.index(name)], 1)
    ]
    return t.squeeze(x, gone), "".join(name for i, name in enumerate(names) if i not in gone)


def _summed(t: Trace, x: ArrayType, names: str, wanted: str) -> tuple[ArrayType, str]:
    """Sum the dimensions that no other term has."""
    gone = [i for i, name in enumerate(names) if name not in wanted]
    if not gone:
        return x, names
    return t.reduce_sum(x, gone), "".join(name for name in names if name in wanted)


def _ordered(t: Trace, x: ArrayType, names: str, output: str) -> ArrayType:
    if sorted(names) != sorted(output):
        raise Open
    return x if names == output else t.transpose(x, [names.index(name) for name in output])

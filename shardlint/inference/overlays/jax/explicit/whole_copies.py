"""Arguments of a jitted function that were laid out whole, and are for others that are split: an optimizer's
moments beside the parameters, sums of their gradients."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from shardlint.inference.domain.values import Array, ShardingValue, SpecValue, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.jax.explicit.device_lists import runs_eagerly
from shardlint.inference.overlays.jax.sharding.movement import layout, split_by
from shardlint.inference.overlays.pytrees.nodes import Trees
from shardlint.inference.overlays.pytrees.prefixes import arrays_at
from shardlint.laws.core.dims import equal
from shardlint.laws.core.verdicts import Accepted
from shardlint.laws.placement.array_bytes import array_bytes
from shardlint.model.uses import Fact, MadeUse

_STEP = re.compile(r"\.\w+|\[[^\]]*\]")


def note_whole(
    call: Call, function: str, names: Sequence[str], arguments: Sequence[Value], trees: Trees
) -> None:
    """Record arguments that lie whole on a mesh, though one with the same keys and shape is split, which is
    less deep in its tree: ``opt_state[0].mu["w"]`` beside ``params["w"]``.

    Parameters that are whole beside moments that are split are none: that is a way to save memory (ZeRO).
    """
    if not runs_eagerly(call.interpreter):
        return
    whole: list[tuple[Array, str]] = []
    split: dict[tuple[str, ...], list[tuple[Array, str]]] = {}
    for name, argument in zip(names, arguments, strict=False):
        for array, path in arrays_at(argument, trees):
            known = layout(array.committed) if isinstance(array.committed, ShardingValue) else None
            if known is None or not array.shape or equal(known[0].device_count, 1) is not False:
                continue
            if split_by(*known):
                split.setdefault(_keys(path), []).append((array, f"{name}{path}"))
            elif not any(known[1].entries):
                whole.append((array, f"{name}{path}"))
    found = [
        (array_bytes(array.shape, array.dtype) or 0, array, path, other, key)
        for array, path in whole
        for keys in _endings(_keys(path))
        for other, key in split.get(keys, ())
        if array.shape is not None and array.shape == other.shape and _depth(path) > _depth(key)
    ]
    if not found:
        return
    _, array, path, other, key = max(found, key=lambda one: one[0])
    home, near = array.committed, other.committed
    assert isinstance(home, ShardingValue) and isinstance(near, ShardingValue)
    assert isinstance(near.spec, SpecValue)
    sizes = {path: size for size, _, path, _, _ in found}
    call.interpreter.record(
        MadeUse(
            place=home.origin or call.place,
            environment=call.interpreter.environment(),
            verdict=Accepted(),
            facts=(Fact("it is given here", call.place),),
            function=function,
            subject=f"`{path}`",
            shape=array.shape or (),
            dtype=array.dtype,
            total=sum(sizes.values()),
            number=len(sizes),
            split=f"`{key}` is split by {near.spec.spec}",
            placed=True,
        )
    )


def _keys(path: str) -> tuple[str, ...]:
    """Return the keys of dicts at the end of a path."""
    steps = _STEP.findall(path)
    kept = len(steps)
    while kept and steps[kept - 1].startswith(("['", '["')):
        kept -= 1
    return tuple(steps[kept:])


def _endings(keys: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the keys, then those without the first one, and so on."""
    return (keys[start:] for start in range(len(keys)))


def _depth(path: str) -> int:
    """Return how many steps there are in a path."""
    return len(_STEP.findall(path))

"""The repair of a size that the devices do not divide: another number where the array's shape is written."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from shardlint.fixes.rewrites.fix_request import UNSAFE, FixRequest, in_place_of, literal
from shardlint.fixes.syntax.program_tree import CannotFix
from shardlint.model.findings import Fix
from shardlint.model.spans import Span
from shardlint.model.uses import ParameterUse


def dimension(request: FixRequest, number: int, size: int, instead: int) -> Fix:
    """Return the fix that writes another size for dimension ``number`` of an array.

    The size must stand as a number in the call that makes the array, or the layer.
    """
    for place in _makers(request):
        if place.path != request.finding.span.path:
            continue
        call = request.program.tree(place.cell).expression(place)
        if isinstance(call, cst.Call) and (node := _written(call, number, size)) is not None:
            message = f"write {instead} for {size}"
            return request.fix(message, UNSAFE, {node: in_place_of(str(instead))})
    raise CannotFix


def _makers(request: FixRequest) -> Iterator[Span]:
    use = request.use
    yield from (fact.place.resolve() for fact in use.facts if fact.kind == "shape")
    if isinstance(use, ParameterUse) and use.owner_place is not None:
        yield use.owner_place.resolve()


def _written(call: cst.Call, number: int, size: int) -> cst.BaseExpression | None:
    """Return the number in a call that is the size: its element of a shape, else the one that equals it."""
    shapes = [arg.value for arg in call.args if isinstance(arg.value, cst.Tuple | cst.List)]
    for shape in shapes:
        if number < len(shape.elements) and literal(node := shape.elements[number].value) == size:
            return node
    numbers = [arg.value for arg in call.args if literal(arg.value) == size]
    return numbers[0] if len(numbers) == 1 and not shapes else None

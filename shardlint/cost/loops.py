"""Count the runs of each computation of a module: once for the entry, times the turns of the loops around it.

A loop's turns are known if it counts: its condition compares an element of the carry with a constant, its
body adds a constant to that element, and it starts from a constant. `lax.scan`, `fori_loop` with known bounds
and their transposes do so. Of any other loop the number is not known, nor of what runs inside.
"""

from __future__ import annotations

import re

from shardlint.cost.hlo import Computation, Instruction, Module

_CALLED = re.compile(r"\b(?:to_apply|calls|body|condition|true_computation|false_computation)=%?([^\s,}]+)")
_BRANCHES = re.compile(r"\bbranch_computations=\{([^}]*)\}")
#: What hands its operand on unchanged.
_SAME = ("copy", "bitcast", "reshape", "convert", "opt-barrier")


def run_counts(module: Module) -> dict[str, int | None]:
    """Return how often each computation that is reached runs; None where that is not known.

    What several others call runs as often as all of them together.
    """
    counts: dict[str, int | None] = {}
    for name in reversed(_finished(module)):
        if name == module.entry:
            counts[name] = 1
        own = counts.get(name, 0)
        for one in module.computations[name].instructions:
            turns = turns_of(one, module.computations[name], module) if one.opcode == "while" else 1
            for called in _called(one):
                before = counts.get(called, 0)
                known = own is not None and turns is not None and before is not None
                counts[called] = before + own * turns if known else None  # type: ignore[operator]
    return counts


def _called(one: Instruction) -> list[str]:
    found = _CALLED.findall(one.attributes)
    branches = _BRANCHES.search(one.attributes)
    return found + (re.findall(r"%?([^\s,]+)", branches[1]) if branches else [])


def _finished(module: Module) -> list[str]:
    """Return the computations that the entry reaches, each behind all that it calls."""
    order: dict[str, None] = {}
    pending = [(module.entry, False)]
    while pending:
        name, called = pending.pop()
        if called:
            order[name] = None
        elif name in module.computations and name not in order:
            pending.append((name, True))
            for one in module.computations[name].instructions:
                pending += [(other, False) for other in _called(one)]
    return list(order)


def turns_of(loop: Instruction, around: Computation, module: Module) -> int | None:
    """Return how often a loop's body runs, if the module tells."""
    condition = module.computations.get(loop.called("condition") or "")
    body = module.computations.get(loop.called("body") or "")
    test = condition.root if condition is not None else None
    if condition is None or body is None or test is None or test.opcode != "compare":
        return None
    left, right = (_resolved(one, condition) for one in test.operands)
    direction = re.search(r"\bdirection=(\w+)", test.attributes)
    limit = _constant(right)
    counter = _element(left)
    if limit is None or counter is None or direction is None:
        return None
    start = _started(loop, counter, around)
    step = _step(body, counter)
    if start is None or not step:
        return None
    turns = {
        "LT": -(-(limit - start) // step),
        "LE": (limit - start) // step + 1,
        "GT": -(-(limit - start) // step),
        "GE": (limit - start) // step + 1,
    }.get(direction[1])
    if turns is None or (step > 0) != (direction[1] in ("LT", "LE")):
        return None
    return max(turns, 0)


def _started(loop: Instruction, counter: int, around: Computation) -> int | None:
    """Return the constant from which an element of the carry starts."""
    carry = around.by_name.get(loop.operands[0][0]) if loop.operands else None
    if carry is None or carry.opcode != "tuple" or counter >= len(carry.operands):
        return None
    return _constant(_resolved(carry.operands[counter], around))


def _step(body: Computation, counter: int) -> int | None:
    """Return the constant that a body adds to an element of the carry."""
    result = body.root
    if result is None or result.opcode != "tuple" or counter >= len(result.operands):
        return None
    added = _resolved(result.operands[counter], body)
    if added is None or added.opcode not in ("add", "subtract"):
        return None
    left, right = (_resolved(one, body) for one in added.operands)
    if added.opcode == "add" and _element(left) != counter:
        left, right = right, left
    step = _constant(right)
    if _element(left) != counter or step is None:
        return None
    return step if added.opcode == "add" else -step


def _resolved(operand: tuple[str, int | None], inside: Computation) -> Instruction | None:
    """Return what makes a value: the instruction behind copies; for ``%param#1`` the element itself."""
    name, number = operand
    one = inside.by_name.get(name)
    while one is not None and one.opcode in _SAME and one.operands:
        name, number = one.operands[0]
        one = inside.by_name.get(name)
    if one is not None and number is not None:
        return Instruction("", one.shape, "get-tuple-element", ((name, None),), "", f", index={number}")
    return one


def _element(one: Instruction | None) -> int | None:
    """Return which element of the computation's parameter an instruction is."""
    if one is None or one.opcode != "get-tuple-element":
        return None
    index = re.search(r"\bindex=(\d+)", one.attributes)
    return int(index[1]) if index else None


def _constant(one: Instruction | None) -> int | None:
    """Return the value of a constant whole number."""
    if one is None or one.opcode != "constant":
        return None
    return int(one.arguments) if re.fullmatch(r"-?\d+", one.arguments) else None

"""Memory on each device, from the buffers that XLA assigned."""

from __future__ import annotations

import re

from shardlint.cost.hlo import Module
from shardlint.cost.values import Buffer, Memory

_ALLOCATION = re.compile(r"^allocation \d+: size (\d+), (.*):$")
_PARAMETER = re.compile(r"\bparameter (\d+)\b")
_VALUE = re.compile(
    r"^ value: <\d+ (\S+?)(?:\{[\d,]*\})?(?: \(phi\))? @\d+> \(size=(\d+),offset=(\d+)\): (.*)$"
)
#: The most buffers that are told of, and the smallest part of the peak that one of them takes.
_MOST, _SMALLEST = 8, 0.01


def memory_of(assignment: str) -> tuple[Memory, list[tuple[Buffer, str]]]:
    """Return the bytes on each device, and the largest buffers with the names of their instructions.

    ``assignment`` is XLA's text about the buffers of a program.
    """
    arguments = results = temporaries = shared = 0
    buffers: dict[tuple[int, int], tuple[Buffer, str]] = {}
    role = ""
    number = 0
    for line in assignment.split("\n"):
        if (head := _ALLOCATION.match(line)) is not None:
            number += 1
            # Other colours than 0 are other memories than the device's main one.
            role = "" if re.search(r"\bcolor [1-9]", head[2]) else _role(head[2])
            arguments += int(head[1]) * (role == "argument")
            results += int(head[1]) * (role != "" and "maybe-live-out" in head[2])
            shared += int(head[1]) * (role == "argument" and "maybe-live-out" in head[2])
            temporaries += int(head[1]) * (role == "temporary")
        elif role and (value := _VALUE.match(line)) is not None and not value[4].startswith("("):
            name, size, offset, shape = value.groups()
            # Values that share a place, as those of one buffer in a loop, are one.
            buffers.setdefault(
                (number, int(offset)), (Buffer(role, "", shape.partition("{")[0], int(size)), name)
            )
    memory = Memory(arguments, results, temporaries, arguments + results - shared + temporaries)
    largest = sorted(buffers.values(), key=lambda one: -one[0].bytes)[:_MOST]
    return memory, [one for one in largest if one[0].bytes >= _SMALLEST * memory.peak]


def _role(text: str) -> str:
    if _PARAMETER.search(text):
        return "argument"
    if "maybe-live-out" in text:
        return "result"
    return "temporary" if "preallocated-temp" in text else ""


def argument_name(module: Module, name: str) -> str:
    """Return the path of an argument in the program's own terms (``params['kernel']``), "" if unknown."""
    inside = module.computations.get(module.entry)
    one = inside.by_name.get(name) if inside is not None else None
    return one.op_name if one is not None and one.opcode == "parameter" else ""

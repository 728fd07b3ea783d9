"""The compiled programs as JSON: one object with ``programs`` and ``collectives``.

A place in a notebook has a ``cell`` too; a collective has the layouts ``before`` and ``after`` it where they
are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shardlint.cost.values import Collective, Compilation, Place, Program
from shardlint.support.media import json_document

Json = dict[str, Any]


def document(compilations: Sequence[Compilation]) -> Json:
    """Return the object."""
    return {
        "programs": [_program(one) for each in compilations for one in each.programs],
        "collectives": [_collective(one) for each in compilations for one in each.collectives],
    }


def render(compilations: Sequence[Compilation]) -> str:
    """Return the object as text."""
    return json_document(document(compilations))


def _program(program: Program) -> Json:
    memory = program.memory
    return {
        "name": program.name,
        **_place(program.place),
        "memory": None
        if memory is None
        else {
            "arguments": memory.arguments,
            "results": memory.results,
            "temporaries": memory.temporaries,
            "peak": memory.peak,
        },
    }


def _collective(one: Collective) -> Json:
    layouts = ("before", one.before), ("after", one.after)
    return {
        "program": one.program,
        **_place(one.place),
        "kind": one.kind.value,
        "axes": list(one.axes),
        "bytes": one.bytes,
        "count": one.count,
        "op": one.op,
        **{name: str(spec) for name, spec in layouts if spec is not None},
    }


def _place(place: Place | None) -> Json:
    if place is None:
        return {"path": None, "line": None}
    cell = {} if place.cell is None else {"cell": place.cell}
    return {"path": place.path, "line": place.line, **cell}

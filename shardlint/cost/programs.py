"""The programs in a folder to which XLA wrote what it compiled."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from shardlint.cost.collectives import collectives_of
from shardlint.cost.hlo import Frame, Module, arrays_of, bytes_of, parse_module
from shardlint.cost.memory import argument_name, memory_of
from shardlint.cost.meshes import meshes_of
from shardlint.cost.source_lines import SourceLines, common
from shardlint.cost.values import Collective, Memory, Program

_FIRST = re.compile(r"^module_(\d+)\.(.*)\.before_optimizations\.txt$")
_CALLED = re.compile(r"^jit\((.*?)\)(?:/|$)")
_JAX = re.compile(r"[/\\](?:jax|jaxlib)[/\\]")


def read_programs(folder: Path, lines: SourceLines) -> list[Program]:
    """Return the programs of a folder in the order of their compilation.

    Operations that run outside of jit are programs too; they are left out if they send nothing. Of several
    programs of one name, the second is called ``step#2``.
    """
    found = []
    names: Counter[str] = Counter()
    firsts = sorted((int(m[1]), m[2], path) for path in folder.iterdir() if (m := _FIRST.match(path.name)))
    for number, name, path in firsts:
        program = _program(path, f"module_{number:04}.{name}", lines)
        if program is None:
            continue
        names[program.name] += 1
        if names[program.name] > 1:
            program = _renamed(program, f"{program.name}#{names[program.name]}")
        found.append(program)
    return found


def _renamed(program: Program, name: str) -> Program:
    ours = tuple(replace(one, program=name) for one in program.collectives)
    return replace(program, name=name, collectives=ours)


def _program(first: Path, stem: str, lines: SourceLines) -> Program | None:
    before = first.read_text(encoding="utf-8", errors="replace")
    partitioned = _text(first.parent, f"{stem}.*.after_*spmd-partitioning*.txt")
    module = parse_module(partitioned or before)
    stacks = list(_stacks(module))
    name = _name(module)
    own = [lines.own(stack) for stack in stacks]
    called = common(own)
    place = lines.definition(name, own)
    meshes = meshes_of(before)
    whole = _elements(parse_module(before)) if partitioned else {}
    mesh = next((mesh for mesh in meshes if len(mesh.devices) == module.partitions), None)
    found = []
    if partitioned:
        unpartitioned = parse_module(_text(first.parent, f"{stem}.*.before_*spmd-partitioning*.txt"))
        found = list(collectives_of(module, mesh, whole, unpartitioned))
    if not found and place is None and not _goes_deeper(stacks):
        return None
    collectives = []
    for one in found:
        frames = lines.own(module.stack(one.cause.frame)) or called
        where = lines.place(frames[-1] if frames else None)
        op = one.cause.op_name or one.cause.opcode
        counted = (one.bytes, one.count, op, one.shape, one.ways, one.weight, bytes_of(one.shape))
        layouts = (one.layouts.before, one.layouts.after)
        collectives.append(Collective(name, where, one.kind, one.axes, *counted, *layouts))
    return Program(
        name,
        place or lines.place(called[-1] if called else None),
        lines.case(own),
        module.partitions,
        () if mesh is None else tuple(zip(mesh.names, mesh.sizes, strict=True)),
        _memory(first.parent, stem, lines),
        tuple(collectives),
    )


def _elements(module: Module) -> dict[str, int]:
    """Return the number of elements of each argument of a module, by its number."""
    inside = module.computations.get(module.entry)
    parameters = [] if inside is None else [one for one in inside.instructions if one.opcode == "parameter"]
    return {one.arguments: sum(math.prod(n) for _, n in arrays_of(one.shape)) for one in parameters}


def _text(folder: Path, pattern: str) -> str:
    """Return the text of the last file of a pattern, "" where there is none."""
    found = sorted(folder.glob(pattern))
    return found[-1].read_text(encoding="utf-8", errors="replace") if found else ""


def _stacks(module: Module) -> Iterator[list[Frame]]:
    for inside in module.computations.values():
        frames = {one.frame for one in inside.instructions if one.frame}
        yield from (module.stack(frame) for frame in sorted(frames))


def _name(module: Module) -> str:
    """Return the name of the function, as it is written if the module tells it (``<lambda>``)."""
    written = module.name.removeprefix("jit_")
    for inside in module.computations.values():
        for one in inside.instructions:
            called = _CALLED.match(one.op_name)
            if called and re.sub(r"\W", "_", called[1]).strip("_") == written.strip("_"):
                return called[1]
    return written


def _goes_deeper(stacks: list[list[Frame]]) -> bool:
    """Return whether operations lie deeper than the call, in code that is not JAX's."""
    shared = len(common(stacks))
    return any(not _JAX.search(frame.file) for stack in stacks for frame in stack[shared:])


def _memory(folder: Path, stem: str, lines: SourceLines) -> Memory | None:
    assignment = _text(folder, f"{stem}.*after_optimizations-buffer-assignment.txt")
    if not assignment:
        return None
    memory, buffers = memory_of(assignment)
    if not buffers:
        return memory
    module = parse_module(_text(folder, f"{stem}.*after_optimizations.txt"))
    instructions = {one.name: one for inside in module.computations.values() for one in inside.instructions}
    told = []
    for buffer, name in buffers:
        frames = lines.own(module.stack(instructions[name].frame)) if name in instructions else []
        place = lines.place(frames[-1] if frames else None)
        told.append(replace(buffer, name=argument_name(module, name), place=place))
    return replace(memory, buffers=tuple(told))

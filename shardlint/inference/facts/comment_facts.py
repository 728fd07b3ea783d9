"""Facts and requests in comments on statements and functions: ``# shardlint: x: (batch, 4096)``.

A fact fills in what is unknown; if it contradicts what is known, the fact is reported. Facts apply to an
assigned target after the statement, and to other names before it; on a ``def`` line they apply to the
parameters, and to the mesh set by the unknown caller.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from shardlint.inference.domain.values import NONE, Instance, MeshValue, Value
from shardlint.inference.evaluation.deployment_mesh import is_assumed
from shardlint.inference.facts.descriptions import Description, Fitted, fit, fit_mesh, read
from shardlint.inference.facts.reveal import reveal
from shardlint.inference.machine.stated_facts import StatedFacts
from shardlint.inference.semantics.variables import narrow
from shardlint.inference.store.effect_log import changed
from shardlint.inference.syntax.file_parts import Part, units_of
from shardlint.inference.syntax.node_fields import parts
from shardlint.inference.syntax.units import Unit
from shardlint.laws.core.size_syntax import ArrayPattern
from shardlint.laws.core.values import AxisType, Mesh, Unknown
from shardlint.model.spans import Span
from shardlint.model.uses import Fact, FileProblem
from shardlint.source.comments.facts import BrokenFact, MeshFact, Note, RevealRequest, ShapeFact, read_notes
from shardlint.source.sources import Cell, Source

if TYPE_CHECKING:
    from shardlint.inference.evaluation.context import Scope
    from shardlint.inference.machine.code import Code
    from shardlint.inference.machine.machine import Machine


# -- reading ------------------------------------------------------------------------------------------


def take_notes(interpreter: Machine, path: str, cell: Cell, parts: Sequence[Part]) -> list[FileProblem]:
    """Read the comments of a cell and attach them to the units of their lines.

    Return the problems found in them.
    """
    notes, problems = [], []
    for note in read_notes(cell.text):
        wrong = _wrong(interpreter, note)
        if wrong is not None:
            problems.append(FileProblem("malformed-fact", wrong, _span(path, cell.index, note)))
        else:
            notes.append(note)
    for unit in units_of(parts) if notes else ():
        last = unit.first_line + unit.text.count("\n")
        unit.notes = tuple(note for note in notes if unit.first_line <= note.code_line <= last)
    return problems


def _wrong(interpreter: Machine, note: Note) -> str | None:
    item = note.item
    if isinstance(item, BrokenFact):
        return item.message
    if isinstance(item, MeshFact) and item.name is not None:
        known = dict(interpreter.settings.meshes)
        if item.name not in known:
            hint = _nearest(item.name, known) if known else ": [tool.shardlint.meshes] is empty"
            return f"the configuration has no mesh `{item.name}`{hint}"
    return None


def _span(path: str, cell: int | None, note: Note) -> Span:
    return Span(path, note.line, note.column, note.line, note.end_column, cell)


def _nearest(word: str, known: Sequence[str] | dict[str, Mesh]) -> str:
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f"; did you mean `{close[0]}`?" if close else f"; there is {', '.join(f'`{k}`' for k in known)}"


def unanswered(interpreter: Machine, source: Source) -> Iterator[FileProblem]:
    """Report requests on lines that were never evaluated."""
    for cell in source.cells:
        for note in read_notes(cell.text):
            place = _span(source.path, cell.index, note)
            if isinstance(note.item, RevealRequest) and place not in interpreter.revealed:
                yield FileProblem("revealed", "shardlint does not come to this line", place)


# -- statements ---------------------------------------------------------------------------------------


def with_notes(interpreter: Machine, node: cst.CSTNode, execute: Callable[[], bool]) -> bool:
    """Execute a statement with the comments that apply to it."""
    unit = interpreter.frame.unit
    first, last = _header_lines(unit, node)
    notes = [note for note in unit.notes if first <= note.code_line <= last]
    if not notes:
        return execute()
    targets = set(_targets(node))
    nodes: dict[cst.CSTNode, StatedFacts] = {
        part: StatedFacts(part in targets) for part in _expressions(node)
    }
    for note in notes:
        if isinstance(note.item, ShapeFact):
            _state_fact(interpreter, nodes, note, note.item.name)
        elif isinstance(note.item, MeshFact):
            for part, noted in nodes.items():
                if _is_mesh_name(dotted(part)):
                    noted.facts.append(note)
    # Facts apply to each run separately.
    changed(0)
    interpreter.stated_facts.update(nodes)
    try:
        with _mesh_context(interpreter, unit, notes):
            return execute()
    finally:
        for part in nodes:
            interpreter.stated_facts.pop(part, None)
        values = set(_values(node))
        seen = [(part, noted.seen) for part, noted in nodes.items() if part not in values]
        for note in notes:
            if isinstance(note.item, RevealRequest):
                reveal(interpreter, _span(unit.path, unit.cell, note), seen)


def _state_fact(interpreter: Machine, nodes: dict[cst.CSTNode, StatedFacts], note: Note, name: str) -> None:
    """Apply a fact to the targets or expressions of its name; an existing variable has it from now on."""
    named = [noted for part, noted in nodes.items() if dotted(part) == name]
    targets = [noted for noted in named if noted.target]
    if targets:
        for noted in targets:
            noted.facts.append(note)
        return
    unit = interpreter.frame.unit
    place = _span(unit.path, unit.cell, note)
    if "." not in name and interpreter.scope.find(name) is not None:
        before = interpreter.lookup(name)
        after = _fitted(interpreter, note, unit, before, name)
        if after is not before:
            narrow(interpreter, name, after)
    elif (holder := read(interpreter, name.rpartition(".")[0] or name, place)) is None:
        first = name.partition(".")[0]
        wrong = f"there is no variable `{first}` here{_near(interpreter, first, map(dotted, nodes))}"
        problem(interpreter, "malformed-fact", wrong, place)
    elif not _state_attribute(interpreter, note, holder, name):
        for noted in named:
            noted.facts.append(note)


def _state_attribute(interpreter: Machine, note: Note, holder: Value, name: str) -> bool:
    """Apply a fact to an attribute, if its object is an instance that the running code certainly changes."""
    if not isinstance(holder, Instance) or not interpreter.certain(holder.path):
        return False
    unit = interpreter.frame.unit
    before = read(interpreter, name, _span(unit.path, unit.cell, note)) or Unknown("not there")
    after = _fitted(interpreter, note, unit, before, name)
    if after is not before:
        holder.attributes[name.rpartition(".")[2]] = after
    return True


def _near(interpreter: Machine, name: str, written: Iterable[str | None]) -> str:
    """Return the most similar name among visible variables and names written in the statement."""
    visible = [word for word in written if word is not None]
    scope: Scope | None = interpreter.scope
    while scope is not None:
        visible += scope.variables
        scope = scope.parent
    close = difflib.get_close_matches(name, visible, n=1, cutoff=0.5)
    return f"; did you mean `{close[0]}`?" if close else ""


def with_facts(interpreter: Machine, node: cst.CSTNode, value: Value) -> Value:
    """Return the value of an expression or target with the facts that comments state of it."""
    noted = interpreter.stated_facts[node]
    unit = interpreter.frame.unit
    for note in noted.facts:
        value = _fitted(interpreter, note, unit, value, dotted(node))
    if not interpreter.muted:
        noted.seen.append(value)
    return value


def _fitted(interpreter: Machine, note: Note, unit: Unit, value: Value, name: str | None) -> Value:
    """Return a value completed by a note; a contradiction is reported, and the known value stays."""
    place = _span(unit.path, unit.cell, note)
    item = note.item
    if isinstance(item, ShapeFact):
        pattern = ArrayPattern(item.sizes, item.dtype)
        found = fit(interpreter, Description(pattern, place, name), value)
    elif isinstance(item, MeshFact):
        found = fit_mesh(_mesh(interpreter, item), place, name, value)
    else:
        found = Fitted(value)
    if found.wrong is not None:
        _contradicted(interpreter, f"`{name}`", found, place)
    return found.value


def _contradicted(interpreter: Machine, what: str, found: Fitted, place: Span) -> None:
    origin = getattr(found.value, "origin", None)
    facts = () if origin is None else (Fact("it is made here", origin),)
    message = f"this is not so of {what}: {found.wrong}"
    problem(interpreter, "contradicted-fact", message, place, facts)


def problem(interpreter: Machine, kind: str, message: str, place: Span, facts: tuple[Fact, ...] = ()) -> None:
    """Report a problem of a comment, unless recording is off."""
    if not interpreter.muted:
        interpreter.problems.append(FileProblem(kind, message, place, facts))


# -- meshes -------------------------------------------------------------------------------------------


def _mesh(interpreter: Machine, item: MeshFact) -> Mesh:
    if item.name is not None:
        # A different object from the assumed mesh, since this one is stated.
        return replace(dict(interpreter.settings.meshes)[item.name])
    names, sizes = zip(*item.axes, strict=True)
    return Mesh(names, sizes, (AxisType.AUTO,) * len(names))


def _is_mesh_name(name: str | None) -> bool:
    return name is not None and name.lower().endswith("mesh")


def _mesh_context(interpreter: Machine, unit: Unit, notes: Sequence[Note]) -> AbstractContextManager[None]:
    """Return the context of an unknown caller: the mesh that a note names takes precedence."""
    note = next((note for note in notes if isinstance(note.item, MeshFact)), None)
    if note is None or not isinstance(note.item, MeshFact):
        return nullcontext()
    held, place = interpreter.context.mesh, _span(unit.path, unit.cell, note)
    mesh = _mesh(interpreter, note.item)
    if isinstance(held, Unknown) or is_assumed(interpreter, held):
        return interpreter.within(mesh=MeshValue(mesh, place))
    if held is not None and (found := fit_mesh(mesh, place, None, held)).wrong is not None:
        _contradicted(interpreter, "the mesh that is set", found, place)
    return nullcontext()


# -- functions ----------------------------------------------------------------------------------------


def about_function(interpreter: Machine, code: Code) -> AbstractContextManager[None]:
    """Apply the comments on a function's ``def`` line to its parameters as it begins to run."""
    node, unit = code.node, code.unit
    if not isinstance(node, cst.FunctionDef):
        return nullcontext()
    first, last = _header_lines(unit, node)
    notes = [note for note in unit.notes if first <= note.code_line <= last]
    variables = interpreter.scope.variables
    parameters = {name: part for part in _parameters(node) if (name := part.name.value) in variables}
    # Known sizes bind names before anything is filled in.
    for unknown in (False, True):
        for note in notes:
            names = [name for name in parameters if _speaks_of(note, name)]
            if isinstance(note.item, ShapeFact) and not names and not unknown:
                _state_parameter(interpreter, code, note, note.item.name, list(parameters))
            for name in names:
                if isinstance(variables[name], Unknown) == unknown:
                    variables[name] = _fitted(interpreter, note, unit, variables[name], name)
    if any(isinstance(note.item, RevealRequest) for note in notes):
        targets = [(part.name, [variables[name]]) for name, part in parameters.items()]
        for note in notes:
            if isinstance(note.item, RevealRequest):
                reveal(interpreter, _span(unit.path, unit.cell, note), targets)
    return _mesh_context(interpreter, unit, notes)


def _state_parameter(interpreter: Machine, code: Code, note: Note, name: str, parameters: list[str]) -> None:
    """Apply a fact to an attribute of a parameter: ``self.kernel``."""
    unit = interpreter.frame.unit
    place = _span(unit.path, unit.cell, note)
    first, _, rest = name.partition(".")
    if rest and first in parameters:
        _state_attribute(interpreter, note, read(interpreter, name.rpartition(".")[0], place) or NONE, name)
    else:
        wrong = f"`{code.name}` has no parameter `{first}`{_nearest(first, parameters) if parameters else ''}"
        problem(interpreter, "malformed-fact", wrong, place)


def _speaks_of(note: Note, name: str) -> bool:
    if isinstance(note.item, ShapeFact):
        return note.item.name == name
    return isinstance(note.item, MeshFact) and _is_mesh_name(name)


def _parameters(node: cst.FunctionDef) -> Iterator[cst.Param]:
    params = node.params
    yield from (*params.posonly_params, *params.params, *params.kwonly_params)


# -- syntax -------------------------------------------------------------------------------------------

#: The fields of a compound statement other than its head.
_BODIES = (
    *(cst.IndentedBlock, cst.Else, cst.ExceptHandler, cst.ExceptStarHandler, cst.Finally),
    *(cst.MatchCase, cst.If),
)


def _header_lines(unit: Unit, node: cst.CSTNode) -> tuple[int, int]:
    """Return the lines of a simple statement, or of a compound one's head with its decorators."""
    span = unit.span(node)
    first = min((unit.span(d).line for d in getattr(node, "decorators", ())), default=span.line)
    body = getattr(node, "body", None)
    if isinstance(body, cst.IndentedBlock) and body.body:
        return min(first, span.line), unit.span(body.body[0]).line - 1
    return min(first, span.line), span.end_line


def _expressions(node: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """Yield the expressions in a statement's head, outer ones first; not names of attributes and keywords."""
    waiting = [child for child in parts(node) if not isinstance(child, _BODIES)]
    while waiting:
        part = waiting.pop(0)
        if isinstance(part, cst.BaseExpression):
            yield part
        waiting[:0] = [part.value] if isinstance(part, cst.Attribute | cst.Arg) else parts(part)


def _targets(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the targets in a statement's head, and their parts if they are unpacked."""
    small = node.body if isinstance(node, cst.SimpleStatementLine) else (node,)
    for statement in small:
        if isinstance(statement, cst.Assign):
            found: list[cst.CSTNode] = [target.target for target in statement.targets]
        elif isinstance(statement, cst.AnnAssign | cst.AugAssign | cst.For):
            found = [statement.target]
        elif isinstance(statement, cst.With):
            found = [item.asname.name for item in statement.items if item.asname is not None]
        else:
            found = []
        while found:
            target = found.pop()
            yield target
            if isinstance(target, cst.Tuple | cst.List):
                found += [element.value for element in target.elements]


def _values(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the values that a statement assigns to names: facts on the name apply to them."""
    for statement in node.body if isinstance(node, cst.SimpleStatementLine) else ():
        if isinstance(statement, cst.Assign | cst.AnnAssign) and statement.value is not None:
            targets = [t.target for t in getattr(statement, "targets", ())]
            if not targets or any(map(dotted, targets)):
                yield statement.value


def dotted(node: cst.CSTNode) -> str | None:
    """Return ``self.mesh`` as text; None for an expression other than a dotted name."""
    if isinstance(node, cst.Attribute):
        base = dotted(node.value)
        return None if base is None else f"{base}.{node.attr.value}"
    return node.value if isinstance(node, cst.Name) else None

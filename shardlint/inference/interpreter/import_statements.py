"""``import``: names of the project's own modules, and names of libraries; and other files of the project."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import libcst as cst

from shardlint.inference.domain.values import Const, External, ModuleValue, Value, as_items, as_str
from shardlint.inference.evaluation.monkeypatches import is_set
from shardlint.inference.evaluation.release_queries import is_there
from shardlint.inference.interpreter.assignment import bind
from shardlint.inference.machine.variable_reads import note_variable
from shardlint.inference.overlays.registry import is_known
from shardlint.inference.recording.editor_uses import TELLING, note_read
from shardlint.inference.syntax.node_fields import exception_names
from shardlint.laws.core.values import Unknown

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine


def dotted(node: cst.BaseExpression | None) -> str:
    """Return the text of a dotted name."""
    if isinstance(node, cst.Attribute):
        return f"{dotted(node.value)}.{node.attr.value}"
    return node.value if isinstance(node, cst.Name) else ""


def import_succeeds(interpreter: Machine, node: cst.BaseSmallStatement) -> bool:
    """Return whether a statement imports only names that JAX is known to have."""
    if isinstance(node, cst.Import):
        return all(is_known(interpreter, dotted(alias.name)) for alias in node.names)
    if not isinstance(node, cst.ImportFrom) or isinstance(node.names, cst.ImportStar) or node.relative:
        return False
    module = dotted(node.module)
    return all(is_known(interpreter, f"{module}.{dotted(alias.name)}") for alias in node.names)


def import_fails(interpreter: Machine, node: cst.BaseSmallStatement) -> bool:
    """Return whether the first name that a statement imports from a module is one that the release lacks."""
    if not isinstance(node, cst.ImportFrom) or isinstance(node.names, cst.ImportStar) or node.relative:
        return False
    name = f"{dotted(node.module)}.{dotted(node.names[0].name)}"
    return is_there(interpreter, name) is False and not is_set(interpreter, name)


def only_known_imports(interpreter: Machine, node: cst.Try) -> bool:
    """Return whether the body only imports names that exist, so that no handler runs."""
    lines = node.body.body
    if not all(isinstance(line, cst.SimpleStatementLine) for line in lines):
        return False
    imports = [small for line in lines if isinstance(line, cst.SimpleStatementLine) for small in line.body]
    return bool(imports) and all(import_succeeds(interpreter, small) for small in imports)


def of_failed_import(interpreter: Machine, node: cst.Try) -> cst.ExceptHandler | None:
    """Return the handler that runs if the body begins with an import of a name that the release lacks."""
    first = node.body.body[0]
    small = first.body[0] if isinstance(first, cst.SimpleStatementLine) else None
    if small is None or not isinstance(node, cst.Try) or node.finalbody is not None:
        return None
    if not node.handlers or not import_fails(interpreter, small):
        return None
    handler = node.handlers[0]
    catches = handler.type is None or not {"ImportError", "Exception"}.isdisjoint(
        exception_names(handler.type)
    )
    return handler if catches else None


def import_names(interpreter: Machine, node: cst.Import) -> None:
    """Execute ``import a.b as c``."""
    project = interpreter.project
    for alias in node.names:
        name = dotted(alias.name)
        project.reference(interpreter, name, interpreter.place(alias), "ModuleNotFoundError")
        if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
            bind(interpreter, alias.asname.name.value, project.import_module(interpreter, name))
        else:
            first = name.split(".")[0]
            bind(interpreter, first, project.import_module(interpreter, first))
            if first != name and isinstance(module := project.import_module(interpreter, name), ModuleValue):
                project.loose[name] = module


def _exported(interpreter: Machine, module: ModuleValue) -> dict[str, Value]:
    """Return the names that a star imports from a module: ``__all__``, or those without an underscore."""
    found: dict[str, Value] = module.run.scope.variables
    for name in found:
        note_variable(interpreter, module.run.scope, name, module.run.scope)
    if "__all__" not in found:
        return {name: value for name, value in found.items() if not name.startswith("_")}
    names = [as_str(item) for item in as_items(found["__all__"]) or (Const(None),)]
    if None in names:
        # It may bind any of the module's names.
        return dict.fromkeys(found, Unknown("bound by an import of names that are not known"))
    return {name: interpreter.project.member(interpreter, module, name) for name in names if name is not None}


def import_from(interpreter: Machine, node: cst.ImportFrom) -> None:
    """Execute ``from a import b as c``, with dots and stars."""
    project, scope = interpreter.project, interpreter.scope
    name = "." * len(node.relative) + dotted(node.module)
    module = project.import_module(interpreter, name)
    if isinstance(node.names, cst.ImportStar):
        if isinstance(module, ModuleValue):
            for bound, value in _exported(interpreter, module).items():
                bind(interpreter, bound, value)
        else:
            known = project.star_names(module.name) if isinstance(module, External) else {}
            if not known:
                # It may bind any name, including ones already bound.
                known = dict.fromkeys(
                    scope.variables, Unknown("bound by an import of names that are not seen")
                )
            scope.variables.update(known)
        return
    for alias in node.names:
        imported = dotted(alias.name)
        bound = (
            alias.asname.name.value if alias.asname and isinstance(alias.asname.name, cst.Name) else imported
        )
        place = interpreter.place(alias)
        if isinstance(module, ModuleValue):
            value = project.member(interpreter, module, imported)
        elif (submodule := project.submodule(interpreter, name, imported)) is not None:
            value = submodule
        elif isinstance(module, External):
            full = f"{module.name}.{imported}"
            if is_set(interpreter, full):
                value = Unknown(f"the program sets `{full}`")
            elif project.reference(interpreter, full, place, "ImportError"):
                value = project.replacement(interpreter, full)
            else:
                value = project.external(interpreter, full)
        else:
            value = Unknown(f"`{imported}` comes from a module that is not seen")
        if type(value) in TELLING and interpreter.settings.editing:
            for written in (alias.name, *([alias.asname.name] if alias.asname else [])):
                if isinstance(written, cst.Name):
                    note_read(interpreter, written, value)
        bind(interpreter, bound, value)


def data_file(interpreter: Machine, name: str, beside: bool) -> tuple[str, str] | None:
    """Return the path and the text of a data file of the project, None if it is not known."""
    here = Path(interpreter.scope.root.module.source.path)
    return interpreter.project.data_file(here, name, beside)

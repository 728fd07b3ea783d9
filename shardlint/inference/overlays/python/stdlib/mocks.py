"""Names that tests replace: `unittest.mock.patch`, and any call with an object and the name of an attribute.

From then on the value of that name is unknown, also after the test, which restores it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from shardlint.inference.domain.values import ClassValue, External, Instance, ModuleValue, Value, as_str
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.evaluation.mutation import set_attribute
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Place

_REPLACED = Unknown("a test replaces it")
#: Kinds of values with attributes that tests replace.
_HOLDERS = ModuleValue | ClassValue | Instance | External
#: Arguments of `patch.multiple` that do not name an attribute.
_OPTIONS = frozenset({"target", "spec", "create", "spec_set", "autospec", "new_callable"})


def replace_named(interpreter: Evaluator, args: Sequence[Value]) -> None:
    """Havoc an attribute that unseen code may set, since it is passed the object and the name:
    ``monkeypatch.setattr``."""
    if len(args) > 1 and isinstance(args[0], _HOLDERS) and (name := as_str(args[1])) is not None:
        _replace(interpreter, args[0], name)


def _replace(interpreter: Evaluator, holder: Value, name: str) -> None:
    set_attribute(interpreter, holder, name, _REPLACED)
    if isinstance(holder, ModuleValue):
        before = interpreter.context
        interpreter.context = replace(before, replaced=before.replaced | {holder.run.source.path})


def _patch(call: Call) -> Value:
    """``patch("package.module.name", ...)``."""
    replace_written(call.interpreter, call.argument(0, "target"), call.place)
    return Unknown("a patch")


def replace_written(interpreter: Evaluator, target: Value | None, place: Place) -> None:
    """Havoc what a test replaces by its full name: ``monkeypatch.setattr("package.module.name", ...)``."""
    text = as_str(target)
    if text is not None and "." in text:
        holder = _found(interpreter, text.split(".")[:-1], place)
        if isinstance(holder, _HOLDERS):
            _replace(interpreter, holder, text.rpartition(".")[2])


def _found(interpreter: Evaluator, parts: list[str], place: Place) -> Value:
    """Return the value of a dotted name: the longest module that is seen, else a library, then attributes."""
    for count in range(len(parts), 0, -1):
        found = interpreter.import_module(".".join(parts[:count]), place)
        if isinstance(found, ModuleValue) or count == 1:
            break
    for name in parts[count:]:
        found = interpreter.attribute(found, name, place)
    return found


def _patch_object(call: Call) -> Value:
    """``patch.object(target, "name", ...)``."""
    target, name = call.argument(0, "target"), call.argument(1, "attribute")
    if target is not None and name is not None:
        replace_named(call.interpreter, [target, name])
    return Unknown("a patch")


def _patch_multiple(call: Call) -> Value:
    """``patch.multiple(target, name=..., ...)``."""
    target = call.argument(0, "target")
    text = as_str(target)
    holder = target if text is None else _found(call.interpreter, text.split("."), call.place)
    if isinstance(holder, _HOLDERS):
        for name in (name for name in call.kwargs if name not in _OPTIONS):
            _replace(call.interpreter, holder, name)
    return Unknown("a patch")


TABLE: dict[str, Callable[[Call], Value]] = {
    f"{module}.patch{name}": function
    for module in ("unittest.mock", "mock")
    for name, function in (("", _patch), (".object", _patch_object), (".multiple", _patch_multiple))
}

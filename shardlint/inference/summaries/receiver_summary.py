"""The abstract ``self`` of methods without known callers.

The constructor runs once for each class, with unknown arguments. The attributes that it sets are kept if
nothing else may set them: another method, a derived class, or module code with an instance.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Set
from typing import TYPE_CHECKING

from shardlint.inference.domain.builtin_bases import HELD
from shardlint.inference.domain.classes import all_fields, class_attribute, library_bases, lineage
from shardlint.inference.domain.deep_copy import copied
from shardlint.inference.domain.unknown_choices import Choice
from shardlint.inference.domain.values import (
    Bound,
    ClassValue,
    DictValue,
    Function,
    Instance,
    LibraryObject,
    ListValue,
    Native,
    SetValue,
    Value,
    is_none,
)
from shardlint.inference.evaluation.name_mangling import mangled
from shardlint.inference.machine.class_summaries import ConstructorSummary, TextWrites
from shardlint.inference.machine.code import LookedAt
from shardlint.inference.machine.trace import Trace
from shardlint.inference.semantics.instantiation import is_dataclass
from shardlint.inference.store.effect_log import born, depends
from shardlint.inference.summaries.equivalence import Equivalence
from shardlint.inference.syntax.text_cache import bare, of_texts
from shardlint.laws.core import dims
from shardlint.laws.core.values import Unknown
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine

#: The ``.name =`` of ``x.name = …``, also with an annotation or an operator. A pattern that begins with a
#: literal character is searched for at a fraction of the cost.
_SETS = re.compile(r"\.(?<=\w\.)(\w++)\s*+(?::[^=\n]+)?(?:[-+*/%&|^@<>]{1,2})?=(?!=)")
_LAST_WORD = re.compile(r"\w+\Z")
#: ``x.name, y = …``: all targets but the last, which `_SETS` finds.
_UNPACKS = re.compile(r"^[ \t]*+[(\[]?((?:[\w.*]++[ \t]*+,[ \t]*+)++)[\w.*]*+[)\]]?[ \t]*+=(?!=)", re.M)
#: ``for x.name in …``, ``with … as x.name``.
_BINDS = re.compile(r"[af](?:(?<=\ba)s|(?<=\bf)or)\s++(\w++)\.(\w++)")
_TARGET = re.compile(r"\b(\w+)\.(\w+)")
_CHANGES = re.compile(
    r"\.(\w+)\s*(?:\[[^\]\n]*\]\s*=(?!=)"
    r"|\.(?:append|extend|insert|update|pop|popitem|setdefault|clear|remove|add|sort|reverse)\()"
)
_DELETES = re.compile(r"\bdel[ \t]++([^\n]+)")
#: Statements that set or delete attributes with computed names.
_SETS_ANY = re.compile(
    r"(?:set|del)attr\(|(?:__dict__|vars\(\w+\))(?:\[[^\]\n]*\]\s*(?:[-+*/|]|//)?=(?!=)|\.(?:update|setdefault|pop|clear)\()"
)
CONSTRUCTORS = frozenset({"__init__", "__post_init__", "setup"})


@dataclass(frozen=True, slots=True)
class ConstructorRead:
    """Stands for a code key: a dependency on what the constructor of the class with this number sets."""

    born: int


@dataclass(frozen=True, slots=True)
class TextRead:
    """Stands for a code key: a dependency on the method texts of the class with this number (see
    `TextWrites`)."""

    born: int


def have_equal_effects(one: ConstructorSummary, other: ConstructorSummary) -> bool:
    """Return whether two runs of a constructor set equal attributes and have equal traces."""
    equivalence = Equivalence((one.start, one.symbols), (other.start, other.symbols))
    return equivalence.are(one.attributes, other.attributes) and equivalence.have_equal_traces(
        one.trace, other.trace
    )


#: Runs a constructor on an instance, with unknown arguments and nothing recorded.
Construct = Callable[[Function, Instance], None]


def entry_instance(interpreter: Machine, cls: ClassValue, method: Function, construct: Construct) -> Instance:
    """Return an instance of which only the class is known: ``self`` of a method without known callers."""
    writes = _text_writes(interpreter, cls)
    attributes: dict[str, Value] = {
        name: Choice(f"`self.{name}` is set by the caller")
        for name in all_fields(cls)
        if is_dataclass(cls) or "typing.NamedTuple" in library_bases(cls)
    }
    if method.name not in CONSTRUCTORS:
        constructed = _constructed(interpreter, cls, attributes, construct)
        known: dict[int, Value] = {}  # attributes that share an object still do
        attributes |= {name: copied(value, known) for name, value in constructed.items()}
    # Class attributes that the program also sets on objects, or that a derived class replaces.
    for name in writes.sets | _overridden(interpreter, cls):
        if name not in attributes and class_attribute(cls, name) is not None:
            attributes[name] = Unknown(f"`self.{name}` may be set elsewhere")
    return Instance(cls, attributes, opaque=True, path=interpreter.path)


def _text_writes(interpreter: Machine, cls: ClassValue) -> TextWrites:
    if cls not in interpreter.text_writes:
        interpreter.text_writes[cls] = _read_texts(cls)
    for codes in (interpreter.ran, interpreter.ran_uncached):
        codes.add(TextRead(cls.born))
    return interpreter.text_writes[cls]


def _read_texts(cls: ClassValue) -> TextWrites:
    texts, elsewhere = list(_texts(cls, every=True)), _set_on_objects(cls)
    sets = elsewhere | {mangled(name, base) for base, text in texts for name in sets_of_self(text)}
    changes = elsewhere | {
        mangled(name, base) for base, text in _texts(cls) for name in sets_of_self(text) | _changes(text)
    }
    own = frozenset(name for name in sets if class_attribute(cls, name) is not None)
    return TextWrites(own, frozenset(changes), any(_sets_any(text) for _, text in texts))


def changed_texts(interpreter: Machine) -> frozenset[Hashable]:
    """Return the classes whose method texts have other writes now, and update their records."""
    others: set[Hashable] = set()
    for cls, before in list(interpreter.text_writes.items()):
        now = _read_texts(cls)
        if now != before:
            interpreter.text_writes[cls] = now
            others.add(TextRead(cls.born))
            if (now.changes, now.any) != (before.changes, before.any) and cls in interpreter.constructed:
                interpreter.outdated.setdefault(cls.born, (cls, interpreter.constructed.pop(cls)))
    return frozenset(others)


def _constructed(
    interpreter: Machine, cls: ClassValue, fields: dict[str, Value], construct: Construct
) -> dict[str, Value]:
    """Return the attributes that only the constructor sets."""
    if cls not in interpreter.constructed:
        start, symbols = born(), dims.latest()
        interpreter.constructed[cls] = ConstructorSummary(
            {}, Trace(), start, symbols
        )  # it may reach its class again
        around = Trace().swap(interpreter)
        found: dict[str, Value] = {}
        init = class_attribute(cls, "__post_init__" if is_dataclass(cls) else "__init__")
        writes = _text_writes(interpreter, cls)
        if isinstance(init, Function) and not writes.any:
            instance = Instance(cls, dict(fields), opaque=True, path=interpreter.path)
            construct(init, instance)
            changing = writes.changes | _overridden(interpreter, cls)
            found = {
                name: Unknown(f"`self.{name}` may be set elsewhere")
                if name in changing or _waits(value)
                else value
                for name, value in instance.attributes.items()
                if name not in fields and name != HELD
            }
        trace = around.swap(interpreter)
        interpreter.problems += trace.problems
        looked: set[Hashable] = {key if isinstance(key, LookedAt) else LookedAt(key) for key in trace.ran}
        inputs = Trace(
            ran=looked,
            turns=trace.turns,
            asks_mesh=trace.asks_mesh,
            questions=trace.questions,
            pairs=trace.pairs,
        )
        interpreter.constructed[cls] = ConstructorSummary(found, inputs, start, symbols)
    constructed = interpreter.constructed[cls]
    constructed.trace.add_to(interpreter)
    interpreter.ran_uncached.add(ConstructorRead(cls.born))
    return constructed.attributes


def outdate(interpreter: Machine, codes: Set[Hashable]) -> None:
    """Run constructors again that ran any of these."""
    outdated = [cls for cls, one in interpreter.constructed.items() if not one.trace.ran.isdisjoint(codes)]
    for cls in outdated:
        interpreter.outdated.setdefault(cls.born, (cls, interpreter.constructed.pop(cls)))


def _waits(value: Value) -> bool:
    """Return whether an attribute looks like a placeholder that other code is to fill."""
    return is_none(value) or (isinstance(value, ListValue | DictValue | SetValue) and not value.items)


def override(interpreter: Machine, base: ClassValue, names: Set[str]) -> None:
    """Record which attributes of a class a derived class redefines."""
    depends(base.born)
    interpreter.replaced[base.born] = interpreter.replaced.get(base.born, frozenset()) | names


def _overridden(interpreter: Machine, cls: ClassValue) -> Set[str]:
    return interpreter.replaced.get(cls.born, frozenset())


def sets_of_self(text: str) -> set[str]:
    """Return the attributes that a method's text sets on ``self``."""
    return {name for one, name in sets_in(text) if one == "self"}


@of_texts
def sets_in(text: str) -> frozenset[tuple[str, str]]:
    """Return the attributes that a text sets, each with the name of the variable that holds the object."""
    text = bare(text)
    sets = ((_last_word(text, found.start()), found[1]) for found in _SETS.finditer(text))
    unpacked = (pair for targets in _UNPACKS.findall(text) for pair in _TARGET.findall(targets))
    return frozenset((*sets, *_BINDS.findall(text), *unpacked))


def _last_word(text: str, end: int) -> str:
    """Return the word that ends at an offset."""
    found = _LAST_WORD.search(text[text.rfind("\n", 0, end) + 1 : end])
    assert found is not None
    return found[0]


def set_by_methods(cls: ClassValue) -> set[str]:
    """Return the attributes that a class's own methods set on ``self``, including its constructor."""
    methods = filter(None, map(method_in, cls.attributes.values()))
    return {mangled(name, cls.name) for method in methods for name in sets_of_self(method.code.unit.glance)}


@of_texts
def _changes(text: str) -> frozenset[str]:
    """Return the attributes whose values a text mutates or deletes."""
    text = bare(text)
    deleted = (name for targets in _DELETES.findall(text) for _, name in _TARGET.findall(targets))
    return frozenset((*_CHANGES.findall(text), *deleted))


@of_texts
def _sets_any(text: str) -> bool:
    """Return whether a text may set any attribute."""
    return _SETS_ANY.search(bare(text)) is not None


def have_equal_writes(text: str, other: str) -> bool:
    """Return whether two texts of a function have the same writes to objects (see `TextWrites`)."""
    return all(found(text) == found(other) for found in (sets_in, _changes, _sets_any))


def _set_on_objects(cls: ClassValue) -> set[str]:
    """Return the attributes that the class's module sets on objects other than ``self``."""
    text = cls.module.text if cls.module is not None else ""
    names = [base.name for base in lineage(cls) if isinstance(base, ClassValue)]
    return {mangled(name, base) for one, name in sets_in(text) if one != "self" for base in names}


def _texts(cls: ClassValue, every: bool = False) -> Iterator[tuple[str, str]]:
    """Yield the texts of the methods of a class and its bases, each with the name of the defining class.

    Constructors only with ``every``.
    """
    for base in lineage(cls):
        if isinstance(base, ClassValue):
            for value in base.attributes.values():
                method = method_in(value)
                if method is not None and (every or method.name not in CONSTRUCTORS):
                    yield base.name, method.code.unit.glance


def method_in(value: Value) -> Function | None:
    """Return the program's function in a class attribute: itself, decorated, or a property's."""
    if isinstance(value, LibraryObject):
        value = value.fields.get("function", value)
    if isinstance(value, Native) and value.wraps is not None:
        return method_in(value.wraps)
    if isinstance(value, Bound):
        return method_in(value.function)
    return value if isinstance(value, Function) else None

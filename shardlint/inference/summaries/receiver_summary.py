"""``self`` of a method that nobody calls: what its class gives every instance it makes.

The constructor runs once for each class, with unknown arguments; what it sets holds until something else may
set it: another method, a derived class, or code of the module that has an instance.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Set
from typing import TYPE_CHECKING

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
from shardlint.inference.machine.code import LookedAt
from shardlint.inference.machine.trace import Met
from shardlint.inference.semantics.instantiation import is_dataclass
from shardlint.inference.store.effect_log import born, depends
from shardlint.inference.summaries.equivalence import Alike
from shardlint.inference.syntax.text_cache import of_texts
from shardlint.laws.core import dims
from shardlint.laws.core.values import Unknown
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine

#: The ``.name =`` of ``x.name = …``, also with an annotation or an operator: what begins with one character
#: is found at a fraction of the cost.
_SETS = re.compile(r"\.(?<=\w\.)(\w++)\s*+(?::[^=\n]+)?(?:[-+*/%&|^@<>]{1,2})?=(?!=)")
_LAST_WORD = re.compile(r"\w+\Z")
#: ``x.name, y = …``: all targets but the last, which is found above.
_UNPACKS = re.compile(r"^[ \t]*+[(\[]?((?:[\w.*]++[ \t]*+,[ \t]*+)++)[\w.*]*+[)\]]?[ \t]*+=(?!=)", re.M)
#: ``for x.name in …``, ``with … as x.name``.
_BINDS = re.compile(r"[af](?:(?<=\ba)s|(?<=\bf)or)\s++(\w++)\.(\w++)")
_TARGET = re.compile(r"\b(\w+)\.(\w+)")
_CHANGES = re.compile(
    r"\.(\w+)\s*(?:\[[^\]\n]*\]\s*=(?!=)"
    r"|\.(?:append|extend|insert|update|pop|popitem|setdefault|clear|remove|add|sort|reverse)\()"
)
_DELETES = re.compile(r"\bdel[ \t]++([^\n]+)")
#: What sets, or deletes, attributes whose names are computed.
_SETS_ANY = re.compile(
    r"(?:set|del)attr\(|(?:__dict__|vars\(\w+\))(?:\[[^\]\n]*\]\s*(?:[-+*/|]|//)?=(?!=)|\.(?:update|setdefault|pop|clear)\()"
)
CONSTRUCTORS = frozenset({"__init__", "__post_init__", "setup"})


@dataclass(frozen=True, slots=True)
class OfClass:
    """In place of a code's key: what the constructor of the class with this number sets matters."""

    born: int


@dataclass(frozen=True, slots=True)
class OfTexts:
    """In place of a code's key: what texts say of the class with this number matters (see `Said`)."""

    born: int


@dataclass(frozen=True, slots=True)
class Said:
    """What texts say of ``self``, without being run: the attributes of the class that may be set on objects,
    those that may be other than the constructor left them, and whether any may.
    """

    sets: frozenset[str]
    changes: frozenset[str]
    any: bool


@dataclass(slots=True)
class Constructed:
    """What a constructor sets for good, what it met, and the numbers at which it began (see `Alike`)."""

    attributes: dict[str, Value]
    met: Met
    start: int
    symbols: int

    def is_alike(self, other: Constructed) -> bool:
        """Whether another run of the constructor sets and meets the same."""
        alike = Alike((self.start, self.symbols), (other.start, other.symbols))
        return alike.are(self.attributes, other.attributes) and alike.have_met(self.met, other.met)


#: Runs a constructor on an instance, with unknown arguments and nothing recorded.
Construct = Callable[[Function, Instance], None]


def entry_instance(interpreter: Machine, cls: ClassValue, method: Function, construct: Construct) -> Instance:
    """An instance about which only the class itself is known: ``self`` of a method nobody calls."""
    said = _said(interpreter, cls)
    attributes: dict[str, Value] = {
        name: Choice(f"`self.{name}` is set by the caller")
        for name in all_fields(cls)
        if is_dataclass(cls) or "typing.NamedTuple" in library_bases(cls)
    }
    if method.name not in CONSTRUCTORS:
        constructed = _constructed(interpreter, cls, attributes, construct)
        known: dict[int, Value] = {}  # what two attributes hold stays one object
        attributes |= {name: copied(value, known) for name, value in constructed.items()}
    # Attributes of the class that the program also sets on objects, or that a derived class replaces.
    for name in said.sets | _overridden(interpreter, cls):
        if name not in attributes and class_attribute(cls, name) is not None:
            attributes[name] = Unknown(f"`self.{name}` may be set elsewhere")
    return Instance(cls, attributes, opaque=True, path=interpreter.path)


def _said(interpreter: Machine, cls: ClassValue) -> Said:
    if cls not in interpreter.said:
        interpreter.said[cls] = _read_texts(cls)
    for met in (interpreter.ran, interpreter.own):
        met.add(OfTexts(cls.born))
    return interpreter.said[cls]


def _read_texts(cls: ClassValue) -> Said:
    texts, elsewhere = list(_texts(cls, every=True)), _set_on_objects(cls)
    sets = elsewhere | {mangled(name, base) for base, text in texts for name in sets_of_self(text)}
    changes = elsewhere | {
        mangled(name, base) for base, text in _texts(cls) for name in sets_of_self(text) | _changes(text)
    }
    own = frozenset(name for name in sets if class_attribute(cls, name) is not None)
    return Said(own, frozenset(changes), any(_sets_any(text) for _, text in texts))


def said_otherwise(interpreter: Machine) -> frozenset[Hashable]:
    """The classes of which texts say something else now, which is taken over; what read that is outdated."""
    others: set[Hashable] = set()
    for cls, before in list(interpreter.said.items()):
        now = _read_texts(cls)
        if now != before:
            interpreter.said[cls] = now
            others.add(OfTexts(cls.born))
            if (now.changes, now.any) != (before.changes, before.any) and cls in interpreter.constructed:
                interpreter.outdated.setdefault(cls.born, (cls, interpreter.constructed.pop(cls)))
    return frozenset(others)


def _constructed(
    interpreter: Machine, cls: ClassValue, fields: dict[str, Value], construct: Construct
) -> dict[str, Value]:
    """The attributes that the constructor sets for good."""
    if cls not in interpreter.constructed:
        start, symbols = born(), dims.latest()
        interpreter.constructed[cls] = Constructed({}, Met(), start, symbols)  # it may come back to its class
        around = Met().swap(interpreter)
        found: dict[str, Value] = {}
        init = class_attribute(cls, "__post_init__" if is_dataclass(cls) else "__init__")
        said = _said(interpreter, cls)
        if isinstance(init, Function) and not said.any:
            instance = Instance(cls, dict(fields), opaque=True, path=interpreter.path)
            construct(init, instance)
            changing = said.changes | _overridden(interpreter, cls)
            found = {
                name: Unknown(f"`self.{name}` may be set elsewhere")
                if name in changing or _waits(value)
                else value
                for name, value in instance.attributes.items()
                if name not in fields
            }
        met = around.swap(interpreter)
        interpreter.problems += met.problems
        looked: set[Hashable] = {key if isinstance(key, LookedAt) else LookedAt(key) for key in met.ran}
        told = Met(ran=looked, turns=met.turns, asks_mesh=met.asks_mesh, pairs=met.pairs)
        interpreter.constructed[cls] = Constructed(found, told, start, symbols)
    constructed = interpreter.constructed[cls]
    constructed.met.tell(interpreter)
    interpreter.own.add(OfClass(cls.born))
    return constructed.attributes


def outdate(interpreter: Machine, traces: Set[Hashable]) -> None:
    """Let constructors that met any of these run again."""
    met = [cls for cls, one in interpreter.constructed.items() if not one.met.ran.isdisjoint(traces)]
    for cls in met:
        interpreter.outdated.setdefault(cls.born, (cls, interpreter.constructed.pop(cls)))


def _waits(value: Value) -> bool:
    """Whether an attribute looks as if something else were to fill it."""
    return is_none(value) or (isinstance(value, ListValue | DictValue | SetValue) and not value.items)


def override(interpreter: Machine, base: ClassValue, names: Set[str]) -> None:
    """Note which attributes of a class a derived one defines anew."""
    depends(base.born)
    interpreter.replaced[base.born] = interpreter.replaced.get(base.born, frozenset()) | names


def _overridden(interpreter: Machine, cls: ClassValue) -> Set[str]:
    return interpreter.replaced.get(cls.born, frozenset())


def sets_of_self(text: str) -> set[str]:
    """The attributes that a method's text sets on ``self``."""
    return {name for one, name in sets_in(text) if one == "self"}


@of_texts
def sets_in(text: str) -> frozenset[tuple[str, str]]:
    """What a text sets: variables, and attributes of what they hold."""
    sets = ((_last_word(text, found.start()), found[1]) for found in _SETS.finditer(text))
    unpacked = (pair for targets in _UNPACKS.findall(text) for pair in _TARGET.findall(targets))
    return frozenset((*sets, *_BINDS.findall(text), *unpacked))


def _last_word(text: str, end: int) -> str:
    """The word that ends here."""
    found = _LAST_WORD.search(text[text.rfind("\n", 0, end) + 1 : end])
    assert found is not None
    return found[0]


def set_by_methods(cls: ClassValue) -> set[str]:
    """The attributes that a class's own methods set on ``self``, its constructor among them."""
    methods = filter(None, map(method_in, cls.attributes.values()))
    return {mangled(name, cls.name) for method in methods for name in sets_of_self(method.code.unit.text)}


@of_texts
def _changes(text: str) -> frozenset[str]:
    """The attributes whose values a text changes, or that it deletes."""
    deleted = (name for targets in _DELETES.findall(text) for _, name in _TARGET.findall(targets))
    return frozenset((*_CHANGES.findall(text), *deleted))


@of_texts
def _sets_any(text: str) -> bool:
    """Whether a text may set any attribute."""
    return _SETS_ANY.search(text) is not None


def says_alike(text: str, other: str) -> bool:
    """Whether two texts of a function say the same of objects (see `Said`)."""
    return all(found(text) == found(other) for found in (sets_in, _changes, _sets_any))


def _set_on_objects(cls: ClassValue) -> set[str]:
    """Names of attributes that the class's module sets on other objects than ``self``."""
    text = cls.module.text if cls.module is not None else ""
    names = [base.name for base in lineage(cls) if isinstance(base, ClassValue)]
    return {mangled(name, base) for one, name in sets_in(text) if one != "self" for base in names}


def _texts(cls: ClassValue, every: bool = False) -> Iterator[tuple[str, str]]:
    """The texts of the methods of a class and its bases, each with the name of the class that has it.

    The constructors only with ``every``.
    """
    for base in lineage(cls):
        if isinstance(base, ClassValue):
            for value in base.attributes.values():
                method = method_in(value)
                if method is not None and (every or method.name not in CONSTRUCTORS):
                    yield base.name, method.code.unit.text


def method_in(value: Value) -> Function | None:
    """The function of the program in a class's attribute: itself, decorated, or a property's."""
    if isinstance(value, LibraryObject):
        value = value.fields.get("function", value)
    if isinstance(value, Native) and value.wraps is not None:
        return method_in(value.wraps)
    if isinstance(value, Bound):
        return method_in(value.function)
    return value if isinstance(value, Function) else None

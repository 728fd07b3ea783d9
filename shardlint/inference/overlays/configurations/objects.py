"""`DictConfig` and `ListConfig` as objects of the program, made of trees, and trees made of them.

An object holds its items, with interpolations resolved, as an object of a class that derives from ``dict`` or
``list`` does (`domain.builtin_bases`). Attributes that no program can name hold its container, the items that
are not what is written, and the annotations of a structured one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from shardlint.inference.domain.builtin_bases import HELD
from shardlint.inference.domain.classes import all_fields
from shardlint.inference.domain.havoc import forget
from shardlint.inference.domain.values import (
    NONE,
    Alternatives,
    ClassValue,
    Const,
    DictValue,
    External,
    Instance,
    Integer,
    ListValue,
    Tuple,
    Unknown,
    Value,
)
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.configurations.interpolations import Path, Resolution
from shardlint.inference.overlays.configurations.trees import (
    Interpolation,
    Map,
    Node,
    Seq,
    is_missing,
    typed,
)
from shardlint.inference.overlays.python.stdlib.dataclasses import field_default, is_init_only
from shardlint.model.spans import Place

DICT, LIST = "omegaconf.DictConfig", "omegaconf.ListConfig"
_PARENT, _WRITTEN, _TYPES = "(parent)", "(written)", "(types)"
_METHODS = ("__getattr__", "__setattr__", "__setitem__", "__delitem__", "__delattr__")
DICTS = ClassValue("DictConfig", (External(DICT),), {name: External(f"{DICT}.{name}") for name in _METHODS})
#: Those that hold a value which is still to be given: their own methods tell whether a key is there.
_PARTIAL = ClassValue(
    "DictConfig",
    (External(DICT),),
    {name: External(f"{DICT}.{name}") for name in (*_METHODS, "__contains__", "get")},
)
LISTS = ClassValue("ListConfig", (External(LIST),), {})
_PLAIN = (str, bool, int, float, bytes, type(None))
#: How deep a configuration is nested at most.
_DEEPEST = 30
UNKNOWN = Unknown("a configuration that is not known")


def is_config(value: Value | None) -> bool:
    """Return whether a value is a `DictConfig` or `ListConfig`."""
    return isinstance(value, Instance) and value.cls in (DICTS, _PARTIAL, LISTS)


# -- from trees -------------------------------------------------------------------------------------


class _Making:
    def __init__(self, root: Node, interpreter: Evaluator, place: Place) -> None:
        self.resolution = Resolution(root)
        self.interpreter = interpreter
        self.place = place
        self.made: dict[int, Value] = {}

    def of(self, node: Node, path: Path, parent: Value) -> Value:
        """Return the value of a part of the tree; the same one for what interpolations share."""
        if id(node) in self.made:
            return self.made[id(node)]
        if len(path) > _DEEPEST:
            return UNKNOWN
        if isinstance(node, Interpolation):
            found = self.resolution.node(path)
            # What it leads to has its own place in the tree.
            return UNKNOWN if isinstance(found, Map | Seq | Interpolation) else found
        if isinstance(node, Map):
            partial = any(map(is_missing, node.items.values()))
            made = self._object(node, _PARTIAL if partial else DICTS, parent)
            held: dict[Hashable, Value] = {}
            made.attributes[HELD] = DictValue(held, self.place, self.interpreter.path)
            if node.types is not None:
                types = {name: Const(text) for name, text in node.types.items()}
                made.attributes[_TYPES] = DictValue(dict(types.items()), path=self.interpreter.path)
            written: dict[Hashable, Value] = {}
            for key, item in node.items.items():
                _note(written, key, item)
                held[key] = UNKNOWN if is_missing(item) else self.of(item, (*path, key), made)
            made.attributes[_WRITTEN] = DictValue(written, path=self.interpreter.path)
            return made
        if isinstance(node, Seq):
            made = self._object(node, LISTS, parent)
            items: list[Value] = []
            made.attributes[HELD] = ListValue(items, self.place, self.interpreter.path)
            written = {}
            for number, item in enumerate(node.items):
                _note(written, number, item)
                items.append(UNKNOWN if is_missing(item) else self.of(item, (*path, number), made))
            made.attributes[_WRITTEN] = DictValue(written, path=self.interpreter.path)
            return made
        return node

    def _object(self, node: Map | Seq, cls: ClassValue, parent: Value) -> Instance:
        made = Instance(cls, {_PARENT: parent}, False, self.place, self.interpreter.path)
        self.made[id(node)] = made
        return made


def _note(written: dict[Hashable, Value], key: Hashable, item: Node) -> None:
    """Note an item whose value is not what is written."""
    if isinstance(item, Interpolation):
        written[key] = Const(item.text, item.place)
    elif is_missing(item):
        written[key] = item  # type: ignore[assignment]


def made_of(interpreter: Evaluator, node: Node, place: Place) -> Value:
    """Return the configuration that a tree is, None for the value None."""
    if isinstance(node, Map | Seq):
        node = _apart(node)
    return _Making(node, interpreter, place).of(node, (), NONE)


def _apart(node: Node) -> Node:
    """Return a copy of a tree in which nothing stands twice."""
    if isinstance(node, Map):
        return Map({key: _apart(value) for key, value in node.items.items()}, node.types)
    return Seq([_apart(item) for item in node.items]) if isinstance(node, Seq) else node


# -- to trees ---------------------------------------------------------------------------------------


def tree_of(
    interpreter: Evaluator, value: Value, place: Place, resolved: bool = False, depth: int = 0
) -> Node:
    """Return the tree of a value that is put into a configuration; Unknown where OmegaConf may refuse it."""
    if depth > _DEEPEST:
        return UNKNOWN

    def inner(item: Value) -> Node:
        return tree_of(interpreter, item, place, resolved, depth + 1)

    if isinstance(value, Instance) and is_config(value):
        return _tree_of_config(value, inner, resolved)
    if isinstance(value, DictValue) and value.kind in ("dict", "OrderedDict"):
        if value.items is None or not all(isinstance(key, str | int | float) for key in value.items):
            return UNKNOWN
        return Map({key: inner(item) for key, item in value.items.items()})
    if isinstance(value, ListValue) and value.kind == "list":
        return UNKNOWN if value.items is None else Seq(list(map(inner, value.items)))
    if isinstance(value, Tuple):
        return Seq(list(map(inner, value.items))) if value.fields is None else UNKNOWN
    if isinstance(value, ClassValue | Instance):
        return _structured(interpreter, value, inner, place)
    if isinstance(value, Const):
        if isinstance(value.value, str) and "${" in value.value:
            return Interpolation(str(value.value), value.origin)
        return value if isinstance(value.value, _PLAIN) else UNKNOWN
    if isinstance(value, Alternatives):
        plain = all(isinstance(one, Const) and type(inner(one)) is Const for one in value.options)
        return value if plain else UNKNOWN
    return value if isinstance(value, Integer) else UNKNOWN


def _tree_of_config(value: Instance, inner: Callable[[Value], Node], resolved: bool) -> Node:
    held, written = value.attributes.get(HELD), value.attributes.get(_WRITTEN)
    texts = written.items if isinstance(written, DictValue) and not value.forgotten else None
    if texts is None or not isinstance(held, DictValue | ListValue) or held.items is None:
        return UNKNOWN

    def item(key: Hashable, one: Value) -> Node:
        text = texts.get(key)
        if not isinstance(text, Const) or (resolved and text.value != "???"):
            return inner(one)
        return text if is_missing(text) else Interpolation(str(text.value), text.origin)

    if isinstance(held, ListValue):
        return Seq([item(number, one) for number, one in enumerate(held.items or ())])
    types = value.attributes.get(_TYPES)
    if isinstance(types, DictValue) and types.items is not None:
        notes = {str(name): str(text.value) for name, text in types.items.items() if isinstance(text, Const)}
        return Map({key: item(key, one) for key, one in (held.items or {}).items()}, notes)
    return Map({key: item(key, one) for key, one in (held.items or {}).items()})


def _structured(
    interpreter: Evaluator, value: ClassValue | Instance, inner: Callable[[Value], Node], place: Place
) -> Node:
    """Return the tree of a dataclass or of an object of one; a member of an enumeration itself."""
    cls = value if isinstance(value, ClassValue) else value.cls
    if isinstance(value, Instance) and cls.members is not None:
        return value
    classes = [one for one in cls.lineage or (cls,) if isinstance(one, ClassValue)]
    if not any(one.dataclass for one in (cls, *classes)) or (isinstance(value, Instance) and value.forgotten):
        return UNKNOWN
    types: dict[str, str] = {}
    for one in reversed([*classes] or [cls]):
        types.update(one.annotations)
    items: dict[Hashable, Node] = {}
    for name, default in all_fields(cls).items():
        if is_init_only(default) or name not in types:
            return UNKNOWN
        if isinstance(value, Instance):
            held: Value | None = value.attributes.get(name, UNKNOWN)
        else:
            held = None if default is None else field_default(interpreter, default, place)
        items[name] = Const("???") if held is None else typed(inner(held), types[name])
    return Map(items, {name: types[name] for name in map(str, items)})


# -- changes ----------------------------------------------------------------------------------------


def root_of(value: Value) -> Value:
    """Return the configuration that holds all others of the tree."""
    for _ in range(_DEEPEST):
        parent = value.attributes.get(_PARENT, NONE) if isinstance(value, Instance) else NONE
        if not isinstance(parent, Instance):
            return value
        value = parent
    return value


def has_interpolations(value: Value) -> bool:
    """Return whether a change of one item of a configuration may change others, or it is not known."""
    if not is_config(value) or not isinstance(value, Instance):
        return isinstance(value, Unknown | Alternatives)
    held, written = value.attributes.get(HELD), value.attributes.get(_WRITTEN)
    if (
        not isinstance(written, DictValue)
        or not isinstance(held, DictValue | ListValue)
        or held.items is None
    ):
        return True
    items = held.items.values() if isinstance(held, DictValue) else held.items
    own = [text for text in (written.items or {}).values() if text != Const("???")]
    return bool(own) or any(has_interpolations(item) for item in items if isinstance(item, Instance))


def written_of(value: Value) -> DictValue | None:
    """Return the items of a configuration that are not what is written, by key."""
    found = value.attributes.get(_WRITTEN) if isinstance(value, Instance) else None
    return found if isinstance(found, DictValue) else None


def annotation_of(value: Value, key: Hashable) -> str | None:
    """Return the annotation of an item; "" for one that a structured configuration does not have."""
    types = value.attributes.get(_TYPES) if isinstance(value, Instance) else None
    if not isinstance(types, DictValue):
        return None
    text = (types.items or {}).get(key)
    return str(text.value) if isinstance(text, Const) else ""


def lose(value: Value) -> None:
    """Make a whole tree unknown."""
    forget(root_of(value))

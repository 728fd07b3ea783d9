"""`omegaconf`: creating, merging and converting configurations, and what their objects do."""

from __future__ import annotations

from collections.abc import Callable

from shardlint.inference.domain.builtin_bases import HELD
from shardlint.inference.domain.havoc import forget
from shardlint.inference.domain.iteration import hashable
from shardlint.inference.domain.values import (
    NONE,
    ClassValue,
    Const,
    DictValue,
    Instance,
    LibraryObject,
    ListValue,
    Missing,
    Tuple,
    Value,
    as_bool,
    as_str,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.mutation import set_item
from shardlint.inference.overlays.command_lines.defaults import by_default
from shardlint.inference.overlays.configurations.objects import (
    DICT,
    LIST,
    UNKNOWN,
    annotation_of,
    has_interpolations,
    is_config,
    lose,
    made_of,
    root_of,
    tree_of,
    written_of,
)
from shardlint.inference.overlays.configurations.trees import (
    Interpolation,
    Map,
    Node,
    Seq,
    is_missing,
    merged,
    typed,
)
from shardlint.inference.overlays.configurations.yaml_files import NotPlain, read_tree
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Place

_NAMESPACE = "omegaconf.OmegaConf."

# -- functions --------------------------------------------------------------------------------------


def _create(call: Call) -> Value:
    """``OmegaConf.create(obj)`` of a dict, list, dataclass or YAML text; ``DictConfig(content)``."""
    if call.opaque or len(call.args) > 1 or call.kwargs.keys() - {"obj", "content"}:
        return UNKNOWN
    given = call.args[0] if call.args else next(iter(call.kwargs.values()), DictValue({}))
    text = given.value if isinstance(given, Const) else None
    if isinstance(text, str) and call.name.endswith("create"):
        try:
            tree = read_tree(text, None)
        except NotPlain:
            return UNKNOWN
        if isinstance(tree, Const) and isinstance(tree.value, str):
            tree = Map({tree.value: NONE})
    else:
        tree = tree_of(call.interpreter, given, call.place)
    wanted = {DICT: Map, LIST: Seq}.get(call.name, Map | Seq)
    return made_of(call.interpreter, tree, call.place) if isinstance(tree, wanted) else UNKNOWN


def _structured(call: Call) -> Value:
    """``OmegaConf.structured(cls)``, of a dataclass or an object of one."""
    (given,) = call.bind("obj")
    if not isinstance(given, ClassValue | Instance):
        return UNKNOWN
    tree = tree_of(call.interpreter, given, call.place)
    known = isinstance(tree, Map) and tree.types is not None
    return made_of(call.interpreter, tree, call.place) if known else UNKNOWN


def _load(call: Call) -> Value:
    """``OmegaConf.load(path)``, of a file in the project."""
    (given,) = call.bind("file_")
    name = as_str(given)
    found = None if name is None else call.interpreter.data_file(name, beside=False)
    if found is None:
        return UNKNOWN
    path, text = found
    try:
        tree = read_tree(text, path)
    except NotPlain:
        return UNKNOWN
    if not isinstance(tree, Map | Seq):
        return UNKNOWN
    return made_of(call.interpreter, by_file(tree, call.place), call.place)


def by_file(tree: Node, place: Place, path: str = "") -> Node:
    """Return a tree whose numbers and texts remember that a file says so, by the keys that lead to them."""
    if isinstance(tree, Map):
        items = {key: by_file(item, place, f"{path}.{key}") for key, item in tree.items.items()}
        return Map(items, tree.types)
    if isinstance(tree, Seq):
        return Seq([by_file(item, place, f"{path}[{number}]") for number, item in enumerate(tree.items)])
    if isinstance(tree, Const) and not is_missing(tree):
        # What is wrong with it stands where the program uses it.
        return by_default(path.lstrip("."), Const(tree.value), tree.origin or place)
    return tree


def _merge(call: Call) -> Value:
    """``OmegaConf.merge(*configs)``; ``OmegaConf.unsafe_merge`` also changes them."""
    if call.opaque or call.kwargs or not call.args:
        return UNKNOWN
    trees: list[Node] = []
    for given in call.args:
        text = as_str(given)
        trees.append(UNKNOWN if text is not None else tree_of(call.interpreter, given, call.place))
    result = trees[0]
    for tree in trees[1:]:
        if not isinstance(result, Map) or not isinstance(tree, Map):
            return UNKNOWN
        result = merged(result, tree)
    return made_of(call.interpreter, result, call.place) if isinstance(result, Map | Seq) else UNKNOWN


def _to_container(call: Call) -> Value:
    """``OmegaConf.to_container(cfg, resolve=False)``."""
    cfg, resolve, throw, enums, mode = call.bind(
        "cfg", resolve=Const(False), throw_on_missing=Const(False), enum_to_str=Const(False),
        structured_config_mode=None,
    )  # fmt: skip
    decided = None if resolve is None else as_bool(resolve)
    if cfg is None or decided is None or enums != Const(False) or mode is not None or not is_config(cfg):
        return Unknown("a container that is not known")
    tree = tree_of(call.interpreter, cfg, call.place, resolved=decided)
    return _plain(call, tree, throw == Const(False))


def _to_object(call: Call) -> Value:
    (cfg,) = call.bind("cfg")
    tree = UNKNOWN if cfg is None else tree_of(call.interpreter, cfg, call.place, resolved=True)
    return Unknown("objects of dataclasses") if _is_structured(tree) else _plain(call, tree, False)


def _is_structured(tree: Node) -> bool:
    if isinstance(tree, Map):
        return tree.types is not None or any(map(_is_structured, tree.items.values()))
    return isinstance(tree, Seq) and any(map(_is_structured, tree.items))


def _plain(call: Call, tree: Node, keeps_missing: bool) -> Value:
    """Return a tree as dicts and lists."""
    path = call.interpreter.path
    if isinstance(tree, Map):
        items = {key: _plain(call, item, keeps_missing) for key, item in tree.items.items()}
        return DictValue(items, call.place, path)
    if isinstance(tree, Seq):
        return ListValue([_plain(call, item, keeps_missing) for item in tree.items], call.place, path)
    if isinstance(tree, Interpolation):
        return Const(tree.text, tree.place)
    return UNKNOWN if is_missing(tree) and not keeps_missing else tree


def _select(call: Call) -> Value:
    """``OmegaConf.select(cfg, "model.width", default=None)``."""
    cfg, key, default, _, _ = call.bind(
        "cfg", "key", default=NONE, throw_on_resolution_failure=None, throw_on_missing=None
    )
    name, value = as_str(key), cfg
    if name is None or default is None or not is_config(cfg):
        return UNKNOWN
    for step in name.split("."):
        if not isinstance(value, Instance) or not is_config(value) or written_of(value) is None:
            return UNKNOWN
        held = value.attributes.get(HELD)
        if not isinstance(held, DictValue) or held.items is None:
            return UNKNOWN
        if step not in held.items:
            return default
        value = held.items[step]
    return value if value is not None else UNKNOWN


def _update(call: Call) -> Value:
    """``OmegaConf.update(cfg, "model.width", value)``, which may merge."""
    if call.args and is_config(call.args[0]):
        lose(call.args[0])
    return NONE


def _is_kind(*kinds: str) -> Callable[[Call], Value]:
    def check(call: Call) -> Value:
        (value,) = call.bind("obj")
        if isinstance(value, Instance) and is_config(value):
            return Const(value.cls.name in kinds)
        return Const(False) if isinstance(value, Const | DictValue | ListValue | Tuple) else Unknown("a kind")

    return check


def _nothing(call: Call) -> Value:
    return NONE


def _text(call: Call) -> Value:
    return Unknown("a text")


def _resolve(call: Call) -> Value:
    """``OmegaConf.resolve(cfg)``: what is written becomes what it stands for, also if that changes later."""
    if call.args and has_interpolations(root_of(call.args[0])):
        lose(call.args[0])
    return NONE


def _unlocked(call: Call) -> Value:
    return LibraryObject("harmless", {"entered": call.args[0] if call.args else NONE})


def _from_cli(call: Call) -> Value:
    """``OmegaConf.from_cli()`` with nothing on the command line."""
    if call.args or call.kwargs or call.opaque:
        return UNKNOWN
    return made_of(call.interpreter, Map(), call.place)


# -- objects ----------------------------------------------------------------------------------------


def _items(call: Call) -> tuple[Instance, DictValue] | None:
    """Return the receiver of a method and what it holds, None where that is not known."""
    receiver = call.args[0] if call.args else NONE
    held = receiver.attributes.get(HELD) if isinstance(receiver, Instance) else None
    if not isinstance(receiver, Instance) or not isinstance(held, DictValue) or held.items is None:
        return None
    return None if written_of(receiver) is None else (receiver, held)


def _attribute(call: Call) -> Value:
    """``cfg.name`` of a name that is no attribute of the class."""
    found, name = _items(call), as_str(call.args[1]) if len(call.args) == 2 else None
    if found is None or name is None or name[:2] == "__":
        return UNKNOWN
    items = found[1].items or {}
    return items[name] if name in items else Missing(f"the configuration has no key {name!r}")


def _set(call: Call) -> Value:
    """``cfg.name = value`` and ``cfg[name] = value``."""
    found = _items(call)
    receiver, key, value = call.bind("self", "key", "value")
    usable, name = hashable(key or UNKNOWN)
    if (
        receiver is None
        or found is None
        or value is None
        or not usable
        or has_interpolations(root_of(receiver))
    ):
        lose(receiver or NONE)
        forget(value or NONE)
        return NONE
    tree = typed(tree_of(call.interpreter, value, call.place), annotation_of(receiver, name))
    written = written_of(receiver)
    plain = None if isinstance(tree, Map | Seq | Interpolation | Unknown) or is_missing(tree) else tree
    if plain is None or written is None or name in (written.items or {}):
        # What it has become a part of resolves its interpolations.
        lose(receiver)
        forget(value)
        return NONE
    set_item(call.interpreter, found[1], key or NONE, plain, call.place)
    return NONE


def _changed(call: Call) -> Value:
    """A method that changes a configuration in a way that is not followed."""
    lose(call.args[0] if call.args else NONE)
    for value in (*call.args[1:], *call.kwargs.values()):
        forget(value)
    return UNKNOWN


def _has(call: Call) -> Value:
    found, key = _items(call), call.args[1] if len(call.args) == 2 else NONE
    usable, name = hashable(key)
    if found is None or not usable:
        return Unknown("a key of a configuration")
    written = written_of(found[0])
    missing = written is not None and (written.items or {}).get(name) == Const("???")
    return Const(name in (found[1].items or {}) and not missing)


def _get(call: Call) -> Value:
    _, key, default = call.bind("self", "key", default_value=NONE)
    found = _items(call)
    usable, name = hashable(key or UNKNOWN)
    if found is None or not usable or default is None:
        return UNKNOWN
    written = written_of(found[0])
    missing = written is not None and (written.items or {}).get(name) == Const("???")
    return default if missing else (found[1].items or {}).get(name, default)


def _copied(call: Call) -> Value:
    receiver = call.args[0] if call.args else None
    if receiver is None or has_interpolations(root_of(receiver)):
        return UNKNOWN
    return made_of(call.interpreter, tree_of(call.interpreter, receiver, call.place), call.place)


_CHANGING = (
    "__delitem__ __delattr__ pop popitem setdefault update clear merge_with insert append extend remove sort"
)
_DICT_METHODS: dict[str, Callable[[Call], Value]] = {
    **dict.fromkeys([*_CHANGING.split(), "reverse", "__iadd__"], _changed),
    "__getattr__": _attribute,
    "__setattr__": _set,
    "__setitem__": _set,
    "__contains__": _has,
    "get": _get,
    "copy": _copied,
}
_LIST_METHODS = {
    name: method
    for name, method in _DICT_METHODS.items()
    if name not in ("__getattr__", "__contains__", "get", "__setattr__", "__setitem__")
}

TABLE: dict[str, Callable[[Call], Value]] = {
    f"{_NAMESPACE}create": _create,
    DICT: _create,
    LIST: _create,
    f"{_NAMESPACE}structured": _structured,
    f"{_NAMESPACE}merge": _merge,
    f"{_NAMESPACE}to_container": _to_container,
    f"{_NAMESPACE}to_object": _to_object,
    f"{_NAMESPACE}select": _select,
    f"{_NAMESPACE}update": _update,
    f"{_NAMESPACE}resolve": _resolve,
    f"{_NAMESPACE}is_config": _is_kind("DictConfig", "ListConfig"),
    f"{_NAMESPACE}is_dict": _is_kind("DictConfig"),
    f"{_NAMESPACE}is_list": _is_kind("ListConfig"),
    **{
        f"{_NAMESPACE}{name}": _nothing
        for name in ("set_struct", "set_readonly", "register_new_resolver", "register_resolver", "save")
    },
    f"{_NAMESPACE}to_yaml": _text,
    "omegaconf.open_dict": _unlocked,
    "omegaconf.read_write": _unlocked,
    **{f"{DICT}.{name}": method for name, method in _DICT_METHODS.items()},
}
DEFAULTS: dict[str, Callable[[Call], Value]] = {
    f"{_NAMESPACE}load": _load,
    f"{_NAMESPACE}from_cli": _from_cli,
}
METHODS: dict[tuple[str, str], Callable[[Call], Value]] = {
    **{(DICT, name): method for name, method in _DICT_METHODS.items()},
    **{(LIST, name): method for name, method in _LIST_METHODS.items()},
    (LIST, "__setitem__"): _changed,
}
CONSTANTS: dict[str, Value] = {"omegaconf.MISSING": Const("???")}
ALIASES: dict[str, str] = {
    "omegaconf.omegaconf.OmegaConf": "omegaconf.OmegaConf",
    "omegaconf.dictconfig.DictConfig": DICT,
    "omegaconf.listconfig.ListConfig": LIST,
}

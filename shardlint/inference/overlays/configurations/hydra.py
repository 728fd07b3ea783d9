"""`hydra`: programs run with the configuration that their YAML files and `ConfigStore` hold."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

from shardlint.inference.domain.values import (
    NONE,
    Const,
    Function,
    Instance,
    LibraryObject,
    Native,
    Tuple,
    Value,
    as_items,
    as_str,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.configurations.composition import Loaded, NotFollowed, composed
from shardlint.inference.overlays.configurations.objects import UNKNOWN, made_of, tree_of
from shardlint.inference.overlays.configurations.omegaconf import by_file
from shardlint.inference.overlays.configurations.trees import Interpolation, Map, Node, Seq
from shardlint.inference.overlays.configurations.yaml_files import NotPlain, package_header, read_tree
from shardlint.laws.core.values import Unknown

_STORE = "hydra.core.config_store.ConfigStore"
#: The prefixes of the switches that hold what is stored, and the folders that `initialize` was given.
_STORED, _FOLDER = "hydra store ", "hydra folder "

# -- programs ---------------------------------------------------------------------------------------


def _main(call: Call) -> Value:
    """``@hydra.main(config_path=..., config_name=...)``: calls a function with the configuration."""
    path, name, version = call.bind(config_path=None, config_name=NONE, version_base=None)
    if path is None:
        # Older versions look beside the program.
        newest = version is not None and (is_none(version) or (as_str(version) or "") >= "1.2")
        path = NONE if newest else Const(".")

    def decorate(inner: Call) -> Value:
        function = inner.args[0] if len(inner.args) == 1 else NONE
        if not isinstance(function, Function):
            return Unknown("what hydra calls")
        config = _composed(inner, path, name)

        def run(outer: Call) -> Value:
            given = outer.args or [made_of(outer.interpreter, config, outer.place)]
            outer.interpreter.call(function, given[:1], {}, outer.place)
            return NONE if not outer.args else Unknown("what the program returns")

        return Native("a command", run, function, inner.place)

    return Native("a decorator", decorate)


def _composed(call: Call, path: Value | None, name: Value | None) -> Node:
    """Return the configuration of a name, Unknown where it is not known."""
    folder, wanted = as_str(path), as_str(name)
    if name is not None and is_none(name):
        return Map()
    if wanted is None or (folder is None and (path is None or not is_none(path))):
        return UNKNOWN

    def load(where: str) -> Loaded | None:
        stored = _stored(call, where)
        found = None
        if folder is not None:
            found = call.interpreter.data_file(os.path.join(folder, f"{where}.yaml"), beside=True)
        if found is None or stored is not None:
            if found is not None:
                raise NotFollowed
            return None if stored is None else Loaded(stored)
        file, text = found
        try:
            tree = read_tree(text, file)
        except NotPlain:
            raise NotFollowed from None
        if not isinstance(tree, Map):
            raise NotFollowed
        return Loaded(tree, package_header(text))

    try:
        return by_file(composed(load, wanted), call.place)
    except NotFollowed:
        return UNKNOWN


def _initialize(call: Call) -> Value:
    """``initialize(config_path=...)``: where `compose` looks from now on."""
    name = as_str(call.args[0] if call.args else call.kwargs.get("config_path"))
    if name is not None:
        call.interpreter.switches.add(_FOLDER + name)
    else:
        call.interpreter.switches.add(f"{_FOLDER}\0")
    return LibraryObject("harmless", {})


def _compose(call: Call) -> Value:
    """``compose(config_name=..., overrides=[])``."""
    name, overrides, full, strict = call.bind(
        config_name=NONE, overrides=Tuple(()), return_hydra_config=Const(False), strict=NONE
    )
    folders = [one for one in call.interpreter.switches if one.startswith(_FOLDER)]
    none = overrides is not None and as_items(overrides) in ((), [])
    if not none or full != Const(False) or len(folders) != 1 or strict is None:
        return UNKNOWN
    folder = Const(folders[0].removeprefix(_FOLDER))
    return made_of(call.interpreter, _composed(call, folder, name), call.place)


# -- what programs store ----------------------------------------------------------------------------


def _store_instance(call: Call) -> Value:
    return LibraryObject(_STORE, {}, call.place)


def _store(call: Call) -> Value:
    """``cs.store(name=..., node=..., group=..., package=...)``: for all the program, as plain data."""
    _, name, node, group, package, _ = call.bind(
        "self", "name", "node", group=NONE, package=NONE, provider=NONE
    )
    text, folder = as_str(name), "" if group is not None and is_none(group) else as_str(group)
    tree = UNKNOWN if node is None else tree_of(call.interpreter, node, call.place)
    try:
        if text is None or folder is None or package is None or not is_none(package):
            raise NotFollowed
        data = _data(tree)
    except NotFollowed:
        data = None
    where = None if text is None or folder is None else f"{folder}/{text}".strip("/").removesuffix(".yaml")
    call.interpreter.switches.add(_STORED + json.dumps([where, data]))
    return NONE


def _stored(call: Call, where: str) -> Map | None:
    """Return what is stored under a path, None if nothing is. Raises NotFollowed if that is not known."""
    found: list[object] = []
    for switch in call.interpreter.switches:
        if switch.startswith(_STORED):
            name, data = json.loads(switch.removeprefix(_STORED))
            if name is None or (name == where and data is None):
                raise NotFollowed
            if name == where:
                found.append(data)
    if len(found) > 1:
        raise NotFollowed
    tree = _tree(found[0]) if found else None
    if tree is not None and not isinstance(tree, Map):
        raise NotFollowed
    return tree


def _data(node: Node) -> object:
    """Return a tree as JSON. Raises NotFollowed if it holds more than plain values."""
    if isinstance(node, Map):
        if not all(isinstance(key, str) for key in node.items):
            raise NotFollowed
        return {"items": {str(key): _data(item) for key, item in node.items.items()}, "types": node.types}
    if isinstance(node, Seq):
        return [_data(item) for item in node.items]
    if isinstance(node, Interpolation):
        return {"text": node.text}
    if isinstance(node, Const) and isinstance(node.value, str | int | float | bool | None):
        return node.value
    raise NotFollowed


def _tree(data: object) -> Node:
    if isinstance(data, list):
        return Seq([_tree(item) for item in data])
    if isinstance(data, dict):
        if "text" in data:
            return Interpolation(data["text"])
        return Map({key: _tree(item) for key, item in data["items"].items()}, data["types"])
    return Const(data)


# -- objects ----------------------------------------------------------------------------------------

#: Keys of a configuration that say how it becomes an object.
_TARGET = "_target_"
_SPECIAL = frozenset({"_args_", "_partial_", "_convert_", "_recursive_"})


def _instantiate(call: Call) -> Value:
    """``hydra.utils.instantiate(config, **kwargs)``: calls what ``_target_`` names with the other keys."""
    if len(call.args) != 1 or call.opaque:
        return Unknown("an object that is not known")
    tree = tree_of(call.interpreter, call.args[0], call.place, resolved=True)
    given = dict(call.kwargs.items())
    if not isinstance(tree, Map) or given.keys() & (_SPECIAL | {_TARGET}):
        return Unknown("an object that is not known")
    return _made(call, tree, given)


def _made(call: Call, tree: Node, given: dict[str, Value]) -> Value:
    if isinstance(tree, Seq) and any(isinstance(item, Map) for item in tree.items):
        return Unknown("a list of objects")
    target = tree.items.get(_TARGET) if isinstance(tree, Map) else None
    if not isinstance(tree, Map) or target is None:
        return made_of(call.interpreter, tree, call.place)
    name = as_str(target) if isinstance(target, Const) else None
    if name is None or tree.items.keys() & _SPECIAL or "." not in name:
        return Unknown("an object that is not known")
    module, _, last = name.rpartition(".")
    holder = call.interpreter.import_module(module, call.place)
    function = call.interpreter.attribute(holder, last, call.place)
    own = {str(key): _made(call, item, {}) for key, item in tree.items.items() if key != _TARGET}
    if isinstance(function, Instance):
        return Unknown("an object that is not known")
    return call.interpreter.call(function, [], {**own, **given}, call.place)


DEFAULTS: dict[str, Callable[[Call], Value]] = {
    "hydra.main": _main,
    "hydra.compose": _compose,
    "hydra.initialize": _initialize,
}
TABLE: dict[str, Callable[[Call], Value]] = {
    f"{_STORE}.instance": _store_instance,
    _STORE: _store_instance,
    "hydra.utils.instantiate": _instantiate,
    "hydra.utils.call": _instantiate,
}
METHODS: dict[tuple[str, str], Callable[[Call], Value]] = {(_STORE, "store"): _store}
ALIASES: dict[str, str] = {
    "hydra.experimental.compose": "hydra.compose",
    "hydra.experimental.initialize": "hydra.initialize",
}

"""`threading` and `concurrent.futures`: functions that run in threads of their own.

Meshes, logical axis rules and configuration of a block hold in the thread that sets them alone, also those
that `jax.set_mesh` sets for good (JAX 0.6 to 0.12, Flax 0.12); what `jax.config.update` sets holds in all.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from shardlint.inference.domain.havoc import forget
from shardlint.inference.domain.values import (
    NONE,
    DictValue,
    Instance,
    LibraryObject,
    Tuple,
    Value,
    as_items,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.context import Context
from shardlint.inference.evaluation.iterators import is_iterator
from shardlint.laws.core.values import Unknown

THREAD = "threading.Thread"
_TIMER = "threading.Timer"
#: The kind of an executor: ``first`` and ``given`` are its initializer and that one's arguments.
EXECUTOR = "concurrent.futures.ThreadPoolExecutor"
_FRESH = Context()
#: What a new thread does not have of the one that starts it.
_OWN = (
    "mesh", "legacy_mesh", "in_jit", "staged", "compiles", "bound_axes", "mapped", "check_vma", "shards",
    "orders", "logical_rules", "forbidden", "device_axes", "options", "deriving",
)  # fmt: skip


def _thread(call: Call) -> Value:
    """``Thread(group, target, name, args, kwargs, *, daemon)``."""
    names = ("group", "target", "name", "args", "kwargs", "daemon", "context")
    return _object(call, THREAD, names, args="args", kwargs="kwargs", function="target")


def _timer(call: Call) -> Value:
    """``Timer(interval, function, args, kwargs)``."""
    names = ("interval", "function", "args", "kwargs")
    return _object(call, _TIMER, names, args="args", kwargs="kwargs", function="function")


def _executor(call: Call) -> Value:
    """``ThreadPoolExecutor(max_workers, thread_name_prefix, initializer, initargs)``."""
    names = ("max_workers", "thread_name_prefix", "initializer", "initargs")
    return _object(call, EXECUTOR, names, args="initargs", function="initializer")


def _object(call: Call, kind: str, names: Sequence[str], **held: str) -> Value:
    """Return an object that holds these of its arguments, under other names."""
    given = dict(zip(names, call.args, strict=False)) | call.kwargs
    if call.opaque or len(call.args) > len(names) or given.keys() - set(names):
        for value in given.values():
            forget(value)
            call.interpreter.unseen.hand(value)
        return Unknown(kind)
    return LibraryObject(kind, {key: given.get(name, NONE) for key, name in held.items()}, call.place)


def _start(call: Call) -> Value:
    """``thread.start()``: the target, or the method ``run`` of a class of the program, runs in the thread."""
    thread = call.args[0] if call.args else None
    if isinstance(thread, Instance):
        run = call.interpreter.attribute(thread, "run", call.place)
        _run(call, run, Tuple(()), NONE)
    elif isinstance(thread, LibraryObject):
        fields = thread.fields
        _run(call, fields["function"], fields["args"], fields["kwargs"])
    return NONE


def _submit(call: Call) -> Value:
    """``executor.submit(function, *args, **kwargs)``."""
    executor, function, *args = call.args if len(call.args) > 1 else (NONE, Unknown("no function"))
    given: Value = Unknown("arguments that are not known") if call.opaque else Tuple(tuple(args))
    named: dict[Hashable, Value] = {}
    named.update(call.kwargs)
    _run(call, function, given, DictValue(named), executor)
    return Unknown("a future")


def _map(call: Call) -> Value:
    """``executor.map(function, *iterables)``: each call has one item of each."""
    executor, function, *rows = call.args if len(call.args) > 1 else (NONE, Unknown("no function"))
    columns = [() if is_iterator(row) else as_items(row) or () for row in rows]
    first = [column[0] if column else Unknown("an item") for column in columns]
    alike = all(item == first[i] for i, column in enumerate(columns) for item in column)
    given = first if alike else [Unknown("one of several items")] * len(first)
    known = not call.opaque and all(as_items(row) != () for row in rows)
    _run(call, function, Tuple(tuple(given)) if known else Unknown("items"), NONE, executor)
    for row in rows:
        forget(row)
    return Unknown("results of a thread")


def _run(call: Call, function: Value, args: Value, kwargs: Value, executor: Value = NONE) -> None:
    """Call a function in another thread: what it changes may be changed at any time from now on."""
    interpreter = call.interpreter
    items = () if is_none(args) else as_items(args)
    named = {} if is_none(kwargs) else kwargs.items if isinstance(kwargs, DictValue) else None
    opaque = items is None or named is None
    first = executor.fields if isinstance(executor, LibraryObject) else {}
    own = {name: getattr(_FRESH, name) for name in _OWN}
    if "used" in first:
        # A thread that has run before keeps what was set in it.
        unknown = Unknown("an earlier function may have set it in this thread")
        own |= {"mesh": unknown, "legacy_mesh": unknown, "logical_rules": unknown}
    if not isinstance(function, Unknown):
        with interpreter.forked(guards=False), interpreter.within(**own):
            if not is_none(first.get("function", NONE)):
                start = as_items(first["args"])
                interpreter.call(first["function"], start or (), {}, call.place, start is None)
            interpreter.call(
                function,
                items or (),
                {str(key): value for key, value in (named or {}).items()},
                call.place,
                opaque,
            )
            if isinstance(executor, LibraryObject) and interpreter.context.mesh is not own["mesh"]:
                executor.fields["used"] = NONE
    for value in (function, args, kwargs, *first.values()):
        forget(value)
        interpreter.unseen.hand(value)


TABLE: dict[str, Callable[[Call], Value]] = {
    THREAD: _thread,
    _TIMER: _timer,
    EXECUTOR: _executor,
    "concurrent.futures.thread.ThreadPoolExecutor": _executor,
}
METHODS: dict[tuple[str, str], Callable[[Call], Value]] = {
    (THREAD, "start"): _start,
    (_TIMER, "start"): _start,
    (EXECUTOR, "submit"): _submit,
    (EXECUTOR, "map"): _map,
}

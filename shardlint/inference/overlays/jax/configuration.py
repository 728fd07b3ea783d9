"""JAX's configuration: `jax.config.update`, and the options that a block of code changes."""

from __future__ import annotations

from collections.abc import Callable

from shardlint.inference.domain.values import Const, LibraryObject, Value, as_dim, as_str
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.python.stdlib.environment import decorate

OPTION = "jax.config option"
DISABLE_JIT, DEBUG_NANS = "jax_disable_jit", "jax_debug_nans"
DEFAULT_DEVICE, ENABLE_X64 = "jax_default_device", "jax_enable_x64"
CONSTANTS_AS_ARGUMENTS = "jax_use_simplified_jaxpr_constants"
#: Options that change what a program does; a switch has their names, once the program sets them for good.
_CHANGING = frozenset({DISABLE_JIT, DEBUG_NANS, DEFAULT_DEVICE, ENABLE_X64, CONSTANTS_AS_ARGUMENTS})


def is_set(interpreter: Evaluator, *options: str) -> bool:
    """Return whether the program may have changed one of these options from its default."""
    return not interpreter.context.options.isdisjoint(options) or not interpreter.switches.isdisjoint(options)


def set_by_environment(interpreter: Evaluator, variable: str | None) -> None:
    """Note an environment variable that the program sets; it may be that of an option (`JAX_ENABLE_X64`)."""
    if variable is not None and (option := variable.lower()) in _CHANGING:
        interpreter.switches.add(option)


def _update(call: Call) -> Value:
    name, value = call.bind("name", "val")
    option, count = as_str(name), as_dim(value)
    if option == "jax_num_cpu_devices":
        call.interpreter.device_count = call.interpreter.device_count if count is None else count
        call.interpreter.switches.add("cpu devices")
    if option == "jax_disable_vmap_shmap_error":
        call.interpreter.switches.add("no error of vmap and shard_map")
    if option in _CHANGING and not _is_off(value):
        call.interpreter.switches.add(option)
    return Const(None)


def _is_off(value: Value | None) -> bool:
    return isinstance(value, Const) and not value.value


def _manager(option: str) -> Callable[[Call], Value]:
    """Return the function that makes a context manager in whose block an option is set."""

    def make(call: Call) -> Value:
        values = [*call.args, *call.kwargs.values()]
        off = len(values) == 1 and _is_off(values[0])
        if option == DEFAULT_DEVICE and not off:
            # Arrays that are made in the block stay where they are.
            call.interpreter.switches.add(option)
        return LibraryObject(OPTION, {"option": Const(None if off else option)})

    return make


def options_in(interpreter: Evaluator, manager: LibraryObject) -> frozenset[str]:
    """Return the options that are set in the block of a context manager."""
    option = as_str(manager.fields["option"])
    return interpreter.context.options | ({option} if option is not None else frozenset())


TABLE: dict[str, Callable[[Call], Value]] = {
    "jax.config.update": _update,
    "jax.disable_jit": _manager(DISABLE_JIT),
    "jax.debug_nans": _manager(DEBUG_NANS),
    "jax.default_device": _manager(DEFAULT_DEVICE),
    "jax.enable_x64": _manager(ENABLE_X64),
    "jax.experimental.enable_x64": _manager(ENABLE_X64),
}

CALLS: dict[str, Callable[[Call], Value]] = {OPTION: decorate}

"""Small functions of `jax._src` that JAX's tests and some libraries use (checked with JAX 0.10.2)."""

from __future__ import annotations

from collections.abc import Callable

from shardlint.inference.domain.values import External, LibraryObject, Partial, Value
from shardlint.inference.evaluation.call import Call
from shardlint.laws.core.values import Unknown


def _curry(call: Call) -> Value:
    """``@curry``: a call gives the function with these arguments."""
    if len(call.args) != 1 or call.kwargs:
        return Unknown(call.name)
    return Partial(External("functools.partial"), (call.args[0],), (), call.place)


def _listed(name: str) -> Callable[[Call], Value]:
    """Return ``safe_map`` or ``safe_zip``: lists, of inputs that are equally long."""

    def listed(call: Call) -> Value:
        found = call.interpreter.call(External(name), call.args, call.kwargs, call.place, call.opaque)
        return call.interpreter.call(External("builtins.list"), [found], {}, call.place)

    return listed


def _setting(call: Call) -> Value:
    """A setting of JAX's, as a context manager."""
    return LibraryObject("harmless", {})


#: Settings that change neither shapes nor shardings nor what is checked of them.
_SETTINGS = (
    "compilation_cache_expect_pgle debug_infs debug_key_reuse debug_nans default_device "
    "default_matmul_precision enable_checks enable_compilation_cache enable_pgle explain_cache_misses "
    "log_compiles persistent_cache_min_compile_time_secs persistent_cache_min_entry_size_bytes "
    "threefry_partitionable transfer_guard transfer_guard_device_to_device transfer_guard_device_to_host "
    "transfer_guard_host_to_device"
).split()

TABLE: dict[str, Callable[[Call], Value]] = {
    "jax._src.util.curry": _curry,
    "jax._src.util.safe_map": _listed("builtins.map"),
    "jax._src.util.safe_zip": _listed("builtins.zip"),
    **{f"jax._src.config.{name}": _setting for name in _SETTINGS},
}

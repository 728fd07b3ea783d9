"""`jax._src.test_util`: helpers of JAX's own tests, which other projects use too (checked with 0.10.2)."""

from __future__ import annotations

from collections.abc import Callable

from shardlint.inference.domain.values import (
    NONE,
    Const,
    External,
    Function,
    LibraryObject,
    MeshValue,
    Native,
    Never,
    Tuple,
    Value,
    as_dim,
    as_items,
    as_shape,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.python.stdlib.environment import IGNORING, decorate, ignores_deprecation
from shardlint.inference.overlays.testing.parameterized import cases_mark, product_of
from shardlint.laws.core.dims import product
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Place

_MODULE = "jax._src.test_util."
#: ``with mesh:`` in a helper's own code: nothing is said of it to those who call the helper.
ENTERED_INSIDE = "a mesh that a helper enters"
_SKIPPED = Never("the test needs more devices, and is skipped")
#: The number of cases that `sample_product` runs by default.
_SAMPLED = 10


def _make_mesh(call: Call, shape: Value, names: Value, types: Value | None) -> Value:
    """Return the mesh that `create_mesh` makes: Auto axes, unless other types are given."""
    interpreter, sizes = call.interpreter, as_shape(shape)
    count = interpreter.device_count
    needed = None if sizes is None else product(sizes)
    if isinstance(needed, int) and isinstance(count, int) and count < needed:
        return _SKIPPED
    if types is None or is_none(types):
        items = as_items(shape)
        auto = interpreter.attribute(External("jax.sharding.AxisType"), "Auto", call.place)
        types = Unknown("axis types") if items is None else Tuple((auto,) * len(items))
    places: dict[int | str, Place] = {}
    places |= {0: call.place_of(0, "mesh_shape"), 1: call.place_of(1, "axis_names")}
    with interpreter.within(test=True):
        return interpreter.call(
            External("jax.make_mesh"), [shape, names, types], {}, call.place, places=places
        )


def _create_mesh(call: Call) -> Value:
    shape, names, _, types = call.bind("mesh_shape", "axis_names", iota_order=None, axis_types=None)
    return _make_mesh(call, shape or NONE, names or NONE, types)


def _with_explicit_mesh(call: Call) -> Value:
    """``@with_explicit_mesh(sizes, names)``: the test gets the argument ``mesh``, which is set around it."""
    sizes, names, types, _ = call.bind("sizes", "names", axis_types=None, iota_order=None)
    if types is None or is_none(types):
        explicit = call.interpreter.attribute(External("jax.sharding.AxisType"), "Explicit", call.place)
        items = as_items(names)
        count = len(items) if items is not None else len(str(getattr(names, "value", "")))
        types = Tuple((explicit,) * count)
    shape, axes, kinds = sizes or NONE, names or NONE, types

    def decorate(decorated: Call) -> Value:
        function = decorated.args[0] if decorated.args else Unknown("a test")

        def run(test: Call) -> Value:
            mesh = _make_mesh(call, shape, axes, kinds)
            if isinstance(mesh, Never):
                return mesh
            interpreter = test.interpreter
            manager = interpreter.call(External("jax.set_mesh"), [mesh], {}, test.place)
            with interpreter.entered(manager, test.place):
                return interpreter.call(
                    function, test.args, test.kwargs | {"mesh": mesh}, test.place, test.opaque
                )

        return Native("with_explicit_mesh", run, function)

    return Native("with_explicit_mesh", decorate)


def _with_mesh(call: Call) -> Value:
    """``with_mesh([("x", 2)])``: a block, or a test, under ``with Mesh(...)``."""
    (spec,) = call.bind("named_shape")
    pairs = [as_items(pair) for pair in as_items(spec) or ()]
    if as_items(spec) is None or not all(pair is not None and len(pair) == 2 for pair in pairs):
        return Unknown("a mesh that is not known")
    names, sizes = (Tuple(tuple(pair[i] for pair in pairs if pair is not None)) for i in (0, 1))
    mesh = _make_mesh(call, sizes, names, None)
    return LibraryObject(ENTERED_INSIDE, {"mesh": mesh}) if isinstance(mesh, MeshValue) else mesh


def _with_mesh_from_kwargs(call: Call) -> Value:
    """``with_mesh_from_kwargs(test)``: the test runs under ``with_mesh(kwargs["mesh"])``."""
    function = call.args[0] if call.args else Unknown("a test")

    def run(test: Call) -> Value:
        manager = _with_mesh(
            Call(test.interpreter, "with_mesh", [test.kwargs.get("mesh", NONE)], {}, test.place)
        )
        if isinstance(manager, Never):
            return manager
        with test.interpreter.entered(manager, test.place):
            return test.interpreter.call(function, test.args, test.kwargs, test.place, test.opaque)

    return Native("with_mesh_from_kwargs", run, function)


def _request_devices(call: Call) -> Value:
    """``request_cpu_devices(n)``: at the top level, before any device is used."""
    (count,) = call.bind("nr_devices")
    interpreter, known = call.interpreter, as_dim(count)
    if known is not None and not isinstance(interpreter.settings.devices, int):
        return interpreter.call(
            External("jax.config.update"), [Const("jax_num_cpu_devices"), count or NONE], {}, call.place
        )
    return NONE


def _sample_product(call: Call) -> Value:
    """``@sample_product(...)``: all cases if they are few; a larger product is sampled."""
    cases = product_of(call)
    return cases_mark(cases if cases is not None and len(cases) <= _SAMPLED else None)


def _kept(call: Call) -> Value:
    """Return a decorator that leaves a test as it is."""
    if len(call.args) == 1 and isinstance(call.args[0], Function | Native):
        return call.args[0]
    return LibraryObject("keeps", {})


def _ignore_warning(call: Call) -> Value:
    """``ignore_warning(category=DeprecationWarning)``, with or without a message."""
    ignoring = ignores_deprecation(Const("ignore"), call.kwargs.get("category"))
    return LibraryObject(IGNORING, {}) if ignoring else _harmless(call)


def _harmless(call: Call) -> Value:
    return LibraryObject("harmless", {"entered": Unknown("what a test counts")})


TABLE: dict[str, Callable[[Call], Value]] = {
    _MODULE + name: function
    for name, function in {
        "create_mesh": _create_mesh,
        "with_explicit_mesh": _with_explicit_mesh,
        "with_mesh": _with_mesh,
        "with_mesh_from_kwargs": _with_mesh_from_kwargs,
        "request_cpu_devices": _request_devices,
        "sample_product": _sample_product,
        "ignore_warning": _ignore_warning,
        **dict.fromkeys(
            "run_on_devices skip_on_devices skip_on_flag thread_unsafe_test thread_unsafe_test_class "
            "pytest_mark_if_available with_config with_global_config".split(),
            _kept,
        ),
        **dict.fromkeys(
            "count_pjit_cpp_cache_miss count_jit_tracing_cache_miss "
            "count_jit_and_pmap_lowerings count_jit_compilation_cache_miss count_subjaxpr_to_hlo_conversion "
            "count_device_put_fast_path_hit capture_stdout set_env".split(),
            _harmless,
        ),
    }.items()
}

CALLS: dict[str, Callable[[Call], Value]] = {ENTERED_INSIDE: decorate}

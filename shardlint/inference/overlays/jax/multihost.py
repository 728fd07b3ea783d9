"""`jax.experimental.multihost_utils`: arrays that processes exchange.

What comes back lies on the host, as numpy arrays, whatever it was split by (JAX 0.10.2 and 0.12.0.1). In one
process nothing is sent.
"""

from __future__ import annotations

from shardlint.inference.domain.values import Array, Const, External, SpecValue, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import Stop, truth
from shardlint.inference.overlays.jax.sharding.devices import one_process
from shardlint.inference.overlays.pytrees.prefixes import map_prefix
from shardlint.inference.overlays.pytrees.trees import tree_map
from shardlint.inference.overlays.registry import Transfer
from shardlint.laws.core.values import Unknown

_ASARRAY, _PUT, _SHARDING = map(External, ("numpy.asarray", "jax.device_put", "jax.sharding.NamedSharding"))


def _on_host(call: Call, leaf: Value) -> Value:
    return call.interpreter.call(_ASARRAY, [leaf], {}, call.place)


def _broadcast(call: Call) -> Value:
    """``broadcast_one_to_all(in_tree, is_source=None)``: numpy arrays of the same shapes."""
    tree, _ = call.bind("in_tree", is_source=None)
    if tree is None or call.interpreter.context.in_jit is not False:
        return Unknown("what is broadcast inside jit")
    try:
        return tree_map(lambda leaf: _on_host(call, leaf), tree)
    except Stop as stop:
        return Unknown(str(stop))


def _gather(call: Call) -> Value:
    """``process_allgather(in_tree, tiled=False)``: numpy arrays, behind a dimension of the processes unless
    they are concatenated."""
    tree, tiled = call.bind("in_tree", tiled=Const(False))
    if tree is None or call.interpreter.context.in_jit is not False:
        return Unknown("what is gathered inside jit")
    if not one_process(call.interpreter):
        return Unknown("what several processes gather")
    try:
        joined = truth(tiled, False)

        def gathered(leaf: Value) -> Value:
            array = _on_host(call, leaf)
            if joined or not isinstance(array, Array) or array.shape is None:
                return array if joined or not isinstance(array, Array) else Array(None, array.dtype)
            return Array((1, *array.shape), array.dtype, numpy=True, origin=call.place)

        return tree_map(gathered, tree)
    except Stop as stop:
        return Unknown(str(stop))


def _to_global(call: Call) -> Value:
    """``host_local_array_to_global_array(local_inputs, global_mesh, pspecs)``: numpy arrays put on the mesh;
    a spec may have more entries than they have dimensions."""
    tree, mesh, specs = call.bind("local_inputs", "global_mesh", "pspecs")
    if tree is None or mesh is None or specs is None:
        return Unknown("arrays of several processes")

    def put(leaf: Value, array: Array, _: str) -> Value:
        if not isinstance(leaf, SpecValue):
            return Array(None, array.dtype)
        sharding = call.interpreter.call(_SHARDING, [mesh, leaf], {}, call.place)
        fits = array.shape is not None and len(leaf.spec.entries) <= len(array.shape)
        if not fits or not array.numpy or not one_process(call.interpreter):
            return Array(array.shape if one_process(call.interpreter) else None, array.dtype)
        return call.interpreter.call(_PUT, [array, sharding], {}, call.place)

    return map_prefix(specs, tree, put)


def _nothing(call: Call) -> Value:
    return Const(None)


_MODULE = "jax.experimental.multihost_utils"
TABLE: dict[str, Transfer] = {
    f"{_MODULE}.broadcast_one_to_all": _broadcast,
    f"{_MODULE}.process_allgather": _gather,
    f"{_MODULE}.host_local_array_to_global_array": _to_global,
    f"{_MODULE}.sync_global_devices": _nothing,
    f"{_MODULE}.assert_equal": _nothing,
}

"""Results of layers: where they lie, and how they vary over mesh axes."""

from __future__ import annotations

from collections.abc import Sequence

from shardlint.inference.domain.values import Devices, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.column_products import layer_multiplied
from shardlint.inference.overlays.jax.explicit.captured_arrays import note_layer
from shardlint.inference.overlays.jax.explicit.device_lists import is_put, lying_on, met_on, runs_eagerly
from shardlint.inference.overlays.jax.shard_map.varying import computed
from shardlint.inference.overlays.jax.transforms.taint import is_following
from shardlint.laws.core.values import Unknown

#: Layers of linen and nnx whose result depends on their input and each of their parameters (flax 0.12.8).
_DEPENDING = frozenset({
    "Dense", "DenseGeneral", "Linear", "LinearGeneral", "Einsum", "Conv", "ConvLocal", "ConvTranspose",
    "Embed", "LayerNorm", "RMSNorm", "GroupNorm", "InstanceNorm",
})  # fmt: skip


def layer_result(call: Call, layer: str, result: Value, operands: Sequence[Value]) -> Value:
    """Return what a layer computes from its input and parameters: it lies where they do, and varies as they
    do. Outside of jit JAX refuses operands on different devices."""
    interpreter, depends = call.interpreter, layer in _DEPENDING
    if depends:
        note_layer(interpreter, operands, call.place)
    if depends and runs_eagerly(interpreter) and any(map(is_put, operands)):
        home = met_on(interpreter, layer, operands, call.place, reads=True)
        if home is False:
            return Unknown("JAX refuses operands on different devices")
        result = lying_on(result, home) if isinstance(home, Devices) else result
    found = computed(interpreter, result, operands, sure=depends or not is_following(interpreter.context))
    return layer_multiplied(interpreter, layer, found, operands, call.place)

"""Names by which a text tells that it may meet what is checked."""

from __future__ import annotations

import re

from shardlint.inference.overlays.registry import derived, merged

#: Parts of the names of functions that meet shardings, but for what numpy has, too.
_ABOUT_SHARDING = re.compile(
    "harding|[Mm]esh|shard|artition|pmap|pjit|device_put|logical_|axis_rules|_axes$|psum|pmean|pmax|pmin|permute|"
    "pbroadcast|pshuffle|pswapaxes|pvary|pcast|all_gather|all_to_all|axis_index|axis_size|make_array_from"
)
_TELLING = frozenset({"get_abstract_mesh", "get_axis_rules", "get_logical_axis_rules"})


@derived
def sharding_names() -> frozenset[str]:
    """The last names of the functions and classes that are about sharding: only they can meet a use.

    Functions of arrays meet one by a sharding that they are given, or by what such a function made. What only
    tells of the surroundings meets none.
    """
    others = ("jax.numpy.", "numpy.", "jax.nn.", "optax.", "equinox.partition")
    ours = (name for name in merged("TABLE") if not name.startswith(others))
    return frozenset(
        last
        for name in ours
        if _ABOUT_SHARDING.search(last := name.rpartition(".")[2]) is not None and last not in _TELLING
    ) | {"P", "PS", "xmap", "PARTITION_NAME", "metadata_params", "transform_metadata", "kernel_metadata"}


@derived
def layer_names() -> frozenset[str]:
    """The last names of what makes parameters: Flax's layers, ``self.param`` and its like."""
    layers = (name for name in merged("TABLE") if name.startswith(("flax.linen.", "flax.nnx.")))
    classes = (last for name in layers if (last := name.rpartition(".")[2])[0].isupper())
    return frozenset(classes) | {"param", "variable", "init", "lazy_init"}

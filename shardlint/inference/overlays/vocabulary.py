"""Names in a text which show that the text may lead to a check."""

from __future__ import annotations

import re

from shardlint.inference.overlays.registry import derived, merged

#: Parts of names of functions that involve shardings, except for functions that numpy has as well.
_ABOUT_SHARDING = re.compile(
    "harding|[Mm]esh|shard|artition|pmap|pjit|device_put|logical_|axis_rules|_axes$|psum|pmean|pmax|pmin|permute|"
    "pbroadcast|pshuffle|pswapaxes|pvary|pcast|all_gather|all_to_all|axis_index|axis_size|make_array_from"
)
_TELLING = frozenset({"get_abstract_mesh", "get_axis_rules", "get_logical_axis_rules"})


@derived
def sharding_names() -> frozenset[str]:
    """Return the last names of the functions and classes about shardings: without them, nothing is recorded.

    Functions of arrays record a use only for a sharding that they are passed, or that such a function made.
    Functions that only inspect the environment record none.
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
    """Return the last names of functions and classes that make parameters: Flax's layers, ``self.param`` and
    its relatives."""
    layers = (name for name in merged("TABLE") if name.startswith(("flax.linen.", "flax.nnx.")))
    classes = (last for name in layers if (last := name.rpartition(".")[2])[0].isupper())
    return frozenset(classes) | {"param", "variable", "init", "lazy_init"}

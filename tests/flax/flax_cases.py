"""Random configurations of layers: constructor arguments and an input, for both libraries."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from flax_calls import Dtype, Named

DTYPES = ("float32", "bfloat16", "float16")


@dataclass(frozen=True)
class Case:
    """One layer: its class, its arguments, and the array it is called with."""

    layer: str
    config: dict[str, Any]
    shape: tuple[int, ...]
    dtype: str
    call: dict[str, Any] = field(default_factory=dict)


def _size(draw: random.Random) -> int:
    return draw.choice((1, 2, 3, 4, 6, 8, 12))


def _some(draw: random.Random, config: dict[str, Any], **optional: Any) -> dict[str, Any]:
    """Add each optional argument half of the time."""
    return config | {name: value for name, value in optional.items() if draw.random() < 0.5}


def _batch(draw: random.Random, least: int = 1) -> tuple[int, ...]:
    return tuple(_size(draw) for _ in range(draw.randint(least, 3)))


def _dtypes(draw: random.Random) -> dict[str, Any]:
    return {"dtype": Dtype(draw.choice(DTYPES)), "param_dtype": Dtype(draw.choice(DTYPES))}


def _names(draw: random.Random, rank: int) -> Named:
    return Named(tuple(draw.choice((None, "data", "model", ("data", "model"))) for _ in range(rank)))


def _spatial(draw: random.Random) -> dict[str, Any]:
    rank = draw.randint(1, 2)
    kernel = tuple(draw.randint(1, 4) for _ in range(rank))
    paddings: list[Any] = [
        "SAME",
        "VALID",
        "CIRCULAR",
        draw.randint(0, 2),
        tuple((1, 0) for _ in range(rank)),
    ]
    if rank == 1:
        paddings.append("CAUSAL")
    config: dict[str, Any] = {"kernel_size": kernel, "padding": draw.choice(paddings)}
    return _some(
        draw,
        config,
        strides=draw.choice((1, 2, (2,) * rank, None)),
        kernel_dilation=draw.choice((1, 2)),
        input_dilation=draw.choice((1, 2)),
        use_bias=draw.random() < 0.5,
    )


def linen_case(layer: str, draw: random.Random) -> Case:
    """A random configuration of a layer of linen."""
    dtype = draw.choice((*DTYPES, "int32"))
    common = _some(draw, {}, **_dtypes(draw))
    features = _size(draw)
    shape = (*_batch(draw, 0), _size(draw))
    bias = {"use_bias": draw.random() < 0.5, "bias_init": _names(draw, 1)}
    if layer == "Dense":
        config = _some(draw, {"features": features, **common}, kernel_init=_names(draw, 2), **bias)
    elif layer == "DenseGeneral":
        shape = (*_batch(draw, 2), _size(draw))
        axis = draw.choice((-1, (-1,), (-2, -1), (1, 2)))
        many = draw.choice((features, (features,), (features, 2)))
        config = _some(draw, {"features": many, **common}, axis=axis, use_bias=draw.random() < 0.5)
        if draw.random() < 0.3:
            config |= {"batch_dims": (0,), "axis": draw.choice((-1, (-1,)))}
    elif layer == "Einsum":
        equation, kernel, letters = draw.choice(
            (("abc,cd->abd", "cd", "abc"), ("...c,chd->...hd", "chd", "abc"), ("ab,bcd -> acd", "bcd", "ab"))
        )
        sizes = {letter: _size(draw) for letter in "abcdh"}
        shape = tuple(sizes[letter] for letter in letters)
        config = _some(draw, {"shape": tuple(sizes[letter] for letter in kernel), **common}, use_bias=False)
        return Case(layer, config | {"einsum_str": equation}, shape, dtype)
    elif layer == "Conv":
        config = {"features": 4, **_spatial(draw), **common}
        groups = draw.choice((1, 2))
        config |= {"feature_group_count": groups}
        rank = len(config["kernel_size"])
        shape = (*_batch(draw, 0), *(draw.randint(6, 9) for _ in range(rank)), 2 * _size(draw))
    elif layer == "Embed":
        shape, dtype = _batch(draw, 0), "int32"
        config = {"num_embeddings": _size(draw), "features": features, **common}
        config = _some(draw, config, embedding_init=_names(draw, 2))
    elif layer in ("LayerNorm", "InstanceNorm", "RMSNorm", "GroupNorm", "BatchNorm"):
        shape = (*_batch(draw, 2), 8)
        config = _some(draw, dict(common), use_scale=draw.random() < 0.5, scale_init=_names(draw, 1))
        if layer != "RMSNorm":
            config = _some(draw, config, **bias)
        if layer == "GroupNorm":
            config |= draw.choice(({"num_groups": 4}, {"num_groups": None, "group_size": 2}))
        if layer == "BatchNorm":
            config |= {"use_running_average": draw.random() < 0.5, "axis": draw.choice((-1, 1))}
        if layer == "LayerNorm" and draw.random() < 0.3:
            config |= {"feature_axes": (-2, -1), "reduction_axes": (-2, -1)}
    elif layer == "MultiHeadDotProductAttention":
        shape = (*_batch(draw, 1), 5, 8)
        config = _some(
            draw,
            {"num_heads": draw.choice((1, 2, 4)), **common},
            qkv_features=draw.choice((4, 16)),
            out_features=features,
            normalize_qk=True,
            use_bias=draw.random() < 0.5,
        )
    elif layer == "Dropout":
        config = {"rate": 0.1, "deterministic": True}
    else:
        raise AssertionError(layer)
    return Case(layer, config, shape, dtype)


LINEN = (
    "Dense", "DenseGeneral", "Einsum", "Conv", "Embed", "LayerNorm", "InstanceNorm", "RMSNorm", "GroupNorm",
    "BatchNorm", "MultiHeadDotProductAttention", "Dropout",
)  # fmt: skip


def nnx_case(layer: str, draw: random.Random) -> Case:
    """A random configuration of a layer of nnx."""
    dtype = draw.choice(DTYPES)
    common = _some(draw, {}, **_dtypes(draw))
    inside, outside = _size(draw), _size(draw)
    shape = (*_batch(draw, 0), inside)
    call: dict[str, Any] = {}
    biased = _some(draw, dict(common), use_bias=draw.random() < 0.5, bias_init=_names(draw, 1))
    if layer == "Linear":
        config = _some(
            draw, {"in_features": inside, "out_features": outside, **biased}, kernel_init=_names(draw, 2)
        )
        if draw.random() < 0.3:
            config["kernel_metadata"] = {"out_sharding": ("data", None)}
    elif layer == "LinearGeneral":
        many = draw.choice((outside, (outside,), (outside, 2)))
        config = {"in_features": inside, "out_features": many, **common}
        if draw.random() < 0.5:
            shape = (*_batch(draw, 0), 3, inside)
            config |= {"in_features": (3, inside), "axis": (-2, -1)}
        elif draw.random() < 0.5:
            shape = (4, *_batch(draw, 0), inside)
            config |= {"batch_axis": {0: 4}}
        config = _some(draw, config, use_bias=False, kernel_init=_names(draw, 3))
    elif layer == "Einsum":
        sizes = {letter: _size(draw) for letter in "abcdh"}
        equation, kernel, letters, bias = draw.choice(
            (("abc,cd->abd", "cd", "abc", "d"), ("...c,chd->...hd", "chd", "abc", "hd"))
        )
        shape = tuple(sizes[letter] for letter in letters)
        config = {"einsum_str": equation, "kernel_shape": tuple(sizes[letter] for letter in kernel), **common}
        config = _some(draw, config, bias_shape=tuple(sizes[letter] for letter in bias))
    elif layer == "Conv":
        config = {
            "in_features": 2 * inside,
            "out_features": 4,
            "feature_group_count": draw.choice((1, 2)),
            **common,
        }
        config |= _spatial(draw)
        rank = len(config["kernel_size"])
        shape = (*_batch(draw, 0), *(draw.randint(6, 9) for _ in range(rank)), 2 * inside)
    elif layer == "Embed":
        shape, dtype = _batch(draw, 0), "int32"
        config = {"num_embeddings": inside, "features": outside, **common}
        config = _some(draw, config, embedding_init=_names(draw, 2))
    elif layer == "MultiHeadAttention":
        shape = (*_batch(draw, 1), 5, 8)
        config = {"num_heads": 4, "in_features": 8, **common}
        config = _some(
            draw,
            config,
            qkv_features=16,
            out_features=outside,
            num_kv_heads=4,
            normalize_qk=True,
            use_bias=False,
            kernel_init=_names(draw, 3),
            out_kernel_init=_names(draw, 2),
        )
        call = {"decode": False}
    elif layer == "Dropout":
        config = {"rate": 0.1, "deterministic": True}
    else:
        shape = (*_batch(draw, 2), 8)
        config = _some(draw, {"num_features": 8}, use_scale=draw.random() < 0.5, scale_init=_names(draw, 1))
        config |= common if layer == "RMSNorm" else biased
        if layer == "GroupNorm":
            config |= draw.choice(({"num_groups": 4}, {"num_groups": None, "group_size": 2}))
        if layer == "BatchNorm":
            call = {"use_running_average": draw.random() < 0.5}
    return Case(layer, config, shape, dtype, call)


NNX = (
    "Linear", "LinearGeneral", "Einsum", "Conv", "Embed", "LayerNorm", "RMSNorm", "GroupNorm", "InstanceNorm",
    "BatchNorm", "MultiHeadAttention", "Dropout",
)  # fmt: skip

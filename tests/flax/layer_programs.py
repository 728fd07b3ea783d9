"""Random programs that make one layer: of every class of linen and nnx that has parameters or a shape."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

HEADER = """
import flax.linen as nn
import jax
import jax.numpy as jnp
from flax import nnx

key = jax.random.key(0)
ones = nn.initializers.ones
"""
_DTYPES = ("jnp.float32", "jnp.bfloat16", "jnp.float16")
_ENTRIES = ("None", '"data"', '"model"', '("data", "model")')


@dataclass(frozen=True)
class Draw:
    """Random texts for one library, ``nn`` or ``nnx``."""

    random: random.Random
    library: str

    def size(self) -> int:
        return self.random.choice((1, 2, 3, 4, 6, 8))

    def chance(self, share: float = 0.5) -> bool:
        return self.random.random() < share

    def some(self, **options: object) -> str:
        """Each option half of the time, as keyword arguments after others."""
        return "".join(f", {name}={value}" for name, value in options.items() if self.chance())

    def dtypes(self) -> str:
        return self.some(dtype=self.random.choice(_DTYPES), param_dtype=self.random.choice(_DTYPES))

    def names(self, rank: int) -> str:
        """An initializer with names for an array of this rank, sometimes shorter."""
        count = self.random.randint(0, rank)
        entries = "".join(f"{self.random.choice(_ENTRIES)}, " for _ in range(count))
        return f"{self.library}.with_partitioning(ones, ({entries}))"

    def weights(self, rank: int) -> str:
        """Dtypes, a bias or not, initializers."""
        return self.dtypes() + self.some(
            use_bias=self.chance(), kernel_init=self.names(rank), bias_init=self.names(1)
        )

    def cell(self) -> str:
        """Options of every cell."""
        return self.dtypes() + self.some(
            kernel_init=self.names(2), recurrent_kernel_init=self.names(2), bias_init=self.names(1)
        )

    def batch(self, least: int = 0) -> tuple[int, ...]:
        return tuple(self.size() for _ in range(self.random.randint(least, 2)))

    def array(self, *shape: int, dtype: str | None = None) -> str:
        """An input."""
        return f"jnp.ones({shape}, {dtype or self.random.choice(_DTYPES)})"

    def window(self, strided: bool = True) -> tuple[str, int]:
        """Options of a convolution, and over how many dimensions it is."""
        rank = self.random.randint(1, 2)
        paddings = ['"SAME"', '"VALID"', '"CIRCULAR"', "1", str(((1, 0),) * rank)]
        text = f"{(self.random.randint(1, 4),) * rank}, padding={self.random.choice(paddings)}"
        text += self.some(strides=self.random.choice((1, 2, (2,) * rank)) if strided else 1)
        return text + self.some(kernel_dilation=self.random.choice((1, 2))), rank

    def image(self, rank: int, channels: int) -> str:
        """An input of a convolution."""
        return self.array(*self.batch(), *(self.random.randint(6, 9) for _ in range(rank)), channels)


#: From a draw to the layer, as an expression, and its call's arguments.
Maker = Callable[[Draw], tuple[str, str]]


def _attention(name: str) -> Maker:
    def make(d: Draw) -> tuple[str, str]:
        heads = d.random.choice((1, 2, 4))
        options = d.weights(3) + d.some(
            qkv_features=8, out_features=d.size(), normalize_qk=d.chance(),
            out_kernel_init=d.names(2), out_bias_init=d.names(1),
        )  # fmt: skip
        batch = d.batch()
        args = d.array(*batch, 5, 8)
        if name != "SelfAttention" and d.chance():
            args += f", {d.array(*batch, 3, 8)}"
        return f"nn.{name}({heads}{options})", args

    return make


def _norm(name: str) -> Maker:
    def make(d: Draw) -> tuple[str, str]:
        options = d.dtypes() + d.some(use_scale=d.chance(), scale_init=d.names(1))
        if name != "RMSNorm":
            options += d.some(use_bias=d.chance(), bias_init=d.names(1))
        if name == "GroupNorm":
            options += d.random.choice((", num_groups=4", ", num_groups=None, group_size=2"))
        if name == "BatchNorm":
            options += f", use_running_average={d.chance()}"
            options += d.some(axis=1) if d.library == "nn" else ""
        features = "" if d.library == "nn" else "8, rngs=nnx.Rngs(0)"
        shape = (*d.batch(1), d.size(), 8)
        return f"{d.library}.{name}({features}{options if features else options[2:]})", d.array(*shape)

    return make


def _dense(d: Draw) -> tuple[str, str]:
    return f"nn.Dense({d.size()}{d.weights(2)})", d.array(*d.batch(), d.size())


def _dense_general(d: Draw) -> tuple[str, str]:
    axis = d.random.choice(("-1", "(-1,)", "(-2, -1)", "(1, 2)", "-1, batch_dims=(0,)"))
    features = d.random.choice((d.size(), (d.size(), 2)))
    options = d.dtypes() + d.some(use_bias=d.chance(), kernel_init=d.names(2), bias_init=d.names(1))
    return f"nn.DenseGeneral({features}, axis={axis}{options})", d.array(*d.batch(1), d.size(), d.size())


def _einsum(d: Draw) -> tuple[str, str]:
    text, kernel, letters, bias = d.random.choice(
        (("abc,cd->abd", "cd", "abc", "d"), ("...c,chd->...hd", "chd", "abc", "hd"))
    )
    size = {letter: d.size() for letter in "abcdh"}
    shape, x = tuple(size[c] for c in kernel), d.array(*(size[c] for c in letters))
    options = d.dtypes() + d.some(kernel_init=d.names(len(kernel)))
    if d.library == "nn":
        return f"nn.Einsum({shape}, {text!r}{options}{d.some(use_bias=d.chance())})", x
    options += d.some(bias_shape=tuple(size[c] for c in bias))
    return f"nnx.Einsum({text!r}, {shape}{options}, rngs=nnx.Rngs(0))", x


def _embed(d: Draw) -> tuple[str, str]:
    end = ", rngs=nnx.Rngs(0)" if d.library == "nnx" else ""
    options = d.dtypes() + d.some(embedding_init=d.names(2))
    ids = d.array(*d.batch(), dtype="jnp.int32")
    return f"{d.library}.Embed({d.size()}, {d.size()}{options}{end})", ids


def _conv(name: str) -> Maker:
    def make(d: Draw) -> tuple[str, str]:
        window, rank = d.window()
        options, channels = d.weights(3), 2 * d.size()
        if name == "Conv":
            options += f", feature_group_count={d.random.choice((1, 2))}"
        if name == "ConvTranspose":
            options += d.some(transpose_kernel=d.chance())
        else:
            options += d.some(input_dilation=d.random.choice((1, 2)))
        x = d.image(rank, channels)
        if d.library == "nn":
            return f"nn.{name}(4, {window}{options})", x
        return f"nnx.{name}({channels}, 4, {window}{options}, rngs=nnx.Rngs(0))", x

    return make


def _prelu(d: Draw) -> tuple[str, str]:
    options = d.some(param_dtype=d.random.choice(_DTYPES))
    if d.library == "nnx":
        options += d.some(dtype=d.random.choice(_DTYPES))
    return f"{d.library}.PReLU({options[2:]})", d.array(*d.batch(), 4)


def _dropout(d: Draw) -> tuple[str, str]:
    end = ", rngs=nnx.Rngs(0)" if d.library == "nnx" else ""
    return f"{d.library}.Dropout(0.1, deterministic=True{end})", d.array(*d.batch(), 4)


def _sequential(d: Draw) -> tuple[str, str]:
    if d.library == "nn":
        layers = f"[nn.Dense({d.size()}), nn.relu, nn.Dense({d.size()}{d.weights(2)})]"
    else:
        middle = d.size()
        ends = ", rngs=nnx.Rngs(0)"
        layers = (
            f"nnx.Linear(4, {middle}{ends}), nnx.gelu, nnx.Linear({middle}, {d.size()}{d.weights(2)}{ends})"
        )
    return f"{d.library}.Sequential({layers})", d.array(*d.batch(), 4)


def _normalized(name: str) -> Maker:
    def make(d: Draw) -> tuple[str, str]:
        inside = d.random.choice((f"Dense({d.size()})", f"Conv({d.size()}, (2, 2))"))
        x = d.array(2, 5, 5, 4)
        if d.library == "nnx":
            inside = inside.replace("Dense(", "Linear(4, ").replace("Conv(", "Conv(4, ")
            inside = f"{inside[:-1]}, rngs=nnx.Rngs(0))"
        options = d.some(feature_axes=d.random.choice(("-1", "None", "(-2, -1)")), use_scale=d.chance())
        if name == "SpectralNorm":
            options, x = "", f"{x}, update_stats={d.chance()}"
        end = ", rngs=nnx.Rngs(0)" if d.library == "nnx" else ""
        return f"{d.library}.{name}({d.library}.{inside}{options}{end})", x

    return make


def _cell_text(d: Draw, name: str, inputs: int, features: int, options: str | None = None) -> str:
    options = d.cell() if options is None else options
    if name == "ConvLSTMCell":
        return f"nn.{name}({features}, (2, 3){d.dtypes()}{d.some(use_bias=d.chance())})"
    if name == "MGUCell":
        options = options.replace("bias_init=", "forget_bias_init=", 1) + d.some(reset_gate=d.chance())
    if name == "SimpleCell":
        options += d.some(residual=d.chance())
    if d.library == "nn":
        return f"nn.{name}({features}{options})"
    return f"nnx.{name}({inputs}, {features}{options}, rngs=nnx.Rngs(0))"


def _cell(name: str) -> Maker:
    def make(d: Draw) -> tuple[str, str]:
        inputs, features = d.size(), d.size()
        layer = _cell_text(d, name, inputs, features)
        space = (5, 6) if name == "ConvLSTMCell" else ()
        shape = (*d.batch(), *space, inputs)
        key = "" if d.library == "nnx" else "key, "
        end = ", nnx.Rngs(0)" if d.library == "nnx" else ""
        x = d.array(*shape)
        return layer, f"model.initialize_carry({key}{shape}{end}), {x}"

    return make


_CELLS = ("LSTMCell", "OptimizedLSTMCell", "GRUCell", "SimpleCell")


def _rnn(d: Draw) -> tuple[str, str]:
    cells = _CELLS if d.library == "nnx" else (*_CELLS, "MGUCell", "ConvLSTMCell")
    name, inputs = d.random.choice(cells), d.size()
    cell = _cell_text(d, name, inputs, d.size())
    options = d.some(return_carry=d.chance(), time_major=d.chance(), reverse=d.chance())
    space = (5, 6) if name == "ConvLSTMCell" else ()
    return f"{d.library}.RNN({cell}{options})", d.array(*d.batch(1), 3, *space, inputs)


def _bidirectional(d: Draw) -> tuple[str, str]:
    inputs, features = d.size(), d.size()
    options = d.dtypes()
    runs = [
        f"{d.library}.RNN({_cell_text(d, d.random.choice(_CELLS[:3]), inputs, features, options)})"
        for _ in range(2)
    ]
    shape = (*d.batch(1), 3, inputs)
    return f"{d.library}.Bidirectional({', '.join(runs)}{d.some(return_carry=d.chance())})", d.array(*shape)


def _linear(d: Draw) -> tuple[str, str]:
    inside, options = d.size(), d.weights(2)
    if d.chance(0.3):
        options += f', kernel_metadata={{"out_sharding": ("data", {d.random.choice(_ENTRIES)})}}'
    return f"nnx.Linear({inside}, {d.size()}{options}, rngs=nnx.Rngs(0))", d.array(*d.batch(), inside)


def _linear_general(d: Draw) -> tuple[str, str]:
    inside = d.size()
    end, features = d.weights(3), d.random.choice((d.size(), (d.size(), 2)))
    inputs, x, more = d.random.choice(
        (
            (inside, (*d.batch(), inside), ""),
            ((3, inside), (*d.batch(), 3, inside), ", axis=(-2, -1)"),
            (inside, (4, *d.batch(), inside), ", batch_axis={0: 4}"),
        )
    )
    return f"nnx.LinearGeneral({inputs}, {features}{more}{end}, rngs=nnx.Rngs(0))", d.array(*x)


def _nnx_attention(d: Draw) -> tuple[str, str]:
    options = d.weights(3) + d.some(
        qkv_features=16, out_features=d.size(), normalize_qk=d.chance(), out_kernel_init=d.names(2)
    )
    args = d.array(*d.batch(), 5, 8)
    return f"nnx.MultiHeadAttention(4, 8{options}, rngs=nnx.Rngs(0))", f"{args}, decode=False"


def _lora(d: Draw) -> tuple[str, str]:
    inside, outside = d.size(), d.size()
    options = d.dtypes() + d.some(a_initializer=d.names(2), b_initializer=d.names(2))
    options += d.some(lora_param_type="nnx.Param", a_metadata='{"out_sharding": ("data",)}')
    if d.chance():
        options += f", base_module=nnx.Linear({inside}, {outside}, rngs=nnx.Rngs(0))"
    x = d.array(*d.batch(), inside)
    return f"nnx.LoRA({inside}, {d.size()}, {outside}{options}, rngs=nnx.Rngs(0))", x


def _lora_linear(d: Draw) -> tuple[str, str]:
    inside = d.size()
    options = d.weights(2) + d.some(a_initializer=d.names(2), lora_param_dtype=d.random.choice(_DTYPES))
    x = d.array(*d.batch(), inside)
    return f"nnx.LoRALinear({inside}, {d.size()}, lora_rank={d.size()}{options}, rngs=nnx.Rngs(0))", x


def _pool(name: str) -> Maker:
    def make(d: Draw) -> tuple[str, str]:
        window = (d.random.randint(1, 3), d.random.randint(1, 3))
        padding = d.random.choice(('"SAME"', '"VALID"', "((1, 0), (0, 1))"))
        options = d.some(strides=d.random.choice(((2, 2), (1, 2))), padding=padding)
        return f"lambda x: {d.library}.{name}(x, {window}{options})", d.image(2, d.size())

    return make


_NORMS = ("LayerNorm", "RMSNorm", "GroupNorm", "InstanceNorm", "BatchNorm")
_SHARED: dict[str, Maker] = {
    **{name: _norm(name) for name in _NORMS},
    **{name: _conv(name) for name in ("Conv", "ConvTranspose")},
    **{name: _cell(name) for name in _CELLS},
    **{name: _normalized(name) for name in ("WeightNorm", "SpectralNorm")},
    "Einsum": _einsum,
    "Embed": _embed,
    "PReLU": _prelu,
    "Dropout": _dropout,
    "Sequential": _sequential,
    "RNN": _rnn,
    "Bidirectional": _bidirectional,
}
LINEN: dict[str, Maker] = {
    **_SHARED,
    **{
        name: _attention(name)
        for name in ("MultiHeadDotProductAttention", "MultiHeadAttention", "SelfAttention")
    },
    **{name: _cell(name) for name in ("MGUCell", "ConvLSTMCell")},
    "Dense": _dense,
    "DenseGeneral": _dense_general,
    "ConvLocal": _conv("ConvLocal"),
}
NNX: dict[str, Maker] = {
    **_SHARED,
    "Linear": _linear,
    "LinearGeneral": _linear_general,
    "MultiHeadAttention": _nnx_attention,
    "LoRA": _lora,
    "LoRALinear": _lora_linear,
}
POOLS = {(library, name): _pool(name) for library in ("nn", "nnx") for name in ("avg_pool", "max_pool")}


def linen_program(name: str, draw: random.Random) -> str:
    """A program that binds ``y``, ``variables`` and ``specs``."""
    layer, args = LINEN[name](Draw(draw, "nn"))
    return f"""{HEADER}
model = {layer}
y, variables = jax.eval_shape(lambda: model.init_with_output(key, {args}))
specs = nn.get_partition_spec(variables)
"""


def nnx_program(name: str, draw: random.Random) -> str:
    """A program that binds ``y``, ``state`` and ``specs``."""
    layer, args = NNX[name](Draw(draw, "nnx"))
    return f"""{HEADER}
with nnx.use_eager_sharding(False):
    model = nnx.eval_shape(lambda: {layer})
    state = nnx.state(model, (nnx.Param, nnx.BatchStat))
    specs = nnx.get_partition_spec(state)
    y = nnx.eval_shape(lambda model: model({args}), model)
"""


def pool_program(kind: tuple[str, str], draw: random.Random) -> str:
    """A program that binds ``y``."""
    function, args = POOLS[kind](Draw(draw, kind[0]))
    return f"{HEADER}\ny = jax.eval_shape({function}, {args})\n"

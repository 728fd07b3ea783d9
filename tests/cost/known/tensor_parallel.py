"""Weights split over "model" (4 devices): what follows from the shapes, in f32, and nothing besides."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

constrain = jax.lax.with_sharding_constraint
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
B, D, F, V = 16, 64, 128, 256


def on(*spec):
    return NamedSharding(mesh, P(*spec))


def array(shape, *spec, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=on(*spec))


def lower(f, *arguments, **options):
    jax.jit(f, **options).lower(*arguments)


def case_column_parallel():  # expect-no-collectives
    lower(lambda x, w: x @ w, array((B, D)), array((D, F), None, "model"))


def case_row_parallel():
    def row(x, w):
        return x @ w  # expect-collective: all-reduce model == 12288

    lower(row, array((B, D), None, "model"), array((D, F), "model", None))


def case_bfloat16_counts_two_bytes():
    def row(x, w):
        return x @ w  # expect-collective: all-reduce model == 6144

    bf16 = jnp.bfloat16
    lower(row, array((B, D), None, "model", dtype=bf16), array((D, F), "model", None, dtype=bf16))


def case_mlp():
    def mlp(x, w1, w2):
        h = jax.nn.relu(x @ w1)
        return h @ w2  # expect-collective: all-reduce model == 6144

    lower(mlp, array((B, D)), array((D, F), None, "model"), array((F, D), "model", None))


def case_mlp_backward():
    def mlp(ws, x):
        w1, w2 = ws
        h = jax.nn.relu(x @ w1)
        y = h @ w2  # expect-collective: all-reduce model == 6144
        return jnp.sum(y * y)

    ws = array((D, F), None, "model"), array((F, D), "model", None)
    lower(jax.grad(mlp), ws, array((B, D)))


def case_gradient_of_the_input_of_a_column_parallel_layer():
    def column(x, w):
        y = x @ w  # expect-collective: all-reduce model == 6144
        return jnp.sum(y * y)

    lower(jax.grad(column), array((B, D)), array((D, F), None, "model"))


def case_row_parallel_with_a_split_result():
    def row(x, w):
        y = x @ w  # expect-collective: reduce-scatter model == 6144
        return constrain(y, on(None, "model"))

    lower(row, array((B, D), None, "model"), array((D, F), "model", None))


def case_column_parallel_with_a_whole_result():
    def column(x, w):
        y = constrain(x @ w, on(None, "model"))
        return constrain(y, on())  # expect-collective: all-gather model == 6144

    lower(column, array((B, D)), array((D, F), None, "model"))


def case_a_whole_result_wants_whole_weights():
    # Nothing holds the product's layout, so XLA gathers the weights (32 KiB), not the product (8 KiB).
    def column(x, w):
        y = x @ w  # expect-collective: all-gather model == 24576
        return constrain(y, on())

    lower(column, array((B, D)), array((D, F), None, "model"))


def case_embedding_split_by_rows():
    def look_up(table, ids):
        return table[ids]  # expect-collective: all-reduce model == 6144

    lower(look_up, array((V, D), "model", None), array((B,), dtype=jnp.int32))


def case_embedding_split_by_columns():  # expect-no-collectives
    lower(lambda table, ids: table[ids], array((V, D), None, "model"), array((B,), dtype=jnp.int32))


def case_softmax_over_split_classes():
    def softmax(logits):
        high = jnp.max(logits, axis=1, keepdims=True)  # expect-collective: all-reduce model == 96
        e = jnp.exp(logits - high)
        return e / jnp.sum(e, axis=1, keepdims=True)  # expect-collective: all-reduce model == 96

    lower(softmax, array((B, V), None, "model"))


def case_norm_over_split_features():
    def norm(x):
        square = jnp.mean(x * x, axis=1, keepdims=True)  # expect-collective: all-reduce model == 96
        return x * jax.lax.rsqrt(square)

    lower(norm, array((B, D), None, "model"))


def case_heads_split():
    def attention(q, k, v, o):
        scores = jnp.einsum("bthd,bshd->bhts", q, k)
        mixed = jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(scores), v)
        return jnp.einsum("bthd,hde->bte", mixed, o)  # expect-collective: all-reduce model == 24576

    heads = [array((2, 32, 4, 16), None, None, "model") for _ in range(3)]
    lower(attention, *heads, array((4, 16, D), "model"))


def case_both_axes():
    def row(x, w):
        return x @ w  # expect-collective: all-reduce model == 6144

    lower(row, array((B, D), "data", "model"), array((D, F), "model", None))


def case_contraction_over_both_axes():
    def row(x, w):
        return x @ w  # expect-collective: all-reduce data model == 14336

    split = ("data", "model")
    lower(row, array((B, D), None, split), array((D, F), split, None))


def case_elementwise():  # expect-no-collectives
    lower(lambda x, y: jnp.tanh(x) * y + 1, array((B, D), "data", "model"), array((B, D), "data", "model"))


def case_transposed():  # expect-no-collectives
    lower(lambda x: x.T, array((B, D), "data", "model"))


def case_from_whole_to_split():  # expect-no-collectives
    lower(lambda x: constrain(x, on("model")), array((B, D)))

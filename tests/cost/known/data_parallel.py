"""Batches split over "data" (2 devices), and weights with them: FSDP and ZeRO."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

constrain = jax.lax.with_sharding_constraint
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
B, D, F = 16, 64, 128


def on(*spec):
    return NamedSharding(mesh, P(*spec))


def array(shape, *spec, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=on(*spec))


def lower(f, *arguments, **options):
    jax.jit(f, **options).lower(*arguments)


def case_mean_of_a_split_batch():
    def mean(x):
        return jnp.mean(x)  # expect-collective: all-reduce data == 4

    lower(mean, array((B, D), "data"))


def case_gradient_is_summed_over_the_batch():
    def grad(w, x):
        y = x @ w  # expect-collective: all-reduce data == 32768
        return jnp.sum(y * y)

    lower(jax.grad(grad), array((D, F)), array((B, D), "data"))


def case_gradient_over_both_axes():
    def grad(w, x):
        y = x @ w  # expect-collective: all-reduce data model == 57344
        return jnp.sum(y * y)

    lower(jax.grad(grad), array((D, F)), array((B, D), ("data", "model")))


def case_gradient_of_a_bias():
    def grad(b, x):
        y = x + b  # expect-collective: all-reduce data == 256
        return jnp.sum(y * y)

    lower(jax.grad(grad), array((D,)), array((B, D), "data"))


def case_batch_statistics():
    def statistics(x):
        return x - jnp.mean(x, axis=0)  # expect-collective: all-reduce data == 256

    lower(statistics, array((B, D), "data"))


def case_fsdp_forward():
    def forward(w, x):
        w = constrain(w, on())  # expect-collective: all-gather data == 16384
        return x @ w

    lower(forward, array((D, F), "data"), array((B, D), "data"))


def case_fsdp_backward():
    def step(w, x):
        def loss(w):
            w = constrain(w, on())  # expect-collective: all-gather data == 16384
            y = x @ w  # expect-collective: reduce-scatter data == 16384
            return jnp.sum(y * y)

        return constrain(jax.grad(loss)(w), on("data"))

    lower(step, array((D, F), "data"), array((B, D), "data"))


def case_zero_gathers_updated_weights():
    def step(w, moment, gradient):
        moment = 0.9 * moment + constrain(gradient, on("data"))
        return constrain(w - moment, on()), moment  # expect-collective: all-gather data == 16384

    lower(step, array((D, F)), array((D, F), "data"), array((D, F)))


def case_evaluation_of_each_example():  # expect-no-collectives
    lower(lambda x: jnp.argmax(x, axis=1), array((B, D), "data"))


def case_batch_split_and_weights_whole():  # expect-no-collectives
    lower(lambda x, w: x @ w, array((B, D), "data"), array((D, F)))


def case_global_norm():
    def norm(g):
        return jnp.sqrt(jnp.sum(g * g))  # expect-collective: all-reduce data == 4

    lower(norm, array((D, F), "data"))


def case_uneven_constraint():
    # Seven rows on two devices: XLA pads to four, and the sum still needs the other device's part.
    def total(x):
        x = constrain(x, on("data"))
        return jnp.sum(jnp.tanh(x), axis=0)  # expect-collective: all-reduce data == 256

    lower(total, array((7, D)))


def case_gather_of_a_batch():
    def gathered(x):
        return constrain(x, on())  # expect-collective: all-gather data == 2048

    lower(gathered, array((B, D), "data"))


def case_gather_over_both_axes():
    def gathered(x):
        return constrain(x, on())  # expect-collective: all-gather data model == 3584

    lower(gathered, array((B, D), ("data", "model")))


def case_transposed_layout():
    def turned(x):
        return constrain(x, on(None, "model"))  # expect-collective: all-to-all model == 768

    lower(turned, array((B, D), "model"))


def case_experts_by_constraint():
    # Tokens by expert: from one device's tokens for all experts to all tokens for a device's experts.
    def dispatch(x):
        x = jnp.einsum("etd->edt", x)
        return constrain(x, on("model"))  # expect-collective: all-to-all model == 6144

    lower(dispatch, array((8, 16, D), None, "model"))


def case_reversed():
    def reversed_(x):
        return x[::-1]  # expect-collective: collective-permute data == 2048

    lower(reversed_, array((B, D), "data"))

"""States of optax's transformations against optax: random chains over random trees of parameters."""

from __future__ import annotations

import random
import warnings

import pytest
from whole_trees import agree

CASES = 150

_RATES = ("1e-3", "optax.linear_schedule(0.0, 1e-3, 10)", "lambda step: 1e-3", "optax.constant_schedule(0.1)")
_MASKS = ("None", "lambda p: jax.tree.map(lambda leaf: leaf.ndim > 1, p)", "MASK")
_DTYPES = ("None", "jnp.bfloat16", "jnp.float32")
_PLAIN = (
    "optax.clip(1.0)",
    "optax.clip_by_global_norm(1.0)",
    "optax.clip_by_block_rms(1.0)",
    "optax.identity()",
    "optax.adaptive_grad_clip(0.1)",
    "optax.centralize()",
    "optax.scale(-1.0)",
    "optax.set_to_zero()",
    "optax.scale_by_param_block_rms()",
    "optax.scale_by_trust_ratio()",
    "optax.zero_nans()",
    "optax.trace(0.9)",
    "optax.ema(0.9)",
    "optax.apply_every(4)",
    "optax.scale_by_adam(mu_dtype=DTYPE)",
    "optax.scale_by_rss()",
    "optax.scale_by_rms(bias_correction=FLAG)",
    "optax.scale_by_stddev(bias_correction=FLAG)",
    "optax.scale_by_lion(mu_dtype=DTYPE)",
    "optax.scale_by_schedule(lambda step: 0.1)",
    "optax.scale_by_yogi()",
    "optax.add_decayed_weights(1e-4, CHOSEN)",
    "optax.scale_by_learning_rate(RATE)",
    "optax.scale_by_novograd()",
    "optax.add_decayed_weights(lambda step: 1e-4)",
    "optax.scale_by_adan()",
    "optax.scale_by_amsgrad()",
    "optax.scale_by_factored_rms(min_dim_size_to_factor=2)",
    "optax.scale_by_factored_rms(FLAG)",
)
_WHOLE = (
    "optax.adam(RATE)",
    "optax.adam(RATE, 0.9, 0.95, mu_dtype=DTYPE)",
    "optax.sgd(RATE)",
    "optax.lamb(RATE)",
    "optax.adamw(RATE, weight_decay=0.1, mask=CHOSEN)",
    "optax.sgd(RATE, momentum=0.9, nesterov=FLAG)",
    "optax.lion(RATE, mu_dtype=DTYPE)",
    "optax.adagrad(RATE)",
    "optax.adadelta(RATE)",
    "optax.adamax(RATE)",
    "optax.rmsprop(RATE, momentum=0.9, centered=FLAG)",
    "optax.rmsprop(RATE)",
    "optax.nadamw(RATE)",
    "optax.adabelief(RATE)",
    "optax.radam(RATE)",
    "optax.novograd(RATE)",
    "optax.yogi(RATE)",
    "optax.adan(RATE)",
    "optax.amsgrad(RATE)",
    "optax.sign_sgd(RATE)",
    "optax.rprop(1e-3)",
    "optax.adamaxw(RATE)",
    "optax.adafactor(RATE)",
    "optax.adafactor(RATE, min_dim_size_to_factor=4)",
    "optax.adafactor(RATE, 2, momentum=0.9)",
    "optax.adafactor(RATE, 2, momentum=0.9, dtype_momentum=jnp.bfloat16, weight_decay_rate=1e-3)",
    "optax.adafactor(min_dim_size_to_factor=3, multiply_by_parameter_scale=FLAG, clipping_threshold=None)",
    "optax.adafactor(RATE, 1, factored=FLAG, weight_decay_rate=0.1, weight_decay_mask=CHOSEN)",
)


def transformation(draw: random.Random, depth: int = 2) -> str:
    """The text of a random transformation."""
    form = draw.randint(0, 9) if depth else 0
    inner = [transformation(draw, depth - 1) for _ in range(draw.randint(1, 3))] if form > 4 else []
    text = draw.choice(_WHOLE if draw.random() < 0.5 else _PLAIN)
    if form in (5, 6):
        text = f"optax.chain({', '.join(inner)})"
    elif form == 7:
        text = draw.choice((
            f"optax.MultiSteps({inner[0]}, 4)", f"optax.apply_if_finite({inner[0]}, 3)",
            f"optax.masked({inner[0]}, CHOSEN_MASK)",
        ))  # fmt: skip
    elif form == 8:
        labels = draw.choice(("LABELS", "lambda p: jax.tree.map(lambda leaf: 'b' if leaf.ndim else 'a', p)"))
        function = draw.choice(("multi_transform", "partition"))
        text = f"optax.{function}({{'a': {inner[0]}, 'b': {inner[-1]}}}, {labels})"
    elif form == 9:
        text = f"optax.named_chain(('first', {inner[0]}), ('second', {inner[-1]}))"
    for word, choices in {
        "RATE": _RATES,
        "DTYPE": _DTYPES,
        "FLAG": ("True", "False"),
        "CHOSEN_MASK": _MASKS[1:],
        "CHOSEN": _MASKS,
    }.items():
        text = text.replace(word, draw.choice(choices))
    return text


PARAMS = """
MASK = {"up": {"w": True, "b": False}, "scale": False, "stack": [True, False]}
LABELS = {"up": {"w": "a", "b": "b"}, "scale": "b", "stack": ["a", "b"]}
params = {
    "up": {"w": jnp.ones((ROWS, 8), DTYPE), "b": jnp.ones((COLUMNS,))},
    "scale": jnp.ones((), jnp.float16),
    "stack": [jnp.ones((2, ROWS)), jnp.zeros((3,))],
}
specs = jax.tree.map(lambda leaf: P(*("data", "model")[: leaf.ndim]), params)
"""


def params(rows: int, columns: int, dtype: str) -> str:
    """A program's parameters."""
    return PARAMS.replace("ROWS", str(rows)).replace("COLUMNS", str(columns)).replace("DTYPE", dtype)


def test_random_transformations() -> None:
    draw = random.Random("optax")
    for _ in range(CASES):
        text = params(draw.randint(1, 9), draw.randint(1, 9), draw.choice(("jnp.float32", "jnp.bfloat16")))
        text += f"tx = {transformation(draw)}\nstate = tx.init(params)\n"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            known, total = agree(text, "state")
        assert known == total, text


#: What programs do with states: statements after ``tx`` and ``state``, and the names that they bind.
USES = {
    "a spec for each array": ("a = jax.tree.map(lambda leaf: P(*[None] * leaf.ndim), state)", "a"),
    "specs like those of the parameters": (
        "a = optax.tree_map_params(tx, lambda _, spec: spec, state, specs, "
        "transform_non_params=lambda _: P())",
        "a",
    ),
    "another function of what is like parameters": (
        "a = optax.tree_utils.tree_map_params(tx.init, lambda leaf: P('data'), state)",
        "a",
    ),
    "an update": (
        "updates, b = tx.update(params, state, params)\na = optax.apply_updates(params, updates)",
        "a b",
    ),
    "a jitted init": (
        "shapes = jax.eval_shape(tx.init, params)\n"
        "shardings = jax.tree.map(lambda leaf: NamedSharding(mesh, P()), shapes)\n"
        "a = jax.jit(tx.init, out_shardings=shardings)(params)\nb = shardings",
        "a b",
    ),
}
_MADE = ("optax.adamw(1e-3)", "optax.chain(optax.clip(1.0), optax.sgd(0.1, momentum=0.9))",
         "optax.masked(optax.adam(1e-3), MASK)", "optax.lion(lambda step: 1e-3)")  # fmt: skip


#: optax itself maps no specs of all parameters over a state of some: masked ones are another tree.
_PAIRS = [(use, made) for use in USES for made in _MADE if "masked" not in made or "specs like" not in use]


@pytest.mark.parametrize(("use", "made"), _PAIRS)
def test_use(use: str, made: str) -> None:
    body, names = USES[use]
    # What is narrower than float32 may become wider in an update.
    text = params(8, 4, "jnp.float32").replace("float16", "float32")
    known, total = agree(f"{text}tx = {made}\nstate = tx.init(params)\n{body}\n", *names.split())
    assert known == total

"""The review of the functions that a JAX is asked about: what they take, whose they are, and since when."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

pytest.importorskip("jax")

import shape_questions
from shardlint.confirm.shape_answers import askable
from witness_names import selected
from witness_steps import Unsupported

DATA = Path(__file__).parent.parent / "data"
#: The libraries whose functions may be on the list, and whose code implements them.
HOMES = ("jax.", "flax.", "optax.", "einops.")
#: What JAX takes from numpy as it is.
OF_NUMPY = frozenset({"jax.numpy.can_cast", "jax.numpy.iscomplexobj", "jax.numpy.isrealobj"})
#: Names that parameters have which take a function; of these functions, other parameters are called so.
FUNCTIONS = frozenset(
    "f fun func func1d fn function callback mask_func computation body body_fun op init key_fn predicate "
    "comparator activation reducer".split()
)
NUMBERS = {("jax.numpy.gradient", "f"), ("jax.scipy.linalg.leslie", "f")}
#: Parameters that take a function, and may be left out or take something else. A question gives them none
#: but those of the list itself.
TAKING = {
    ("flax.linen.dot_product_attention", "attn_weights_value_einsum"),
    ("flax.linen.dot_product_attention", "einsum_dot_general"),
    ("flax.linen.dot_product_attention", "qk_attn_weights_einsum"),
    ("flax.linen.dot_product_attention_weights", "einsum"),
    ("flax.linen.dot_product_attention_weights", "einsum_dot_general"),
    ("flax.linen.make_attention_mask", "pairwise_fn"),
    ("flax.nnx.make_attention_mask", "pairwise_fn"),
    ("jax.lax.linalg.schur", "select_callable"),
    ("jax.numpy.einsum", "_dot_general"),
    ("jax.numpy.pad", "mode"),
    ("optax.losses.ranking_softmax_loss", "reduce_fn"),
    ("optax.power_iteration", "matrix"),
}
#: What no function of the list may read, write, start or run: parts of the names in its code.
OUTSIDE = frozenset(
    "open exec eval compile system popen subprocess socket urlopen pickle loads pure_callback io_callback "
    "callback effects_barrier".split()
)


def test_functions_are_of_the_libraries() -> None:
    for name in askable():
        function = selected(shape_questions.ASKABLE, name)
        assert f"{name}.".startswith(HOMES)
        implemented = getattr(function, "__module__", None) or type(function).__module__
        ours = f"{implemented}.".startswith((*HOMES, "jaxlib."))
        assert ours or (name in OF_NUMPY and implemented == "numpy"), (name, implemented)


def test_no_function_has_to_be_given_one() -> None:
    taking = set()
    for name in askable():
        for parameter in inspect.signature(selected(shape_questions.ASKABLE, name)).parameters.values():
            if "Callable" in str(parameter.annotation) or parameter.name in FUNCTIONS:
                taking.add((name, parameter.name))
    # Libraries of other releases annotate less.
    assert taking - NUMBERS <= TAKING


@pytest.mark.parametrize(
    "name",
    [
        "os.system",
        "builtins.eval",
        "builtins.open",
        "jax.pure_callback",
        "jax.config.update",
        "numpy.save",
        "",
    ],
)
def test_a_question_gives_no_function_that_is_not_on_the_list(name: str) -> None:
    with pytest.raises(Unsupported):
        shape_questions._built(["constant", name], [])
    for at in (
        ["tuple", ["constant", name]],
        ["list", ["constant", name]],
        ["dict", ["key", ["constant", name]]],
    ):
        with pytest.raises(Unsupported):
            shape_questions._built(at, [])


def test_their_code_names_nothing_outside() -> None:
    for name in askable():
        function = inspect.unwrap(selected(shape_questions.ASKABLE, name))
        code = getattr(function, "__code__", None)
        names = set() if code is None else set(code.co_names)
        assert not names & OUTSIDE, (name, names & OUTSIDE)


def test_which_releases_have_them() -> None:
    """Each is public in the newest release that is known; what older ones lack they answer with nothing."""
    lacking: dict[str, list[str]] = {}
    for file in sorted((DATA / "releases").glob("*.json")):
        names = json.loads(file.read_text(encoding="utf-8"))["names"]
        known = (one.rpartition(".") for one in sorted(askable()))
        lacking[file.stem] = [
            f"{home}.{last}" for home, _, last in known if home in names and last not in names[home]
        ]
    assert lacking == json.loads((DATA / "askable_lacking.json").read_text(encoding="utf-8"))
    newest = max(lacking, key=lambda release: [int(part) for part in release.split(".")])
    assert lacking[newest] == []

"""No keyword that the tables call refused is taken by the JAX that is installed."""

from __future__ import annotations

import inspect
import random
from functools import reduce
from typing import Any

import pytest
from support.checking import codes, errors

from shardlint.laws.versions.keywords import functions, is_never_taken

jax = pytest.importorskip("jax")

#: Keywords that some function of JAX, or of another library, takes.
WORDS = (
    "out_sharding out_shardings device sharding where out dtype axis keepdims initial order casting subok a "
    "x shape mode precision preferred_element_type dim axis_name interpolation method rcond k side fill_value"
).split()


def _there() -> list[tuple[str, Any]]:
    found = []
    for name in sorted(functions()):
        try:
            found.append((name, reduce(getattr, name.split(".")[1:], jax)))
        except AttributeError:
            continue
    # A scalar type that is abstract is no function.
    return [(name, function) for name, function in found if not inspect.isclass(function)]


@pytest.mark.parametrize(("name", "function"), _there(), ids=[name for name, _ in _there()])
def test_refused_keywords_are_refused(name: str, function: Any) -> None:
    """Both by its signature and by a call; whatever it takes is not called refused."""
    signature = inspect.signature(function)
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            assert not is_never_taken(name, parameter.name)
    for word in random.Random(name).sample(WORDS, 8):
        if is_never_taken(name, word):
            with pytest.raises(TypeError):
                signature.bind_partial(**{word: None})
            needed = [
                0
                for parameter in signature.parameters.values()
                if parameter.default is parameter.empty
                and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
            ]
            with pytest.raises(TypeError, match=f"keyword argument.*{word}|takes no keyword arguments"):
                function(*needed, **{word: None})


_HEAD = "import jax\nimport jax.numpy as jnp\nfrom jax.sharding import PartitionSpec as P\n"


@pytest.mark.parametrize("target", ("0.5.3", "0.10.2", ">=0.4.35,<0.13"))
def test_they_are_errors_in_every_release(target: str) -> None:
    def found(lines: str) -> list[str]:
        return codes(errors(f"{_HEAD}{lines}\n", target=target))

    assert found("jnp.sum(jnp.ones(8), out_sharding=P())") == ["SHL804"]
    assert not found("jnp.sum(jnp.ones(8), promote_integers=True)")
    assert not found("def f(sum):\n    return sum(jnp.ones(8), out_sharding=P())")
    assert not found("jnp = make()\njnp.sum(jnp.ones(8), out_sharding=P())")

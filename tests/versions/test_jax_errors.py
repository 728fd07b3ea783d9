"""``shardlint explain "<error>"`` beside what eleven releases of JAX say of the rules' examples."""

from __future__ import annotations

import pytest
from jax_errors import measured, template_of

from shardlint.api import known_rules
from shardlint.rules.messages.jax_errors import codes_of, sentences

TELLING = [(code, message) for code, message in measured() if template_of(message) is not None]


def test_most_errors_tell_their_rule() -> None:
    assert len({code for code, _ in TELLING}) > 40
    assert len(TELLING) > 400


@pytest.mark.parametrize("code", sorted({code for code, _ in TELLING}))
def test_the_error_of_an_example_finds_its_rule(code: str) -> None:
    for message in {message for ours, message in TELLING if ours == code}:
        traceback = f"Traceback (most recent call last):\n  File a.py, line 3\nValueError: {message}\n\n---\n"
        assert code in codes_of(traceback), message
        # A terminal that wraps lines, and a paste with indentation.
        assert code in codes_of(message.replace(" ", "\n    "))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ValueError",
        "IndexError: list index out of range",
        "TypeError: f() got an unexpected keyword argument 'x'",
        "AttributeError: 'Model' object has no attribute 'forward'",
        "ValueError: cannot reshape array of size 8 into shape (3,2)",
        "FileNotFoundError: [Errno 2] No such file or directory: 'mesh'",
        "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory allocating 268435456 bytes.",
    ],
)
def test_errors_of_other_kinds_find_nothing(text: str) -> None:
    assert codes_of(text) == []


def test_the_most_specific_sentence_comes_first() -> None:
    text = (
        "One of device_put args is incompatible with its sharding annotation S: Sharding S is only valid for "
        "values of rank at least 1, but was applied to a value of rank 0. For scalars the PartitionSpec "
        "should be P()"
    )
    assert codes_of(text)[0] == "SHL203"
    assert codes_of("Resource axis: modle of P('modle',) is not found in mesh: ('data',).")[0] == "SHL103"


def test_sentences_name_rules_and_hold_no_place_of_a_machine() -> None:
    known = {rule.code for rule in known_rules()}
    for sentence, codes in sentences():
        assert set(codes) <= known
        assert "witness_" not in sentence, sentence

"""A bias beside its kernel: the one rule that looks at several parameters of a layer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rule_uses import (
    parameter,
)

from shardlint.laws.core.values import Unknown
from shardlint.model.findings import Severity
from shardlint.model.uses import (
    ParameterUse,
)
from shardlint.rules import RuleSettings, judge


def layer(kernel: ParameterUse, bias: ParameterUse) -> list[str]:
    return [finding.message for finding in judge([kernel, bias], RuleSettings()) if finding.code == "SHL503"]


def test_a_bare_bias_beside_a_kernel_split_on_its_outputs() -> None:
    kernel, bias = parameter("kernel", (8, 16), None, "model"), parameter("bias", (16,))
    (finding,) = judge([kernel, bias], RuleSettings())
    assert finding.code == "SHL503" and finding.severity is Severity.INFO
    assert finding.message == (
        '`bias` of nn.Dense is not partitioned, but its `kernel` is, (None, "model"): '
        'give bias_init the names ("model",)'
    )
    assert [r.message for r in finding.related] == ["the kernel's names"]


def test_a_bias_takes_all_the_output_dimensions_of_its_kernel() -> None:
    kernel, bias = parameter("kernel", (8, 4, 16), None, "model", None), parameter("bias", (4, 16))
    assert layer(kernel, bias) == [
        '`bias` of nn.Dense is not partitioned, but its `kernel` is, (None, "model", None): '
        'give bias_init the names ("model", None)'
    ]


def test_names_that_a_kernel_leaves_out_are_none() -> None:
    kernel, bias = parameter("kernel", (8, 4, 16), None, "model"), parameter("bias", (4, 16))
    (message,) = layer(kernel, bias)
    assert message.endswith('give bias_init the names ("model", None)')


@pytest.mark.parametrize(
    ("kernel", "bias"),
    [
        (parameter("kernel", (8, 16), "model", None), parameter("bias", (16,))),
        (parameter("kernel", (8, 16), None, "model"), parameter("bias", (16,), "model")),
        (parameter("kernel", (8, 16), None, "model"), parameter("bias", (16,), names=Unknown("a field"))),
        (parameter("kernel", (8, 16), None, "model"), parameter("bias", (16,), line=2)),
        (parameter("kernel", Unknown("not inferred"), None, "model"), parameter("bias", (16,))),
        (parameter("kernel", (8, 16), None, None, "model"), parameter("bias", (16,))),
        (parameter("kernel", (8, 16), "model"), parameter("bias", (16,))),
        (parameter("kernel", (8, 16)), parameter("bias", (16,))),
    ],
)
def test_a_bias_that_is_right_or_not_known(kernel: ParameterUse, bias: ParameterUse) -> None:
    assert layer(kernel, bias) == []


def test_a_large_bias_is_a_warning() -> None:
    kernel, bias = (
        parameter("kernel", (8, 1024), None, "model"),
        replace(parameter("bias", (1024,)), dtype="float32"),
    )
    for limit, severity in ((4096, Severity.WARNING), (4097, Severity.INFO)):
        (finding,) = judge([kernel, bias], RuleSettings(replicated_bytes=limit))
        assert finding.severity is severity

"""What a client may set."""

from __future__ import annotations

import pytest

from shardlint_server.settings.options import Options, parse_options


@pytest.mark.parametrize(
    ("given", "options"), [(None, Options()), ({}, Options()), ({"devices": 8}, Options(devices=8))]
)
def test_good_options(given: object, options: Options) -> None:
    assert parse_options(given) == (options, [])


@pytest.mark.parametrize(
    "given", [[], "devices", {"devices": 0}, {"devices": True}, {"devices": 2.5}, {"x": 1}]
)
def test_bad_options_are_described_and_left_out(given: object) -> None:
    options, problems = parse_options(given)
    assert options == Options()
    assert len(problems) == 1


def test_a_bad_option_does_not_spoil_a_good_one() -> None:
    assert parse_options({"devices": 8, "mehs": 1})[0] == Options(devices=8)

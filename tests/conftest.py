"""What every test that asks JAX needs before JAX is imported: eight fake CPU devices."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

_RUNNER = Path(__file__).parents[1] / "docs" / "tools" / "run_examples.py"


@pytest.fixture(scope="session")
def ask_jax() -> Callable[[Mapping[str, str]], dict[str, Any]]:
    """Runs programs by their names, each by itself, and tells what JAX raised: None where it ran."""

    def ask(programs: Mapping[str, str]) -> dict[str, Any]:
        run = subprocess.run(
            [sys.executable, str(_RUNNER)],
            input=json.dumps(dict(programs)),
            capture_output=True,
            text=True,
            check=True,
        )
        outcomes: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])["outcomes"]
        return outcomes

    return ask

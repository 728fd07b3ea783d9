"""Keys of a configuration that a command line names: findings name the defaults, as the program has them."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from support.checking import check

from shardlint.model.origins import Default, origins_of, remembering
from shardlint.model.spans import Span, Written

PROGRAM = """
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
import jax, numpy as np
from absl import app, flags
from ml_collections import config_flags
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

config_flags.DEFINE_config_file("config", None, "The configuration.", lock_config=True)

def make(shape):
    axes, sizes = zip(*shape)
    return Mesh(np.array(jax.devices()).reshape(sizes), axes)

def main(argv):
    config = flags.FLAGS.config
    mesh = make(config.get("mesh", [("data", 8)]))
    {body}
    jax.device_put(np.ones((rows, 4)), NamedSharding(mesh, P("data")))

if __name__ == "__main__":
    app.run(main)
"""
#: How ``rows`` is made, and what the findings say of it, if there is one.
BODIES = {
    "rows = config.get('rows', 12)": "(with the defaults --config.rows=12 and --config.mesh=data,8)",
    "rows = config.get('rows', 16)": None,
    "rows = config.rows": None,
    "rows = config['rows']": None,
    "rows = config.get('rows')": None,
    "rows = 12": "(with the default --config.mesh=data,8)",
}


@pytest.mark.parametrize("body", BODIES)
def test_findings_name_the_defaults(body: str) -> None:
    found = check(PROGRAM.replace("{body}", body))
    said = [one.message for one in found if one.code == "SHL202"]
    expected = BODIES[body]
    assert bool(said) == (expected is not None)
    if expected is not None:
        assert said[0].endswith(expected)
        assert str(found[0].severity) == "warning"


@pytest.mark.parametrize("rows", [12, 16])
def test_so_it_is_with_an_empty_configuration(rows: int, tmp_path: Path) -> None:
    text = PROGRAM.replace("{body}", f"rows = config.get('rows', {rows})")
    (tmp_path / "program.py").write_text(text, encoding="utf-8")
    (tmp_path / "empty.py").write_text(
        "import ml_collections\ndef get_config():\n    return ml_collections.ConfigDict()\n", encoding="utf-8"
    )
    done = subprocess.run(
        [sys.executable, "program.py", "--config=empty.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode != 0) == (rows == 12), done.stderr


def test_texts_that_remember_go_to_other_processes() -> None:
    place = Span("program.py", 1, 2, 1, 8)
    origins = (Default("--axis=data", place),)
    for text in (Written("data", place), "data", 7, 2.5):
        made = remembering(text, origins)
        again = pickle.loads(pickle.dumps(made))
        assert (again, type(again), origins_of(again)) == (made, type(made), origins)
    written = pickle.loads(pickle.dumps(Written("data", place)))
    assert (written, written.place) == ("data", place)

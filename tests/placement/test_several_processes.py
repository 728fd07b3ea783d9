"""Programs of several processes, each with devices of its own: two of them run them, and nothing is said."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

from shardlint.api import Linter, Settings, source_from_text

PROGRAM = """\
import sys
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P

{start}
devices = jax.local_devices(process_index=0) + jax.local_devices(process_index=1)
mesh = jax.make_mesh((2, jax.local_device_count()), ("i", "j"), devices=devices)
if jax.process_index() in (0, 1):
    rows = [jax.device_put(jnp.ones((1, 1), int), device) for device in jax.local_devices()]
else:
    rows = []
home, shape = NamedSharding(mesh, P("i", "j")), (2, jax.local_device_count())
array = jax.make_array_from_single_device_arrays(shape=shape, sharding=home, arrays=rows, dtype=int)
assert len(array.addressable_shards) == len(rows) == 2
batch = jnp.ones((4 // jax.process_count(), 3))
assert batch.shape == (2, 3)
"""
START = "jax.distributed.initialize(sys.argv[1], 2, int(sys.argv[2]))"


def test_nothing_is_said_of_other_processes_devices(tmp_path: Path) -> None:
    for start in START, "":
        source = source_from_text("program.py", PROGRAM.format(start=start))
        assert Linter(Settings(devices=4)).check_source(source) == []
    with socket.socket() as free:
        free.bind(("localhost", 0))
        address = f"localhost:{free.getsockname()[1]}"
    path = tmp_path / "program.py"
    setup = "import jax\njax.config.update('jax_num_cpu_devices', 2)\n"
    path.write_text(setup + PROGRAM.format(start=START))
    running = [subprocess.Popen([sys.executable, str(path), address, str(i)]) for i in range(2)]
    assert [process.wait(120) for process in running] == [0, 0]
